#include "sims/text/nearest_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "sims/text/text_lines.h"

namespace espalier {

namespace {

constexpr std::size_t kLongestName = 64;  // longer text is not a mistyped name

}  // namespace

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replace});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

std::string nearest_name(const std::string& name, const std::vector<std::string>& candidates) {
  if (name.empty() || name.size() > kLongestName) return {};
  std::string best;
  std::size_t best_distance = name.size() / 3 + 2;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(in_lower_case(name), in_lower_case(candidate));
    const std::size_t enough =
        std::max<std::size_t>(1, std::min(name.size(), candidate.size()) / 3);
    // Short names need this test, because all names of one letter are at most one edit apart.
    const bool alike = distance < std::min(name.size(), candidate.size());
    if (alike && distance <= enough && distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  if (!best.empty()) return best;
  // A name that contains the other one: "latency" for "latency_cycles".
  for (const std::string& candidate : candidates) {
    const bool is_part =
        name.size() >= 3 && candidate.find(in_lower_case(name)) != std::string::npos;
    const bool has_part =
        candidate.size() >= 3 && in_lower_case(name).find(candidate) != std::string::npos;
    if (is_part || has_part) return candidate;
  }
  return {};
}

std::string name_hint(const std::string& name, const std::vector<std::string>& candidates) {
  const std::string nearest = nearest_name(name, candidates);
  if (!nearest.empty()) return fmt::format("did you mean '{}'?", nearest);
  return fmt::format("valid names: {}", fmt::join(candidates, ", "));
}

}  // namespace espalier
