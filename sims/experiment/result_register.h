// The register of results: every field that a result can hold, by its dotted name. `espalier schema
// --results`, the table in docs/results.md, the report's checks and the fields that are void in a
// run that did not end come from it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

enum class ResultType : std::uint8_t { number, text, truth, object, list, any };

// When a field is null or missing although its kind of run has it: ResultField::void_if.
inline constexpr const char* kNotEnded = "the run did not end";
inline constexpr const char* kNotChecked = "the run is not checked";
inline constexpr const char* kNoTrains = "no packet trains are simulated";
inline constexpr const char* kFoldable = "one NPU may stand for all";

// A field of results.txt.
struct ResultField {
  // "area.routers[].ports": a member of each entry of a list; "dim*": dim1, dim2, ...
  std::string_view name;
  ResultType type;
  std::string_view unit;  // empty: a count, a share or a word
  // What makes the value: the user (given), a generator (of a schedule, plan or program), the
  // certifier, the simulation, a proven bound, the cost model, or the host.
  std::string_view from;
  std::string_view void_if;  // empty: never
  std::string_view runs;  // the kinds of runs that have the field: "all", or "collective, training"
  std::string_view meaning;
};

// By which a result is read, for instance field::cycles (result_names.h, which CMake writes): the
// dotted name, or the name within an entry of a list.
struct AnyField {
  const char* name;
  operator std::string() const { return name; }  // NOLINT: where names come from files, too
};
template <ResultType>
struct FieldName : AnyField {};
using NumberField = FieldName<ResultType::number>;
using TextField = FieldName<ResultType::text>;
using TruthField = FieldName<ResultType::truth>;

// The fields of results.txt, which CMake writes, without the counters.
[[nodiscard]] const std::vector<ResultField>& listed_result_fields();
// With the counters (hw/counters.h) behind `flit_hops`, in the order in which results list them.
[[nodiscard]] const std::vector<ResultField>& result_register();
// nullptr: the register does not know the field.
[[nodiscard]] const ResultField* find_result_field(const std::string& name);

struct ResultMisfit {
  std::string field;    // dotted name
  std::string problem;  // "expected a number, not string"
};
// The first field whose value in `result` has another type. Null stands for an unknown value. A
// result of another version may have fields that the register does not know.
[[nodiscard]] std::optional<ResultMisfit> first_misfit(const nlohmann::ordered_json& result);

// One line for each field: the text of `espalier schema --results`.
[[nodiscard]] std::string result_register_text();
// A list of objects, for other programs.
[[nodiscard]] std::string result_register_json();
// A JSON Schema (draft-07) of the document that `run --json` writes; its definitions hold `result`
// (one result) and `row` (a line of results.jsonl).
[[nodiscard]] nlohmann::ordered_json results_json_schema();

// Sets to null the fields that are void for the reason `void_if`.
void clear_void_fields(nlohmann::ordered_json& result, std::string_view void_if);

}  // namespace espalier
