// A picture as SVG text. Colours and fonts are classes of the page's style sheet, so one picture
// fits light and dark pages.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace espalier::report {

using Attributes = std::vector<std::pair<const char*, std::string>>;

class Svg {
 public:
  // Sizes are in units in which a character is 13 high. Screen readers read `title` and
  // `description`.
  Svg(double width, double height, const std::string& title, const std::string& description);

  // Escapes the values. `tip` is shown when the reader points at the shape; empty: no tip.
  void shape(const char* name, const Attributes& attributes, const std::string& tip = {});
  void line(double x1, double y1, double x2, double y2, const std::string& classes);
  void rect(double x, double y, double width, double height, const std::string& classes,
            const std::string& tip = {});
  void circle(double x, double y, double radius, const std::string& classes,
              const std::string& tip = {});
  // `data` has the syntax of SVG's attribute d.
  void path(const std::string& data, const std::string& classes, const std::string& tip = {});
  // `classes` end with the text anchor, "middle" or "end", unless the anchor is the start.
  void text(double x, double y, const std::string& words, const std::string& classes);
  // Text that reads upwards, centred at (x, y).
  void vertical_text(double x, double y, const std::string& words, const std::string& classes);

  [[nodiscard]] double width() const { return width_; }
  [[nodiscard]] double height() const { return height_; }
  [[nodiscard]] std::string str() const { return body_ + "</svg>\n"; }

 private:
  double width_;
  double height_;
  std::string body_;
};

// Pieces of a path, such as "M3 4" and "L5 6.5".
[[nodiscard]] std::string move_to(double x, double y);
[[nodiscard]] std::string line_to(double x, double y);

}  // namespace espalier::report
