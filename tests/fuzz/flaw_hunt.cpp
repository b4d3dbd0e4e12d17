// How good is the fuzzer? Flaws that trains once had are put back, one by one, and each must be
// found. The train engine in this program is compiled with ESPALIER_TRAIN_FLAWS.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <systemc>
#include <utility>

#include "case_generator.h"
#include "failure_report.h"
#include "flowctl/train/train_flaws.h"
#include "hw/clock/clock_domain.h"
#include "sims/process/work_folder.h"

namespace espalier {

namespace {

// Simulations run in child processes, which inherit it.
TrainFlaw& flaw_in_force() {
  static TrainFlaw flaw = TrainFlaw::none;
  return flaw;
}

}  // namespace

bool has_flaw(TrainFlaw flaw) { return flaw == flaw_in_force(); }

namespace fuzz {
namespace {

struct NamedFlaw {
  TrainFlaw flaw;
  const char* name;
};

constexpr NamedFlaw kFlaws[] = {
    {TrainFlaw::deliver_promised_tail, "deliver_promised_tail"},
    {TrainFlaw::no_retry_of_unmatched, "no_retry_of_unmatched"},
    {TrainFlaw::release_planned_only, "release_planned_only"},
    {TrainFlaw::output_waiter_ignored, "output_waiter_ignored"},
    {TrainFlaw::shared_input_waiter_ignored, "shared_input_waiter_ignored"},
    {TrainFlaw::keep_exhausted_segment, "keep_exhausted_segment"},
    {TrainFlaw::credit_cut_unnoticed, "credit_cut_unnoticed"},
    {TrainFlaw::lazy_end_unnoticed, "lazy_end_unnoticed"},
    {TrainFlaw::phase_ignored, "phase_ignored"},
    {TrainFlaw::credits_never_short, "credits_never_short"},
    {TrainFlaw::tail_waiter_ignored, "tail_waiter_ignored"},
    {TrainFlaw::vc_choice_skipped, "vc_choice_skipped"},
    {TrainFlaw::rounding_forgotten, "rounding_forgotten"},
    {TrainFlaw::early_credits_ignored, "early_credits_ignored"},
    {TrainFlaw::late_data_ignored, "late_data_ignored"},
    {TrainFlaw::late_credits_ignored, "late_credits_ignored"},
    {TrainFlaw::gap_hidden, "gap_hidden"},
    {TrainFlaw::lost_start_kept, "lost_start_kept"},
    {TrainFlaw::short_packet_in_step, "short_packet_in_step"},
    {TrainFlaw::gaps_not_told, "gaps_not_told"},
    {TrainFlaw::late_pattern_credits_ignored, "late_pattern_credits_ignored"},
    {TrainFlaw::pattern_without_reason, "pattern_without_reason"},
    {TrainFlaw::resumed_start_held, "resumed_start_held"},
    {TrainFlaw::idle_grant_assumed, "idle_grant_assumed"},
    {TrainFlaw::seekers_unseen, "seekers_unseen"},
    {TrainFlaw::sought_too_early, "sought_too_early"},
    {TrainFlaw::cut_data_stay_sure, "cut_data_stay_sure"},
    {TrainFlaw::cut_credits_stay_sure, "cut_credits_stay_sure"},
    {TrainFlaw::cut_forgets_ready, "cut_forgets_ready"},
    {TrainFlaw::parked_for_good, "parked_for_good"},
    {TrainFlaw::uneven_told_as_even, "uneven_told_as_even"},
};

struct HuntOptions {
  std::uint64_t seed = 1;
  std::uint64_t cases = 3000;
  std::string only;  // a flaw's name; empty: all
};

// The first case that shows the flaw.
std::optional<std::uint64_t> find(TrainFlaw flaw, const HuntOptions& options,
                                  const std::filesystem::path& scratch) {
  flaw_in_force() = flaw;
  for (std::uint64_t number = 0; number < options.cases; ++number) {
    const FuzzCase fuzz_case = draw_case(options.seed, number);
    if (compare_case(fuzz_case, {}, scratch).kind == Verdict::Kind::different) return number;
  }
  return std::nullopt;
}

bool hunt(const HuntOptions& options) {
  const WorkFolder scratch;
  bool all_found = true;
  for (const NamedFlaw& flaw : kFlaws) {
    if (!options.only.empty() && options.only != flaw.name) continue;
    const auto number = find(flaw.flaw, options, scratch.path());
    fmt::print("{:<28} {}\n", flaw.name,
               number ? fmt::format("case {}", *number) : std::string("NOT FOUND"));
    std::fflush(stdout);
    all_found &= number.has_value();
  }
  return all_found;
}

int run(int argc, char** argv) {
  CLI::App app{
      "Puts known flaws into fidelity train and looks for a case that shows each of them.\n"
      "Exit codes: 0 all found, 1 not all, 2 usage error."};
  HuntOptions options;
  std::vector<std::string> names;
  for (const NamedFlaw& flaw : kFlaws) names.emplace_back(flaw.name);
  app.add_option("--seed", options.seed, "of all cases")->capture_default_str();
  app.add_option("--cases", options.cases, "most cases for each flaw")->capture_default_str();
  app.add_option("--flaw", options.only, "this one only")->check(CLI::IsMember(names));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return hunt(options) ? 0 : 1;
}

}  // namespace
}  // namespace fuzz
}  // namespace espalier

int sc_main(int argc, char** argv) {
  espalier::prepare_kernel();
  try {
    return espalier::fuzz::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "flaw_hunt: {}\n", error.what());
    return 1;
  }
}

int main(int argc, char** argv) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  return sc_core::sc_elab_and_sim(argc, argv);
}
