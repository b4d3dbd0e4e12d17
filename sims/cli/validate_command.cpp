// espalier validate silicon: our times beside times that others have measured on real machines.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "sims/cli/commands.h"
#include "sims/cli/output.h"
#include "sims/experiment/workers.h"
#include "sims/silicon/silicon_fit.h"
#include "sims/silicon/silicon_runs.h"
#include "sims/silicon/validation.h"
#include "sims/text/read_file.h"

namespace espalier {

namespace {

constexpr std::size_t kWorst = 8;

std::string size_text(Bytes size) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB"};
  double value = static_cast<double>(size);
  std::size_t unit = 0;
  for (; value >= 1023.5 && unit + 1 < std::size(units); value /= 1024) ++unit;
  return fmt::format("{:.4g} {}", value, units[unit]);
}

std::string percent(double factor) { return fmt::format("{:+.1f} %", 100 * (factor - 1)); }

std::string case_name(const ComparedCase& c) {
  std::string name = to_string(c.measured.op);
  if (!c.measured.nccl.empty()) name += ", NCCL " + c.measured.nccl;
  if (!c.measured.site.empty()) name += ", " + c.measured.site;
  if (!c.measured.setting.empty()) name += " " + c.measured.setting;
  if (!c.measured.kernel.empty()) name += ", kernel " + c.measured.kernel;
  return name;
}

std::optional<std::vector<MeasuredRow>> read_rows(const std::vector<std::string>& files) {
  std::vector<MeasuredRow> rows;
  for (const std::string& path : files) {
    const FileText file = read_file_text(path);
    if (!file.text) {
      fmt::print(stderr, "{}: error: {}\n", path, file.problem);
      return std::nullopt;
    }
    Diagnostics diagnostics;
    const auto read = parse_measured_rows(path, *file.text, diagnostics);
    fmt::print(stderr, "{}", diagnostics.text());
    if (!read) return std::nullopt;
    rows.insert(rows.end(), read->begin(), read->end());
  }
  return rows;
}

void print_cases(const std::vector<ComparedCase>& cases, const SiliconMachine& machine) {
  fmt::print("{}, preset {}\n", machine.name, machine.preset);
  fmt::print("  {:<36} {:>10}   {:>11} {:>11} {:>9} {:>5} {:>11}  {}\n", "operation", "size",
             "ours us", "measured us", "error", "rows", "spread", "simulated as");
  for (const ComparedCase& c : cases) {
    if (c.machine != &machine) continue;
    const std::string spread =
        fmt::format("{:.2f}x", c.microseconds.back() / c.microseconds.front());
    fmt::print("  {:<36} {:>10} {} {:>11} {:>11.1f} {:>9} {:>5} {:>11}  {}\n", case_name(c),
               size_text(c.measured.size), c.fitted ? "f" : " ",
               c.failure.empty() ? fmt::format("{:.1f}", c.ours) : "-", c.median(),
               c.failure.empty() ? percent(c.ours / c.median()) : "-", c.microseconds.size(),
               spread, c.failure.empty() ? c.how : "not simulated");
  }
}

struct GroupError {
  ErrorMean fitted;
  ErrorMean rest;
};

std::string error_text(const ErrorMean& mean) {
  if (mean.count() == 0) return "-";
  return fmt::format("{:.1f} % of {}", 100 * mean.error(), mean.count());
}

void add(GroupError& group, const ComparedCase& c) {
  if (!c.failure.empty()) return;
  for (const double measured : c.microseconds) {
    (c.fitted ? group.fitted : group.rest).add(c.ours, measured);
  }
}

// One line for each machine, operation and range of sizes, and one for all operations.
void print_summary(const std::vector<ComparedCase>& cases) {
  fmt::print(
      "\n| machine | operation | sizes | fitted third | the rest |\n|---|---|---|---|---|\n");
  for (const SiliconMachine& machine : silicon_machines()) {
    for (const bool small : {false, true}) {
      GroupError all;
      std::vector<std::pair<std::string, GroupError>> by_op;
      for (const ComparedCase& c : cases) {
        if (c.machine != &machine || (c.measured.size < kSmallRows) != small) continue;
        const std::string op = to_string(c.measured.op);
        if (by_op.empty() || by_op.back().first != op) by_op.emplace_back(op, GroupError{});
        add(by_op.back().second, c);
        add(all, c);
      }
      if (by_op.empty()) continue;
      by_op.emplace_back("all", all);
      for (const auto& [op, group] : by_op) {
        fmt::print("| {} | {} | {} | {} | {} |\n", machine.name, op,
                   small ? "below 1 MiB" : "1 MiB and more", error_text(group.fitted),
                   error_text(group.rest));
      }
    }
  }
}

void print_numbers(const SiliconMachine& machine) {
  for (const FittedNumber& number : machine.given) {
    const std::string kind =
        number.from == nullptr ? "assumed" : fmt::format("of the fit of {}", number.from);
    fmt::print("  {}: {} = {} ({})\n", kind, number.name, machine.text_of(number, number.value),
               number.meaning);
  }
  for (const FittedNumber& number : machine.fitted) {
    fmt::print("  calibrated: {} = {} ({})\n", number.name, machine.text_of(number, number.value),
               number.meaning);
  }
}

void print_worst(std::vector<ComparedCase> cases) {
  const auto error_of = [](const ComparedCase& c) {
    return c.failure.empty() ? std::abs(std::log(c.ours / c.median())) : 0;
  };
  std::stable_sort(cases.begin(), cases.end(), [&](const ComparedCase& a, const ComparedCase& b) {
    return error_of(a) > error_of(b);
  });
  fmt::print("\nworst cases\n");
  for (std::size_t i = 0; i < std::min(cases.size(), kWorst); ++i) {
    const ComparedCase& c = cases[i];
    if (!c.failure.empty()) continue;
    fmt::print("  {}, {}, {}: {} ({})\n", c.machine->name, case_name(c), size_text(c.measured.size),
               percent(c.ours / c.median()), c.how);
  }
}

void print_apart(const std::vector<ApartRows>& apart) {
  if (apart.empty()) return;
  fmt::print("\nrows apart, which are not simulated\n");
  for (const ApartRows& rows : apart) {
    fmt::print("  {} rows of {}: {}\n", rows.rows, rows.machine, rows.why);
  }
}

bool write_csv(const std::string& path, const std::vector<ComparedCase>& cases) {
  std::string text =
      "machine,op,nccl,site,setting,kernel,size_bytes,fitted,ours_us,measured_us,rows,error,"
      "simulated_as\n";
  for (const ComparedCase& c : cases) {
    if (!c.failure.empty()) continue;
    text += fmt::format("\"{}\",{},{},{},{},{},{},{},{:.3f},{:.3f},{},{:.4f},\"{}\"\n",
                        c.machine->name, to_string(c.measured.op), c.measured.nccl, c.measured.site,
                        c.measured.setting, c.measured.kernel, c.measured.size, c.fitted ? 1 : 0,
                        c.ours, c.median(), c.microseconds.size(), c.ours / c.median() - 1, c.how);
  }
  return write_text(path, text);
}

int stopped(int signal) {
  fmt::print(stderr, "stopped by {}\n", signal_name(signal));
  return exit_code_of_signal(signal);
}

int fit(const std::vector<ComparedCase>& cases, SiliconRuns& runs) {
  for (const SiliconMachine& machine : silicon_machines()) {
    const bool has_rows = std::any_of(cases.begin(), cases.end(), [&](const ComparedCase& c) {
      return c.machine == &machine && c.fitted;
    });
    if (!has_rows) continue;
    const auto fitted = fit_machine(machine, cases, runs);
    if (!fitted) return stopped(runs.signal());
    fmt::print("{}: error on the fitted rows {:.2f} %, at the start {:.2f} %\n", machine.name,
               100 * fitted->error_after, 100 * fitted->error_before);
    for (const FittedNumber& number : machine.fitted) {
      fmt::print("  {} = {}, in the program {} ({})\n", number.name,
                 machine.text_of(number, fitted->numbers.at(number.name)),
                 machine.text_of(number, number.value), number.meaning);
    }
    std::fflush(stdout);
  }
  return kGood;
}

bool is_chosen(const ComparedCase& c, const std::vector<std::string>& machines) {
  return machines.empty() ||
         std::find(machines.begin(), machines.end(), c.machine->name) != machines.end();
}

}  // namespace

std::vector<std::string> silicon_machine_names() {
  std::vector<std::string> names;
  for (const SiliconMachine& machine : silicon_machines()) names.emplace_back(machine.name);
  return names;
}

int validate_silicon_command(const ValidateOptions& options) {
  if (const std::string mistake = output_mistake({{"--csv", options.csv}}, {}); !mistake.empty()) {
    fmt::print(stderr, "{}\n", mistake);
    return kUsageError;
  }
  const auto rows = read_rows(options.data);
  if (!rows) return kUsageError;
  MeasuredCases comparison = cases_of(*rows);
  std::vector<ComparedCase>& cases = comparison.cases;
  cases.erase(
      std::remove_if(cases.begin(), cases.end(),
                     [&](const ComparedCase& c) { return !is_chosen(c, options.machines); }),
      cases.end());
  SiliconRuns runs(options.program, jobs_at_once(options.jobs), options.output);
  if (options.fit) return fit(cases, runs);

  std::vector<CasePlan> plans;
  for (const ComparedCase& c : cases) {
    plans.push_back(plan_case(*c.machine, c.measured, c.machine->numbers()));
  }
  const auto times = runs.times_of(plans);
  if (!times) return stopped(runs.signal());
  bool complete = true;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    cases[i].how = plans[i].how;
    cases[i].ours = (*times)[i].microseconds;
    cases[i].failure = (*times)[i].failure;
    if (cases[i].failure.empty()) continue;
    complete = false;
    fmt::print(stderr, "{}, {}, {}: {}\n", cases[i].machine->name, case_name(cases[i]),
               size_text(cases[i].measured.size), cases[i].failure);
  }
  for (const SiliconMachine& machine : silicon_machines()) {
    const bool has_rows = std::any_of(cases.begin(), cases.end(),
                                      [&](const ComparedCase& c) { return c.machine == &machine; });
    if (!has_rows) continue;
    print_cases(cases, machine);
    print_numbers(machine);
  }
  print_summary(cases);
  print_worst(cases);
  print_apart(comparison.apart);
  fmt::print(
      "\nf: a fitted row (log2 of the size, rounded, is a multiple of 3; on ND v5 every row below "
      "1 MiB).\nError of a group: mean of |log(ours / measured)| over its rows, as a factor. Error "
      "of a line:\nagainst the median of its rows.\n");
  if (!options.csv.empty() && !write_csv(options.csv, cases)) return kUsageError;
  return complete ? kGood : kCheckFailed;
}

}  // namespace espalier
