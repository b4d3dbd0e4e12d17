#include "sims/cli/reorder_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>

#include "alg/rank_order/z3_order.h"
#include "sims/cli/exit_codes.h"
#include "sims/cli/input.h"
#include "sims/cli/network_latency.h"
#include "sims/cli/reorder_text.h"
#include "sims/cli/write_text.h"
#include "sims/experiment/progress.h"

namespace espalier {

namespace {

constexpr std::size_t kParts = 3;  // of the progress bar: latencies, the best order, the worst

int refuse(const std::string& path, const std::string& problem) {
  fmt::print(stderr, "{}: error: {}\n", path, problem);
  return kUsageError;
}

std::string problem_of(const Input& input) {
  if (input.points.size() != 1) {
    return fmt::format("reorder takes one point, the configuration has {}: -s picks one",
                       input.points.size());
  }
  if (input.tables) return "a finished schedule has its order; reorder takes a configuration";
  if (input.topology->dimensions()) {
    return "on a multi-dimensional system places in the dimensions are ranks";
  }
  return {};
}

std::optional<std::vector<std::uint64_t>> latencies_of(const ReorderOptions& options,
                                                       const Input& input, ProgressBar& bar) {
  if (!options.latency.empty()) {
    return measured_latencies(options.latency, input.topology->num_nodes());
  }
  return probed_latencies(*input.topology, input.points.front(),
                          [&](double done) { bar.update(0, done); });
}

int study(const ReorderOptions& options, const Input& input) {
  const auto begin = std::chrono::steady_clock::now();
  const RunPoint& point = input.points.front();
  std::string problem;
  const auto request = cost_model_request(point, input.topology->num_nodes(), problem);
  if (!request) return refuse(input.path, problem);
  if (point.reorder.z3_rlimit != 0 && !why_no_z3().empty()) return refuse(input.path, why_no_z3());
  ProgressBar bar(kParts);
  const auto latencies = latencies_of(options, input, bar);
  if (!latencies) return kUsageError;
  bar.update(0, 1);
  if (!options.write_latency.empty() &&
      !write_text(options.write_latency, latency_table(*latencies, request->ranks))) {
    return kUsageError;
  }
  const OrderStudy result =
      study_orders(*request, *latencies, point.reorder, options.spread,
                   [&](std::size_t part, double done) { bar.update(1 + part, done); });
  bar.clear();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const bool probed = options.latency.empty();
  std::FILE* people = options.json == "-" || options.output == "-" || options.write_latency == "-"
                          ? stderr
                          : stdout;
  fmt::print(people, "{}", study_table(result, probed ? "cycles" : "file's unit", seconds));
  const std::string topology = input.topology->name();
  if (!options.output.empty() &&
      !write_text(options.output, mapping_file(result, point.reorder, topology))) {
    return kUsageError;
  }
  if (options.json.empty()) return kGood;
  const auto json =
      study_json(result, point, topology, probed ? "probes" : options.latency, seconds);
  return write_text(options.json, json.dump(2) + "\n") ? kGood : kUsageError;
}

}  // namespace

int reorder_command(const ReorderOptions& options) {
  const auto to_stdout = {options.json == "-", options.output == "-", options.write_latency == "-"};
  if (std::count(to_stdout.begin(), to_stdout.end(), true) > 1) {
    fmt::print(stderr, "--json, --output and --write-latency: stdout takes one of them\n");
    return kUsageError;
  }
  const auto inputs = load_inputs({options.config}, options.overrides, ConfigNeed::collective);
  if (!inputs) return kUsageError;
  const Input& input = inputs->front();
  const std::string problem = input.topology == nullptr
                                  ? "a program alone has no network: reorder takes a configuration"
                                  : problem_of(input);
  if (!problem.empty()) return refuse(input.path, problem);
  try {
    return study(options, input);
  } catch (const std::invalid_argument& error) {
    return refuse(input.path, error.what());
  }
}

}  // namespace espalier
