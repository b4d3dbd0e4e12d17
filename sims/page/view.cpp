#include "sims/page/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "sims/page/text.h"

namespace espalier::report {

namespace {

// These keys come first and are shown without their names.
bool is_plain(const std::string& key) { return key == kAlgorithmKey || key == kModeKey; }

// The key of the configuration that an axis stands for; empty if there is none.
std::string key_of(const std::string& axis) {
  if (axis == "algorithm") return kAlgorithmKey;
  if (axis == "size") return kSizeKey;
  return axis == "topology" ? "" : axis;
}

void put_first(std::vector<std::string>& keys) {
  std::stable_partition(keys.begin(), keys.end(), is_plain);
  std::stable_partition(keys.begin(), keys.end(),
                        [](const std::string& key) { return key == kAlgorithmKey; });
}

}  // namespace

ReportView::ReportView(const ReportData& data, const ViewOptions& options)
    : data_(&data), options_(options) {
  const std::string facet = key_of(options_.facet);
  workloads_ = workloads_of(
      data.points, [&](const std::string& key) { return key != facet && is_workload(key); });
  const bool any_complete =
      std::any_of(data.points.begin(), data.points.end(),
                  [](const ReportPoint& point) { return point.config_is_complete; });
  std::vector<const nlohmann::ordered_json*> configs;
  for (const ReportPoint& point : data.points) {
    const bool counts = point.config_is_complete || !any_complete;
    configs.push_back(counts && !point.config.is_null() ? &point.config : nullptr);
  }
  differences_ = compare_configs(configs);
  put_first(differences_.keys);
  short_names_ = report::short_names(differences_.keys);
  std::vector<std::size_t> all(data.points.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  telling_ = telling_keys(all, {});
  telling_.erase(std::remove_if(telling_.begin(), telling_.end(),
                                [&](const std::string& key) { return is_workload(key); }),
                 telling_.end());
  if (!options_.facet.empty() && options_.facet != "size") {
    for (std::size_t i = 0; i < workloads_.size(); ++i) add_word(workloads_[i], facet_of(i));
  }
  find_columns();
  find_best();
  find_axes();
}

bool ReportView::is_workload(const std::string& key) const {
  if (!key.empty() && key == key_of(options_.facet)) return true;
  const auto given = data_->is_workload_axis.find(key);
  return given == data_->is_workload_axis.end() ? is_workload_key(key) : given->second;
}

std::vector<std::string> ReportView::values_on(const std::string& axis) const {
  std::vector<std::string> values;
  for (std::size_t i = 0; i < data_->points.size(); ++i) {
    std::string value = value_on(i, axis);
    const bool is_new = std::find(values.begin(), values.end(), value) == values.end();
    if (is_new && !value.empty()) values.push_back(std::move(value));
  }
  return values;
}

std::string ReportView::value_on(std::size_t index, const std::string& axis) const {
  const ReportPoint& one = point(index);
  if (axis == "topology") return text_of(one, field::topology);
  if (axis == "size") {
    const auto size = number_of(one, field::size_bytes);
    return size ? bytes_text(static_cast<std::uint64_t>(*size)) : std::string();
  }
  if (axis == "algorithm") {
    std::string algorithm = text_of(one, field::algorithm);
    if (!algorithm.empty() || one.config.is_null()) return algorithm;
  }
  const std::string key = key_of(axis);
  return one.config.contains(key) ? value_text(one.config.at(key)) : std::string();
}

std::string ReportView::axis_words(const std::string& axis, const std::string& value) const {
  const bool is_named = axis == kModeKey || axis == kAlgorithmKey ||
                        std::find(kAxisNames.begin(), kAxisNames.end(), axis) != kAxisNames.end();
  return is_named ? value : short_name(axis) + " " + value;
}

std::string ReportView::facet_of(std::size_t index) const {
  if (options_.facet.empty()) return {};
  const std::string value = value_on(index, options_.facet);
  return axis_words(options_.facet, value.empty() ? "not given" : value);
}

// Without options, colour and mark stand for the algorithm; where all runs have the same algorithm,
// for the first two keys of the design that differ.
void ReportView::find_axes() {
  std::vector<std::string> keys;
  for (const std::string& key : telling_) {
    if (key != kAlgorithmKey && key != options_.facet && values_on(key).size() > 1)
      keys.push_back(key);
  }
  const bool by_algorithm = values_on("algorithm").size() > 1 && options_.facet != "algorithm" &&
                            options_.facet != kAlgorithmKey;
  colour_axis_ = options_.color;
  if (colour_axis_.empty())
    colour_axis_ = by_algorithm || keys.empty() ? "algorithm" : keys.front();
  mark_axis_ = options_.mark;
  if (!mark_axis_.empty()) return;
  const auto other =
      std::find_if(keys.begin(), keys.end(), [&](const auto& key) { return key != colour_axis_; });
  const bool is_paired = by_algorithm && colour_axis_ == "algorithm";
  mark_axis_ = is_paired || other == keys.end() ? colour_axis_ : *other;
}

std::vector<std::string> ReportView::problems() const {
  std::string known;
  for (const char* name : kAxisNames) {
    if (values_on(name).size() > 1) known += fmt::format("\n  {}", name);
  }
  for (const std::string& key : columns_) known += fmt::format("\n  {}", key);
  std::vector<std::string> problems;
  for (const auto& [option, axis] : {std::pair{"--facet", &options_.facet},
                                     {"--color", &options_.color},
                                     {"--mark", &options_.mark}}) {
    if (axis->empty() || values_on(*axis).size() > 1) continue;
    const std::vector<std::string> values = values_on(*axis);
    const std::string what = values.empty()
                                 ? fmt::format("no run has the key '{}'", *axis)
                                 : fmt::format("'{}' is {} in all runs", *axis, values.front());
    problems.push_back(fmt::format(
        "error: {}: {}; {}", option, what,
        known.empty() ? "no key differs between these runs" : "keys that differ:" + known));
  }
  return problems;
}

void ReportView::find_columns() {
  for (const std::string& key : differences_.keys) {
    std::set<std::string> values;
    for (const ReportPoint& point : data_->points) {
      if (!point.config.is_null() && point.config.contains(key))
        values.insert(value_text(point.config.at(key)));
    }
    if (values.size() > 1) columns_.push_back(key);
  }
}

void ReportView::find_best() {
  std::map<std::string, std::vector<std::size_t>> by_workload;
  for (std::size_t i = 0; i < data_->points.size(); ++i) {
    const bool counts = point(i).state == ReportPoint::State::verified;
    if (counts && time_ns_of(point(i)).value_or(0) > 0) by_workload[workload(i)].push_back(i);
  }
  best_.assign(data_->points.size(), false);
  for (const auto& [workload, indices] : by_workload) {
    if (indices.size() < 2) continue;
    const auto time = [&](std::size_t i) { return *time_ns_of(point(i)); };
    double least = time(indices.front());
    for (const std::size_t i : indices) least = std::min(least, time(i));
    for (const std::size_t i : indices) best_[i] = time(i) <= least * (1 + options_.tolerance);
  }
}

std::vector<std::string> ReportView::telling_keys(const std::vector<std::size_t>& indices,
                                                  const std::set<std::string>& without) const {
  std::vector<std::string> keys;
  for (const std::string& key : differences_.keys) {
    if (without.count(key) == 0) keys.push_back(key);
  }
  std::vector<const nlohmann::ordered_json*> configs;
  configs.reserve(indices.size());
  for (const std::size_t i : indices)
    configs.push_back(point(i).config.is_null() ? nullptr : &point(i).config);
  return report::telling_keys(keys, configs);
}

std::string ReportView::short_name(const std::string& key) const {
  const auto& keys = differences_.keys;
  const auto found = std::find(keys.begin(), keys.end(), key);
  if (found == keys.end()) return report::short_names({key}).front();
  return short_names_[static_cast<std::size_t>(found - keys.begin())];
}

std::string ReportView::words_of(const nlohmann::ordered_json& values,
                                 const std::vector<std::string>& keys) const {
  std::string words;
  for (const std::string& key : keys) {
    if (!values.contains(key)) continue;
    if (!words.empty()) words += ", ";
    if (!is_plain(key)) words += short_name(key) + " ";
    words += value_text(values.at(key));
  }
  return words;
}

std::string ReportView::describe(std::size_t index, const std::vector<std::string>& keys) const {
  return words_of(point(index).config, keys);
}

std::string ReportView::describe(std::size_t index) const {
  if (point(index).set.empty()) return describe(index, telling_);
  std::vector<std::string> keys;
  for (const auto& item : point(index).set.items()) {
    if (!is_workload(item.key())) keys.push_back(item.key());
  }
  put_first(keys);
  return words_of(point(index).set, keys);
}

}  // namespace espalier::report
