#include "sims/cli/schedule_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sims/model/plan_forecast.h"
#include "sims/point/config.h"
#include "sims/point/enum_names.h"

namespace espalier {

namespace {

constexpr std::size_t kStartsPerLine = 12;

const char* short_name(StageKind kind) { return kind == StageKind::reduce_scatter ? "RS" : "AG"; }

// A block may have a fractional number of bytes.
std::string bytes_text(double bytes) {
  return fmt::format("{:.{}f}", bytes, bytes == std::floor(bytes) ? 0 : 2);
}

// E.g. "RS 1 2 | AG 2 1".
std::string way_of(const PlannedChunk& chunk) {
  std::string text;
  for (std::size_t s = 0; s < chunk.stages.size(); ++s) {
    const StageKind kind = chunk.stages[s].kind;
    if (s == 0) {
      text += short_name(kind);
    } else if (chunk.stages[s - 1].kind != kind) {
      text += fmt::format(" | {}", short_name(kind));
    }
    text += fmt::format(" {}", chunk.stages[s].dimension + 1);
  }
  return text;
}

std::string starts_text(const DimensionPlan& plan, std::size_t dimension) {
  std::string text;
  const std::vector<StageRef>& starts = plan.start_order[dimension];
  const std::string title = fmt::format("dim{} starts", dimension + 1);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (i % kStartsPerLine == 0) {
      text += i == 0 ? title : fmt::format(",\n{:{}}", "", title.size());
    } else {
      text += ",";
    }
    const PlannedStage& stage = plan.chunks[starts[i].chunk].stages[starts[i].stage];
    text += fmt::format(" {} {}", short_name(stage.kind), starts[i].chunk);
  }
  return text + "\n";
}

}  // namespace

std::string plan_summary(const Topology& topology, const ForecastPlan& planned) {
  const DimensionPlan& plan = planned.plan;
  std::string text =
      fmt::format("  {} chunk{} over {} dimension{}; about {} cycles by the pre-simulation\n",
                  plan.chunks.size(), plan.chunks.size() == 1 ? "" : "s", plan.dimensions.size(),
                  plan.dimensions.size() == 1 ? "" : "s", planned.forecast);
  for (std::uint32_t d = 0; d < plan.dimensions.size(); ++d) {
    const DimensionSpec& spec = topology.dimensions()->dimensions[d];
    text += fmt::format("  dim{}: {} of {}, {}; an NPU sends {} B; predicted load {:.3f} us\n",
                        d + 1, name_of(spec.shape), spec.size,
                        to_string(plan.dimensions[d].algorithm), bytes_text(bytes_sent_on(plan, d)),
                        static_cast<double>(plan.loads_fs[d]) * 1e-9);
  }
  return text;
}

std::string plan_table(const Topology& topology, const RunPoint& point,
                       const ForecastPlan& planned) {
  const DimensionPlan& plan = planned.plan;
  std::string text = fmt::format("{} {} of {} B on {}\n", plan.algorithm, to_string(plan.op),
                                 plan.size, topology.name());
  text += plan_summary(topology, planned);
  Bytes largest = 0;
  for (const PlannedChunk& chunk : plan.chunks) largest = std::max(largest, chunk.size);
  const std::size_t width = std::max<std::size_t>(5, fmt::format("{}", largest).size());
  text += fmt::format("\nchunk  {:>{}}  dimensions\n", "bytes", width);
  for (std::size_t c = 0; c < plan.chunks.size(); ++c) {
    text +=
        fmt::format("{:>5}  {:>{}}  {}\n", c, plan.chunks[c].size, width, way_of(plan.chunks[c]));
  }
  text += "\n";
  if (plan.start_order.empty()) {
    text += fmt::format("every NPU starts the stages of a dimension as they become ready: {}\n",
                        name_of(arbiter_spec(point).order));
  }
  for (std::size_t d = 0; d < plan.start_order.size(); ++d) text += starts_text(plan, d);
  return text;
}

nlohmann::ordered_json plan_json(const Topology& topology, const ForecastPlan& planned) {
  using Json = nlohmann::ordered_json;
  const DimensionPlan& plan = planned.plan;
  Json json;
  json["algorithm"] = plan.algorithm;
  json["op"] = to_string(plan.op);
  json["topology"] = topology.name();
  json["size_bytes"] = plan.size;
  json["forecast_cycles"] = planned.forecast;
  json["dimensions"] = Json::array();
  for (std::uint32_t d = 0; d < plan.dimensions.size(); ++d) {
    const DimensionSpec& spec = topology.dimensions()->dimensions[d];
    json["dimensions"].push_back(Json{{"shape", name_of(spec.shape)},
                                      {"size", spec.size},
                                      {"algorithm", to_string(plan.dimensions[d].algorithm)},
                                      {"planned_bytes_per_node", bytes_sent_on(plan, d)},
                                      {"load_ns", static_cast<double>(plan.loads_fs[d]) * 1e-6}});
  }
  json["chunks"] = Json::array();
  for (const PlannedChunk& chunk : plan.chunks) {
    Json stages = Json::array();
    for (const PlannedStage& stage : chunk.stages) {
      stages.push_back(Json{{"kind", to_string(stage.kind)}, {"dimension", stage.dimension + 1}});
    }
    json["chunks"].push_back(
        Json{{"offset", chunk.offset}, {"size_bytes", chunk.size}, {"stages", std::move(stages)}});
  }
  // For each dimension, the chunks and their stages, both counted from 0; null if the NPUs choose.
  json["start_order"] = nullptr;
  for (const auto& starts : plan.start_order) {
    Json order = Json::array();
    for (const StageRef& start : starts) {
      order.push_back(Json{{"chunk", start.chunk}, {"stage", start.stage}});
    }
    json["start_order"].push_back(std::move(order));
  }
  return json;
}

namespace {

std::string place_text(ProgramBuffer buffer, std::int32_t offset, std::uint32_t count) {
  if (count <= 1) return fmt::format("{}[{}]", to_string(buffer), offset);
  return fmt::format("{}[{}..{}]", to_string(buffer), offset,
                     offset + static_cast<std::int32_t>(count) - 1);
}

std::string step_text(const ProgramStep& step) {
  std::string text = fmt::format("{:<4}", to_string(step.op));
  if (reads_source(step.op)) text += " " + place_text(step.src_buffer, step.src_offset, step.count);
  if (writes_target(step.op)) {
    text += " -> " + place_text(step.dst_buffer, step.dst_offset, step.count);
  }
  if (step.wait_block != kNoPeer) {
    text += fmt::format("  waits for tb {} step {}", step.wait_block, step.wait_step);
  }
  if (step.signals) text += "  signals";
  return text;
}

std::string block_text(const ThreadBlock& block) {
  std::string text;
  if (block.send_peer != kNoPeer) text += fmt::format(" send {}", block.send_peer);
  if (block.recv_peer != kNoPeer) text += fmt::format(" recv {}", block.recv_peer);
  text += text.empty() ? " local" : fmt::format(" channel {}", block.channel);
  if (block.call != 0) text += fmt::format(" call {}", block.call);
  return text;
}

}  // namespace

std::string program_text(const Program& program) {
  std::string text = fmt::format(
      "{}: {}{} of {} chunks on {} ranks, {}, {} instructions\n", program.name,
      to_string(program.collective), program.in_place ? " in place" : "", program.chunks,
      program.num_ranks(), to_string(program.protocol), program.num_steps());
  for (std::size_t r = 0; r < program.num_ranks(); ++r) {
    const RankProgram& rank = program.ranks[r];
    text += fmt::format("gpu {}: i {} o {} s {}\n", r, rank.input_chunks, rank.output_chunks,
                        rank.scratch_chunks);
    for (std::size_t b = 0; b < rank.blocks.size(); ++b) {
      text += fmt::format("  tb {}:{}\n", b, block_text(rank.blocks[b]));
      const auto& steps = rank.blocks[b].steps;
      for (std::size_t s = 0; s < steps.size(); ++s) {
        text += fmt::format("    {:>3} {}\n", s, step_text(steps[s]));
      }
    }
  }
  return text;
}

std::string certificate_text(const Program& program, const ProgramCertificate& certificate) {
  std::string text = fmt::format(
      "  {} instructions and {} messages over {} connections; at most {} contexts per NI, {} steps "
      "per context\n",
      program.num_steps(), certificate.messages, certificate.connections, certificate.most_contexts,
      certificate.most_steps);
  if (certificate.least_slots != 0 && !program.one_sided) {
    text += fmt::format("  slots per connection: at least {}\n", certificate.least_slots);
  }
  if (!certificate.promises_known) {
    text +=
        "  results are not proven: the custom collective has no promises "
        "(collective.program.promises)\n";
  }
  if (!certificate.out_of_place.empty()) {
    text += fmt::format(
        "  warning: the program claims to run out of place, too, but is wrong out of place: {}: "
        "{}\n",
        to_string(certificate.out_of_place.front().kind),
        describe(certificate.out_of_place.front()));
  }
  for (const ProgramViolation& violation : certificate.violations) {
    text += fmt::format("  {}: {}\n", to_string(violation.kind), describe(violation));
  }
  return text;
}

}  // namespace espalier
