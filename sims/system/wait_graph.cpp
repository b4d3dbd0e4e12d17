// Explains a standstill: which module waits for which other module.
#include <fmt/format.h>

#include <map>
#include <vector>

#include "sims/system/simulated_system.h"

namespace espalier {

namespace {

// A walk that follows the first wait of each waiter from `start`: the indices of the waits on the
// way, and the index at which a cycle begins.
struct Walk {
  std::vector<std::size_t> path;
  std::size_t cycle_start = 0;
  bool cyclic = false;
};

// Depth-first search; iterative, because a stuck 64x64 system has many waits. Finds a cycle, or the
// longest chain.
class WaitSearch {
 public:
  explicit WaitSearch(const WaitList& waits) : waits_(waits) {
    for (std::size_t w = 0; w < waits.size(); ++w) by_waiter_[waits[w].who].waits.push_back(w);
  }

  Walk run() {
    const Waiter* longest = nullptr;
    for (auto& [name, waiter] : by_waiter_) {
      if (waiter.mark == Mark::fresh && visit(waiter)) return std::move(cycle_);
      if (longest == nullptr || waiter.length > longest->length) longest = &waiter;
    }
    Walk chain;
    for (const Waiter* at = longest; at != nullptr && at->length != 0; at = find(at->best)) {
      chain.path.push_back(at->best);
    }
    return chain;
  }

 private:
  enum class Mark : std::uint8_t { fresh, open, closed };
  struct Waiter {
    std::vector<std::size_t> waits;
    std::size_t next = 0;
    Mark mark = Mark::fresh;
    std::size_t length = 0;  // of the longest chain from this waiter
    std::size_t best = 0;    // the first wait of the longest chain
  };

  Waiter* find(std::size_t wait) {
    const auto found = by_waiter_.find(waits_[wait].whom);
    return found == by_waiter_.end() ? nullptr : &found->second;
  }

  // True if a cycle was found.
  bool visit(Waiter& root) {
    std::vector<Waiter*> stack{&root};
    std::vector<std::size_t> path;
    root.mark = Mark::open;
    while (!stack.empty()) {
      Waiter& at = *stack.back();
      if (at.next == at.waits.size()) {
        close(at);
        stack.pop_back();
        if (!path.empty()) path.pop_back();
        continue;
      }
      const std::size_t wait = at.waits[at.next++];
      Waiter* whom = find(wait);
      if (whom == nullptr || whom->mark == Mark::closed) continue;
      path.push_back(wait);
      if (whom->mark == Mark::open) {
        cycle_ = {path, 0, true};
        while (waits_[path[cycle_.cycle_start]].who != waits_[wait].whom) ++cycle_.cycle_start;
        return true;
      }
      whom->mark = Mark::open;
      stack.push_back(whom);
    }
    return false;
  }

  void close(Waiter& waiter) {
    waiter.mark = Mark::closed;
    for (const std::size_t wait : waiter.waits) {
      const Waiter* whom = find(wait);
      const std::size_t length = 1 + (whom == nullptr ? 0 : whom->length);
      if (length <= waiter.length) continue;
      waiter.length = length;
      waiter.best = wait;
    }
  }

  const WaitList& waits_;
  std::map<std::string, Waiter> by_waiter_;
  Walk cycle_;
};

}  // namespace

std::string describe_waits(const WaitList& waits, std::size_t most) {
  if (waits.empty()) return "no module waits, so a message or a wake-up has been lost\n";
  const Walk walk = WaitSearch(waits).run();

  std::string text = walk.cyclic ? "these modules wait for each other in a cycle:\n"
                                 : "the longest chain of waits:\n";
  std::size_t lines = 0;
  for (std::size_t i = walk.cycle_start; i < walk.path.size() && lines < most; ++i, ++lines) {
    const Wait& wait = waits[walk.path[i]];
    text += fmt::format("  {} waits for {}: {}\n", wait.who, wait.whom, wait.why);
  }
  const std::size_t left = walk.path.size() - walk.cycle_start - lines;
  if (left != 0) text += fmt::format("  ... and {} more\n", left);
  return text;
}

}  // namespace espalier
