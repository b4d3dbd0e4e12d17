// The ranking of algorithms that `compare` prints.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sims/config/reader.h"
#include "sims/formats/published_times_file.h"

namespace espalier {

// Times closer than this share are a tie. The simpler algorithm wins a tie: the one whose largest
// schedule table has fewer entries.
inline constexpr double kTieShare = 0.001;

// Tells the systems of results apart that compete with each other; it has the member only if there
// are several.
inline constexpr const char* kComparedSystem = "compared_system";

// The results of one workload: one network, operation and size, or one network to train.
struct Ranking {
  std::string workload;            // "all_reduce of 25 MB on lab.yaml, 12 nodes"
  std::vector<std::size_t> order;  // indices of the verified results, the best one first
  std::size_t tied = 0;            // results at the front of `order` whose times are within 0.1 %
  // Results with `stopped_ns`: not simulated to the end. The shortest planned time first.
  std::vector<std::size_t> stopped = {};
};

// Writes other tools' times into the results of the same network, operation and size
// (`published`). Returns false if no result has any.
[[nodiscard]] bool put_beside(const std::vector<PublishedTime>& times,
                              std::vector<nlohmann::ordered_json>& results);

// One ranking for each workload, in the order of the results. Results that failed are left out.
[[nodiscard]] std::vector<Ranking> rank_results(const std::vector<nlohmann::ordered_json>& results);

// The table, and sentences on the best algorithm: why it won, what limits it, what bounds it.
[[nodiscard]] std::string ranking_text(const Ranking& ranking,
                                       const std::vector<nlohmann::ordered_json>& results);

// The best algorithm of each ranking beside NCCL's choice, where it was compared; empty unless
// there are several.
[[nodiscard]] std::string crossover_text(const std::vector<Ranking>& rankings,
                                         const std::vector<nlohmann::ordered_json>& results);

// The algorithms that did not run, grouped by reason; empty if there are none.
[[nodiscard]] std::string skipped_text(const std::vector<SkippedAlgorithm>& skipped);

}  // namespace espalier
