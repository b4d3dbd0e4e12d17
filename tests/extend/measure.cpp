// Runs an all-reduce in a program whose results.txt has a toy field: the result and the register
// have it without another line of code.
#include <fmt/format.h>

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
  const ResultField* field = find_result_field("toy_hops_per_message");
  if (field == nullptr || field->type != ResultType::number || field->unit != "flits") {
    fmt::print("the register of results has no number toy_hops_per_message in flits\n");
    return 1;
  }
  fmt::print("{} hops in {} messages: toy_hops_per_message {}\n",
             report.result.at("flit_hops").get<double>(),
             report.result.at("messages").get<double>(),
             report.result.at("toy_hops_per_message").get<double>());
  return 0;
}
