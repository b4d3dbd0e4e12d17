// Other tenants beside a collective, as results, lists, waves and accounts show them.
#include <catch2/catch.hpp>

#include <cstddef>
#include <sstream>
#include <string>

#include "cli_test_support.h"

using Catch::Matchers::Contains;
using namespace espalier;
using test::Json;
using test::Outcome;
using test::TemporaryFolder;

namespace {

std::string beside(const std::string& fidelity) {
  return "system:\n"
         "  topology: {type: data_center, nodes: 6, pods: 2, racks_per_pod: 2, hosts_per_rack: 4,\n"
         "             rack_uplinks: 2, aggregation_link: {latency: 30ns, bandwidth: 8GB/s}}\n"
         "  link: {latency: 20ns}\n"
         "collective: {algorithm: multitree, size: 48KiB}\n"
         "tenants: {flows: 8, message: 3KiB, rate: 2GB/s, on_time: 4us, off_time: 2us}\n"
         "simulation: {fidelity: " +
         fidelity + "}\n";
}

std::size_t lines_with(const std::string& text, const std::string& word) {
  std::istringstream lines(text);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(word) != std::string::npos) ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("A result with other tenants has their loads and latency apart from those of the job") {
  const TemporaryFolder folder;
  Json tenants[2];
  for (const char* fidelity : {"train", "cycle"}) {
    const std::string file = folder.write("beside.yaml", beside(fidelity));
    const Json result = test::run_to_json({file}).at("results").at(0);
    CHECK(result.at("verified") == true);
    CHECK(result.at("certified") == true);
    CHECK(result.at("messages") == 6 * 10);
    CHECK(result.at("oversubscription").at("rack") == 4);
    CHECK(result.at("oversubscription").at("aggregation") == 2. * 2 * 8 / 16);
    const Json& t = result.at("tenants");
    CHECK(t.at("flows") == 8);
    CHECK(t.at("bytes").get<std::size_t>() == 3072 * t.at("messages").get<std::size_t>());
    CHECK(t.at("accepted_load").get<double>() > 0);
    CHECK(t.at("accepted_load").get<double>() <= t.at("offered_load").get<double>());
    CHECK(t.at("offered_load").get<double>() ==
          Approx(t.at("offered_GBps").get<double>() / (4 * 2 * 8)));
    CHECK(t.at("latency_mean_cycles").get<double>() > 3072 / 8);
    tenants[fidelity[0] == 'c' ? 0 : 1] = t;
  }
  CHECK(tenants[0] == tenants[1]);
}

TEST_CASE("A list of messages tells other tenants' from the job's, the same in both fidelities") {
  const TemporaryFolder folder;
  std::string lists[2];
  for (const char* fidelity : {"train", "cycle"}) {
    const std::string file = folder.write("beside.yaml", beside(fidelity));
    const Json result =
        test::run_to_json({file, "--messages", folder.file("list.csv")}).at("results").at(0);
    const std::string list = test::read_text(folder.file("list.csv"));
    CHECK(lines_with(list, ",tenant,") == result.at("tenants").at("messages").get<std::size_t>());
    CHECK(lines_with(list, ",control,") == 0);
    CHECK_THAT(list, Contains(",tor_"));
    lists[fidelity[0] == 'c' ? 0 : 1] = list;
  }
  CHECK(lists[0] == lists[1]);
}

TEST_CASE("Waves, timelines and explain work for a run with other tenants") {
  const TemporaryFolder folder;
  const std::string file = folder.write("beside.yaml", beside("auto"));
  const Outcome waves = test::espalier({"run", file, "--waves", folder.file("run.vcd")});
  CHECK(waves.exit_code == 0);
  const Outcome timeline = test::espalier({"run", file, "--timeline", folder.file("run.json")});
  CHECK(timeline.exit_code == 0);
  CHECK_THAT(test::read_text(folder.file("run.json")), Contains("ten_tor_0"));
  const Outcome account = test::espalier({"run", file, "--explain"});
  CHECK(account.exit_code == 0);
  CHECK_THAT(account.out + account.err, Contains("cycles"));
}
