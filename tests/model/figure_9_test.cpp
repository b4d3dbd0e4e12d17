// MultiTree's Fig. 9: every algorithm on every network it is drawn for, by packets and by messages.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "alg/certifier.h"
#include "model_test_support.h"

namespace espalier {
namespace {

using test::in_mode;
using test::kDefaultLink;

const std::vector<std::string> kDirect{"ring", "2d_ring", "dbtree", "multitree"};
const std::vector<std::string> kTori{"ring",   "bidirectional_ring", "2d_ring",
                                     "dbtree", "multitree",          "multitree_translated"};
const std::vector<std::string> kSwitched{"ring", "dbtree", "multitree"};
const std::vector<std::string> kBigraph{"ring", "dbtree", "multitree", "hdrm"};

void check_pair(const Topology& topology, const std::string& algorithm, Bytes size) {
  CAPTURE(topology.name(), algorithm, size);
  const ScheduleTables tables = test::tables_for(algorithm, topology, size);
  const Certificate certificate = certify(topology, tables);
  CHECK(certificate.ok());
  for (const FlowControlMode mode : {FlowControlMode::packet, FlowControlMode::message}) {
    SimulationConfig simulation;
    simulation.fidelity = Fidelity::train;
    const SimulationOutcome train = test::run_tables(topology, tables, in_mode(mode), simulation);
    simulation.fidelity = Fidelity::cycle;
    const SimulationOutcome cycle = test::run_tables(topology, tables, in_mode(mode), simulation);
    CHECK(train.failure == "");
    CHECK(train.verified);
    CHECK(test::reproducible(train) == test::reproducible(cycle));
  }
}

void check_network(const Topology& topology, const std::vector<std::string>& algorithms) {
  for (const std::string& algorithm : algorithms) {
    for (const Bytes size : {Bytes{32} << 10, Bytes{384} << 10}) {
      check_pair(topology, algorithm, size);
    }
  }
}

}  // namespace

TEST_CASE("Fig. 9a, 4x4 torus: certified, verified, equal in both fidelities") {
  check_network(make_torus({4, 4}, kDefaultLink), kTori);
}
TEST_CASE("Fig. 9a, 8x8 torus: certified, verified, equal in both fidelities") {
  check_network(make_torus({8, 8}, kDefaultLink), kTori);
}
TEST_CASE("Fig. 9b, 4x4 mesh: certified, verified, equal in both fidelities") {
  check_network(make_mesh({4, 4}, kDefaultLink), kDirect);
}
TEST_CASE("Fig. 9b, 8x8 mesh: certified, verified, equal in both fidelities") {
  check_network(make_mesh({8, 8}, kDefaultLink), kDirect);
}
TEST_CASE("Fig. 9c, 16 nodes of a DGX-2: certified, verified, equal in both fidelities") {
  check_network(make_switch_pair(8, kDefaultLink), kSwitched);
}
TEST_CASE("Fig. 9c, 64-node fat-tree: certified, verified, equal in both fidelities") {
  check_network(make_fat_tree(8, 8, 8, kDefaultLink), kSwitched);
}
TEST_CASE("Fig. 9d, 4x8 BiGraph: certified, verified, equal in both fidelities") {
  check_network(make_bigraph(4, 8, kDefaultLink), kBigraph);
}
TEST_CASE("Fig. 9d, 4x16 BiGraph: certified, verified, equal in both fidelities") {
  check_network(make_bigraph(4, 16, kDefaultLink), kBigraph);
}

// On the 8x8 mesh it is 139: a row of its own for every step in which a node connects children.
TEST_CASE("On 64 nodes MULTITREE's tables hold 2N = 128 entries at most, but for the mesh") {
  for (const Topology& topology :
       {make_torus({8, 8}, kDefaultLink), make_fat_tree(8, 8, 8, kDefaultLink),
        make_bigraph(4, 16, kDefaultLink)}) {
    CAPTURE(topology.name());
    const ScheduleTables tables = test::tables_for("multitree", topology, 1 << 20);
    CHECK(certify(topology, tables).most_table_entries <= 128);
  }
}

}  // namespace espalier
