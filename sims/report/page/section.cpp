#include "sims/report/page/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "sims/report/plot/text.h"

namespace espalier::report {

std::string figure_html(const std::string& title, const Svg& svg, const std::string& caption) {
  return fmt::format("<figure><h3>{}</h3>\n{}{}</figure>\n", escape(title), svg.str(),
                     caption.empty() ? std::string()
                                     : fmt::format("<figcaption>{}</figcaption>", escape(caption)));
}

std::string figures_html(const std::vector<std::string>& figures) {
  std::string html = "<div class=\"figures\">\n";
  for (const std::string& figure : figures) html += figure;
  return html + "</div>\n";
}

std::string first_figures_html(std::size_t count, const std::string& rest,
                               const std::function<std::string(std::size_t)>& draw) {
  std::vector<std::string> figures;
  for (std::size_t f = 0; f < std::min(count, kMostPictures); ++f) figures.push_back(draw(f));
  if (count <= kMostPictures) return figures_html(figures);
  return paragraph_html(
             fmt::format("The first {} of {} pictures; {}.", kMostPictures, count, rest)) +
         figures_html(figures);
}

std::string beside_html(const std::string& figures, const std::string& table, bool beside) {
  return beside ? "<div class=\"beside\">\n" + figures + table + "</div>\n" : figures + table;
}

std::string spread_text(double part) {
  return part < 1e-4 ? "0.01 %" : fmt::format("{:.2g} %", 100 * part);
}

std::string paragraph_html(const std::string& plain_text) {
  return "<p>" + escape(plain_text) + "</p>\n";
}

void HtmlTable::add_column(const std::string& plain_title, bool numbers) {
  numbers_.push_back(numbers);
  head_ += fmt::format("<th scope=\"col\"{}>{}</th>", numbers ? " class=\"n\"" : "",
                       escape(plain_title));
}

void HtmlTable::begin_row(const std::string& attributes) {
  if (!body_.empty()) body_ += "</tr>\n";
  body_ += "<tr" + attributes + ">";
  column_ = 0;
}

void HtmlTable::add_cell(const std::string& html) {
  body_ += fmt::format("<td{}>{}</td>", numbers_[column_] ? " class=\"n\"" : "", html);
  ++column_;
}

void HtmlTable::add_text(const std::string& plain_text) { add_cell(escape(plain_text)); }

std::string HtmlTable::str(const std::string& plain_caption) const {
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table>"
      "<caption>{0}</caption>\n<thead><tr>{1}</tr></thead>\n<tbody>\n{2}{3}</tbody></table></"
      "div>\n",
      escape(plain_caption), head_, body_, body_.empty() ? "" : "</tr>\n");
}

namespace {

void add_values(std::vector<LegendEntry>& legend, const ReportView& view,
                const std::vector<std::size_t>& runs, const std::string& axis,
                const std::function<SeriesLook(std::size_t)>& look) {
  std::set<std::string> seen;
  for (const std::size_t i : runs) {
    const std::string value = view.value_on(i, axis);
    if (value.empty() || !seen.insert(value).second) continue;
    legend.push_back({view.axis_words(axis, value), look(i), false});
  }
}

}  // namespace

std::vector<LegendEntry> legend_of(const ReportView& view, const std::vector<std::size_t>& runs) {
  constexpr std::size_t kGrey = 7;
  std::vector<LegendEntry> legend;
  const bool are_paired = view.colour_axis() == view.mark_axis();
  add_values(legend, view, runs, view.colour_axis(), [&](std::size_t i) {
    SeriesLook look = view.look_of(i);
    if (!are_paired) look.mark = 0;
    return look;
  });
  if (are_paired) return legend;
  add_values(legend, view, runs, view.mark_axis(), [&](std::size_t i) {
    SeriesLook look = view.look_of(i);
    look.look = kGrey;
    return look;
  });
  return legend;
}

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
  return fmt::format(
      " {} of {} runs{}.", shown.runs.size(), all,
      shown.are_groups ? ": the fastest run with the largest size of each kind" : "");
}

std::string title_of_run(const ReportView& view, std::size_t index, bool named) {
  const ReportPoint& point = view.point(index);
  std::string words;
  add_word(words, text_of(point, "algorithm").empty() ? text_of(point, "traffic")
                                                      : text_of(point, "algorithm"));
  add_word(words, text_of(point, "topology"));
  if (const auto size = number_of(point, "size_bytes"))
    add_word(words, bytes_text(static_cast<std::uint64_t>(*size)));
  return named ? fmt::format("{}: {}", name_of_run(index), words) : words;
}

}  // namespace espalier::report
