// Halving-doubling: a reduce-scatter by recursive vector halving and distance halving, then an
// all-gather by recursive doubling (Rabenseifner; Thakur, Rabenseifner, Gropp: "Optimization of
// collective communication operations in MPICH", 2005).
//
// Where the number of ranks is no power of two, it is folded to the one below: of the first pairs
// of ranks the even one hands all its data to the odd one, waits, and gets its result at the end.
//
// A message carries a run of chunks that no other message carries along the same way, so each is a
// flow of its own, and what it waits for are flows that are complete at its sender.
#include "alg/halving_doubling.h"

#include <utility>

#include "alg/node_routes.h"
#include "alg/ring_line.h"

namespace espalier {
namespace {

struct Block {
  std::size_t begin = 0;  // chunks [begin, end)
  std::size_t end = 0;
};

class HalvingDoubling {
 public:
  HalvingDoubling(const char* algorithm, const Topology& topology, const CollectiveRequest& request,
                  const std::vector<NodeId>& rank_at)
      : request_(request),
        rank_at_(rank_at),
        schedule_(topology),
        routes_(topology, schedule_.routes),
        arrived_(topology.num_nodes()) {
    while (2 * members_ <= rank_at.size()) members_ *= 2;
    folded_ = rank_at.size() - members_;
    schedule_.algorithm = algorithm;
    schedule_.op = request.op;
    schedule_.num_nodes = topology.num_nodes();
    schedule_.size = request.size;
  }

  Schedule build() {
    cut_chunks();
    const bool reduces = request_.op != CollectiveOp::all_gather;
    const bool gathers = request_.op != CollectiveOp::reduce_scatter;
    if (folded_ != 0) fold(reduces);
    if (reduces) {
      for (std::size_t distance = members_ / 2; distance > 0; distance /= 2) halve(distance);
    }
    if (gathers) {
      for (std::size_t distance = 1; distance < members_; distance *= 2) double_up(distance);
    }
    if (folded_ != 0) unfold(gathers);
    schedule_.sort_by_step();
    schedule_.contention_free = is_contention_free(schedule_);
    return std::move(schedule_);
  }

 private:
  // Member m of the power of two: of a folded pair the odd rank.
  [[nodiscard]] std::size_t rank_of(std::size_t member) const {
    return member < folded_ ? 2 * member + 1 : member + folded_;
  }
  [[nodiscard]] NodeId node_of(std::size_t member) const { return rank_at_[rank_of(member)]; }

  // In an all_reduce equal pieces for the members; else one chunk per rank, and a member has that
  // of its folded partner, too.
  void cut_chunks() {
    const bool by_member = request_.op == CollectiveOp::all_reduce;
    const std::size_t count = by_member ? members_ : rank_at_.size();
    const auto offsets = cut_evenly(request_.size, count, request_.element_bytes);
    for (std::size_t c = 0; c < count; ++c) {
      const NodeId owner = by_member ? node_of(c) : rank_at_[c];
      schedule_.chunks.push_back({offsets[c], offsets[c + 1] - offsets[c], owner});
    }
    first_chunk_.push_back(0);
    for (std::size_t m = 0; m < members_; ++m) {
      first_chunk_.push_back(1 + (by_member ? m : rank_of(m)));
    }
  }

  // The chunks of the `count` members, a power of two, that differ from it in the low bits only.
  [[nodiscard]] Block block_around(std::size_t member, std::size_t count) const {
    const std::size_t first = member / count * count;
    return {first_chunk_[first], first_chunk_[first + count]};
  }

  void send(NodeId from, NodeId to, const Block& block, TransferKind kind) {
    const Bytes begin = schedule_.chunks[block.begin].offset;
    const Chunk& last = schedule_.chunks[block.end - 1];
    if (last.offset + last.size == begin) return;
    const auto num_chunks = static_cast<std::uint32_t>(block.end - block.begin);
    const Transfer transfer{from,
                            to,
                            FlowId(next_flow_++),
                            ChunkId(block.begin),
                            num_chunks,
                            routes_.between(from, to),
                            schedule_.num_steps,
                            kind};
    arriving_.emplace_back(to, schedule_.add(transfer, waits_for(from, block)));
  }

  // Everything that the node has received of these chunks.
  [[nodiscard]] std::vector<TransferId> waits_for(NodeId node, const Block& block) const {
    std::vector<TransferId> waits;
    for (const TransferId id : arrived_[node.index()]) {
      const Transfer& t = schedule_.transfers[id.index()];
      const std::size_t first = t.first_chunk.index();
      if (first < block.end && block.begin < first + t.num_chunks) waits.push_back(id);
    }
    return waits;
  }

  // What is sent within a step does not wait for what arrives in it.
  void begin_step() { ++schedule_.num_steps; }
  void end_step() {
    for (const auto& [node, transfer] : arriving_) arrived_[node.index()].push_back(transfer);
    arriving_.clear();
  }

  void fold(bool reduces) {
    begin_step();
    for (std::size_t m = 0; m < folded_; ++m) {
      const std::size_t chunk = 2 * m;  // all_gather: the even rank's own
      const Block block = reduces ? block_around(0, members_) : Block{chunk, chunk + 1};
      send(rank_at_[2 * m], node_of(m), block, reduces ? TransferKind::reduce : TransferKind::copy);
    }
    end_step();
  }

  // Every member keeps its half of what it still has to reduce, and sends the partner's.
  void halve(std::size_t distance) {
    begin_step();
    for (std::size_t m = 0; m < members_; ++m) {
      const std::size_t partner = m ^ distance;
      send(node_of(m), node_of(partner), block_around(partner, distance), TransferKind::reduce);
    }
    end_step();
  }

  void double_up(std::size_t distance) {
    begin_step();
    for (std::size_t m = 0; m < members_; ++m) {
      send(node_of(m), node_of(m ^ distance), block_around(m, distance), TransferKind::copy);
    }
    end_step();
  }

  // In an all_gather the even rank gets its own chunk again, so that one message will do.
  void unfold(bool gathers) {
    begin_step();
    for (std::size_t m = 0; m < folded_; ++m) {
      const std::size_t chunk = 2 * m;  // reduce_scatter: the even rank's own
      const Block block = gathers ? block_around(0, members_) : Block{chunk, chunk + 1};
      send(node_of(m), rank_at_[2 * m], block, TransferKind::copy);
    }
    end_step();
  }

  const CollectiveRequest& request_;
  const std::vector<NodeId>& rank_at_;
  std::size_t members_ = 1;  // the largest power of two among the ranks
  std::size_t folded_ = 0;   // pairs of ranks of which one is no member
  Schedule schedule_;
  NodeRoutes routes_;
  std::vector<std::size_t> first_chunk_;          // by member, and the end
  std::vector<std::vector<TransferId>> arrived_;  // by node, in earlier steps
  std::vector<std::pair<NodeId, TransferId>> arriving_;
  std::size_t next_flow_ = 0;
};

}  // namespace

Schedule halving_doubling(const char* algorithm, const Topology& topology,
                          const CollectiveRequest& request, const std::vector<NodeId>& rank_at) {
  return HalvingDoubling(algorithm, topology, request, rank_at).build();
}

Schedule generate_halving_doubling(const Topology& topology, const CollectiveRequest& request) {
  std::vector<NodeId> rank_at;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) rank_at.emplace_back(n);
  return halving_doubling("halving_doubling", topology, request, rank_at);
}

}  // namespace espalier
