#include "sims/report/page/view.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "sims/report/page/config_differences.h"

namespace espalier::report {

namespace {

// These keys come first and are shown without their names.
bool is_plain(const std::string& key) { return key == kAlgorithmKey || key == kModeKey; }

void put_first(std::vector<std::string>& keys) {
  std::stable_partition(keys.begin(), keys.end(), is_plain);
  std::stable_partition(keys.begin(), keys.end(),
                        [](const std::string& key) { return key == kAlgorithmKey; });
}

}  // namespace

ReportView::ReportView(const ReportData& data)
    : data_(&data), workloads_(workloads_of(data.points)) {
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
  telling_.erase(std::remove_if(telling_.begin(), telling_.end(), is_workload_key), telling_.end());
  find_columns();
  find_best();
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
    for (const std::size_t i : indices) best_[i] = time(i) == least;
  }
}

std::vector<std::string> ReportView::telling_keys(const std::vector<std::size_t>& indices,
                                                  const std::set<std::string>& without) const {
  std::vector<std::string> keys;
  for (const std::string& key : differences_.keys) {
    if (without.count(key) == 0) keys.push_back(key);
  }
  std::vector<const nlohmann::ordered_json*> configs;
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
    if (!is_workload_key(item.key())) keys.push_back(item.key());
  }
  put_first(keys);
  return words_of(point(index).set, keys);
}

}  // namespace espalier::report
