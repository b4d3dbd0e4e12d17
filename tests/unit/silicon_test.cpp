// Measured times of real machines: the table, the fitted third, the measure of errors.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "sims/config/presets.h"
#include "sims/silicon/measured_rows.h"
#include "sims/silicon/silicon_runs.h"
#include "sims/silicon/validation.h"

using namespace espalier;

namespace {

std::vector<MeasuredRow> measured(const std::string& text) {
  Diagnostics diagnostics;
  auto rows = parse_measured_rows("times.csv", text, diagnostics);
  INFO(diagnostics.text());
  REQUIRE(rows.has_value());
  return *rows;
}

std::string measured_mistake(const std::string& text) {
  Diagnostics diagnostics;
  CHECK_FALSE(parse_measured_rows("times.csv", text, diagnostics).has_value());
  return diagnostics.text();
}

constexpr const char* kHeader = "machine,nodes,gpus_per_node,op,size_bytes,time_us\n";

const SiliconMachine& silicon_machine(const std::string& name) {
  const auto& machines = silicon_machines();
  const auto found = std::find_if(machines.begin(), machines.end(),
                                  [&](const SiliconMachine& m) { return m.name == name; });
  INFO(name);
  REQUIRE(found != machines.end());
  return *found;
}

}  // namespace

TEST_CASE("A table of measured times is read by the names of its columns") {
  const auto rows = measured(
      "# from logs\n"
      "log_id,cluster,kind,nodes,gpus_per_node,gpus,op,size_bytes,in_place,time_us,wrong\n"
      "0,example-cluster01,single-node,1,8,8,alltoall,33554432,1,124.8,N/A\n"
      "0,example-cluster01,single-node,1,8,8,sendrecv,0,1,124.8,N/A\n");
  REQUIRE(rows.size() == 1);  // nobody can compare with no data
  CHECK(rows[0].machine == "example-cluster01");
  CHECK(rows[0].op == MeasuredOp::all_to_all);
  CHECK(rows[0].size == 33554432);
  CHECK(rows[0].microseconds == 124.8);
  CHECK(rows[0].kind == "single-node");
}

TEST_CASE("A table without nodes divides its GPUs by those of a server") {
  const auto rows = measured(
      "gpu,op,kernel,gpus,gpus_per_node,size_bytes,time_us\n"
      "A100 (Azure NDmv4),allreduce,4,16,8,50331648,517.43\n");
  CHECK(rows.at(0).servers == 2);
  CHECK(rows.at(0).kernel == "4");
}

TEST_CASE("A wrong table of measured times is refused with its place") {
  using Catch::Matchers::Contains;
  CHECK_THAT(measured_mistake(""),
             Contains("times.csv:1:1") && Contains("the file is empty") &&
                 Contains("then one line for each measured time, for example example-cluster01,"));
  CHECK_THAT(
      measured_mistake(std::string(kHeader) + "x,1,8,all_gather,0,1\n"),
      Contains("times.csv:1:1") && Contains("the file has no measured times after the header"));
  CHECK_THAT(measured_mistake("machine,nodes,gpus_per_node,op,size_bytes\n"),
             Contains("times.csv:1:1") && Contains("no column 'time_us'"));
  CHECK_THAT(measured_mistake(std::string(kHeader) + "x,1,8,all_gather,8,fast\n"),
             Contains("times.csv:2:20") && Contains("'fast' is not microseconds"));
  CHECK_THAT(measured_mistake(std::string(kHeader) + "x,1,8,gather,8,1\n"),
             Contains("'gather' is not an operation"));
  CHECK_THAT(measured_mistake(std::string(kHeader) + "x,1,8,all_gather\n"),
             Contains("not a whole number of bytes"));
}

TEST_CASE("At most a third of the sizes is fitted, and the fitted sizes are no test sizes") {
  std::size_t fitted = 0;
  constexpr std::size_t kFirst = 25;  // 32 MiB to 16 GiB, as the logs of H100
  constexpr std::size_t kLast = 34;
  for (std::size_t log = kFirst; log <= kLast; ++log) fitted += is_fitted_size(Bytes{1} << log);
  CHECK(fitted == 3);
  CHECK(is_fitted_size(Bytes{128} << 20));
  CHECK_FALSE(is_fitted_size(Bytes{64} << 20));
  CHECK_FALSE(is_fitted_size(Bytes{256} << 20));
  // Sizes that a program rounds down to whole elements belong to the same third.
  CHECK(is_fitted_size((Bytes{1} << 30) - 64));
  const auto rows = measured(std::string(kHeader) +
                             "example-cluster01,1,8,all_gather,134217728,380\n"
                             "example-cluster01,1,8,all_gather,134217728,382\n"
                             "example-cluster01,1,8,all_gather,67108864,205\n");
  const MeasuredCases comparison = cases_of(rows);
  REQUIRE(comparison.cases.size() == 2);
  for (const ComparedCase& c : comparison.cases) CHECK(c.fitted == is_fitted_size(c.measured.size));
  CHECK(comparison.cases[1].microseconds == std::vector<double>{380, 382});
}

TEST_CASE("Twice as long and half as long are equally wrong") {
  ErrorMean mean;
  CHECK(mean.error() == 0);
  mean.add(200, 100);
  CHECK(mean.error() == Approx(1.0));
  mean.add(50, 100);
  CHECK(mean.error() == Approx(1.0));
  mean.add(100, 100);
  mean.add(100, 100);
  CHECK(mean.error() == Approx(std::sqrt(2.0) - 1));
  CHECK(mean.count() == 4);
}

TEST_CASE("Rows that nothing in the data explains stand apart and are counted") {
  const auto rows = measured(std::string(kHeader) +
                             "example-cluster00,2,8,sendrecv,33554432,2300\n"
                             "example-cluster00,2,4,sendrecv,33554432,2500\n"
                             "somewhere,2,8,sendrecv,33554432,2500\n");
  const MeasuredCases comparison = cases_of(rows);
  CHECK(comparison.cases.empty());
  REQUIRE(comparison.apart.size() == 2);
  CHECK(comparison.apart[0].rows == 2);
  CHECK(comparison.apart[1].why == "the machine is not known");
}

TEST_CASE("A plan follows NCCL's choice, and the machine's numbers are in its settings") {
  const SiliconMachine& machine = silicon_machines().front();
  Numbers numbers = machine.numbers();
  numbers["system.ni.program.fence_cycles"] = 1234;
  const auto settings_of = [&](MeasuredOp op, Bytes size) {
    const CasePlan plan = plan_case(machine, {op, "", "", size, "", ""}, numbers);
    REQUIRE(plan.runs.size() == 1);
    std::string text = plan.how + ";";
    for (const std::string& setting : plan.runs.front().settings) text += setting + ";";
    return text;
  };
  using Catch::Matchers::Contains;
  CHECK_THAT(settings_of(MeasuredOp::all_gather, Bytes{1} << 30),
             Contains("ring Simple x24;") && Contains("system.preset=h100_8;") &&
                 Contains("collective.algorithm=nccl_allgather;") &&
                 Contains("fence_cycles=1234;"));
  CHECK_THAT(settings_of(MeasuredOp::all_reduce, Bytes{1} << 30),
             Contains("NVLS") && Contains("system.preset=h100_8_nvls;"));
  CHECK_THAT(settings_of(MeasuredOp::sendrecv, Bytes{128} << 20),
             Contains("messages x8;") && Contains("collective.program.instances=8;"));
}

TEST_CASE("A longer launch adds to the time and is simulated no more") {
  const SiliconMachine& machine = silicon_machines().front();
  Numbers numbers = machine.numbers();
  const MeasuredCase measured{MeasuredOp::all_gather, "", "", Bytes{1} << 30, "", ""};
  const CasePlan as_preset = plan_case(machine, measured, numbers);
  CHECK(as_preset.added_microseconds == 0);
  numbers["system.ni.program.doorbell_cycles"] += 1500;
  const CasePlan longer = plan_case(machine, measured, numbers);
  CHECK(longer.added_microseconds == Approx(1.5));
  CHECK(longer.runs.front().settings == as_preset.runs.front().settings);
}

TEST_CASE("Polaris' rows are told apart by site, NCCL's version and setting") {
  const std::string head = "machine,nccl_dir,nodes,gpus_per_node,env,op,size_bytes,time_us\n";
  const auto rows = measured(head +
                             "polaris,2.18,2,4,5,alltoall,134217728,12556\n"
                             "polaris,2.21,2,4,5,alltoall,134217728,12556\n"
                             "sirius,2.18,2,4,5,alltoall,134217728,8995\n"
                             "polaris,2.18,2,4,1,alltoall,134217728,90000\n"
                             "polaris,2.19,2,4,5,alltoall,134217728,12556\n");
  const MeasuredCases comparison = cases_of(rows);
  REQUIRE(comparison.cases.size() == 3);
  REQUIRE(comparison.apart.size() == 2);
  CHECK(comparison.apart[0].why == "the setting uses TCP sockets over the fabric");
  CHECK(comparison.apart[1].why == "the tables of this version of NCCL are not known");
  const auto nic_of = [](const ComparedCase& c) {
    const CasePlan plan = plan_case(*c.machine, c.measured, c.machine->numbers());
    std::string found;
    for (const std::string& setting : plan.runs.front().settings) {
      const std::string key = "system.topology.nic_link.bandwidth=";
      if (setting.compare(0, key.size(), key) == 0) found = setting.substr(key.size());
    }
    return found;
  };
  CHECK(comparison.cases[0].measured.nccl == "2.18");
  CHECK(comparison.cases[1].measured.site == "sirius");
  CHECK(nic_of(comparison.cases[0]) == nic_of(comparison.cases[2]));
  CHECK(nic_of(comparison.cases[0]) != nic_of(comparison.cases[1]));
}

TEST_CASE("Rows of one case that differ by more than twice stand apart") {
  const auto rows = measured(std::string(kHeader) +
                             "sophia,2,8,alltoall,32768,65.9\n"
                             "sophia,2,8,alltoall,32768,261.9\n"
                             "sophia,2,8,alltoall,65536,64.5\n"
                             "sophia,2,8,alltoall,65536,62.9\n");
  const MeasuredCases comparison = cases_of(rows);
  REQUIRE(comparison.cases.size() == 1);
  CHECK(comparison.cases[0].measured.size == 65536);
  REQUIRE(comparison.apart.size() == 1);
  CHECK(comparison.apart[0].rows == 2);
  CHECK(comparison.apart[0].why == "rows of one case differ by more than 2x");
}

std::string setting_of(const PlannedRun& run, const std::string& key) {
  for (const std::string& setting : run.settings) {
    if (setting.compare(0, key.size() + 1, key + "=") == 0) return setting.substr(key.size() + 1);
  }
  return {};
}

// The value of a setting in a plan's only run.
std::string setting_of(const CasePlan& plan, const std::string& key) {
  REQUIRE(plan.runs.size() == 1);
  return setting_of(plan.runs.front(), key);
}

CasePlan nccl_plan(const std::string& name, MeasuredOp op, Bytes size) {
  const SiliconMachine& machine = silicon_machine(name);
  return plan_case(machine, {op, "", "", size, "", ""}, machine.numbers());
}

TEST_CASE("Trees of switches are simulated with the chunks of a server's GPUs in one") {
  const CasePlan plan = nccl_plan("10 x 8 H100", MeasuredOp::all_reduce, Bytes{1} << 30);
  CHECK(plan.how == "NVLS tree Simple x16, continued");
  REQUIRE(plan.runs.size() == 2);
  const PlannedRun& run = plan.runs.front();
  CHECK(setting_of(run, "collective.algorithm") == "nccl_tree");
  CHECK(setting_of(run, "system.ni.program.slot") == "524288B");
  const double rate = silicon_machine("10 x 8 H100").numbers().at("nvls_tree_rate");
  CHECK(std::stod(setting_of(run, "system.ni.program.context_bytes_per_cycle")) ==
        std::round(rate));
}

TEST_CASE("A ring's chunks of Simple are equally long, if a shorter one would be the last") {
  // 4 GiB are 3.2 MiB for a channel and rank: chunks of 2 and 1.2 MiB, each in two equal slices.
  const CasePlan plan = nccl_plan("10 x 8 H100", MeasuredOp::all_gather, Bytes{4} << 30);
  CHECK(setting_of(plan, "system.ni.program.slot") == "1677724B");
  CHECK(setting_of(plan, "system.ni.program.request") == "838864B");
}

TEST_CASE("Trees of LL and LL128 share a channel's threads between both directions") {
  const auto rate = [](Bytes size, const char* how) {
    const CasePlan plan = nccl_plan("Sophia, 2 nodes", MeasuredOp::all_reduce, size);
    CHECK(plan.how == how);
    return setting_of(plan, "system.ni.program.context_bytes_per_cycle");
  };
  CHECK(rate(Bytes{1} << 20, "tree LL128 x16") == "9");  // 42 % of 22 GB/s
  CHECK(rate(Bytes{32} << 20, "ring LL128 x16") == "22");
}

TEST_CASE("Long messages between many GPUs are continued along a line") {
  const CasePlan longer = nccl_plan("10 x 8 H100", MeasuredOp::sendrecv, Bytes{1} << 30);
  CHECK(longer.how == "messages x1, continued");
  REQUIRE(longer.runs.size() == 2);
  CHECK(longer.runs[0].settings.back() == "collective.size=134217728B");
  CHECK(longer.runs[1].settings.back() == "collective.size=67108864B");
  // 1 GiB = 128 MiB + 14 times 64 MiB.
  CHECK(longer.runs[0].weight == Approx(15));
  CHECK(longer.runs[1].weight == Approx(-14));
  CHECK(nccl_plan("10 x 8 H100", MeasuredOp::sendrecv, Bytes{128} << 20).runs.size() == 1);
}

TEST_CASE("Rings of LL that outrun their posted receives cost the proxy as much as Simple") {
  const auto post = [&](const char* name, MeasuredOp op, Bytes size, const char* setting) {
    const SiliconMachine& machine = silicon_machine(name);
    Numbers numbers = machine.numbers();
    numbers["ll_post"] = 111;
    numbers["ll_post_5"] = 115;
    numbers["simple_post_4"] = 444;
    numbers["simple_post_5"] = 555;
    if (numbers.count("matched_post_5") != 0) numbers["matched_post_5"] = 559;
    const CasePlan plan = plan_case(machine, {op, setting, "", size, "2.21", "polaris"}, numbers);
    const std::string sends = setting_of(plan, "system.ni.program.network_slot_cycles");
    CHECK(setting_of(plan, "system.ni.program.network_receive_cycles") == sends);
    return plan.how + " " + sends;
  };
  const char* two = "Polaris, 2 nodes";
  const char* eight = "Polaris, 8 nodes";
  // 7 messages of a connection find the receives that are posted in advance, 14 or 31 do not.
  CHECK(post(two, MeasuredOp::all_gather, 256 << 10, "4") == "ring LL x4 111");
  CHECK(post(two, MeasuredOp::all_reduce, 256 << 10, "4") == "ring LL x4 444");
  CHECK(post(eight, MeasuredOp::all_gather, 512 << 10, "4") == "ring LL x4 444");
  // One channel of small messages stays in step.
  CHECK(post(eight, MeasuredOp::all_gather, 4 << 10, "4") == "ring LL x1 111");
  // Matching in software.
  CHECK(post(two, MeasuredOp::all_gather, 256 << 10, "5") == "ring LL x4 555");
  CHECK(post(two, MeasuredOp::all_reduce, 1 << 10, "5") == "tree LL x1 115");
  CHECK(post(eight, MeasuredOp::all_gather, 512 << 10, "5") == "ring LL x4 559");
}

TEST_CASE("An all_to_all takes what the host prepares, or what the GPUs take, if that is longer") {
  const auto rows = measured(
      "machine,nccl_dir,nodes,gpus_per_node,env,op,size_bytes,time_us\n"
      "polaris,2.21,8,4,4,alltoall,8192,129\n");
  const MeasuredCases comparison = cases_of(rows);
  REQUIRE(comparison.cases.size() == 1);
  const ComparedCase& small = comparison.cases.front();
  Numbers numbers = small.machine->numbers();
  numbers["peer_launch"] = 3000;
  const CasePlan plan = plan_case(*small.machine, small.measured, numbers);
  CHECK(plan.host_microseconds ==
        Approx(31 * 3.0 + numbers.at("system.ni.program.doorbell_cycles") / 1000));
  CHECK(plan.added_microseconds == 0);
  // Without simulations, so no program is needed.
  SiliconRuns runs("none", 1, "");
  const auto times = runs.times_of({{"", {}, 5, 93}, {"", {}, 95, 93}});
  REQUIRE(times.has_value());
  CHECK((*times)[0].microseconds == 93);
  CHECK((*times)[1].microseconds == 95);
}

TEST_CASE("Between servers messages have NCCL's chunk, and all_to_alls meet switches with queues") {
  const auto plan_on = [&](const std::string& name, MeasuredOp op, const char* kernel = "") {
    const SiliconMachine& machine = silicon_machine(name);
    return plan_case(machine, {op, "", kernel, Bytes{64} << 20, "", ""}, machine.numbers());
  };
  const auto vc_order = [&](const CasePlan& plan) {
    return setting_of(plan, "system.router.vc_order");
  };
  const auto piece = [&](const CasePlan& plan) {
    return setting_of(plan, "system.ni.program.request");
  };
  const std::string two = "NDm v4, 2 servers, MSCCL++";
  CHECK(vc_order(plan_on("Sophia, 2 nodes", MeasuredOp::all_to_all)) == "destination");
  CHECK(vc_order(plan_on("Sophia, 2 nodes", MeasuredOp::all_gather)).empty());
  CHECK(vc_order(plan_on("8 x H100", MeasuredOp::all_to_all)).empty());
  CHECK(vc_order(plan_on(two, MeasuredOp::all_to_all, "0")) == "destination");
  CHECK(vc_order(plan_on(two, MeasuredOp::all_reduce, "4")).empty());
  CHECK(piece(plan_on("Sophia, 2 nodes", MeasuredOp::all_to_all)) == "131072B");
  CHECK(piece(plan_on("10 x 8 H100", MeasuredOp::sendrecv)) == "131072B");
  CHECK(piece(plan_on("8 x H100", MeasuredOp::sendrecv)) == "262144B");
}

namespace {

CasePlan mscclpp_plan(const std::string& name, const char* kernel, Bytes size) {
  const SiliconMachine& machine = silicon_machine(name + ", MSCCL++");
  return plan_case(machine, {MeasuredOp::all_reduce, "", kernel, size, "", ""}, machine.numbers());
}

}  // namespace

TEST_CASE(
    "Kernels of MSCCL++ that read from their peers have less of a link than those that write") {
  const auto rate_of = [](const char* name, const char* kernel, Bytes size) {
    return setting_of(mscclpp_plan(name, kernel, size), "system.link.bandwidth");
  };
  CHECK(rate_of("NDm v4, 1 server", "1", Bytes{1} << 30).empty());
  CHECK(rate_of("NDm v4, 1 server", "4", Bytes{32} << 20) == "230GB/s");
  CHECK(rate_of("NDm v4, 1 server", "5", Bytes{48} << 20) == "230GB/s");
  CHECK(rate_of("ND v5, 2 servers", "4", Bytes{48} << 20) == "335GB/s");
}

TEST_CASE(
    "MSCCL++'s kernel of packets pays for one put to another server, and other kernels none") {
  const CasePlan packets = mscclpp_plan("NDm v4, 2 servers", "2", 8192);
  CHECK(packets.how == "mscclpp_packets");
  const double put = silicon_machine("NDm v4, 2 servers, MSCCL++").numbers().at("proxy_put");
  CHECK(put > 0);
  CHECK(std::stod(setting_of(packets, "system.ni.program.network_slot_cycles")) == put);
  CHECK(setting_of(packets, "system.ni.program.network_receive_cycles").empty());
  const CasePlan pairs = mscclpp_plan("NDm v4, 1 server", "6", 49152);
  CHECK(pairs.how == "gc3_allpairs");
  CHECK(setting_of(pairs, "system.ni.program.network_slot_cycles").empty());
}

TEST_CASE("MSCCL++'s small rows on H100 are fitted, and those on A100 test") {
  const auto rows = measured(
      "gpu,op,kernel,gpus,gpus_per_node,size_bytes,time_us\n"
      "H100 (Azure NDv5),allreduce,6,8,8,49152,6.62\n"
      "H100 (Azure NDv5),allreduce,2,16,8,8192,15.1\n"
      "H100 (Azure NDv5),allreduce,4,16,8,50331648,363.4\n"
      "A100 (Azure NDmv4),allreduce,6,8,8,49152,7.91\n"
      "A100 (Azure NDmv4),allreduce,2,16,8,8192,18.42\n"
      "A100 (Azure NDmv4),allreduce,2,24,8,8192,18.42\n"
      "H200 (Azure NDv5),allreduce,2,16,8,8192,15\n");
  const MeasuredCases comparison = cases_of(rows);
  REQUIRE(comparison.cases.size() == 5);
  std::size_t fitted = 0;
  for (const ComparedCase& c : comparison.cases) {
    INFO(c.machine->name << " " << c.measured.size);
    const bool is_hopper = std::string(c.machine->name).rfind("ND v5", 0) == 0;
    CHECK(c.fitted == (is_hopper && c.measured.size < kSmallRows));
    fitted += c.fitted;
  }
  CHECK(fitted == 2);
  REQUIRE(comparison.apart.size() == 2);
  CHECK(comparison.apart[0].why == "other than one or two servers");
  CHECK(comparison.apart[1].why == "the machine is not known");
}

TEST_CASE("A number from another machine's fit has the value that this machine has") {
  std::size_t found = 0;
  for (const SiliconMachine& machine : silicon_machines()) {
    for (const FittedNumber& number : machine.fitted) CHECK(number.from == nullptr);
    for (const FittedNumber& number : machine.given) {
      if (number.from == nullptr) continue;
      INFO(machine.name << ": " << number.name);
      CHECK(silicon_machine(number.from).numbers().at(number.name) == number.value);
      ++found;
    }
  }
  CHECK(found > 5);
}

TEST_CASE("A machine's preset has the machine's numbers") {
  for (const SiliconMachine& machine : silicon_machines()) {
    const Preset* const preset = find_preset(machine.preset);
    REQUIRE(preset != nullptr);
    std::vector<FittedNumber> numbers = machine.fitted;
    numbers.insert(numbers.end(), machine.given.begin(), machine.given.end());
    for (const FittedNumber& number : numbers) {
      const std::string name = number.name;
      if (name.find('.') == std::string::npos) continue;
      INFO(machine.name << ": " << name);
      const auto setting = std::find_if(preset->settings.begin(), preset->settings.end(),
                                        [&](const auto& s) { return s.first == name; });
      REQUIRE(setting != preset->settings.end());
      CHECK(setting->second == machine.text_of(number, number.value));
    }
  }
}
