// Table memories whose rows repeat: a row has a count and strides, and one row stands for the
// entries of a periodic schedule that send the next segments along the same tree edge.
//
// The memory is a sequence of loops. In pass 0, 1, ... of a loop the NI reads its rows from the
// first to the last one. A row issues in `count` passes that follow one another, beginning with
// `first_pass`; in the others the NI passes it. After it has issued, its flow, address, step and
// time slot are written back, a stride further on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "alg/schedule/table_entry.h"

namespace espalier {

struct RepeatedRow {
  TableEntry first;  // the entry of the row's first pass
  std::uint32_t first_pass = 0;
  std::uint32_t count = 1;
  std::int64_t flow_stride = 0;  // also of the flows in `after`
  std::int64_t address_stride = 0;
  std::int64_t step_stride = 0;
  std::int64_t not_before_stride_ps = 0;
  Bytes last_size = 0;  // data need not be a multiple of the segment

  // The entry of pass first_pass + i. Precondition: i < count.
  [[nodiscard]] TableEntry at(std::uint32_t i) const;
};

struct RepeatedTable {
  std::vector<std::vector<RepeatedRow>> loops;

  [[nodiscard]] std::size_t rows() const;
};

// Finds loops that issue `table` in its order. NOPs take no row: the timestep counter counts
// without them. A table without a period gets a row for every entry.
[[nodiscard]] RepeatedTable repeat_rows(const std::vector<TableEntry>& table);

// Calls visit(entry, rows_passed) for the entries that the loops issue, in order, without NOPs.
// `rows_passed`: the rows that the NI passes between the entry before and this one.
template <class Visit>
void for_each_issued(const RepeatedTable& table, Visit visit) {
  std::uint32_t passed = 0;
  for (const auto& loop : table.loops) {
    std::uint32_t passes = 0;
    for (const RepeatedRow& row : loop) passes = std::max(passes, row.first_pass + row.count);
    for (std::uint32_t pass = 0; pass < passes; ++pass) {
      for (const RepeatedRow& row : loop) {
        if (pass < row.first_pass || pass >= row.first_pass + row.count) {
          ++passed;
          continue;
        }
        visit(row.at(pass - row.first_pass), passed);
        passed = 0;
      }
    }
  }
}

}  // namespace espalier
