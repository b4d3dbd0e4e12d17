// Halving-doubling: a reduce-scatter by recursive vector halving and distance halving, then an
// all-gather by recursive doubling (Rabenseifner; Thakur, Rabenseifner, Gropp: "Optimization of
// collective communication operations in MPICH", 2005).
//
// If the number of ranks is not a power of two, it is reduced to the next lower power: in each of
// the first pairs of ranks, the even rank sends all its data to the odd rank at the beginning and
// receives its result at the end.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "alg/generators/generator.h"
#include "alg/generators/node_routes.h"
#include "alg/generators/rank_shapes.h"
#include "hw/bits.h"

namespace espalier {
namespace {

class HalvingDoubling {
 public:
  HalvingDoubling(const char* algorithm, const Topology& topology, const CollectiveRequest& request,
                  const std::vector<NodeId>& rank_at)
      : request_(request),
        rank_at_(rank_at),
        schedule_(empty_schedule(algorithm, topology, request)),
        exchange_(topology, schedule_) {
    while (2 * members_ <= rank_at.size()) members_ *= 2;
    folded_ = rank_at.size() - members_;
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
    return finished(std::move(schedule_));
  }

 private:
  // The rank of member m of the power of two. The member of a folded pair is the odd rank.
  [[nodiscard]] std::size_t rank_of(std::size_t member) const {
    return member < folded_ ? 2 * member + 1 : member + folded_;
  }
  [[nodiscard]] NodeId node_of(std::size_t member) const { return rank_at_[rank_of(member)]; }

  // In an all_reduce, one piece for each member. In other operations, one chunk for each rank, and
  // a member also has the chunk of its folded partner.
  void cut_chunks() {
    const bool by_member = request_.op == CollectiveOp::all_reduce;
    const std::size_t count = by_member ? members_ : rank_at_.size();
    const auto offsets = cut_evenly(request_.size, count, request_.element_bytes);
    for (std::size_t c = 0; c < count; ++c) {
      const NodeId owner = by_member ? node_of(c) : owner_of(c);
      schedule_.chunks.push_back({offsets[c], offsets[c + 1] - offsets[c], owner});
    }
    first_chunk_.push_back(0);
    for (std::size_t m = 0; m < members_; ++m) {
      first_chunk_.push_back(1 + (by_member ? m : rank_of(m)));
    }
    name_chunks(by_member);
  }

  [[nodiscard]] NodeId owner_of(std::size_t chunk) const {
    return request_.rank_order.empty() ? rank_at_[chunk] : request_.rank_order[chunk];
  }

  // Assigns chunk numbers. If rank_at differs from the order of the request, the chunks of a block
  // are not consecutive.
  void name_chunks(bool by_member) {
    chunk_of_.resize(schedule_.chunks.size());
    if (by_member) {
      for (std::size_t c = 0; c < chunk_of_.size(); ++c) chunk_of_[c] = c;
      return;
    }
    std::vector<std::size_t> place_of(rank_at_.size());
    for (std::size_t place = 0; place < rank_at_.size(); ++place) {
      place_of[rank_at_[place].index()] = place;
    }
    for (std::size_t c = 0; c < chunk_of_.size(); ++c) {
      chunk_of_[place_of[schedule_.chunks[c].owner.index()]] = c;
    }
  }

  // The chunks of the `count` members (a power of two) that differ from `member` only in the low
  // bits.
  [[nodiscard]] std::vector<std::size_t> block_around(std::size_t member, std::size_t count) const {
    const std::size_t first = member / count * count;
    return chunks_of(first_chunk_[first], first_chunk_[first + count]);
  }
  [[nodiscard]] std::vector<std::size_t> chunks_of(std::size_t begin, std::size_t end) const {
    std::vector<std::size_t> chunks(chunk_of_.begin() + static_cast<std::ptrdiff_t>(begin),
                                    chunk_of_.begin() + static_cast<std::ptrdiff_t>(end));
    std::sort(chunks.begin(), chunks.end());
    return chunks;
  }

  void begin_step() { ++schedule_.num_steps; }

  void fold(bool reduces) {
    begin_step();
    for (std::size_t m = 0; m < folded_; ++m) {
      const std::size_t chunk = 2 * m;  // all_gather: the even rank's own
      const auto block = reduces ? block_around(0, members_) : chunks_of(chunk, chunk + 1);
      exchange_.send(rank_at_[2 * m], node_of(m), block,
                     reduces ? TransferKind::reduce : TransferKind::copy);
    }
    exchange_.end_exchange();
  }

  // Every member keeps half of the data that it still has to reduce, and sends the other half to
  // its partner.
  void halve(std::size_t distance) {
    begin_step();
    for (std::size_t m = 0; m < members_; ++m) {
      const std::size_t partner = m ^ distance;
      exchange_.send(node_of(m), node_of(partner), block_around(partner, distance),
                     TransferKind::reduce);
    }
    exchange_.end_exchange();
  }

  void double_up(std::size_t distance) {
    begin_step();
    for (std::size_t m = 0; m < members_; ++m) {
      exchange_.send(node_of(m), node_of(m ^ distance), block_around(m, distance),
                     TransferKind::copy);
    }
    exchange_.end_exchange();
  }

  // In an all_gather the even rank receives its own chunk again, so that one message is enough.
  void unfold(bool gathers) {
    begin_step();
    for (std::size_t m = 0; m < folded_; ++m) {
      const std::size_t chunk = 2 * m;  // reduce_scatter: the even rank's own
      const auto block = gathers ? block_around(0, members_) : chunks_of(chunk, chunk + 1);
      exchange_.send(node_of(m), rank_at_[2 * m], block, TransferKind::copy);
    }
    exchange_.end_exchange();
  }

  const CollectiveRequest& request_;
  const std::vector<NodeId>& rank_at_;
  std::size_t members_ = 1;  // the largest power of two among the ranks
  std::size_t folded_ = 0;   // pairs of ranks with only one member
  Schedule schedule_;
  BlockExchange exchange_;
  // By member, with an entry for the end; indices into chunk_of_.
  std::vector<std::size_t> first_chunk_;
  // By index: in an all_reduce a member's chunk, otherwise a rank's.
  std::vector<std::size_t> chunk_of_;
};

Schedule generate_halving_doubling(const Topology& topology, const CollectiveRequest& request) {
  std::vector<NodeId> rank_at;
  for (std::size_t r = 0; r < topology.num_nodes(); ++r) rank_at.push_back(request.node_of(r));
  return HalvingDoubling("halving_doubling", topology, request, rank_at).build();
}

// HDRM: halving-doubling with rank mapping on a BiGraph (EFLOPS, Dong et al., HPCA 2020; a baseline
// of MultiTree).
//
// Partners differ in one bit of their ranks, so the parity of a rank says on which side it sits: a
// message always crosses from one side to the other, over one link between switches. With s bits
// for a side's switches and p for a switch's nodes, an upper rank sits at the switch of its bits 0
// .. s-1, a lower rank at the switch of bits s .. s+p-1 and then 0, 1, ... (s bits). If p <= s
// the two switches of a message and the step then tell the sender, and no link carries two messages
// of a step.
bool is_power_of_two(std::size_t n) { return n != 0 && (n & (n - 1)) == 0; }

bool is_upper_rank(std::size_t rank) {
  bool even = true;
  for (; rank != 0; rank &= rank - 1) even = !even;
  return even;
}

// The number of the rank's switch within its side.
std::size_t switch_of(std::size_t rank, std::uint32_t switch_bits, std::uint32_t node_bits) {
  const std::size_t sides_switches = std::size_t{1} << switch_bits;
  if (is_upper_rank(rank)) return rank % sides_switches;
  const std::size_t middle = rank >> switch_bits & ((std::size_t{1} << node_bits) - 1);
  return (middle | rank << node_bits) % sides_switches;
}

}  // namespace

std::vector<NodeId> hdrm_ranks(const Topology& topology) {
  const TwoSides& shape = *topology.shape().sides;
  const std::uint32_t switch_bits = bits_for(shape.switches / 2);
  const std::uint32_t node_bits = bits_for(shape.nodes_per_switch);
  std::vector<std::size_t> ranks_at(shape.switches, 0);
  std::vector<NodeId> nodes;
  for (std::size_t rank = 0; rank < topology.num_nodes(); ++rank) {
    const std::size_t leaf =
        switch_of(rank, switch_bits, node_bits) + (is_upper_rank(rank) ? 0 : shape.switches / 2);
    nodes.emplace_back(leaf * shape.nodes_per_switch + ranks_at[leaf]++);
  }
  return nodes;
}

namespace {

std::string unsuited_for_hdrm(const Topology& topology) {
  const auto& shape = topology.shape().sides;
  if (!shape) {
    return "HDRM maps ranks onto the two sides of a BiGraph; this network is not a BiGraph";
  }
  if (is_power_of_two(shape->switches) && is_power_of_two(shape->nodes_per_switch)) return {};
  return fmt::format(
      "HDRM needs a BiGraph whose numbers of switches and of nodes per switch are powers of two; "
      "this BiGraph has {} switches with {} nodes each",
      shape->switches, shape->nodes_per_switch);
}

Schedule generate_hdrm(const Topology& topology, const CollectiveRequest& request) {
  return HalvingDoubling("hdrm", topology, request, hdrm_ranks(topology)).build();
}

}  // namespace

Generator halving_doubling_row() {
  Generator row("halving_doubling", "recursive halving, then recursive doubling over the ranks",
                reduction_ops(), unsuited_for_routes, generate_halving_doubling);
  row.order_model = OrderModel::halving_doubling;
  row.look = 8;
  return row;
}

Generator hdrm_row() {
  Generator row("hdrm",
                "halving-doubling on a BiGraph with ranks mapped to alternate between its sides",
                reduction_ops(), unsuited_for_hdrm, generate_hdrm);
  row.look = 6;
  return row;
}

}  // namespace espalier
