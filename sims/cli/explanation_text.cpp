// Tables of where the time of a run went.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "sims/cli/output.h"
#include "sims/experiment/result_fields.h"
#include "sims/observe/explain/segment.h"
#include "sims/text/fitted_text.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

// Rows of a brief account: of kinds of time, and of other tables.
constexpr std::size_t kBriefKinds = 5;
constexpr std::size_t kBriefRows = 3;
constexpr std::size_t kBriefParts = 10;  // of a step

constexpr std::size_t kMostRows = 40;

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
  std::string text = part(message, "id", "message {}, ") + message["op"].get<std::string>();
  text += part(message, "flow", " of flow {}") + part(message, "connection", " of connection {}") +
          part(message, "from", " {} -> ") + part(message, "to", "{}") +
          part(message, "step", ", step {}");
  if (message.contains("context")) text += ", " + step_text(message);
  return text + part(message, "chunk", ", chunk {}") + part(message, "stage", ", {} on ") +
         part(message, "dimension", "dim{}") + part(message, "stage_step", ", step {}");
}

std::string cause_text(const Json& cause) {
  std::string text = plain_words(cause["kind"].get<std::string>());
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

std::string share_text(double part, double whole) {
  return fmt::format("{:.1f} %", whole == 0 ? 0 : 100 * part / whole);
}

// A member of a row: a number, a text or a message. Without a name: the cause that the row is.
std::string cell_of(const Json& row, const std::string& field) {
  if (field.empty()) return cause_text(row);
  const auto found = row.find(field);
  if (found == row.end() || found->is_null()) return "-";
  if (found->is_object()) return message_text(*found);
  return found->is_string() ? found->get<std::string>() : found->dump();
}

struct Column {
  const char* title;
  const char* field;
};

// A table of the first or, if the rows have parts of the cycles `whole`, of the largest `most` rows
// in their order (with another `unit`, of that), without columns that say nothing. The other rows
// are summed up.
std::string rows_text(const Json& rows, const std::vector<Column>& columns, double whole,
                      std::size_t most, const char* unit = "cycles") {
  const auto cycles_of = [](const Json& row) { return row.value("cycles", 0.0); };
  std::vector<double> sizes;
  for (const Json& row : rows) sizes.push_back(cycles_of(row));
  std::sort(sizes.rbegin(), sizes.rend());
  const double least = whole == 0 || sizes.size() <= most ? 0 : sizes[most - 1];
  std::vector<std::vector<std::string>> lines(1);
  double left_out = 0;
  for (const Json& row : rows) {
    if (lines.size() > most || cycles_of(row) < least) {
      left_out += cycles_of(row);
      continue;
    }
    std::vector<std::string>& line = lines.emplace_back();
    for (const Column& column : columns) line.push_back(cell_of(row, column.field));
    if (whole == 0) continue;
    const bool counts = row["cycles"].is_number_integer();
    line.insert(line.begin() + 1,
                {counts ? cell_of(row, "cycles") : fmt::format("{:.3f}", cycles_of(row)),
                 share_text(cycles_of(row), whole)});
  }
  if (lines.size() == 1) return "  none\n";
  for (const Column& column : columns) lines[0].emplace_back(column.title);
  if (whole != 0) lines[0].insert(lines[0].begin() + 1, {unit, "share"});
  for (std::size_t c = lines[0].size(); c-- > 0;) {
    const bool is_empty = std::all_of(lines.begin() + 1, lines.end(),
                                      [c](const auto& line) { return line[c] == "-"; });
    if (!is_empty) continue;
    for (auto& line : lines) line.erase(line.begin() + static_cast<std::ptrdiff_t>(c));
  }
  std::string text = fitted_table(lines, terminal_width(), "  ");
  if (const std::size_t rest = rows.size() + 1 - lines.size(); rest != 0) {
    text += fmt::format("  and {} more", rest);
    if (whole != 0)
      text += fmt::format(", {:.0f} {}, {}", left_out, unit, share_text(left_out, whole));
    text += "\n";
  }
  return text;
}

double cycles_in(const Json& account) { return account["cycles"].get<double>(); }

std::string totals_text(const Json& account, std::size_t most) {
  Json rows = Json::array();
  for (const auto& [kind, cycles] : account["totals"].items()) {
    rows.push_back({{"cycles", cycles}, {"name", plain_words(kind)}});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Json& a, const Json& b) { return a["cycles"] > b["cycles"]; });
  return rows_text(rows, {{"kind of time", "name"}}, cycles_in(account), most);
}

// A span of time in its order. The other party is who was served meanwhile, else the NI where the
// time is spent, else the sender of the message. `self`: the NI of the span.
std::string path_text(const Json& account, const std::string& self) {
  Json rows = Json::array();
  for (const Json& leg : account["path"]) {
    const std::size_t first = rows.size();
    for (const Json& segment : leg["segments"]) {
      Json row{{"from", leg["from_cycle"]}, {"to", leg["to_cycle"]}};
      const Json by = segment.value("other", leg.value("message", Json::object()));
      std::string party = segment.contains("other") ? "" : part(segment, "ni", "{}");
      if (party.empty()) party = part(by, "from", "{}");
      if (!party.empty()) row["party"] = party == self ? "itself" : party;
      const bool is_other = account.value("message", Json()) != leg.value("message", Json());
      if (leg.contains("message") && is_other) row["what"] = leg["message"];
      if (leg.contains("step")) {
        row["what"] = leg["step"]["op"].get<std::string>() + " in " + step_text(leg["step"]);
      }
      row["kind"] = plain_words(segment["kind"].get<std::string>()) +
                    part(segment.value("other", Json::object()), "id", " behind {}");
      std::string place = part(segment, "channel", "{}");
      if (place.empty())
        place = part(segment, "ni", "{}") + part(segment, "context", " context {}");
      row["where"] = place + part(segment, "held_up_by", ", held up by {}");
      const auto same = std::find_if(
          rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end(), [&](const Json& other) {
            return other["kind"] == row["kind"] && other["where"] == row["where"];
          });
      if (same == rows.end()) {
        row["cycles"] = segment["cycles"];
        rows.push_back(std::move(row));
      } else {
        (*same)["cycles"] =
            (*same)["cycles"].get<std::uint64_t>() + segment["cycles"].get<std::uint64_t>();
      }
    }
  }
  return rows_text(rows,
                   {{"cause", "kind"},
                    {"from", "from"},
                    {"to", "to"},
                    {"where", "where"},
                    {"other party", "party"},
                    {"message", "what"}},
                   cycles_in(account), kMostRows);
}

// NIs that are late, in a step or in the whole run.
std::string delays_text(Json delays, std::size_t most) {
  for (Json& delay : delays) {
    if (delay.contains("cause")) {
      delay["most_by"] = cause_text(delay["cause"]) + part(delay, "cause_cycles", ": {}");
    } else if (delay.contains("waited_for")) {
      delay["most_by"] = "nothing: no longer than on an idle network";
    }
  }
  return rows_text(delays,
                   {{"NI", "ni"},
                    {"step", "step"},
                    {"at cycle", "at_cycle"},
                    {"ended", "ended_cycle"},
                    {"late", "late_cycles"},
                    {"behind median", "behind_median_cycles"},
                    {"after plan", "after_plan_cycles"},
                    {"waited for", "waited_for"},
                    {"delayed most by", "most_by"}},
                   0, most);
}

std::string slack_text(Json steps) {
  for (Json& step : steps) {
    const Json& by_ni = step["cycles_by_ni"];
    step["critical"] =
        fmt::format("{} of {}", std::count(by_ni.begin(), by_ni.end(), 0), by_ni.size());
  }
  return "\nSlack: cycles by which a timestep's entries could have issued later\n" +
         rows_text(steps,
                   {{"step", "step"},
                    {"least", "least_cycles"},
                    {"at", "least_at"},
                    {"critical NIs", "critical"}},
                   0, steps.size());
}

// "4000 cycles (40.0 %) in which ..., and 6000 (60.0 %) in which ..."
std::string split_text(const Json& account, const char* field, const char* form) {
  const double cycles = cycles_in(account);
  const auto first = account[field].get<double>();
  return fmt::format(fmt::runtime(form), first, share_text(first, cycles), cycles - first,
                     share_text(cycles - first, cycles));
}

std::string part_text(const Json& about) {
  if (about.contains("nis")) {
    return fmt::format("\nTimestep {}{}: the NIs with entries, the last one first\n",
                       about["step"].dump(),
                       about["planned_cycle"].is_null()
                           ? ", whose begin no down-counter plans"
                           : part(about, "planned_cycle", ", planned from cycle {}")) +
           delays_text(about["nis"], about["nis"].size());
  }
  const std::string cycles = part(about, "cycles", "{} cycles");
  if (about.contains("uses")) {
    return part(about, "place", "\n{}") + part(about, "channel", " ({}): ") + cycles +
           split_text(about, "busy_cycles", ", busy for {} ({}), idle for {} ({})\n") +
           rows_text(about["uses"],
                     {{"message", "message"},
                      {"from", "from_cycle"},
                      {"to", "to_cycle"},
                      {"flits", "flits"}},
                     cycles_in(about), kMostRows) +
           "Messages that waited for it, several at a time\n" +
           rows_text(about["waits"], {{"message", "message"}, {"cause", ""}}, cycles_in(about),
                     kMostRows);
  }
  std::string text;
  if (about.contains("route")) {
    text = "\n" + message_text(about["message"]) + ": " + cycles +
           part(about, "ready_cycle", "; ready in cycle {}") +
           (about.contains("ready_by") ? ", by " + message_text(about["ready_by"]) : "") +
           part(about, "issued_cycle", "; issued in cycle {}") +
           part(about, "delivered_cycle", ", in memory in cycle {}\n") +
           rows_text(about["route"],
                     {{"route", "place"},
                      {"first flit at its end", "first_flit_cycle"},
                      {"last flit", "last_flit_cycle"},
                      {"waited for it", "waited_cycles"}},
                     0, about["route"].size());
  } else {
    text = part(about, "ni", "\n{}: ") + cycles + " from the hosts' call to its last event" +
           split_text(about, "worked_cycles",
                      "; {} ({}) in which its own work decided when it went on, and {} ({}) in "
                      "which it waited\n");
  }
  const std::string self =
      part(about.value("message", about), "from", "{}") + part(about, "ni", "{}");
  return text + totals_text(about, kMostRows) + "In order\n" + path_text(about, self);
}

// The critical path of a step: by work, by dimension of the network, and part by part.
std::string step_path_text(const Json& result, const Json& path, bool brief) {
  const auto us = [](const Json& ns) { return ns.get<double>() / 1e3; };
  const std::size_t most = brief ? kBriefParts : kMostRows;
  const double whole = us(result["time_ns"]);
  const std::size_t digits = fmt::format("{:.3f}", whole).size();
  std::map<std::string, double> by_work;
  std::map<std::string, std::pair<double, double>> by_dimension;  // us, and us in which it was busy
  Json parts = Json::array();
  for (const Json& part : path) {
    Json& row = parts.emplace_back(part);
    const double took = us(part["to_ns"].get<double>() - part["from_ns"].get<double>());
    row["from"] = fmt::format("{:{}.3f}", us(part["from_ns"]), digits);
    row["cycles"] = took;
    row["work"] = part.value("group", part["kind"].get<std::string>());
    by_work[row["work"].get<std::string>()] += took;
    if (!part.contains("link")) continue;
    const auto busy = part["busy"].get<double>();
    row["used"] = share_text(busy, 1);
    auto& sum = by_dimension[part["dimension"].get<std::string>()];
    sum.first += took;
    sum.second += took * busy;
  }
  const auto sorted_text = [&](Json rows, const std::vector<Column>& columns) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Json& a, const Json& b) { return a["cycles"] > b["cycles"]; });
    return "\n" + rows_text(rows, columns, whole, most, "us");
  };
  Json works = Json::array();
  for (const auto& [name, sum] : by_work) works.push_back({{"name", name}, {"cycles", sum}});
  Json dimensions = Json::array();
  for (const auto& [name, sum] : by_dimension) {
    dimensions.push_back(
        {{"name", name}, {"cycles", sum.first}, {"busy", share_text(sum.second, sum.first)}});
  }
  std::string text = fmt::format("\n{} on {}: the critical path of {:.3f} us\n",
                                 result["workload"].get<std::string>(),
                                 result["topology"].get<std::string>(), whole) +
                     sorted_text(works, {{"work, collectives by group", "name"}});
  if (!dimensions.empty()) {
    text += sorted_text(dimensions, {{"dimension of the busiest link", "name"}, {"busy", "busy"}});
  }
  return text + "\n" +
         rows_text(parts,
                   {{"from us", "from"},
                    {"rank", "rank"},
                    {"node", "node"},
                    {"name", "name"},
                    {"work", "work"},
                    {"busiest link", "link"},
                    {"dimension", "dimension"},
                    {"busy", "used"},
                    {"others on it", "others"}},
                   whole, brief ? kBriefParts : parts.size(), "us");
}

}  // namespace

std::string explanation_text(const Json& result, ExplanationDetail detail) {
  if (const Json* path = find_field(result, field::step_path)) {
    return step_path_text(result, *path, detail == ExplanationDetail::brief);
  }
  const Json& explanation = result["explanation"];
  const std::string span = result.contains("program")
                               ? "from the host's call to the end of the last context"
                               : fmt::format("from the first issue (cycle {}) to the last delivery",
                                             explanation["first_issue_cycle"].dump());
  std::string text =
      fmt::format("\n{} on {}: {} cycles {}\n", result["algorithm"].get<std::string>(),
                  result["topology"].get<std::string>(), explanation["cycles"].dump(), span);
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
  if (explanation.contains("parts")) {
    for (const Json& about : explanation["parts"]) text += part_text(about);
    if (brief) return text;
  }
  text += "\nWhere the time went, on the critical path\n" +
          totals_text(explanation, brief ? kBriefKinds : kMostRows);
  if (!brief) {
    text += "\nBy place\n" +
            rows_text(explanation["causes"], {{"cause", ""}}, cycles_in(explanation), kMostRows);
  }
  text += "\nBy channel that limited the rate\n" +
          rows_text(explanation["bottlenecks"], {{"channel", "place"}, {"its module", "channel"}},
                    cycles_in(explanation), brief ? kBriefRows : kMostRows);
  if (!brief) {
    text += "\nThe critical path, message by message\n" + path_text(explanation, "");
  }
  text +=
      "\nThe worst slips: cycles by which an NI got behind the median NI in a timestep, or a "
      "message behind an idle, healthy network\n" +
      delays_text(explanation["slips"], brief ? kBriefRows : kMostRows);
  if (!brief) return text + (explanation.contains("slack") ? slack_text(explanation["slack"]) : "");
  return text +
         "\nMessage by message, and slack: explain --all. About one part: --ni, --link, --step, "
         "--message\n";
}

}  // namespace espalier
