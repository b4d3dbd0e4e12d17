// Runs an all-reduce in a system whose NIs have the counter that add_counter.cmake adds: the result
// and the register of results have it without another line of code.
#include <fmt/format.h>

#include <string>
#include <systemc>

#include "hw/clock/clock_domain.h"
#include "sims/experiment/point_runner.h"
#include "sims/experiment/result_register.h"
#include "sims/point/config.h"
#include "tests/support/networks.h"

int sc_main(int, char**) {
  using namespace espalier;
  prepare_kernel();
  const Topology mesh = make_mesh({2, 2}, {150'000, 16'000'000'000});
  RunPoint point;
  point.collective.emplace();
  point.collective->algorithm = "ring";
  point.collective->size = 4096;
  const PointReport report = run_point(mesh, point, {}, {});
  if (!report.failure.empty()) {
    fmt::print("{}\n", report.failure);
    return 1;
  }
  const ResultField* field = find_result_field("toy_messages");
  if (field == nullptr || field->unit != "messages") {
    fmt::print("the register of results has no toy_messages in messages\n");
    return 1;
  }
  fmt::print("toy_messages: {} of {}\n", report.result.at("toy_messages").get<std::uint64_t>(),
             report.result.at("messages").get<std::uint64_t>());
  return 0;
}
