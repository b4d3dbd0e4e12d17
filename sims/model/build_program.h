// From a configured collective to the request of its generator, or to its program.
#pragma once

#include <memory>
#include <string>

#include "alg/algorithm.h"
#include "alg/program/builtin_programs.h"
#include "alg/program/program.h"
#include "hw/topology/topology.h"
#include "sims/point/config.h"
#include "sims/text/diagnostics.h"

namespace espalier {

[[nodiscard]] CollectiveRequest collective_request(const CollectiveConfig& collective);

// Its algorithm is a program (Algorithm::is_program).
[[nodiscard]] bool has_program(const RunPoint& point);

// What the point asks of a built-in program.
[[nodiscard]] BuiltinRequest builtin_request(const Topology& topology, const RunPoint& point);

// The point's program, with the protocol that the point chooses. Precondition: has_program(point),
// and the reader found no fault with it.
[[nodiscard]] Program build_program(const Topology& topology, const RunPoint& point);

// Where its files stand.
[[nodiscard]] std::string program_path(const ProgramConfig& config);
[[nodiscard]] std::string promises_path(const ProgramConfig& config);

// What is in them; nullptr where something is wrong. `place` is where the configuration names them.
[[nodiscard]] std::shared_ptr<const Program> load_program(const ProgramConfig& config,
                                                          const Place& place,
                                                          Diagnostics& diagnostics);

}  // namespace espalier
