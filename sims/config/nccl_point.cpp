#include "sims/config/nccl_point.h"

#include <fmt/format.h>

#include <algorithm>

#include "sims/config/keys.h"
#include "sims/nccl/settings.h"
#include "sims/text/yaml_loader.h"

namespace espalier {

namespace {

const char* const kPresetKey = "system.preset";

// Presets and their numbers of NCCL, for a hint: "h100_8, h100_10x8".
std::string presets_with_nccl() {
  std::vector<std::string> names;
  for (const Preset& preset : presets()) {
    if (preset.nccl) names.push_back(preset.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

NcclNode node_of(const SystemConfig& system) {
  const auto gbps = [](const LinkSpec& link) {
    return static_cast<double>(link.bytes_per_second) / 1e9;
  };
  return {system.clock.hertz, system.ni.program.context_bytes_per_cycle,
          system.ni.program.doorbell_cycles, gbps(system.link),
          gbps(system.topology.link("nic_link", system.link))};
}

std::optional<Value> parsed(const Key& key, const std::string& text, const Place& place,
                            Diagnostics& diagnostics) {
  Diagnostics unheard;
  auto node = load_yaml(text, unheard.add_file("nccl", text, false), unheard);
  node->place = place;
  return parse_value(*node, key.name, key.shape, diagnostics);
}

class NcclPoint {
 public:
  NcclPoint(const GivenKeys& given, const RunPoint& asked, const Preset* machine, bool is_alone,
            Diagnostics& diagnostics)
      : given_(given),
        asked_(asked),
        preset_(machine),
        is_alone_(is_alone),
        diagnostics_(diagnostics) {}

  std::optional<GivenKeys> keys() {
    if (asked_.collective->size == 0 && !asked_.training && !asked_.workload) return std::nullopt;
    if (!can_run()) return std::nullopt;
    if (asked_.workload) {
      say_what_is_not_measured();
      return std::move(given_);
    }
    NcclPlan plan =
        nccl_plan(machine_, node_of(asked_.system), asked_.collective->op, asked_.collective->size);
    warn_of_useless_keys(plan);
    if (plan.in_switch && !use_in_switch()) return std::nullopt;
    if (plan.in_switch) {
      const std::string end = fmt::format(", on {}", machine_.in_switch);
      plan.choice.insert(plan.choice.find(';'), end);
    }
    for (const auto& [key, value] : plan.settings) set(key, value);
    Value choice;
    choice.text = plan.choice;
    given_.set("collective.choice", {place(), {{choice, place(), {}, {}}}, {}});
    say_what_is_not_measured();
    return std::move(given_);
  }

 private:
  [[nodiscard]] Place place() const { return given_.place_of(kAlgorithmKey); }
  bool refuse(const std::string& key, const std::string& reason, const std::string& hint) {
    diagnostics_.error(given_.is_given(key) ? given_.place_of(key) : place(),
                       fmt::format("{}: nccl {}", kAlgorithmKey, reason), hint);
    return false;
  }

  // Fills in machine_.
  bool can_run() {
    if (asked_.training || (asked_.workload && asked_.workload->file.empty())) {
      return refuse(kAlgorithmKey,
                    "chooses for a call of a known size or for the step of workload.file",
                    "name a schedule, for example algorithm: ring; auto takes the fastest for "
                    "each group and size");
    }
    if (!asked_.workload && !nccl_computes(asked_.collective->op)) {
      return refuse("collective.op",
                    "computes all_reduce, reduce_scatter, all_gather, all_to_all, and custom, "
                    "which is a message to the next rank",
                    "collective.op: all_reduce");
    }
    const TopologyConfig& network = asked_.system.topology;
    const bool is_cluster = network.family().name == "gpu_cluster";
    if (preset_ == nullptr || !preset_->nccl || !is_cluster) {
      return refuse(
          !is_cluster ? kTypeKey : kPresetKey,
          !is_cluster
              ? std::string("chooses by the links and NICs of servers of GPUs, which this network "
                            "does not have")
          : preset_ == nullptr
              ? std::string("chooses by numbers of a machine, and none is named")
              : fmt::format("chooses by numbers of a machine, and {} has none", preset_->name),
          fmt::format("system.preset: one of {}; or a machine file with a section nccl "
                      "(docs/silicon.md)",
                      presets_with_nccl()));
    }
    if (!network.without.empty()) {
      return refuse("system.topology.without", "has no known choice on a broken network",
                    "take the parts back, or name a program, for example algorithm: nccl_ring");
    }
    machine_ = *preset_->nccl;
    machine_.servers = static_cast<double>(network.number("servers"));
    const auto gpus = static_cast<double>(network.number("gpus_per_server"));
    if (gpus != machine_.gpus_per_server) {
      return refuse("system.topology.gpus_per_server",
                    fmt::format("has the channels and rings of servers of {:g} GPUs on {}, not of "
                                "{:g}",
                                machine_.gpus_per_server, preset_->name, gpus),
                    "write a machine file with the numbers of these servers (docs/silicon.md)");
    }
    if (machine_.ranks() < 2) return refuse(kTypeKey, "needs two GPUs", "servers: 2");
    if ((machine_.servers > 1) != (machine_.network_rate > 0)) {
      const bool is_one = machine_.servers == 1;
      return refuse(
          "system.topology.servers",
          fmt::format("finds other rings {}, and {} has none for it",
                      is_one ? "in one server than between servers" : "between servers than in one",
                      preset_->name),
          is_one ? "system.preset: h100_8, or a machine file without network_rate"
                 : "system.preset: h100_10x8, or a machine file with network_rate");
    }
    return true;
  }

  // Keys of the system that NCCL's choice replaces. Of a list of algorithms, others may read them.
  void warn_of_useless_keys(const NcclPlan& plan) {
    const auto is_read = [](const std::string& name) {
      static const std::vector<std::string> inputs{kPresetKey,
                                                   "system.ni.program.context_bytes_per_cycle",
                                                   "system.link.bandwidth",
                                                   "system.topology.nic_link.bandwidth",
                                                   "system.router.clock",
                                                   "system.router.flit_bytes"};
      return std::find(inputs.begin(), inputs.end(), name) != inputs.end();
    };
    if (!is_alone_) return;
    for (const Key& key : espalier::keys()) {
      const bool is_set = std::any_of(plan.settings.begin(), plan.settings.end(),
                                      [&](const auto& each) { return each.first == key.name; });
      const bool moves = plan.in_switch && !is_inside(key.name, "system.topology");
      if (!is_inside(key.name, "system") || is_read(key.name) || !given_.is_given(key.name) ||
          !(is_set || moves)) {
        continue;
      }
      diagnostics_.warning(given_.place_of(key.name),
                           fmt::format("{} has no effect: NCCL's choice, {}, sets it", key.name,
                                       plan.choice.substr(0, plan.choice.find(';'))));
    }
  }

  // The point moves to the preset whose switch adds, with the links of this machine.
  bool use_in_switch() {
    const auto found = std::find_if(presets().begin(), presets().end(), [&](const Preset& preset) {
      return preset.name == machine_.in_switch;
    });
    if (found == presets().end()) {
      return refuse(
          kPresetKey,
          fmt::format("needs nccl.in_switch, and there is no preset '{}'", machine_.in_switch),
          "in_switch: h100_8_nvls");
    }
    const SystemConfig& system = asked_.system;
    given_.forget("system");
    set(kPresetKey, found->name);
    set("system.dimensions.size", fmt::format("[{:g}]", machine_.gpus_per_server));
    set("system.dimensions.bandwidth", fmt::format("[{}B/s]", system.link.bytes_per_second));
    set("system.dimensions.flit_bytes", fmt::format("[{}]", system.clock.flit_bytes));
    set("system.router.clock", fmt::format("{}Hz", system.clock.hertz));
    return true;
  }

  void set(const std::string& name, const std::string& value) {
    const auto found = parsed(*find_key(name), value, place(), diagnostics_);
    if (found) given_.set(name, {place(), {{*found, place(), {}, {}}}, {}});
  }

  void say_what_is_not_measured() {
    if (machine_.measured_servers == machine_.servers) return;
    const std::string known =
        machine_.measured.empty()
            ? std::string()
            : fmt::format("; on the machine that its numbers are from, times are off by {}",
                          machine_.measured);
    diagnostics_.warning(
        place(),
        fmt::format("{}: nobody has measured NCCL's times on {} servers of {}{}", kAlgorithmKey,
                    machine_.servers, preset_->name, known),
        "docs/silicon.md has the errors of measured machines; expect more on others");
  }

  GivenKeys given_;
  const RunPoint& asked_;
  const Preset* preset_;
  bool is_alone_;
  Diagnostics& diagnostics_;
  NcclMachine machine_;
};

}  // namespace

bool runs_nccl(const RunPoint& point) {
  return point.collective && find_algorithm(point.collective->algorithm) != nullptr &&
         find_algorithm(point.collective->algorithm)->is_library;
}

std::optional<GivenKeys> keys_of_nccl(const GivenKeys& given, const RunPoint& asked,
                                      const Preset* machine, bool is_alone,
                                      Diagnostics& diagnostics) {
  return NcclPoint(given, asked, machine, is_alone, diagnostics).keys();
}

RunPoint with_nccl_choice(RunPoint point, std::uint32_t servers, std::uint32_t gpus) {
  CollectiveConfig& collective = *point.collective;
  const NcclNode node = node_of(point.system);
  const NcclMachine machine =
      collective.nccl->for_group(servers, gpus, node.link_rate / kNcclOnWire);
  const NcclPlan plan = nccl_plan(machine, node, collective.op, collective.size);
  for (const auto& [name, text] : plan.settings) {
    if (!is_inside(name, "collective") && !is_inside(name, "system.ni.program")) continue;
    Diagnostics unheard;
    const Key& key = *find_key(name);
    key.set(point, *parsed(key, text, {}, unheard));
  }
  collective.choice = plan.choice;
  return point;
}

void check_nccl_channels(const RunPoint& point, const Preset* machine, const GivenKeys& given,
                         Diagnostics& diagnostics) {
  if (machine == nullptr || !machine->nccl || !point.collective) return;
  const CollectiveConfig& collective = *point.collective;
  const Algorithm* algorithm = find_algorithm(collective.algorithm);
  if (algorithm == nullptr || algorithm->program == nullptr || !algorithm->program->is_nccl ||
      algorithm->parameter(kChannelsKey) == nullptr || !collective.choice.empty()) {
    return;
  }
  const double channels = machine->nccl->channels;
  if (2 * collective.program.channels >= channels) return;
  diagnostics.warning(
      given.place_of_first({kChannelsKey, kAlgorithmKey}),
      fmt::format("{}: {} runs on {} of the {:g} channels that NCCL finds on {}", kChannelsKey,
                  collective.algorithm, collective.program.channels, channels, machine->name),
      fmt::format("{}: {:g}; or collective.algorithm: nccl, which is NCCL's own choice",
                  kChannelsKey, channels));
}

}  // namespace espalier
