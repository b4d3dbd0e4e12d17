// Parts of a page.
#pragma once

#include <string>
#include <vector>

#include "sims/report/plot/svg.h"

namespace espalier::report {

inline constexpr double kPictureWidth = 460;
inline constexpr std::size_t kMostPictures = 24;  // of one section

struct Section {
  std::string id;       // of its anchor
  std::string title;    // plain text
  std::string html;     // empty where there is nothing to show
  std::string why_not;  // then: a sentence for readers who look for it, plain text
};

// A picture with its heading and, where it is not empty, a line below. Plain text.
[[nodiscard]] std::string figure_html(const std::string& title, const Svg& svg,
                                      const std::string& caption = {});
// The figures side by side where there is room.
[[nodiscard]] std::string figures_html(const std::vector<std::string>& figures);
[[nodiscard]] std::string paragraph_html(const std::string& plain_text);

// A table that scrolls by itself where it is wider than the page. Cells are HTML.
class HtmlTable {
 public:
  // `numbers`: the column's cells stand at its right.
  void add_column(const std::string& plain_title, bool numbers);
  // `attributes`: of the row, with a leading space; HTML.
  void begin_row(const std::string& attributes = {});
  void add_cell(const std::string& html);
  void add_text(const std::string& plain_text);
  [[nodiscard]] std::string str(const std::string& plain_caption) const;

 private:
  std::vector<bool> numbers_;
  std::size_t column_ = 0;
  std::string head_;
  std::string body_;
};

}  // namespace espalier::report
