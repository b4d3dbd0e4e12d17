// Checks the collective's result by multiset algebra: which contributions a chunk contains, and
// whether it contains one more than once.
#include <fmt/format.h>

#include <algorithm>

#include "alg/certify/certifier_parts.h"
#include "alg/schedule/schedule_text.h"

namespace espalier::certifier {

ChunkRuns group_by_chunk(const Schedule& s, const OrderedTransfers& ordered) {
  std::vector<bool> starts_run(s.chunks.size() + 1, false);
  for (const Transfer& t : s.transfers) {
    starts_run[t.first_chunk.index()] = true;
    starts_run[t.first_chunk.index() + t.num_chunks] = true;
  }
  const bool owned = s.op != CollectiveOp::all_reduce;
  ChunkRuns result;
  std::vector<std::size_t> run_of(s.chunks.size());
  for (std::size_t c = 0; c < s.chunks.size(); ++c) {
    const NodeId owner = owned ? s.chunks[c].owner : NodeId();
    const NodeId destination = s.chunks[c].destination;
    const std::uint32_t group = s.chunks[c].group;
    if (c == 0 || starts_run[c] || result.runs.back().owner != owner ||
        result.runs.back().destination != destination || result.runs.back().group != group) {
      result.runs.push_back({ChunkId(c), ChunkId(c), owner, destination, group, true});
    }
    ChunkRun& run = result.runs.back();
    run.last = ChunkId(c);
    run.empty = run.empty && s.chunks[c].size == 0;
    run_of[c] = result.runs.size() - 1;
  }

  const auto for_each_run = [&](TransferId id, auto visit) {
    const Transfer& t = s.transfers[id.index()];
    const std::size_t last = run_of[t.first_chunk.index() + t.num_chunks - 1];
    for (std::size_t r = run_of[t.first_chunk.index()]; r <= last; ++r) visit(r);
  };
  result.begin.assign(result.runs.size() + 1, 0);
  for (const TransferId t : ordered.at)
    for_each_run(t, [&](std::size_t r) { ++result.begin[r + 1]; });
  for (std::size_t r = 0; r < result.runs.size(); ++r) result.begin[r + 1] += result.begin[r];
  result.positions.resize(result.begin.back());
  std::vector<std::size_t> next(result.begin.begin(), result.begin.end() - 1);
  for (std::uint32_t p = 0; p < ordered.at.size(); ++p) {
    for_each_run(ordered.at[p], [&](std::size_t r) { result.positions[next[r]++] = p; });
  }
  return result;
}

std::string name_of(const ChunkRun& run) {
  return run.first == run.last
             ? fmt::format("chunk {}", run.first.value())
             : fmt::format("chunks {} to {}", run.first.value(), run.last.value());
}

namespace {

// Whether the shares are cut at elements of `element_bytes` and differ by at most one element.
// element_bytes 0: the size of an element is unknown, and any size is accepted.
bool is_even_cut(const std::vector<Bytes>& shares, Bytes element_bytes) {
  const auto extremes = std::minmax_element(shares.begin(), shares.end());
  const Bytes smallest = *extremes.first;
  const Bytes largest = *extremes.second;
  if (smallest == largest) return true;
  if (element_bytes != 0 && largest - smallest > element_bytes) return false;
  const bool two_sizes = std::all_of(shares.begin(), shares.end(), [&](Bytes share) {
    return share == smallest || share == largest;
  });
  return two_sizes && smallest % (largest - smallest) == 0;
}

// The parts of an all_gatherv or reduce_scatterv must equal the request's parts.
void check_parts(const Scope& scope, const std::vector<Chunk>& chunks, std::size_t num_nodes,
                 Findings& findings) {
  std::vector<Bytes> parts(num_nodes, 0);
  for (const Chunk& chunk : chunks) {
    if (chunk.owner.index() < num_nodes) parts[chunk.owner.index()] += chunk.size;
  }
  for (std::size_t n = 0; n < num_nodes; ++n) {
    // Scopes of another size are malformed, which check_chunks() says.
    if (scope.counts.size() != num_nodes || parts[n] == scope.counts[n]) continue;
    findings.add(ViolationKind::postcondition, "rank {} owns {} bytes, but must own {}", n,
                 parts[n], scope.counts[n]);
  }
}

// The shares of an all_to_allv must equal the request's shares.
void check_counts(const Scope& scope, const std::vector<Bytes>& shares, std::size_t num_nodes,
                  Findings& findings) {
  for (std::size_t pair = 0; pair < shares.size(); ++pair) {
    // Scopes of another size are malformed, which check_chunks() says.
    if (scope.counts.size() != shares.size() || shares[pair] == scope.counts[pair]) continue;
    findings.add(ViolationKind::postcondition,
                 "rank {} sends {} bytes to rank {}, but must send {}", pair / num_nodes,
                 shares[pair], pair % num_nodes, scope.counts[pair]);
  }
}

// Of an all_to_all: all ranks of a group send a rank as much, and their data are cut evenly.
void check_even_shares(const std::vector<NodeId>& ranks, const std::vector<Bytes>& shares,
                       Bytes element_bytes, std::size_t num_nodes, Findings& findings) {
  std::vector<Bytes> first;
  for (const NodeId to : ranks) first.push_back(shares[ranks[0].index() * num_nodes + to.index()]);
  if (!is_even_cut(first, element_bytes)) {
    findings.add_described(ViolationKind::postcondition, [&] {
      const auto [least, most] = std::minmax_element(first.begin(), first.end());
      return fmt::format(
          "rank {} sends {} bytes to rank {} but {} bytes to rank {}; these shares may differ by "
          "at most one element",
          ranks[0].value(), *least, ranks[static_cast<std::size_t>(least - first.begin())].value(),
          *most, ranks[static_cast<std::size_t>(most - first.begin())].value());
    });
  }
  for (std::size_t owner = 1; owner < ranks.size(); ++owner) {
    for (std::size_t to = 0; to < ranks.size(); ++to) {
      const Bytes share = shares[ranks[owner].index() * num_nodes + ranks[to].index()];
      if (share == first[to]) continue;
      findings.add(
          ViolationKind::postcondition,
          "rank {} sends {} bytes to rank {}, but rank {} sends it {} bytes; all ranks must send "
          "a rank the same number of bytes",
          ranks[owner].value(), share, ranks[to].value(), ranks[0].value(), first[to]);
    }
  }
}

}  // namespace

void check_shares(CollectiveOp op, const Scope& scope, Bytes element_bytes,
                  const std::vector<Chunk>& chunks, std::size_t num_nodes, Findings& findings) {
  if (has_unequal_parts(op)) check_parts(scope, chunks, num_nodes, findings);
  if (!is_exchange(op)) return;
  const std::vector<std::vector<NodeId>> groups = scope.members(num_nodes);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::vector<Bytes> shares(num_nodes * num_nodes, 0);  // by owner, then destination
    for (const Chunk& chunk : chunks) {
      if (chunk.owner.index() >= num_nodes || chunk.destination.index() >= num_nodes) return;
      if (chunk.group != g) continue;
      shares[chunk.owner.index() * num_nodes + chunk.destination.index()] += chunk.size;
    }
    if (op == CollectiveOp::all_to_allv) {
      check_counts(scope, shares, num_nodes, findings);
    } else if (groups[g].back().index() < num_nodes) {  // otherwise malformed
      check_even_shares(groups[g], shares, element_bytes, num_nodes, findings);
    }
  }
}

namespace {

using Word = std::uint64_t;
constexpr std::size_t kWordBits = 64;
constexpr std::size_t kNamedRanks = 8;

// The contributions in every node's copy of one chunk, as two sets per node: contained, and
// contained twice. A sum with a duplicate contribution cannot be repaired, but it may be
// overwritten.
class Contributions {
 public:
  explicit Contributions(std::size_t nodes)
      : nodes_(nodes),
        words_((nodes + kWordBits - 1) / kWordBits),
        once_(nodes * words_),
        twice_(nodes * words_),
        any_twice_(nodes) {}

  void clear() {
    std::fill(once_.begin(), once_.end(), 0);
    for (std::size_t n = 0; n < nodes_; ++n) {
      if (any_twice_[n]) clear_twice(n);
    }
  }
  void set_own(NodeId node) { row(once_, node)[node.index() / kWordBits] |= bit(node.index()); }

  void reduce(NodeId from, NodeId to) {
    const Word* source = row(once_, from);
    Word* target = row(once_, to);
    Word doubled = 0;
    for (std::size_t w = 0; w < words_; ++w) doubled |= source[w] & target[w];
    if (doubled != 0 || any_twice_[from.index()]) {
      any_twice_[to.index()] = true;
      const Word* source_twice = row(twice_, from);
      Word* target_twice = row(twice_, to);
      for (std::size_t w = 0; w < words_; ++w)
        target_twice[w] |= source_twice[w] | (source[w] & target[w]);
    }
    for (std::size_t w = 0; w < words_; ++w) target[w] |= source[w];
  }

  void copy(NodeId from, NodeId to) {
    std::copy_n(row(once_, from), words_, row(once_, to));
    if (any_twice_[from.index()] || any_twice_[to.index()]) {
      std::copy_n(row(twice_, from), words_, row(twice_, to));
      any_twice_[to.index()] = any_twice_[from.index()];
    }
  }

  [[nodiscard]] bool written(NodeId node) const {
    const Word* set = row(once_, node);
    return std::any_of(set, set + words_, [](Word w) { return w != 0; });
  }
  [[nodiscard]] bool holds(NodeId node, std::size_t rank) const {
    return (row(once_, node)[rank / kWordBits] & bit(rank)) != 0;
  }
  [[nodiscard]] bool holds_twice(NodeId node, std::size_t rank) const {
    return (row(twice_, node)[rank / kWordBits] & bit(rank)) != 0;
  }
  [[nodiscard]] bool holds_exactly(NodeId node, const std::vector<Word>& wanted) const {
    return !any_twice_[node.index()] && std::equal(wanted.begin(), wanted.end(), row(once_, node));
  }
  [[nodiscard]] std::vector<Word> set_of(const std::vector<std::size_t>& ranks) const {
    std::vector<Word> set(words_, 0);
    for (const std::size_t rank : ranks) set[rank / kWordBits] |= bit(rank);
    return set;
  }

 private:
  [[nodiscard]] static Word bit(std::size_t rank) { return Word{1} << (rank % kWordBits); }
  [[nodiscard]] Word* row(std::vector<Word>& sets, NodeId node) const {
    return sets.data() + node.index() * words_;
  }
  [[nodiscard]] const Word* row(const std::vector<Word>& sets, NodeId node) const {
    return sets.data() + node.index() * words_;
  }
  void clear_twice(std::size_t node) {
    std::fill_n(row(twice_, NodeId(node)), words_, 0);
    any_twice_[node] = false;
  }

  std::size_t nodes_;
  std::size_t words_;
  std::vector<Word> once_;
  std::vector<Word> twice_;
  // In a good schedule the second sets are empty and then cost no time.
  std::vector<bool> any_twice_;
};

std::string ranks_text(const std::vector<std::size_t>& ranks) {
  const std::size_t named = std::min(ranks.size(), kNamedRanks);
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  text += fmt::format(
      "{}", fmt::join(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(named), ", "));
  if (named < ranks.size()) text += fmt::format(" and {} more", ranks.size() - named);
  return text;
}

std::string difference_text(const Contributions& held, NodeId node, const ChunkRun& run,
                            const std::vector<std::size_t>& wanted, std::size_t num_nodes) {
  std::vector<std::size_t> missing;
  std::vector<std::size_t> twice;
  std::vector<std::size_t> foreign;
  for (std::size_t rank = 0; rank < num_nodes; ++rank) {
    const bool is_wanted = std::binary_search(wanted.begin(), wanted.end(), rank);
    if (is_wanted && !held.holds(node, rank)) missing.push_back(rank);
    if (held.holds_twice(node, rank)) twice.push_back(rank);
    if (!is_wanted && held.holds(node, rank)) foreign.push_back(rank);
  }
  std::string text = fmt::format("at the end {} at rank {}", name_of(run), node.value());
  const char* joint = " ";
  if (!missing.empty()) {
    text += joint + ("misses the contribution of " + ranks_text(missing));
    joint = ", ";
  }
  if (!twice.empty()) {
    text += joint + ("holds the contribution of " + ranks_text(twice) + " more than once");
    joint = ", ";
  }
  if (!foreign.empty())
    text += joint + ("holds data of " + ranks_text(foreign) + " that do not belong there");
  return text;
}

void follow(const Schedule& s, const Transfer& t, const ChunkRun& run, Contributions& held,
            Findings& findings) {
  if (starts_scattered(s.op)) {
    const bool adds = t.kind == TransferKind::reduce;
    if (!held.written(t.from) || (adds && !held.written(t.to))) {
      findings.add_described(ViolationKind::read_before_write, [&] {
        return fmt::format("the {} reads {} at node {}, which was never written", describe(t),
                           name_of(run), (held.written(t.from) ? t.to : t.from).value());
      });
    }
  }
  if (t.kind == TransferKind::reduce) {
    held.reduce(t.from, t.to);
  } else {
    held.copy(t.from, t.to);
  }
}

}  // namespace

void check_postcondition(const Schedule& s, const OrderedTransfers& ordered,
                         const ChunkRuns& chunks, Findings& findings) {
  Contributions held(s.num_nodes);
  for (std::size_t r = 0; r < chunks.runs.size(); ++r) {
    const ChunkRun& run = chunks.runs[r];
    if (run.empty) continue;
    held.clear();
    std::vector<std::size_t> wanted;
    for (std::size_t n = 0; n < s.num_nodes; ++n) {
      if (!s.scope.has(NodeId(n), run.group)) continue;
      if (!starts_scattered(s.op) || run.owner == NodeId(n)) {
        held.set_own(NodeId(n));
        wanted.push_back(n);
      }
    }
    for (std::size_t i = chunks.begin[r]; i < chunks.begin[r + 1]; ++i) {
      follow(s, s.transfers[ordered.at[chunks.positions[i]].index()], run, held, findings);
    }
    const std::vector<Word> wanted_set = held.set_of(wanted);
    for (std::size_t n = 0; n < s.num_nodes; ++n) {
      const NodeId node(n);
      if (!s.scope.has(node, run.group)) continue;
      if (ends_at_owner(s.op) && node != run.owner) continue;
      if (is_exchange(s.op) && node != run.destination) continue;
      if (held.holds_exactly(node, wanted_set)) continue;
      findings.add_described(ViolationKind::postcondition,
                             [&] { return difference_text(held, node, run, wanted, s.num_nodes); });
    }
  }
}

}  // namespace espalier::certifier
