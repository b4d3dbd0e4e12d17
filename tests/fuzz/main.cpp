// fidelity_fuzz: random systems, each simulated in both fidelities. Equal to the cycle, or a small
// configuration that shows the difference.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <exception>
#include <systemc>

#include "campaign.h"
#include "host_jobs.h"
#include "hw/clock/clock_domain.h"
#include "replay.h"

namespace {

using namespace espalier::fuzz;

int run(int argc, char** argv) {
  CLI::App app{
      "Random systems, simulated in fidelity train and in fidelity cycle: every message must be\n"
      "delivered in the same cycle. A failing case is shrunk and written as a configuration.\n"
      "Exit codes: 0 all equal, 1 a difference, 2 usage error."};
  CampaignOptions options;
  options.out = "fuzz_failures";
  app.add_option("--cases", options.cases, "how many")->capture_default_str();
  app.add_option("--seed", options.seed, "of all cases")->capture_default_str();
  CLI::Option* only = app.add_option("--first", options.first, "begin at this case of the seed")
                          ->type_name("K")
                          ->capture_default_str();
  app.add_option("--minutes", options.minutes, "stop after this time (0: after all cases)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("-j,--jobs", options.jobs, "processes")->check(CLI::Range(1, 64));
  app.add_option("--failures", options.failures, "stop after so many failing cases")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--shrink", options.shrink_tries, "most attempts to make a failing case smaller")
      ->capture_default_str();
  app.add_option("--out", options.out, "folder for failing cases")
      ->type_name("FOLDER")
      ->capture_default_str();
  std::vector<std::filesystem::path> folders;
  app.add_option("--replay", folders, "run the configurations in these folders instead")
      ->type_name("FOLDER")
      ->check(CLI::ExistingDirectory);
  bool hosts = false;
  app.add_flag("--hosts", hosts, "random jobs of several groups of ranks, instead of single runs");
  std::vector<std::string> change;
  app.add_option("--change", change,
                 "compare with this setting instead of with fidelity train, to see the fuzzer find "
                 "something: system.ni.delivery_cycles=9")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  // `--first 12` alone means that one case.
  if (only->count() != 0 && app.get_option("--cases")->count() == 0) options.cases = 1;
  if (!change.empty()) {
    options.variants.subject = options.variants.reference;
    for (const std::string& setting : change) options.variants.subject.push_back(setting);
  }
  if (hosts) return run_host_jobs(options) ? 0 : 1;
  const bool good = folders.empty() ? run_campaign(options) : replay(folders, options.variants);
  return good ? 0 : 1;
}

}  // namespace

int sc_main(int argc, char** argv) {
  espalier::prepare_kernel();
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "fidelity_fuzz: {}\n", error.what());
    return 1;
  }
}

int main(int argc, char** argv) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  return sc_core::sc_elab_and_sim(argc, argv);
}
