#include "ni/table_program.h"

#include <algorithm>
#include <numeric>

namespace espalier {

namespace {

class Loader {
 public:
  explicit Loader(const ScheduleTables& tables) : tables_(tables), programs_(tables.nodes.size()) {}

  std::vector<TableProgram> load() {
    find_arrivals();
    for (std::size_t n = 0; n < programs_.size(); ++n) load_node(NodeId(n));
    return std::move(programs_);
  }

 private:
  // What every node will receive, from the tables of its senders.
  void find_arrivals() {
    arrivals_.resize(programs_.size());
    for (std::size_t n = 0; n < tables_.nodes.size(); ++n) {
      for (const TableEntry& entry : tables_.nodes[n]) {
        if (entry.op == TableOp::reduce) {
          arrivals_[entry.parent.node.index()].push_back(
              {entry.flow, TransferKind::reduce, NodeId(n)});
        } else if (entry.op == TableOp::gather) {
          for (const TablePeer& child : entry.children) {
            arrivals_[child.node.index()].push_back({entry.flow, TransferKind::copy, NodeId(n)});
          }
        }
      }
    }
    for (std::size_t n = 0; n < programs_.size(); ++n) {
      std::sort(arrivals_[n].begin(), arrivals_[n].end());
      programs_[n].expected_arrivals = static_cast<std::uint32_t>(arrivals_[n].size());
    }
  }

  void load_node(NodeId node) {
    TableProgram& program = programs_[node.index()];
    const auto& table = tables_.nodes[node.index()];
    std::vector<std::pair<ArrivalKey, std::uint32_t>> waits;
    for (const TableEntry& entry : table) {
      ProgramEntry loaded;
      loaded.op = entry.op;
      loaded.flow = entry.flow;
      loaded.step = entry.step;
      loaded.first_send = static_cast<std::uint32_t>(program.sends.size());
      std::vector<ArrivalKey> keys;
      if (entry.op == TableOp::reduce) {
        program.sends.push_back(operation(node, entry, entry.parent, TransferKind::reduce));
        for (const TablePeer& child : entry.children) {
          keys.push_back({entry.flow, TransferKind::reduce, child.node});
        }
      } else if (entry.op == TableOp::gather) {
        for (const TablePeer& child : entry.children) {
          program.sends.push_back(operation(node, entry, child, TransferKind::copy));
        }
        if (entry.parent.node.valid()) {
          keys.push_back({entry.flow, TransferKind::copy, entry.parent.node});
        } else if (tables_.op == CollectiveOp::all_reduce) {
          loaded.reads_back = add_completion(node, entry.flow, keys);
        }
      }
      for (const FlowId flow : entry.after) loaded.reads_back |= add_completion(node, flow, keys);
      std::sort(keys.begin(), keys.end());
      keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
      loaded.num_sends = static_cast<std::uint32_t>(program.sends.size()) - loaded.first_send;
      loaded.waits_for = static_cast<std::uint32_t>(keys.size());
      const auto index = static_cast<std::uint32_t>(program.entries.size());
      for (const ArrivalKey& key : keys) waits.emplace_back(key, index);
      program.entries.push_back(loaded);
    }
    std::sort(waits.begin(), waits.end());
    for (const auto& [key, entry] : waits) {
      program.arrival_keys.push_back(key);
      program.waiters.push_back(entry);
    }
  }

  // Flow `flow` is complete at `node` when its Gather has arrived; at its root, which receives
  // none, when all its Reduces have. Returns whether the latter is the case.
  bool add_completion(NodeId node, FlowId flow, std::vector<ArrivalKey>& keys) const {
    const auto& arrivals = arrivals_[node.index()];
    const auto first = std::lower_bound(arrivals.begin(), arrivals.end(),
                                        ArrivalKey{flow, TransferKind::reduce, NodeId(0)});
    std::vector<ArrivalKey> reduces;
    bool gathered = false;
    for (auto a = first; a != arrivals.end() && a->flow == flow; ++a) {
      if (a->kind == TransferKind::copy) {
        keys.push_back(*a);
        gathered = true;
      } else {
        reduces.push_back(*a);
      }
    }
    if (!gathered) keys.insert(keys.end(), reduces.begin(), reduces.end());
    return !gathered;
  }

  [[nodiscard]] Operation operation(NodeId node, const TableEntry& entry, const TablePeer& peer,
                                    TransferKind kind) const {
    Operation op;
    op.flow = entry.flow;
    op.from = node;
    op.to = peer.node;
    op.route = peer.route;
    op.on_arrival = kind;
    op.bytes = entry.size;
    const auto& chunks = tables_.chunks;
    auto chunk = std::lower_bound(chunks.begin(), chunks.end(), entry.start_addr,
                                  [](const Chunk& c, Bytes address) { return c.offset < address; });
    while (chunk->size == 0) ++chunk;
    op.first_chunk = ChunkId(static_cast<std::size_t>(chunk - chunks.begin()));
    const Bytes end = entry.start_addr + entry.size;
    for (; chunk != chunks.end() && chunk->offset < end; ++chunk) ++op.num_chunks;
    return op;
  }

  const ScheduleTables& tables_;
  std::vector<TableProgram> programs_;
  std::vector<std::vector<ArrivalKey>> arrivals_;  // by node, sorted
};

}  // namespace

std::vector<TableProgram> load_tables(const ScheduleTables& tables) {
  return Loader(tables).load();
}

std::vector<Bytes> step_bytes(const ScheduleTables& tables) {
  std::vector<Bytes> largest(tables.num_steps, 0);
  for (const auto& table : tables.nodes) {
    for (const TableEntry& entry : table) {
      if (entry.op == TableOp::nop) continue;
      largest[entry.step - 1] = std::max(largest[entry.step - 1], entry.size);
    }
  }
  return largest;
}

}  // namespace espalier
