#include "sims/config/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "sims/config/given_keys.h"
#include "sims/config/keys.h"
#include "sims/config/nccl_point.h"
#include "sims/config/presets.h"
#include "sims/config/rules.h"
#include "sims/formats/astra_network_file.h"
#include "sims/formats/link_rules.h"
#include "sims/formats/named_node.h"
#include "sims/formats/networks/network_formats.h"
#include "sims/model/build_program.h"
#include "sims/model/build_topology.h"
#include "sims/model/system_shape.h"
#include "sims/text/read_file.h"
#include "sims/text/units.h"
#include "sims/text/utf8.h"
#include "sims/text/yaml_loader.h"

namespace espalier {

namespace {

namespace fs = std::filesystem;

constexpr const char* kFlitKey = "system.router.flit_bytes";

constexpr const char* kMinimalFile =
    "a minimal file: 'system: {topology: {type: torus, dims: [8, 8]}}' and "
    "'collective: {algorithm: multitree, size: 16MiB}'";

std::string section_example(const std::string& section) {
  if (section == "system") return "system: {topology: {type: torus, dims: [8, 8]}}";
  if (section == "system.dimensions") {
    return "dimensions: {shape: [switch, ring], size: [4, 4], bandwidth: [200Gb/s, 100Gb/s], "
           "latency: [700ns, 700ns]}";
  }
  if (section == "system.topology") return "topology: {type: torus, dims: [8, 8]}";
  return {};
}

// Makes run points from the given keys.
class PointBuilder {
 public:
  // `has_asked_nccl`: keys_of_nccl() has made the keys, and what is left of NCCL is a step's.
  PointBuilder(const GivenKeys& given, std::string folder, ConfigNeed need,
               Diagnostics& diagnostics, bool has_asked_nccl = false)
      : given_(given),
        folder_(std::move(folder)),
        need_(need),
        diagnostics_(diagnostics),
        has_asked_nccl_(has_asked_nccl) {}

  [[nodiscard]] RunPoint draft() {
    frame_ = choose_sections(given_, need_, diagnostics_);
    static_cast<void>(read_preset());
    recognise_dimensions();
    const RunPoint point = make_point();
    if (!runs_nccl(point) || has_asked_nccl_) return point;
    const auto given = keys_of_nccl(given_, point, machine(), true, diagnostics_);
    return given ? PointBuilder(*given, folder_, need_, diagnostics_, true).draft() : point;
  }

  void build(ConfigResult& result) {
    frame_ = choose_sections(given_, need_, diagnostics_);
    if (!read_preset()) return;
    recognise_dimensions();
    check_required();
    expand(0);
    if (points_.size() + libraries_.size() > kMostListedPoints) {
      refuse_product();
      return;
    }
    if (!libraries_.empty()) {
      if (diagnostics_.num_errors() != 0) return;
      build_libraries(result);
      if (points_.empty()) return;
    }
    for (const Key& key : keys()) check_applicability(key);
    std::optional<Topology> topology = make_topology();
    if (topology) number_nodes(*topology);
    read_point_files(points_, topology ? &*topology : nullptr, given_, diagnostics_);
    std::vector<bool> keeps;
    auto skipped = check_and_skip_points(points_, topology ? &*topology : nullptr, given_,
                                         diagnostics_, keeps);
    result.skipped.insert(result.skipped.begin(), skipped.begin(), skipped.end());
    if (diagnostics_.num_errors() != 0) {
      result.points.clear();
      return;
    }
    for (RunPoint& point : points_) {
      check_nccl_channels(point, machine(), given_, diagnostics_);
      point.file_hashes = diagnostics_.file_hashes();
    }
    merge_points(result, keeps);
    result.topology = std::make_shared<const Topology>(std::move(*topology));
  }

 private:
  // Returns false if the user's machine file has mistakes.
  bool read_preset() {
    const GivenKey* given = given_.find("system.preset");
    if (given == nullptr || given->values.empty()) return true;
    const Value& named = given->values.front().value;
    if (named.text.empty()) {
      machine_ = presets().at(named.number);
    } else {
      const std::size_t errors = diagnostics_.num_errors();
      const Value* servers = value_of("system.topology.servers");
      machine_ =
          read_machine_file((fs::path(folder_) / named.text).string(),
                            servers == nullptr ? 0 : servers->number, given->place, diagnostics_);
      if (diagnostics_.num_errors() != errors) return false;
    }
    bool good = true;
    for (const auto& [name, node] : machine_->settings) {
      const Key* key = find_key(name);
      if (key == nullptr) throw std::logic_error("presets.yaml: there is no key " + name);
      const auto value = parse_value(node, name, key->shape, diagnostics_);
      if (value) preset_[name] = *value;
      good &= value.has_value();
    }
    return good;
  }

  [[nodiscard]] const Preset* machine() const { return machine_ ? &*machine_ : nullptr; }

  // A point of algorithm nccl, before NCCL has chosen.
  struct LibraryPoint {
    std::size_t place;  // of the next point of another algorithm
    RunPoint asked;
    std::map<std::string, Value> chosen;  // from lists
    RunPoint built = {};                  // with its choice
  };

  // Builds the points of NCCL's choices, each with a network of its own.
  void build_libraries(ConfigResult& result) {
    std::vector<LibraryPoint> built;
    for (LibraryPoint& each : libraries_) {
      GivenKeys own = given_;
      for (const auto& [name, value] : each.chosen) own.choose(name, value);
      Diagnostics found = diagnostics_.without_messages();
      ConfigResult one;
      if (const auto keys = keys_of_nccl(own, each.asked, machine(), points_.empty(), found)) {
        PointBuilder(*keys, folder_, need_, found, true).build(one);
      }
      if (one.points.empty() && !points_.empty()) {
        skip(each, found, result);
        continue;
      }
      diagnostics_.take(found, {});
      if (one.points.empty()) continue;
      if (!result.topology) result.topology = one.topology;
      result.points.push_back(one.points.front());
      built.push_back({each.place, each.asked, {}, std::move(one.points.front())});
    }
    libraries_ = std::move(built);
    if (diagnostics_.num_errors() != 0) result.points.clear();
  }

  // Of a list, algorithm nccl is skipped.
  void skip(const LibraryPoint& each, const Diagnostics& found, ConfigResult& result) {
    const Diagnostics::Error error = found.errors().front();
    const GivenKey& list = *given_.find(kAlgorithmKey);
    const std::uint64_t number = find_key(kAlgorithmKey)->get(each.asked).number;
    const Place place = given_.place_of_value(kAlgorithmKey, number);
    const bool is_from_all =
        list.all_place && !(place < *list.all_place) && !(*list.all_place < place);
    const std::string& name = each.asked.collective->algorithm;
    result.skipped.push_back({name, reason_of(error, name), !is_from_all});
    if (!is_from_all) {
      diagnostics_.warning(error.place, error.text + "; the algorithm is skipped", error.hint);
    }
  }

  // The order of points is that of the lists.
  void merge_points(ConfigResult& result, const std::vector<bool>& keeps) {
    std::vector<RunPoint> merged;
    std::size_t library = 0;
    std::size_t kept = 0;
    for (std::size_t p = 0; p <= keeps.size(); ++p) {
      while (library < libraries_.size() && libraries_[library].place == p) {
        merged.push_back(std::move(libraries_[library++].built));
      }
      if (p < keeps.size() && keeps[p]) merged.push_back(std::move(points_[kept++]));
    }
    result.points = std::move(merged);
  }

  // ASTRA-sim's network.yml describes dimensions, also where type: file names it. The messages of a
  // graph of work pass between dimensions, so there it is a graph.
  void recognise_dimensions() {
    const SystemConfig system = make_point().system;
    const bool is_joined = is_set("workload.file");
    const auto source = system.topology.family().source;
    if (is_joined ? source != Family::Source::astra_file : !joins_dimensions(system)) return;
    const std::string type =
        family_of(is_joined ? Family::Source::graph_file : Family::Source::astra_file);
    const auto& names = find_key(kTypeKey)->shape.names;
    const auto place = std::find(names.begin(), names.end(), type) - names.begin();
    chosen_[kTypeKey] = number_value(static_cast<std::uint64_t>(place));
  }

  // True if the input or the preset sets the key.
  [[nodiscard]] bool is_set(const std::string& name) const {
    return given_.is_given(name) || preset_.count(name) != 0 ||
           (name == kProgramFileKey && every_program_has_a_file());
  }

  // The list of algorithms may name the programs' files itself.
  [[nodiscard]] bool every_program_has_a_file() const {
    return !points_.empty() &&
           std::none_of(points_.begin(), points_.end(), [](const RunPoint& point) {
             return has_program(point) && point.collective->program.file.empty() &&
                    find_algorithm(point.collective->algorithm)->program == nullptr;
           });
  }

  [[nodiscard]] bool is_in_use(const Key& key) const { return has_section_of(frame_, key); }

  void check_required() {
    for (const Key& key : keys()) {
      if (key.required && key.conditions.empty() && is_in_use(key)) report_if_missing(key);
    }
  }

  // Reports the outermost missing section instead of every key in it.
  void report_if_missing(const Key& key) {
    if (is_set(key.name) || !given_.surroundings_usable(key.name)) return;
    for (std::size_t dot = key.name.find('.'); dot != std::string::npos;
         dot = key.name.find('.', dot + 1)) {
      const std::string section = key.name.substr(0, dot);
      if (given_.has_section(section)) continue;
      const std::size_t outer = section.rfind('.');
      diagnostics_.error(
          given_.place_of_section(outer == std::string::npos ? "" : section.substr(0, outer)),
          fmt::format("missing section '{}'", section), section_example(section));
      return;
    }
    diagnostics_.error(given_.place_of(key.name), fmt::format("missing key '{}'", key.name),
                       describe(key.shape));
  }

  // An upper bound: a list is not expanded at points where its key does not apply.
  void refuse_product() {
    double product = 1;
    const GivenKey* longest = nullptr;
    for (const Key* key : list_keys()) {
      const GivenKey* given = given_.find(key->name);
      if (given == nullptr || given->values.size() < 2) continue;
      product *= static_cast<double>(given->values.size());
      if (longest == nullptr || given->values.size() > longest->values.size()) longest = given;
    }
    diagnostics_.error(
        longest->place,
        fmt::format("the lists in the file make up to {:.0f} points; at most {} are allowed",
                    product, kMostListedPoints),
        "shorten the lists, or describe the points in a sweep with 'only'");
  }

  // Makes every combination of one value from each list. A list is not expanded if its key does not
  // apply together with the values chosen so far.
  void expand(std::size_t axis) {
    if (points_.size() + libraries_.size() > kMostListedPoints) return;
    if (axis == list_keys().size()) {
      RunPoint point = make_point();
      // A point without a size is refused like others.
      const bool is_sized =
          !point.collective || point.training || point.workload || point.collective->size != 0;
      if (runs_nccl(point) && has_asked_nccl_) {
        NcclMachine machine = *machine_->nccl;
        const Value& named = given_.find("system.preset")->values.front().value;
        machine.preset = named.text.empty() ? machine_->name : named.text;
        point.collective->nccl = std::make_shared<const NcclMachine>(std::move(machine));
      }
      if (runs_nccl(point) && is_sized && !has_asked_nccl_) {
        libraries_.push_back({points_.size(), std::move(point), chosen_});
      } else {
        points_.push_back(std::move(point));
      }
      return;
    }
    const Key& key = *list_keys()[axis];
    const GivenKey* given = given_.find(key.name);
    if (given == nullptr || given->values.size() < 2 || !is_in_use(key) ||
        !key.applies_at(make_point())) {
      expand(axis + 1);
      return;
    }
    for (const GivenValue& item : given->values) {
      chosen_[key.name] = item.value;
      expand(axis + 1);
    }
    chosen_.erase(key.name);
  }

  [[nodiscard]] RunPoint make_point() const {
    RunPoint point = frame_;
    point.system.topology.folder = folder_;
    if (point.collective) {
      point.collective->program.folder = folder_;
      point.collective->rank_order.folder = folder_;
      point.collective->counts.folder = folder_;
    }
    if (point.traffic) point.traffic->folder = folder_;
    if (point.training) point.training->folder = folder_;
    if (point.workload) point.workload->folder = folder_;
    const Value* algorithm = value_of(kAlgorithmKey);
    const bool names_program = algorithm != nullptr && !algorithm->text.empty();
    for (const Key& key : keys()) {
      if (!has_section_of(point, key) || !key.applies_at(point)) continue;
      if (names_program && key.name == kProgramFileKey) continue;  // set by the algorithm
      const Value* value = value_of(key.name);
      if (value == nullptr) continue;
      if (key.part_conditions.empty()) {
        key.set(point, *value);
      } else {
        key.set(point, applicable_part(key, point, *value));
      }
    }
    return point;
  }

  [[nodiscard]] const Value* value_of(const std::string& name) const {
    if (const auto chosen = chosen_.find(name); chosen != chosen_.end()) return &chosen->second;
    const GivenKey* given = given_.find(name);
    if (given != nullptr) return given->values.empty() ? nullptr : &given->values.front().value;
    const auto preset = preset_.find(name);
    return preset == preset_.end() ? nullptr : &preset->second;
  }

  // Reports required keys that apply and are missing, and given keys that never apply.
  void check_applicability(const Key& key) {
    check_parts(key);
    if (key.conditions.empty() || !is_in_use(key)) return;
    for (const KeyCondition& condition : key.conditions) {
      if (!given_.usable({condition.on.c_str()})) return;
      const Key* other = find_key(condition.on);
      if (other != nullptr && other->required && !is_set(condition.on)) return;
    }
    const auto is_used = [&](const RunPoint& point) { return key.applies_at(point); };
    bool applies = std::any_of(points_.begin(), points_.end(), is_used);
    if (applies && key.required) report_if_missing(key);
    for (const LibraryPoint& each : libraries_) applies = applies || is_used(each.built);
    if (!applies && given_.is_given(key.name)) report_useless(key);
  }

  // Warns of parts of a mapping that no point uses.
  void check_parts(const Key& key) {
    for (const auto& [part, condition] : key.part_conditions) {
      const std::optional<Place> place = given_.place_of_part(key.name, part);
      if (!place || !given_.usable({condition.on.c_str()})) continue;
      const bool applies = std::any_of(
          points_.begin(), points_.end(),
          [&condition = condition](const RunPoint& point) { return condition.holds(point); });
      if (applies) continue;
      diagnostics_.warning(*place, fmt::format("{}.{} has no effect: it is used only where {}",
                                               key.name, part, condition.sentence));
    }
  }

  void report_useless(const Key& key) {
    const Place place = given_.place_of(key.name);
    const std::string only = fmt::format("it is used only where {}", key.applies_when());
    if (!key.required && !key.exclusive) {
      diagnostics_.warning(place, fmt::format("{} has no effect: {}", key.name, only));
      return;
    }
    const auto failing = std::find_if(
        key.conditions.begin(), key.conditions.end(),
        [&](const KeyCondition& condition) { return !condition.holds(points_.front()); });
    const std::string& on =
        (failing == key.conditions.end() ? key.conditions.begin() : failing)->on;
    diagnostics_.error(place,
                       find_key(on) != nullptr || given_.has_section(on)
                           ? fmt::format("{} contradicts '{}': {}", key.name, on, only)
                           : fmt::format("{}: {}", key.name, only),
                       "remove one of the two");
  }

  // Nodes that are named get their numbers. A value with a mistake counts as not given, so that no
  // rule finds node 0 in it.
  void number_nodes(const Topology& topology) {
    for (const Key& key : keys()) {
      const Value* given = value_of(key.name);
      if (given == nullptr || !is_in_use(key)) continue;
      Value value = *given;
      bool is_new = false;
      bool is_good = true;
      const auto number = [&](const Place& place, const std::string& name, std::uint64_t& into) {
        if (name.empty()) return;
        is_new = true;
        const auto node = named_node(topology, key.name, name, place, diagnostics_);
        if (node) into = node->value();
        is_good &= node.has_value();
      };
      if (key.shape.is_node) number(given_.place_of(key.name), value.text, value.number);
      for (std::size_t i = 0; key.shape.is_node && i < value.texts.size(); ++i) {
        number(given_.place_of_entry(key.name, i), value.texts[i], value.items[i]);
      }
      for (std::size_t r = 0; r < value.records.size(); ++r) {
        for (std::size_t f = 0; f < key.shape.fields.size(); ++f) {
          if (!key.shape.fields[f].shape.is_node) continue;
          Value& field = value.records[r][f];
          const Place place = given_.place_of_field(key.name, r, key.shape.fields[f].name);
          number(place, field.text, field.number);
          for (std::size_t i = 0; i < field.texts.size(); ++i) {
            number(place, field.texts[i], field.items[i]);
          }
        }
      }
      if (!is_new) continue;
      if (!is_good) value = Value{};
      for (RunPoint& point : points_) {
        if (has_section_of(point, key) && key.applies_at(point)) key.set(point, value);
      }
    }
  }

  [[nodiscard]] static bool depends_on_type(const Key& key) {
    return std::any_of(key.conditions.begin(), key.conditions.end(),
                       [](const KeyCondition& condition) { return condition.on == kTypeKey; });
  }

  [[nodiscard]] std::optional<Topology> make_topology() {
    if (!is_set(kTypeKey) || !given_.usable({kTypeKey})) return std::nullopt;
    for (const Key& key : keys()) {
      if (!key.required || !depends_on_type(key) || !key.applies_at(points_.front())) continue;
      if (!is_set(key.name) || !given_.usable({key.name.c_str()})) return std::nullopt;
    }
    choose_flit_bytes();
    const Diagnostics before = diagnostics_;
    if (points_.front().system.topology.is_dimensional() && !has_good_dimensions()) {
      return std::nullopt;
    }
    std::optional<Topology> topology = built_topology();
    if (!topology || diagnostics_.num_errors() != 0) return topology;
    for (RunPoint& point : points_) {
      resolve_implied(point.system, *topology, configured_need(point));
    }
    if (!topology->dimensions() && !joins_dimensions(points_.front().system)) return topology;
    // The latency of a dimension is from NPU to NPU, so link latencies depend on the router's
    // cycles, which are known only now. The topology is therefore built again.
    diagnostics_ = before;
    if (topology->dimensions() && !has_good_dimensions()) return std::nullopt;
    return built_topology();
  }

  [[nodiscard]] std::optional<Topology> built_topology() const {
    const SystemConfig& system = points_.front().system;
    const bool clock_valid = given_.usable({"system.router.clock", kFlitKey});
    const Family& family = system.topology.family();
    const auto problem = family.problem == nullptr ? std::nullopt : family.problem(system.topology);
    const Place network =
        given_.place_of(problem && !problem->key.empty() ? problem->key : family.size_key);
    return build_topology(system, clock_valid,
                          {network, given_.place_of("system.topology.without"),
                           given_.place_of_first({"system.routing_file", "system.routing"})},
                          diagnostics_);
  }

  // A width of flits that is not given is the default, or as much wider as the fastest link needs.
  void choose_flit_bytes() {
    const SystemConfig& system = points_.front().system;
    if (system.topology.is_dimensional() || is_set(kFlitKey) ||
        !given_.usable({"system.router.clock", "system.link.bandwidth",
                        "system.flow_control.payload_bytes"})) {
      return;
    }
    const std::uint64_t fastest = fastest_link(system);
    if (fastest <= system.clock.hertz * system.clock.flit_bytes) return;
    const auto sizes = packet_sizes_for(fastest, system.clock.hertz, system.flow_control);
    // Sizes that the user chose are not changed; the rules report them.
    if (!sizes || (sizes->payload != system.flow_control.payload_bytes &&
                   (is_set("system.flow_control.payload_bytes") ||
                    is_set("system.flow_control.sub_message_bytes")))) {
      return;
    }
    diagnostics_.warning(
        given_.place_of(kFlitKey),
        fmt::format("{} is not given: {} B are used, because a link of {} carries at most one flit "
                    "per cycle",
                    kFlitKey, sizes->flit, format_quantity(Quantity::rate, fastest)),
        fmt::format("{}: {}", kFlitKey, sizes->flit));
    for (RunPoint& point : points_) {
      point.system.clock.flit_bytes = sizes->flit;
      point.system.flow_control.payload_bytes = sizes->payload;
      point.system.flow_control.sub_message_bytes = sizes->sub_message;
    }
  }

  // Keys of the dimensions take no lists, so all points have the same dimensions.
  bool has_good_dimensions() {
    for (const Key& key : keys()) {
      if (is_inside(key.name, "system.dimensions") && !given_.usable({key.name.c_str()}))
        return false;
    }
    if (!given_.usable({"system.router.clock", "system.router.pipeline_cycles",
                        "system.router.switching", "system.ni.dma.latency_cycles",
                        "system.ni.injection_cycles", "system.ni.ejection_cycles",
                        "system.ni.delivery_cycles"})) {
      return false;
    }
    std::map<std::string, std::vector<Place>> places_in_file;
    if (points_.front().system.topology.family().source == Family::Source::astra_file) {
      const auto network = read_astra_network();
      if (!network) return false;
      places_in_file = network->places;
    }
    const auto place = [&](const std::string& key, std::size_t entry) {
      if (const auto found = places_in_file.find(key); found != places_in_file.end()) {
        return found->second.at(entry < found->second.size() ? entry : 0);
      }
      const std::string name = "system.dimensions." + key;
      if (given_.is_given(name)) return given_.place_of_entry(name, entry);
      return given_.is_given("system.preset") ? given_.place_of("system.preset")
                                              : given_.place_of(name);
    };
    return check_dimensions(points_.front().system, place, diagnostics_);
  }

  std::optional<AstraNetwork> read_astra_network() {
    const SystemConfig& system = points_.front().system;
    const std::string path = topology_file_path(system.topology);
    const auto text = read_named_file(path, given_.place_of("system.topology.file"), diagnostics_);
    if (!text) return std::nullopt;
    auto network = parse_astra_network(path, *text, system.clock, diagnostics_);
    if (!network) return std::nullopt;
    for (RunPoint& point : points_) {
      DimensionsConfig& dimensions = point.system.dimensions;
      dimensions.shape = network->dimensions.shape;
      dimensions.size = network->dimensions.size;
      dimensions.bytes_per_second = network->dimensions.bytes_per_second;
      dimensions.latency_ps = network->dimensions.latency_ps;
    }
    return network;
  }

  const GivenKeys& given_;
  std::string folder_;
  ConfigNeed need_;
  Diagnostics& diagnostics_;
  bool has_asked_nccl_;
  RunPoint frame_;  // a point with its optional sections, all at their defaults
  std::map<std::string, Value> preset_;
  std::optional<Preset> machine_;  // the preset, or the user's machine
  std::vector<LibraryPoint> libraries_;
  std::map<std::string, Value> chosen_;  // values of the lists for the point under construction
  std::vector<RunPoint> points_;
};

std::optional<ConfigNode> load_root(const std::string& text, SourceIndex source,
                                    Diagnostics& diagnostics) {
  auto root = load_yaml(text, source, diagnostics);
  if (!root || root->kind == ConfigNode::Kind::map) return root;
  if (root->kind == ConfigNode::Kind::null) {
    diagnostics.error({source, 1, 1}, "the file is empty", kMinimalFile);
  } else {
    diagnostics.error(root->place, "expected a configuration, which is a mapping of sections",
                      kMinimalFile);
  }
  return std::nullopt;
}

ConfigResult finish(ConfigResult result, const Diagnostics& diagnostics) {
  result.ok = diagnostics.num_errors() == 0;
  result.num_warnings = diagnostics.num_warnings();
  result.diagnostics = diagnostics.text();
  result.file_hashes = diagnostics.file_hashes();
  return result;
}

// What NCCL took stands in resolved configurations only, which have every key.
void check_choice(const GivenKeys& given, Diagnostics& diagnostics) {
  if (!given.is_given("collective.choice") || given.is_given("system.ni.delivery_cycles")) return;
  diagnostics.error(given.place_of("collective.choice"),
                    "collective.choice: espalier writes it into resolved configurations",
                    "collective.algorithm: nccl");
}

// The algorithms that a command adds to the configuration's algorithms.
struct AddedAlgorithms {
  std::vector<std::string> programs;  // files
  bool every = false;
};

ConfigResult read_text(const std::string& name, const std::string& text, const std::string& folder,
                       const std::vector<std::string>& overrides, ConfigNeed need,
                       const AddedAlgorithms& added, bool is_written = true) {
  ConfigResult result;
  Diagnostics diagnostics;
  GivenKeys given;
  const SourceIndex source = diagnostics.add_file(name, text, is_written);
  const auto root = load_root(text, source, diagnostics);
  if (root) collect_keys(*root, given, diagnostics);
  for (const std::string& assignment : overrides) collect_override(assignment, given, diagnostics);
  check_choice(given, diagnostics);
  if (added.every || !added.programs.empty()) {
    const bool is_fixed =
        !added.every ||
        std::any_of(overrides.begin(), overrides.end(), [](const std::string& assignment) {
          return assignment.substr(0, assignment.find('=')) == kAlgorithmKey;
        });
    // Programs are found from the configuration's folder.
    std::vector<std::string> programs;
    for (const std::string& program : added.programs) {
      programs.push_back(fs::proximate(program, folder.empty() ? "." : folder).string());
      if (is_plain_text(programs.back())) continue;
      diagnostics.error({source, 1, 1},
                        fmt::format("a control character is in the name of '{}'", programs.back()),
                        "rename the program's file");
    }
    add_every_algorithm(given, programs, is_fixed, {source, 1, 1});
  }
  if (root) PointBuilder(given, folder, need, diagnostics).build(result);
  return finish(std::move(result), diagnostics);
}

// The configuration that a network's file stands for. Empty if the text is no such file.
std::string config_of_network(const fs::path& path, const std::string& text, ConfigNeed need) {
  const std::string type = network_type(text);
  if (type.empty()) return {};
  const nlohmann::ordered_json topology{{"type", type}, {"file", path.filename().string()}};
  nlohmann::ordered_json config{{"system", {{"topology", topology}}}};
  if (need == ConfigNeed::traffic) config["traffic"] = nlohmann::ordered_json::object();
  return config.dump();
}

ConfigResult read_file(const std::string& path, const std::vector<std::string>& overrides,
                       ConfigNeed need, const AddedAlgorithms& added) {
  const FileText file = read_file_text(path);
  if (!file.text) {
    Diagnostics diagnostics;
    const SourceIndex source = diagnostics.add_file(path, "");
    const std::uint32_t line = file.is_foreign ? 1 : 0;
    diagnostics.error({source, line, line}, fmt::format("the file {}", file.problem));
    return finish({}, diagnostics);
  }
  const std::string folder = fs::path(path).parent_path().string();
  const std::string network = config_of_network(path, *file.text, need);
  if (network.empty()) return read_text(path, *file.text, folder, overrides, need, added);
  return read_text(path + " (network)", network, folder, overrides, need, added, false);
}

}  // namespace

ConfigResult read_run_config_text(const std::string& name, const std::string& text,
                                  const std::string& folder,
                                  const std::vector<std::string>& overrides, ConfigNeed need,
                                  const std::vector<std::string>& programs) {
  return read_text(name, text, folder, overrides, need, {programs});
}

std::vector<RunPoint> read_run_config_tree(const ConfigNode& root, const std::string& folder,
                                           const std::vector<std::string>& overrides,
                                           Diagnostics& diagnostics, ConfigNeed need) {
  ConfigResult result;
  GivenKeys given;
  collect_keys(root, given, diagnostics);
  for (const std::string& assignment : overrides) collect_override(assignment, given, diagnostics);
  check_choice(given, diagnostics);
  PointBuilder(given, folder, need, diagnostics).build(result);
  return std::move(result.points);
}

std::vector<SkippedAlgorithm> skipped_algorithms(const ConfigNode& root, const std::string& folder,
                                                 const Diagnostics& sources) {
  Diagnostics unheard = sources;
  GivenKeys given;
  ConfigResult result;
  collect_keys(root, given, unheard);
  PointBuilder(given, folder, ConfigNeed::workload, unheard).build(result);
  return std::move(result.skipped);
}

RunPoint draft_run_point(const ConfigNode& root) {
  Diagnostics unheard;
  GivenKeys given;
  collect_keys(root, given, unheard);
  return PointBuilder(given, {}, ConfigNeed::system, unheard).draft();
}

ConfigResult read_run_config(const std::string& path, const std::vector<std::string>& overrides,
                             ConfigNeed need, const std::vector<std::string>& programs) {
  return read_file(path, overrides, need, {programs});
}

ConfigResult read_comparison(const std::string& path, const std::vector<std::string>& overrides,
                             const std::vector<std::string>& programs) {
  return read_file(path, overrides, ConfigNeed::collective, {programs, true});
}

}  // namespace espalier
