// Rules between several keys, or between a key and the network.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hw/topology/topology.h"
#include "sims/config/given_keys.h"
#include "sims/config/reader.h"
#include "sims/point/config.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// Makes a point with the optional sections of the run, all at their defaults. If two given sections
// exclude each other, the point has one of them, and an error is recorded.
[[nodiscard]] RunPoint choose_sections(const GivenKeys& given, ConfigNeed need,
                                       Diagnostics& diagnostics);

// Checks all rules of every point except the rules of system.dimensions. Precondition: at least one
// point. `topology` is the topology of all points; nullptr if it could not be built.
void check_points(const std::vector<RunPoint>& points, const Topology* topology,
                  const GivenKeys& given, Diagnostics& diagnostics);

// Reads the files that the points name: messages, rank orders, layers, programs; each once
// (point_files.cpp). Files that depend on the topology are not read without it.
void read_point_files(std::vector<RunPoint>& points, const Topology* topology,
                      const GivenKeys& given, Diagnostics& diagnostics);

inline constexpr std::size_t kWholeList = ~std::size_t{0};
// The place of an entry of a list, e.g. of ("latency", 1).
using DimensionPlace = std::function<Place(const std::string& key, std::size_t entry)>;

// Checks the rules of section system.dimensions. An error is reported at the entry that breaks the
// rule. Returns false if there are errors. Precondition: every key that the dimensions depend on
// was given with a valid value or not at all.
[[nodiscard]] bool check_dimensions(const SystemConfig& system, const DimensionPlace& place,
                                    Diagnostics& diagnostics);

// Checks the points as check_points() does. In a list of algorithms, an algorithm whose points have
// errors that not all algorithms have is skipped: its points are removed. A warning is recorded for
// an algorithm that the list names. If no algorithm is left, all errors are recorded. `keeps`: for
// each point, whether it is left.
[[nodiscard]] std::vector<SkippedAlgorithm> check_and_skip_points(std::vector<RunPoint>& points,
                                                                  const Topology* topology,
                                                                  const GivenKeys& given,
                                                                  Diagnostics& diagnostics,
                                                                  std::vector<bool>& keeps);

// Why an algorithm is skipped, of the error that refuses it: "needs a power of two of ranks", with
// the hint if it names a value to set.
[[nodiscard]] std::string reason_of(const Diagnostics::Error& error, const std::string& algorithm);

inline constexpr const char* kUnsuited = "does not run on this topology";
// A hint that begins with these words lists algorithms that run.
inline constexpr const char* kAllowedHint = "allowed: ";

// One point under examination; see check_points for its parts. Classes of rules derive from it.
struct ExaminedPoint {
  const RunPoint& point;
  const Topology* topology;
  const GivenKeys& given;
  Diagnostics& diagnostics;

  // The place of this point's value of collective.algorithm, in a list or alone.
  [[nodiscard]] Place place_of_algorithm() const;
  // Records an error at the first of the keys that is given, unless one has an invalid value.
  void report(const std::vector<std::string>& keys, const std::string& what,
              const std::string& hint) const {
    given.rule(keys, [&](const Place& at) { diagnostics.error(at, what, hint); });
  }
};

// Rules of links, packets, buffers, traffic and control messages (rules_network.cpp).
// check_network() is for keys that take no list, so one point is enough. check_messages() is for
// all points. check_faults() and check_skewed_steps() below are such a pair too.
void check_network(const ExaminedPoint& examined);
void check_messages(const ExaminedPoint& examined);
// What external modules exclude (sims/model/external_parts.h).
void check_external(const ExaminedPoint& examined);
// rules_authors.cpp
void check_ni_rules(const ExaminedPoint& examined);
// rules_faults.cpp
void check_faults(const ExaminedPoint& examined);
void check_skewed_steps(const ExaminedPoint& examined);
// rules_collective.cpp
void check_collective(const ExaminedPoint& examined);
void check_operation(const ExaminedPoint& examined);
void check_algorithm(const ExaminedPoint& examined);
void check_program(const ExaminedPoint& examined);
void check_rank_order(const ExaminedPoint& examined);
// rules_training.cpp
void check_training_and_workload(const ExaminedPoint& examined);
void check_coordination(const ExaminedPoint& examined);

}  // namespace espalier
