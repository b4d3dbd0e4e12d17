#include "sims/system/wait_graph.h"

#include <fmt/format.h>

#include <map>
#include <vector>

namespace espalier {

namespace {

// Follows first waits from `start`; returns the indices of the waits on the way, and where it bites
// its own tail.
struct Walk {
  std::vector<std::size_t> path;
  std::size_t cycle_start = 0;
  bool cyclic = false;
};

// Depth-first search for a cycle through any of the waits, iteratively: a stuck 64x64 system is
// large.
Walk find_cycle(const WaitList& waits,
                const std::map<std::string, std::vector<std::size_t>>& by_waiter) {
  enum class Mark : std::uint8_t { fresh, open, closed };
  std::map<std::string, Mark> marks;
  Walk longest;
  for (const auto& [root, ignored] : by_waiter) {
    if (marks[root] != Mark::fresh) continue;
    std::vector<std::pair<std::string, std::size_t>> stack{{root, 0}};
    std::vector<std::size_t> path;
    marks[root] = Mark::open;
    while (!stack.empty()) {
      auto& [who, next] = stack.back();
      const auto found = by_waiter.find(who);
      if (found == by_waiter.end() || next == found->second.size()) {
        if (path.size() > longest.path.size()) longest.path = path;
        marks[who] = Mark::closed;
        stack.pop_back();
        if (!path.empty()) path.pop_back();
        continue;
      }
      const std::size_t wait = found->second[next++];
      const std::string& whom = waits[wait].whom;
      path.push_back(wait);
      if (marks[whom] == Mark::open) {
        Walk cycle{path, 0, true};
        while (waits[path[cycle.cycle_start]].who != whom) ++cycle.cycle_start;
        return cycle;
      }
      if (marks[whom] == Mark::closed) {
        path.pop_back();
        continue;
      }
      marks[whom] = Mark::open;
      stack.emplace_back(whom, 0);
    }
  }
  return longest;
}

}  // namespace

std::string describe_waits(const WaitList& waits, std::size_t most) {
  if (waits.empty()) return "nothing waits: a message or a wake-up has been lost\n";
  std::map<std::string, std::vector<std::size_t>> by_waiter;
  for (std::size_t w = 0; w < waits.size(); ++w) by_waiter[waits[w].who].push_back(w);
  const Walk walk = find_cycle(waits, by_waiter);

  std::string text = walk.cyclic ? "these wait for each other:\n" : "the longest chain of waits:\n";
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
