#include "sims/report/plot/svg.h"

#include <fmt/format.h>

#include "sims/report/plot/text.h"

namespace espalier::report {

Svg::Svg(double width, double height, const std::string& title, const std::string& description)
    : width_(width), height_(height) {
  body_ = fmt::format(
      "<svg viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"{2}\">"
      "<title>{2}</title><desc>{3}</desc>\n",
      coordinate_text(width), coordinate_text(height), escape(title), escape(description));
}

void Svg::shape(const char* name, const Attributes& attributes, const std::string& tip) {
  body_ += fmt::format("<{}", name);
  for (const auto& [key, value] : attributes)
    body_ += fmt::format(" {}=\"{}\"", key, escape(value));
  body_ += tip.empty() ? std::string("/>\n")
                       : fmt::format("><title>{}</title></{}>\n", escape(tip), name);
}

void Svg::line(double x1, double y1, double x2, double y2, const std::string& classes) {
  shape("line", {{"class", classes},
                 {"x1", coordinate_text(x1)},
                 {"y1", coordinate_text(y1)},
                 {"x2", coordinate_text(x2)},
                 {"y2", coordinate_text(y2)}});
}

void Svg::rect(double x, double y, double width, double height, const std::string& classes,
               const std::string& tip) {
  shape("rect",
        {{"class", classes},
         {"x", coordinate_text(x)},
         {"y", coordinate_text(y)},
         {"width", coordinate_text(width)},
         {"height", coordinate_text(height)}},
        tip);
}

void Svg::circle(double x, double y, double radius, const std::string& classes,
                 const std::string& tip) {
  shape("circle",
        {{"class", classes},
         {"cx", coordinate_text(x)},
         {"cy", coordinate_text(y)},
         {"r", coordinate_text(radius)}},
        tip);
}

void Svg::path(const std::string& data, const std::string& classes, const std::string& tip) {
  shape("path", {{"class", classes}, {"d", data}}, tip);
}

void Svg::text(double x, double y, const std::string& words, const std::string& classes) {
  body_ += fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>\n", escape(classes),
                       coordinate_text(x), coordinate_text(y), escape(words));
}

void Svg::vertical_text(double x, double y, const std::string& words, const std::string& classes) {
  body_ += fmt::format(
      "<text class=\"{0} middle\" transform=\"translate({1} {2}) rotate(-90)\">{3}</text>\n",
      escape(classes), coordinate_text(x), coordinate_text(y), escape(words));
}

std::string move_to(double x, double y) {
  return "M" + coordinate_text(x) + " " + coordinate_text(y);
}

std::string line_to(double x, double y) {
  return "L" + coordinate_text(x) + " " + coordinate_text(y);
}

}  // namespace espalier::report
