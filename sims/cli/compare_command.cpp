// espalier compare: every algorithm that suits a network, ranked by simulated time.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sims/cli/auto_folder.h"
#include "sims/cli/commands.h"
#include "sims/cli/comparison.h"
#include "sims/cli/input.h"
#include "sims/cli/output.h"
#include "sims/cli/results_document.h"
#include "sims/cli/version.h"
#include "sims/formats/program/mscclpp.h"
#include "sims/formats/published_times_file.h"
#include "sims/formats/schedule_file.h"
#include "sims/point/fidelity.h"
#include "sims/study/compared_runs.h"
#include "sims/study/run_store.h"
#include "sims/text/diagnostics.h"
#include "sims/text/people.h"
#include "sims/text/read_file.h"
#include "sims/text/units.h"

namespace espalier {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::nullopt_t no_input(const std::string& path, const std::string& why) {
  tell(stderr, "{}: error: {}\n", path, why);
  return std::nullopt;
}

// The schedule in `path` on the network of `main`, once for each setting that `main` varies.
std::optional<Input> schedule_beside(const std::string& path, const Input& main) {
  Input input;
  input.path = path;
  input.topology = main.topology;
  input.file_hashes = main.file_hashes;
  const auto document = ScheduleDocument::load(path, input.file_hashes);
  if (!document.value) return no_input(document.place_in(path), document.error);
  auto tables = document.value->read_tables(*main.topology);
  if (!tables.value) {
    return no_input(
        tables.place_in(path),
        fmt::format("the schedule does not fit the network of {}: {}", main.path, tables.error));
  }
  input.tables = std::move(tables.value);
  // The points of one schedule generator have each setting once, with the keys of a run of tables.
  const auto runs_tables = [](const RunPoint& point) {
    return find_generator(point.collective->algorithm) != nullptr;
  };
  const auto model = std::find_if(main.points.begin(), main.points.end(), runs_tables);
  if (model == main.points.end()) {
    return no_input(path,
                    fmt::format("no schedule generator is compared in {}; add one, for example "
                                "-s collective.algorithm='[ring, ...]'",
                                main.path));
  }
  if (model->training || model->coordination) {
    return no_input(path, "schedules are not compared in training");
  }
  const std::string name = model->collective->algorithm;
  for (RunPoint point : main.points) {
    CollectiveConfig& collective = *point.collective;
    if (collective.algorithm != name || collective.op != input.tables->op ||
        collective.size != input.tables->size) {
      continue;
    }
    if (find_generator(input.tables->algorithm) != nullptr) {
      collective.algorithm = input.tables->algorithm;
    }
    point.file_hashes = input.file_hashes;
    input.points.push_back(std::move(point));
  }
  if (!input.points.empty()) return input;
  return no_input(path, fmt::format("the schedule is for {} of {} B, which is not compared in {}; "
                                    "generate it again for the operation and size of that "
                                    "configuration",
                                    to_string(input.tables->op), input.tables->size, main.path));
}

// Adds the times in `path`. Returns false after an error.
bool add_published_times(const std::string& path, std::vector<PublishedTime>& times) {
  const FileText file = read_file_text(path);
  if (!file.text) {
    no_input(path, file.problem);
    return false;
  }
  Diagnostics diagnostics;
  const auto read = parse_published_times(path, *file.text, diagnostics);
  tell(stderr, "{}", diagnostics.text());
  if (!read) return false;
  times.insert(times.end(), read->begin(), read->end());
  return true;
}

// Overrides with the sizes; nullopt after an error.
std::optional<std::vector<std::string>> overrides_of(const CompareOptions& options) {
  constexpr std::uint64_t kStep = 4;
  std::vector<std::string> overrides = options.overrides;
  if (options.sizes.empty()) return overrides;
  const auto refuse = [&](const std::string& why) {
    tell(stderr, "--sizes {}: error: {}\nhint: for example --sizes 64KiB,1MiB or 1KiB:4GiB\n",
         options.sizes, why);
    return std::nullopt;
  };
  std::vector<std::uint64_t> sizes;
  for (std::size_t begin = 0; begin <= options.sizes.size();) {
    const std::size_t end =
        std::min(options.sizes.find_first_of(",:", begin), options.sizes.size());
    const std::string word = options.sizes.substr(begin, end - begin);
    begin = end + 1;
    const ParsedQuantity size = parse_quantity(Quantity::size, word);
    if (!size.value || *size.value == 0) return refuse(fmt::format("'{}' is no size", word));
    sizes.push_back(*size.value);
  }
  if (options.sizes.find(':') != std::string::npos) {
    if (sizes.size() != 2 || sizes[0] > sizes[1]) return refuse("it is no range");
    const std::uint64_t last = sizes[1];
    for (sizes.pop_back(); sizes.back() <= last / kStep;) sizes.push_back(sizes.back() * kStep);
    if (sizes.back() != last) sizes.push_back(last);
  }
  overrides.push_back(fmt::format("collective.size=[{}B]", fmt::join(sizes, "B, ")));
  return overrides;
}

std::optional<std::vector<Input>> load(const CompareOptions& options,
                                       std::vector<SkippedAlgorithm>& skipped,
                                       std::vector<PublishedTime>& published) {
  std::vector<std::string> configs{options.config};
  std::vector<std::string> programs;
  std::vector<std::string> schedules;
  for (const std::string& file : options.files) {
    const std::string extension = fs::path(file).extension().string();
    if (extension == ".xml" || extension == ".trace" || is_mscclpp_file(file)) {
      if (!fs::exists(file)) return no_input(file, "the file does not exist");
      programs.push_back(file);
    } else if (extension == ".json") {
      schedules.push_back(file);
    } else if (extension == ".csv") {
      if (!add_published_times(file, published)) return std::nullopt;
    } else if (std::find(configs.begin(), configs.end(), file) != configs.end()) {
      return no_input(file, "the configuration is given twice");
    } else {
      configs.push_back(file);
    }
  }
  const auto overrides = overrides_of(options);
  const auto systems = overrides ? listed_systems(*overrides) : std::nullopt;
  if (!systems) return std::nullopt;
  const bool are_several = configs.size() * systems->size() > 1;
  if (are_several && !schedules.empty()) {
    return no_input(schedules.front(), "a schedule is for one network, but several are compared");
  }
  std::vector<Input> inputs;
  std::set<std::string> said;
  for (const std::string& path : configs) {
    for (const ListedSystem& system : *systems) {
      ConfigResult config = read_comparison(path, system.overrides, programs);
      if (said.insert(config.diagnostics).second) tell(stderr, "{}", config.diagnostics);
      if (!config.ok) return std::nullopt;
      Input& input = inputs.emplace_back();
      input.path = path;
      input.points = std::move(config.points);
      input.topology = config.topology;
      input.file_hashes = std::move(config.file_hashes);
      if (configs.size() > 1) input.system = path;
      if (!system.words.empty()) input.system += (input.system.empty() ? "" : ": ") + system.words;
      for (SkippedAlgorithm& each : config.skipped) {
        if (are_several) each.reason = fmt::format("{}: {}", input.system, each.reason);
        skipped.push_back(std::move(each));
      }
    }
  }
  for (const std::string& file : schedules) {
    auto input = schedule_beside(file, inputs.front());
    if (!input) return std::nullopt;
    inputs.push_back(std::move(*input));
  }
  for (Input& input : inputs) {
    for (RunPoint& point : input.points) point.simulation.fidelity = chosen_fidelity(point);
  }
  return inputs;
}

std::vector<ComparedPoint> compared(const std::vector<Input>& inputs) {
  std::vector<ComparedPoint> points;
  for (const auto& [input, point] : all_points(inputs)) {
    const CollectiveConfig collective = point->collective.value_or(CollectiveConfig{});
    const std::string& program = collective.program.file;
    const std::string name = program.empty() ? collective.algorithm : program;
    const std::string& system = input->system;
    const std::size_t nodes = input->topology->num_nodes();
    if (input->tables) points.push_back({point, input->path, input->path, system, nodes});
    if (!input->tables) {
      points.push_back({point, system.empty() ? name : name + ", " + system, "", system, nodes});
    }
  }
  return points;
}

std::vector<Json> results_of(const std::vector<ComparedPoint>& points) {
  std::vector<Json> results;
  for (const ComparedPoint& point : points) {
    const WorkerReport& report = point.report;
    results.push_back(report.result.is_null() ? not_run(report.failure).result : report.result);
  }
  return results;
}

// For rankings, which show what tells systems apart.
std::vector<Json> with_systems(std::vector<Json> results,
                               const std::vector<ComparedPoint>& points) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!points[i].system.empty()) results[i][kComparedSystem] = points[i].system;
  }
  return results;
}

std::string published_files(const CompareOptions& options) {
  std::vector<std::string> files;
  for (const std::string& file : options.files) {
    if (fs::path(file).extension() == ".csv") files.push_back(file);
  }
  return fmt::format("{}", fmt::join(files, ", "));
}

// The command line with these options behind it.
std::vector<std::string> words_of(
    const CompareOptions& options,
    const std::vector<std::pair<const char*, std::string>>& more = {}) {
  std::vector<std::string> inputs{options.config};
  inputs.insert(inputs.end(), options.files.begin(), options.files.end());
  std::vector<std::pair<const char*, std::string>> all{{"--sizes", options.sizes}};
  all.insert(all.end(), more.begin(), more.end());
  return command_words("compare", inputs, options.overrides, all);
}

// The command that continues an interrupted comparison.
std::string resume_command(const CompareOptions& options) {
  std::vector<std::string> words =
      words_of(options, {{"--output", options.page},
                         {"--json", options.json},
                         {"--csv", options.csv},
                         {"--time-limit", options.time_limit},
                         {"--choices", options.choices},
                         {"-j", options.jobs == 0 ? "" : std::to_string(options.jobs)}});
  if (options.full) words.emplace_back("--full");
  words.emplace_back("--resume");
  return shell_line(words);
}

// Says what is left of a comparison that `signal` stopped: points, or the ranking of the finished.
int stopped(int signal, const std::vector<ComparedPoint>& points, RunStore& store,
            std::FILE* people) {
  std::vector<Json> ranked;
  std::size_t finished = 0;
  std::size_t given_up = 0;
  for (const ComparedPoint& point : points) {
    const bool has_result = point.report.failure.empty() && point.report.result.is_object();
    if (has_result) ranked.push_back(with_systems({point.report.result}, {point}).front());
    if (point.report.stopped) ++given_up;
    if (has_result && !point.report.stopped) ++finished;
  }
  const std::string stop = fmt::format("stopped by {}; {} of {} algorithms are finished{}",
                                       signal_name(signal), finished, points.size(),
                                       given_up == 0 ? "" : fmt::format(", {} given up", given_up));
  const char* const otherwise = finished == 0
                                    ? ""
                                    : ", and their ranking is printed; with --json FILE, compare "
                                      "keeps them and --resume continues";
  if (!store.say_stop(stop, otherwise)) {
    for (const Ranking& ranking : rank_results(ranked)) {
      tell(people, "{}", ranking_text(ranking, ranked));
    }
  }
  return exit_code_of_signal(signal);
}

Json json_of(const std::vector<SkippedAlgorithm>& skipped) {
  Json list = Json::array();
  for (const SkippedAlgorithm& each : skipped) {
    list.push_back({{"algorithm", each.name}, {"reason", each.reason}});
  }
  return list;
}

}  // namespace

int compare_command(const CompareOptions& options) {
  ComparisonSettings settings;
  if (!read_time_limit(options.time_limit, settings.limits)) return kUsageError;
  std::vector<SkippedAlgorithm> skipped;
  std::vector<PublishedTime> published;
  const auto inputs = load(options, skipped, published);
  if (!inputs) return kUsageError;
  std::vector<CommandFile> used = files_of(*inputs);
  for (const std::string& file : options.files) used.push_back({"file that is compared", file});
  if (!can_write({{"--json", options.json}, {"--csv", options.csv}, {"--output", options.page}},
                 used)) {
    return kUsageError;
  }
  const AutoFolder choices(options.choices, *inputs);
  RunStore store(first_file({options.json, options.csv, options.page}), options.resume,
                 PointOrigin{resume_command(options), kVersion});
  if (say_mistake({choices.mistake(), store.mistake(), store.begin({})})) return kUsageError;
  std::vector<ComparedPoint> points = compared(*inputs);
  settings.jobs = options.jobs;
  settings.full = options.full;
  settings.choices = choices.path();
  settings.store = &store;
  const bool stdout_is_taken = options.json == "-" || options.csv == "-" || options.page == "-";
  std::FILE* people = stdout_is_taken ? stderr : stdout;
  int signal = compare_points(points, settings);
  std::vector<Ranking> rankings;
  if (signal == 0) {
    rankings = rank_results(with_systems(results_of(points), points));
    std::vector<std::size_t> best;
    for (const Ranking& ranking : rankings) {
      if (!ranking.order.empty()) best.push_back(ranking.order.front());
    }
    signal = explain_points(points, best, settings);
  }
  if (signal != 0) return stopped(signal, points, store, people);
  std::vector<Json> results = results_of(points);
  if (!published.empty() && !put_beside(published, results)) {
    tell(stderr,
         "{}: warning: no time is for a network, operation and size that is compared here; "
         "the network is called '{}'\n",
         published_files(options), inputs->front().topology->name());
  }
  const std::vector<Json> shown = with_systems(results, points);
  for (const Ranking& ranking : rankings) tell(people, "{}", ranking_text(ranking, shown));
  if (!options.sizes.empty()) tell(people, "{}", crossover_text(rankings, shown));
  bool good = true;
  const bool any_ran = std::any_of(rankings.begin(), rankings.end(),
                                   [](const Ranking& ranking) { return !ranking.order.empty(); });
  for (const ComparedPoint& point : points) {
    const std::string& failure = point.report.failure;
    if (failure.empty() || point.report.stopped) continue;
    // It found no schedule, or none for a group, so it does not suit. An error if no algorithm
    // does.
    const Json& result = point.report.result;
    const bool has_none = !result.is_null() && !result.contains("algorithm");
    if (any_ran && (has_none || point.report.unsuited)) {
      skipped.push_back({point.name, failure});
      continue;
    }
    good = false;
    tell(stderr, "{}: error: {}: {}\n", options.config, point.name, failure);
  }
  tell(people, "{}", skipped_text(skipped));
  Json more{{"rankings", Json::array()}, {"skipped", json_of(skipped)}};
  for (const Ranking& ranking : rankings) more["rankings"].push_back(ranking.order);
  const std::vector<std::string> words = words_of(options);
  bool written = write_results(options.json, options.csv, words, *inputs, results, more);
  if (!options.page.empty()) {
    written &= write_page(options.page, "Comparison", words, *inputs, results, more);
  }
  if (!written) {
    store.say_unwritten();
    return kUsageError;
  }
  store.end(good);
  return good ? kGood : kCheckFailed;
}

}  // namespace espalier
