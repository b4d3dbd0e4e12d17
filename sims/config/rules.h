// Rules that several keys, or a key and the network, must keep together.
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

// A point with the optional sections that a run is made of, all at their defaults. Of two sections
// that exclude each other it has one, and an error is recorded.
[[nodiscard]] RunPoint choose_sections(const GivenKeys& given, ConfigNeed need,
                                       Diagnostics& diagnostics);

// Every rule of every point but those of system.dimensions. Precondition: at least one point.
// `topology` is that of all points; nullptr where it could not be built.
void check_points(const std::vector<RunPoint>& points, const Topology* topology,
                  const GivenKeys& given, Diagnostics& diagnostics);

inline constexpr std::size_t kWholeList = ~std::size_t{0};
// Where an entry of a list stands: "latency", 1.
using DimensionPlace = std::function<Place(const std::string& key, std::size_t entry)>;

// Rules of section system.dimensions, each reported at the entry that breaks it; false on errors.
// Precondition: every key that the dimensions depend on was given with a valid value or not at all.
[[nodiscard]] bool check_dimensions(const SystemConfig& system, const DimensionPlace& place,
                                    Diagnostics& diagnostics);

// Where this source of a rank order is written.
[[nodiscard]] Place place_of_rank_order(const GivenKeys& given, const std::string& source);

// One point under examination; see check_points for its parts.
struct ExaminedPoint {
  const RunPoint& point;
  const Topology* topology;
  const GivenKeys& given;
  Diagnostics& diagnostics;

  // The value of collective.algorithm that this point has, in a list or alone.
  [[nodiscard]] Place place_of_algorithm() const;
};

// Links, packets, buffers, traffic and control messages (rules_network.cpp). The first function is
// for keys that take no list, and needs one point; so are the pairs below.
void check_network(const ExaminedPoint& examined);
void check_messages(const ExaminedPoint& examined);
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
