#include "sims/page/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "alg/algorithm.h"
#include "sims/page/page_files.h"
#include "sims/page/section.h"
#include "sims/page/text.h"

namespace espalier::report {

namespace {

using Json = nlohmann::ordered_json;

// The sections of a report in their order on the page.
using MakeSection = Section (*)(const ReportView& view, Pictures& pictures);
constexpr MakeSection kPageSections[] = {
    latency_section,  // before the long tables, which say little about loads
    summary_section,  // what was run, the differences, the results
    bandwidth_section, training_section, step_section,     pareto_section,   energy_section,
    area_section,      links_section,    schedule_section, activity_section, runs_section,
};

constexpr const char* kDefaultTitle = "Espalier results";

std::string title_of(const ReportData& data) {
  std::string title;
  for (const ReportSource& source : data.sources) {
    if (source.title.empty()) continue;
    if (!title.empty() && title != source.title) return kDefaultTitle;
    title = source.title;
  }
  return title.empty() ? kDefaultTitle : title;
}

// JSON that stands in a script element: no text of it can end the element or begin a comment.
std::string script_json(const Json& json) {
  std::string text;
  for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    if (c == '<' || c == '>' || c == '&') {
      text += fmt::format("\\u{:04x}", c);
    } else {
      text += c;
    }
  }
  return text;
}

// The numbers by which the script chooses colours and marks: an algorithm of the registry has the
// same one on every page.
Json looks_of(const ReportView& view) {
  constexpr std::size_t kNumLooks = 9;  // kColours of page.js
  Json looks = Json::object();
  std::size_t next = kNumLooks;
  for (const Algorithm& algorithm : algorithms()) {
    const std::size_t look = algorithm.look < kNumLooks ? algorithm.look : next++;
    const auto is_shown = [&](const ReportPoint& p) {
      return text_of(p, field::algorithm) == algorithm.name;
    };
    if (!view.points_where(is_shown).empty()) looks[algorithm.name] = look;
  }
  return looks;
}

Json point_json(const ReportView& view, std::size_t index, const std::vector<Metric>& metrics) {
  const ReportPoint& point = view.point(index);
  Json values = Json::array();
  for (const Metric& metric : metrics) {
    const auto value = metric.value(point);
    values.push_back(value ? Json(*value) : Json());
  }
  Json settings = Json::array();
  for (const std::string& key : view.columns()) {
    if (point.config.is_null() || !point.config.contains(key)) {
      settings.push_back(nullptr);
    } else {
      const Json& value = point.config.at(key);
      settings.push_back(value.is_number() ? value : Json(value_text(value)));
    }
  }
  return {{"title", title_of_run(view, index, true)},
          {"about", view.describe(index)},
          {"colour", view.value_on(index, view.colour_axis())},
          {"mark", view.value_on(index, view.mark_axis())},
          {"values", values},
          {"settings", settings}};
}

Json page_json(const ReportView& view, const Pictures& pictures) {
  const std::vector<Metric> metrics = metrics_of(view);
  Json json{{"metrics", Json::array()}, {"keys", Json::array()}, {"points", Json::array()}};
  for (const Metric& metric : metrics) {
    const char* forms[] = {"number", "percent", "bytes"};
    json["metrics"].push_back({{"id", metric.id},
                               {"title", metric.title},
                               {"form", forms[static_cast<std::size_t>(metric.form)]}});
  }
  for (const std::string& key : view.columns()) json["keys"].push_back(view.short_name(key));
  for (const auto& [look, axis] :
       {std::pair{"colour", view.colour_axis()}, {"mark", view.mark_axis()}})
    json[look] = {{"axis", axis}, {"prefix", view.axis_words(axis, "")}};
  json["looks"] = looks_of(view);
  for (std::size_t i = 0; i < view.data().points.size(); ++i)
    json["points"].push_back(point_json(view, i, metrics));
  json["maps"] = pictures.maps();
  json["pictures"] = pictures.pictures();
  return json;
}

// Replaces {{name}} by its text, which is not read again.
std::string filled(std::string_view text, const std::map<std::string_view, std::string>& words) {
  std::string result;
  for (std::size_t at = 0;;) {
    const std::size_t begin = std::min(text.find("{{", at), text.size());
    result += text.substr(at, begin - at);
    if (begin == text.size()) return result;
    const std::size_t end = text.find("}}", begin);
    result += words.at(text.substr(begin + 2, end - begin - 2));
    at = end + 2;
  }
}

}  // namespace

std::string report_html(const ReportView& view, const std::string& title,
                        const std::string& version) {
  Pictures pictures;
  std::string links;
  std::string shown;
  std::string not_shown;
  for (const MakeSection make : kPageSections) {
    const Section section = make(view, pictures);
    const std::string name = escape(section.title);
    if (section.html.empty()) {
      not_shown += fmt::format("<li>{}: {}.</li>\n", name, escape(section.why_not));
      continue;
    }
    links += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", section.id, name);
    shown += fmt::format("<section id=\"{}\"><h2>{}</h2>\n{}</section>\n", section.id, name,
                         section.html);
  }
  if (!not_shown.empty()) {
    shown +=
        "<section id=\"not-shown\"><h2>Not shown</h2>\n<ul>\n" + not_shown + "</ul></section>\n";
  }
  return filled(page_template(),
                {{"title", escape(title.empty() ? title_of(view.data()) : title)},
                 {"version", escape(version)},
                 {"style", std::string(picture_style()) + std::string(page_style())},
                 {"links", links},
                 {"sections", shown},
                 {"data", script_json(page_json(view, pictures))},
                 {"library", std::string(chart_library())},
                 {"script", std::string(page_script())}});
}

}  // namespace espalier::report
