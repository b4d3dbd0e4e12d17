#include "alg/schedule/repeated_rows.h"

#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

namespace espalier {

namespace {

std::int64_t difference(std::uint64_t to, std::uint64_t from) {
  return static_cast<std::int64_t>(to) - static_cast<std::int64_t>(from);
}

std::uint64_t moved(std::uint64_t value, std::int64_t stride, std::uint32_t times) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value) + stride * times);
}

FlowId moved(FlowId flow, std::int64_t stride, std::uint32_t times) {
  return FlowId(static_cast<std::size_t>(moved(flow.index(), stride, times)));
}

// What does not change from pass to pass, and is common to the entries of a row: the operation, the
// peers, and how far the flows of `after` are from the entry's own.
bool same(const TablePeer& a, const TablePeer& b) { return a.node == b.node && a.route == b.route; }

bool alike(const TableEntry& a, const TableEntry& b) {
  if (a.op != b.op || !same(a.parent, b.parent) || a.after.size() != b.after.size()) return false;
  for (std::size_t f = 0; f < a.after.size(); ++f) {
    if (difference(a.after[f].index(), a.flow.index()) !=
        difference(b.after[f].index(), b.flow.index())) {
      return false;
    }
  }
  return std::equal(a.children.begin(), a.children.end(), b.children.begin(), b.children.end(),
                    same);
}

std::uint64_t hash_of(const TableEntry& entry) {
  std::uint64_t hash = static_cast<std::uint64_t>(entry.op);
  const auto mix = [&](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3; };
  const auto add = [&](const TablePeer& peer) {
    mix(peer.node.valid() ? peer.node.index() + 1 : 0);
  };
  add(entry.parent);
  for (const TablePeer& child : entry.children) add(child);
  for (const FlowId flow : entry.after) mix(flow.index() - entry.flow.index());
  return hash;
}

// The entries of a table and, by entry, the number of the kind of entries that are alike.
struct Entries {
  std::vector<const TableEntry*> entry;
  std::vector<std::uint32_t> kind;
};

Entries stored(const std::vector<TableEntry>& table) {
  Entries entries;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> known;  // kinds, by hash
  std::vector<const TableEntry*> first;                                 // by kind
  for (const TableEntry& entry : table) {
    if (entry.op == TableOp::nop) continue;
    entries.entry.push_back(&entry);
    std::vector<std::uint32_t>& kinds = known[hash_of(entry)];
    auto kind = std::find_if(kinds.begin(), kinds.end(),
                             [&](std::uint32_t k) { return alike(*first[k], entry); });
    if (kind == kinds.end()) {
      kind = kinds.insert(kinds.end(), static_cast<std::uint32_t>(first.size()));
      first.push_back(&entry);
    }
    entries.kind.push_back(*kind);
  }
  return entries;
}

// Rows for the entries [begin, end), each with a flow that is `flow_stride` from its row's flow
// before, in one loop. Every pass issues a row once, so the order of the entries says by how many
// passes one row is behind another: a longest path gives the least first passes.
class OneLoop {
 public:
  OneLoop(const Entries& entries, std::int64_t flow_stride, std::size_t begin, std::size_t end,
          std::size_t most_rows)
      : entries_(entries), flow_stride_(flow_stride) {
    for (std::size_t e = begin; e < end; ++e) {
      add(e);
      if (rows_.size() > most_rows) return;
    }
    order_rows();
  }
  // False if no loop of at most `most_rows` rows issues the entries in their order.
  [[nodiscard]] bool exists() const { return exists_; }
  [[nodiscard]] std::vector<RepeatedRow> take() {
    std::vector<std::size_t> order(rows_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return place_[a] % per_pass() < place_[b] % per_pass();
    });
    std::vector<RepeatedRow> sorted;
    for (const std::size_t r : order) {
      sorted.push_back(std::move(rows_[r]));
      sorted.back().first_pass = static_cast<std::uint32_t>(place_[r] / per_pass());
    }
    return sorted;
  }

 private:
  // Row `to` comes at least `distance` places after row `from`.
  struct After {
    std::uint32_t from;
    std::uint32_t to;
    std::int64_t distance;
  };
  [[nodiscard]] std::int64_t per_pass() const {
    return static_cast<std::int64_t>(rows_.size()) + 1;
  }

  void add(std::size_t e) {
    const TableEntry& entry = *entries_.entry[e];
    const std::uint32_t row = row_of(entry, entries_.kind[e]);
    const std::uint32_t pass = rows_[row].count - 1;
    if (last_row_) {
      const std::int64_t passes = static_cast<std::int64_t>(last_pass_) - pass;
      const std::uint64_t pair = std::uint64_t{*last_row_} << 32 | row;
      const auto [known, is_new] = after_of_.try_emplace(pair, after_.size());
      if (is_new) after_.push_back({*last_row_, row, passes});
      std::int64_t& distance = after_[known->second].distance;
      distance = std::max(distance, passes);
    }
    last_row_ = row;
    last_pass_ = pass;
  }

  std::uint32_t row_of(const TableEntry& entry, std::uint32_t kind) {
    const auto expecting = [&](std::int64_t flow) {
      return std::uint64_t{kind} << 40 | (static_cast<std::uint64_t>(flow) & 0xff'ffff'ffff);
    };
    const auto flow = static_cast<std::int64_t>(entry.flow.index());
    std::uint32_t row = 0;
    const auto found = expecting_.find(expecting(flow));
    if (found != expecting_.end() && continues(rows_[found->second], entry)) {
      row = found->second;
      ++rows_[row].count;
      rows_[row].last_size = entry.size;
    } else {
      row = static_cast<std::uint32_t>(rows_.size());
      RepeatedRow fresh;
      fresh.first = entry;
      fresh.last_size = entry.size;
      rows_.push_back(std::move(fresh));
    }
    const std::uint64_t next = expecting(flow + flow_stride_);
    if (found == expecting_.end()) {
      expecting_[next] = row;
      return row;
    }
    auto node = expecting_.extract(found);
    node.key() = next;
    node.mapped() = row;
    const auto inserted = expecting_.insert(std::move(node));
    inserted.position->second = row;
    return row;
  }

  // The entry is the row's next one. The second entry of a row sets its strides.
  [[nodiscard]] bool continues(RepeatedRow& row, const TableEntry& entry) const {
    if (row.last_size != row.first.size || entry.size > row.first.size) return false;
    if (row.count == 1) {
      row.flow_stride = flow_stride_;
      row.address_stride = difference(entry.start_addr, row.first.start_addr);
      row.step_stride = difference(entry.step, row.first.step);
      row.not_before_stride_ps = difference(entry.not_before_ps, row.first.not_before_ps);
      return true;
    }
    return entry.start_addr == moved(row.first.start_addr, row.address_stride, row.count) &&
           entry.step == moved(row.first.step, row.step_stride, row.count) &&
           entry.not_before_ps ==
               moved(row.first.not_before_ps, row.not_before_stride_ps, row.count);
  }

  // Longest paths by Bellman and Ford. The place of a row's first entry: passes, and in the pass
  // the position.
  void order_rows() {
    // Paths of plans converge in a few sweeps. A loop that takes more is given up.
    constexpr int kMostSweeps = 64;
    place_.assign(rows_.size(), 0);
    for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
      bool changed = false;
      for (const After& after : after_) {
        const std::int64_t least = place_[after.from] + after.distance * per_pass() + 1;
        if (place_[after.to] >= least) continue;
        if (after.from == after.to) return;
        place_[after.to] = least;
        changed = true;
      }
      if (!changed) {
        exists_ = true;
        return;
      }
    }
  }

  const Entries& entries_;
  std::int64_t flow_stride_;
  std::vector<RepeatedRow> rows_;
  std::unordered_map<std::uint64_t, std::uint32_t> expecting_;  // row, by kind and flow
  std::vector<After> after_;
  std::unordered_map<std::uint64_t, std::size_t> after_of_;  // by pair of rows
  std::optional<std::uint32_t> last_row_;
  std::uint32_t last_pass_ = 0;
  std::vector<std::int64_t> place_;
  bool exists_ = false;
};

// The longest loop from `begin` on that has at most `most_rows` rows: longer ones are tried until
// none exists, then shorter ones.
std::size_t end_of_loop(const Entries& entries, std::int64_t flow_stride, std::size_t begin,
                        std::size_t most_rows) {
  const std::size_t all = entries.entry.size();
  const auto exists = [&](std::size_t end) {
    return OneLoop(entries, flow_stride, begin, end, most_rows).exists();
  };
  std::size_t fits = begin + 1;
  std::size_t too_long = all + 1;
  for (std::size_t length = 16; fits < all; length *= 2) {
    const std::size_t end = std::min(all, begin + length);
    if (!exists(end)) {
      too_long = end;
      break;
    }
    fits = end;
  }
  while (fits < all && fits + 1 < too_long) {
    const std::size_t middle = fits + (too_long - fits) / 2;
    (exists(middle) ? fits : too_long) = middle;
  }
  return fits;
}

// The strides that flows of equal entries have most often, and powers of two: a pass sends several
// segments of a tree.
std::vector<std::int64_t> likely_strides(const Entries& entries) {
  std::unordered_map<std::uint32_t, std::int64_t> last;
  std::map<std::int64_t, std::size_t> times;
  for (std::size_t e = 0; e < entries.entry.size(); ++e) {
    const auto flow = static_cast<std::int64_t>(entries.entry[e]->flow.index());
    const auto [before, is_new] = last.try_emplace(entries.kind[e], flow);
    if (!is_new) ++times[flow - before->second];
    before->second = flow;
  }
  std::vector<std::pair<std::size_t, std::int64_t>> often;
  for (const auto& [stride, count] : times) often.emplace_back(count, stride);
  std::sort(often.rbegin(), often.rend());
  constexpr std::size_t kMostOften = 4;
  if (often.size() > kMostOften) often.resize(kMostOften);
  std::vector<std::int64_t> strides = {1, 4, 16, 2, 8, 32};
  for (const auto& [count, stride] : often) {
    if (std::find(strides.begin(), strides.end(), stride) == strides.end()) {
      strides.push_back(stride);
    }
  }
  return strides;
}

}  // namespace

TableEntry RepeatedRow::at(std::uint32_t i) const {
  TableEntry entry = first;
  entry.flow = moved(first.flow, flow_stride, i);
  for (FlowId& flow : entry.after) flow = moved(flow, flow_stride, i);
  entry.start_addr = moved(first.start_addr, address_stride, i);
  entry.step = static_cast<Timestep>(moved(first.step, step_stride, i));
  entry.not_before_ps = moved(first.not_before_ps, not_before_stride_ps, i);
  if (i + 1 == count) entry.size = last_size;
  return entry;
}

std::size_t RepeatedTable::rows() const {
  std::size_t rows = 0;
  for (const auto& loop : loops) rows += loop.size();
  return rows;
}

RepeatedTable repeat_rows(const std::vector<TableEntry>& table) {
  const Entries entries = stored(table);
  RepeatedTable best;
  std::size_t least = entries.entry.size() + 1;
  for (const std::int64_t stride : likely_strides(entries)) {
    RepeatedTable found;
    std::size_t rows = 0;
    for (std::size_t begin = 0; begin < entries.entry.size() && rows < least;) {
      const std::size_t end = end_of_loop(entries, stride, begin, least - rows);
      found.loops.push_back(OneLoop(entries, stride, begin, end, least - rows).take());
      rows += found.loops.back().size();
      begin = end;
    }
    if (rows >= least) continue;
    least = rows;
    best = std::move(found);
  }
  return best;
}

}  // namespace espalier
