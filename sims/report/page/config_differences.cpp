#include "sims/report/page/config_differences.h"

#include <algorithm>
#include <map>
#include <set>

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

std::string value_text(const Json& value) {
  if (value.is_null()) return "\u2013";
  if (value.is_string()) return value.get<std::string>();
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

}  // namespace espalier::report
