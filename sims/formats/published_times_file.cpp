#include "sims/formats/published_times_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "sims/point/enum_names.h"
#include "sims/text/text_lines.h"
#include "sims/text/values.h"

namespace espalier {

namespace {

constexpr std::array<const char*, 6> kPublishedColumns{"network", "op",   "size",
                                                       "tool",    "time", "source"};
constexpr const char* kPublishedHeader = "network,op,size,tool,time,source";
constexpr const char* kPublishedExample =
    "for example lab.yaml,all_gather,1MB,TACOS,12.5us,owner/repository@1811f1f";

ValueShape shape_of(ValueType type) {
  ValueShape shape;
  shape.type = type;
  shape.min = 1;
  shape.max = std::numeric_limits<std::uint64_t>::max();
  return shape;
}

class PublishedTimesParser {
 public:
  explicit PublishedTimesParser(Diagnostics& diagnostics)
      : diagnostics_(diagnostics),
        size_(shape_of(ValueType::size)),
        time_(shape_of(ValueType::time)) {
    op_.type = ValueType::name;
    for (const char* word : kEnumNames<CollectiveOp>) op_.names.emplace_back(word);
  }

  std::optional<std::vector<PublishedTime>> parse(const std::string& file_name,
                                                  const std::string& text) {
    const SourceIndex source = diagnostics_.add_file(file_name, text);
    const std::size_t errors_before = diagnostics_.num_errors();
    for_each_line(text, source, diagnostics_, [&](std::string_view line, const Place& place) {
      const std::vector<ConfigNode> cells = cells_of(line, place);
      const std::string& first = cells.front().text;
      if (first.empty() ? cells.size() == 1 : first.front() == '#') return true;
      if (has_header_) {
        read_time(cells);
        return true;
      }
      has_header_ = true;
      return check_header(cells);
    });
    if (diagnostics_.num_errors() == errors_before && times_.empty()) {
      diagnostics_.error({source, 1, 1}, "the file has no times",
                         fmt::format("write the line {}, then one line for each time, {}",
                                     kPublishedHeader, kPublishedExample));
    }
    if (diagnostics_.num_errors() != errors_before) return std::nullopt;
    return std::move(times_);
  }

 private:
  // Without its header the file may be anything, and its lines would only give more errors.
  bool check_header(const std::vector<ConfigNode>& cells) {
    for (std::size_t c = 0; c < std::max(cells.size(), kPublishedColumns.size()); ++c) {
      const bool both = c < cells.size() && c < kPublishedColumns.size();
      if (both && cells[c].text == kPublishedColumns[c]) continue;
      diagnostics_.error(cells[std::min(c, cells.size() - 1)].place,
                         c < kPublishedColumns.size()
                             ? fmt::format("expected column '{}' here", kPublishedColumns[c])
                             : fmt::format("found {} columns", cells.size()),
                         fmt::format("the first line must be {}", kPublishedHeader));
      return false;
    }
    return true;
  }

  void read_time(const std::vector<ConfigNode>& cells) {
    for (std::size_t c = 0; c < kPublishedColumns.size(); ++c) {
      if (c < cells.size() && !cells[c].text.empty()) continue;
      diagnostics_.error(c < cells.size() ? cells[c].place : end_of(cells.back()),
                         fmt::format("no value for '{}'", kPublishedColumns[c]), kPublishedExample);
      return;
    }
    const auto op = parse_value(cells[1], kPublishedColumns[1], op_, diagnostics_);
    const auto size = parse_value(cells[2], kPublishedColumns[2], size_, diagnostics_);
    const auto time = parse_value(cells[4], kPublishedColumns[4], time_, diagnostics_);
    if (!op || !size || !time) return;
    PublishedTime published{cells[0].text, static_cast<CollectiveOp>(op->number),
                            size->number,  cells[3].text,
                            time->number,  cells[5].text};
    for (std::size_t c = kPublishedColumns.size(); c < cells.size(); ++c) {
      published.source += ", " + cells[c].text;
    }
    const bool twice = std::any_of(times_.begin(), times_.end(), [&](const PublishedTime& other) {
      return other.network == published.network && other.op == published.op &&
             other.size == published.size && other.tool == published.tool;
    });
    if (twice) {
      diagnostics_.error(cells[3].place,
                         fmt::format("a second time of {} for this collective", published.tool),
                         "name its variants apart, or keep the better time");
      return;
    }
    times_.push_back(std::move(published));
  }

  Diagnostics& diagnostics_;
  ValueShape op_;
  ValueShape size_;
  ValueShape time_;
  bool has_header_ = false;
  std::vector<PublishedTime> times_;
};

}  // namespace

std::optional<std::vector<PublishedTime>> parse_published_times(const std::string& file_name,
                                                                const std::string& text,
                                                                Diagnostics& diagnostics) {
  return PublishedTimesParser(diagnostics).parse(file_name, text);
}

}  // namespace espalier
