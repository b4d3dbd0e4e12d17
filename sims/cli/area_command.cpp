#include "sims/cli/area_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "sims/cli/area_text.h"
#include "sims/cli/exit_codes.h"
#include "sims/cli/input.h"
#include "sims/cli/version.h"
#include "sims/cli/write_text.h"
#include "sims/config/resolved.h"
#include "sims/experiment/describe_cost.h"
#include "sims/synthesis/synthesizer.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

// Of every block for which there is RTL, each size once.
class Measurements {
 public:
  void add_to(SystemConfig& system, const Topology& topology, const RunNeed& need) {
    const PricedSystem priced = price_system(system, topology, need);
    for (const RouterCost& router : priced.cost.routers) measure(router.blocks());
    for (const NiKindCost& ni : priced.cost.nis) measure(ni.cost.blocks);
    system.cost.synthesized = known_;
  }

 private:
  void measure(const std::vector<BlockCost>& blocks) {
    for (const BlockCost& block : blocks) {
      if (!block.rtl) continue;
      const bool known =
          std::any_of(known_.begin(), known_.end(),
                      [&](const SynthesizedLogic& logic) { return logic.instance == *block.rtl; });
      if (known) continue;
      fmt::print(stderr, "synthesizing {}\n", describe(*block.rtl));
      known_.push_back(synthesizer_.measure(*block.rtl));
    }
  }

  Synthesizer synthesizer_;
  std::vector<SynthesizedLogic> known_;
};

Json describe_system(const Input& input, const RunPoint& point, Measurements* measurements) {
  SystemConfig system = point.system;
  const Topology& topology = *input.topology;
  const RunNeed need = configured_need(point);
  if (measurements != nullptr) measurements->add_to(system, topology, need);
  const PricedSystem priced = price_system(system, topology, need);
  Json json;
  json["config"] = input.path;
  json["topology"] = topology.name();
  json["nodes"] = topology.num_nodes();
  json["clock_GHz"] = static_cast<double>(system.clock.hertz) / 1e9;
  json["pipeline_cycles"] = system.router.pipeline_cycles;
  json["implied_pipeline_cycles"] =
      implied_router_cycles(priced.shape, system.cost, system.clock.hertz);
  json["arbitration_cycles"] = nullptr;
  json["implied_arbitration_cycles"] = nullptr;
  if (topology.dimensions()) {
    json["arbitration_cycles"] = system.ni.dimension_queue.arbitration_cycles;
    json["implied_arbitration_cycles"] =
        implied_arbitration_cycles(priced.shape, system.cost, system.clock.hertz);
  }
  json["area"] = describe_area(priced, system, topology, AreaDetail::every_kind);
  return json;
}

// Points that differ in what is run alone have one system.
void add_systems(const std::vector<Input>& inputs, Measurements* measurements,
                 std::vector<Json>& systems) {
  for (const Input& input : inputs) {
    for (const RunPoint& point : input.points) {
      Json system = describe_system(input, point, measurements);
      const bool known = std::find(systems.begin(), systems.end(), system) != systems.end();
      if (!known) systems.push_back(std::move(system));
    }
  }
}

// As overrides, so that mistakes are reported as any others.
std::vector<std::vector<std::string>> combinations(const AreaOptions& options) {
  std::vector<std::vector<std::string>> all{options.overrides};
  const auto cross = [&](const std::string& key, const std::vector<std::string>& values) {
    if (values.empty()) return;
    std::vector<std::vector<std::string>> crossed;
    for (const auto& before : all) {
      for (const std::string& value : values) {
        crossed.push_back(before);
        crossed.back().push_back(fmt::format("{}={}", key, value));
      }
    }
    all = std::move(crossed);
  };
  cross("system.cost.technology", options.technologies);
  cross("system.cost.node", options.nodes);
  return all;
}

std::string document(const std::vector<Json>& systems) {
  Json root;
  root["tool"] = {{"name", "espalier"}, {"version", kVersion}};
  root["systems"] = systems;
  return root.dump(2) + "\n";
}

}  // namespace

int area_command(const AreaOptions& options) {
  if (options.json == "-" && options.csv == "-") {
    fmt::print(stderr, "--json - and --csv -: stdout takes one of them\n");
    return kUsageError;
  }
  std::optional<Measurements> measurements;
  std::vector<Json> systems;
  Messages audience = Messages::people;
  for (const std::vector<std::string>& overrides : combinations(options)) {
    const auto inputs = load_inputs(options.configs, overrides, ConfigNeed::system, audience);
    if (!inputs) {
      // What the first combination has not shown is said now.
      if (audience == Messages::nobody) {
        static_cast<void>(load_inputs(options.configs, overrides, ConfigNeed::system));
      }
      return kUsageError;
    }
    audience = Messages::nobody;
    try {
      if (options.synthesize && !measurements) measurements.emplace();
      add_systems(*inputs, measurements ? &*measurements : nullptr, systems);
    } catch (const std::runtime_error& error) {
      fmt::print(stderr, "{}\n", error.what());
      return kUsageError;
    }
  }
  std::FILE* people = options.json == "-" || options.csv == "-" ? stderr : stdout;
  for (std::size_t i = 0; i < systems.size(); ++i) {
    fmt::print(people, "{}{}", i == 0 ? "" : "\n", area_text(systems[i]));
  }
  if (!options.json.empty() && !write_text(options.json, document(systems))) return kUsageError;
  if (!options.csv.empty() && !write_text(options.csv, area_csv(systems))) return kUsageError;
  return kGood;
}

}  // namespace espalier
