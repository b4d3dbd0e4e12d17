#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include "config_test_support.h"
#include "sims/config/keys.h"
#include "sims/config/resolved.h"
#include "sims/model/build_dimensions.h"
#include "sims/point/enum_names.h"
#include "sims/point/fidelity.h"
#include "tests/support/resolved_yaml.h"
#include "tests/support/share_of_cases.h"

namespace espalier {

using namespace config_test;

namespace {

// Every key that the resolved configuration holds, so that a new key is compared too, and the
// folders that no key names.
void check_identical(const RunPoint& a, const RunPoint& b) {
  for (const Section& section : optional_sections()) REQUIRE(section.is_in(a) == section.is_in(b));
  for (const Key& key : keys()) {
    if (!key.resolved || !has_section_of(a, key)) continue;
    INFO(key.name);
    CHECK(key.get(a) == key.get(b));
  }
  CHECK(a.system.topology.folder == b.system.topology.folder);
  if (a.collective) CHECK(a.collective->rank_order.folder == b.collective->rank_order.folder);
  if (a.traffic) CHECK(a.traffic->folder == b.traffic->folder);
}

// A value that is not `now`; nothing where the key's shape has a single value.
std::optional<Value> another_value(const ValueShape& shape, const Value& now) {
  Value value = now;
  if (shape.type == ValueType::record) {
    std::vector<Value>& record = value.records.emplace_back();
    for (const ValueField& field : shape.fields) {
      record.push_back(another_value(field.shape, Value{}).value());
    }
  } else if (shape.type == ValueType::part) {
    value.texts.emplace_back("node 1");
  } else if (shape.type == ValueType::vertex && shape.list == ListOf::nothing) {
    value.text = "7";
  } else if (shape.type == ValueType::vertex) {
    value.texts.emplace_back("7");
  } else if (shape.list != ListOf::nothing) {
    value.items.push_back(shape.min + 1);
  } else if (shape.type == ValueType::text || shape.type == ValueType::label) {
    value.text += "x";
  } else if (shape.type == ValueType::fraction) {
    value.fraction =
        now.fraction == shape.max_fraction / 2 ? shape.max_fraction / 4 : shape.max_fraction / 2;
  } else if (shape.type == ValueType::name) {
    if (shape.names.size() < 2) return std::nullopt;
    value.number = now.number == 0 ? 1 : 0;
  } else {
    value.number = now.number == shape.min ? shape.min + 1 : shape.min;
  }
  return value;
}

class RandomPoint {
 public:
  explicit RandomPoint(std::uint64_t seed) : random_(seed) {}

  RunPoint draw() {
    RunPoint point;
    SystemConfig& s = point.system;
    draw_topology(s.topology);
    s.clock.flit_bytes = 8U << any() % 4;
    s.clock.hertz = std::vector<std::uint64_t>{1'000'000'000, 1'500'000'000, 700'000'000,
                                               123'456'789}[any() % 4];
    s.link.latency_ps = pick(1, 3'000'000);
    // A simple fraction of a flit per cycle: other rates have no common tick.
    s.link.bytes_per_second = s.clock.hertz * s.clock.flit_bytes / (any() % 2 == 0 ? 1 : 2);
    if (s.topology.family().name == "gpu_cluster" && any() % 2 == 0) {
      s.topology.set("nic_link.bandwidth", {s.link.bytes_per_second / 2});
    }
    s.credit_latency_cycles = any() % 2 == 0 ? 0 : pick(1, 1'000);
    s.router.vcs = pick32(1, 32);
    s.router.vc_depth_flits = pick32(2'000, 100'000);
    s.router.pipeline_cycles = pick(0, 64);
    s.router.pipeline_is_implied = any() % 2 == 0;
    s.router.depth_is_implied = any() % 2 == 0;
    s.ni.reduction.latency_is_implied = any() % 2 == 0;
    s.router.switching = one<Switching>();
    s.router.hold = one<SwitchHold>();
    s.router.crossbar_inputs = one<CrossbarInputs>();
    s.flow_control.mode = one<FlowControlMode>();
    s.flow_control.payload_bytes = s.clock.flit_bytes * pick(1, 64);
    if (s.flow_control.mode == FlowControlMode::message) {
      s.flow_control.sub_message_bytes = s.flow_control.payload_bytes * pick(1, 64);
    } else {
      s.flow_control.pad_last_packet = any() % 2 == 0;
    }
    s.ni.lockstep = one<LockstepMode>();
    if (s.ni.lockstep == LockstepMode::nop) {
      s.ni.rules = any() % 2 == 0 ? NiRules::authors : NiRules::authors_linked;
    }
    s.ni.ports = pick32(0, 64);
    s.ni.buffer_flits = pick32(0, 5'000);
    s.ni.table_entries = pick32(0, 5'000);
    s.ni.send_queue = pick32(1, 500);
    s.ni.dma_latency_cycles = pick(1, 99);
    s.ni.dma_bytes_per_cycle = any() % 3 == 0 ? 0 : pick(1, 999);
    s.ni.injection_cycles = pick(1, 99);
    s.ni.ejection_cycles = pick(1, 99);
    s.ni.delivery_cycles = pick(1, 99);
    s.ni.turnaround_cycles = pick(0, 99);
    s.ni.reduction.mode = one<ReductionMode>();
    s.ni.reduction.latency_cycles = pick(1, 99);
    s.ni.reduction.bytes_per_cycle = pick(0, 999);
    s.ni.reduction.block_bytes = pick(1, 9'999);
    draw_cost(s.cost);
    if (any() % 2 == 0) {
      CollectiveConfig c;
      const bool segments = any() % 2 == 0;
      c.op = segments ? CollectiveOp::all_reduce : an_op(*find_algorithm("multitree"));
      c.algorithm = segments ? "dbtree" : "multitree";
      if (has_switches(s.topology)) s.topology = a_torus();
      c.element_bytes = pick(1, 16);
      c.size = c.element_bytes * pick(1, 1ULL << (any() % 33));
      c.remaining_height_first = !segments && any() % 2 == 0;
      if (segments) c.segments = static_cast<std::uint32_t>(any() % 3 == 0 ? 0 : pick(1, 65'536));
      if (any() % 2 == 0) {
        c.rank_order.source = RankOrderConfig::kRandom;
        c.rank_order.seed = any();
      }
      point.collective = c;
    } else {
      TrafficConfig t;
      s.ni.lockstep = {};  // no timesteps
      s.ni.rules = {};
      do t.pattern = one<TrafficPattern>();
      while (!t.is_drawn());
      // A network that has every pattern.
      if (t.pattern != TrafficPattern::uniform && t.pattern != TrafficPattern::neighbor) {
        s.topology = {};
        s.topology.set("dims", {4, 4});
      }
      t.injection_rate = fraction() + 1e-9;
      t.message_bytes = pick(1, 1U << 20U);
      t.measure_cycles = pick(1, 1'000'000);
      t.warmup_cycles = pick(0, 1'000'000);
      t.drain_cycles = pick(0, 1'000'000);
      if (t.pattern == TrafficPattern::hotspot) {
        t.hotspots = {1, 0};
        t.hotspot_share = fraction() + 1e-9;
      }
      if (any() % 2 == 0 && t.injection_rate < 1) t.burst_messages = pick32(1, 1000);
      if (any() % 2 == 0) {
        t.loop = TrafficLoop::closed;
        t.reply_bytes = pick(1, 1U << 20U);
        t.outstanding = pick32(1, 65'536);
      }
      t.seed = any();
      // What the reader refuses with traffic: no dateline class to spare, wormhole packets that
      // hold the switch of a torus.
      point.traffic = t;
      s.router.vcs = std::max(s.router.vcs, 2U);
      if (s.router.switching == Switching::wormhole) s.router.hold = SwitchHold::flit;
    }
    if (point.collective && any() % 4 == 0) draw_dimensions(point);
    point.simulation.check = any() % 2 == 0;
    point.simulation.always_clocked = any() % 2 == 0;
    point.simulation.link_utilization = any() % 2 == 0 && !point.system.topology.is_dimensional();
    point.simulation.monitors = any() % 2 == 0;
    point.simulation.stall_probability =
        any() % 2 == 0 ? 0.0 : fraction() * (any() % 2 == 0 ? 1e-7 : 1.0);
    point.simulation.seed = any();
    point.simulation.watchdog_cycles = pick(10'000, 1'000'000'000);
    point.simulation.fidelity = one<Fidelity>();
    if (!train_obstacle(point).empty() && point.simulation.fidelity == Fidelity::train) {
      point.simulation.fidelity = Fidelity::cycle;
    }
    return point;
  }

 private:
  // Without what only multi-dimensional systems have. A crossbar has no writes.
  void draw_cost(CostSpec& cost) {
    cost.library = one<CellLibrary>();
    cost.node_nm = any() % 2 == 0 ? 0 : pick(5, 1000);
    cost.fo4_ps = any() % 2 == 0 ? 0 : pick(1, 10'000);
    cost.utilization = static_cast<double>(pick(1, 100)) / 100;
    cost.wire_margin = static_cast<double>(pick(0, 100)) / 100;
    cost.buffers = one<Storage>();
    cost.table = one<Storage>();
    cost.table_entry_bits = pick32(0, 500);
    cost.macro(CostBlock::router_phy) = {static_cast<double>(pick(0, 9'999)), 0,
                                         static_cast<double>(pick(0, 40)) / 4, 0,
                                         static_cast<double>(pick(0, 40)) / 8};
    for (const CostBlock block : {CostBlock::router_buffers, CostBlock::router_crossbar}) {
      cost.macro(block) = {static_cast<double>(pick(0, 9'999)) / 8, pick(0, 9'999),
                           static_cast<double>(pick(0, 99)) / 8, 0,
                           static_cast<double>(pick(0, 99)) / 4};
    }
  }

  static TopologyConfig a_torus() {
    TopologyConfig topology;
    topology.set("dims", {4, 3});
    return topology;
  }
  static bool has_switches(const TopologyConfig& topology) {
    const std::string& family = topology.family().name;
    return family != "torus" && family != "mesh" && family != "fully_connected";
  }
  void draw_center(TopologyConfig& t) {
    const std::uint64_t pods = pick(1, 3);
    const std::uint64_t racks = pick(1, 3);
    const std::uint64_t hosts = pick(2, 5);
    const std::uint64_t aggregations = pick(1, 2);
    const std::uint64_t uplinks = pick(1, 2);
    t.set("pods", {pods});
    t.set("racks_per_pod", {racks});
    t.set("hosts_per_rack", {hosts});
    t.set("nodes", {pick(2, pods * racks * hosts)});
    t.set("aggregations_per_pod", {aggregations});
    t.set("rack_uplinks", {aggregations * pick(1, 2)});
    t.set("aggregation_uplinks", {uplinks});
    t.set("cores", {pick(1, aggregations * uplinks)});
    t.set("placement", {any() % 3});
    t.set("placement_seed", {any()});
    t.set("ecmp_seed", {any()});
    if (any() % 2 == 0) t.set("aggregation_link.latency", {pick(1, 3'000'000)});
    if (any() % 2 == 0) t.set("core_link.latency", {pick(1, 3'000'000)});
  }
  void draw_cluster(TopologyConfig& t) {
    const std::uint64_t group = pick(1, 3);
    t.set("servers", {pick(1, 3)});
    t.set("gpus_per_nic_group", {group});
    t.set("gpus_per_server", {group * pick(2, 3)});
    t.set("nics_per_group", {pick(1, 3)});
    if (any() % 2 == 0) t.set("nic_link.latency", {pick(1, 3'000'000)});
  }
  // Of any family but those from files.
  void draw_topology(TopologyConfig& t) {
    const auto drawn =
        families_where([](const Family& f) { return f.source == Family::Source::keys; });
    t.type = drawn[any() % drawn.size()];
    const std::string& family = t.family().name;
    if (family == "data_center") return draw_center(t);
    if (family == "gpu_cluster") return draw_cluster(t);
    for (const FamilyKey& key : t.family().keys) {
      if (key.kind == FamilyKey::Kind::sides) {
        t.set(key.name, {pick(2, 5), pick(1, 4)});
      } else if (key.entries == FamilyKey::Entries::several) {
        t.set(key.name, {0});
      } else if (key.entries == FamilyKey::Entries::each_dimension) {
        const bool any_number =
            key.kind == FamilyKey::Kind::flag || key.kind == FamilyKey::Kind::count;
        t.set(key.name, {any_number ? pick(0, 1) : 0, any_number ? pick(0, 1) : 0});
      } else if (key.kind == FamilyKey::Kind::count) {
        t.set(key.name, {pick(key.min, 4)});
      }
    }
    if (family == "bigraph") t.set("switches", {2 * pick(1, 4)});
  }
  // What such a system has in another form keeps its defaults: nothing resolves it.
  void draw_dimensions(RunPoint& point) {
    const SystemConfig defaults;
    SystemConfig& s = point.system;
    s.topology = {};
    s.topology.type = "dimensions";
    s.link = defaults.link;
    s.credit_latency_cycles = 0;
    s.clock.flit_bytes = defaults.clock.flit_bytes;
    s.router.vc_depth_flits = defaults.router.vc_depth_flits;
    s.router.depth_is_implied = defaults.router.depth_is_implied;
    s.flow_control.payload_bytes = defaults.flow_control.payload_bytes;
    s.flow_control.sub_message_bytes = defaults.flow_control.sub_message_bytes;
    s.ni.lockstep = defaults.ni.lockstep;
    s.ni.rules = defaults.ni.rules;
    s.ni.ports = 0;
    s.ni.buffer_flits = defaults.ni.buffer_flits;
    s.ni.table_entries = 0;
    DimensionsConfig& d = s.dimensions;
    const std::size_t dimensions = pick(1, 3);
    const bool links = any() % 2 == 0;
    const bool flits = any() % 2 == 0;
    const bool depths = any() % 2 == 0;
    const bool algorithms = any() % 2 == 0;
    for (std::size_t i = 0; i < dimensions; ++i) {
      d.shape.push_back(one<DimensionShape>());
      d.size.push_back(pick32(2, 6));
      const std::uint32_t fewest = fewest_links(d.shape.back(), d.size.back());
      if (links) d.links.push_back(fewest * pick32(0, 3));
      const std::uint32_t flit_bytes = 8U << any() % 4;
      d.bytes_per_second.push_back(s.clock.hertz * flit_bytes);
      if (flits) d.flit_bytes.push_back(any() % 2 == 0 ? 0 : 2 * flit_bytes);
      d.latency_ps.push_back(pick(10'000'000, 20'000'000));
      if (depths) d.vc_depth_flits.push_back(any() % 2 == 0 ? 0 : pick32(70'000, 100'000));
      const auto fitting = fitting_algorithms(d.shape.back(), d.size.back());
      if (algorithms) {
        d.algorithm.push_back(any() % 2 == 0 ? std::nullopt
                                             : std::optional(fitting[any() % fitting.size()]));
      }
    }
    d.packet_flits = pick32(1, 64);
    s.cost.table = Storage::automatic;
    s.cost.table_entry_bits = 0;
    s.cost.queues = one<Storage>();
    s.cost.queue_entries = pick32(1, 65'536);
    DimensionQueueConfig& queue = s.ni.dimension_queue;
    queue.order.reset();
    if (any() % 3 != 0) queue.order = one<QueueOrder>();
    queue.key = one<ChunkKey>();
    queue.ties = one<TieRule>();
    queue.in_flight = pick32(0, 1024);
    queue.arbitration_cycles = pick(1, 1000);
    queue.arbitration_is_implied = any() % 2 == 0;
    queue.enforce_order = any() % 2 == 0;
    CollectiveConfig& c = *point.collective;
    const Planner& planner = planners()[any() % planners().size()];
    c.algorithm = planner.name;
    c.op = an_op(planner);
    if (planner.searches) queue.enforce_order = true;
    c.remaining_height_first = false;
    c.segments = 0;
    c.rank_order = {};
    c.chunks = pick32(1, 65'536);
    c.parts = one<PartSizes>();
    point.simulation.fold = any() % 2 == 0 ? Folding::automatic : Folding::off;
    if (c.algorithm == "themis") {
      c.threshold_divisor = pick32(1, 65'536);
      c.loads_start_at_fixed_delay = any() % 2 == 0;
    }
  }
  std::uint64_t any() { return random_(); }
  // Every enumerator that has a name, so that a new one is drawn without a word here.
  template <class Enum>
  Enum one() {
    return static_cast<Enum>(any() % kEnumNames<Enum>.size());
  }
  CollectiveOp an_op(const AlgorithmRow& row) { return row.ops[any() % row.ops.size()]; }
  std::uint64_t pick(std::uint64_t min, std::uint64_t max) { return min + any() % (max - min + 1); }
  std::uint32_t pick32(std::uint32_t min, std::uint32_t max) {
    return static_cast<std::uint32_t>(pick(min, max));
  }
  double fraction() { return static_cast<double>(any() >> 11) * 0x1.0p-53; }

  std::mt19937_64 random_;
};

}  // namespace

TEST_CASE("A resolved configuration reads back to the identical point") {
  constexpr std::uint64_t kSeed = 20211;
  RandomPoint random(kSeed);
  for (int i = 0; i < (test::kSanitized ? 60 : 400); ++i) {
    const RunPoint point = random.draw();
    const std::string yaml = resolved_yaml(point);
    const ConfigResult result = read_run_config_text("resolved.yaml", yaml);
    INFO("seed " << kSeed << ", point " << i);
    INFO(yaml);
    INFO(result.diagnostics);
    REQUIRE(result.ok);
    REQUIRE(result.points.size() == 1);
    check_identical(point, result.points.front());
    CHECK(resolved_yaml(result.points.front()) == yaml);
    CHECK(config_hash(result.points.front()) == config_hash(point));
  }
}

TEST_CASE("Every key has a place of its own in a point") {
  RunPoint defaults;
  for (const Section& section : optional_sections()) section.add_to(defaults);
  for (const Key& key : keys()) {
    if (key.name == "system.preset") continue;  // the reader looks at it, no struct keeps it
    INFO(key.name);
    // Kept in cycles of the clock, which this rounds to a cycle.
    const bool by_clock =
        key.name == "system.link.credit_latency" || key.name == "system.ni.dma.bandwidth";
    std::optional<Value> value = another_value(key.shape, key.get(defaults));
    if (by_clock) value = number_value(defaults.system.clock.hertz);
    REQUIRE(value);
    RunPoint changed = defaults;
    key.set(changed, *value);
    CHECK(key.get(changed) == *value);
    for (const Key& other : keys()) {
      if (&other == &key) continue;
      INFO("changes " << other.name);
      CHECK(other.get(changed) == other.get(defaults));
    }
  }
}

TEST_CASE("A base and link utilization survive the resolved configuration") {
  const RunPoint point = only_point(kGoodSystem +
                                    "collective: {algorithm: bcube, base: 2, size: 1MiB}\n"
                                    "simulation: {link_utilization: true}\n");
  const ConfigResult again = read_run_config_text("resolved.yaml", resolved_yaml(point));
  REQUIRE(again.ok);
  check_identical(point, again.points.front());
}

TEST_CASE("A configuration that reads without warnings resolves without warnings") {
  for (const char* mode : {"message", "packet"}) {
    const RunPoint point =
        only_point(kGoodSystem + kGoodCollective,
                   {"system.preset=isca21", std::string("system.flow_control.mode=") + mode});
    const ConfigResult again = read_run_config_text("resolved.yaml", resolved_yaml(point));
    CHECK(again.ok);
    CHECK(again.diagnostics.empty());
  }
}

TEST_CASE("A resolved configuration holds every key that applies, nested, with units as text") {
  const nlohmann::ordered_json json = resolved_json(only_point(kGoodSystem + kGoodCollective));
  CHECK(json["system"]["topology"]["dims"] == nlohmann::ordered_json({4, 4}));
  CHECK(json["system"]["link"]["latency"] == "150ns");
  CHECK(json["system"]["link"]["bandwidth"] == "16GB/s");
  CHECK(json["system"]["link"]["credit_latency"] == "link");
  CHECK(json["system"]["router"]["vcs"] == 4);
  CHECK(json["system"]["ni"]["ports"] == "auto");
  CHECK(json["collective"]["size"] == "16MiB");
  CHECK(json["simulation"]["check"] == true);
  CHECK(json["simulation"]["fidelity"] == "auto");
  CHECK_FALSE(json.contains("traffic"));
  CHECK_FALSE(json["system"]["flow_control"].contains("pad_last_packet"));
  CHECK_FALSE(json["system"].contains("preset"));
}

TEST_CASE("A network resolves to the keys of its type only") {
  const RunPoint point = only_point(
      "system: {topology: {type: fat_tree, nodes_per_switch: 2, switches: 3, spines: 4}}\n"
      "traffic: {}\n");
  CHECK(resolved_json(point)["system"]["topology"] ==
        nlohmann::ordered_json(
            {{"type", "fat_tree"}, {"nodes_per_switch", 2}, {"switches", 3}, {"spines", 4}}));
}

TEST_CASE("Keys that a GPU cluster's file omits resolve to their defaults") {
  const RunPoint point = only_point(
      "system: {topology: {type: gpu_cluster, servers: 2, gpus_per_server: 4, nic_link: {latency: "
      "1us}}}\ntraffic: {}\n");
  const auto topology = resolved_json(point)["system"]["topology"];
  CHECK(topology["gpus_per_nic_group"] == 1);
  CHECK(topology["nics_per_group"] == 1);
  CHECK(topology["nic_link"] ==
        nlohmann::ordered_json({{"latency", "1us"}, {"bandwidth", "link"}}));
}

TEST_CASE("Paths and words that YAML would bend are quoted in the resolved configuration") {
  RunPoint point;
  point.system.topology.type = "file";
  for (const char* path :
       {"null", "a: b", "# no comment", "\xc3\xa4 \"quoted\" \\ path", "~", " x ", "007"}) {
    point.system.topology.file = path;
    const std::string yaml = resolved_yaml(point);
    const ConfigResult result =
        read_run_config_text("r.yaml", yaml, "/no/such/folder", {}, ConfigNeed::system);
    INFO(yaml);
    INFO(result.diagnostics);
    // The path arrives whole: the only complaint is that there is no such file.
    const auto all = parse_diagnostics(result.diagnostics);
    REQUIRE(all.size() == 1);
    CHECK(all[0].message.find("'/no/such/folder/" + std::string(path) + "' cannot be read") == 0);
  }
}

TEST_CASE("Traffic resolves to the keys of its pattern only") {
  RunPoint point = only_point(kGoodSystem + "traffic: {}\n");
  CHECK(resolved_json(point)["traffic"].contains("injection_rate"));
  CHECK_FALSE(resolved_json(point)["traffic"].contains("file"));
  point.traffic->pattern = TrafficPattern::file;
  point.traffic->file = "messages.csv";
  CHECK(resolved_json(point)["traffic"] ==
        nlohmann::ordered_json({{"pattern", "file"}, {"file", "messages.csv"}}));
}

TEST_CASE("The configuration hash is FNV-1a and tells every key apart") {
  const RunPoint point = only_point(kGoodSystem + kGoodCollective);
  const std::string hash = config_hash(point);
  CHECK(hash.size() == 16);
  CHECK(hash.find_first_not_of("0123456789abcdef") == std::string::npos);
  std::uint64_t expected = 0xcbf29ce484222325ULL;
  for (const char c : resolved_json(point).dump()) {
    expected ^= static_cast<unsigned char>(c);
    expected *= 0x100000001b3ULL;
  }
  CHECK(std::stoull(hash, nullptr, 16) == expected);
  for (const char* change :
       {"system.router.vcs=5", "system.link.latency=149ns", "simulation.seed=2",
        "collective.op=all_gather", "system.topology.type=mesh"}) {
    INFO(change);
    CHECK(config_hash(only_point(kGoodSystem + kGoodCollective, {change})) != hash);
  }
  CHECK(config_hash(only_point(kGoodSystem + kGoodCollective, {"system.preset=default"})) == hash);
}

TEST_CASE("Credit latencies survive the way through picoseconds at any clock") {
  RunPoint point;
  for (const std::uint64_t hertz :
       {1'000ULL, 999'999'937ULL, 3'000'000'000ULL, 999'999'999'989ULL, 1'000'000'000'000ULL}) {
    for (const Cycle cycles : {1ULL, 2ULL, 3ULL, 149ULL, 1'000ULL}) {
      point.system.clock.hertz = hertz;
      point.system.credit_latency_cycles = cycles;
      const Key& key = *find_key("system.link.credit_latency");
      const Value value = key.get(point);
      point.system.credit_latency_cycles = 0;
      key.set(point, value);
      INFO(hertz << " Hz, " << cycles << " cycles");
      CHECK(point.system.credit_latency_cycles == cycles);
    }
  }
}

}  // namespace espalier
