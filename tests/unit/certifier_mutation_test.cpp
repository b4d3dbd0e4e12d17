// Corruptions of single fields of tables: the certifier refuses those which change the result.
#include <catch2/catch.hpp>
#include <map>

#include "alg/generators/generator.h"
#include "certifier_test_support.h"
#include "table_interpreter.h"
#include "table_mutations.h"
#include "tests/support/networks.h"
#include "tests/support/share_of_cases.h"

namespace espalier::certifier_test {
namespace {

using test::MutatedField;

struct MutationCase {
  const char* name;
  Topology topology;
  CollectiveOp op;
};

std::vector<MutationCase> mutation_cases() {
  std::vector<MutationCase> cases;
  cases.push_back({"3x3 mesh", make_mesh({3, 3}, test::kPlainLink), CollectiveOp::all_reduce});
  cases.push_back({"3x3 torus", make_torus({3, 3}, test::kPlainLink), CollectiveOp::all_reduce});
  cases.push_back({"2x2 torus", make_torus({2, 2}, test::kPlainLink), CollectiveOp::all_reduce});
  cases.push_back({"3x2 mesh, reduce_scatter", make_mesh({3, 2}, test::kPlainLink),
                   CollectiveOp::reduce_scatter});
  return cases;
}

ScheduleTables multitree_tables(const MutationCase& c) {
  CollectiveRequest request;
  request.op = c.op;
  request.size = c.topology.num_nodes() * 16 + 8;  // chunks of two sizes
  return lower_to_tables(find_generator("multitree")->generate(c.topology, request));
}

// Which corruptions may pass, and why data do not change:
//   step   the entry keeps its place among the dependencies and no link has two transfers of a
//          step: only time changes;
//   after  the entry waits for one more flow, which is complete without it, and nobody else waits
//          for what is held meanwhile: only time changes;
//   route  another way to the same node, on links that are free in this step and in no cycle of
//          channels;
//   flow   only in a reduce_scatter, where nobody waits for the last Reduce on its way to the
//          owner: the same bytes are added in the same place, under another name.
bool is_harmless(const MutationCase& c, MutatedField field) {
  return field == MutatedField::step || field == MutatedField::after ||
         field == MutatedField::route ||
         (field == MutatedField::flow && c.op == CollectiveOp::reduce_scatter);
}

// Which kinds a corruption of each field may be rejected with.
bool is_expected(MutatedField field, ViolationKind kind) {
  switch (kind) {
    case ViolationKind::malformed:
      return true;  // by far the most
    case ViolationKind::deadlock:
      return true;  // somebody waits for what no longer comes
    case ViolationKind::contention:
      return field != MutatedField::size && field != MutatedField::start_addr;
    case ViolationKind::postcondition:
    case ViolationKind::read_before_write:
      return field != MutatedField::route && field != MutatedField::after &&
             field != MutatedField::step;
    case ViolationKind::capacity:
      return false;
  }
  return false;
}

TEST_CASE(
    "Every corruption of op, flow, parent, children, address or size of a table entry is "
    "rejected") {
  for (const MutationCase& c : mutation_cases()) {
    const ScheduleTables tables = multitree_tables(c);
    REQUIRE(certify(c.topology, tables).ok());
    std::map<MutatedField, std::size_t> rejected;
    std::map<ViolationKind, std::size_t> by_kind;
    std::size_t accepted = 0;
    test::for_each_mutant(
        c.topology, tables,
        [&](MutatedField field, const std::string& what, const ScheduleTables& mutant) {
          const Certificate certificate = certify(c.topology, mutant);
          CAPTURE(c.name, what);
          if (certificate.ok()) {
            ++accepted;
            CHECK(is_harmless(c, field));
            return;
          }
          ++rejected[field];
          for (const ViolationKind kind : kinds(certificate)) {
            ++by_kind[kind];
            CHECK(is_expected(field, kind));
          }
        });
    CAPTURE(c.name);
    for (const MutatedField field :
         {MutatedField::op, MutatedField::flow, MutatedField::parent, MutatedField::children,
          MutatedField::step, MutatedField::start_addr, MutatedField::size, MutatedField::after,
          MutatedField::route}) {
      CHECK(rejected[field] > 0);
    }
    for (const ViolationKind kind :
         {ViolationKind::malformed, ViolationKind::deadlock, ViolationKind::postcondition,
          ViolationKind::read_before_write}) {
      CHECK(by_kind[kind] > 0);
    }
    CHECK(accepted > 0);
  }
}

// Harmless means: whatever order the hardware takes them in, the data come out right.
TEST_CASE("Accepted corruptions give the right result in every order that the tables allow") {
  test::ShareOfCases share(5);
  for (const MutationCase& c : mutation_cases()) {
    const ScheduleTables tables = multitree_tables(c);
    for (const test::TableMutant& mutant : test::accepted_mutants(c.topology, tables)) {
      if (!share.take()) continue;
      for (std::uint32_t seed = 1; seed <= 3; ++seed) {
        CAPTURE(c.name, mutant.what, seed);
        CHECK(test::TableInterpreter(mutant.tables, seed).run() == test::RunOutcome::right);
      }
    }
  }
}

TEST_CASE("Running corrupted tables confirms the certifier's findings") {
  const MutationCase c{"3x2 mesh", make_mesh({3, 2}, test::kPlainLink), CollectiveOp::all_reduce};
  const ScheduleTables tables = multitree_tables(c);
  std::size_t races_seen = 0;
  test::for_each_mutant(
      c.topology, tables,
      [&](MutatedField /*field*/, const std::string& what, const ScheduleTables& mutant) {
        const Kinds found = kinds(certify(c.topology, mutant));
        CAPTURE(what);
        const auto outcome = [&](std::uint32_t seed) {
          return test::TableInterpreter(mutant, seed).run();
        };
        if (found.count(ViolationKind::malformed) != 0) return;
        if (found.count(ViolationKind::deadlock) != 0) {
          CHECK(outcome(1) == test::RunOutcome::stuck);
        } else if (found == Kinds{ViolationKind::postcondition}) {
          CHECK(outcome(1) == test::RunOutcome::wrong_data);
        } else if (found.count(ViolationKind::read_before_write) != 0) {
          // Some order goes wrong, not every one.
          for (std::uint32_t seed = 1; seed <= 20; ++seed) {
            if (outcome(seed) == test::RunOutcome::right) continue;
            ++races_seen;
            break;
          }
        }
      });
  CHECK(races_seen > 0);
}

TEST_CASE("Tables of a broadcast and a reduce that the certifier passes compute them") {
  const Topology mesh = make_mesh({2, 2}, test::kPlainLink);
  for (const CollectiveOp op : {CollectiveOp::broadcast, CollectiveOp::reduce}) {
    CollectiveRequest request;
    request.op = op;
    request.size = 64;
    request.root = 2;
    request.segments = 1;
    const ScheduleTables tables =
        lower_to_tables(find_generator("forest")->generate(mesh, request));
    std::size_t mutants = 0;
    std::size_t refused = 0;
    test::for_each_mutant(mesh, tables,
                          [&](MutatedField, const std::string&, const ScheduleTables& mutant) {
                            ++mutants;
                            refused += certify(mesh, mutant).ok() ? 0U : 1U;
                          });
    CHECK(refused > (test::kSanitized ? 30 : 100));
    CHECK(mutants - refused <= 1);  // one of a hundred is harmless
    for (const test::TableMutant& mutant : test::accepted_mutants(mesh, tables)) {
      CAPTURE(to_string(op), mutant.what);
      for (std::uint32_t seed = 1; seed <= 5; ++seed) {
        CHECK(test::TableInterpreter(mutant.tables, seed).run() == test::RunOutcome::right);
      }
    }
  }
}

}  // namespace
}  // namespace espalier::certifier_test
