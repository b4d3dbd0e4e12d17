// Networks as lines of words: ns-3 and SimAI, htsim, Slurm, NetworkX's edge lists.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sims/formats/networks/network_formats.h"
#include "sims/text/text_lines.h"

namespace espalier {

namespace {

using Words = std::vector<ConfigNode>;
constexpr std::uint32_t kMostParallel = 4096;

// Calls visit(words of the line, without its comment) for each line that has words.
template <class Visit>
void for_each_words(const std::string& text, SourceIndex source, Diagnostics& diagnostics,
                    const char* marks, const Visit& visit) {
  const std::size_t errors_before = diagnostics.num_errors();
  for_each_line(text, source, diagnostics, [&](std::string_view line, const Place& place) {
    const Words words = words_of(line.substr(0, line.find('#')), place, marks);
    if (!words.empty()) visit(words);
    return diagnostics.num_errors() < errors_before + 100;
  });
}

class Ns3Reader {
 public:
  Ns3Reader(DrawnNetwork& drawn, Diagnostics& diagnostics)
      : drawn_(drawn), diagnostics_(diagnostics) {}

  void read(const std::string& text) {
    for_each_words(text, drawn_.source, diagnostics_, "", [&](const Words& words) {
      ++line_ == 1                   ? read_sizes(words)
      : line_ == 2 && switches_ != 0 ? read_switches(words)
                                     : read_link(words);
    });
    if (diagnostics_.num_errors() == errors_before_ && drawn_.links.size() != links_) {
      diagnostics_.error({drawn_.source, 1, 1},
                         fmt::format("the first line promises {} links, but {} follow", links_,
                                     drawn_.links.size()));
    }
    if (lossy_ != 0) {
      drawn_.notes.push_back(fmt::format("error rates of {} links are ignored", lossy_));
    }
  }

 private:
  void read_sizes(const Words& words) {
    // ns-3: nodes switches links. SimAI: nodes gpus_per_server nvswitches switches links gpu_type.
    const bool is_simai = words.size() > 4;
    const auto number = [&](std::size_t i, const char* what, std::uint64_t max) {
      return i < words.size() ? number_of(words[i], what, 0, max, diagnostics_) : 0;
    };
    nodes_ = number(0, "nodes", 2 * kMostNodes);
    switches_ = is_simai ? number(2, "switches", kMostNodes) + number(3, "switches", kMostNodes)
                         : number(1, "switches", kMostNodes);
    links_ = number(is_simai ? 4 : 2, "links", kMostLinks);
    for (std::uint64_t v = 0; v < nodes_; ++v) drawn_.add(fmt::format("n_{}", v), "node", true);
  }

  void read_switches(const Words& words) {
    if (words.size() != switches_) {
      diagnostics_.error(words[0].place,
                         fmt::format("found {} numbers of switches; the first line promises {}",
                                     words.size(), switches_));
    }
    for (const ConfigNode& word : words) {
      const auto v = vertex(word);
      if (v < nodes_) drawn_.vertices[v] = {fmt::format("sw_{}", v), "switch", false, false};
    }
  }

  std::uint64_t vertex(const ConfigNode& word) {
    return number_of(word, "node", 0, nodes_ == 0 ? 0 : nodes_ - 1, diagnostics_);
  }

  void read_link(const Words& words) {
    if (words.size() < 4 || words.size() > 5 || nodes_ == 0) {
      diagnostics_.error(words[0].place, fmt::format("found {} words in a link", words.size()),
                         "source, destination, bandwidth, latency, error rate: 0 8 200Gbps "
                         "0.0005ms 0");
      return;
    }
    // "200Gbps" is our 200Gb/s.
    std::string rate = words[2].text;
    if (const std::size_t at = rate.find("bps"); at != std::string::npos)
      rate.replace(at, 3, "b/s");
    DrawnLink link{vertex(words[0]), vertex(words[1])};
    link.place = words[0].place;
    link.bytes_per_second = quantity_of(Quantity::rate, rate, "", words[2].place, diagnostics_);
    link.latency_ps = std::max<std::uint64_t>(
        1, quantity_of(Quantity::time, words[3].text, "", words[3].place, diagnostics_));
    if (words.size() == 5 && words[4].text.find_first_not_of("0.") != std::string::npos) ++lossy_;
    if (drawn_.links.size() < kMostLinks) drawn_.links.push_back(link);
  }

  DrawnNetwork& drawn_;
  Diagnostics& diagnostics_;
  std::size_t errors_before_ = diagnostics_.num_errors();
  std::size_t line_ = 0;
  std::uint64_t nodes_ = 0;
  std::uint64_t switches_ = 0;
  std::uint64_t links_ = 0;
  std::uint64_t lossy_ = 0;
};

// A tier of an htsim fat tree: its switches, and their links downwards.
struct Tier {
  std::map<std::string, std::uint64_t> values;
  Place place;
};

class HtsimReader {
 public:
  HtsimReader(DrawnNetwork& drawn, Diagnostics& diagnostics)
      : drawn_(drawn), diagnostics_(diagnostics) {}

  void read(const std::string& text) {
    for_each_words(text, drawn_.source, diagnostics_, "", [&](const Words& words) {
      const std::string key = in_lower_case(words[0].text);
      if (words.size() < 2)
        return diagnostics_.error(words[0].place, "expected a value behind the key");
      const std::uint64_t value =
          number_of(words[1], words[0].text, 0, std::uint64_t{1} << 40, diagnostics_);
      if (key == "tier") {
        if (value != tiers_.size() || value > 2) {
          diagnostics_.error(words[1].place, "tiers are numbered 0, 1, 2 from the nodes upwards");
        }
        return tiers_.push_back({{}, words[0].place});
      }
      auto& values = tiers_.empty() ? all_.values : tiers_.back().values;
      if (!values.emplace(key, value).second) {
        diagnostics_.error(words[0].place, fmt::format("'{}' is given twice", words[0].text));
      }
    });
    if (!failed()) build();
  }

 private:
  [[nodiscard]] bool failed() const { return diagnostics_.num_errors() != errors_before_; }
  std::uint64_t value(const Tier& tier, const char* key, std::uint64_t otherwise = 0) {
    const auto found = tier.values.find(key);
    if (found != tier.values.end() && (found->second != 0 || otherwise == 0)) return found->second;
    if (otherwise != 0) return otherwise;
    diagnostics_.error(tier.place, fmt::format("'{}' is missing", key));
    return 1;
  }

  void build() {
    const std::uint64_t nodes = value(all_, "nodes");
    if (tiers_.size() < 2 || tiers_.size() != value(all_, "tiers")) {
      diagnostics_.error(
          {drawn_.source, 1, 1},
          fmt::format("found {} tiers; a fat tree has the 2 or 3 that Tiers promises",
                      tiers_.size()));
    }
    if (nodes > kMostNodes) diagnostics_.error({drawn_.source, 1, 1}, "more than 65536 nodes");
    if (failed()) return;
    const std::uint64_t pod = tiers_.size() == 2 ? nodes : value(all_, "podsize");
    const std::uint64_t below = value(tiers_[0], "radix_down");
    if (failed()) return;
    if (pod == 0 || below == 0 || nodes % pod != 0 || pod % below != 0) {
      return diagnostics_.error(
          {drawn_.source, 1, 1},
          fmt::format("{} nodes in pods of {} and racks of {} leave a rest", nodes, pod, below));
    }
    for (std::uint64_t n = 0; n < nodes; ++n) drawn_.add(fmt::format("n_{}", n), "node", true);
    const std::uint64_t racks = nodes / below;
    const std::size_t first_rack = add(racks, "tor");
    for (std::uint64_t n = 0; n < nodes; ++n) join(n, first_rack + n / below, 0);
    // Every rack of a pod is linked to every aggregation switch of the pod.
    const std::uint64_t pods = nodes / pod;
    const std::uint64_t aggs = ups(0);
    if (failed()) return;
    const std::size_t first_agg = add(pods * aggs, "agg");
    for (std::uint64_t r = 0; r < racks; ++r) {
      for (std::uint64_t a = 0; a < aggs; ++a) {
        join(first_rack + r, first_agg + r / (racks / pods) * aggs + a, 1);
      }
    }
    if (tiers_.size() == 2) return;
    // Switch a of a pod is linked to the cores a, a + aggs, a + 2 aggs ...
    const std::uint64_t cores = ups(1);
    if (failed()) return;
    const std::size_t first_core = add(aggs * cores, "core");
    for (std::uint64_t s = 0; s < pods * aggs; ++s) {
      for (std::uint64_t c = 0; c < cores; ++c) {
        join(first_agg + s, first_core + s % aggs + c * aggs, 2);
      }
    }
  }

  // Switches above one of `tier`.
  std::uint64_t ups(std::size_t tier) {
    const std::uint64_t up = value(tiers_[tier], "radix_up");
    const std::uint64_t bundle = value(tiers_[tier + 1], "bundle", 1);
    if (up == 0 || up > kMostParallel || bundle > kMostParallel || up % bundle != 0) {
      diagnostics_.error(tiers_[tier].place,
                         fmt::format("Radix_Up {} is no multiple of the Bundle {} above, or more "
                                     "than {}",
                                     up, bundle, kMostParallel));
      return 1;
    }
    return up / bundle;
  }

  std::size_t add(std::uint64_t count, const char* name) {
    const std::size_t first = drawn_.vertices.size();
    for (std::uint64_t i = 0; i < count && i < kMostLinks; ++i) {
      drawn_.add(fmt::format("{}_{}", name, i), name, false);
    }
    return first;
  }

  void join(std::uint64_t lower, std::uint64_t upper, std::size_t tier) {
    if (drawn_.links.size() > kMostLinks) return;
    const Tier& above = tiers_[tier];
    const std::uint64_t rate = value(above, "downlink_speed_gbps") * 125'000'000;
    const auto bundle = static_cast<std::uint32_t>(tier == 0 ? 1 : value(above, "bundle", 1));
    // A packet passes each switch once: its latency is that of the link into it.
    const std::uint64_t way = above.values.count("downlink_latency_ns") != 0
                                  ? value(above, "downlink_latency_ns") * 1000
                                  : 0;
    const auto pass = [&](std::size_t of) {
      const auto found = tiers_[of].values.find("switch_latency_ns");
      return found == tiers_[of].values.end() ? 0 : found->second * 1000;
    };
    drawn_.links.push_back({lower, upper, rate, way + pass(tier), bundle, above.place, true});
    drawn_.links.push_back(
        {upper, lower, rate, way + (tier == 0 ? 0 : pass(tier - 1)), bundle, above.place, true});
  }

  DrawnNetwork& drawn_;
  Diagnostics& diagnostics_;
  std::size_t errors_before_ = diagnostics_.num_errors();
  Tier all_;
  std::vector<Tier> tiers_;
};

class SlurmReader {
 public:
  SlurmReader(DrawnNetwork& drawn, Diagnostics& diagnostics)
      : drawn_(drawn), diagnostics_(diagnostics) {}

  void read(const std::string& text) {
    Words line;  // a backslash at its end continues it
    for_each_words(text, drawn_.source, diagnostics_, "", [&](const Words& words) {
      line.insert(line.end(), words.begin(), words.end());
      const bool goes_on = line.back().text == "\\";
      if (goes_on) return line.pop_back();
      read_switch(line);
      line.clear();
    });
    drawn_.notes.push_back("each host is one accelerator");
    if (has_speeds_) drawn_.notes.push_back("LinkSpeed is ignored, because Slurm gives it no unit");
  }

 private:
  void read_switch(const Words& words) {
    std::map<std::string, ConfigNode> values;
    for (ConfigNode word : words) {
      const std::size_t equals = word.text.find('=');
      const std::string key = in_lower_case(word.text.substr(0, equals));
      if (equals == std::string::npos ||
          (key != "switchname" && key != "nodes" && key != "switches" && key != "linkspeed")) {
        diagnostics_.error(word.place, fmt::format("'{}' is unknown", word.text),
                           "SwitchName=s0 Nodes=n[0-7], or SwitchName=s1 Switches=s0,s2");
        return;
      }
      word.text = word.text.substr(equals + 1);
      values[key] = word;
    }
    if (values.count("switchname") == 0) {
      return diagnostics_.error(words[0].place, "SwitchName is missing");
    }
    has_speeds_ |= values.count("linkspeed") != 0;
    const std::size_t own = vertex(values["switchname"].text, false, words[0].place);
    for (const bool is_node : {true, false}) {
      const auto found = values.find(is_node ? "nodes" : "switches");
      if (found == values.end()) continue;
      for (const std::string& name : expanded(found->second.text, found->second.place)) {
        DrawnLink link{vertex(name, is_node, found->second.place), own};
        link.place = found->second.place;
        drawn_.links.push_back(link);
      }
    }
  }

  std::size_t vertex(const std::string& name, bool is_node, const Place& place) {
    const auto [found, is_new] = vertices_.emplace(name, drawn_.vertices.size());
    if (is_new) {
      drawn_.add(name, is_node ? "host" : "switch", is_node);
    } else if (drawn_.vertices[found->second].is_node != is_node) {
      diagnostics_.error(place, fmt::format("'{}' is a host and a switch", name));
    }
    return found->second;
  }

  // "a[0-3,7],b1" is a0, a1, a2, a3, a7, b1; numbers keep their leading zeros.
  std::vector<std::string> expanded(const std::string& text, const Place& place) {
    std::vector<std::string> all;
    std::size_t begin = 0;
    while (begin <= text.size()) {
      std::size_t end = begin;
      for (bool inside = false; end < text.size() && (inside || text[end] != ','); ++end) {
        inside = text[end] == '[' || (inside && text[end] != ']');
      }
      std::vector<std::string> names{""};
      if (!expand(text.substr(begin, end - begin), names) || names[0].empty() ||
          all.size() + names.size() + drawn_.links.size() > kMostLinks / 2) {
        diagnostics_.error(place,
                           fmt::format("'{}' is no list of names", text.substr(begin, end - begin)),
                           "for example node[00-15,20]");
        return {};
      }
      all.insert(all.end(), names.begin(), names.end());
      begin = end + 1;
    }
    return all;
  }

  // Appends to each name all that `text` stands for.
  static bool expand(const std::string& text, std::vector<std::string>& names) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t open = std::min(text.find('[', at), text.size());
      for (std::string& name : names) name += text.substr(at, open - at);
      if (open == text.size()) return true;
      const std::size_t close = text.find(']', open);
      if (close == std::string::npos) return false;
      std::vector<std::string> longer;
      for (std::size_t begin = open + 1; begin <= close;) {
        const std::size_t end = std::min(text.find(',', begin), close);
        const std::string range = text.substr(begin, end - begin);
        begin = end + 1;
        const std::size_t dash = std::min(range.find('-'), range.size());
        const std::string low = range.substr(0, dash);
        const std::string high = dash == range.size() ? low : range.substr(dash + 1);
        const auto is_number = [](const std::string& n) {
          return !n.empty() && n.size() <= 9 &&
                 n.find_first_not_of("0123456789") == std::string::npos;
        };
        if (!is_number(low) || !is_number(high)) return false;
        const auto last = std::stoul(high);
        if (last - std::stoul(low) >= kMostNodes) return false;  // also if low > high
        for (auto number = std::stoul(low); number <= last; ++number) {
          for (const std::string& name : names) {
            longer.push_back(fmt::format("{}{:0{}}", name, number, low.size()));
            if (longer.size() > kMostNodes) return false;
          }
        }
      }
      names = std::move(longer);
      at = close + 1;
    }
    return true;
  }

  DrawnNetwork& drawn_;
  Diagnostics& diagnostics_;
  std::map<std::string, std::size_t> vertices_;
  bool has_speeds_ = false;
};

}  // namespace

void read_ns3_topology(const std::string& file_name, const std::string& text, DrawnNetwork& drawn,
                       Diagnostics& diagnostics) {
  drawn.source = diagnostics.add_file(file_name, text);
  Ns3Reader(drawn, diagnostics).read(text);
}

void read_htsim_topology(const std::string& file_name, const std::string& text, DrawnNetwork& drawn,
                         Diagnostics& diagnostics) {
  drawn.source = diagnostics.add_file(file_name, text);
  HtsimReader(drawn, diagnostics).read(text);
}

void read_slurm_topology(const std::string& file_name, const std::string& text, DrawnNetwork& drawn,
                         Diagnostics& diagnostics) {
  drawn.source = diagnostics.add_file(file_name, text);
  SlurmReader(drawn, diagnostics).read(text);
}

}  // namespace espalier
