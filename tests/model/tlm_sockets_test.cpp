// TLM-2.0 sockets at NIs: foreign initiators' writes are messages like any others.
#include <array>
#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <set>

#include "model_test_support.h"
#include "sims/system/elaboration.h"
#include "tests/support/networks.h"
#include "tlm_modules.h"

namespace espalier {
namespace {

using test::Answer;
using test::CallStyle;
using test::in_mode;
using test::KeepingTarget;
using test::link_of;
using test::ListInitiator;
using test::Numbers;
using test::Report;
using test::Write;

constexpr Fidelity kBothFidelities[] = {Fidelity::cycle, Fidelity::train};

RunPoint traffic_point(TrafficPattern pattern, const SystemConfig& config, Fidelity fidelity) {
  RunPoint point;
  point.system = config;
  point.simulation.fidelity = fidelity;
  point.traffic.emplace();
  point.traffic->pattern = pattern;
  return point;
}

// Appends a delivery, so that deliveries can be sorted and compared.
using Deliveries4 = std::vector<std::array<std::uint64_t, 4>>;
DeliveryCallback note_in(Deliveries4& deliveries) {
  return [&deliveries](const Operation& o, Cycle now) {
    deliveries.push_back({now, o.from.index(), o.to.index(), o.bytes});
  };
}
Numbers sorted_numbers(Deliveries4 deliveries) {
  std::sort(deliveries.begin(), deliveries.end());
  Numbers numbers;
  for (const auto& delivery : deliveries) {
    numbers.insert(numbers.end(), delivery.begin(), delivery.end());
  }
  return numbers;
}

Numbers deliveries_of_file(const Topology& topology, const RunPoint& point) {
  return test::in_child([&]() -> Report {
           Deliveries4 deliveries;
           SimulationHooks hooks;
           hooks.delivered = note_in(deliveries);
           const SimulationOutcome outcome = simulate_traffic(topology, point, hooks);
           return {sorted_numbers(deliveries), outcome.failure};
         })
      .numbers;
}

struct SocketRun {
  Numbers deliveries;
  std::string failure;  // of the run, or of the modules' own books
};

struct Modules {
  CallStyle style;
  Answer answer = Answer::by_calls;
  std::size_t targets_every = 2;  // every second node has a target
};

// Writes the messages through an initiator at each node, and checks bytes, responses and memory
// management.
SocketRun run_through_sockets(const Topology& topology, const RunPoint& point,
                              const std::vector<TrafficMessage>& messages, const Modules& modules) {
  const Report report = test::in_child([&]() -> Report {
    std::vector<std::vector<Write>> writes(topology.num_nodes());
    for (std::size_t m = 0; m < messages.size(); ++m) {
      writes[messages[m].from.index()].push_back(
          {messages[m].ready, (messages[m].to.index() << 32) + m % 64, messages[m].bytes,
           static_cast<std::uint32_t>(m)});
    }
    std::vector<std::unique_ptr<ListInitiator>> initiators;
    std::vector<std::unique_ptr<KeepingTarget>> targets(topology.num_nodes());
    Deliveries4 deliveries;
    SimulationHooks hooks;
    hooks.delivered = note_in(deliveries);
    hooks.elaborate = [&](Elaboration& elaboration) {
      for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
        NiSockets& sockets = elaboration.tlm(topology.vertex_name(NodeId(n)));
        initiators.push_back(std::make_unique<ListInitiator>(fmt::format("initiator_{}", n).c_str(),
                                                             writes[n], modules.style));
        initiators.back()->socket.bind(sockets.target);
        if (n % modules.targets_every != 0) continue;
        targets[n] = std::make_unique<KeepingTarget>(fmt::format("target_{}", n).c_str(),
                                                     modules.answer, 300, 1700);
        sockets.initiator.bind(targets[n]->socket);
      }
    };
    const SimulationOutcome outcome = simulate_traffic(topology, point, hooks);
    std::string failure = outcome.failure;
    const auto expect = [&](bool right, const char* what) {
      if (!right && failure.empty()) failure = what;
    };
    expect(outcome.verified, "not verified");
    std::size_t written = 0;
    std::size_t for_targets = 0;
    for (const TrafficMessage& message : messages) {
      if (targets[message.to.index()]) ++for_targets;
    }
    for (const auto& target : targets) {
      if (!target) continue;
      for (const test::Arrival& arrival : target->arrivals()) {
        ++written;
        const TrafficMessage& sent = messages[arrival.number];
        expect(arrival.right_bytes, "the target got other bytes");
        expect(arrival.address == arrival.number % 64, "the target got another address");
        expect(arrival.source == sent.from, "the target got another source");
      }
    }
    expect(written == for_targets, "a target got another number of writes");
    for (const auto& initiator : initiators) {
      expect(initiator->pool().live() == 0, "a payload is not released");
      for (const test::WriteTimes& times : initiator->times()) {
        expect(times.status == tlm::TLM_OK_RESPONSE, "a write has another status");
        expect(times.begin_resp_ps > times.end_req_ps, "BEGIN_RESP came before END_REQ");
      }
    }
    return {sorted_numbers(deliveries), failure};
  });
  return {report.numbers, report.text};
}

// Random messages of which no node posts two in a cycle; half of them go to a few nodes.
std::vector<TrafficMessage> random_messages(std::size_t nodes, std::size_t count, Cycle horizon,
                                            std::uint64_t seed) {
  constexpr Bytes kSizes[] = {1, 64, 255, 1024, 4096, 20'000};
  std::mt19937_64 random(seed);
  std::vector<TrafficMessage> messages;
  std::set<std::pair<std::size_t, Cycle>> taken;
  while (messages.size() < count) {
    const std::size_t from = random() % nodes;
    const std::size_t to = random() % 2 == 0 ? random() % nodes : random() % 4;
    const Cycle ready = 1 + random() % horizon;
    if (from == to || !taken.emplace(from, ready).second) continue;
    messages.push_back({ready, NodeId(from), NodeId(to), kSizes[random() % std::size(kSizes)]});
  }
  std::sort(messages.begin(), messages.end(),
            [](const auto& a, const auto& b) { return a.ready < b.ready; });
  return messages;
}

TEST_CASE("Writes through sockets arrive in the cycles of the same messages from a file") {
  const Topology torus = make_torus({8, 8}, link_of(20));
  std::uint64_t seed = 41;
  for (const FlowControlMode mode : test::kFlowControlModes) {
    for (const Fidelity fidelity : kBothFidelities) {
      CAPTURE(++seed, static_cast<int>(mode), static_cast<int>(fidelity));
      const auto messages = random_messages(torus.num_nodes(), 300, 1500, seed);
      RunPoint file = traffic_point(TrafficPattern::file, in_mode(mode), fidelity);
      file.traffic->messages = messages;
      const Numbers listed = deliveries_of_file(torus, file);
      CHECK(listed.size() == 4 * messages.size());
      const RunPoint point = traffic_point(TrafficPattern::sockets, in_mode(mode), fidelity);
      const SocketRun run = run_through_sockets(torus, point, messages, {});
      CHECK(run.failure == "");
      CHECK(run.deliveries == listed);
    }
  }
}

TEST_CASE("The cycle of a message does not depend on the delta in which its initiator calls") {
  const Topology torus = make_torus({4, 4}, link_of(5));
  const auto messages = random_messages(torus.num_nodes(), 120, 400, 7);
  for (const Fidelity fidelity : kBothFidelities) {
    RunPoint point =
        traffic_point(TrafficPattern::sockets, in_mode(FlowControlMode::packet), fidelity);
    Modules modules;
    const SocketRun first = run_through_sockets(torus, point, messages, modules);
    CHECK(first.failure == "");
    CHECK(first.deliveries.size() == 4 * messages.size());
    for (const CallStyle& style :
         {CallStyle{1}, CallStyle{5}, CallStyle{0, 333}, CallStyle{2, 999}, CallStyle{0, 0, 7000},
          CallStyle{3, 500, 250}, CallStyle{0, 0, 0, 2500}}) {
      CAPTURE(style.deltas, style.offset_ps, style.annotate_ps, style.end_response_ps);
      modules.style = style;
      const SocketRun run = run_through_sockets(torus, point, messages, modules);
      CHECK(run.failure == "");
      CHECK(run.deliveries == first.deliveries);
    }
    point.simulation.always_clocked = true;
    CHECK(run_through_sockets(torus, point, messages, {}).deliveries == first.deliveries);
  }
}

TEST_CASE("A message arrives alike whichever way its target answers") {
  const Topology torus = make_torus({4, 4}, link_of(5));
  const auto messages = random_messages(torus.num_nodes(), 80, 300, 8);
  const RunPoint point =
      traffic_point(TrafficPattern::sockets, in_mode(FlowControlMode::packet), Fidelity::cycle);
  Numbers first;
  for (const Answer answer : {Answer::at_once, Answer::updated, Answer::by_calls}) {
    Modules modules;
    modules.answer = answer;
    modules.targets_every = 1;
    const SocketRun run = run_through_sockets(torus, point, messages, modules);
    CHECK(run.failure == "");
    if (first.empty()) first = run.deliveries;
    CHECK(run.deliveries == first);
  }
  CHECK(first.size() == 4 * messages.size());
}

// A row of nodes with one initiator at node 0 and a target at the last node, both optional.
struct PairRun {
  std::vector<test::WriteTimes> times;
  std::vector<std::uint64_t> arrivals_ps;
  Numbers deliveries;
  std::string failure;
};
PairRun run_pair(const RunPoint& point, const std::vector<Write>& writes, CallStyle style,
                 const std::function<std::unique_ptr<KeepingTarget>()>& make_target = {}) {
  const Topology pair = make_mesh({2}, link_of(4));
  const Report report = test::in_child([&]() -> Report {
    std::unique_ptr<ListInitiator> initiator;
    std::unique_ptr<KeepingTarget> target;
    Deliveries4 deliveries;
    SimulationHooks hooks;
    hooks.delivered = note_in(deliveries);
    hooks.elaborate = [&](Elaboration& elaboration) {
      initiator = std::make_unique<ListInitiator>("initiator", writes, style);
      initiator->socket.bind(elaboration.tlm("r_0").target);
      if (!make_target) return;
      target = make_target();
      elaboration.tlm("1").initiator.bind(target->socket);
    };
    const SimulationOutcome outcome = simulate_traffic(pair, point, hooks);
    Report result{{}, outcome.failure};
    for (const test::WriteTimes& times : initiator->times()) {
      result.numbers.insert(result.numbers.end(), {times.end_req_ps, times.begin_resp_ps});
    }
    result.numbers.push_back(target ? target->arrivals().size() : 0);
    for (std::size_t a = 0; target && a < target->arrivals().size(); ++a) {
      result.numbers.push_back(target->arrivals()[a].time_ps);
    }
    for (const std::uint64_t n : sorted_numbers(deliveries)) result.numbers.push_back(n);
    return result;
  });
  PairRun run;
  auto next = report.numbers.begin();
  for (std::size_t w = 0; w < writes.size(); ++w) {
    test::WriteTimes times;
    times.end_req_ps = *next++;
    times.begin_resp_ps = *next++;
    run.times.push_back(times);
  }
  const std::uint64_t arrivals = *next++;
  for (std::uint64_t a = 0; a < arrivals; ++a) run.arrivals_ps.push_back(*next++);
  run.deliveries.assign(next, report.numbers.end());
  run.failure = report.text;
  return run;
}

TEST_CASE("Phases come in the cycles that the timing table promises") {
  for (const Fidelity fidelity : kBothFidelities) {
    const RunPoint point = traffic_point(TrafficPattern::sockets, {}, fidelity);
    const std::vector<Write> writes{{10, std::uint64_t{1} << 32, 64, 0},
                                    {11, std::uint64_t{1} << 32, 64, 1}};
    const PairRun alone = run_pair(point, writes, {});
    CHECK(alone.failure == "");
    REQUIRE(alone.deliveries.size() == 8);
    const std::uint64_t visible[] = {1000 * alone.deliveries[0], 1000 * alone.deliveries[4]};
    for (std::size_t w = 0; w < 2; ++w) {
      CHECK(alone.times[w].end_req_ps == 1000 * writes[w].cycle);
      CHECK(alone.times[w].begin_resp_ps == visible[w]);
    }
    // The target accepts after 10 ns, and answers 7 ns later. The second write waits for the first.
    const PairRun with_target = run_pair(point, writes, {}, [] {
      return std::make_unique<KeepingTarget>("target", Answer::by_calls, 10'000, 7000);
    });
    CHECK(with_target.failure == "");
    CHECK(with_target.deliveries == alone.deliveries);
    CHECK(with_target.arrivals_ps ==
          std::vector<std::uint64_t>{visible[0], std::max(visible[1], visible[0] + 10'000)});
    for (std::size_t w = 0; w < 2; ++w) {
      CHECK(with_target.times[w].begin_resp_ps == with_target.arrivals_ps[w] + 17'000);
    }
    // An initiator that ends its response late gets the next response late.
    CallStyle late;
    late.end_response_ps = 50'000;
    const PairRun late_run = run_pair(point, writes, late);
    CHECK(late_run.times[0].begin_resp_ps == visible[0]);
    CHECK(late_run.times[1].begin_resp_ps == visible[0] + 50'000);
  }
}

TEST_CASE("A full send queue delays END_REQ until there is room") {
  SystemConfig config = in_mode(FlowControlMode::packet);
  config.ni.ports = 1;
  config.ni.send_queue = 1;
  const Topology pair = make_mesh({2}, link_of(4));
  constexpr Bytes kBytes = 4096;
  const std::uint64_t flits = test::flits_of(config, kBytes);
  for (const Fidelity fidelity : kBothFidelities) {
    std::vector<Write> writes;
    RunPoint file = traffic_point(TrafficPattern::file, config, fidelity);
    for (std::uint32_t w = 0; w < 6; ++w) {
      writes.push_back({3 + w, std::uint64_t{1} << 32, kBytes, w});
      file.traffic->messages.push_back({3 + w, NodeId(0), NodeId(1), kBytes});
    }
    const PairRun run =
        run_pair(traffic_point(TrafficPattern::sockets, config, fidelity), writes, {});
    CHECK(run.failure == "");
    CHECK(run.times[0].end_req_ps == 3000);
    for (std::size_t w = 2; w < writes.size(); ++w) {
      CAPTURE(w);
      // The next descriptor is taken after the last flit has left, and then its data are read.
      const std::uint64_t cycles = (run.times[w].end_req_ps - run.times[w - 1].end_req_ps) / 1000;
      CHECK(cycles == flits + config.ni.dma_latency_cycles);
    }
    CHECK(run.deliveries == deliveries_of_file(pair, file));
  }
}

// The failure of a run on a pair of nodes, or what it threw.
std::string failure_of_script(const test::ScriptedInitiator::Script& script,
                              const std::function<void(Elaboration&)>& more = {}) {
  const Topology pair = make_mesh({2}, link_of(4));
  const RunPoint point = traffic_point(TrafficPattern::sockets, {}, Fidelity::cycle);
  try {
    return test::in_child([&]() -> Report {
             std::unique_ptr<test::ScriptedInitiator> initiator;
             SimulationHooks hooks;
             hooks.elaborate = [&](Elaboration& elaboration) {
               initiator = std::make_unique<test::ScriptedInitiator>("initiator", script);
               initiator->socket.bind(elaboration.tlm("r_0").target);
               if (more) more(elaboration);
             };
             return {{}, simulate_traffic(pair, point, hooks).failure};
           })
        .text;
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

constexpr std::uint64_t kNode1 = std::uint64_t{1} << 32;

TEST_CASE("Requests that are no message get the response status of their reason") {
  struct Row {
    const char* what;
    std::function<void(test::Payload&)> change;
    tlm::tlm_response_status status;
  };
  static unsigned char enables[64] = {};
  const Row rows[] = {
      {"read", [](auto& p) { p.set_read(); }, tlm::TLM_COMMAND_ERROR_RESPONSE},
      {"ignore", [](auto& p) { p.set_command(tlm::TLM_IGNORE_COMMAND); },
       tlm::TLM_COMMAND_ERROR_RESPONSE},
      {"byte enables", [](auto& p) { p.set_byte_enable_ptr(enables); },
       tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE},
      {"streaming", [](auto& p) { p.set_streaming_width(8); }, tlm::TLM_BURST_ERROR_RESPONSE},
      {"no bytes", [](auto& p) { p.set_data_length(0); }, tlm::TLM_BURST_ERROR_RESPONSE},
      {"no data", [](auto& p) { p.set_data_ptr(nullptr); }, tlm::TLM_GENERIC_ERROR_RESPONSE},
      {"to itself", [](auto& p) { p.set_address(0); }, tlm::TLM_ADDRESS_ERROR_RESPONSE},
      {"beyond the last node", [](auto& p) { p.set_address(2 * kNode1); },
       tlm::TLM_ADDRESS_ERROR_RESPONSE},
      {"the last address", [](auto& p) { p.set_address(~std::uint64_t{0}); },
       tlm::TLM_ADDRESS_ERROR_RESPONSE},
      {"across the end of a node", [](auto& p) { p.set_address(2 * kNode1 - 63); },
       tlm::TLM_ADDRESS_ERROR_RESPONSE}};
  std::string wrong;
  const std::string failure = failure_of_script([&](test::ScriptedInitiator& initiator) {
    std::string found;
    for (const Row& row : rows) {
      test::Payload& payload = initiator.payload(kNode1);
      row.change(payload);
      const auto returned = initiator.call(payload, tlm::BEGIN_REQ);
      if (returned != tlm::TLM_COMPLETED || payload.get_response_status() != row.status) {
        found += fmt::format(" {}: {}", row.what, payload.get_response_string());
      }
    }
    tlm::tlm_dmi dmi;
    if (initiator.socket->get_direct_mem_ptr(initiator.payload(kNode1), dmi)) found += " DMI";
    if (initiator.socket->transport_dbg(initiator.payload(kNode1)) != 0) found += " debug";
    // The last bytes of a node are a message.
    if (initiator.call(initiator.payload(2 * kNode1 - 64), tlm::BEGIN_REQ) != tlm::TLM_ACCEPTED) {
      found += " the last bytes of a node";
    }
    if (!found.empty()) throw std::runtime_error("wrong:" + found);
    initiator.wait_for_end_request();
    throw std::runtime_error("all right");
  });
  CHECK_THAT(failure, Catch::Contains("all right"));
}

TEST_CASE("A breach of the base protocol is an error that names the socket and the rule") {
  using test::ScriptedInitiator;
  const auto breach = [](const ScriptedInitiator::Script& script) {
    return failure_of_script(script);
  };
  CHECK_THAT(breach([](ScriptedInitiator& initiator) {
               initiator.call(initiator.payload(kNode1), tlm::BEGIN_REQ);
               initiator.call(initiator.payload(kNode1), tlm::BEGIN_REQ);
             }),
             Catch::Contains("tlm_0: an initiator sends BEGIN_REQ before the END_REQ"));
  CHECK_THAT(breach([](ScriptedInitiator& initiator) {
               test::Payload& payload = initiator.payload(kNode1);
               initiator.call(payload, tlm::BEGIN_REQ);
               initiator.wait_for_end_request();
               initiator.call(payload, tlm::BEGIN_REQ);
             }),
             Catch::Contains("still in flight"));
  CHECK_THAT(breach([](ScriptedInitiator& initiator) {
               initiator.call(initiator.payload(kNode1), tlm::END_RESP);
             }),
             Catch::Contains("has not got BEGIN_RESP"));
  CHECK_THAT(breach([](ScriptedInitiator& initiator) {
               initiator.call(initiator.payload(kNode1), tlm::END_REQ);
             }),
             Catch::Contains("sends phase END_REQ"));
  CHECK_THAT(breach([](ScriptedInitiator& initiator) {
               test::Payload payload;
               payload.set_write();
               initiator.call(payload, tlm::BEGIN_REQ);
             }),
             Catch::Contains("no memory manager"));
  CHECK_THAT(breach([](ScriptedInitiator& initiator) {
               sc_core::sc_time delay;
               initiator.socket->b_transport(initiator.payload(kNode1), delay);
             }),
             Catch::Contains("b_transport is loosely timed"));
}

TEST_CASE("A run of sockets ends when the program has nothing left to do, or says so") {
  using test::ScriptedInitiator;
  // No call at all.
  CHECK_THAT(failure_of_script([](ScriptedInitiator&) {}),
             Catch::Contains("no initiator has sent a message"));
  // Beside a clock that never stops, finish() ends the run. This initiator never sends END_RESP.
  std::unique_ptr<sc_core::sc_clock> clock;
  Elaboration* elaborated = nullptr;
  const auto beside_clock = [&](Elaboration& elaboration) {
    clock = std::make_unique<sc_core::sc_clock>("other_clock", sc_core::sc_time(3, sc_core::SC_NS));
    elaborated = &elaboration;
  };
  const auto one_write = [](ScriptedInitiator& initiator) {
    initiator.call(initiator.payload(kNode1), tlm::BEGIN_REQ);
    initiator.wait_for_end_request();
  };
  CHECK_THAT(failure_of_script(one_write),
             Catch::Contains("0 of 1 messages of the sockets have END_RESP; tlm_0 waits for "
                             "END_RESP of its initiator"));
  CHECK_THAT(failure_of_script(
                 [&](ScriptedInitiator& initiator) {
                   one_write(initiator);
                   elaborated->finish();
                 },
                 beside_clock),
             Catch::Contains("waits for END_RESP of its initiator"));
  CHECK_THAT(failure_of_script(
                 [&](ScriptedInitiator& initiator) {
                   elaborated->finish();
                   one_write(initiator);
                 },
                 beside_clock),
             Catch::Contains("after the program has called Elaboration::finish()"));
  CHECK_THAT(failure_of_script([&](ScriptedInitiator& initiator) {
               one_write(initiator);
               sc_core::sc_stop();
             }),
             Catch::Contains("0 of 1 messages of the sockets are delivered"));
}

TEST_CASE("A run of sockets beside another clock ends with the last response after finish") {
  const Topology pair = make_mesh({2}, link_of(4));
  for (const Fidelity fidelity : kBothFidelities) {
    const RunPoint point = traffic_point(TrafficPattern::sockets, {}, fidelity);
    const Report report = test::in_child([&]() -> Report {
      std::unique_ptr<ListInitiator> initiator;
      std::unique_ptr<sc_core::sc_clock> clock;
      std::unique_ptr<test::ScriptedInitiator> watch;
      SimulationHooks hooks;
      hooks.elaborate = [&](Elaboration& elaboration) {
        clock = std::make_unique<sc_core::sc_clock>("other", sc_core::sc_time(3, sc_core::SC_NS));
        initiator = std::make_unique<ListInitiator>(
            "initiator", std::vector<Write>{{5, kNode1, 4096, 0}, {200'000, kNode1, 64, 1}});
        initiator->socket.bind(elaboration.tlm("r_0").target);
        watch = std::make_unique<test::ScriptedInitiator>(
            "watch", [&elaboration](test::ScriptedInitiator&) {
              sc_core::wait(sc_core::sc_time(200'500, sc_core::SC_NS));
              elaboration.finish();
            });
        watch->socket.bind(elaboration.tlm("r_1").target);
      };
      const SimulationOutcome outcome = simulate_traffic(pair, point, hooks);
      return {
          {outcome.verified ? 1U : 0U, initiator->times()[1].begin_resp_ps, test::picoseconds()},
          outcome.failure};
    });
    CHECK(report.text == "");
    CHECK(report.numbers[0] == 1);
    CHECK(report.numbers[1] > 200'000'000);
    CHECK(report.numbers[2] == 200'500'000);
  }
}

TEST_CASE("Names, addresses and runs that sockets do not have are refused") {
  const auto nothing = [](test::ScriptedInitiator&) {};
  CHECK_THAT(failure_of_script(nothing, [](Elaboration& e) { (void)e.tlm("r_7"); }),
             Catch::Contains("has no node 'r_7'; its nodes are r_0, r_1"));
  CHECK_THAT(failure_of_script(nothing, [](Elaboration& e) { e.set_address_bits(0); }),
             Catch::Contains("2^1 to 2^63 addresses"));
  CHECK_THAT(failure_of_script(nothing, [](Elaboration& e) { e.set_address_bits(64); }),
             Catch::Contains("do not fit into 64 bits"));
  const Topology pair = make_mesh({2}, link_of(4));
  const RunPoint point = traffic_point(TrafficPattern::sockets, {}, Fidelity::cycle);
  CHECK_THROWS_WITH(test::in_child([&]() -> Report {
                      return {{}, simulate_traffic(pair, point, {}).failure};
                    }),
                    Catch::Contains("a program that links the library"));
}

// A collective with writes of `bytes` from every node to the node three further on; 0: no writes.
Report collective_beside_writes(Bytes bytes, Fidelity fidelity) {
  const Topology torus = make_torus({4, 4}, link_of(10));
  const ScheduleTables tables = test::tables_for("multitree", torus, 1 << 16);
  RunPoint point;
  point.collective.emplace();
  point.simulation.fidelity = fidelity;
  return test::in_child([&]() -> Report {
    std::vector<std::unique_ptr<ListInitiator>> initiators;
    std::uint64_t socket_messages = 0;
    SimulationHooks hooks;
    hooks.delivered = [&](const Operation& operation, Cycle) {
      if (operation.traffic == TrafficClass::socket) ++socket_messages;
    };
    hooks.elaborate = [&](Elaboration& elaboration) {
      for (std::size_t n = 0; bytes != 0 && n < torus.num_nodes(); ++n) {
        std::vector<Write> writes;
        for (std::uint32_t w = 0; w < 4; ++w) {
          writes.push_back({1 + 40 * w, ((n + 3) % 16) << 32, bytes, w});
        }
        initiators.push_back(
            std::make_unique<ListInitiator>(fmt::format("initiator_{}", n).c_str(), writes));
        initiators[n]->socket.bind(elaboration.tlm(torus.vertex_name(NodeId(n))).target);
      }
    };
    const SimulationOutcome outcome = simulate_collective(torus, point, tables, hooks);
    return {{outcome.cycles, outcome.verified ? 1U : 0U, socket_messages}, outcome.failure};
  });
}

TEST_CASE("A collective and writes beside it contend for the links") {
  const Topology torus = make_torus({4, 4}, link_of(10));
  const auto alone = test::run_collective("multitree", torus, 1 << 16, {});
  for (const Fidelity fidelity : kBothFidelities) {
    const Report no_writes = collective_beside_writes(0, fidelity);
    CHECK(no_writes.text == "");
    CHECK(no_writes.numbers == Numbers{alone.cycles, 1, 0});
    const Report writes = collective_beside_writes(4096, fidelity);
    CHECK(writes.text == "");
    CHECK(writes.numbers[1] == 1);
    CHECK(writes.numbers[0] > alone.cycles);
    CHECK(writes.numbers[2] == 64);
  }
  CHECK(collective_beside_writes(4096, Fidelity::cycle).numbers ==
        collective_beside_writes(4096, Fidelity::train).numbers);
}

TEST_CASE("Writes go beside the messages of a file") {
  const Topology pair = make_mesh({2}, link_of(4));
  for (const Fidelity fidelity : kBothFidelities) {
    RunPoint point = traffic_point(TrafficPattern::file, {}, fidelity);
    point.traffic->messages = {{20, NodeId(0), NodeId(1), 4096}};
    const PairRun run = run_pair(point, {{10, kNode1, 4096, 0}}, {});
    CHECK(run.failure == "");
    REQUIRE(run.deliveries.size() == 8);
    RunPoint both = point;
    both.traffic->messages.insert(both.traffic->messages.begin(), {10, NodeId(0), NodeId(1), 4096});
    CHECK(run.deliveries == deliveries_of_file(pair, both));
  }
}

}  // namespace
}  // namespace espalier
