// What every generator owes, on every network that it says it runs on.
#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>

#include "alg/certify/certifier.h"
#include "alg/generators/generator.h"
#include "alg/generators/process_group.h"
#include "alg/generators/rank_shapes.h"
#include "alg/schedule/schedule_table.h"
#include "schedule_oracle.h"
#include "table_interpreter.h"
#include "test_networks.h"
#include "tests/support/share_of_cases.h"

using namespace espalier;

namespace {

std::string text_of(const Certificate& certificate) {
  std::string text;
  for (const Violation& violation : certificate.violations) {
    text += fmt::format("{}: {}\n", to_string(violation.kind), violation.what);
  }
  return text;
}

// With every node's own tables, and every root's own transfers, where one stands for all.
Schedule written_out(const Topology& topology, Schedule schedule) {
  if (!schedule.symmetry) return schedule;
  const ScheduleTables shared = lower_to_tables(schedule);
  CHECK(shared.nodes.size() == 1);
  const ScheduleTables tables = expand_symmetry(topology, shared);
  const Certificate certificate = certify(topology, shared);
  const Certificate of_all = certify(topology, tables);
  INFO(text_of(certificate));
  CHECK(certificate.ok());
  CHECK(certificate.transfers == of_all.transfers);
  CHECK(certificate.contention_free == of_all.contention_free);
  CHECK(certificate.most_table_entries == of_all.most_table_entries);
  CHECK(certificate.most_children == of_all.most_children);
  return raise_from_tables(topology, tables);
}

// `nodes`: the process group; empty: all nodes.
void check_request(const Generator& generator, const Topology& topology,
                   const CollectiveRequest& request, std::uint32_t seed,
                   const std::vector<NodeId>& nodes = {}) {
  CAPTURE(topology.name(), to_string(request.op), request.size, request.element_bytes,
          request.segments, request.root, nodes.size(), seed);
  const ProcessGroup group(topology, nodes);
  const Schedule schedule =
      written_out(topology, group.in_whole(generator.generate(group.network(), request)));
  const std::size_t ranks = nodes.empty() ? topology.num_nodes() : nodes.size();
  CHECK(schedule.scope == group.in_whole(request.scope(ranks)));
  CHECK(schedule.algorithm == generator.name);
  CHECK(schedule.op == request.op);
  CHECK(schedule.size == request.size);
  test::require_well_formed(topology, schedule);
  test::require_fits_tables(schedule);
  const ScheduleTables tables = lower_to_tables(schedule);
  const Certificate certificate = certify(topology, tables);
  INFO(text_of(certificate));
  CHECK(certificate.ok());
  CHECK(certificate.transfers == schedule.transfers.size());
  test::require_contention_as_claimed(topology, schedule, certificate.contention_free);
  CHECK(test::TableInterpreter(tables, seed).run() == test::RunOutcome::right);
}

// Every pair, or every rank, another number of elements, some none.
void give_counts(CollectiveRequest& request, std::size_t ranks, Bytes elements) {
  request.counts.clear();
  for (std::size_t c = 0; c < num_counts(request.op, ranks); ++c) {
    const bool own = is_exchange(request.op) && c / ranks == c % ranks;
    request.counts.push_back(own ? 0 : c * 7 % (elements + 1) * request.element_bytes);
  }
  if (!has_unequal_parts(request.op)) return;
  request.counts.back() += request.element_bytes;
  request.size = std::accumulate(request.counts.begin(), request.counts.end(), Bytes{0});
}

void check_generator(const std::string& name) {
  const Generator& generator = *find_generator(name);
  std::uint32_t seed = 1;
  std::size_t networks = 0;
  test::ShareOfCases share(7);
  for (const Topology& topology : test::small_networks()) {
    if (!generator.unsuited(topology).empty() || !share.take()) continue;
    ++networks;
    test::ShareOfCases requests(4);  // of each operation's five or seven
    const auto check = [&](const CollectiveRequest& request) {
      if (requests.take()) check_request(generator, topology, request, ++seed);
    };
    const Bytes nodes = topology.num_nodes();
    for (const CollectiveOp op : generator.ops) {
      CollectiveRequest request;
      request.op = op;
      request.base = smallest_bcube_base(nodes);
      for (const Bytes elements : {Bytes{1}, nodes - 1, 2 * nodes, 7 * nodes + 3}) {
        request.size = 4 * elements;
        give_counts(request, nodes, elements);
        check(request);
      }
      if (is_rooted(op)) {
        request.root = nodes - 1;
        check(request);
        for (std::size_t r = 0; r < nodes; ++r) {
          request.rank_order.emplace_back((3 + nodes - r) % nodes);
        }
        check(request);
      }
      request.element_bytes = 3;
      request.size = 3 * (5 * nodes + 1);
      give_counts(request, nodes, 11);
      request.segments = 3;
      check(request);
    }
  }
  CHECK(networks > 0);
}

}  // namespace

// Groups of every second node, and of the first node and the last two in another order.
TEST_CASE("Every generator keeps the contract in a process group") {
  std::uint32_t seed = 1;
  std::size_t runs = 0;
  test::ShareOfCases share(37);
  for (const Topology& topology : test::small_networks()) {
    const std::size_t last = topology.num_nodes() - 1;
    std::vector<std::vector<NodeId>> groups(1);
    for (std::size_t n = 0; n <= last; n += 2) groups[0].emplace_back(n);
    if (last >= 3) groups.push_back({NodeId(last), NodeId(0), NodeId(last - 1)});
    for (const std::vector<NodeId>& nodes : groups) {
      if (nodes.size() < 2) continue;
      const ProcessGroup group(topology, nodes);
      for (const Generator& generator : generators()) {
        if (!generator.unsuited(group.network()).empty()) continue;
        for (const CollectiveOp op : generator.ops) {
          if (!share.take()) continue;
          CollectiveRequest request;
          request.op = op;
          request.base = smallest_bcube_base(nodes.size());
          request.size = 4 * (5 * nodes.size() + 1);
          request.root = nodes.size() - 1;
          give_counts(request, nodes.size(), 9);
          check_request(generator, topology, request, ++seed, nodes);
          ++runs;
          if (!generator.reads("collective.relay", op)) continue;
          request.relays = group.relays();
          check_request(generator, topology, request, ++seed, nodes);
        }
      }
    }
  }
  CHECK(runs > (test::kSanitized ? 50 : 1000));
}

// One case per generator, so that they can run side by side.
TEST_CASE("ring keeps the contract of generators") { check_generator("ring"); }
TEST_CASE("bidirectional_ring keeps the contract of generators") {
  check_generator("bidirectional_ring");
}
TEST_CASE("2d_ring keeps the contract of generators") { check_generator("2d_ring"); }
TEST_CASE("hierarchical_ring keeps the contract of generators") {
  check_generator("hierarchical_ring");
}
TEST_CASE("multitree keeps the contract of generators") { check_generator("multitree"); }
TEST_CASE("multitree_translated keeps the contract of generators") {
  check_generator("multitree_translated");
}
TEST_CASE("direct keeps the contract of generators") { check_generator("direct"); }
TEST_CASE("pairwise keeps the contract of generators") { check_generator("pairwise"); }
TEST_CASE("halving_doubling keeps the contract of generators") {
  check_generator("halving_doubling");
}
TEST_CASE("bcube keeps the contract of generators") { check_generator("bcube"); }
TEST_CASE("hdrm keeps the contract of generators") { check_generator("hdrm"); }
TEST_CASE("dbtree keeps the contract of generators") { check_generator("dbtree"); }
TEST_CASE("binomial keeps the contract of generators") { check_generator("binomial"); }
TEST_CASE("chain keeps the contract of generators") { check_generator("chain"); }
TEST_CASE("forest keeps the contract of generators") { check_generator("forest"); }
TEST_CASE("a2a_paths keeps the contract of generators") { check_generator("a2a_paths"); }
TEST_CASE("auto keeps the contract of generators") { check_generator("auto"); }

TEST_CASE("The contract is tested of every generator") {
  std::vector<std::string> names;
  for (const Generator& generator : generators()) names.push_back(generator.name);
  CHECK(names == std::vector<std::string>{
                     "ring", "bidirectional_ring", "2d_ring", "hierarchical_ring", "multitree",
                     "multitree_translated", "direct", "pairwise", "halving_doubling", "hdrm",
                     "bcube", "dbtree", "binomial", "chain", "forest", "a2a_paths", "auto"});
}

TEST_CASE(
    "All but rings by dimension, translated trees and HDRM run on every network with links both "
    "ways") {
  for (const Topology& topology : test::small_networks()) {
    for (const Generator& generator : generators()) {
      CAPTURE(topology.name(), generator.name);
      const bool anywhere = generator.name != "2d_ring" && generator.name != "hierarchical_ring" &&
                            generator.name != "multitree_translated" && generator.name != "hdrm";
      if (anywhere) CHECK(generator.unsuited(topology) == "");
    }
  }
}
