// Lowers the schedule IR to NI tables. The hardware must wait for exactly the arrivals that the
// schedule states.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "alg/schedule/arrival_index.h"
#include "alg/schedule/schedule_table.h"
#include "alg/schedule/schedule_text.h"

namespace espalier {

namespace {

class Lowering {
 public:
  explicit Lowering(const Schedule& schedule)
      : schedule_(schedule),
        arrivals_(schedule.transfers, schedule.num_nodes),
        sent_begin_(schedule.num_nodes + 1, 0),
        sent_(schedule.transfers.size()) {
    for (const Transfer& t : schedule.transfers) ++sent_begin_[t.from.index() + 1];
    for (std::size_t n = 0; n < schedule.num_nodes; ++n) sent_begin_[n + 1] += sent_begin_[n];
    std::vector<std::size_t> next(sent_begin_.begin(), sent_begin_.end() - 1);
    for (std::size_t t = 0; t < schedule.transfers.size(); ++t) {
      sent_[next[schedule.transfers[t].from.index()]++] = TransferId(t);
    }
  }

  [[nodiscard]] ScheduleTables run() {
    check_single_gathers();
    ScheduleTables tables = empty_tables();
    tables.nodes.resize(schedule_.num_nodes);
    for (std::size_t n = 0; n < schedule_.num_nodes; ++n) lower_node(NodeId(n), tables.nodes[n]);
    return tables;
  }

  // Lowers only node 0's part.
  [[nodiscard]] ScheduleTables run_first() {
    check_single_gathers();
    ScheduleTables tables = empty_tables();
    lower_node(NodeId(0), tables.nodes.emplace_back());
    return tables;
  }

 private:
  // The dependencies of one transfer as the tables express them.
  struct Waits {
    std::vector<NodeId> reduces;  // senders, same flow, ascending
    NodeId gather;                // sender, same flow
    std::vector<FlowId> after;    // ascending

    friend bool operator==(const Waits& a, const Waits& b) {
      return a.reduces == b.reduces && a.gather == b.gather && a.after == b.after;
    }
  };
  // A transfer of the current node with its sort keys.
  struct Outgoing {
    FlowId flow;
    TransferKind kind;
    Timestep step;
    ChunkId first_chunk;
    NodeId to;
    TransferId id;
  };
  // One entry, made from outgoing_[begin .. end).
  struct Draft {
    Timestep step;
    bool waits;
    FlowId flow;
    TransferKind kind;
    std::size_t begin;
    std::size_t end;
  };

  [[noreturn]] void fail(TransferId t, const std::string& why) const {
    throw std::invalid_argument(
        fmt::format("schedule tables cannot express the {}: {}", describe(transfer(t)), why));
  }

  [[nodiscard]] const Transfer& transfer(TransferId t) const {
    return schedule_.transfers[t.index()];
  }

  [[nodiscard]] ScheduleTables empty_tables() const {
    ScheduleTables tables(schedule_.routes);
    tables.algorithm = schedule_.algorithm;
    if (schedule_.is_budget_spent) {
      tables.choice = fmt::format("{}, planned until its budget was spent", schedule_.algorithm);
    }
    tables.op = schedule_.op;
    tables.scope = schedule_.scope;
    tables.size = schedule_.size;
    tables.num_steps = schedule_.num_steps;
    tables.contention_free = schedule_.contention_free;
    tables.listed_order = schedule_.listed_order;
    tables.ni_ports = schedule_.ni_ports;
    tables.chunks = schedule_.chunks;
    tables.symmetry = schedule_.symmetry;
    return tables;
  }

  void check_single_gathers() const {
    for (std::size_t n = 0; n < schedule_.num_nodes; ++n) {
      const ArrivalIndex::Arrival* before = nullptr;
      for (const ArrivalIndex::Arrival& a : arrivals_.at(NodeId(n))) {
        if (a.kind != TransferKind::copy) continue;
        if (before != nullptr && before->flow == a.flow) {
          fail(a.transfer, fmt::format("its receiver also receives this flow from node {}",
                                       before->from.value()));
        }
        before = &a;
      }
    }
  }

  void lower_node(NodeId node, std::vector<TableEntry>& entries) {
    node_ = node;
    collect_outgoing(node);
    draft_entries();
    entries.reserve(drafts_.size());
    // The NI's timestep counter passes every step, so that the lockstep counter can hold each step
    // for its time.
    Timestep next_step = 1;
    const auto add_nops_before = [&](Timestep step) {
      for (; next_step < step; ++next_step) {
        TableEntry nop;
        nop.step = next_step;
        entries.push_back(std::move(nop));
      }
      next_step = step + 1;
    };
    for (const Draft& draft : drafts_) {
      add_nops_before(draft.step);
      entries.push_back(entry_of(draft));
    }
    add_nops_before(schedule_.num_steps + 1);
  }

  void collect_outgoing(NodeId node) {
    outgoing_.clear();
    for (std::size_t i = sent_begin_[node.index()]; i < sent_begin_[node.index() + 1]; ++i) {
      const Transfer& t = transfer(sent_[i]);
      outgoing_.push_back({t.flow, t.kind, t.step, t.first_chunk, t.to, sent_[i]});
    }
    std::sort(outgoing_.begin(), outgoing_.end(), [](const Outgoing& a, const Outgoing& b) {
      return std::tie(a.flow, a.kind, a.step, a.first_chunk, a.to) <
             std::tie(b.flow, b.kind, b.step, b.first_chunk, b.to);
    });
  }

  // Makes one Reduce per flow, and one Gather per flow, step and sequence of chunks.
  void draft_entries() {
    drafts_.clear();
    if (schedule_.listed_order) {
      draft_listed_entries();
      return;
    }
    for (std::size_t begin = 0; begin < outgoing_.size();) {
      const Outgoing& first = outgoing_[begin];
      std::size_t end = begin + 1;
      for (; end < outgoing_.size(); ++end) {
        const Outgoing& other = outgoing_[end];
        if (other.flow != first.flow || other.kind != first.kind) break;
        if (first.kind == TransferKind::reduce)
          fail(other.id, "its sender sends another Reduce of this flow");
        if (other.step != first.step || other.first_chunk != first.first_chunk ||
            transfer(other.id).num_chunks != transfer(first.id).num_chunks) {
          break;
        }
      }
      const std::size_t t = first.id.index();
      const bool waits = schedule_.dependency_begin[t] != schedule_.dependency_begin[t + 1];
      drafts_.push_back({first.step, waits, first.flow, first.kind, begin, end});
      begin = end;
    }
    std::sort(drafts_.begin(), drafts_.end(), [](const Draft& a, const Draft& b) {
      return std::tie(a.step, a.waits, a.flow, a.kind, a.begin) <
             std::tie(b.step, b.waits, b.flow, b.kind, b.begin);
    });
  }

  // Makes an entry for every transfer.
  void draft_listed_entries() {
    const Outgoing* reduce = nullptr;
    for (std::size_t i = 0; i < outgoing_.size(); ++i) {
      const Outgoing& o = outgoing_[i];
      if (o.kind == TransferKind::reduce) {
        if (reduce != nullptr && reduce->flow == o.flow)
          fail(o.id, "its sender sends another Reduce of this flow");
        reduce = &o;
      }
      drafts_.push_back({o.step, false, o.flow, o.kind, i, i + 1});
    }
    std::sort(drafts_.begin(), drafts_.end(), [this](const Draft& a, const Draft& b) {
      return outgoing_[a.begin].id < outgoing_[b.begin].id;
    });
  }

  [[nodiscard]] TableEntry entry_of(const Draft& draft) {
    const TransferId first = outgoing_[draft.begin].id;
    const Transfer& t = transfer(first);
    split_dependencies(first, waits_);
    check_tree_waits(first, waits_);

    TableEntry entry;
    entry.flow = t.flow;
    entry.step = t.step;
    entry.start_addr = schedule_.chunks[t.first_chunk.index()].offset;
    entry.size = schedule_.bytes_of(t);
    entry.after = waits_.after;
    entry.not_before_ps = t.not_before_ps;
    if (t.kind == TransferKind::reduce) {
      entry.op = TableOp::reduce;
      entry.parent = {t.to, t.route};
      entry.children.reserve(waits_.reduces.size());
      for (const NodeId child : waits_.reduces) entry.children.push_back({child, RouteId()});
      return entry;
    }
    if (!waits_.gather.valid() && is_first_of_root(draft)) check_roots_wait_alike(draft);
    entry.op = TableOp::gather;
    entry.parent = {waits_.gather, RouteId()};
    entry.children.reserve(draft.end - draft.begin);
    entry.children.push_back({t.to, t.route});
    for (std::size_t i = draft.begin + 1; i < draft.end; ++i) {
      const TransferId id = outgoing_[i].id;
      const Transfer& other = transfer(id);
      split_dependencies(id, waits_of_other_);
      if (!(waits_of_other_ == waits_)) {
        fail(id,
             fmt::format("it would share a Gather entry with the {}, which has other dependencies",
                         describe(t)));
      }
      entry.children.push_back({other.to, other.route});
    }
    return entry;
  }

  void check_tree_waits(TransferId t, const Waits& waits) const {
    if (transfer(t).kind == TransferKind::reduce) {
      if (waits.gather.valid()) fail(t, "a Reduce cannot wait for the Gather of its own flow");
      return;
    }
    if (waits.gather.valid()) {
      if (!waits.reduces.empty())
        fail(t, "it waits for Reduces of its flow, which only a root's Gather may do");
      return;
    }
    const FlowId flow = transfer(t).flow;
    if (!arrivals_.at(node_, flow, TransferKind::copy).empty()) {
      fail(t, "it does not depend on the copy of its flow that its sender receives");
    }
    const ArrivalIndex::Range reduces = arrivals_.at(node_, flow, TransferKind::reduce);
    const bool all_awaited = std::equal(
        reduces.begin(), reduces.end(), waits.reduces.begin(), waits.reduces.end(),
        [](const ArrivalIndex::Arrival& arrival, NodeId sender) { return arrival.from == sender; });
    if (!all_awaited)
      fail(t, "a root's Gather must wait for all Reduces of its flow that its node receives");
  }

  [[nodiscard]] bool is_first_of_root(const Draft& draft) const {
    for (std::size_t i = draft.begin; i-- > 0;) {
      const Outgoing& before = outgoing_[i];
      if (before.flow != draft.flow || before.kind != draft.kind) return true;
      if (!has_parent(before.id)) return false;
    }
    return true;
  }

  // Compares all Gathers of a root with the first one. Precondition: waits_ belong to the draft's
  // first transfer.
  void check_roots_wait_alike(const Draft& draft) {
    const FlowId flow = draft.flow;
    for (std::size_t i = draft.end; i < outgoing_.size() && outgoing_[i].flow == flow; ++i) {
      if (has_parent(outgoing_[i].id)) continue;
      split_dependencies(outgoing_[i].id, waits_of_other_);
      if (waits_of_other_.after == waits_.after) continue;
      fail(outgoing_[i].id,
           fmt::format("it does not wait for the same flows as the {}, a Gather of the same root",
                       describe(transfer(outgoing_[draft.begin].id))));
    }
  }

  [[nodiscard]] bool has_parent(TransferId t) const {
    const FlowId flow = transfer(t).flow;
    const auto begin = schedule_.dependencies.begin();
    return std::any_of(begin + schedule_.dependency_begin[t.index()],
                       begin + schedule_.dependency_begin[t.index() + 1], [&](TransferId d) {
                         return transfer(d).flow == flow && transfer(d).kind == TransferKind::copy;
                       });
  }

  [[nodiscard]] FlowRole role_in(FlowId flow) const {
    FlowRole role;
    auto sent = std::lower_bound(outgoing_.begin(), outgoing_.end(), flow,
                                 [](const Outgoing& o, FlowId f) { return o.flow < f; });
    for (; sent != outgoing_.end() && sent->flow == flow; ++sent) {
      if (sent->kind == TransferKind::reduce) {
        role.sends_reduce = true;
      } else if (!has_parent(sent->id)) {
        role.is_root = true;
      }
    }
    return role;
  }

  void split_dependencies(TransferId t, Waits& waits) {
    const auto begin = schedule_.dependencies.begin();
    dependencies_.assign(begin + schedule_.dependency_begin[t.index()],
                         begin + schedule_.dependency_begin[t.index() + 1]);
    if (dependencies_.size() > 1) {
      const auto before = [this](TransferId a, TransferId b) {
        const Transfer& x = transfer(a);
        const Transfer& y = transfer(b);
        return std::tie(x.flow, x.kind, x.from, a) < std::tie(y.flow, y.kind, y.from, b);
      };
      // Generators usually add dependencies in this order already.
      if (!std::is_sorted(dependencies_.begin(), dependencies_.end(), before)) {
        std::sort(dependencies_.begin(), dependencies_.end(), before);
      }
      dependencies_.erase(std::unique(dependencies_.begin(), dependencies_.end()),
                          dependencies_.end());
    }
    waits.reduces.clear();
    waits.gather = NodeId();
    waits.after.clear();
    for (std::size_t d = 0; d < dependencies_.size();) {
      const Transfer& arrival = transfer(dependencies_[d]);
      if (arrival.flow == transfer(t).flow) {
        if (arrival.kind == TransferKind::reduce) {
          waits.reduces.push_back(arrival.from);
        } else {
          waits.gather = arrival.from;
        }
        ++d;
        continue;
      }
      std::size_t end = d + 1;
      while (end < dependencies_.size() && transfer(dependencies_[end]).flow == arrival.flow) ++end;
      check_completion(t, d, end);
      waits.after.push_back(arrival.flow);
      d = end;
    }
  }

  // dependencies_[begin .. end) belong to one other flow, and must be exactly the arrivals that
  // complete this flow at the node.
  void check_completion(TransferId t, std::size_t begin, std::size_t end) {
    const Transfer& first = transfer(dependencies_[begin]);
    completing_.clear();
    if (!collect_completion(arrivals_, node_, first.flow, role_in(first.flow), completing_)) {
      fail(t, fmt::format("it depends on the {}, which does not complete that flow at node {}",
                          describe(first), node_.value()));
    }
    const auto stated = dependencies_.begin() + static_cast<std::ptrdiff_t>(begin);
    if (end - begin == completing_.size() &&
        std::equal(completing_.begin(), completing_.end(), stated)) {
      return;
    }
    fail(t, fmt::format("it depends on the {}, but not on exactly the arrivals that complete that "
                        "flow at node {}",
                        describe(first), node_.value()));
  }
  const Schedule& schedule_;
  ArrivalIndex arrivals_;
  std::vector<std::size_t> sent_begin_;  // by node
  std::vector<TransferId> sent_;

  // For one node or transfer; members only to reuse their memory.
  NodeId node_;
  std::vector<Outgoing> outgoing_;
  std::vector<Draft> drafts_;
  std::vector<TransferId> dependencies_;
  std::vector<TransferId> completing_;
  Waits waits_;
  Waits waits_of_other_;
};

}  // namespace

ScheduleTables lower_to_tables(const Schedule& schedule) {
  if (!schedule.symmetry) return Lowering(schedule).run();
  const Schedule folded = fold_onto_first_node(schedule);
  return Lowering(folded).run_first();
}

}  // namespace espalier
