#include "sims/cli/input.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "sims/config/config_layers.h"
#include "sims/config/keys.h"
#include "sims/config/resolved.h"
#include "sims/formats/networks/network_formats.h"
#include "sims/formats/program/mscclpp.h"
#include "sims/formats/schedule_file.h"
#include "sims/model/build_program.h"
#include "sims/study/axis_values.h"
#include "sims/text/people.h"
#include "sims/text/read_file.h"
#include "sims/text/yaml_loader.h"

namespace espalier {

namespace {

// `good`: the text has warnings only.
void say(Messages messages, const std::string& text, bool good) {
  if (messages == Messages::people || (messages == Messages::errors && !good)) {
    tell(stderr, "{}", text);
  }
}

// Names the algorithms that `all` leaves out.
std::string skipped_note(const std::string& path, const std::vector<SkippedAlgorithm>& skipped) {
  std::vector<std::string> names;
  for (const SkippedAlgorithm& each : skipped) {
    const bool is_new = std::find(names.begin(), names.end(), each.name) == names.end();
    if (!each.is_named && is_new) names.push_back(each.name);
  }
  if (names.empty()) return {};
  return fmt::format(
      "{}: note: collective.algorithm: all leaves out {}, which do not suit; espalier compare "
      "gives the reasons\n",
      path, fmt::join(names, ", "));
}

std::string recognised_note(const std::string& path, const Topology& topology) {
  const std::string& what = topology.shape().recognised;
  if (what.empty()) return {};
  return fmt::format(
      "{}: note: {}; packets take its routes, and system.routing: up_down chooses others\n", path,
      what);
}

// Takes the points and prints the messages.
bool take_config(Input& input, ConfigResult config, Messages messages) {
  say(messages,
      config.diagnostics + (config.ok ? skipped_note(input.path, config.skipped) +
                                            recognised_note(input.path, *config.topology)
                                      : ""),
      config.ok);
  input.points = std::move(config.points);
  input.topology = config.topology;
  input.file_hashes.insert(config.file_hashes.begin(), config.file_hashes.end());
  return config.ok;
}

// NCCL's topologies are XML, too, and some graphs JSON.
bool is_network_file(const std::string& path) {
  const FileText file = read_kept_file(path);
  return file.text && !network_type(*file.text).empty();
}
bool is_program_file(const std::filesystem::path& path) {
  return path.extension() == ".trace" || (path.extension() == ".xml" && !is_network_file(path)) ||
         is_mscclpp_file(path);
}

bool load_config(Input& input, const std::vector<std::string>& overrides, ConfigNeed need,
                 Messages messages, const std::vector<std::string>& programs) {
  if (input.path != "-") {
    ConfigResult config = read_run_config(input.path, overrides, need, programs);
    const auto refused =
        std::find_if(config.skipped.begin(), config.skipped.end(), [&](const auto& skipped) {
          const std::string file = std::filesystem::path(skipped.name).filename().string();
          return std::any_of(programs.begin(), programs.end(), [&](const std::string& program) {
            return std::filesystem::path(program).filename() == file;
          });
        });
    if (config.ok && !programs.empty() && refused != config.skipped.end()) {
      tell(stderr, "{}: error: it does not run on {}: {}\n", refused->name, input.path,
           refused->reason);
      return false;
    }
    return take_config(input, std::move(config), messages);
  }
  input.path = "stdin";
  const FileText file = read_file_bytes("/dev/stdin");
  if (!file.text) {
    tell(stderr, "stdin: error: it {}\n", file.problem);
    return false;
  }
  return take_config(
      input, read_run_config_text(input.path, *file.text, "", overrides, need, programs), messages);
}

// A schedule file holds one all-reduce of all gradients.
bool check_gradients(const Input& input) {
  for (const RunPoint& point : input.points) {
    if (!point.training) continue;
    if (point.coordination) {
      tell(stderr,
           "{}: error: the hosts of a coordinated job choose the sizes of their all-reduces "
           "while they run, but a schedule file has one size\n",
           input.path);
      return false;
    }
    if (point.training->overlap == Overlap::layerwise) {
      tell(stderr,
           "{}: error: the schedule file holds one all-reduce, but training.overlap: "
           "layerwise needs one for each layer\n",
           input.path);
      return false;
    }
    if (point.collective->size != input.tables->size) {
      tell(stderr,
           "{}: error: the schedule's all-reduce has {} B, but the network's gradients have {} B\n",
           input.path, input.tables->size, point.collective->size);
      return false;
    }
  }
  return true;
}

bool load_schedule(Input& input, const std::vector<std::string>& overrides, ConfigNeed need,
                   Messages messages) {
  const auto document = ScheduleDocument::load(input.path, input.file_hashes);
  if (!document.value) {
    tell(stderr, "{}: error: {}\n", document.place_in(input.path), document.error);
    return false;
  }
  for (const std::string& setting : overrides) {
    if (setting.rfind("collective.", 0) != 0) continue;
    tell(stderr,
         "-s {}: error: {} is a finished schedule and cannot be changed; generate another "
         "schedule from a configuration\n",
         setting, input.path);
    return false;
  }
  // JSON is also YAML, so the configuration reader can read the configuration inside the file.
  const std::string folder = std::filesystem::path(input.path).parent_path().string();
  ConfigResult config =
      read_run_config_text(input.path, document.value->config_text(), folder, overrides, need);
  if (!take_config(input, std::move(config), messages)) return false;
  auto tables = document.value->read_tables(*input.topology);
  if (!tables.value) {
    tell(stderr, "{}: error: {}\n", tables.place_in(input.path), tables.error);
    return false;
  }
  input.tables = std::move(tables.value);
  for (RunPoint& point : input.points) point.file_hashes = input.file_hashes;
  return check_gradients(input);
}

bool sets(const std::vector<std::string>& overrides, const std::string& prefix) {
  return std::any_of(overrides.begin(), overrides.end(),
                     [&](const std::string& setting) { return setting.rfind(prefix, 0) == 0; });
}

// Makes a configuration that runs the program in `file`.
std::string config_of_program(const Program& program, const std::string& file, bool on_switch) {
  nlohmann::ordered_json config;
  if (on_switch) {
    config["system"]["topology"] = {{"type", "switch"}, {"nodes", program.num_ranks()}};
  }
  config["collective"] = {{"op", to_string(program.collective)},
                          {"algorithm", "program"},
                          {"program", {{"file", file}}}};
  return config.dump(2);
}

bool load_program_input(Input& input, const std::vector<std::string>& overrides, ConfigNeed need,
                        Messages messages) {
  const std::filesystem::path path(input.path);
  Diagnostics diagnostics;
  const SourceIndex source = diagnostics.add_file(input.path, "");
  ProgramConfig file;
  file.file = input.path;
  const auto program = load_program(file, 0, {source, 0, 0}, diagnostics);
  const bool needs_no_network = need == ConfigNeed::collective || need == ConfigNeed::schedule;
  const bool alone = needs_no_network && overrides.empty();
  // Otherwise the configuration's reader loads the program again and prints its messages.
  if (!program || alone) say(messages, diagnostics.text(), program != nullptr);
  if (!program) return false;
  if (alone) {
    input.program = *program;
    return true;
  }
  const bool on_switch = !sets(overrides, "system.topology.") && !sets(overrides, "system.preset");
  const std::string text = config_of_program(*program, path.filename().string(), on_switch);
  ConfigResult config = read_run_config_text(input.path + " (config)", text,
                                             path.parent_path().string(), overrides, need);
  const bool ok = take_config(input, std::move(config), messages);
  if (!ok && !sets(overrides, "collective.size")) {
    say(messages, "hint: a program's file does not give the size: -s collective.size=16MiB\n", ok);
  }
  if (ok && on_switch) {
    say(messages,
        fmt::format("{}: note: it runs on one switch of {} ports, because no configuration beside "
                    "it gives a network\n",
                    input.path, program->num_ranks()),
        ok);
  }
  return ok;
}

bool is_schedule_file(const std::filesystem::path& path) {
  return path.extension() == ".json" && !is_mscclpp_file(path) && !is_network_file(path);
}
bool is_config_file(const std::string& path) {
  return !is_program_file(path) && !is_schedule_file(path);
}

bool load_input(Input& input, const std::vector<std::string>& overrides, ConfigNeed need,
                Messages messages, const std::vector<std::string>& programs) {
  if (is_program_file(input.path)) return load_program_input(input, overrides, need, messages);
  return is_schedule_file(input.path) ? load_schedule(input, overrides, need, messages)
                                      : load_config(input, overrides, need, messages, programs);
}

}  // namespace

std::optional<std::vector<Input>> load_inputs(const std::vector<std::string>& paths,
                                              const std::vector<std::string>& overrides,
                                              ConfigNeed need, Messages messages) {
  std::vector<std::string> programs;
  std::copy_if(paths.begin(), paths.end(), std::back_inserter(programs), is_program_file);
  const auto configs = std::count_if(paths.begin(), paths.end(), is_config_file);
  if (!programs.empty() && configs > 1) {
    tell(stderr,
         "{}: error: {} configurations beside a program; name one, whose network it takes\n",
         programs.front(), configs);
    return std::nullopt;
  }
  const auto missing = std::find_if(programs.begin(), programs.end(), [](const std::string& file) {
    return !std::filesystem::exists(file);
  });
  if (configs == 1 && missing != programs.end()) {
    tell(stderr, "{}: error: the file does not exist\n", *missing);
    return std::nullopt;
  }
  std::vector<Input> inputs;
  bool ok = true;
  for (const std::string& path : paths) {
    if (configs == 1 && is_program_file(path)) continue;
    Input input;
    input.path = path;
    ok &= load_input(input, overrides, need, messages, programs);
    inputs.push_back(std::move(input));
  }
  if (!ok) return std::nullopt;
  return inputs;
}

bool read_limit(const std::string& text, const char* option, const LimitRange& range,
                std::uint64_t& limit) {
  if (text.empty()) return true;
  const ParsedQuantity parsed = range.parse(text);
  limit = parsed.value.value_or(limit);
  if (parsed.value) return true;
  static_cast<void>(usage_error(fmt::format("{} {}", option, text), parsed.error));
  if (!parsed.hint.empty()) tell(stderr, "hint: {}\n", parsed.hint);
  return false;
}

bool read_time_limit(const std::string& text, WorkerLimits& limits) {
  auto milliseconds = static_cast<std::uint64_t>(limits.time.count());
  const bool good = read_limit(text, "--time-limit", kTimeLimits, milliseconds);
  limits.time = std::chrono::milliseconds(milliseconds);
  return good;
}

std::optional<std::vector<ListedSystem>> listed_systems(const std::vector<std::string>& settings) {
  std::vector<ListedSystem> all(1);
  Diagnostics diagnostics;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    const std::string name = setting.substr(0, equals);
    const Key* key = find_key(name);
    std::optional<ConfigNode> value;
    // A list of lists is one value of collective.groups.
    if (key != nullptr && !key->listable && key->shape.type != ValueType::record &&
        equals != std::string::npos) {
      Diagnostics unheard;  // the reader of the configuration prints what is wrong
      value = load_override_value(setting.substr(equals + 1), diagnostics.add_override(setting),
                                  equals + 1, unheard);
    }
    const auto replaces = [&](const std::string& later) {
      return &later > &setting && later.compare(0, equals + 1, setting, 0, equals + 1) == 0;
    };
    // Of several settings of a key, the last one counts.
    const bool is_list = value && lists_values(*key, *value);
    if (is_list && std::any_of(settings.begin(), settings.end(), replaces)) continue;
    if (!is_list) {
      for (ListedSystem& each : all) each.overrides.push_back(setting);
      continue;
    }
    std::vector<ListedSystem> crossed;
    for (const ListedSystem& before : all) {
      for (const ConfigNode& item : value->items) {
        const std::string text = text_of(json_of(item));
        ListedSystem& one = crossed.emplace_back(before);
        one.overrides.push_back(fmt::format("{}={}", name, text));
        one.words += fmt::format("{}{} {}", one.words.empty() ? "" : ", ",
                                 name.substr(name.rfind('.') + 1), text);
      }
    }
    static_cast<void>(check_axis_values(value->items, *key, false, diagnostics));
    all = std::move(crossed);
  }
  tell(stderr, "{}", diagnostics.text());
  if (diagnostics.num_errors() != 0) return std::nullopt;
  return all;
}

std::vector<PointRef> all_points(const std::vector<Input>& inputs) {
  std::vector<PointRef> points;
  for (const Input& input : inputs) {
    for (const RunPoint& point : input.points) points.push_back({&input, &point});
  }
  return points;
}

std::string how_to_choose_one(const RunPoint& first, const RunPoint& last) {
  const auto other = resolved_json(last).flatten();
  const auto own = resolved_json(first).flatten();
  for (const auto& [pointer, value] : own.items()) {
    if (other.contains(pointer) && other.at(pointer) == value) continue;
    std::string key = pointer.substr(1);
    std::replace(key.begin(), key.end(), '/', '.');
    return fmt::format("choose one with -s, for example -s {}={}", key,
                       value.is_string() ? value.get<std::string>() : value.dump());
  }
  return "choose one with -s";
}

nlohmann::ordered_json resolved_for(const RunPoint& point, const std::filesystem::path& folder) {
  return with_moved_paths(resolved_json(point), point.system.topology.folder, folder);
}

std::vector<CommandFile> files_of(const std::vector<Input>& inputs) {
  std::vector<CommandFile> files;
  for (const Input& input : inputs) {
    if (input.path != "stdin") files.push_back({"configuration file", input.path});
    for (const RunPoint& point : input.points) {
      const std::filesystem::path folder = point.system.topology.folder;
      for (const Key& key : keys()) {
        const bool is_used = key.resolved && has_section_of(point, key) && key.applies_at(point);
        if (!is_used || key.shape.type != ValueType::text) continue;
        const std::string text = key.get(point).text;
        const bool is_word = !key.shape.zero_word.empty() && !is_path(text, key.shape);
        if (text.empty() || is_word) continue;
        files.push_back({"file of " + key.name, (folder / text).string()});
        if (!point.workload || !point.workload->graph || key.name != "workload.file") continue;
        for (std::size_t rank = 0; rank < point.workload->graph->ranks.size(); ++rank) {
          files.push_back({"trace", fmt::format("{}.{}.et", (folder / text).string(), rank)});
        }
      }
    }
  }
  return files;
}

}  // namespace espalier
