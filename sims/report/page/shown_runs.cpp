#include "sims/report/page/shown_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "sims/report/plot/text.h"

namespace espalier::report {

Shown chosen_by(const ReportView& view, const std::vector<std::size_t>& runs, std::size_t most,
                const std::function<std::string(std::size_t)>& group) {
  const auto time = [&](std::size_t i) {
    return time_ns_of(view.point(i)).value_or(std::numeric_limits<double>::infinity());
  };
  const auto size = [&](std::size_t i) {
    return number_of(view.point(i), "size_bytes").value_or(0);
  };
  const auto is_better = [&](std::size_t a, std::size_t b) {
    return size(a) != size(b) ? size(a) > size(b) : time(a) < time(b);
  };
  Shown shown;
  std::map<std::string, std::size_t> places;
  for (const std::size_t i : runs) {
    const auto [place, is_new] = places.emplace(group(i), shown.runs.size());
    if (is_new) {
      shown.runs.push_back(i);
      continue;
    }
    shown.are_groups = true;
    std::size_t& best = shown.runs[place->second];
    if (is_better(i, best)) best = i;
  }
  if (shown.runs.size() > most) shown.runs.resize(most);
  std::sort(shown.runs.begin(), shown.runs.end());
  return shown;
}

std::string what_is_left_out(const Shown& shown, std::size_t all) {
  if (shown.runs.size() >= all) return {};
  return fmt::format(" {} of {} runs{}.", shown.runs.size(), all,
                     shown.are_groups ? ": of each kind the largest size, and its fastest" : "");
}

std::string title_of_run(const ReportView& view, std::size_t index) {
  const ReportPoint& point = view.point(index);
  std::string words;
  const auto add = [&](const std::string& word) {
    if (!word.empty()) words += (words.empty() ? "" : ", ") + word;
  };
  add(text_of(point, "algorithm").empty() ? text_of(point, "traffic")
                                          : text_of(point, "algorithm"));
  add(text_of(point, "topology"));
  if (const auto size = number_of(point, "size_bytes"))
    add(bytes_text(static_cast<std::uint64_t>(*size)));
  return words;
}

}  // namespace espalier::report
