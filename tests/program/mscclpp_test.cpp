// Execution plans of MSCCL++: what they mean, what is wrong with a plan, and programs as plans.
#include <catch2/catch.hpp>
#include <random>

#include "alg/program/builtin_programs.h"
#include "alg/program/program_certifier.h"
#include "program_file_support.h"
#include "sims/formats/program/mscclpp.h"
#include "tests/support/share_of_cases.h"

using namespace espalier;
using Catch::Matchers::Contains;

namespace {

// A plan of gpus that know each other: `extra` are the keys before their thread blocks. Channel k
// of a thread block leads to the k-th other gpu, remote buffers are i, o, s of each other gpu.
struct PlanText {
  std::string head = R"("collective": "allreduce", "protocol": "Simple", "inplace": true)";
  std::string chunks = R"("input_chunks": 2, "output_chunks": 2, "scratch_chunks": 4)";
  std::string semaphores;
  std::string type = "memory";
  std::vector<std::vector<std::string>> ops;  // by gpu and thread block

  [[nodiscard]] std::string text() const {
    std::string gpus;
    for (std::size_t r = 0; r < ops.size(); ++r) {
      std::string peers;
      std::string buffers;
      std::string ids;
      for (std::size_t b = 0, at = 0; b < ops[r].size(); ++b) {
        for (std::size_t q = 0; q < ops.size(); ++q) {
          if (q == r) continue;
          peers += fmt::format("{}{}", peers.empty() ? "" : ", ", q);
          for (const char* buffer : {"i", "o", "s"}) {
            if (b != 0) break;
            buffers += fmt::format(R"({}{{"rank": {}, "type": "{}"}})", buffers.empty() ? "" : ", ",
                                   q, buffer);
            ids += fmt::format("{}{}", ids.empty() ? "" : ", ", at++);
          }
        }
      }
      std::string blocks;
      for (std::size_t b = 0; b < ops[r].size(); ++b) {
        std::string channels;
        for (std::size_t k = 0; k + 1 < ops.size(); ++k) {
          channels += fmt::format("{}{}", k == 0 ? "" : ", ", b * (ops.size() - 1) + k);
        }
        blocks += fmt::format(
            "{}{{\"id\": {}, \"channels\": [{{\"channel_type\": \"{}\", \"channel_ids\": [{}]}}], "
            "\"remote_buffer_refs\": [{{\"access_channel_type\": \"{}\", \"remote_buffer_ids\": "
            "[{}]}}], \"ops\": [\n{}]}}",
            b == 0 ? "" : ",\n", b, type, channels, type, ids, ops[r][b]);
      }
      gpus += fmt::format(
          "{}{{\"id\": {}, {}, \"semaphores\": [{}], \"channels\": [{{\"channel_type\": \"{}\", "
          "\"connected_to\": [{}]}}], \"remote_buffers\": [{}], \"threadblocks\": [{}]}}",
          r == 0 ? "" : ",\n", r, chunks, semaphores, type, peers, buffers, blocks);
    }
    return fmt::format("{{\"name\": \"test\", {}, \"gpus\": [{}]}}\n", head, gpus);
  }
};

std::string own(const char* type, int index, int size = 1) {
  return fmt::format(R"({{"type": "{}", "index": {}, "size": {}}})", type, index, size);
}
std::string remote(int buffer, int index, int size = 1) {
  return fmt::format(R"({{"buffer_id": {}, "index": {}, "size": {}}})", buffer, index, size);
}
std::string op(const std::string& name, const std::string& src, const std::string& dst,
               const std::string& more = "") {
  return fmt::format(R"({{"name": "{}", "src_buff": [{}], "dst_buff": [{}]{}}},)", name, src, dst,
                     more) +
         "\n";
}
std::string on(const std::string& name, const std::string& more = R"("channel_ids": [0])") {
  return fmt::format(R"({{"name": "{}", {}}},)", name, more) + "\n";
}
std::string end(std::string ops) { return ops.substr(0, ops.size() - 2) + "\n"; }

// Rank `r` of two reads the other's chunk r, adds it, and writes the sum back.
std::string reads_and_writes(int r) {
  return end(on("rlxsignal") + on("rlxwait") +
             op("rres", own("i", r) + ", " + remote(0, r), own("i", r) + ", " + remote(0, r)) +
             "{\"name\": \"nop\"},\n" + on("signal") + on("wait"));
}
PlanText pairs() {
  PlanText plan;
  plan.ops = {{reads_and_writes(0)}, {reads_and_writes(1)}};
  return plan;
}
// The same with packets, which need no signal.
PlanText packets() {
  PlanText plan;
  for (int r = 0; r < 2; ++r) {
    const int q = 1 - r;
    plan.ops.push_back(
        {end(op("ppkt", own("i", q), remote(2, q)) +
             op("respkt", own("i", r) + ", " + own("s", r), own("i", r) + ", " + remote(2, 2 + r)) +
             op("upkt", own("s", 2 + q), own("i", q)))});
  }
  return plan;
}
// Two thread blocks put half of all data each, meet at a barrier, and one of them signals. Then
// they add what has come, piece by piece; a semaphore hands the second half on.
PlanText groups() {
  PlanText plan;
  plan.semaphores = R"({"init_value": 0})";
  for (int r = 0; r < 2; ++r) {
    std::vector<std::string> blocks;
    for (int b = 0; b < 2; ++b) {
      const std::string slice = fmt::format(R"(, "tbg_info": {{"tb_id": {}, "tbg_size": 2}})", b);
      std::string ops = op("put", own("i", 0, 2), remote(2, 0, 2), slice) +
                        on("barrier", R"("barrier_id": 0, "num_threadblocks": 2)");
      if (b == 0) {
        ops += on("signal") + on("wait") + on("sem_release", R"("semaphore_ids": [0])");
      } else {
        ops += on("sem_acquire", R"("semaphore_ids": [0])");
      }
      const std::string inner = op("re", own("i", b) + ", " + own("s", b), own("i", b));
      ops += fmt::format(
          R"({{"name": "pipeline", "iter_context": {{"unit_size": 48, "num_chunks": 1}}, "ops": [{}]}},)",
          inner.substr(0, inner.size() - 2));
      blocks.push_back(end(ops + "\n"));
    }
    plan.ops.push_back(blocks);
  }
  return plan;
}
// Adds a switch channel of these ranks to each gpu and thread block, over buffer i.
std::string with_switch(std::string text, const std::string& ranks) {
  const auto add = [&](const std::string& list, const std::string& more) {
    for (std::size_t at = text.find(list); at != std::string::npos; at = text.find(list, at)) {
      at = text.find("]}", at) + 2;
      text.insert(at, more);
    }
  };
  add("\"connected_to\": [",
      R"(, {"channel_type": "switch", "buffer_type": "i", "rank_groups": [{"size": 2, "ranks": [)" +
          ranks + "]}]}");
  add("\"channel_type\": \"memory\", \"channel_ids\": [",
      R"(, {"channel_type": "switch", "channel_ids": [0]})");
  return text;
}
std::string switched(int index, int size = 1) {
  return fmt::format(R"({{"switch_channel_id": 0, "index": {}, "size": {}}})", index, size);
}
// Each of three ranks lets the switch add a third of the chunks, and writes the sum to all.
PlanText sums_in_switch() {
  PlanText plan;
  plan.chunks = R"("input_chunks": 3, "output_chunks": 3, "scratch_chunks": 0)";
  for (int r = 0; r < 3; ++r) {
    plan.ops.push_back({end(
        on("rlxsignal", R"("channel_ids": [0, 1])") + on("rlxwait", R"("channel_ids": [0, 1])") +
        op("glres", switched(r), switched(r)) + "{\"name\": \"nop\"},\n" +
        on("signal", R"("channel_ids": [0, 1])") + on("wait", R"("channel_ids": [0, 1])"))});
  }
  return plan;
}

// Schema 1: rank r puts its chunk of the other into scratch there.
std::string schema_1() {
  std::string gpus;
  for (int r = 0; r < 2; ++r) {
    const std::string pair = R"({"src": "i", "dst": "s"})";
    gpus += fmt::format(
        R"({}{{"id": {}, "inputChunks": 2, "outputChunks": 0, "scratchChunks": 2, "channels": [)"
        R"({{"srcbuff": "i", "dstbuff": "s", "type": "sm", "connectedTo": [{}]}}, )"
        R"({{"srcbuff": "i", "dstbuff": "i", "type": "sm", "connectedTo": [{}]}}], )"
        R"("threadblocks": [{{"id": 0, "channels": [{{"src": "i", "dst": "s", "ctype": "sm", "cids": [0]}}, )"
        R"({{"src": "i", "dst": "i", "ctype": "sm", "cids": [0]}}], "ops": [)",
        r == 0 ? "" : ", ", r, 1 - r, 1 - r);
    const auto add = [&](const std::string& name, const std::string& rest) {
      gpus += fmt::format(R"({{"name": "{}", "ctype": "sm", "cnt": 1, {}}}, )", name, rest);
    };
    add("put",
        fmt::format(
            R"("o_buff": {}, "o_cids": [{{"id": 0, "off": 0}}], "srcs": [{{"buff": "i", "off": {}}}])",
            pair, 1 - r));
    gpus += R"({"name": "nop"}, )";
    add("signal", R"("o_buff": )" + pair + R"(, "o_cids": [{"id": 0, "off": 0}])");
    add("wait", R"("i_buff": )" + pair + R"(, "i_cids": [{"id": 0, "off": 0}])");
    gpus += R"({"name": "nop", "deps": [{"tb": 0, "step": 3}]}, )";
    add("rs",
        fmt::format(
            R"("src": {0}, "srcbuff": "i", "srcoff": {0}, "srcs": [{{"buff": "s", "off": 0}}], "dst": 0, "dstbuff": "i", "dstoff": {0}, "o_buff": {{"src": "i", "dst": "i"}}, "o_cids": [{{"id": 0, "off": {0}}}])",
            r));
    gpus += R"({"name": "nop"}, )";
    add("signal", R"("o_buff": {"src": "i", "dst": "i"}, "o_cids": [{"id": 0, "off": 0}])");
    add("wait", R"("i_buff": {"src": "i", "dst": "i"}, "i_cids": [{"id": 0, "off": 0}])");
    gpus.resize(gpus.size() - 2);
    gpus += "]}]}";
  }
  return R"({"name": "old", "colletive": "allreduce", "protocol": "Simple", "inplace": true, "gpus": [)" +
         gpus + "]}";
}

std::optional<Program> read(const std::string& text, Diagnostics& diagnostics, Bytes size = 0) {
  return read_mscclpp("plan.json", text, size, diagnostics);
}
// The reader's errors, or the violations that the certifier finds.
std::string problems(const std::string& text, Bytes size = 0) {
  Diagnostics diagnostics;
  const auto program = read(text, diagnostics, size);
  if (!program) return diagnostics.text();
  std::string found;
  for (const ProgramViolation& violation : certify_program(*program).violations) {
    found += fmt::format("{}: {}\n", to_string(violation.kind), describe(violation));
  }
  return found;
}
std::string replaced(std::string text, const std::string& from, const std::string& to,
                     std::size_t nth = 0) {
  std::size_t at = text.find(from);
  for (; nth > 0 && at != std::string::npos; --nth) at = text.find(from, at + 1);
  if (at == std::string::npos) throw std::runtime_error("lacks " + from);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("Plans of both schemas reach peers by messages, and the certifier proves them") {
  CHECK(problems(pairs().text()).empty());
  CHECK(problems(packets().text()).empty());
  CHECK(problems(schema_1()).empty());
  for (const Bytes size : {Bytes{0}, Bytes{64}, Bytes{1024}, Bytes{16 * 9}}) {
    CHECK(problems(groups().text(), size).empty());
  }
  Diagnostics diagnostics;
  const Program program = *read(pairs().text(), diagnostics);
  CHECK(program.one_sided);
  CHECK(program.protocol == Protocol::message);
  CHECK(read(packets().text(), diagnostics)->protocol == Protocol::ll);
  // 512 bytes a chunk in pieces of 48; the slices are whole chunks.
  CHECK(read(groups().text(), diagnostics, 1024)->chunks == 2 * 11);
}

TEST_CASE("What is wrong with a plan is named with gpu, thread block, operation and line") {
  const std::string plan = pairs().text();
  const auto wrong = [&](const std::string& from, const std::string& to, std::size_t nth = 0) {
    return problems(replaced(plan, from, to, nth));
  };
  // A wait lacks its signal.
  CHECK_THAT(wrong(R"({"name": "signal", "channel_ids": [0]},)", ""),
             Contains("plan.json:15:1: error: gpu 1 tb 0 op 5: wait: unmatched: the channel has 2 "
                      "waits, but its peer sends 1 signals"));
  CHECK_THAT(wrong("rlxwait", "nop"),
             Contains("gpu 1 tb 0 op 4: signal: unmatched: the channel has 2 signals, but its peer "
                      "waits 1 times"));
  PlanText cyclic = pairs();
  cyclic.ops = {{end(on("wait") + on("signal"))}, {end(on("wait") + on("signal"))}};
  CHECK_THAT(problems(cyclic.text()), Contains("deadlock: gpu 0 tb 0 step 0 (line "));
  // The sum stays where it was made.
  CHECK_THAT(wrong(R"(, {"buffer_id": 0, "index": 0, "size": 1}])", "]", 1),
             Contains("postcondition: gpu 1") && Contains("output chunk 0 lacks"));
  CHECK_THAT(wrong("rres", "rre"), Contains("op 2: rre: writes to other ranks"));
  CHECK_THAT(wrong("rres", "res"), Contains("op 2: res: reads from other ranks"));
  CHECK_THAT(wrong(R"("index": 0)", R"("index": 7)"),
             Contains("chunks 7 to 7 of buffer i of gpu 0, which has 2"));
  CHECK_THAT(wrong(R"("rank": 1)", R"("rank": 5)"), Contains("gpu 0: there is no rank 5"));
  CHECK_THAT(wrong(R"("rank": 1)", R"("rank": 0)"), Contains("gpu 0: rank 0 is the gpu itself"));
  CHECK_THAT(wrong(R"("buffer_id": 0)", R"("buffer_id": 9)"),
             Contains("gpu 0 tb 0 op 2: rres: names remote memory buffer of the thread block 9"));
  CHECK_THAT(wrong(R"("channel_ids": [0]})", R"("channel_ids": [3]})"),
             Contains("memory channel 3"));
  CHECK_THAT(wrong("rres", "glres"),
             Contains("gpu 0 tb 0 op 2: glres: needs a source and a target on switch channels"));
  CHECK_THAT(wrong("rres", "frob"), Contains("gpu 0 tb 0 op 2: frob: is not known"));

  CHECK_THAT(wrong("allreduce", "allsum"),
             Contains("plan.json:1:1: error: collective is 'allsum', which is not known"));

  // A signal tells of data that other threads of the block have still to write.
  CHECK_THAT(wrong("{\"name\": \"nop\"},\n", ""),
             Contains("gpu 0 tb 0 op 3: signal: the threads of the block may still be at work on "
                      "rres before it") &&
                 Contains("hint: write a nop between the two"));
  // A proxy's channel leads to one peer.
  PlanText proxies;
  proxies.type = "port";
  for (int r = 0; r < 3; ++r) {
    const std::string put =
        op("pws", own("i", 0) + ", " + own("i", 0), remote(0, 1) + ", " + remote(3, 1),
           R"(, "channel_type": "port", "channel_ids": [0, 1])");
    proxies.ops.push_back(
        {end(put + on("wait", R"("channel_type": "port", "channel_ids": [0, 1])"))});
  }
  const std::string proxy = proxies.text();
  CHECK_THAT(problems(proxy), !Contains("lead to other ranks"));
  CHECK_THAT(
      problems(replaced(proxy, "\"channel_ids\": [0, 1]},", "\"channel_ids\": [1, 0]},")),
      Contains("gpu 0 tb 0 op 0: pws: its channels, one for each target, lead to other ranks"));

  // A put is read before its signal.
  const std::string group = groups().text();
  CHECK_THAT(problems(replaced(group, "\"signal\"", "\"rlxsignal\"")), Contains("race: gpu 1 tb"));
  CHECK_THAT(problems(replaced(group, "\"num_threadblocks\": 2", "\"num_threadblocks\": 3")),
             Contains("2 thread blocks meet at barrier 0, not 3"));
  CHECK_THAT(problems(replaced(group, "sem_release", "nop")),
             Contains("unmatched: the semaphore is acquired 1 times"));

  CHECK_THAT(wrong("\"wait\"", "\"rlxwait\""),
             Contains("op 5: rlxwait: a relaxed wait has no order with the data of the signal"));
  PlanText longest = pairs();
  for (int k = 0; k < 59; ++k) longest.ops[1][0] = "{\"name\": \"nop\"},\n" + longest.ops[1][0];
  CHECK_THAT(problems(longest.text()), Contains("plan.json:") &&
                                           Contains("gpu 1 tb 0: it has 65 operations") &&
                                           Contains("takes 64 (MAX_OPERATION)"));
  CHECK_THAT(problems(R"({"name": "a", "collective": "allreduce", "gpus": []})"),
             Contains("plan.json:1:1: error: the plan has 0 gpus; allowed are 1 to 4096"));
  CHECK(is_mscclpp_plan(R"({"name": "a", "collective": "allreduce", "gpus": []})"));

  const std::string packet = packets().text();
  CHECK_THAT(problems(replaced(packet, "\"ppkt\"", "\"nop\"")),
             Contains("waits for packets in scratch chunk 1, but nobody writes them"));
  CHECK_THAT(
      problems(replaced(packet, R"("buffer_id": 2, "index": 2)", R"("buffer_id": 2, "index": 1)")),
      Contains("are written twice in a call"));
  CHECK_THAT(problems(replaced(packet, "\"upkt\"", "\"copy\"")), Contains("race"));
}

TEST_CASE("A switch adds and copies for thread blocks, and the certifier proves its steps") {
  const std::string plan = with_switch(sums_in_switch().text(), "0, 2, 1");
  CHECK(problems(plan).empty());
  Diagnostics diagnostics;
  const Program program = *read(plan, diagnostics);
  CHECK(program.switches == 1);
  CHECK(program.num_ranks() == 3);
  // A request to the switch and from it to 3 ranks, 3 answers, a sum down and up, and 3 copies.
  std::size_t sent = 0;
  for (const RankProgram& rank : program.ranks) {
    for (const ThreadBlock& block : rank.blocks) {
      sent += static_cast<std::size_t>(
          std::count_if(block.steps.begin(), block.steps.end(),
                        [](const ProgramStep& step) { return sends(step.op); }));
    }
  }
  CHECK(sent == 3 * (1 + 3 + 3 + 1 + 1 + 3) + 12);

  // gstore: rank 0 writes its chunk to both; packets land in scratch.
  PlanText stores;
  stores.head = R"("collective": "custom", "protocol": "Simple", "inplace": true)";
  stores.ops = {{end(op("gstore", own("s", 0), switched(1)) + "{\"name\": \"nop\"},\n" +
                     op("copy", own("i", 1), own("s", 2)) + on("signal"))},
                {end(on("wait") + op("copy", own("i", 1), own("s", 2)))}};
  stores.ops[0][0] =
      op("copy", own("i", 0), own("s", 0)) + "{\"name\": \"nop\"},\n" + stores.ops[0][0];
  const std::string multicast = with_switch(stores.text(), "0, 1");
  CHECK_THAT(problems(multicast), Contains("signal: the threads of the block may still"));
  const std::string synced =
      replaced(multicast, R"({"name": "signal")", R"({"name": "nop"}, {"name": "signal")");
  CHECK(problems(synced).empty());
  // The copy may come back to the sender later than its next operation reads.
  CHECK_THAT(problems(replaced(synced, "{\"name\": \"nop\"},\n", "", 1)), Contains("race: gpu 0"));
  CHECK_THAT(problems(replaced(synced, "\"wait\"", "\"nop\"")), Contains("unmatched"));

  const auto wrong = [&](const std::string& from, const std::string& to) {
    return problems(replaced(plan, from, to));
  };
  CHECK_THAT(wrong("[0, 2, 1]", "[2, 1]"),
             Contains("gpu 0: a switch channel is of different ranks of the plan, this gpu among"));
  CHECK_THAT(wrong("[0, 2, 1]", "[0, 1]"), Contains("postcondition: gpu 0"));
  CHECK_THAT(wrong("[0, 2, 1]", "[0, 1, 3]"), Contains("is of different ranks of the plan"));
  CHECK_THAT(wrong(switched(0), switched(3)),
             Contains("chunks 3 to 3 of buffer i of gpu 0, which has 3"));
  CHECK_THAT(wrong("\"glres\"", "\"gstore\""), Contains("gstore: needs a source of its own"));
  CHECK_THAT(wrong("\"switch_channel_id\": 0", "\"switch_channel_id\": 1"),
             Contains("names switch channel of the thread block 1, but there are 1"));
}

TEST_CASE("A plan whose protocol is not what its operations move is warned of") {
  const auto warned = [](const std::string& text) {
    Diagnostics diagnostics;
    CHECK(read(text, diagnostics).has_value());
    return diagnostics.text();
  };
  CHECK(warned(pairs().text()).empty());
  CHECK_THAT(warned(packets().text()),
             Contains("plan.json:1:45: warning: protocol is Simple, but the plan's operations move "
                      "packets"));
  CHECK_THAT(warned(replaced(pairs().text(), "Simple", "LL")), Contains("move no packets"));
}

TEST_CASE("Programs become plans that mean the same, within the executor's limits") {
  BuiltinRequest request;
  request.ranks = 4;
  request.ranks_per_server = 2;
  for (const char* name : {"gc3_ring", "gc3_allpairs", "gc3_allgather_ring", "gc3_direct_alltoall",
                           "gc3_halving_doubling"}) {
    CAPTURE(name);
    const MscclppDocument plan = write_mscclpp(find_builtin_program(name)->build(request));
    REQUIRE(plan.reason.empty());
    CHECK(problems(plan.text).empty());
    Diagnostics diagnostics;
    CHECK(write_mscclpp(*read(plan.text, diagnostics)).reason == "it is a plan of MSCCL++ already");
  }
  request.ranks = 16;
  CHECK_THAT(write_mscclpp(find_builtin_program("gc3_ring")->build(request)).reason,
             Contains("gpu 0 tb 0 needs ") && Contains("but MSCCL++'s executor takes 64"));
}

TEST_CASE("Every changed plan is read and proven, or refused at a place") {
  std::mt19937 random(20261128);
  const auto below = [&](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  };
  std::size_t num_read = 0;
  for (const std::string& original : {pairs().text(), packets().text(), groups().text(), schema_1(),
                                      with_switch(sums_in_switch().text(), "0, 1, 2")}) {
    for (int round = 0; round < (test::kSanitized ? 70 : 700); ++round) {
      std::string text = original;
      for (std::size_t edits = 1 + below(3); edits > 0; --edits) {
        const std::size_t at = below(text.size());
        const std::size_t digit = text.find_first_of("0123456789", at);
        const std::size_t name = text.find("\"name\": \"", at);
        if (below(4) == 0) {
          text.erase(at, 1 + below(60));
        } else if (below(2) == 0 && digit != std::string::npos) {
          text[digit] = static_cast<char>('0' + below(10));
        } else if (name != std::string::npos) {
          const char* const names[] = {"put",  "get",  "wait",    "signal", "nop",   "flush", "re",
                                       "upkt", "ppkt", "barrier", "rre",    "glres", "gstore"};
          const std::size_t begin = name + 9;
          text.replace(begin, text.find('"', begin) - begin, names[below(std::size(names))]);
        }
      }
      Diagnostics diagnostics;
      const auto program = read(text, diagnostics, 64);
      if (program.has_value() != (diagnostics.num_errors() == 0)) FAIL(text << diagnostics.text());
      if (!program && diagnostics.text().find("plan.json:") != 0) FAIL(diagnostics.text());
      if (program) static_cast<void>(certify_program(*program));
      num_read += program ? 1U : 0U;
    }
  }
  CHECK(num_read > (test::kSanitized ? 20 : 200));
}
