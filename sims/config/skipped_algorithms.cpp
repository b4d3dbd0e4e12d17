// A list of algorithms on one network: algorithms that do not suit are skipped, each with its
// reason, and the others run.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "sims/config/keys.h"
#include "sims/config/rules.h"

namespace espalier {

namespace {

// The points of one algorithm, one operation and one rank order, which decide together whether the
// algorithm suits.
struct Trial {
  std::string algorithm;  // or the file of a program
  CollectiveOp op;
  std::string rank_order;
  std::vector<RunPoint> points;
  std::vector<std::size_t> places;  // of `points` among all points
  Diagnostics found;

  [[nodiscard]] bool is_of(const Trial& other) const {
    return std::tie(algorithm, op, rank_order) ==
           std::tie(other.algorithm, other.op, other.rank_order);
  }
};

std::vector<Trial> trials_of(const std::vector<RunPoint>& points, const Topology* topology,
                             const GivenKeys& given, const Diagnostics& diagnostics) {
  std::vector<Trial> trials;
  for (std::size_t p = 0; p < points.size(); ++p) {
    const RunPoint& point = points[p];
    const CollectiveConfig& collective = *point.collective;
    Trial trial{collective.program.file.empty() ? collective.algorithm : collective.program.file,
                collective.op,
                collective.rank_order.source,
                {},
                {},
                diagnostics.without_messages()};
    const auto known = std::find_if(trials.begin(), trials.end(),
                                    [&](const Trial& other) { return other.is_of(trial); });
    Trial& owner = known == trials.end() ? trials.emplace_back(std::move(trial)) : *known;
    owner.points.push_back(point);
    owner.places.push_back(p);
  }
  for (Trial& trial : trials) check_points(trial.points, topology, given, trial.found);
  return trials;
}

bool is_same(const Diagnostics::Error& a, const Diagnostics::Error& b) {
  return !(a.place < b.place) && !(b.place < a.place) && a.text == b.text;
}

// The errors that every algorithm has: they are not about the algorithm.
std::vector<Diagnostics::Error> common_errors(const std::vector<Trial>& trials) {
  std::vector<Diagnostics::Error> common = trials.front().found.errors();
  for (const Trial& trial : trials) {
    const std::vector<Diagnostics::Error> errors = trial.found.errors();
    const auto is_missing = [&](const Diagnostics::Error& error) {
      return std::none_of(errors.begin(), errors.end(),
                          [&](const Diagnostics::Error& other) { return is_same(error, other); });
    };
    common.erase(std::remove_if(common.begin(), common.end(), is_missing), common.end());
  }
  return common;
}

bool lists_algorithms(const Diagnostics::Error& error) {
  return error.hint.rfind(kAllowedHint, 0) == 0;
}

bool is_named(const Trial& trial, const GivenKey& algorithms) {
  const RunPoint& point = trial.points.front();
  const std::uint64_t number = find_key(kAlgorithmKey)->get(point).number;
  return std::any_of(
      algorithms.values.begin(), algorithms.values.end(), [&](const GivenValue& value) {
        const bool is_from_all = algorithms.all_place && !(value.place < *algorithms.all_place) &&
                                 !(*algorithms.all_place < value.place);
        return !is_from_all && value.value.number == number &&
               value.value.text == point.collective->program.file;
      });
}

}  // namespace

// A hint that lists other algorithms does not help where they run anyway.
std::string reason_of(const Diagnostics::Error& error, const std::string& algorithm) {
  std::string reason = error.text;
  if (const std::size_t key = reason.find(": "); reason.rfind("collective.", 0) == 0) {
    reason.erase(0, key + 2);
  }
  for (const std::string& known : {algorithm + " ", std::string(kUnsuited) + ": "}) {
    if (reason.rfind(known, 0) == 0) reason.erase(0, known.size());
  }
  return error.hint.empty() || lists_algorithms(error) ? reason
                                                       : fmt::format("{} ({})", reason, error.hint);
}

std::vector<SkippedAlgorithm> check_and_skip_points(std::vector<RunPoint>& points,
                                                    const Topology* topology,
                                                    const GivenKeys& given,
                                                    Diagnostics& diagnostics,
                                                    std::vector<bool>& keeps) {
  keeps.assign(points.size(), true);
  const GivenKey* algorithms = given.find(kAlgorithmKey);
  if (algorithms == nullptr || algorithms->values.size() < 2 || !points.front().collective) {
    check_points(points, topology, given, diagnostics);
    return {};
  }
  const std::vector<Trial> trials = trials_of(points, topology, given, diagnostics);
  const std::vector<Diagnostics::Error> common = common_errors(trials);
  const auto suits = [](const Trial& trial) { return trial.found.num_errors() == 0; };
  if (!common.empty()) {
    for (const Diagnostics::Error& error : common) {
      diagnostics.error(error.place, error.text, error.hint);
    }
    return {};
  }
  if (std::none_of(trials.begin(), trials.end(), suits)) {
    for (const Trial& trial : trials) diagnostics.take(trial.found, {});
    return {};
  }
  std::vector<SkippedAlgorithm> skipped;
  keeps.assign(points.size(), false);
  for (const Trial& trial : trials) {
    if (suits(trial)) {
      diagnostics.take(trial.found, {});  // warnings
      for (const std::size_t p : trial.places) keeps[p] = true;
      continue;
    }
    const Diagnostics::Error error = trial.found.errors().front();
    const bool named = is_named(trial, *algorithms);
    skipped.push_back({trial.algorithm, reason_of(error, trial.algorithm), named});
    if (named) {
      diagnostics.warning(error.place, error.text + "; the algorithm is skipped",
                          lists_algorithms(error) ? "" : error.hint);
    }
  }
  std::vector<RunPoint> kept;
  for (std::size_t p = 0; p < points.size(); ++p) {
    if (keeps[p]) kept.push_back(std::move(points[p]));
  }
  points = std::move(kept);
  return skipped;
}

}  // namespace espalier
