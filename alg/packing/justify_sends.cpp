#include "alg/packing/round_plan_parts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

namespace espalier {

namespace {

// Before 0 lies what a message leaves on a link after its arrival, in reversed time.
using Ps = std::int64_t;

// The times in which a link is busy, neighbours joined.
class BusyTimes {
 public:
  void add(Ps begin, Ps end) {
    auto next = runs_.lower_bound(begin);
    if (next != runs_.end() && next->first == end) {
      end = next->second;
      next = runs_.erase(next);
    }
    if (next != runs_.begin()) {
      const auto before = std::prev(next);
      if (before->second == begin) {
        before->second = end;
        return;
      }
    }
    runs_.emplace_hint(next, begin, end);
  }
  // Precondition: busy from `begin` to `end`.
  void remove(Ps begin, Ps end) {
    const auto run = std::prev(runs_.upper_bound(begin));
    const Ps run_end = run->second;
    if (end != run_end) runs_.emplace_hint(std::next(run), end, run_end);
    if (run->first == begin) {
      runs_.erase(run);
    } else {
      run->second = begin;
    }
  }
  // The first time, not before `from`, from which on the link is idle for `length`.
  [[nodiscard]] Ps first_gap(Ps from, Ps length) const {
    auto next = runs_.upper_bound(from);
    if (next != runs_.begin()) from = std::max(from, std::prev(next)->second);
    for (; next != runs_.end() && next->first < from + length; ++next) from = next->second;
    return from;
  }

 private:
  std::map<Ps, Ps> runs_;  // begin: end
};

// Times [from, until) at which no message of an op can start, as far as one interval says it.
struct NoStart {
  std::uint64_t from = 0;
  std::uint64_t until = 0;

  void add(std::uint64_t begin, std::uint64_t end) {
    if (begin > until) {
      if (begin < end) *this = {begin, end};
    } else if (end >= from) {
      *this = {std::min(from, begin), std::max(until, end)};
    }
  }
};

class Justification {
 public:
  Justification(const RoundTask& task, const RoundSuccessors& after, const LinkUses& uses,
                std::vector<std::uint64_t>& start_ps)
      : ops_(task.ops), after_(after), uses_(uses), start_(start_ps) {
    for (const LinkUses::Use& use : uses.uses) {
      if (use.link >= links_) links_ = use.link + std::size_t{1};
    }
    const auto rounds = static_cast<std::uint32_t>(start_ps.size() / ops_.size());
    for (std::size_t o = 0; o < ops_.size(); ++o) {
      for (std::uint32_t w = 0; w < task.messages(ops_[o], rounds); ++w) {
        order_.push_back(static_cast<std::uint32_t>(w * ops_.size() + o));
      }
      for (std::uint32_t i = uses.begin[o]; i < uses.begin[o + 1]; ++i) {
        const std::uint64_t end = uses.uses[i].offset_ps + uses.uses[i].length_ps;
        longest_ps_ = std::max({longest_ps_, end, uses.arrival_ps[o]});
      }
    }
  }

  std::uint64_t run() {
    constexpr int kMostTurns = 3;
    constexpr double kWorthwhile = 0.001;  // of the time
    for (int turn = 0; turn < kMostTurns; ++turn) {
      const std::uint64_t before = end();
      move_earlier(true);
      move_earlier(false);
      const auto gain = static_cast<double>(before - end());
      if (gain < kWorthwhile * static_cast<double>(before)) break;
    }
    return end();
  }

 private:
  [[nodiscard]] std::size_t op_of(std::size_t send) const { return send % ops_.size(); }

  [[nodiscard]] std::uint64_t end() const {
    std::uint64_t end = 0;
    for (const std::uint32_t s : order_) {
      end = std::max(end, start_[s] + uses_.arrival_ps[op_of(s)]);
    }
    return end;
  }

  // Reverses time: a message starts when it arrived, counted back from the end of the plan, and
  // comes before the messages for which it waited.
  void mirror() {
    const std::uint64_t last = end();
    for (const std::uint32_t s : order_) {
      start_[s] = last - start_[s] - uses_.arrival_ps[op_of(s)];
    }
  }

  void move_earlier(bool mirrored) {
    if (mirrored) mirror();
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair{start_[a], a} < std::pair{start_[b], b};
    });
    busy_.assign(links_, {});
    no_start_.assign(ops_.size(), {});
    for (const std::uint32_t s : order_) occupy(s, mirrored);
    for (const std::uint32_t s : order_) move(s, mirrored);
    if (mirrored) mirror();
  }

  // Calls visit(link, begin, length) for each use of the message, if it starts at `at`.
  template <class Visit>
  void for_each_use(std::size_t send, std::uint64_t at, bool mirrored, Visit visit) const {
    const std::size_t o = op_of(send);
    for (std::uint32_t i = uses_.begin[o]; i < uses_.begin[o + 1]; ++i) {
      const LinkUses::Use& use = uses_.uses[i];
      const auto length = static_cast<Ps>(use.length_ps);
      auto offset = static_cast<Ps>(use.offset_ps);
      if (mirrored) offset = static_cast<Ps>(uses_.arrival_ps[o]) - offset - length;
      visit(use.link, static_cast<Ps>(at) + offset, length);
    }
  }

  void occupy(std::uint32_t send, bool mirrored) {
    for_each_use(send, start_[send], mirrored, [&](std::uint32_t link, Ps begin, Ps length) {
      busy_[link].add(begin, begin + length);
    });
  }

  [[nodiscard]] std::uint64_t ready(std::size_t send, bool mirrored) const {
    const std::size_t o = op_of(send);
    const std::size_t round = send - o;
    std::uint64_t ready = 0;
    const auto wait_for = [&](std::uint32_t d) {
      ready = std::max(ready, start_[round + d] + uses_.arrival_ps[d]);
    };
    if (mirrored) {
      for (std::uint32_t i = after_.begin[o]; i < after_.begin[o + 1]; ++i) {
        wait_for(after_.successors[i]);
      }
    } else {
      for (const std::uint32_t d : ops_[o].after) wait_for(d);
    }
    return ready;
  }

  // Its own place is free, so there is a gap no later than it. Messages of an op use the same
  // links, so each searches only where the messages before it did not.
  void move(std::uint32_t send, bool mirrored) {
    std::uint64_t& start = start_[send];
    const std::uint64_t from = ready(send, mirrored);
    if (from == start) return;
    std::uint64_t at = from;
    NoStart& no_start = no_start_[op_of(send)];
    for_each_use(send, start, mirrored, [&](std::uint32_t link, Ps begin, Ps length) {
      busy_[link].remove(begin, begin + length);
    });
    for (Ps wait = 1; wait != 0;) {
      wait = 0;
      if (at >= no_start.from) at = std::max(at, no_start.until);
      for_each_use(send, at, mirrored, [&](std::uint32_t link, Ps begin, Ps length) {
        wait = std::max(wait, busy_[link].first_gap(begin, length) - begin);
      });
      at += static_cast<std::uint64_t>(wait);
    }
    // What later messages leave lies behind the start of this one, so no start before that by the
    // longest message becomes possible.
    no_start.add(from, std::min(at, start - std::min(start, longest_ps_)));
    start = at;
    occupy(send, mirrored);
  }

  const std::vector<RoundOp>& ops_;
  const RoundSuccessors& after_;
  const LinkUses& uses_;
  std::vector<std::uint64_t>& start_;
  std::size_t links_ = 0;
  std::vector<std::uint32_t> order_;  // of all messages
  std::vector<BusyTimes> busy_;       // by link
  std::vector<NoStart> no_start_;     // by op
  std::uint64_t longest_ps_ = 0;      // from the start of a message until all links are idle again
};

}  // namespace

std::uint64_t justify_sends(const RoundTask& task, const RoundSuccessors& after,
                            const LinkUses& uses, std::vector<std::uint64_t>& start_ps) {
  return Justification(task, after, uses, start_ps).run();
}

}  // namespace espalier
