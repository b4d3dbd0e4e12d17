#include "sims/formats/topology_file.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "sims/point/limits.h"
#include "sims/text/nearest_name.h"
#include "sims/text/text_lines.h"
#include "sims/text/units.h"
#include "sims/text/values.h"

namespace espalier {

namespace {

constexpr const char* kAnynetExample = "for example 'router 0 node 0 node 1 router 1 15'";

enum Type : std::uint8_t { node, router };

struct Vertex {
  Type type = Type::router;
  std::uint32_t number = 0;
  Place place;  // of the word 'node' or 'router'
};

std::string text_of(Type type, std::uint32_t number) {
  return fmt::format("{} {}", type == Type::node ? "node" : "router", number);
}

using Words = std::vector<ConfigNode>;

bool is_name(const ConfigNode& word) {
  return std::isalpha(static_cast<unsigned char>(word.text.front())) != 0;
}

class AnynetParser {
 public:
  AnynetParser(const TopologyFileContext& context, Diagnostics& diagnostics)
      : context_(context), diagnostics_(diagnostics) {}

  std::optional<Topology> parse(const std::string& file_name, std::string_view text) {
    const SourceIndex source = diagnostics_.add_file(file_name, std::string(text));
    const std::size_t errors_before = diagnostics_.num_errors();
    const auto failed = [&] { return diagnostics_.num_errors() != errors_before; };
    for_each_line(text, source, diagnostics_, [&](std::string_view line, const Place& place) {
      read_line(words_of(line.substr(0, line.find('#')), place));
      return true;
    });
    if (!failed()) check_numbers({source, 1, 1});
    if (failed()) return std::nullopt;
    Topology topology = build(file_name);
    check_connected(topology);
    if (failed()) return std::nullopt;
    return topology;
  }

 private:
  // In cycles; none: the default latency.
  using Latency = std::optional<std::uint64_t>;

  struct Attachment {
    std::uint32_t router = 0;
    Latency latency;
    Place place;
  };
  struct Way {
    Latency latency;
    bool implied = false;  // the file gives only the opposite direction
    Place place;
  };

  void read_line(const Words& words) {
    if (words.empty()) return;
    std::size_t at = 0;
    const auto head = read_vertex(words, at);
    if (!head) return;
    while (at < words.size()) {
      const auto other = read_vertex(words, at);
      if (!other) return;
      Latency latency;
      if (at < words.size() && !is_name(words[at])) {
        latency = read_latency(words[at++]);
        if (!latency) return;
      }
      join(*head, *other, latency);
    }
  }

  // After a wrong vertex the rest of the line is not read, because its meaning is unknown.
  std::optional<Vertex> read_vertex(const Words& words, std::size_t& at) {
    const ConfigNode& word = words[at++];
    if (word.text != "node" && word.text != "router") {
      diagnostics_.error(word.place, fmt::format("'{}' is neither 'node' nor 'router'", word.text),
                         name_hint(word.text, {"node", "router"}));
      return std::nullopt;
    }
    if (at == words.size()) {
      diagnostics_.error(end_of(word), fmt::format("expected a number after '{}'", word.text),
                         kAnynetExample);
      return std::nullopt;
    }
    const auto number =
        parse_value(words[at++], word.text, range_shape(0, kMostNodes - 1), diagnostics_);
    if (!number) return std::nullopt;
    const Vertex vertex{word.text == "node" ? Type::node : Type::router,
                        static_cast<std::uint32_t>(number->number), word.place};
    places_.at(vertex.type).emplace(vertex.number, vertex.place);
    return vertex;
  }

  Latency read_latency(const ConfigNode& word) {
    const auto cycles =
        parse_value(word, "latency", range_shape(1, kLongestLatencyCycles), diagnostics_);
    if (!cycles) return std::nullopt;
    const std::uint64_t longest = kLongestLinkLatency;
    if (context_.clock && picoseconds(cycles->number) > longest) {
      diagnostics_.error(
          word.place,
          fmt::format("latency: {} cycles at {} exceed the longest latency, {}", cycles->number,
                      format_quantity(Quantity::frequency, context_.clock->hertz),
                      format_quantity(Quantity::time, longest)));
      return std::nullopt;
    }
    return cycles->number;
  }

  void join(const Vertex& head, const Vertex& other, const Latency& latency) {
    if (head.type == Type::node && other.type == Type::node) {
      diagnostics_.error(other.place, "this link joins two nodes",
                         "link a node to a router, or a router to a router");
    } else if (head.type == Type::router && other.type == Type::router) {
      join_routers(head, other, latency);
    } else {
      const bool head_is_node = head.type == Type::node;
      attach(head_is_node ? head.number : other.number, head_is_node ? other.number : head.number,
             {0, latency, other.place});
    }
  }

  void attach(std::uint32_t node, std::uint32_t router, Attachment attachment) {
    attachment.router = router;
    const auto [first, is_new] = attached_.emplace(node, attachment);
    if (is_new) return;
    if (first->second.router != router) {
      diagnostics_.error(attachment.place,
                         fmt::format("node {} is linked to router {} and to router {}", node,
                                     first->second.router, router),
                         fmt::format("link a node to one router; the first link is in line {}",
                                     first->second.place.line));
    } else if (first->second.latency != attachment.latency) {
      report_two_latencies(text_of(Type::node, node), text_of(Type::router, router),
                           first->second.place, attachment.place);
    }
  }

  void join_routers(const Vertex& from, const Vertex& to, const Latency& latency) {
    if (from.number == to.number) {
      diagnostics_.error(to.place, fmt::format("a link joins router {} to itself", from.number));
      return;
    }
    const auto [there, is_new] =
        ways_.emplace(std::make_pair(from.number, to.number), Way{latency, false, to.place});
    if (!is_new && there->second.implied) {
      there->second = {latency, false, to.place};
    } else if (!is_new && there->second.latency != latency) {
      report_two_latencies(text_of(Type::router, from.number), text_of(Type::router, to.number),
                           there->second.place, to.place);
    }
    ways_.emplace(std::make_pair(to.number, from.number), Way{std::nullopt, true, to.place});
    if (ways_.size() + 2 * attached_.size() > kMostLinks && !too_many_links_) {
      diagnostics_.error(
          to.place, fmt::format("the file has more than {} links, which is the limit", kMostLinks));
      too_many_links_ = true;
    }
  }

  void report_two_latencies(const std::string& from, const std::string& to, const Place& first,
                            const Place& second) {
    diagnostics_.error(second, fmt::format("the link from {} to {} has two latencies", from, to),
                       fmt::format("the first link is in line {}", first.line));
  }

  void check_numbers(const Place& start) {
    for (const Type type : {Type::node, Type::router}) {
      std::uint32_t expected = 0;
      for (const auto& [number, place] : places_.at(type)) {
        if (number != expected) {
          diagnostics_.error(place,
                             fmt::format("{} is used, but {} is missing", text_of(type, number),
                                         text_of(type, expected)),
                             "number nodes and routers from 0 without gaps");
          break;
        }
        ++expected;
      }
    }
    for (const auto& [node, place] : places_.at(Type::node)) {
      if (attached_.count(node) != 0) continue;
      diagnostics_.error(place, fmt::format("node {} has no link to a router", node),
                         kAnynetExample);
    }
    if (attached_.size() < 2) {
      diagnostics_.error(start, "a network needs at least 2 nodes", kAnynetExample);
    }
  }

  // A cycle is at least a picosecond, so rounding down here and up to a cycle later is exact.
  [[nodiscard]] std::uint64_t picoseconds(std::uint64_t cycles) const {
    __extension__ using Wide = unsigned __int128;
    constexpr Wide kSecond = 1'000'000'000'000;
    return static_cast<std::uint64_t>(Wide{cycles} * kSecond / context_.clock->hertz);
  }

  // If the clock is invalid, that has been reported, and the network will not be used.
  [[nodiscard]] LinkSpec spec(const Latency& latency) const {
    LinkSpec spec = context_.default_link;
    if (latency && context_.clock) spec.latency_ps = picoseconds(*latency);
    return spec;
  }

  Topology build(const std::string& file_name) const {
    Topology topology(file_name);
    for (const auto& [node, place] : places_.at(Type::node))
      topology.add_node(fmt::format("n_{}", node));
    for (const auto& [router, place] : places_.at(Type::router))
      topology.add_switch(fmt::format("sw_{}", router));
    const auto vertex = [&](std::uint32_t router) { return NodeId(attached_.size() + router); };
    for (const auto& [node, attachment] : attached_) {
      const NodeId router = vertex(attachment.router);
      const std::string at_node = fmt::format("sw{}", attachment.router);
      const std::string at_router = fmt::format("n{}", node);
      topology.add_link(NodeId(node), router, spec(attachment.latency), at_node, at_router);
      topology.add_link(router, NodeId(node), spec(attachment.latency), at_router, at_node);
    }
    for (const auto& [ends, way] : ways_) {
      topology.add_link(vertex(ends.first), vertex(ends.second), spec(way.latency),
                        fmt::format("sw{}", ends.second), fmt::format("sw{}", ends.first));
    }
    return topology;
  }

  void check_connected(const Topology& topology) {
    const NodeId lost = topology.find_disconnected();
    if (!lost.valid()) return;
    const Type type = topology.is_switch(lost) ? Type::router : Type::node;
    const auto number = static_cast<std::uint32_t>(
        lost.index() - (type == Type::router ? topology.num_nodes() : 0));
    diagnostics_.error(
        places_.at(type).at(number),
        fmt::format("the network is not connected: there is no path from node 0 to {} and back",
                    text_of(type, number)));
  }

  const TopologyFileContext& context_;
  Diagnostics& diagnostics_;
  std::array<std::map<std::uint32_t, Place>, 2> places_;  // by type and number: first mention
  std::map<std::uint32_t, Attachment> attached_;          // by node
  std::map<std::pair<std::uint32_t, std::uint32_t>, Way> ways_;  // by routers, directed
  bool too_many_links_ = false;
};

}  // namespace

std::optional<Topology> parse_anynet(const std::string& file_name, const std::string& text,
                                     const TopologyFileContext& context, Diagnostics& diagnostics) {
  return AnynetParser(context, diagnostics).parse(file_name, text);
}

}  // namespace espalier
