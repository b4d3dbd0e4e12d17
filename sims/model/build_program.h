// Builds a generator's request, or a program, from the configuration of a collective.
#pragma once

#include <memory>
#include <string>

#include "alg/algorithm.h"
#include "alg/program/builtin_programs.h"
#include "alg/program/program.h"
#include "alg/program/program_time.h"
#include "hw/topology/families/family.h"
#include "hw/topology/topology.h"
#include "sims/point/collective_config.h"
#include "sims/text/diagnostics.h"

namespace espalier {

struct RunPoint;
struct SystemConfig;
struct TopologyConfig;

// The times of messages in `system`, as its schedules are planned with.
[[nodiscard]] MessageTiming message_timing(const SystemConfig& system);
// The same of program contexts.
[[nodiscard]] ContextTiming context_timing(const SystemConfig& system);
[[nodiscard]] CollectiveRequest collective_request(const SystemConfig& system,
                                                   const CollectiveConfig& collective);

// The node of each rank of the process group, or all nodes of several groups, ascending; empty: all
// nodes.
[[nodiscard]] std::vector<NodeId> group_nodes(const CollectiveConfig& collective);
// The network on which the collective's algorithm plans: the whole one, or as its process group
// sees it (alg/generators/process_group.h).
[[nodiscard]] Topology ranks_network(const Topology& topology, const CollectiveConfig& collective);
// Why the generator does not run among collective.groups; empty if it does.
[[nodiscard]] std::string unsuited_for_groups(const Topology& topology, const SystemConfig& system,
                                              const CollectiveConfig& collective,
                                              const Generator& generator);

// Generator::posts_halves of the algorithm of that name.
[[nodiscard]] bool posts_halves(const std::string& algorithm);

// True if the point's algorithm is a program (Algorithm::is_program).
[[nodiscard]] bool has_program(const RunPoint& point);

// The topology's servers. Servers of a network with broken parts may differ, so each node is alone.
[[nodiscard]] ServerShape server_of(const TopologyConfig& topology);

// The parameters of a built-in program at this point.
[[nodiscard]] BuiltinRequest builtin_request(const Topology& topology, const RunPoint& point);

// The point's program with the point's protocol. Precondition: has_program(point), and the reader
// found no error in the program.
[[nodiscard]] Program build_program(const Topology& topology, const RunPoint& point);

// Why a connection of the point's program has no route there and back; empty if all have one.
// Precondition: build_program's.
[[nodiscard]] std::string missing_route(const Topology& topology, const RunPoint& point);

// The name of a given program and its file, "two rank exchange (mine.trace)"; the file alone if the
// program has no name.
[[nodiscard]] std::string program_label(const ProgramConfig& config);

// Reads both files; returns nullptr if there are errors. `place` is where the configuration names
// the files. `size` is the call's, which a plan's pipelines need; 0: unknown.
[[nodiscard]] std::shared_ptr<const Program> load_program(const ProgramConfig& config, Bytes size,
                                                          const Place& place,
                                                          Diagnostics& diagnostics);

}  // namespace espalier
