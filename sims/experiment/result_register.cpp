#include "sims/experiment/result_register.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "hw/counters.h"
#include "sims/experiment/embedded_files.h"
#include "sims/text/text_lines.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

ResultField field_of(const std::vector<std::string>& cells) {
  constexpr std::string_view kTypes[] = {"number", "text", "truth", "object", "list", "any"};
  constexpr std::string_view kSources[] = {"bound", "certifier", "cost model", "generator",
                                           "given", "host",      "simulation"};
  constexpr std::string_view kRuns[] = {"all",     "collective", "control",  "job",     "plan",
                                        "program", "traffic",    "training", "workload"};
  const auto is_one_of = [](const auto& words, const std::string& word) {
    return std::find(std::begin(words), std::end(words), word) != std::end(words);
  };
  const auto* type = std::find(std::begin(kTypes), std::end(kTypes), cells[1]);
  constexpr std::string_view kVoid[] = {"", kNotEnded, kNotChecked, kNoTrains};
  bool is_known = is_one_of(kVoid, cells[4]) && is_one_of(kSources, cells[3]);
  std::istringstream runs(cells[5]);
  for (std::string run; std::getline(runs >> std::ws, run, ',');) {
    is_known = is_known && is_one_of(kRuns, run);
  }
  if (type == std::end(kTypes) || !is_known) {
    throw std::logic_error(
        fmt::format("result_register.txt: not a row of a field: {}", fmt::join(cells, " | ")));
  }
  return {cells[0], static_cast<ResultType>(type - std::begin(kTypes)),
          cells[2], cells[3],
          cells[4], cells[5],
          cells[6]};
}

// The rows of the file, and the counters (hw/counters.h) behind `flit_hops`.
std::vector<ResultField> read_register() {
  std::vector<ResultField> fields;
  for (const std::vector<std::string>& row :
       table_rows(result_register_file(), "result_register.txt", 7)) {
    fields.push_back(field_of(row));
    if (fields.back().name != "flit_hops") continue;
    for (const CounterRow& counter : counter_rows()) {
      fields.push_back({counter.name, ResultType::number, counter.unit, "simulation",
                        counter.counts_meetings ? kFoldable : "",
                        "collective, plan, program, training, traffic", counter.meaning});
    }
  }
  return fields;
}

// `pattern` may have one '*', which stands for any text.
bool matches(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  const std::string_view end = pattern.substr(star + 1);
  return name.size() >= star + end.size() && name.substr(0, star) == pattern.substr(0, star) &&
         name.substr(name.size() - end.size()) == end;
}

// Sets every member of that name to null: "links[].utilization", "dimensions.dim*.utilization".
void clear_member(Json& value, std::string_view name) {
  const std::size_t dot = name.find('.');
  std::string_view first = name.substr(0, dot);
  const bool in_list = first.size() > 2 && first.substr(first.size() - 2) == "[]";
  if (in_list) first.remove_suffix(2);
  for (auto& [key, member] : value.items()) {
    if (!matches(first, key)) continue;
    if (dot == std::string_view::npos) {
      member = nullptr;
    } else if (in_list && member.is_array()) {
      for (Json& entry : member) clear_member(entry, name.substr(dot + 1));
    } else if (member.is_object()) {
      clear_member(member, name.substr(dot + 1));
    }
  }
}

std::string unit_text(const ResultField& field) {
  return field.unit.empty() ? "" : fmt::format(" [{}]", field.unit);
}

// nullptr: any type.
const char* schema_type(ResultType type) {
  switch (type) {
    case ResultType::number:
      return "number";
    case ResultType::text:
      return "string";
    case ResultType::truth:
      return "boolean";
    case ResultType::object:
      return "object";
    case ResultType::list:
      return "array";
    case ResultType::any:
      break;
  }
  return nullptr;
}

// The schema of the member `name` of `object`, which gets it if it has none. "links[]" is the entry
// of a list; "dim*" stands for dim1, dim2 and so on, and "*" for any name.
Json& schema_member(Json& object, const std::string& name) {
  if (name == "*") {
    Json& any = object["additionalProperties"];
    if (!any.is_object()) any = Json::object();
    return any;
  }
  const bool is_entry = name.size() > 2 && name.compare(name.size() - 2, 2, "[]") == 0;
  const bool is_pattern = !name.empty() && name.back() == '*';
  object["additionalProperties"] = false;
  if (is_pattern) {
    return object["patternProperties"][fmt::format("^{}[0-9]+$", name.substr(0, name.size() - 1))];
  }
  Json& field = object["properties"][is_entry ? name.substr(0, name.size() - 2) : name];
  return is_entry ? field["items"] : field;
}

}  // namespace

const std::vector<ResultField>& result_register() {
  static const std::vector<ResultField> fields = read_register();
  return fields;
}

const ResultField* find_result_field(const std::string& name) {
  const auto& fields = result_register();
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const ResultField& field) {
    return matches(field.name, name);
  });
  return found == fields.end() ? nullptr : &*found;
}

std::string result_register_text() {
  std::string text;
  for (const ResultField& field : result_register()) {
    text += fmt::format("{}{}\n  {}\n  from: {}\n  runs: {}\n", field.name, unit_text(field),
                        field.meaning, field.from, field.runs);
    if (!field.void_if.empty()) text += fmt::format("  void if: {}\n", field.void_if);
  }
  return text;
}

std::string result_register_markdown() {
  std::string text =
      "| field | unit | meaning | from | runs | void if |\n|---|---|---|---|---|---|\n";
  for (const ResultField& field : result_register()) {
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", field.name, field.unit,
                        field.meaning, field.from, field.runs, field.void_if);
  }
  return text;
}

std::string result_register_json() {
  Json list = Json::array();
  for (const ResultField& field : result_register()) {
    list.push_back({{"name", field.name},
                    {"unit", field.unit},
                    {"meaning", field.meaning},
                    {"from", field.from},
                    {"runs", field.runs},
                    {"void_if", field.void_if}});
  }
  return list.dump(2) + "\n";
}

Json results_json_schema() {
  Json root = Json::parse(results_schema_file());
  for (const ResultField& field : result_register()) {
    Json* at = &root["definitions"]["result"];
    for (std::size_t begin = 0; begin <= field.name.size();) {
      const std::size_t end = std::min(field.name.find('.', begin), field.name.size());
      at = &schema_member(*at, field.name.substr(begin, end - begin));
      begin = end + 1;
    }
    if (const char* type = schema_type(field.type)) (*at)["type"] = {type, "null"};
    (*at)["description"] = field.meaning + unit_text(field);
  }
  return root;
}

void clear_void_fields(Json& result, const std::string& void_if) {
  for (const ResultField& field : result_register()) {
    if (field.void_if == void_if) clear_member(result, field.name);
  }
}

}  // namespace espalier
