#include "sims/page/config_differences.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include "sims/page/text.h"
#include "sims/text/units.h"

namespace espalier::report {

namespace {

using Json = nlohmann::ordered_json;

void flatten(const Json& section, const std::string& prefix, Json& flat) {
  for (const auto& [key, value] : section.items()) {
    const std::string name = prefix.empty() ? key : prefix + "." + key;
    if (value.is_object()) {
      flatten(value, name, flat);
    } else {
      flat[name] = value;
    }
  }
}

std::string end_of(const std::string& key, std::size_t words) {
  std::size_t at = key.size();
  for (std::size_t w = 0; w < words; ++w) {
    at = at == 0 ? std::string::npos : key.rfind('.', at - 1);
    if (at == std::string::npos) return key;
  }
  return key.substr(at + 1);
}

}  // namespace

Json flatten_config(const Json& config) {
  Json flat = Json::object();
  flatten(config, "", flat);
  return flat;
}

Json nest_config(const Json& flat) {
  Json root = Json::object();
  for (const auto& [key, value] : flat.items()) {
    Json* section = &root;
    std::size_t begin = 0;
    for (std::size_t dot = key.find('.'); dot != std::string::npos; dot = key.find('.', begin)) {
      section = &(*section)[key.substr(begin, dot - begin)];
      begin = dot + 1;
    }
    (*section)[key.substr(begin)] = value;
  }
  return root;
}

ConfigDifferences compare_configs(const std::vector<const Json*>& flat_configs) {
  struct Seen {
    std::size_t times = 0;
    Json value;
    bool same = true;
  };
  std::vector<std::string> order;
  std::map<std::string, Seen> seen;
  std::size_t known = 0;
  for (const Json* config : flat_configs) {
    if (config == nullptr) continue;
    ++known;
    for (const auto& [key, value] : config->items()) {
      Seen& entry = seen[key];
      if (entry.times++ == 0) {
        order.push_back(key);
        entry.value = value;
      } else if (entry.value != value) {
        entry.same = false;
      }
    }
  }
  ConfigDifferences result;
  for (const std::string& key : order) {
    const Seen& entry = seen[key];
    if (entry.same && entry.times == known) {
      result.common[key] = entry.value;
    } else {
      result.keys.push_back(key);
    }
  }
  return result;
}

std::vector<std::string> short_names(const std::vector<std::string>& keys) {
  std::vector<std::string> names;
  for (const std::string& key : keys) {
    std::size_t words = 1;
    const auto is_shared = [&](const std::string& other) {
      return other != key && end_of(other, words) == end_of(key, words);
    };
    while (end_of(key, words) != key && std::any_of(keys.begin(), keys.end(), is_shared)) ++words;
    names.push_back(end_of(key, words));
  }
  return names;
}

namespace {

// "1MiB" is "1 MiB": a page has one form for a number with its unit.
std::string with_blank(std::string text) {
  for (const Quantity quantity : {Quantity::time, Quantity::rate, Quantity::frequency,
                                  Quantity::size, Quantity::length, Quantity::duration}) {
    if (parse_quantity(quantity, text).value)
      return text.insert(text.find_first_not_of("0123456789."), " ");
  }
  return text;
}

}  // namespace

std::string value_text(const Json& value) {
  if (value.is_null()) return "\u2013";
  if (value.is_string()) return with_blank(value.get<std::string>());
  std::string text;
  if (value.is_object()) {
    for (const auto& [name, field] : value.items()) {
      text += (text.empty() ? "" : ", ") + name + ": " + value_text(field);
    }
    return "{" + text + "}";
  }
  if (!value.is_array()) return value.dump();
  for (const Json& item : value) text += (text.empty() ? "" : ", ") + value_text(item);
  return "[" + text + "]";
}

std::string value_text(const Json& flat_config, const std::string& key) {
  const auto found = flat_config.find(key);
  return found == flat_config.end() ? value_text(Json()) : value_text(*found);
}

std::vector<std::string> telling_keys(const std::vector<std::string>& keys,
                                      const std::vector<const Json*>& flat_configs) {
  std::vector<std::string> telling;
  std::vector<std::string> names(flat_configs.size());
  std::size_t classes = flat_configs.empty() ? 0 : 1;
  for (const std::string& key : keys) {
    std::vector<std::string> longer = names;
    for (std::size_t i = 0; i < longer.size(); ++i) {
      if (flat_configs[i] != nullptr) longer[i] += value_text(*flat_configs[i], key) + '\n';
    }
    const std::size_t now = std::set<std::string>(longer.begin(), longer.end()).size();
    if (now == classes) continue;
    classes = now;
    names = std::move(longer);
    telling.push_back(key);
  }
  return telling;
}

namespace {

constexpr std::array<std::string_view, 6> kNamed{
    "system.link.latency", "collective.op",   "collective.size",
    "collective.element",  "simulation.seed", "simulation.stall_probability"};
constexpr std::array<std::string_view, 6> kSections{"traffic.", "training.", "workload.",
                                                    "control.", "tenants.",  "faults."};
// The buffers of the network for control messages are part of the design.
constexpr std::array<std::string_view, 2> kDesign{"control.vcs", "control.vc_depth_flits"};

std::string words_of(const ReportPoint& point) {
  std::string words;
  for (const auto& text : {field::workload, field::network, field::traffic, field::op})
    add_word(words, text_of(point, text));
  if (const auto size = number_of(point, field::size_bytes))
    add_word(words, bytes_text(static_cast<std::uint64_t>(*size)));
  if (const std::string nodes = text_of(point, field::nodes); !nodes.empty())
    add_word(words, nodes + " nodes");
  return words;
}

const nlohmann::ordered_json* known_config(const ReportPoint& point) {
  return point.config_is_complete ? &point.config : nullptr;
}

// The keys in which the workloads of these points differ.
std::vector<std::string> differing_keys(const std::vector<ReportPoint>& points,
                                        const std::vector<std::size_t>& indices,
                                        const std::function<bool(const std::string&)>& counts) {
  std::vector<const nlohmann::ordered_json*> configs;
  configs.reserve(indices.size());
  for (const std::size_t i : indices) configs.push_back(known_config(points[i]));
  std::vector<std::string> keys;
  const std::vector<std::string> all = compare_configs(configs).keys;
  std::copy_if(all.begin(), all.end(), std::back_inserter(keys), counts);
  return keys;
}

}  // namespace

bool is_workload_key(const std::string& key) {
  if (std::find(kDesign.begin(), kDesign.end(), key) != kDesign.end()) return false;
  return std::find(kNamed.begin(), kNamed.end(), key) != kNamed.end() ||
         std::any_of(kSections.begin(), kSections.end(),
                     [&](std::string_view section) { return key.rfind(section, 0) == 0; });
}

std::vector<std::string> workloads_of(
    const std::vector<ReportPoint>& points,
    const std::function<bool(const std::string& key)>& is_workload) {
  std::map<std::string, std::vector<std::size_t>> by_words;
  std::vector<std::string> workloads;
  for (std::size_t i = 0; i < points.size(); ++i) {
    workloads.push_back(words_of(points[i]));
    by_words[workloads.back()].push_back(i);
  }
  for (const auto& [words, indices] : by_words) {
    const std::vector<std::string> keys = differing_keys(points, indices, is_workload);
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
