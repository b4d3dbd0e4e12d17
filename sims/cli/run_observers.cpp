#include "sims/cli/run_observers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "hw/topology/vertex_names.h"
#include "sims/formats/named_node.h"
#include "sims/model/faults.h"
#include "sims/point/fidelity.h"

namespace espalier {

namespace {

// "5000" is a cycle, "step:17" a timestep.
struct WavePoint {
  bool is_step = false;
  std::uint64_t value = 0;
};

std::optional<WavePoint> parse_point(const std::string& text) {
  constexpr std::string_view kStep = "step:";
  WavePoint point;
  point.is_step = text.compare(0, kStep.size(), kStep) == 0;
  const char* begin = text.data() + (point.is_step ? kStep.size() : 0);
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(begin, end, point.value);
  if (error != std::errc() || rest != end) return std::nullopt;
  if (point.is_step && point.value == 0) return std::nullopt;
  return point;
}

void set_point(const std::string& text, std::optional<Cycle>& cycle,
               std::optional<Timestep>& step) {
  if (text.empty()) return;
  const WavePoint point = parse_point(text).value();
  if (point.is_step) {
    step = static_cast<Timestep>(point.value);
  } else {
    cycle = point.value;
  }
}

WaveWindow window_of(const WaveOptions& options) {
  WaveWindow window;
  set_point(options.from, window.from, window.from_step);
  set_point(options.to, window.to, window.to_step);
  return window;
}

// Whether the NIs execute schedule tables, which have timesteps: true for a collective or a
// schedule file.
bool has_steps(const RunPoint& point) {
  const bool only_control = point.control && !point.collective;
  return !point.traffic && !point.system.topology.is_dimensional() && !only_control;
}

// Returns an error if the points are not one simulated collective, which `option` requires.
std::string one_collective_mistake(const std::string& option,
                                   const std::vector<const RunPoint*>& points) {
  if (points.size() != 1) {
    return fmt::format("{} shows one run, but there are {} points; {}", option, points.size(),
                       how_to_choose_one(*points.front(), *points.back()));
  }
  if (points.front()->coordination) {
    return fmt::format("{} shows one collective, but a coordinated job runs many at a time",
                       option);
  }
  const bool is_step = points.front()->workload && points.front()->workload->graph;
  if (points.front()->workload && !(is_step && option == "--timeline")) {
    return fmt::format("{} shows one collective, but a workload simulates several", option);
  }
  return {};
}

std::string wave_mistake(const WaveOptions& options, const std::vector<const RunPoint*>& points) {
  for (const auto& [name, text] :
       {std::make_pair("--wave-from", &options.from), std::make_pair("--wave-to", &options.to)}) {
    if (!text->empty() && !parse_point(*text)) {
      return fmt::format("{} {}: expected a cycle such as 5000, or a timestep such as step:17",
                         name, *text);
    }
  }
  const bool has_details = !options.scopes.empty() || !options.from.empty() || !options.to.empty();
  if (options.file.empty()) {
    return has_details ? "--wave-scope, --wave-from and --wave-to need --waves FILE" : "";
  }
  const WaveWindow window = window_of(options);
  if ((window.from && window.to && *window.from >= *window.to) ||
      (window.from_step && window.to_step && *window.from_step > *window.to_step)) {
    return "--wave-to is not after --wave-from";
  }
  if (const std::string mistake = one_collective_mistake("--waves", points); !mistake.empty()) {
    return mistake;
  }
  const bool in_steps = window.from_step || window.to_step;
  if (in_steps && !has_steps(*points.front())) {
    return "--wave-from and --wave-to in timesteps need schedule tables, but this run has none; "
           "give cycles";
  }
  return {};
}

// The modules that a scope means which names a node or a switch: its NI, and its router unless the
// NI is named. Another scope stays as it is.
void add_scope(const Topology& topology, const std::string& scope, std::vector<std::string>& all) {
  const NodeId vertex = find_vertex(topology, scope);
  const bool names_ni = scope.rfind("ni_", 0) == 0 || scope.rfind("net.ni_", 0) == 0;
  if (!vertex.valid() || (scope.rfind("net.", 0) == 0 && !names_ni)) return all.push_back(scope);
  const std::string& name = topology.vertex_name(vertex);
  if (!topology.is_switch(vertex)) all.push_back("net." + ni_name(name));
  if (!names_ni) all.push_back("net." + name);
}

std::unique_ptr<WaveSession> wave_session(const WaveOptions& options, const Input& input,
                                          const RunPoint& point) {
  WaveRequest request;
  request.path = options.file;
  for (const std::string& scope : options.scopes) add_scope(*input.topology, scope, request.scopes);
  request.window = window_of(options);
  request.clock_hertz = point.system.clock.hertz;
  // Waveforms of a whole run in train fidelity show a train as one event; waveforms of a window
  // show flits.
  request.shows_flits = chosen_fidelity(point) == Fidelity::cycle || !request.window.is_whole_run();
  return std::make_unique<WaveSession>(request);
}

std::string timeline_mistake(const std::string& file, const std::vector<const RunPoint*>& points) {
  if (file.empty()) return {};
  if (file == "-") return "--timeline -: a timeline cannot go to stdout; name a file";
  return one_collective_mistake("--timeline", points);
}

// Explanations follow a schedule. Returns the kind of run if it has no schedule; empty if it has
// one.
std::string what_has_no_account(const Input& input, const RunPoint& point) {
  if (point.traffic) return "traffic";
  if (point.workload && !point.workload->graph) return "a workload";
  if (point.coordination) return "a coordinated job";
  return point.collective || input.tables ? "" : "control messages alone";
}

// Coordinated jobs in closed form have no messages.
std::string message_list_mistake(const RunOptions& options, const std::vector<Input>& inputs) {
  if (options.messages.empty()) return {};
  if (options.messages == "-") return "--messages -: messages cannot go to stdout; name a file";
  for (const Input& input : inputs) {
    for (const RunPoint& point : input.points) {
      if (!point.coordination || is_on_network(point.coordination->control_plane,
                                               input.topology->num_nodes(), kMostControlRanks)) {
        continue;
      }
      return fmt::format(
          "{}: error: --messages: a closed form has no messages to list; -s "
          "coordination.control_plane=network simulates them",
          input.path);
    }
  }
  return {};
}

// What `options` ask about. Otherwise `mistake` is the first part that the network does not have.
PartQuestions questions_of(const PartOptions& options, const Topology& topology,
                           std::string& mistake) {
  PartQuestions questions{{}, {}, options.steps, options.messages};
  const auto vertex_of = [&](const std::string& option, const std::string& name, bool only_nodes) {
    const NodeId vertex = find_vertex(topology, name);
    if (!vertex.valid() && mistake.empty()) {
      mistake = fmt::format("{}: the network has no node '{}'\nhint: {}", option, name,
                            vertex_hint(topology, name, only_nodes));
    }
    return vertex;
  };
  for (const std::string& ni : options.nis) questions.nis.push_back(vertex_of("--ni", ni, true));
  for (const std::string& link : options.links) {
    const std::size_t arrow = std::min(link.find("->"), link.size());
    const std::string option = "--link " + link;
    const NodeId from = vertex_of(option, CLI::detail::trim_copy(link.substr(0, arrow)), false);
    if (arrow == link.size()) mistake = option + ": expected two nodes or switches: '0->1'";
    if (!mistake.empty()) break;
    const NodeId to = vertex_of(option, CLI::detail::trim_copy(link.substr(arrow + 2)), false);
    if (!mistake.empty()) break;
    const std::vector<LinkId> links = links_of(topology, from, to);
    questions.links.insert(questions.links.end(), links.begin(), links.end());
    if (!links.empty()) continue;
    std::set<std::string> others;
    for (const LinkId out : topology.out_links(from)) {
      others.insert(topology.vertex_name(topology.link(out).to));
    }
    mistake = fmt::format("{}: no such link\nhint: links from {} lead to {}", option,
                          topology.vertex_name(from), fmt::join(others, ", "));
  }
  return questions;
}

std::string part_mistake(const PartOptions& options, const std::vector<Input>& inputs,
                         const std::vector<const RunPoint*>& points) {
  const char* const option = !options.nis.empty()        ? "--ni"
                             : !options.links.empty()    ? "--link"
                             : !options.steps.empty()    ? "--step"
                             : !options.messages.empty() ? "--message"
                                                         : nullptr;
  if (option == nullptr) return {};
  std::string mistake = one_collective_mistake(option, points);
  if (!mistake.empty()) return mistake;
  static_cast<void>(questions_of(options, *inputs.front().topology, mistake));
  return mistake.empty() ? "" : fmt::format("{}: error: {}", inputs.front().path, mistake);
}

}  // namespace

std::string observer_mistake(const RunOptions& options, const std::vector<Input>& inputs) {
  std::vector<const RunPoint*> points;
  std::string no_account;
  for (const Input& input : inputs) {
    for (const RunPoint& point : input.points) {
      points.push_back(&point);
      const std::string what = what_has_no_account(input, point);
      if (what.empty() || !no_account.empty()) continue;
      no_account =
          fmt::format("{}: error: explain needs the schedule of a collective; it cannot explain {}",
                      input.path, what);
    }
  }
  for (const std::string& mistake :
       {message_list_mistake(options, inputs), wave_mistake(options.waves, points),
        timeline_mistake(options.timeline, points), part_mistake(options.parts, inputs, points)}) {
    if (!mistake.empty()) return mistake;
  }
  if (options.explain && !no_account.empty()) return no_account;
  return output_mistake({{"--json", options.json},
                         {"--csv", options.csv},
                         {"--messages", options.messages},
                         {"--waves", options.waves.file},
                         {"--timeline", options.timeline}},
                        files_of(inputs));
}

RunObservers::RunObservers(const RunOptions& options, const Input& input, const RunPoint& point)
    : explains_(options.explain), is_step_(point.workload && point.workload->graph) {
  if (!options.waves.file.empty()) waves_ = wave_session(options.waves, input, point);
  if (!options.timeline.empty()) {
    timeline_ = std::make_unique<TimelineSession>(options.timeline, point.system.clock.hertz);
  }
  // If all signals are recorded, the save file shows the channels of the critical path first. For a
  // window, the critical path is not computed.
  const WaveOptions& waves = options.waves;
  const bool shows_all = waves.scopes.empty() && waves.from.empty() && waves.to.empty();
  const bool orders_waves = waves_ && shows_all && what_has_no_account(input, point).empty();
  if (!explains_ && !orders_waves) return;
  std::string mistake;
  account_.emplace();
  account_->ask(questions_of(options.parts, *input.topology, mistake));
}

void RunObservers::watch(SimulationHooks& hooks) {
  if (waves_) hooks.observers.push_back(waves_.get());
  if (timeline_ && is_step_) {
    hooks.step_ended = [this](const auto& hosts, const auto& links) {
      timeline_->write(hosts, links);
    };
  } else if (timeline_) {
    hooks.observers.push_back(timeline_.get());
  }
}

void RunObservers::finish(PointReport& report) {
  // A run that did not end has no critical path, so its save file keeps its order.
  if (waves_ && account_ && !account_->highlights().channels.empty()) {
    const RunAccount::Highlights& shown = account_->highlights();
    waves_->show_first({shown.nis, shown.channels, shown.worst_slip});
  }
  if (!explains_) report.result.erase("explanation");
}

std::string RunObservers::problems() const {
  std::string text;
  if (waves_ && !waves_->problem().empty()) text += fmt::format("error: {}\n", waves_->problem());
  if (timeline_ && !timeline_->problem().empty())
    text += fmt::format("error: {}\n", timeline_->problem());
  return text;
}

}  // namespace espalier
