#include "sims/report/page/section.h"

#include <fmt/format.h>

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

}  // namespace espalier::report
