// No run is faster than its bound: random small networks with unequal links, all algorithms.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "alg/generators/generator.h"
#include "model_test_support.h"
#include "sims/experiment/point_runner.h"
#include "sims/model/build_program.h"
#include "tests/support/share_of_cases.h"

using namespace espalier;

namespace {

// Rates of whole GB/s up to a flit per cycle; latencies up to 200 ns, so that either may bind.
class BoundNetwork {
 public:
  explicit BoundNetwork(std::uint32_t seed)
      : random_(seed), topology_(fmt::format("seed {}", seed)) {
    const std::size_t nodes = 3 + draw(6);
    const std::size_t switches = draw(3);
    const bool equal = draw(3) == 0;
    even_ = equal ? link() : LinkSpec{};
    for (std::size_t n = 0; n < nodes; ++n) topology_.add_node(fmt::format("n{}", n));
    for (std::size_t s = 0; s < switches; ++s) topology_.add_switch(fmt::format("s{}", s));
    const std::size_t vertices = nodes + switches;
    for (std::size_t v = 1; v < vertices; ++v) cable(v, draw(v));
    for (std::size_t extra = draw(2 * vertices); extra > 0; --extra) {
      const std::size_t a = draw(vertices);
      cable(a, (a + 1 + draw(vertices - 1)) % vertices);
    }
  }

  [[nodiscard]] const Topology& topology() const { return topology_; }

 private:
  std::size_t draw(std::size_t count) { return random_() % count; }
  LinkSpec link() { return {1000 * (1 + draw(200)), 1'000'000'000 * (1 + draw(16))}; }
  void cable(std::size_t a, std::size_t b) {
    for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
      const std::string name = fmt::format("c{}", topology_.num_links());
      topology_.add_link(NodeId(from), NodeId(to), even_.bytes_per_second != 0 ? even_ : link(),
                         name, name);
    }
  }

  std::mt19937 random_;
  Topology topology_;
  LinkSpec even_;
};

RunPoint point_of(CollectiveOp op, const std::string& algorithm, Bytes size) {
  RunPoint point;
  point.collective.emplace();
  point.collective->op = op;
  point.collective->algorithm = algorithm;
  point.collective->size = size;
  return point;
}

bool suits(const Topology& topology, const Generator& generator) {
  if (generator.unsuited != nullptr && !generator.unsuited(topology).empty()) return false;
  if (generator.problem == nullptr) return true;
  const RunPoint point = point_of(generator.ops.front(), generator.name, 256);
  return !generator.problem(topology, collective_request(point.system, *point.collective));
}

// The share of its bound that a run reaches, in millionths.
std::uint64_t share_reached(const Topology& topology, const RunPoint& point) {
  const test::Report report = test::in_child([&] {
    const PointReport run = run_point(topology, point, std::nullopt, {});
    if (!run.failure.empty()) throw std::runtime_error(run.failure);
    const double share = run.result.at("bound_ratio").get<double>();
    return test::Report{{static_cast<std::uint64_t>(share * 1e6)}, {}};
  });
  return report.numbers.at(0);
}

}  // namespace

constexpr std::uint32_t kSeeds = 5;

TEST_CASE("No run of any algorithm is faster than its bound") {
  std::size_t runs = 0;
  std::uint64_t best = 0;
  test::ShareOfCases share_of_cases(23);
  for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
    const BoundNetwork network(seed);
    for (const Generator& generator : generators()) {
      if (!suits(network.topology(), generator)) continue;
      for (const CollectiveOp op : generator.ops) {
        if (has_counts(op)) continue;  // its counts come from a configuration
        for (const Bytes size : {Bytes{256}, Bytes{1 << 16}}) {
          if (!share_of_cases.take()) continue;
          CAPTURE(seed, generator.name, to_string(op), size);
          const std::uint64_t share =
              share_reached(network.topology(), point_of(op, generator.name, size));
          CHECK(share <= 1'000'000);
          best = std::max(best, share);
          ++runs;
        }
      }
    }
  }
  CHECK(runs >= (test::kSanitized ? 4 : 100));
  CHECK(best >= (test::kSanitized ? 500'000 : 900'000));  // otherwise the bound says little
}

TEST_CASE("Direct sends reach the bound of held crossbar inputs, which hold: flit lifts") {
  // Leaves of four nodes with links of 4 GB/s, and fast links between the leaves.
  const auto shares = [](std::uint64_t fast, SwitchHold hold, FlowControlMode mode) {
    Topology topology("two leaves");
    for (int n = 0; n < 8; ++n) topology.add_node(fmt::format("n{}", n));
    topology.add_switch("l0");
    topology.add_switch("l1");
    const auto cable = [&](std::size_t a, std::size_t b, std::uint64_t rate) {
      for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
        const std::string name = fmt::format("c{}", topology.num_links());
        topology.add_link(NodeId(from), NodeId(to), {100'000, rate}, name, name);
      }
    };
    for (std::size_t n = 0; n < 8; ++n) cable(n, 8 + n / 4, 4'000'000'000);
    cable(8, 9, fast);
    RunPoint point = point_of(CollectiveOp::all_to_all, "direct", 1 << 18);
    point.system.router.hold = hold;
    point.system.flow_control.mode = mode;
    const test::Report report = test::in_child([&] {
      const PointReport run = run_point(topology, point, std::nullopt, {});
      const auto& result = run.result;
      const bool is_held =
          result.at("bound_proof").value("prices", nlohmann::json()).dump().find("input_price") !=
          std::string::npos;
      return test::Report{{static_cast<std::uint64_t>(result.at("bound_ratio").get<double>() * 1e6),
                           is_held ? 1U : 0U},
                          {}};
    });
    CHECK(report.numbers.at(0) <= 1'000'000);
    return std::pair{report.numbers.at(0), report.numbers.at(1) == 1};
  };
  test::ShareOfCases share(3);
  for (const std::uint64_t fast : {16'000'000'000U, 11'000'000'000U}) {
    for (const FlowControlMode mode : {FlowControlMode::message, FlowControlMode::packet}) {
      if (!share.take()) continue;
      CAPTURE(fast, static_cast<int>(mode));
      const auto [by_packet, is_held] = shares(fast, SwitchHold::packet, mode);
      CHECK(is_held);
      CHECK(by_packet >= 930'000);
      CHECK_FALSE(shares(fast, SwitchHold::flit, mode).second);
    }
  }
}
