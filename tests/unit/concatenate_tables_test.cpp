#include "alg/schedule/schedule_table.h"

#include <catch2/catch.hpp>
#include <set>

#include "alg/certify/certifier.h"
#include "alg/generators/generator.h"
#include "alg/generators/rank_shapes.h"
#include "tests/support/networks.h"

namespace espalier {
namespace {

ScheduleTables tables_of(const std::string& algorithm, const Topology& topology, Bytes size) {
  CollectiveRequest request;
  request.size = size;
  request.base = smallest_bcube_base(topology.num_nodes());
  return lower_to_tables(find_generator(algorithm)->generate(topology, request));
}

std::size_t sending_entries(const ScheduleTables& tables) {
  std::size_t count = 0;
  for (const auto& table : tables.nodes) {
    for (const TableEntry& entry : table) count += entry.op == TableOp::nop ? 0 : 1;
  }
  return count;
}

}  // namespace

TEST_CASE("All-reduces one after the other are an all-reduce of all their data") {
  const Topology topologies[] = {make_torus({4, 4}, LinkSpec{}), make_mesh({3, 2}, LinkSpec{})};
  for (const Topology& topology : topologies) {
    for (const Generator& generator : generators()) {
      if (!generator.unsuited(topology).empty()) continue;
      if (!generator.computes(CollectiveOp::all_reduce)) continue;
      CAPTURE(generator.name, topology.name());
      // The second has fewer elements than there are nodes.
      const ScheduleTables parts[] = {tables_of(generator.name, topology, 4096),
                                      tables_of(generator.name, topology, 12),
                                      tables_of(generator.name, topology, 1000)};
      const TableSequence all = concatenate(topology, {&parts[0], &parts[1], &parts[2]});
      CHECK(all.tables.size == 4096 + 12 + 1000);
      CHECK(all.tables.num_steps == parts[0].num_steps + parts[1].num_steps + parts[2].num_steps);
      CHECK(all.tables.contention_free == parts[0].contention_free);
      CHECK(all.tables.ni_ports == parts[0].ni_ports);
      CHECK(all.first_step == std::vector<Timestep>{1, parts[0].num_steps + 1,
                                                    parts[0].num_steps + parts[1].num_steps + 1});
      CHECK(all.first_chunk[0] == ChunkId(0));
      CHECK(all.first_chunk[2] == ChunkId(parts[0].chunks.size() + parts[1].chunks.size()));
      const Certificate certificate = certify(topology, all.tables);
      for (const Violation& violation : certificate.violations) {
        UNSCOPED_INFO(to_string(violation.kind) << ": " << violation.what);
      }
      CHECK(certificate.ok());
      std::size_t of_parts = 0;
      for (const ScheduleTables& part : parts) {
        of_parts += sending_entries(expand_symmetry(topology, part));
      }
      CHECK(sending_entries(all.tables) == of_parts);
    }
  }
}

TEST_CASE("All-reduces of any two algorithms may stand one after the other") {
  const Topology torus = make_torus({4, 4}, LinkSpec{150'000, 16'000'000'000});
  std::vector<std::pair<std::string, ScheduleTables>> parts;
  for (const Generator& generator : generators()) {
    if (!generator.unsuited(torus).empty() || !generator.computes(CollectiveOp::all_reduce)) {
      continue;
    }
    parts.emplace_back(generator.name, tables_of(generator.name, torus, 4096));
  }
  for (const auto& [first, before] : parts) {
    for (const auto& [second, after] : parts) {
      const TableSequence all = concatenate(torus, {&before, &after});
      const Certificate certificate = certify(torus, all.tables);
      CAPTURE(first, second);
      for (const Violation& violation : certificate.violations) UNSCOPED_INFO(violation.what);
      CHECK(certificate.ok());
    }
  }
}

TEST_CASE("Planned tables keep their order one after the other") {
  const Topology mesh = make_mesh({3, 3}, LinkSpec{150'000, 16'000'000'000});
  const ScheduleTables part = tables_of("forest", mesh, 9 << 12);
  REQUIRE(part.listed_order);
  const TableSequence all = concatenate(mesh, {&part, &part});
  CHECK(all.tables.listed_order);
  CHECK(certify(mesh, all.tables).ok());
  for (std::size_t n = 0; n < part.nodes.size(); ++n) {
    const auto& table = all.tables.nodes[n];
    REQUIRE(table.size() == 2 * part.nodes[n].size());
    for (std::size_t e = 0; e < table.size(); ++e) {
      const TableEntry& before = part.nodes[n][e % part.nodes[n].size()];
      const bool second = e >= part.nodes[n].size();
      CHECK(table[e].start_addr == before.start_addr + (second ? part.size : 0));
      CHECK(table[e].flow.index() == before.flow.index() + (second ? part.chunks.size() : 0));
    }
  }
}

TEST_CASE("No flow, step or address of one part is another's") {
  const Topology torus = make_torus({4, 4}, LinkSpec{});
  const ScheduleTables part = tables_of("2d_ring", torus, 2048);
  const TableSequence all = concatenate(torus, {&part, &part});
  const Timestep second = all.first_step[1];
  std::set<FlowId> flows[2];
  for (const auto& table : all.tables.nodes) {
    for (const TableEntry& entry : table) {
      if (entry.op == TableOp::nop) continue;
      const std::size_t which = entry.step < second ? 0 : 1;
      flows[which].insert(entry.flow);
      for (const FlowId flow : entry.after) flows[which].insert(flow);
      CHECK((entry.start_addr < 2048) == (which == 0));
    }
  }
  CHECK(flows[0].size() == flows[1].size());
  CHECK(*flows[0].rbegin() < *flows[1].begin());
  // Equal routes are kept once.
  CHECK(all.tables.routes.size() == part.routes.size());
}

TEST_CASE("An entry lost from one part is noticed in the whole") {
  const Topology torus = make_torus({2, 2}, LinkSpec{});
  const ScheduleTables good = tables_of("multitree", torus, 1024);
  ScheduleTables bad = good;
  bad.nodes[1].back() = TableEntry{};
  bad.nodes[1].back().step = good.nodes[1].back().step;
  CHECK(certify(torus, concatenate(torus, {&good, &good}).tables).ok());
  CHECK_FALSE(certify(torus, concatenate(torus, {&good, &bad}).tables).ok());
  CHECK_FALSE(certify(torus, concatenate(torus, {&bad, &good}).tables).ok());
}

}  // namespace espalier
