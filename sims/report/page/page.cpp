#include "sims/report/page/page.h"

#include <fmt/format.h>

#include "sims/report/page/section.h"
#include "sims/report/plot/style.h"
#include "sims/report/plot/text.h"

namespace espalier::report {

namespace {

std::string navigation(const std::vector<Section>& sections) {
  std::string html = "<nav aria-label=\"Sections\"><ul>\n";
  for (const Section& section : sections) {
    if (section.html.empty()) continue;
    html += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", section.id, escape(section.title));
  }
  return html + "</ul></nav>\n";
}

std::string what_is_missing(const std::vector<Section>& sections) {
  std::string items;
  for (const Section& section : sections) {
    if (!section.html.empty()) continue;
    items += fmt::format("<li>{}: {}.</li>\n", escape(section.title), escape(section.why_not));
  }
  if (items.empty()) return items;
  return "<section id=\"not-shown\"><h2>Not shown</h2>\n<ul>\n" + items + "</ul></section>\n";
}

}  // namespace

std::string page_html(const std::string& title, const std::string& version,
                      const std::vector<Section>& sections) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta name=\"generator\" content=\"espalier {0}\">\n<title>{1}</title>\n"
      "<style>\n{2}</style>\n</head>\n<body>\n<header><h1>{1}</h1>\n{3}</header>\n<main>\n",
      escape(version), escape(title), style_sheet(), navigation(sections));
  for (const Section& section : sections) {
    if (section.html.empty()) continue;
    html += fmt::format("<section id=\"{0}\"><h2>{1}</h2>\n{2}</section>\n", section.id,
                        escape(section.title), section.html);
  }
  html += what_is_missing(sections);
  return html + fmt::format(
                    "</main>\n<footer><p>Made by espalier {}.</p></footer>\n</body>\n"
                    "</html>\n",
                    escape(version));
}

namespace {

// The sections of a report in their order on the page.
using MakeSection = Section (*)(const ReportView& view);
constexpr MakeSection kPageSections[] = {
    latency_section,  // before the long tables, which say little about loads
    summary_section,  // what was run, the differences, the results
    bandwidth_section, training_section, pareto_section,   energy_section, area_section,
    links_section,     schedule_section, activity_section, runs_section,
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

}  // namespace

std::string report_html(const ReportView& view, const std::string& title,
                        const std::string& version) {
  std::vector<Section> sections;
  for (const MakeSection make : kPageSections) sections.push_back(make(view));
  return page_html(title.empty() ? title_of(view.data()) : title, version, sections);
}

}  // namespace espalier::report
