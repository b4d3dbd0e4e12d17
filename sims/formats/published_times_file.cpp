#include "sims/formats/published_times_file.h"

#include <fmt/format.h>

#include <limits>
#include <set>
#include <tuple>

#include "sims/point/enum_names.h"
#include "sims/text/table_reader.h"
#include "sims/text/values.h"

namespace espalier {

namespace {

constexpr TableSpec kPublishedTable{
    "network,op,size,tool,time,source", "time",
    "for example lab.yaml,all_gather,1MB,TACOS,12.5us,owner/repository@1811f1f"};

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

class PublishedTimeReader : public TableReader<PublishedTime> {
 public:
  explicit PublishedTimeReader(Diagnostics& diagnostics)
      : TableReader(kPublishedTable, diagnostics),
        size_(range_shape(1, kMost, ValueType::size)),
        time_(range_shape(1, kMost, ValueType::time)) {
    op_.type = ValueType::name;
    for (const char* word : kEnumNames<CollectiveOp>) op_.names.emplace_back(word);
  }

 private:
  std::optional<PublishedTime> read_row(const TableCells& cells) override {
    if (!check_texts(cells)) return std::nullopt;
    const auto op = parse_value(cells[1], "op", op_, diagnostics_);
    const auto size = parse_value(cells[2], "size", size_, diagnostics_);
    const auto time = parse_value(cells[4], "time", time_, diagnostics_);
    if (!op || !size || !time) return std::nullopt;
    PublishedTime published{cells[0].text, static_cast<CollectiveOp>(op->number),
                            size->number,  cells[3].text,
                            time->number,  cells[5].text};
    // A source may have commas.
    for (std::size_t c = 6; c < cells.size(); ++c) published.source += ", " + cells[c].text;
    if (!known_.emplace(published.network, published.op, published.size, published.tool).second) {
      diagnostics_.error(cells[3].place,
                         fmt::format("a second time of {} for this collective", published.tool),
                         "name its variants apart, or keep the better time");
      return std::nullopt;
    }
    return published;
  }

  ValueShape op_;
  ValueShape size_;
  ValueShape time_;
  // Network, operation, size and tool of the rows above.
  std::set<std::tuple<std::string, CollectiveOp, Bytes, std::string>> known_;
};

}  // namespace

std::optional<std::vector<PublishedTime>> parse_published_times(const std::string& file_name,
                                                                const std::string& text,
                                                                Diagnostics& diagnostics) {
  return PublishedTimeReader(diagnostics).read(file_name, text);
}

}  // namespace espalier
