#include "sims/config/program_checks.h"

#include <fmt/format.h>

#include "alg/algorithm.h"
#include "sims/config/keys.h"
#include "sims/model/build_program.h"

namespace espalier {

namespace {

void check_file(const RunPoint& point, const Program& program, const Topology* topology,
                const GivenKeys& given, Diagnostics& diagnostics) {
  const Place place = given.place_of("collective.program.file");
  if (topology != nullptr && program.num_ranks() != topology->num_nodes()) {
    diagnostics.error(place, fmt::format("collective.program.file: its {} ranks do not fit the "
                                         "network's {} nodes",
                                         program.num_ranks(), topology->num_nodes()));
  }
  const Bytes size = point.collective->size;
  if (size != 0 &&
      (size < program.min_bytes || (program.max_bytes != 0 && size > program.max_bytes))) {
    const std::string most =
        program.max_bytes == 0 ? "on" : fmt::format("to {} bytes", program.max_bytes);
    diagnostics.warning(given.place_of_value("collective.size", size),
                        fmt::format("collective.size: the program is offered from {} bytes {}, "
                                    "not for {}",
                                    program.min_bytes, most, size));
  }
  if (program.collective == point.collective->op) return;
  const char* op = to_string(program.collective);
  diagnostics.error(place,
                    fmt::format("collective.program.file: it computes {}, collective.op is {}", op,
                                to_string(point.collective->op)),
                    fmt::format("collective: {{op: {}}}", op));
}

}  // namespace

void check_program(const RunPoint& point, const Topology* topology, const GivenKeys& given,
                   Diagnostics& diagnostics) {
  if (!has_program(point)) return;
  const ProgramConfig& config = point.collective->program;
  const Key& key = *find_key("collective.algorithm");
  const Place place = given.place_of_value(key.name, key.get(point).number);
  if (!config.file.empty()) {
    if (config.given) check_file(point, *config.given, topology, given, diagnostics);
    return;
  }
  const Algorithm& algorithm = *find_algorithm(point.collective->algorithm);
  if (topology == nullptr || algorithm.program == nullptr) return;
  const std::string reason = algorithm.program->unsuited(builtin_request(*topology, point));
  if (reason.empty()) return;
  diagnostics.error(
      place, fmt::format("collective.algorithm: {} cannot be made: {}", algorithm.name, reason));
}

}  // namespace espalier
