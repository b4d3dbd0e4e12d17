// No transfer may read memory that another transfer may still write. Two transfers may write the
// same memory only in a fixed order, except Reduces, which commute. A transfer reads its sender's
// and writes its receiver's memory from its issue to its delivery, and it is issued when its
// dependencies have been delivered. So of two conflicting accesses, one must belong to a transitive
// dependency of the other. The receiver adds one more order: it holds a Reduce beside memory until
// the flows in `after` of its entry for the Reduce's flow are complete (TableEntry::after).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include "alg/certify/certifier_parts.h"
#include "alg/schedule/schedule_text.h"

namespace espalier::certifier {

namespace {

// ---- Reachability in a directed acyclic graph, in bit-parallel sweeps ----

// The predecessors of each vertex: before[begin[v] .. begin[v + 1]), all below v.
struct PredecessorView {
  const std::size_t* begin;
  const std::uint32_t* before;
};

// Asks whether there is a path from `first` to `second`.
struct PathQuestion {
  std::uint32_t first;
  std::uint32_t second;
  std::uint32_t tag;  // returned to the asker
};

// Each sweep follows 64 * Words sources, through the vertices between the first source and the last
// vertex in a question.
template <std::size_t Words>
class PathFinder {
 public:
  // Calls `missing` for each question whose answer is no, by ascending `first`. Stops when it
  // returns false.
  template <class Missing>
  void find_missing(PredecessorView graph, std::vector<PathQuestion>& questions, Missing missing) {
    std::sort(questions.begin(), questions.end(), [](const PathQuestion& a, const PathQuestion& b) {
      return a.first != b.first ? a.first < b.first : a.second < b.second;
    });
    for (std::size_t begin = 0; begin < questions.size();) {
      const std::size_t end = take_batch(questions, begin);
      sweep(graph, questions[begin].first);
      for (std::size_t q = begin, source = 0; q < end; ++q) {
        if (q != begin && questions[q].first != questions[q - 1].first) ++source;
        const bool found =
            questions[q].second > questions[q].first &&
            (row(questions[q].second, questions[begin].first)[source / 64] >> (source % 64) & 1U) !=
                0;
        if (!found && !missing(questions[q])) return;
      }
      begin = end;
    }
  }

 private:
  using Row = std::array<std::uint64_t, Words>;

  // Takes the questions of one batch of sources, with one bit of a row for each source.
  std::size_t take_batch(const std::vector<PathQuestion>& questions, std::size_t begin) {
    sources_.clear();
    last_ = 0;
    std::size_t end = begin;
    for (; end < questions.size(); ++end) {
      if (sources_.empty() || sources_.back() != questions[end].first) {
        if (sources_.size() == 64 * Words) break;
        sources_.push_back(questions[end].first);
      }
      last_ = std::max(last_, questions[end].second);
    }
    return end;
  }

  void sweep(PredecessorView graph, std::uint32_t base) {
    if (last_ < base) return;
    const std::size_t span = std::size_t{last_} - base + 1;
    if (rows_.size() < span) rows_.resize(span);
    std::size_t source = 0;
    for (std::uint32_t v = base; v <= last_; ++v) {
      Row reached{};
      for (std::size_t e = graph.begin[v]; e < graph.begin[v + 1]; ++e) {
        const std::uint32_t p = graph.before[e];
        if (p < base) continue;
        const Row& from = row(p, base);
        for (std::size_t w = 0; w < Words; ++w) reached[w] |= from[w];
      }
      if (source < sources_.size() && sources_[source] == v) {
        reached[source / 64] |= std::uint64_t{1} << (source % 64);
        ++source;
      }
      row(v, base) = reached;
    }
  }

  Row& row(std::uint32_t v, std::uint32_t base) { return rows_[v - base]; }

  std::vector<Row> rows_;
  std::vector<std::uint32_t> sources_;  // ascending
  std::uint32_t last_ = 0;
};

// ---- Accesses to memory ----

enum class AccessKind : std::uint8_t { read, add, overwrite };

// Two accesses, given by position, that must be ordered, but whose order does not follow from the
// transfers of their own chunk.
struct OpenPair {
  std::uint32_t first;
  std::uint32_t second;
  NodeId node;
  std::uint32_t run;
};

class DataOrder {
 public:
  DataOrder(const Schedule& schedule, const OrderedTransfers& ordered, const ChunkRuns& chunks)
      : schedule_(schedule),
        ordered_(ordered),
        chunks_(chunks),
        local_(ordered.at.size()),
        access_begin_(schedule.num_nodes + 1) {
    find_holders();
  }

  void check(Findings& findings) {
    for (std::uint32_t r = 0; r < chunks_.runs.size(); ++r) {
      if (!chunks_.runs[r].empty) check_run(r);
    }
    check_across_chunks(findings);
  }

 private:
  struct Access {
    std::uint32_t transfer;  // local: index among the transfers of the run
    AccessKind kind;
  };

  // The fields of a transfer that are needed here. They are copied together, because transfers of
  // one chunk are far apart in the schedule.
  struct Ends {
    NodeId from;
    NodeId to;
    AccessKind write;
  };

  [[nodiscard]] const Transfer& transfer_at(std::uint32_t position) const {
    return schedule_.transfers[ordered_.at[position].index()];
  }
  [[nodiscard]] static AccessKind write_kind(const Transfer& t) {
    return t.kind == TransferKind::reduce ? AccessKind::add : AccessKind::overwrite;
  }

  // Finds, for each Reduce, the transfer of the receiver that waits for the Reduce and also for
  // other flows.
  void find_holders() {
    for (std::uint32_t t = 0; t < schedule_.transfers.size(); ++t) {
      const auto dependencies = schedule_.dependencies_of(TransferId(t));
      const FlowId flow = schedule_.transfers[t].flow;
      const auto of_other_flow = [&](TransferId d) {
        return schedule_.transfers[d.index()].flow != flow;
      };
      if (std::none_of(dependencies.begin(), dependencies.end(), of_other_flow)) continue;
      holder_.resize(schedule_.transfers.size());
      for (const TransferId d : dependencies) {
        if (!of_other_flow(d)) holder_[d.index()] = TransferId(t);
      }
    }
  }

  // True if `second` is added at `node` only after `first`, because it is held there: `first`
  // completes one of the flows for which `second` is held, or is the node's own send of such a
  // flow.
  [[nodiscard]] bool held_until(std::uint32_t first, std::uint32_t second, NodeId node) const {
    const TransferId add = ordered_.at[first_[second]];
    if (holder_.empty() || transfer_at(first_[second]).to != node) return false;
    const TransferId holder = holder_[add.index()];
    if (!holder.valid() || schedule_.transfers[add.index()].kind != TransferKind::reduce)
      return false;
    const TransferId earlier = ordered_.at[first_[first]];
    const Transfer& access = schedule_.transfers[earlier.index()];
    const auto held_for = schedule_.dependencies_of(holder);
    return access.flow != schedule_.transfers[add.index()].flow &&
           std::any_of(held_for.begin(), held_for.end(), [&](TransferId d) {
             return d == earlier ||
                    (access.from == node && schedule_.transfers[d.index()].flow == access.flow);
           });
  }

  void check_run(std::uint32_t r) {
    first_ = chunks_.positions.data() + chunks_.begin[r];
    count_ = static_cast<std::uint32_t>(chunks_.begin[r + 1] - chunks_.begin[r]);
    collect_dependencies();
    collect_accesses();
    questions_.clear();
    waited_for_by_.assign(count_, 0);
    for (std::size_t n = 0; n < schedule_.num_nodes; ++n) ask_about_node(n);
    // Data dependencies alone order almost every schedule, and there are few of them per chunk.
    local_paths_.find_missing(
        {dependency_begin_.data(), dependencies_.data()}, questions_, [&](const PathQuestion& q) {
          open_.push_back({first_[q.first], first_[q.second], NodeId(q.tag), r});
          return true;
        });
  }

  // Collects the orders between transfers of this run of chunks.
  void collect_dependencies() {
    for (std::uint32_t i = 0; i < count_; ++i) local_[first_[i]] = i;
    dependency_begin_.assign(1, 0);
    dependencies_.clear();
    for (std::uint32_t i = 0; i < count_; ++i) {
      const std::uint32_t p = first_[i];
      for (std::size_t d = ordered_.begin[p]; d < ordered_.begin[p + 1]; ++d) {
        // Entries that another run has left point elsewhere.
        const std::uint32_t before = ordered_.before[d];
        if (local_[before] < count_ && first_[local_[before]] == before) {
          dependencies_.push_back(local_[before]);
        }
      }
      dependency_begin_.push_back(dependencies_.size());
    }
  }

  // Collects the accesses by node, in topological order.
  void collect_accesses() {
    std::fill(access_begin_.begin(), access_begin_.end(), 0);
    ends_.clear();
    for (std::uint32_t i = 0; i < count_; ++i) {
      const Transfer& t = transfer_at(first_[i]);
      ends_.push_back({t.from, t.to, write_kind(t)});
      ++access_begin_[t.from.index() + 1];
      ++access_begin_[t.to.index() + 1];
    }
    for (std::size_t n = 0; n < schedule_.num_nodes; ++n) access_begin_[n + 1] += access_begin_[n];
    accesses_.resize(access_begin_.back());
    next_access_.assign(access_begin_.begin(), access_begin_.end() - 1);
    for (std::uint32_t i = 0; i < count_; ++i) {
      accesses_[next_access_[ends_[i].from.index()]++] = {i, AccessKind::read};
      accesses_[next_access_[ends_[i].to.index()]++] = {i, ends_[i].write};
    }
  }

  // Reads need no order among themselves, and neither do adds: each forms a group. If every access
  // of a group comes after every access of the previous group, it comes after all earlier groups
  // too.
  void ask_about_node(std::size_t node) {
    const std::size_t end = access_begin_[node + 1];
    std::size_t previous = access_begin_[node];
    std::size_t current = previous;
    while (current < end) {
      const AccessKind kind = accesses_[current].kind;
      std::size_t next = current + 1;
      while (next < end && accesses_[next].kind == kind && kind != AccessKind::overwrite) ++next;
      for (std::size_t b = current; b < next; ++b) {
        ask_about(previous, current, accesses_[b].transfer, static_cast<std::uint32_t>(node));
      }
      previous = current;
      current = next;
    }
  }

  void ask_about(std::size_t group_begin, std::size_t group_end, std::uint32_t second,
                 std::uint32_t node) {
    if (group_begin == group_end) return;
    for (std::size_t d = dependency_begin_[second]; d < dependency_begin_[second + 1]; ++d) {
      waited_for_by_[dependencies_[d]] = second + 1;
    }
    for (std::size_t a = group_begin; a < group_end; ++a) {
      const std::uint32_t first = accesses_[a].transfer;
      if (waited_for_by_[first] == second + 1 || held_until(first, second, NodeId(node))) continue;
      questions_.push_back({first, second, node});
    }
  }

  // Transfers of other chunks may order the remaining pairs, so this searches all transfers. A read
  // ends when the message has left, and an entry that comes after a flow waits until its node's own
  // sends of that flow have left. So only a read can be the start of such an order.
  void check_across_chunks(Findings& findings) {
    std::vector<PathQuestion> after_writes;
    std::vector<PathQuestion> after_reads;
    for (std::uint32_t i = 0; i < open_.size(); ++i) {
      const bool reads = transfer_at(open_[i].first).from == open_[i].node;
      (reads ? after_reads : after_writes).push_back({open_[i].first, open_[i].second, i});
    }
    report_missing({ordered_.begin.data(), ordered_.before.data()}, after_writes, findings);
    if (after_reads.empty()) return;
    std::vector<std::size_t> begin;
    std::vector<std::uint32_t> before;
    add_own_sends(begin, before);
    report_missing({begin.data(), before.data()}, after_reads, findings);
  }

  void report_missing(PredecessorView graph, std::vector<PathQuestion>& questions,
                      Findings& findings) {
    PathFinder<1> paths;
    paths.find_missing(graph, questions, [&](const PathQuestion& q) {
      if (findings.full(ViolationKind::read_before_write)) {
        findings.not_exhaustive(ViolationKind::read_before_write);
        return false;
      }
      findings.add_described(ViolationKind::read_before_write,
                             [&] { return text_of(open_[q.tag]); });
      return true;
    });
  }

  // The dependencies of all transfers. A transfer that comes after a flow also depends on its
  // node's own sends of this flow.
  void add_own_sends(std::vector<std::size_t>& begin, std::vector<std::uint32_t>& before) const {
    struct OwnSend {
      NodeId node;
      FlowId flow;
      std::uint32_t position;
    };
    const auto by_flow = [](const OwnSend& a, const OwnSend& b) {
      return std::tie(a.node, a.flow, a.position) < std::tie(b.node, b.flow, b.position);
    };
    std::vector<OwnSend> sends;
    for (std::uint32_t p = 0; p < ordered_.at.size(); ++p) {
      sends.push_back({transfer_at(p).from, transfer_at(p).flow, p});
    }
    std::sort(sends.begin(), sends.end(), by_flow);
    begin.assign(1, 0);
    for (std::uint32_t p = 0; p < ordered_.at.size(); ++p) {
      const Transfer& t = transfer_at(p);
      for (std::size_t d = ordered_.begin[p]; d < ordered_.begin[p + 1]; ++d) {
        before.push_back(ordered_.before[d]);
        const FlowId flow = transfer_at(ordered_.before[d]).flow;
        if (flow == t.flow) continue;
        for (auto own =
                 std::lower_bound(sends.begin(), sends.end(), OwnSend{t.from, flow, 0}, by_flow);
             own != sends.end() && own->node == t.from && own->flow == flow && own->position < p;
             ++own) {
          before.push_back(own->position);
        }
      }
      begin.push_back(before.size());
    }
  }

  [[nodiscard]] std::string text_of(const OpenPair& pair) const {
    const auto verb = [&](const Transfer& t) {
      if (t.from == pair.node) return "reads";
      return t.kind == TransferKind::reduce ? "adds to" : "overwrites";
    };
    const Transfer& a = transfer_at(pair.first);
    const Transfer& b = transfer_at(pair.second);
    return fmt::format(
        "the {} {} {} at node {} and the {} {} it, but no chain of dependencies orders the two "
        "transfers",
        describe(a), verb(a), name_of(chunks_.runs[pair.run]), pair.node.value(), describe(b),
        verb(b));
  }

  const Schedule& schedule_;
  const OrderedTransfers& ordered_;
  const ChunkRuns& chunks_;
  std::vector<std::uint32_t> local_;  // by position; valid for the transfers of the current run
  std::vector<OpenPair> open_;
  std::vector<TransferId> holder_;  // by transfer; empty if no transfer waits for other flows

  // The members below belong to the current run of chunks.
  const std::uint32_t* first_ = nullptr;
  std::uint32_t count_ = 0;
  std::vector<std::size_t> dependency_begin_;
  std::vector<std::uint32_t> dependencies_;
  std::vector<std::size_t> access_begin_;
  std::vector<std::size_t> next_access_;
  std::vector<Access> accesses_;
  std::vector<Ends> ends_;  // by local transfer
  // 1 + the transfer that last had it as a dependency.
  std::vector<std::uint32_t> waited_for_by_;
  std::vector<PathQuestion> questions_;
  PathFinder<4> local_paths_;
};

}  // namespace

void check_data_order(const Schedule& schedule, const OrderedTransfers& ordered,
                      const ChunkRuns& chunks, Findings& findings) {
  DataOrder(schedule, ordered, chunks).check(findings);
}

}  // namespace espalier::certifier
