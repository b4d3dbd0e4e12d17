#include "sims/report/page/workload.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string_view>

#include "sims/report/page/config_differences.h"
#include "sims/report/plot/text.h"

namespace espalier::report {

namespace {

constexpr std::array<std::string_view, 5> kNamed{"collective.op", "collective.size",
                                                 "collective.element", "simulation.seed",
                                                 "simulation.stall_probability"};
constexpr std::array<std::string_view, 6> kSections{"traffic.", "training.", "workload.",
                                                    "control.", "tenants.",  "faults."};
// The network's part of control messages: which buffers it has for them.
constexpr std::array<std::string_view, 2> kDesign{"control.vcs", "control.vc_depth_flits"};

void add_word(std::string& words, const std::string& word) {
  if (!word.empty()) words += (words.empty() ? "" : ", ") + word;
}

std::string words_of(const ReportPoint& point) {
  std::string words;
  for (const char* field : {"workload", "network", "traffic", "op"})
    add_word(words, text_of(point, field));
  if (const auto size = number_of(point, "size_bytes"))
    add_word(words, bytes_text(static_cast<std::uint64_t>(*size)));
  if (const std::string nodes = text_of(point, "nodes"); !nodes.empty())
    add_word(words, nodes + " nodes");
  return words;
}

const nlohmann::ordered_json* known_config(const ReportPoint& point) {
  return point.config_is_complete ? &point.config : nullptr;
}

// In which keys these points' workloads differ.
std::vector<std::string> differing_keys(const std::vector<ReportPoint>& points,
                                        const std::vector<std::size_t>& indices) {
  std::vector<const nlohmann::ordered_json*> configs;
  configs.reserve(indices.size());
  for (const std::size_t i : indices) configs.push_back(known_config(points[i]));
  std::vector<std::string> keys;
  const std::vector<std::string> all = compare_configs(configs).keys;
  std::copy_if(all.begin(), all.end(), std::back_inserter(keys), is_workload_key);
  return keys;
}

}  // namespace

bool is_workload_key(const std::string& key) {
  if (std::find(kDesign.begin(), kDesign.end(), key) != kDesign.end()) return false;
  return std::find(kNamed.begin(), kNamed.end(), key) != kNamed.end() ||
         std::any_of(kSections.begin(), kSections.end(),
                     [&](std::string_view section) { return key.rfind(section, 0) == 0; });
}

std::vector<std::string> workloads_of(const std::vector<ReportPoint>& points) {
  std::map<std::string, std::vector<std::size_t>> by_words;
  std::vector<std::string> workloads;
  for (std::size_t i = 0; i < points.size(); ++i) {
    workloads.push_back(words_of(points[i]));
    by_words[workloads.back()].push_back(i);
  }
  for (const auto& [words, indices] : by_words) {
    const std::vector<std::string> keys = differing_keys(points, indices);
    const std::vector<std::string> names = short_names(keys);
    for (const std::size_t i : indices) {
      const auto* config = known_config(points[i]);
      for (std::size_t k = 0; k < keys.size() && config != nullptr; ++k) {
        if (config->contains(keys[k]))
          add_word(workloads[i], names[k] + " " + value_text(config->at(keys[k])));
      }
    }
  }
  return workloads;
}

}  // namespace espalier::report
