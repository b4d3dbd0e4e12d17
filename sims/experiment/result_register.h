// The register of results: every field that a result can hold, by its dotted name. `espalier schema
// --results`, the table in docs/results.md, the report's checks and the fields that are void in a
// run that did not end come from it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace espalier {

enum class ResultType : std::uint8_t { number, text, truth, object, list, any };

// When a field is null or missing although its kind of run has it.
enum class VoidWhen : std::uint8_t { never, not_ended, not_checked, foldable };

// What makes a field's value: the user, a generator (schedule, plan, program), the certifier, the
// simulation, a proven bound, the cost model, or the machine that ran.
enum class ResultSource : std::uint8_t {
  given,
  generator,
  certifier,
  simulation,
  bound,
  cost_model,
  host
};

struct ResultField {
  // "area.routers[].ports": a member of each entry of a list; "dim*": dim1, dim2, ...
  const char* name;
  const char* kinds;  // a letter for each kind of run that has the field, see kinds_text()
  ResultType type;
  const char* unit;  // empty: a count, a share or a word
  ResultSource source;
  VoidWhen void_when;
  const char* meaning;
};

// In the order in which results list them.
[[nodiscard]] const std::vector<ResultField>& result_register();
// nullptr: the register does not know the field.
[[nodiscard]] const ResultField* find_result_field(const std::string& name);

// "all", or "collective, training".
[[nodiscard]] std::string kinds_text(const ResultField& field);
[[nodiscard]] const char* source_text(ResultSource source);
// "the run did not end"; empty for never.
[[nodiscard]] const char* void_text(VoidWhen when);
// One line for each field: the text of `espalier schema --results`.
[[nodiscard]] std::string result_register_text();
// A Markdown table, for docs/results.md.
[[nodiscard]] std::string result_register_markdown();
// A list of objects, for other programs.
[[nodiscard]] std::string result_register_json();
// A JSON Schema (draft-07) of the document that `run --json` writes; its definitions hold `result`
// (one result) and `row` (a line of results.jsonl).
[[nodiscard]] nlohmann::ordered_json results_json_schema();

// Names of all members of a result, objects and lists included, in the register's spelling:
// "links[].from".
[[nodiscard]] std::vector<std::string> field_names(const nlohmann::ordered_json& result);
// Sets to null the fields that are void for the reason `when`.
void clear_void_fields(nlohmann::ordered_json& result, VoidWhen when);

}  // namespace espalier
