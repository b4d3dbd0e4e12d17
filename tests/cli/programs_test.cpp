// Collective programs from the command line: built in, as MSCCL XML, as traces.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <set>

#include "cli_test_support.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::Json;
using test::Outcome;
using test::TemporaryFolder;

namespace {

std::string corpus(const std::string& name) {
  return std::string(ESPALIER_SOURCE_DIR) + "/tests/program/xml/" + name;
}

std::string system_of(const std::string& nodes) {
  return "system:\n"
         "  topology: {type: switch, nodes: " +
         nodes +
         "}\n"
         "  ni: {program: {slot: 1000B, request: 400B, requests: 3, memory_bytes_per_cycle: 24}}\n";
}

struct NamedProgram {
  const char* algorithm;
  const char* op;
  const char* more = "";  // of collective.program
};
constexpr NamedProgram kBuiltIn[] = {
    {"gc3_ring", "all_reduce", ", channels: 2"},
    {"gc3_allpairs", "all_reduce"},
    {"gc3_hierarchical", "all_reduce", ", ranks_per_server: 2"},
    {"gc3_halving_doubling", "all_reduce"},
    {"gc3_binomial_tree", "all_reduce"},
    {"gc3_double_binary_tree", "all_reduce"},
    {"gc3_reducescatter_ring", "reduce_scatter"},
    {"gc3_allgather_ring", "all_gather"},
    {"gc3_allgather_recursive_doubling", "all_gather"},
    {"gc3_direct_alltoall", "all_to_all"},
    {"gc3_twostep_alltoall", "all_to_all", ", ranks_per_server: 2"},
    {"gc3_broadcast_tree", "broadcast"},
    {"mscclpp_packets", "all_reduce", ", ranks_per_server: 2"},
    {"mscclpp_allgather", "all_gather", ", ranks_per_server: 2"},
};

}  // namespace

TEST_CASE(
    "Every built-in program is certified, verified, equal in both fidelities, and the same "
    "when it comes back from its document") {
  const TemporaryFolder folder;
  for (const NamedProgram& named : kBuiltIn) {
    for (const char* variant : {"instances: 1, protocol: Simple", "instances: 2, protocol: LL"}) {
      const std::string head =
          system_of("4") + "collective: {op: " + named.op + ", size: [4B, 1000B, 10012B], ";
      const std::string file =
          folder.write("built_in.yaml", head + "algorithm: " + named.algorithm + ", program: {" +
                                            variant + named.more + "}}\n");
      CAPTURE(named.algorithm, variant);
      const Json train = test::run_to_json({file}).at("results");
      const Json cycle = test::run_to_json({file, "-s", "simulation.fidelity=cycle"}).at("results");
      REQUIRE(train.size() == 3);
      for (std::size_t r = 0; r < train.size(); ++r) {
        CHECK(train[r].at("certified") == true);
        CHECK(train[r].at("verified") == true);
        CHECK(train[r].at("cycles") == cycle[r].at("cycles"));
      }
      const Outcome written =
          test::espalier({"schedule", file, "-s", "collective.size=4B", "--format", "msccl-xml",
                          "-o", folder.file("program.xml")});
      if (train[0].at("calls") != 1) {
        CHECK(written.exit_code == 1);
        CHECK_THAT(written.err, Contains("calls"));
        continue;
      }
      INFO(written.err);
      REQUIRE(written.exit_code == 0);
      const std::string again =
          folder.write("again.yaml", head + "algorithm: program, program: {file: program.xml}}\n");
      const Json read = test::run_to_json({again}).at("results");
      for (std::size_t r = 0; r < train.size(); ++r) {
        CHECK(read[r].at("cycles") == train[r].at("cycles"));
        CHECK(read[r].at("verified") == true);
      }
    }
  }
}

TEST_CASE("Schedules of trees and rings become programs that are certified and run") {
  const TemporaryFolder folder;
  for (const char* algorithm : {"ring", "multitree", "halving_doubling", "direct"}) {
    const std::string config = folder.write("c.yaml",
                                            "system: {topology: {type: torus, dims: [4, 2]}}\n"
                                            "collective: {algorithm: " +
                                                std::string(algorithm) + ", size: 64KiB}\n");
    const std::string xml = folder.file("schedule.xml");
    const Outcome written =
        test::espalier({"schedule", config, "--format", "msccl-xml", "-o", xml});
    CAPTURE(algorithm, written.err);
    REQUIRE(written.exit_code == 0);
    CHECK(test::espalier({"check", xml}).exit_code == 0);
    const Json run =
        test::run_to_json({xml, "-s", "collective.size=64KiB", "-s", "system.topology.type=torus",
                           "-s", "system.topology.dims=[4, 2]"});
    CHECK(run.at("results")[0].at("verified") == true);
  }
}

TEST_CASE("A ring is the same built in, as MSCCL XML, and as a plan of MSCCL++") {
  const TemporaryFolder folder;
  const std::string config =
      folder.write("ring.yaml",
                   "system:\n  topology: {type: torus, dims: [4]}\n  link: {bandwidth: 13 GB/s, "
                   "latency: 150ns}\ncollective: {algorithm: ring, size: 393216B}\n");
  for (const std::string format : {"msccl-xml", "mscclpp"}) {
    const std::string file = folder.file(format == "mscclpp" ? "p.json" : "p.xml");
    const Outcome written = test::espalier({"schedule", config, "--format", format, "-o", file});
    INFO(written.err);
    REQUIRE(written.exit_code == 0);
    REQUIRE(test::espalier({"check", file}).exit_code == 0);
  }
  const auto run = [&](std::vector<std::string> settings) {
    std::vector<std::string> arguments{config};
    for (const std::string& setting : settings) {
      arguments.insert(arguments.end(), {"-s", setting});
    }
    Json result = test::run_to_json(arguments).at("results")[0];
    CHECK(result.at("verified") == true);
    return result;
  };
  // One message a chunk, as schedule tables send it.
  const std::string whole = "system.ni.program.request=128KiB";
  const Json built_in = run({});
  const Json xml = run({"collective.algorithm=p.xml", "system.ni.program.slot=128KiB", whole,
                        "collective.program.protocol=Message"});
  const Json plan = run({"collective.algorithm=p.json", whole});
  CHECK(run({"collective.algorithm=p.json", whole, "simulation.fidelity=cycle"}).at("cycles") ==
        plan.at("cycles"));
  CHECK(xml.at("cycles") == built_in.at("cycles"));
  CHECK(xml.at("flit_hops") == built_in.at("flit_hops"));
  // The plan signals 24 data and 4 beginnings: a head and a flit each, over a link and to the NI.
  CHECK(plan.at("messages") == built_in.at("messages").get<int>() + 28);
  CHECK(plan.at("flit_hops") == built_in.at("flit_hops").get<int>() + 28 * 4);
  // It begins with the flight of a signal, and each of 6 steps waits for one behind its data.
  const int later = plan.at("cycles").get<int>() - built_in.at("cycles").get<int>();
  CHECK(later > 150);
  CHECK(later < 150 + 6 * 12);
}

TEST_CASE("A plan of MSCCL++ runs beside a network, and its size is what its executor takes") {
  const TemporaryFolder folder;
  const std::string config = folder.write("c.yaml",
                                          "system: {topology: {type: switch, nodes: 4}}\n"
                                          "collective: {algorithm: gc3_allpairs, size: 64KiB}\n");
  const std::string plan = folder.file("plan.json");
  REQUIRE(test::espalier({"schedule", config, "--format", "mscclpp", "-o", plan}).exit_code == 0);
  const Json both = test::run_to_json({config, plan}).at("results");
  CHECK(both[0].at("verified") == true);
  const Outcome odd = test::espalier({"run", plan, "-s", "collective.size=1000B"});
  CHECK(odd.exit_code == 2);
  CHECK_THAT(odd.err, Contains("1000 bytes are not a multiple of 16"));
}

TEST_CASE("A switch adds for thread blocks while data stream, in both fidelities alike") {
  std::string gpus;
  for (int r = 0; r < 2; ++r) {
    const std::string half =
        fmt::format(R"([{{"switch_channel_id": 0, "index": {}, "size": 1}}])", r);
    gpus += fmt::format(
        R"({}{{"id": {}, "input_chunks": 2, "output_chunks": 2, "scratch_chunks": 0, "channels": )"
        R"([{{"channel_type": "switch", "buffer_type": "i", "rank_groups": [{{"size": 2, "ranks": )"
        R"([0, 1]}}]}}], "threadblocks": [{{"id": 0, "channels": [{{"channel_type": "switch", )"
        R"("channel_ids": [0]}}], "ops": [{{"name": "glres", "src_buff": {}, "dst_buff": {}}}]}}]}})",
        r == 0 ? "" : ", ", r, half, half);
  }
  const TemporaryFolder folder;
  const std::string plan = folder.write(
      "plan.json", R"({"name": "halves", "collective": "allreduce", "protocol": "Simple", )"
                   R"("inplace": true, "gpus": [)" +
                       gpus + "]}");
  const auto run = [&](const std::string& fidelity) {
    return test::run_to_json({plan, "-s", "collective.size=1MiB", "-s",
                              "system.ni.program.request=4KiB", "-s",
                              "simulation.fidelity=" + fidelity})
        .at("results")[0];
  };
  const Json train = run("train");
  CHECK(train.at("verified") == true);
  CHECK(train.at("bound_ns").is_null());
  CHECK(run("cycle").at("cycles") == train.at("cycles"));
  // Up a link go its rank's 1 MiB and the sum of half of them, 16 B a cycle and 16 flits of 17; the
  // switch does not wait for the whole half.
  const double cycles = train.at("cycles").get<double>();
  CHECK(cycles > 1.5 * 65536);
  CHECK(cycles < 1.5 * 65536 * 1.1);
  const Outcome torus =
      test::espalier({"run", plan, "-s", "collective.size=1MiB", "-s", "system.topology.type=torus",
                      "-s", "system.topology.dims=[2]"});
  CHECK(torus.exit_code == 2);
  CHECK_THAT(torus.err, Contains("plan's glres and gstore command one switch"));
}

TEST_CASE("check proves a document by itself, with the slots of its protocol") {
  const Outcome good = test::espalier({"check", corpus("valid/two_rank_exchange.xml")});
  CHECK(good.exit_code == 0);
  CHECK_THAT(good.out, Contains("all_reduce on 2 ranks, Simple with 2 slots: certified") &&
                           Contains("slots per connection: at least 2"));
  const Outcome race = test::espalier({"check", corpus("unproven/race.xml")});
  CHECK(race.exit_code == 1);
  CHECK_THAT(race.out, Contains("REJECTED") && Contains("race: gpu 0 tb 0 step 1 (line 5): "));
  const Outcome none = test::espalier({"check", corpus("invalid/attribute_twice.xml")});
  CHECK(none.exit_code == 2);
  CHECK_THAT(none.err, Contains("attribute_twice.xml:3:43: error: gpu 0 tb 0: 'send' is given"));
  CHECK(test::espalier({"check", "no_such_file.xml"}).exit_code == 2);
}

TEST_CASE("A program that the configured slots cannot carry is refused, with those that can") {
  const Outcome outcome =
      test::espalier({"run", corpus("valid/two_rank_exchange.xml"), "-s", "collective.size=1KiB",
                      "-s", "system.ni.program.slots=1"});
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.err, Contains("does not pass the certifier") && Contains("deadlock: gpu"));
}

TEST_CASE("Contexts and their memory are limits that are checked") {
  const auto refused = [](const std::string& setting) {
    return test::espalier(
        {"check", corpus("valid/allpairs_waits.xml"), "-s", "collective.size=1KiB", "-s", setting});
  };
  CHECK_THAT(refused("system.ni.program.contexts=1").out, Contains("capacity: gpu 0"));
  CHECK_THAT(refused("system.ni.program.context_steps=1").out, Contains("capacity: gpu 0 tb 0"));
  CHECK(refused("system.ni.program.contexts=2").exit_code == 0);
}

TEST_CASE("A broken program is not simulated, even without checks") {
  const Outcome outcome = test::espalier({"run", corpus("unproven/past_the_end.xml"), "-s",
                                          "collective.size=4000B", "-s", "simulation.check=false"});
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.err, Contains("malformed: gpu"));
}

TEST_CASE("Training with a program is refused") {
  const TemporaryFolder folder;
  const Outcome outcome = test::espalier(
      {"run", folder.write("c.yaml",
                           "system: {topology: {type: switch, nodes: 4}}\n"
                           "collective: {algorithm: gc3_ring}\ntraining: {network: alexnet}\n")});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err,
             Contains("training needs a schedule, but this algorithm is a collective program"));
}

TEST_CASE("A size for which the program is not offered is a warning") {
  const Outcome outcome = test::espalier(
      {"run", std::string(ESPALIER_SOURCE_DIR) + "/tests/program/trace/allreduce_two_ranks.trace",
       "-s", "collective.size=2MiB"});
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.err, Contains("the program is made for sizes from 0 bytes to 1048576 bytes"));
}

TEST_CASE("check warns if large chunks need more slots than the protocol has") {
  const TemporaryFolder folder;
  std::string text = test::read_text(corpus("valid/allpairs_waits.xml"));
  const Outcome outcome = test::espalier({"check", folder.write("p.xml", text)});
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, !Contains("warning: if each chunk fills a slot"));
  for (std::size_t at = 0; (at = text.find("cnt=\"2\"", at)) != std::string::npos; ++at) {
    text.replace(at, 7, "cnt=\"3\"");
  }
  for (const auto& [old_text, new_text] : {std::pair{"i_chunks=\"2\"", "i_chunks=\"3\""},
                                           {"s_chunks=\"2\"", "s_chunks=\"3\""},
                                           {"nchunksperloop=\"2\"", "nchunksperloop=\"3\""}}) {
    for (std::size_t at = 0; (at = text.find(old_text, at)) != std::string::npos; ++at) {
      text.replace(at, std::string(old_text).size(), new_text);
    }
  }
  const Outcome more = test::espalier({"check", folder.write("p.xml", text)});
  CHECK(more.exit_code == 0);
  CHECK_THAT(more.out, Contains("warning: if each chunk fills a slot, a connection needs 3 slots"));
}

TEST_CASE("run asks for the size that a program file does not have") {
  const Outcome outcome = test::espalier({"run", corpus("valid/two_rank_exchange.xml")});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("-s collective.size=16MiB"));
}

TEST_CASE("A program beside a configuration runs on its network, in run as in compare") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", test::kSmallConfig);
  const std::string program = folder.write(
      "star.trace",
      "name star\ncollective all_reduce ranks 4 chunks 1 in_place\n"
      "%1 = chunk rank 0 in 0\n%2 = chunk rank 1 in 0\n%3 = reduce %1 %2\n"
      "%4 = chunk rank 2 in 0\n%5 = reduce %3 %4\n%6 = chunk rank 3 in 0\n%7 = reduce %5 %6\n"
      "copy %7 rank 0 in 0\ncopy %7 rank 1 in 0\ncopy %7 rank 2 in 0\ncopy %7 rank 3 in 0\n");
  const Json run = test::run_to_json({config, program})["results"];
  REQUIRE(run.size() == 2);
  CHECK(run[0]["algorithm"] == "multitree");
  CHECK(run[1]["topology"] == "mesh 2x2");
  const Outcome compared = test::espalier(
      {"compare", config, program, "-s", "collective.algorithm=ring", "--json", "-"});
  INFO(compared.err);
  const Json beside = Json::parse(compared.out)["results"];
  CHECK(beside.back()["algorithm"] == run[1]["algorithm"]);
  CHECK(beside.back()["cycles"] == run[1]["cycles"]);

  const Outcome alone = test::espalier({"run", program, "-s", "collective.size=4KiB"});
  CHECK(alone.exit_code == 0);
  CHECK_THAT(alone.err, Contains("note: it runs on one switch of 4 ports"));
  const Outcome two = test::espalier({"run", config, config, program});
  CHECK(two.exit_code == 2);
  CHECK_THAT(two.err, Contains("2 configurations beside a program; name one"));

  const Outcome unsuited = test::espalier({"run", config, corpus("valid/two_rank_exchange.xml")});
  CHECK(unsuited.exit_code == 2);
  CHECK_THAT(unsuited.err, Contains("two_rank_exchange.xml: error: it does not run on"));
  const Outcome missing = test::espalier({"run", config, "no.trace"});
  CHECK(missing.exit_code == 2);
  CHECK_THAT(missing.err, Contains("no.trace: error: the file does not exist"));
}

TEST_CASE("A program whose name or file's name a terminal would obey is refused at once") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", test::kSmallConfig);
  const std::string text = test::read_text(corpus("valid/two_rank_exchange.xml"));
  for (const char* name : {"a\x1b[2J.xml", "a\nb.xml", "exe.\u202elmx.xml"}) {
    const std::string program = folder.write(name, text);
    for (const char* command : {"run", "compare", "check", "schedule"}) {
      const std::vector<std::string> words =
          command == std::string("schedule")
              ? std::vector<std::string>{command, program, "-s", "collective.size=4KiB"}
              : std::vector<std::string>{command, config, program};
      const Outcome outcome = test::espalier(words);
      CAPTURE(command, outcome.err);
      CHECK(outcome.exit_code == 2);
      CHECK_THAT(outcome.err, Contains("control character"));
      CHECK(outcome.err.find(name) == std::string::npos);
    }
  }
  const Outcome named = test::espalier(
      {"check",
       folder.write("p.trace", "name a\u202eb\ncollective all_gather ranks 1 chunks 1\n")});
  CHECK(named.exit_code == 2);
  CHECK_THAT(named.err,
             Contains("p.trace:1:7: error: the text contains a control character (0x202e)"));
}

TEST_CASE("A program that lacks a route on a graph of one-way links is refused where it is named") {
  const TemporaryFolder folder;
  folder.write("g.yaml",
               "nodes: [a, b, c]\n"
               "links: [{from: a, to: b}, {from: b, to: c}, {from: c, to: a}]\n");
  folder.write(
      "p.trace",
      "name p\ncollective broadcast ranks 3 chunks 1\nroot 0\n"
      "%1 = chunk rank 0 in 0\ncopy %1 rank 0 out 0\ncopy %1 rank 1 out 0\ncopy %1 rank 2 out 0\n");
  for (const char* algorithm : {"gc3_broadcast_tree", "p.trace"}) {
    const std::string config = folder.write("c.yaml",
                                            "system: {topology: {type: file, file: g.yaml}}\n"
                                            "collective: {op: broadcast, size: 4KiB, algorithm: " +
                                                std::string(algorithm) + "}\n");
    for (const char* command : {"run", "check"}) {
      const Outcome outcome = test::espalier({command, config});
      CAPTURE(algorithm, outcome.err);
      CHECK(outcome.exit_code == 2);
      CHECK_THAT(outcome.err, Contains("c.yaml:2:52: error: collective.") &&
                                  Contains("lacks a route: there is no up*/down* route from"));
    }
  }
}

TEST_CASE("A program and its configuration must agree on operation and ranks") {
  const TemporaryFolder folder;
  folder.write("p.xml", test::read_text(corpus("valid/two_rank_exchange.xml")));
  const Outcome outcome = test::espalier(
      {"run",
       folder.write("c.yaml", system_of("3") + "collective: {op: all_gather, algorithm: program, "
                                               "size: 1KiB, program: {file: p.xml}}\n")});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("the program has 2 ranks, but the network has 3 nodes"));
  CHECK_THAT(outcome.err,
             Contains("the program computes all_reduce, but collective.op is all_gather"));
}

TEST_CASE("In an all-to-all, contexts take turns and no rank is first for all others") {
  const TemporaryFolder folder;
  const std::string config =
      folder.write("c.yaml",
                   "system: {topology: {type: switch, nodes: 8}}\n"
                   "collective: {op: all_to_all, algorithm: gc3_direct_alltoall, size: 4MiB}\n");
  const Json result = test::run_to_json({config}).at("results")[0];
  CHECK(result.at("bound_ratio").get<double>() > 0.9);
}

TEST_CASE("A file may be given as an algorithm, also in a list") {
  const TemporaryFolder folder;
  folder.write("p.xml", test::read_text(corpus("valid/two_rank_exchange.xml")));
  const Json results =
      test::run_to_json(
          {folder.write("c.yaml", system_of("2") + "collective: {algorithm: [gc3_ring, p.xml], "
                                                   "size: 1KiB}\n")})
          .at("results");
  REQUIRE(results.size() == 2);
  CHECK(results[0].at("algorithm") == "gc3_ring");
  CHECK(results[1].at("algorithm") == "two_rank_exchange (p.xml)");
  CHECK(results[1].at("verified") == true);
}

TEST_CASE("A file of its own has the promises of a custom program") {
  const Outcome without = test::espalier({"check", corpus("valid/custom_to_next.xml")});
  CHECK(without.exit_code == 0);
  CHECK_THAT(without.out, Contains("results are not proven"));
  const TemporaryFolder folder;
  folder.write("p.xml", test::read_text(corpus("valid/custom_to_next.xml")));
  folder.write("p.promises", test::read_text(corpus("valid/custom_to_next.promises")));
  folder.write("wrong.promises", "rank 0 out 0 = 0:0\n");
  const std::string config =
      folder.write("c.yaml", system_of("4") +
                                 "collective: {op: custom, algorithm: program, size: 1KiB, "
                                 "program: {file: p.xml, promises: p.promises}}\n");
  const Outcome with = test::espalier({"check", config});
  INFO(with.out + with.err);
  CHECK(with.exit_code == 0);
  CHECK_THAT(with.out, !Contains("not proven"));
}

TEST_CASE("Lists of channels, instances and protocols make points of programs that have them") {
  const TemporaryFolder folder;
  const std::string config = folder.write(
      "c.yaml", system_of("4") +
                    "collective: {algorithm: [ring, gc3_ring, gc3_allpairs], size: 4KiB,\n"
                    "  program: {channels: [1, 2], instances: [1, 2], protocol: [LL, LL128]}}\n");
  const Json results = test::run_to_json({config}).at("results");
  // ring has none of the three, gc3_allpairs no channels.
  CHECK(results.size() == 1 + 8 + 4);
  std::set<std::string> hashes;
  for (const Json& result : results) hashes.insert(result.at("config_hash").get<std::string>());
  CHECK(hashes.size() == results.size());
}

TEST_CASE("Every key of a context changes what a run takes, and a program is shown step by step") {
  const TemporaryFolder folder;
  const std::string config = folder.write("c.yaml",
                                          "system: {topology: {type: switch, nodes: 4}}\n"
                                          "collective: {algorithm: gc3_ring, size: 4MiB}\n");
  const auto cycles = [&](const std::string& setting) {
    return test::run_to_json({config, "-s", "system.ni.program." + setting})
        .at("results")[0]
        .at("cycles")
        .get<std::uint64_t>();
  };
  const std::uint64_t usual = cycles("decode_cycles=1");
  for (const char* setting :
       {"slots=8", "slot=64KiB", "request=1MiB", "requests=1", "memory_bytes_per_cycle=4",
        "decode_cycles=50", "fence_cycles=100000", "doorbell_cycles=500", "load_cycles_per_step=3",
        "credit_cycles=200000"}) {
    CAPTURE(setting);
    CHECK(cycles(setting) != usual);
  }
  const Outcome shown = test::espalier({"schedule", config});
  CHECK_THAT(shown.out, Contains("gpu 3: i 4 o 0 s 0\n  tb 0: send 0 recv 2 channel 0\n"));
}

TEST_CASE("auto runs a program where it is the fastest, and says so in every command") {
  const TemporaryFolder folder;
  const std::string file = folder.write("small.yaml",
                                        "system:\n"
                                        "  topology: {type: torus, dims: [4, 4]}\n"
                                        "  flow_control: {mode: message}\n"
                                        "collective: {op: all_reduce, size: 1KiB}\n");
  const auto result_of = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"run", file, "-q", "--json", folder.file("out.json")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome run = test::espalier(arguments);
    CAPTURE(run.err);
    REQUIRE(run.exit_code == 0);
    return Json::parse(test::read_text(folder.file("out.json"))).at("results").at(0);
  };
  const std::string choices = folder.file("choices");
  const Json first = result_of({"--choices", choices});
  CHECK(first.at("algorithm") == "auto");
  CHECK(first.at("program") == "window");
  CHECK(first.at("bitwise_identical") == false);
  CHECK(first.at("certified") == true);
  CHECK(first.at("verified") == true);
  CHECK_THAT(first.at("choice").get<std::string>(),
             Catch::Matchers::StartsWith("window, ") && Contains("the best schedule is "));
  // A choice that is known gives the same bytes.
  const Json again = result_of({"--choices", choices});
  CHECK(again.at("host").at("choosing_s") == 0);
  CHECK(test::without_host(again) == test::without_host(first));
  // As the program by its name.
  const Json named = result_of({"-s", "collective.algorithm=window"});
  CHECK(named.at("cycles") == first.at("cycles"));
  CHECK_FALSE(named.contains("choice"));
  for (const char* fidelity : {"simulation.fidelity=train", "simulation.fidelity=cycle"}) {
    CHECK(result_of({"-s", fidelity}).at("cycles") == first.at("cycles"));
  }
  CHECK(result_of({"-s", "collective.bitwise_identical=true"}).at("program") == "swing_latency");
  CHECK_THAT(test::espalier({"check", file}).out,
             Contains("window all_reduce on torus 4x4: certified"));
  CHECK_THAT(test::espalier({"schedule", file}).out, Contains("window: all_reduce in place"));
  const Outcome tree = test::espalier({"schedule", file, "--format", "tree-svg"});
  CHECK(tree.exit_code != 0);
  CHECK_THAT(tree.err, Contains("a collective program cannot be shown as tree-svg"));
  const Outcome explained = test::espalier({"explain", file});
  CHECK(explained.exit_code == 0);
  CHECK_THAT(explained.out, Contains("auto: window, "));
  const Outcome compared =
      test::espalier({"compare", file, "-s", "collective.algorithm=[auto, multitree, window]"});
  CHECK(compared.exit_code == 0);
  CHECK_THAT(compared.out, Contains("auto: window, ") && Contains("Best: window"));
}
