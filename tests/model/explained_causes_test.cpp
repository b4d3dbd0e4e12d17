// The engines' notes of what let entries issue agree with the rules of NIs read backwards, and with
// each other in both fidelities.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "model_test_support.h"
#include "sims/choose/choose.h"
#include "sims/config/reader.h"
#include "sims/model/faults.h"
#include "sims/observe/record/run_recorder.h"
#include "sims/system/step_time.h"
#include "table_oracle.h"
#include "tests/support/share_of_cases.h"

namespace espalier {
namespace {

using Settings = std::vector<std::string>;

constexpr const char* kJudgedTorus =
    "system: {topology: {type: torus, dims: [4, 4]}}\n"
    "collective: {op: all_reduce, algorithm: multitree, size: 32KiB}\n";
constexpr const char* kJudgedMesh =
    "system: {topology: {type: mesh, dims: [4, 4]}}\n"
    "collective: {op: all_reduce, algorithm: multitree, size: 64KiB}\n";

// Judges every entry of a run.
struct Judgement {
  std::uint64_t entries = 0;
  std::uint64_t of_several = 0;  // several conditions became true in the cycle of the issue
  std::uint64_t holds = 0;       // Reduces that were held beside memory
  std::string flaws;
};

bool same(const EntryCause& a, const EntryCause& b) {
  if (a.kind != b.kind || a.event.kind != b.event.kind || a.at != b.at) return false;
  return a.event.kind == PathEvent::Kind::issued ? a.entry == b.entry
                                                 : a.event.message == b.event.message;
}

std::string text_of(const EntryCause& cause) {
  return fmt::format("{} event {} message {} entry {} at {}", name_of(cause.kind),
                     static_cast<int>(cause.event.kind), cause.event.message, cause.entry,
                     cause.at);
}

void judge_entry(const TableCauses& tables, const test::TableOracle& oracle, NodeId node,
                 std::size_t entry, Judgement& judgement) {
  const EntryCause noted = tables.cause(node, entry);
  const std::vector<EntryCause> all = oracle.causes(node, entry);
  ++judgement.entries;
  std::vector<RecordIndex> awaited;
  for (const auto& each : oracle.awaited(node, entry)) awaited.push_back(each.event.message);
  std::vector<RecordIndex> came;
  for (const auto& each : tables.record_of(node, entry).awaited) came.push_back(each.message);
  std::sort(awaited.begin(), awaited.end());
  std::sort(came.begin(), came.end());
  if (came != awaited || tables.record_of(node, entry).sends != oracle.sends(node, entry)) {
    judgement.flaws += fmt::format("node {} entry {} has other messages\n", node.value(), entry);
  }
  if (all.size() > 1) ++judgement.of_several;
  if (std::any_of(all.begin(), all.end(), [&](const auto& c) { return same(c, noted); })) {
    return;
  }
  judgement.flaws += fmt::format("node {} entry {} at {}: noted {}; true:", node.value(), entry,
                                 tables.issued_at(node, entry), text_of(noted));
  for (const EntryCause& cause : all) judgement.flaws += " (" + text_of(cause) + ")";
  judgement.flaws += "\n";
}

// A Reduce was held until the message that is noted was in memory, or had left.
void judge_holds(const RecordedRun& run, Judgement& judgement) {
  for (const MessageRecord& held : run.record.messages) {
    if (held.adding == kNever || held.adding == held.visible) continue;
    ++judgement.holds;
    const RecordIndex by = held.held_for;
    if (by != kNowhere && (run.index.done(by) == held.adding || run.index.sent(by) == held.adding))
      continue;
    judgement.flaws += fmt::format("a Reduce of flow {} is held until {}: noted message {}\n",
                                   held.operation.flow.value(), held.adding, by);
  }
}

Judgement judge(const std::string& config, const Settings& settings) {
  const test::Report report = test::in_child([&] {
    const ConfigResult read = read_run_config_text("test", config, {}, settings);
    if (!read.ok) throw std::runtime_error(read.diagnostics);
    const RunPoint& point = read.points.front();
    const Topology& topology = *read.topology;
    ScheduleTables tables = generate_tables(topology, point.system, *point.collective);
    store_rows(tables, point.system.ni);
    RunRecorder recorder;
    SimulationHooks hooks;
    hooks.observers = {&recorder};
    const SimulationOutcome outcome = simulate_collective(topology, point, tables, hooks);
    if (!outcome.complete) throw std::runtime_error("the run does not end");
    const RecordedRun run(recorder.record(), {});
    const TableEngine::Spec engine = table_engine_spec(
        point, tables, {}, time_links(topology, point.system.clock), outcome.ni_ports);
    std::vector<TableEngine::Spec> engines;
    std::vector<NodeClock> clocks;
    for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
      const Cycle skew = skew_of(point.faults, NodeId(n));
      engines.push_back(faulty_engine(engine, point.faults, NodeId(n)));
      clocks.push_back({host_delay(point.faults, NodeId(n)) - skew, skew,
                        skew_per_step(point.faults, NodeId(n))});
    }
    const std::optional<AuthorsRules> authors = authors_rules(point, tables);
    const TableCauses causes(tables, run, clocks);
    const test::TableOracle oracle(
        tables, causes, run, engines, authors,
        takes_any_port(point.system.ni.rules) ? 1 : point.system.ni.send_queue);
    Judgement judged;
    for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
      for (std::size_t e = 0; e < causes.issued_entries(NodeId(n)); ++e) {
        judge_entry(causes, oracle, NodeId(n), e, judged);
      }
    }
    judge_holds(run, judged);
    return test::Report{{judged.entries, judged.of_several, judged.holds}, judged.flaws};
  });
  return {report.numbers[0], report.numbers[1], report.numbers[2], report.text};
}

struct JudgedRun {
  const char* config;
  Settings settings;
};

}  // namespace

TEST_CASE("What an engine notes of an entry is true by the rules of its NI") {
  std::vector<JudgedRun> runs;
  test::ShareOfCases share(7);
  for (const char* network : {kJudgedTorus, kJudgedMesh}) {
    for (const char* algorithm : {"multitree", "ring", "dbtree", "2d_ring", "forest"}) {
      for (const char* lockstep : {"off", "estimate", "drain", "full"}) {
        if (!share.take()) continue;
        runs.push_back({network,
                        {std::string("collective.algorithm=") + algorithm,
                         std::string("system.ni.lockstep=") + lockstep}});
      }
    }
  }
  const std::vector<JudgedRun> special{
      {kJudgedTorus, {"system.flow_control.mode=packet"}},
      {kJudgedTorus, {"collective.algorithm=ring", "system.preset=isca21"}},
      {kJudgedTorus, {"collective.algorithm=dbtree", "system.router.vc_depth_flits=40"}},
      {kJudgedTorus, {"collective.algorithm=dbtree", "system.ni.send_queue=1"}},
      {kJudgedTorus, {"collective.algorithm=forest", "system.ni.send_queue=1"}},
      {kJudgedMesh, {"collective.algorithm=forest", "system.ni.send_queue=2"}},
      {kJudgedTorus, {"collective.algorithm=halving_doubling"}},
      {kJudgedTorus, {"system.ni.dma.bandwidth=20GB/s"}},
      {kJudgedTorus, {"system.ni.ports=1", "system.ni.lockstep=off"}},
      {kJudgedTorus,
       {"system.ni.reduction.mode=after_message", "system.ni.reduction.bytes_per_cycle=4"}},
      {kJudgedTorus, {"system.ni.reduction.bytes_per_cycle=3", "system.ni.lockstep=off"}},
      {kJudgedTorus, {"system.ni.turnaround_cycles=900"}},
      {kJudgedTorus, {"collective.op=reduce_scatter"}},
      {kJudgedTorus, {"collective.op=all_gather"}},
      {kJudgedTorus,
       {"collective.algorithm=forest", "collective.size=256KiB", "system.ni.table_repeat=true"}},
      {kJudgedTorus, {"faults.late_nis=[{node: 6, cycles: 30000}]"}},
      {kJudgedTorus, {"faults.clock_skew=[{node: 9, cycles: 3000}]", "system.ni.lockstep=drain"}},
      {kJudgedTorus, {"faults.clock_skew=[{node: 9, per_step: 400}]"}},
  };
  runs.insert(runs.end(), special.begin(), special.end());
  // A row that lags behind holds the Reduces of the others beside memory.
  const std::string slow_row =
      "faults.slow_links=[{from: 0, to: 1, latency: 4us}, {from: 1, to: 2, latency: 4us}, "
      "{from: 2, to: 3, latency: 4us}, {from: 3, to: 0, latency: 4us}]";
  for (const char* op : {"collective.op=all_reduce", "collective.op=reduce_scatter"}) {
    runs.push_back({kJudgedTorus,
                    {"collective.algorithm=2d_ring", "collective.size=4KiB",
                     "system.ni.lockstep=off", op, slow_row}});
  }
  std::uint64_t of_several = 0;
  std::uint64_t holds = 0;
  for (const JudgedRun& run : runs) {
    CAPTURE(run.config, run.settings);
    const Judgement judged = judge(run.config, run.settings);
    CHECK(judged.flaws == "");
    CHECK(judged.entries > 16);
    of_several += judged.of_several;
    holds += judged.holds;
  }
  // In these entries both answers are true, and the engine's is one of them.
  CHECK(of_several > (test::kSanitized ? 300 : 1000));
  CHECK(holds > 10);
}

TEST_CASE("What the authors' NI notes of an entry is true by its rules") {
  test::ShareOfCases share(3);
  for (const char* network : {kJudgedTorus, kJudgedMesh}) {
    for (const char* rules : {"authors", "authors_linked"}) {
      for (const char* lockstep : {"off", "nop"}) {
        if (!share.take()) continue;
        const Settings settings{std::string("system.ni.rules=") + rules,
                                std::string("system.ni.lockstep=") + lockstep,
                                "collective.size=64KiB"};
        CAPTURE(network, settings);
        CHECK(judge(network, settings).flaws == "");
      }
    }
    CAPTURE(network);
    CHECK(judge(network, {"system.preset=isca21_authors", "collective.algorithm=multitree",
                          "collective.size=64KiB"})
              .flaws == "");
  }
}

}  // namespace espalier
