// Latency against load: which loads to simulate for each design, the tables, and the outputs.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "flowctl/framing.h"
#include "sims/cli/commands.h"
#include "sims/cli/input.h"
#include "sims/cli/output.h"
#include "sims/cli/result_table.h"
#include "sims/cli/results_document.h"
#include "sims/cli/version.h"
#include "sims/config/resolved.h"
#include "sims/experiment/result_fields.h"
#include "sims/model/idle_times.h"
#include "sims/page/config_differences.h"
#include "sims/point/enum_names.h"
#include "sims/point/fidelity.h"
#include "sims/study/load_curve.h"
#include "sims/study/run_store.h"
#include "sims/study/study.h"
#include "sims/text/people.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kMostLoad = 64;  // what traffic.injection_rate permits
constexpr double kLeastLoad =
    1e-4;  // smaller ones are written with an exponent, which no key takes
constexpr double kFewestMessages = 100;

struct LoadRun {
  double load;
  RunPoint point;
  WorkerReport report;
};

// One network with its traffic, at several loads.
struct LoadedDesign {
  const Input* input;
  RunPoint point;
  std::string name;
  LoadCurve curve;
  std::vector<LoadRun> runs;  // in the order in which they ended, then ascending in load
};

double most_load(const RunPoint& point) {
  const TrafficConfig& traffic = *point.traffic;
  if (traffic.burst_messages != 0) return 0.99;  // a burst is one flit per cycle
  const Framing framing(framing_spec(point.system), traffic.message_bytes);
  return std::min(kMostLoad, static_cast<double>(framing.flits()));
}

// At this load a window has kFewestMessages on the average.
double least_load(const RunPoint& point, const Topology& topology) {
  const TrafficConfig& traffic = *point.traffic;
  const Framing framing(framing_spec(point.system), traffic.message_bytes);
  const double node_cycles =
      static_cast<double>(traffic.measure_cycles) * static_cast<double>(topology.num_nodes());
  return std::max(kLeastLoad, kFewestMessages * static_cast<double>(framing.flits()) / node_cycles);
}

// Names designs by their files if there are several, and by the settings in which the designs of a
// file differ.
std::vector<std::string> design_names(const std::vector<Input>& inputs) {
  std::map<std::string, std::vector<RunPoint>> of_file;
  for (const auto& [input, point] : all_points(inputs)) of_file[input->path].push_back(*point);
  std::map<std::string, std::vector<Json>> settings_of_file;
  for (const auto& [path, points] : of_file) {
    settings_of_file[path] = settings_that_differ(points, points.front().system.topology.folder);
  }
  std::vector<std::string> names;
  std::map<std::string, std::size_t> next;
  for (const auto& [input, point] : all_points(inputs)) {
    std::vector<std::string> settings;
    for (const auto& [key, value] : settings_of_file[input->path][next[input->path]++].items()) {
      if (value.is_null()) continue;
      settings.push_back(
          fmt::format("{} {}", key.substr(key.rfind('.') + 1), report::value_text(value)));
    }
    const std::string words = fmt::format("{}", fmt::join(settings, ", "));
    names.push_back(words.empty()         ? input->path
                    : of_file.size() == 1 ? words
                                          : fmt::format("{}: {}", input->path, words));
  }
  return names;
}

std::optional<std::vector<double>> parse_loads(const std::string& list) {
  std::vector<double> loads;
  std::size_t at = 0;
  while (at <= list.size() && !list.empty()) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string word = list.substr(at, end - at);
    char* rest = nullptr;
    const double load = std::strtod(word.c_str(), &rest);
    if (word.empty() || *rest != '\0' || !(load >= kLeastLoad) || load > kMostLoad) {
      tell(stderr,
           "--loads {}: error: '{}' is not a load in flits per node and cycle, from {} to "
           "{}\nhint: for example --loads 0.05,0.1,0.2,0.3\n",
           list, word, kLeastLoad, kMostLoad);
      return std::nullopt;
    }
    loads.push_back(load);
    at = end + 1;
  }
  return loads;
}

bool is_drawn_traffic(const Input& input) {
  const RunPoint& point = input.points.front();
  if (point.traffic && point.traffic->is_drawn()) return true;
  tell(stderr,
       "{}: error: a curve needs drawn traffic{}\nhint: a section such as traffic: "
       "{{pattern: uniform, message: 64B}} in place of the collective\n",
       input.path,
       point.traffic
           ? fmt::format(", but traffic.pattern is {}", espalier::name_of(point.traffic->pattern))
           : "");
  return false;
}

bool is_saturated(const WorkerReport& report) {
  return truth_in(report.result, field::saturated).value_or(false);
}

std::vector<LoadedDesign> designs_of(const std::vector<Input>& inputs,
                                     const std::vector<double>& loads) {
  const std::vector<std::string> names = design_names(inputs);
  std::vector<LoadedDesign> designs;
  for (const auto& [input, point] : all_points(inputs)) {
    designs.push_back({input,
                       *point,
                       names[designs.size()],
                       LoadCurve(loads, least_load(*point, *input->topology), most_load(*point),
                                 point->traffic->is_closed_loop()),
                       {}});
  }
  return designs;
}

RunPoint at_load(const RunPoint& point, double load) {
  RunPoint loaded = point;
  loaded.traffic->injection_rate = load;
  loaded.simulation.fidelity = chosen_fidelity(loaded);
  return loaded;
}

// Simulates the next loads of all designs. Returns the signal that stopped the simulations, or 0.
int simulate_next(std::vector<LoadedDesign>& designs, unsigned jobs, RunStore* store, bool& ended,
                  bool& failed) {
  std::vector<std::pair<LoadedDesign*, LoadRun>> runs;
  std::vector<StudyPoint> study;
  for (LoadedDesign& design : designs) {
    for (const double load : design.curve.next()) {
      runs.push_back({&design, {load, at_load(design.point, load), {}}});
      study.push_back(study_point(runs.back().second.point));
    }
  }
  ended = runs.empty();
  WorkerBatch batch;
  batch.finished = [&](std::size_t i, const WorkerReport& report) {
    auto& [design, run] = runs[i];
    if (!report.failure.empty()) {
      failed = true;
      tell(stderr, "{}: error: load {:g}: {}\n", design->name, run.load, report.failure);
    }
    design->curve.add(run.load, is_saturated(report));
    run.report = report;
    Json& result = run.report.result;
    if (result.is_null()) result = not_run(report.failure).result;  // the worker left none
    design->runs.push_back(std::move(run));
    return !failed;
  };
  return run_points(study, every_one(study.size()), jobs, batch, Shown::on_terminals, store);
}

std::string end_text(const LoadedDesign& design) {
  if (design.point.traffic->is_closed_loop()) {
    double most = 0;
    for (const LoadRun& run : design.runs) {
      const auto accepted = number_in(run.report.result, field::accepted_flits_per_node_cycle);
      most = std::max(most, accepted.value_or(0));
    }
    return fmt::format(
        "closed loop, with at most {} requests of a node outstanding: the network accepts up to "
        "{:.4g} flits per node and cycle",
        design.point.traffic->outstanding, most);
  }
  if (design.point.traffic->warmup_cycles == 0) {
    return "saturation is not judged without traffic.warmup_cycles";
  }
  if (const auto load = design.curve.saturation()) {
    return fmt::format("saturates above {:g} flits per node and cycle", *load);
  }
  const bool all = !design.runs.empty() && is_saturated(design.runs.front().report);
  return fmt::format(all ? "saturates below {:g} flits per node and cycle"
                         : "does not saturate up to {:g} flits per node and cycle",
                     all ? design.runs.front().load : design.runs.back().load);
}

std::string design_text(const LoadedDesign& design) {
  std::vector<Json> results;
  for (const LoadRun& run : design.runs) {
    if (text_in(run.report.result, field::topology)) results.push_back(run.report.result);
  }
  if (results.empty()) return {};
  const Json& first = results.front();
  return fmt::format(
      "{} ({}, {}, {} B)\n{}latency in cycles at {}; load in flits per node and "
      "cycle\n{}\n\n",
      design.name, text_in(first, field::topology).value(), text_in(first, field::traffic).value(),
      find_field(first, field::message_bytes)->dump(),
      table_text(columns_of("latency", results), results),
      resolved_json(design.point).at("system").at("router").at("clock").get<std::string>(),
      end_text(design));
}

// The inputs that have runs, with a point for each run.
std::vector<Input> inputs_of_runs(const std::vector<Input>& inputs,
                                  const std::vector<LoadedDesign>& designs) {
  std::vector<Input> with_runs;
  for (const Input& input : inputs) {
    Input copy = input;
    copy.points.clear();
    for (const LoadedDesign& design : designs) {
      if (design.input != &input) continue;
      for (const LoadRun& run : design.runs) copy.points.push_back(run.point);
    }
    if (!copy.points.empty()) with_runs.push_back(std::move(copy));
  }
  return with_runs;
}

bool write_outputs(const LatencyOptions& options, const std::vector<LoadedDesign>& designs,
                   const std::vector<Input>& inputs) {
  const std::vector<Input> runs = inputs_of_runs(inputs, designs);
  const std::vector<std::string> words =
      command_words("latency", options.configs, options.overrides, {{"--loads", options.loads}});
  std::vector<Json> results;
  Json curves = Json::array();
  for (const LoadedDesign& design : designs) {
    const auto load = design.curve.saturation();
    Json curve{{"name", design.name},
               {"saturation_flits_per_node_cycle", load ? Json(*load) : Json()},
               {"results", Json::array()}};
    for (const LoadRun& run : design.runs) {
      curve["results"].push_back(results.size());
      results.push_back(run.report.result);
    }
    curves.push_back(std::move(curve));
  }
  // The designs with the indices of their results.
  const Json more{{"designs", std::move(curves)}};
  bool written = write_results(options.json, options.csv, words, runs, results, more);
  if (!options.page.empty()) {
    const std::string title = options.title.empty() ? "Latency against load" : options.title;
    written &= write_page(options.page, title, words, runs, results, more);
  }
  return written;
}

}  // namespace

int latency_command(const LatencyOptions& options) {
  const auto loads = parse_loads(options.loads);
  if (!loads) return kUsageError;
  const auto designs = listed_systems(options.overrides);
  if (!designs) return kUsageError;
  std::vector<Input> inputs;
  for (const std::string& config : options.configs) {
    for (const ListedSystem& design : *designs) {
      auto input = load_inputs({config}, design.overrides, ConfigNeed::traffic);
      if (!input) return kUsageError;
      if (!is_drawn_traffic(input->front())) return kUsageError;
      inputs.push_back(std::move(input->front()));
    }
  }
  for (const Input& input : inputs) {
    for (const RunPoint& point : input.points) {
      const double most = most_load(point);
      const auto above =
          std::find_if(loads->begin(), loads->end(), [most](double load) { return load > most; });
      if (above == loads->end()) continue;
      tell(stderr,
           "--loads {}: error: the sources of {} generate at most {:g} flits per node and "
           "cycle\n",
           options.loads, input.path, most);
      return kUsageError;
    }
  }
  if (!can_write({{"--json", options.json}, {"--csv", options.csv}, {"--output", options.page}},
                 files_of(inputs)))
    return kUsageError;
  std::vector<std::string> resume =
      command_words("latency", options.configs, options.overrides,
                    {{"--loads", options.loads},
                     {"--json", options.json},
                     {"--csv", options.csv},
                     {"--output", options.page},
                     {"--title", options.title},
                     {"-j", options.jobs == 0 ? "" : std::to_string(options.jobs)}});
  resume.emplace_back("--resume");
  RunStore store(first_file({options.json, options.csv, options.page}), options.resume,
                 PointOrigin{shell_line(resume), kVersion});
  if (say_mistake({store.mistake(), store.begin({})})) return kUsageError;
  std::vector<LoadedDesign> loaded = designs_of(inputs, *loads);
  int signal = 0;
  bool failed = false;
  for (bool ended = false; !ended && !failed && signal == 0;) {
    signal = simulate_next(loaded, options.jobs, &store, ended, failed);
  }
  for (LoadedDesign& design : loaded) {
    std::sort(design.runs.begin(), design.runs.end(),
              [](const LoadRun& a, const LoadRun& b) { return a.load < b.load; });
  }
  const bool stdout_is_taken = options.json == "-" || options.csv == "-" || options.page == "-";
  for (const LoadedDesign& design : loaded) {
    tell(stdout_is_taken ? stderr : stdout, "{}", design_text(design));
  }
  if (signal != 0) {
    store.say_stop(
        fmt::format("stopped by {}; the curves are incomplete; the finished loads are printed",
                    signal_name(signal)),
        "; with --json FILE, latency keeps them and --resume continues");
    return exit_code_of_signal(signal);
  }
  if (!write_outputs(options, loaded, inputs)) {
    store.say_unwritten();
    return kUsageError;
  }
  store.end(!failed);
  return failed ? kCheckFailed : kGood;
}

}  // namespace espalier
