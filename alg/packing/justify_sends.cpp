#include "alg/packing/round_plan_parts.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

namespace espalier {

namespace {

// The times in which a link is busy, neighbours joined.
class BusyTimes {
 public:
  void add(std::uint64_t begin, std::uint64_t end) {
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
  void remove(std::uint64_t begin, std::uint64_t end) {
    const auto run = std::prev(runs_.upper_bound(begin));
    if (begin < full_until_) {
      full_until_ = run->first != begin ? begin : run == runs_.begin() ? 0 : std::prev(run)->second;
    }
    const std::uint64_t run_end = run->second;
    if (end != run_end) runs_.emplace_hint(std::next(run), end, run_end);
    if (run->first == begin) {
      runs_.erase(run);
    } else {
      run->second = begin;
    }
  }
  // The first time, not before `from`, from which on the link is idle for `length`.
  [[nodiscard]] std::uint64_t first_gap(std::uint64_t from, std::uint64_t length) {
    const bool is_first = from <= full_until_ && length >= full_length_;
    if (is_first) from = full_until_;
    auto next = runs_.upper_bound(from);
    if (next != runs_.begin()) from = std::max(from, std::prev(next)->second);
    for (; next != runs_.end() && next->first < from + length; ++next) from = next->second;
    if (is_first) {
      full_until_ = from;
      full_length_ = length;
    }
    return from;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> runs_;  // begin: end
  // No gap of the length begins before. Most messages of a link are as long as each other, and
  // would look at all the gaps that are too short.
  std::uint64_t full_until_ = 0;
  std::uint64_t full_length_ = 0;
};

class Justification {
 public:
  Justification(const std::vector<RoundOp>& ops, const RoundSuccessors& after, const LinkUses& uses,
                std::vector<std::uint64_t>& start_ps)
      : ops_(ops), after_(after), uses_(uses), start_(start_ps) {
    for (const LinkUses::Use& use : uses.uses) {
      if (use.link >= links_) links_ = use.link + std::size_t{1};
    }
    order_.resize(start_ps.size());
  }

  void run() {
    constexpr int kMostTurns = 3;
    constexpr double kWorthwhile = 0.001;  // of the time
    for (int turn = 0; turn < kMostTurns; ++turn) {
      const std::uint64_t before = end();
      move_earlier(true);
      move_earlier(false);
      const auto gain = static_cast<double>(before - end());
      if (gain < kWorthwhile * static_cast<double>(before)) return;
    }
  }

 private:
  [[nodiscard]] std::size_t op_of(std::size_t send) const { return send % ops_.size(); }

  [[nodiscard]] std::uint64_t end() const {
    std::uint64_t end = 0;
    for (std::size_t s = 0; s < start_.size(); ++s) {
      end = std::max(end, start_[s] + uses_.arrival_ps[op_of(s)]);
    }
    return end;
  }

  // Reverses time: a message starts when it arrived, counted back from the end of the plan, and
  // comes before the messages for which it waited.
  void mirror() {
    const std::uint64_t last = end();
    for (std::size_t s = 0; s < start_.size(); ++s) {
      start_[s] = last - start_[s] - uses_.arrival_ps[op_of(s)];
    }
  }

  void move_earlier(bool mirrored) {
    if (mirrored) mirror();
    std::iota(order_.begin(), order_.end(), 0U);
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair{start_[a], a} < std::pair{start_[b], b};
    });
    busy_.assign(links_, {});
    for (const std::uint32_t s : order_) {
      for_each_use(s, mirrored, [&](const LinkUses::Use& use) {
        busy_[use.link].add(start_[s] + use.offset_ps, start_[s] + use.offset_ps + use.length_ps);
      });
    }
    for (const std::uint32_t s : order_) move(s, mirrored);
    if (mirrored) mirror();
  }

  template <class Visit>
  void for_each_use(std::size_t send, bool mirrored, Visit visit) const {
    const std::size_t o = op_of(send);
    for (std::uint32_t i = uses_.begin[o]; i < uses_.begin[o + 1]; ++i) {
      LinkUses::Use use = uses_.uses[i];
      if (mirrored) use.offset_ps = uses_.arrival_ps[o] - use.offset_ps - use.length_ps;
      visit(use);
    }
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

  // Its own place is free, so there is a gap no later than it.
  void move(std::uint32_t send, bool mirrored) {
    std::uint64_t& start = start_[send];
    std::uint64_t at = ready(send, mirrored);
    if (at == start) return;
    for_each_use(send, mirrored, [&](const LinkUses::Use& use) {
      busy_[use.link].remove(start + use.offset_ps, start + use.offset_ps + use.length_ps);
    });
    for (bool moved = true; moved;) {
      moved = false;
      for_each_use(send, mirrored, [&](const LinkUses::Use& use) {
        const std::uint64_t from = at + use.offset_ps;
        const std::uint64_t gap = busy_[use.link].first_gap(from, use.length_ps);
        moved = moved || gap != from;
        at += gap - from;
      });
    }
    start = at;
    for_each_use(send, mirrored, [&](const LinkUses::Use& use) {
      busy_[use.link].add(start + use.offset_ps, start + use.offset_ps + use.length_ps);
    });
  }

  const std::vector<RoundOp>& ops_;
  const RoundSuccessors& after_;
  const LinkUses& uses_;
  std::vector<std::uint64_t>& start_;
  std::size_t links_ = 0;
  std::vector<std::uint32_t> order_;
  std::vector<BusyTimes> busy_;  // by link
};

}  // namespace

void justify_sends(const std::vector<RoundOp>& ops, const RoundSuccessors& after,
                   const LinkUses& uses, std::vector<std::uint64_t>& start_ps) {
  Justification(ops, after, uses, start_ps).run();
}

}  // namespace espalier
