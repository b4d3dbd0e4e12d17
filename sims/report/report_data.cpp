#include "sims/report/report_data.h"

#include <fmt/format.h>

#include "sims/report/text.h"
#include "sims/run/result_fields.h"

namespace espalier::report {

std::optional<double> number_of(const ReportPoint& point, const std::string& field) {
  const auto* value = find_field(point.result, field);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->get<double>();
}

std::string text_of(const ReportPoint& point, const std::string& field) {
  const auto* value = find_field(point.result, field);
  if (value == nullptr || value->is_null()) return {};
  return value->is_string() ? value->get<std::string>() : value->dump();
}

std::optional<double> time_ns_of(const ReportPoint& point) {
  const auto iteration = number_of(point, "training.iteration_ns");
  return iteration ? iteration : number_of(point, "time_ns");
}

std::string name_of_run(std::size_t index) { return fmt::format("run {}", index + 1); }

std::string link_to_run(std::size_t index) {
  return fmt::format("<a href=\"#run-{0}\">{0}</a>", index + 1);
}

std::string workload_of(const ReportPoint& point) {
  std::string words;
  const auto add = [&](const std::string& word) {
    if (!word.empty()) words += (words.empty() ? "" : ", ") + word;
  };
  add(text_of(point, "workload"));
  add(text_of(point, "network"));
  add(text_of(point, "traffic"));
  add(text_of(point, "op"));
  if (const auto size = number_of(point, "size_bytes"))
    add(bytes_text(static_cast<std::uint64_t>(*size)));
  if (const std::string nodes = text_of(point, "nodes"); !nodes.empty()) add(nodes + " nodes");
  return words;
}

}  // namespace espalier::report
