#include <fmt/format.h>

#include <filesystem>
#include <regex>
#include <set>

#include "sims/experiment/result_register.h"
#include "sims/page/config_differences.h"
#include "sims/page/page.h"
#include "sims/page/text.h"
#include "sims/text/people.h"
#include "sims/text/read_file.h"
#include "sims/text/strict_json.h"
#include "sims/text/whole_file.h"

namespace espalier::report {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// An error in the file that is being read.
struct FileError : std::runtime_error {
  FileError(const std::string& file, const std::string& what)
      : std::runtime_error(fmt::format("{}: error: {}", file, what)) {}
};

std::string read_text(const fs::path& path) {
  FileText file = read_file_text(path.string());
  if (!file.text) throw FileError(path.string(), "the file " + file.problem);
  if (file.text->find_first_not_of(" \t\r\n") == std::string::npos)
    throw FileError(path.string() + ":1:1", "the file is empty");
  return std::move(*file.text);
}

// Calls `read` on the parsed file, and adds the file's name to its errors.
template <class Read>
void read_json(const fs::path& path, const Read& read) {
  const std::string text = read_text(path);
  try {
    const Json root = parse_strict_json(text);
    read(JsonCursor(root));
  } catch (const JsonError& error) {
    const espalier::Place at = error.place(text);
    throw FileError(fmt::format("{}:{}:{}", path.string(), at.line, at.column), error.what());
  }
}

std::string folder_of(const fs::path& file) {
  const fs::path parent = file.parent_path();
  return parent.empty() ? "." : parent.string();
}

using State = ReportPoint::State;

// {0, 1, 0} for "0.1.0" and for "0.1.0+g1234abcd"; empty if the text is not a version.
std::vector<unsigned long> version_numbers(const std::string& with_commit) {
  static const std::regex form("([0-9]{1,8})\\.([0-9]{1,8})\\.([0-9]{1,8})");
  const std::string text = with_commit.substr(0, with_commit.find('+'));
  std::smatch found;
  if (!std::regex_match(text, found, form)) return {};
  return {std::stoul(found[1]), std::stoul(found[2]), std::stoul(found[3])};
}

std::string read_tool(const JsonCursor& tool, const std::string& version) {
  tool.expect_key("name");
  tool.expect_key("version");
  const JsonCursor name = tool.key("name");
  if (name.text() != "espalier") name.fail(fmt::format("\"{}\" is not espalier", name.text()));
  const JsonCursor cursor = tool.key("version");
  const std::vector<unsigned long> numbers = version_numbers(cursor.text());
  if (numbers.empty()) {
    cursor.fail(fmt::format("\"{}\" is not a version; a version has three numbers", cursor.text()));
  }
  if (numbers > version_numbers(version)) {
    cursor.fail(fmt::format("was written by espalier {}, which is newer than this espalier, {}",
                            cursor.text(), version));
  }
  return cursor.text();
}

// Reads a command that is a text or a list of words.
std::string read_command(const JsonCursor& command) {
  if (command.is_null()) return {};
  if (!command.value().is_array()) return command.text();
  std::vector<std::string> words;
  command.for_each([&words](const JsonCursor& word) { words.push_back(word.text()); });
  return shell_line(words);
}

void check_result(const JsonCursor& result) {
  result.expect_object();
  const auto misfit = first_misfit(result.value());
  if (!misfit) return;
  const std::string member = misfit->field.substr(0, misfit->field.find('.'));
  const bool is_inner = member != misfit->field;
  result.key(member.c_str()).fail((is_inner ? misfit->field + ": " : "") + misfit->problem);
}

// A member that matters only if it is a text.
std::string text_if_any(const JsonCursor& object, const char* name) {
  const bool is_given = object.has(name) && object.value().at(name).is_string();
  return is_given ? object.key(name).text() : std::string();
}

// The part of the configuration that the result itself contains, for files without configurations.
Json config_told_by(const Json& result) {
  Json config = Json::object();
  const auto tell = [&](const AnyField& told, const char* key) {
    const Json* value = find_field(result, told);
    if (value != nullptr && !value->is_null()) config[key] = *value;
  };
  tell(field::topology, "system.topology");
  tell(field::flow_control, "system.flow_control.mode");
  tell(field::lockstep, "system.ni.lockstep");
  tell(field::network, "training.network");
  tell(field::op, "collective.op");
  tell(field::algorithm, "collective.algorithm");
  const Json* size = find_field(result, field::size_bytes);
  if (size != nullptr && size->is_number_unsigned())
    config["collective.size"] = bytes_text(size->get<std::uint64_t>());
  return config;
}

void take_result(const JsonCursor& cursor, ReportPoint& point) {
  check_result(cursor);
  const Json& result = cursor.value();
  point.result = result;
  const bool is_good = truth_in(result, field::verified).value_or(false);
  point.state = is_good                                 ? State::verified
                : find_field(result, field::stopped_ns) ? State::stopped
                                                        : State::failed;
  if (!is_good) point.failure = text_in(result, field::failure).value_or("not verified");
  if (const auto hash = text_in(result, field::config_hash); hash && !hash->empty())
    point.config_hash = *hash;
}

Json config_of_point(Json flat, const Json& set) {
  for (const auto& [key, value] : set.items()) {
    if (value.is_null()) {
      flat.erase(key);
    } else {
      flat[key] = value;
    }
  }
  return flat;
}

void read_place(const JsonCursor& place, const std::vector<Json>& configs, ReportPoint& point) {
  place.expect_object();
  place.expect_key("set");
  place.key("set").expect_object();
  const std::size_t index =
      place.has("config") ? place.key("config").integer(0, configs.size() - 1) : 0;
  if (place.has("schedule")) point.schedule_file = place.key("schedule").text();
  point.config = config_of_point(configs[index], place.value().at("set"));
  point.config_is_complete = true;
}

void read_axis_kinds(const JsonCursor& axes, std::map<std::string, bool>& workload_axes) {
  axes.for_each([&workload_axes](const JsonCursor& axis) {
    axis.expect_object();
    if (!axis.has("kind")) return;
    axis.expect_key("key");
    const JsonCursor kind = axis.key("kind");
    if (kind.text() != "workload" && kind.text() != "design")
      kind.fail(fmt::format("\"{}\" is not workload or design", kind.text()));
    workload_axes[axis.key("key").text()] = kind.text() == "workload";
  });
}

std::vector<Json> read_configs(const JsonCursor& cursor) {
  std::vector<Json> configs;
  const auto read = [&configs](const JsonCursor& config) {
    config.expect_object();
    configs.push_back(flatten_config(config.value()));
  };
  if (!cursor.value().is_array()) {
    read(cursor);
    return configs;
  }
  if (cursor.value().empty()) cursor.fail("is empty");
  cursor.for_each(read);
  return configs;
}

// A document of `run --json`. This and the next two functions throw JsonError with the place of a
// mistake.
std::vector<ReportPoint> read_results_document(const JsonCursor& root, const std::string& version,
                                               ReportSource& source) {
  for (const char* key : {"tool", "config", "results"}) root.expect_key(key);
  source.version = read_tool(root.key("tool"), version);
  const std::vector<Json> configs = read_configs(root.key("config"));
  const std::string command = root.has("command") ? read_command(root.key("command")) : "";
  const JsonCursor results = root.key("results");
  const std::size_t count = results.expect_array();
  if (count == 0) results.fail("is empty, because nothing was run");
  const bool has_places = root.has("points");
  if (has_places && root.key("points").expect_array() != count) {
    root.key("points").fail(
        fmt::format("has {} points but {} results; the two numbers must be equal",
                    root.value().at("points").size(), count));
  }
  std::vector<ReportPoint> points(count);
  for (std::size_t i = 0; i < count; ++i) {
    ReportPoint& point = points[i];
    take_result(results.at(i), point);
    point.command = command;
    if (has_places) {
      read_place(root.key("points").at(i), configs, point);
    } else if (count == 1 && configs.size() == 1) {
      point.config = configs.front();
      point.config_is_complete = true;
    } else {
      point.config = config_told_by(point.result);
    }
  }
  return points;
}

// The points of a sweep as missing.
std::vector<ReportPoint> read_manifest(const JsonCursor& root, const std::string& version,
                                       ReportSource& source,
                                       std::map<std::string, bool>& workload_axes) {
  root.expect_key("points");
  if (root.has("tool") && root.key("tool").is_object())
    source.version = read_tool(root.key("tool"), version);
  source.name = text_if_any(root, "sweep");
  source.title = text_if_any(root, "title");
  if (root.has("axes")) read_axis_kinds(root.key("axes"), workload_axes);
  const JsonCursor list = root.key("points");
  if (list.expect_array() == 0) list.fail("is empty, because the sweep has no points");
  std::vector<ReportPoint> points;
  std::set<std::string> ids;
  list.for_each([&](const JsonCursor& entry) {
    ReportPoint& point = points.emplace_back();
    for (const char* key : {"id", "set", "config_hash"}) entry.expect_key(key);
    point.id = entry.key("id").text();
    if (!is_file_name(point.id))
      entry.key("id").fail(fmt::format("\"{}\" is not the id of a point", point.id));
    if (!ids.insert(point.id).second) entry.key("id").fail("is given twice");
    entry.key("set").expect_object();
    point.set = entry.value().at("set");
    point.config = flatten_config(point.set);
    point.config_hash = entry.key("config_hash").text();
  });
  return points;
}

// The result or the failure of a point of a sweep. Throws if the file belongs to another point than
// the manifest says.
void fill_point(const JsonCursor& root, ReportPoint& point) {
  for (const char* key : {"id", "set"}) root.expect_key(key);
  const JsonCursor id = root.key("id");
  if (id.text() != point.id)
    id.fail(fmt::format("\"{}\" is the id in the file of point {}", id.text(), point.id));
  root.key("set").expect_object();
  const Json& value = root.value();
  point.set = value.at("set");
  if (root.has("command")) point.command = read_command(root.key("command"));
  if (root.has("failure")) {
    point.failure = root.key("failure").text();
    if (root.has("kind") && value.at("kind").is_string())
      point.failure = root.key("kind").text() + ": " + point.failure;
    point.state = State::failed;
    if (point.config.is_null()) point.config = flatten_config(point.set);
    return;
  }
  for (const char* key : {"config_hash", "config", "result"}) root.expect_key(key);
  const JsonCursor hash = root.key("config_hash");
  if (hash.text() != point.config_hash) {
    hash.fail(fmt::format("is {}, but {} in the manifest; the file belongs to another sweep",
                          hash.text(), point.config_hash));
  }
  root.key("config").expect_object();
  point.config = flatten_config(value.at("config"));
  point.config_is_complete = true;
  take_result(root.key("result"), point);
  point.config_hash = hash.text();
}

class Reader {
 public:
  Reader(ReportData& data, const std::string& version) : data_(data), version_(version) {}

  void read(const std::string& path) {
    if (fs::is_directory(path)) {
      read_sweep(path);
    } else {
      begin(path, ReportSource::Kind::results);
      read_json(path, [&](const JsonCursor& root) {
        add(read_results_document(root, version_, data_.sources.back()));
      });
    }
  }

 private:
  void begin(const std::string& path, ReportSource::Kind kind) {
    ReportSource source;
    source.path = path;
    source.kind = kind;
    source.folder = kind == ReportSource::Kind::sweep ? path : folder_of(path);
    data_.sources.push_back(source);
  }

  void add(std::vector<ReportPoint> points) {
    for (ReportPoint& point : points) {
      point.source = data_.sources.size() - 1;
      data_.points.push_back(std::move(point));
    }
  }

  void read_sweep(const std::string& path) {
    const fs::path manifest_file = fs::path(path) / "manifest.json";
    if (!fs::exists(manifest_file)) {
      throw FileError(path, "is not the folder of a sweep: it has no manifest.json");
    }
    begin(path, ReportSource::Kind::sweep);
    std::vector<ReportPoint> planned;
    read_json(manifest_file, [&](const JsonCursor& root) {
      planned = read_manifest(root, version_, data_.sources.back(), data_.is_workload_axis);
    });
    for (ReportPoint& point : planned) {
      for (const char* ending : {".json", ".failed.json"}) {
        const fs::path file = fs::path(path) / "points" / (point.id + ending);
        if (!fs::exists(file)) continue;
        read_json(file, [&](const JsonCursor& root) { fill_point(root, point); });
        break;
      }
    }
    add(std::move(planned));
  }

  ReportData& data_;
  const std::string& version_;
};

}  // namespace

ReadResult read_report(const std::vector<std::string>& paths, const std::string& version) {
  ReadResult result;
  Reader reader(result.data, version);
  for (const std::string& path : paths) {
    try {
      reader.read(path);
    } catch (const FileError& error) {
      result.errors.push_back(error.what());
    } catch (const fs::filesystem_error& error) {
      result.errors.push_back(fmt::format("{}: error: {}", path, error.code().message()));
    }
  }
  return result;
}

ReportData report_of(const nlohmann::ordered_json& document, const std::string& version,
                     const std::string& folder) {
  ReportData data;
  ReportSource source;
  source.path = "this command";
  source.folder = folder;
  data.points = read_results_document(JsonCursor(document), version, source);
  data.sources.push_back(source);
  return data;
}

}  // namespace espalier::report
