#include "sims/observe/explain/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

// Rows of a brief account.
constexpr std::size_t kBriefKinds = 5;
constexpr std::size_t kBriefPlaces = 3;
constexpr std::size_t kBriefSlips = 3;

constexpr std::size_t kMostCauses = 12;
constexpr std::size_t kMostBottlenecks = 5;
constexpr std::size_t kMostParts = 12;  // parts of one message's time
constexpr std::size_t kMostLegs = 40;   // half from the beginning, half from the end

std::string words(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

// `form` with the member of the object that has the name; nothing without the member.
std::string part(const Json& object, const char* name, const char* form) {
  const auto found = object.find(name);
  if (found == object.end()) return {};
  const std::string word = found->is_string() ? found->get<std::string>() : found->dump();
  return fmt::format(fmt::runtime(form), word);
}

std::string step_text(const Json& step) {
  return fmt::format("context {} step {}, pass {}", step["context"].dump(),
                     step["context_step"].dump(), step["pass"].dump());
}

std::string message_text(const Json& message) {
  std::string text = message["op"].get<std::string>();
  text += part(message, "flow", " of flow {}") + part(message, "connection", " of connection {}") +
          part(message, "from", " {} -> ") + part(message, "to", "{}") +
          part(message, "step", ", step {}");
  if (message.contains("context")) text += ", " + step_text(message);
  return text + part(message, "chunk", ", chunk {}") + part(message, "stage", ", {} on ") +
         part(message, "dimension", "dim{}") + part(message, "stage_step", ", step {}");
}

std::string cause_text(const Json& cause) {
  std::string text = words(cause["kind"].get<std::string>());
  if (cause.contains("other")) {
    text += fmt::format(" {} {}", cause["kind"] == "arbitration_loss" ? "to" : "behind",
                        message_text(cause["other"]));
  }
  const bool at_router = cause.contains("router");
  return text + part(cause, "router", " at {}") +
         part(cause, "channel", at_router ? ", for {}" : " on {}") +
         part(cause, "ni", at_router ? ", for {}" : " at {}") +
         part(cause, "context", " context {}") + part(cause, "held_up_by", ", held up by {}");
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string totals_text(const Json& explanation, std::size_t most) {
  const auto cycles = explanation["cycles"].get<std::uint64_t>();
  std::vector<std::pair<std::uint64_t, std::string>> kinds;
  for (const auto& [kind, part] : explanation["totals"].items()) kinds.emplace_back(part, kind);
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  std::uint64_t rest = 0;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const auto& [part, kind] = kinds[k];
    if (k >= most) {
      rest += part;
    } else {
      text += fmt::format("  {:>12}  {:5.1f} %  {}\n", part, percent(part, cycles), words(kind));
    }
  }
  if (rest != 0) text += fmt::format("  {:>12}  {:5.1f} %  other\n", rest, percent(rest, cycles));
  return text + fmt::format("  {:>12}           total\n", cycles);
}

// The first `most` of a list with cycles, each in the words of `text_of`.
template <class TextOf>
std::string shares_text(const Json& list, std::uint64_t whole, std::size_t most, TextOf&& text_of) {
  std::string text;
  for (std::size_t i = 0; i < std::min(list.size(), most); ++i) {
    const auto part = list[i]["cycles"].get<std::uint64_t>();
    text += fmt::format("  {:>12}  {:5.1f} %  {}\n", part, percent(part, whole), text_of(list[i]));
  }
  if (list.size() > most) text += fmt::format("  and {} more\n", list.size() - most);
  return text;
}

// Cycles of one kind at one place, and the messages that were served there instead.
struct Part {
  Json cause;
  std::uint64_t cycles = 0;
  std::vector<Json> others;
};

// A message's segments by kind and place, in the order in which they first come.
std::vector<Part> parts_of(const Json& segments) {
  std::vector<Part> parts;
  for (const Json& segment : segments) {
    Json cause = segment;
    cause.erase("cycles");
    cause.erase("other");
    // The kind is enough for segments at the places that the message itself names.
    const bool waits =
        segment.contains("other") || segment.contains("router") || segment.contains("held_up_by");
    if (!waits) cause = {{"kind", segment["kind"]}};
    auto part = std::find_if(parts.begin(), parts.end(),
                             [&](const Part& other) { return other.cause == cause; });
    if (part == parts.end()) part = parts.insert(part, {cause, 0, {}});
    part->cycles += segment["cycles"].get<std::uint64_t>();
    if (!segment.contains("other")) continue;
    const Json& other = segment["other"];
    if (std::find(part->others.begin(), part->others.end(), other) == part->others.end()) {
      part->others.push_back(other);
    }
  }
  return parts;
}

std::string part_text(const Part& part) {
  if (part.others.size() == 1) {
    Json cause = part.cause;
    cause["other"] = part.others.front();
    return fmt::format("{} {}", cause_text(cause), part.cycles);
  }
  std::string text = cause_text(part.cause);
  if (!part.others.empty()) text += fmt::format(" ({} messages)", part.others.size());
  return fmt::format("{} {}", text, part.cycles);
}

std::string leg_text(const Json& leg) {
  const Json& segments = leg["segments"];
  std::vector<Part> parts = parts_of(segments);
  std::string text;
  if (parts.size() > kMostParts) {
    std::stable_sort(parts.begin(), parts.end(),
                     [](const Part& a, const Part& b) { return a.cycles > b.cycles; });
  }
  std::uint64_t rest = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i >= kMostParts) {
      rest += parts[i].cycles;
    } else {
      text += fmt::format("{}{}", i == 0 ? "" : "; ", part_text(parts[i]));
    }
  }
  if (rest != 0) text += fmt::format("; elsewhere {}", rest);
  std::string what = cause_text(segments[0]);
  if (leg.contains("message")) what = message_text(leg["message"]);
  if (leg.contains("step")) {
    const Json& step = leg["step"];
    what = fmt::format("{} at {}, {}", step["op"].get<std::string>(), step["ni"].get<std::string>(),
                       step_text(step));
  }
  return fmt::format("  {:>10} {:>10}  {}\n{:25}{}\n", leg["from_cycle"].dump(),
                     leg["to_cycle"].dump(), what, "", text);
}

std::string path_text(const Json& explanation) {
  const Json& path = explanation["path"];
  std::string text;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path.size() > kMostLegs && i == kMostLegs / 2) {
      text += fmt::format("  ... {} more, in --json\n", path.size() - kMostLegs);
      i = path.size() - kMostLegs / 2;
    }
    text += leg_text(path[i]);
  }
  return text;
}

std::string slips_text(const Json& explanation, std::size_t most) {
  std::string text;
  for (std::size_t s = 0; s < std::min(most, explanation["slips"].size()); ++s) {
    const Json& delay = explanation["slips"][s];
    text += part(delay, "late_cycles", "  {:>10} late  ") + part(delay, "ni", "{}") +
            part(delay, "step", " in step {}");
    if (delay.contains("waited_for")) {
      text += fmt::format(", waiting for the {}", message_text(delay["waited_for"]));
    }
    if (delay.contains("cause")) {
      text += fmt::format("\n{:18}delayed most by {}: {} cycles\n", "", cause_text(delay["cause"]),
                          delay["cause_cycles"].dump());
    } else {
      text += fmt::format("\n{:18}which took no longer than on an idle network\n", "");
    }
  }
  return text.empty() ? "  none\n" : text;
}

std::string slack_text(const Json& explanation) {
  if (!explanation.contains("slack")) return {};
  std::string text = "\nSlack: cycles by which a timestep's entries could have issued later\n";
  text += "    step       least  at                   critical NIs\n";
  for (const Json& step : explanation["slack"]) {
    std::size_t critical = 0;
    for (const auto& [ni, cycles] : step["cycles_by_ni"].items()) critical += cycles == 0 ? 1U : 0U;
    text += fmt::format("  {:>6}  {:>10}  {:<20} {} of {}\n", step["step"].dump(),
                        step["least_cycles"].dump(), step["least_at"].get<std::string>(), critical,
                        step["cycles_by_ni"].size());
  }
  return text;
}

}  // namespace

std::string explanation_text(const Json& result, ExplanationDetail detail) {
  const Json& explanation = result["explanation"];
  const auto cycles = explanation["cycles"].get<std::uint64_t>();
  const std::string span = result.contains("program")
                               ? "from the host's call to the end of the last context"
                               : fmt::format("from the first issue (cycle {}) to the last delivery",
                                             explanation["first_issue_cycle"].dump());
  std::string text =
      fmt::format("\n{} on {}: {} cycles {}\n", result["algorithm"].get<std::string>(),
                  result["topology"].get<std::string>(), cycles, span);
  text += explanation["verdict"].get<std::string>() + "\n";
  if (result["bound_ratio"].is_number()) {
    text += fmt::format("Lower bound: {:.1f} % of that; {}\n",
                        100 * result["bound_ratio"].get<double>(),
                        result["bound_binding"].get<std::string>());
    if (result.contains("two_phase_bound_ns")) {
      text += fmt::format(
          "A reduce_scatter and then an all_gather: at least {:.1f} % of that\n",
          100 * result["two_phase_bound_ns"].get<double>() / result["time_ns"].get<double>());
    }
  }
  if (result.contains("folded") && result["folded"].get<bool>()) {
    text += "One NPU was simulated for all NPUs, so it is both ends of every message\n";
  }
  const bool brief = detail == ExplanationDetail::brief;
  text += "\nWhere the time went, on the critical path (cycles)\n" +
          totals_text(explanation, brief ? kBriefKinds : explanation["totals"].size());
  if (!brief) {
    text += "\nBy place\n" + shares_text(explanation["causes"], cycles, kMostCauses, cause_text);
  }
  text += "\nBy channel that limited the rate\n" +
          shares_text(explanation["bottlenecks"], cycles, brief ? kBriefPlaces : kMostBottlenecks,
                      [](const Json& each) {
                        return fmt::format("{} ({})", each["place"].get<std::string>(),
                                           each["channel"].get<std::string>());
                      });
  if (!brief) {
    text += "\nThe critical path, message by message (from, to)\n" + path_text(explanation);
  }
  text += explanation.contains("slack")
              ? "\nThe worst slips: how much later than the median NI an NI finished its timestep "
                "(cycles)\n"
              : "\nThe worst slips: cycles beyond those on an idle, healthy network\n";
  text += slips_text(explanation, brief ? kBriefSlips : explanation["slips"].size());
  if (brief) return text + "\nThe critical path message by message, and slack: explain --all\n";
  return text + slack_text(explanation);
}

}  // namespace espalier
