// Deadlock freedom of routes: of a configuration's network, or of a table alone.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "alg/certify/channel_dependencies.h"
#include "alg/certify/route_relation.h"
#include "alg/routes/routing.h"
#include "sims/cli/commands.h"
#include "sims/cli/input.h"
#include "sims/cli/output.h"
#include "sims/formats/routes_file.h"
#include "sims/system/vc_partition.h"
#include "sims/text/people.h"
#include "sims/text/read_file.h"

namespace espalier {

namespace {

constexpr std::size_t kPrintedChannels = 16;

struct Question {
  RouteRelation relation;
  std::string what;  // "240 routes among 16 nodes"
};

std::string channels_text(const RouteRelation& relation, const std::vector<ChannelNumber>& channels,
                          std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(channels.size(), most); ++i) {
    text += fmt::format("  {}\n", relation.channel_name(channels[i]));
  }
  if (channels.size() > most) {
    text += fmt::format("  ... and {} more; --output writes all\n", channels.size() - most);
  }
  return text;
}

std::string verdict_text(const RouteRelation& relation, const RouteVerdict& verdict,
                         std::size_t most) {
  if (!verdict.cut_through) {
    return "Each of these channels may hold a packet that can go on only to channels in this "
           "list:\n" +
           channels_text(relation, verdict.proof, most);
  }
  std::string text =
      "A packet in any channel may go on to a channel that stands before its own in this order:\n" +
      channels_text(relation, verdict.proof, most);
  if (!verdict.wormhole) {
    text += "Escape channels wait for each other in a cycle:\n" +
            channels_text(relation, verdict.wormhole_cycle, most);
  }
  return text;
}

Question routes_of(const Topology& topology, std::uint32_t classes) {
  Question question{RouteRelation(topology, classes), ""};
  RouteSet routes(topology);
  std::size_t count = 0;
  std::size_t missing = 0;
  for (std::size_t a = 0; a < topology.num_nodes(); ++a) {
    for (std::size_t b = 0; b < topology.num_nodes(); ++b) {
      if (a == b) continue;
      if (may_lack_routes(topology) && !problem_of_route(topology, NodeId(a), NodeId(b)).empty()) {
        ++missing;
        continue;
      }
      for (std::uint32_t turn = 0; turn < topology.shape().split; ++turn) {
        const RouteId route =
            routes.add(topology, route_packet(topology, NodeId(a), NodeId(b), turn));
        const auto wanted = vc_classes_of(topology, routes, route);
        std::vector<ChannelNumber> channels;
        for (std::size_t hop = 0; hop < wanted.size(); ++hop) {
          channels.push_back(routes.link(route, hop).value() * classes +
                             std::min(wanted[hop], classes - 1));
        }
        question.relation.add_route(channels);
        ++count;
      }
    }
  }
  question.what = fmt::format("{} routes among {} nodes", count, topology.num_nodes());
  if (missing != 0) question.what += fmt::format(", {} pairs have none", missing);
  return question;
}

// Nothing after an error.
std::optional<Question> question_of(const RouteRows& rows, const Topology& topology,
                                    Diagnostics& diagnostics) {
  std::uint32_t classes = 1;
  for (const RouteRow& row : rows.rows) {
    for (const RouteHop& hop : row.hops) classes = std::max(classes, hop.vc_class.value_or(0) + 1);
  }
  Question question{RouteRelation(topology, classes), ""};
  if (!rows.adaptive) {
    const auto table = route_table(rows, topology, diagnostics);
    if (!table) return std::nullopt;
    for (const auto& [pair, routes] : *table) {
      for (const ListedRoute& route : routes) {
        std::vector<ChannelNumber> channels;
        for (std::size_t hop = 0; hop < route.links.size(); ++hop) {
          const std::uint32_t c = route.classes.empty() ? 0 : route.classes[hop];
          channels.push_back(route.links[hop].value() * classes + c);
        }
        question.relation.add_route(channels);
      }
    }
    question.what = fmt::format("{} routes among {} nodes", rows.rows.size(), topology.num_nodes());
    return question;
  }
  using Choices = std::vector<std::vector<RouteRelation::Choice>>;
  std::vector<Choices> by_destination(topology.num_nodes(), Choices(topology.num_vertices()));
  std::vector<const RouteRow*> first(topology.num_nodes(), nullptr);
  for (const RouteRow& row : rows.rows) {
    const NodeId at = topology.find_vertex(row.from.text);
    const NodeId to = topology.find_vertex(row.to.text);
    first[to.index()] = &row;
    for (const RouteHop& hop : row.hops) {
      const LinkId link = hop_link(topology, at, hop, diagnostics);
      if (!link.valid()) return std::nullopt;
      by_destination[to.index()][at.index()].push_back(
          {link.value() * classes + hop.vc_class.value_or(0), hop.escape});
    }
  }
  for (std::size_t to = 0; to < by_destination.size(); ++to) {
    const std::string problem = question.relation.add_choices(NodeId(to), by_destination[to]);
    if (problem.empty()) continue;
    diagnostics.error(first[to]->to.place, problem, "list the choices of every vertex on the way");
    return std::nullopt;
  }
  question.what =
      fmt::format("{} choices towards {} nodes", rows.rows.size(), by_destination.size());
  return question;
}

// Returns the exit code.
int answer(const CertifyOptions& options, const Question& question, const std::string& path) {
  const RouteVerdict verdict = question.relation.decide();
  const char* const free =
      !verdict.cut_through ? "DEADLOCK is possible"
      : verdict.wormhole   ? "free of deadlock"
                           : "free of deadlock with cut-through; with wormhole it is not proven";
  tell(stdout, "{}: {}, {} channels: {}\n{}", path, question.what, question.relation.num_channels(),
       free, verdict_text(question.relation, verdict, kPrintedChannels));
  if (!options.output.empty() &&
      !write_text(options.output, verdict_text(question.relation, verdict, ~std::size_t{0}))) {
    return kUsageError;
  }
  return verdict.cut_through && verdict.wormhole ? kGood : kCheckFailed;
}

bool is_route_table(const std::string& text) {
  return text.find("from,to,path") != std::string::npos ||
         text.find("at,to,next") != std::string::npos;
}

}  // namespace

int certify_command(const CertifyOptions& options) {
  if (!can_write({{"--output", options.output}}, {{"file", options.file}})) return kUsageError;
  const FileText file = read_file_text(options.file);
  if (file.text && is_route_table(*file.text)) {
    Diagnostics diagnostics;
    const auto rows = parse_route_rows(options.file, *file.text, diagnostics);
    std::optional<Topology> topology;
    if (rows) topology = network_of(*rows, options.file);
    const auto question = topology ? question_of(*rows, *topology, diagnostics) : std::nullopt;
    if (!question) {
      tell(stderr, "{}", diagnostics.text());
      return kUsageError;
    }
    return answer(options, *question, options.file);
  }
  const auto inputs = load_inputs({options.file}, options.overrides, ConfigNeed::system);
  if (!inputs) return kUsageError;
  const Input& input = inputs->front();
  if (input.points.empty() || input.topology->dimensions()) {
    return usage_error(input.path + ":1:1",
                       "a multi-dimensional system or a program has no packets' routes");
  }
  int code = kGood;
  for (const RunPoint& point : input.points) {
    code = std::max(
        code,
        answer(options, routes_of(*input.topology, certified_vc_classes(*input.topology, point)),
               input.path));
  }
  return code;
}

}  // namespace espalier
