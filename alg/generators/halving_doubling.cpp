// Halving-doubling: a reduce-scatter by recursive vector halving and distance halving, then an
// all-gather by recursive doubling (Rabenseifner; Thakur, Rabenseifner, Gropp: "Optimization of
// collective communication operations in MPICH", 2005).
//
// Where the number of ranks is no power of two, it is folded to the one below: of the first pairs
// of ranks the even one hands all its data to the odd one, waits, and gets its result at the end.
#include "alg/generators/halving_doubling.h"

#include <algorithm>
#include <utility>

#include "alg/generators/block_exchange.h"
#include "alg/generators/ring_line.h"

namespace espalier {
namespace {

class HalvingDoubling {
 public:
  HalvingDoubling(const char* algorithm, const Topology& topology, const CollectiveRequest& request,
                  const std::vector<NodeId>& rank_at)
      : request_(request), rank_at_(rank_at), schedule_(topology), exchange_(topology, schedule_) {
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

  // Where the ranks here are not those of the request, the chunks of a block do not lie together.
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

  // The chunks of the `count` members, a power of two, that differ from it in the low bits only.
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
    exchange_.end_round();
  }

  // Every member keeps its half of what it still has to reduce, and sends the partner's.
  void halve(std::size_t distance) {
    begin_step();
    for (std::size_t m = 0; m < members_; ++m) {
      const std::size_t partner = m ^ distance;
      exchange_.send(node_of(m), node_of(partner), block_around(partner, distance),
                     TransferKind::reduce);
    }
    exchange_.end_round();
  }

  void double_up(std::size_t distance) {
    begin_step();
    for (std::size_t m = 0; m < members_; ++m) {
      exchange_.send(node_of(m), node_of(m ^ distance), block_around(m, distance),
                     TransferKind::copy);
    }
    exchange_.end_round();
  }

  // In an all_gather the even rank gets its own chunk again, so that one message will do.
  void unfold(bool gathers) {
    begin_step();
    for (std::size_t m = 0; m < folded_; ++m) {
      const std::size_t chunk = 2 * m;  // reduce_scatter: the even rank's own
      const auto block = gathers ? block_around(0, members_) : chunks_of(chunk, chunk + 1);
      exchange_.send(node_of(m), rank_at_[2 * m], block, TransferKind::copy);
    }
    exchange_.end_round();
  }

  const CollectiveRequest& request_;
  const std::vector<NodeId>& rank_at_;
  std::size_t members_ = 1;  // the largest power of two among the ranks
  std::size_t folded_ = 0;   // pairs of ranks of which one is no member
  Schedule schedule_;
  BlockExchange exchange_;
  std::vector<std::size_t> first_chunk_;  // by member, and the end; places, as of chunk_of_
  std::vector<std::size_t> chunk_of_;     // by place: in an all_reduce a member, else a rank
};

}  // namespace

Schedule halving_doubling(const char* algorithm, const Topology& topology,
                          const CollectiveRequest& request, const std::vector<NodeId>& rank_at) {
  return HalvingDoubling(algorithm, topology, request, rank_at).build();
}

Schedule generate_halving_doubling(const Topology& topology, const CollectiveRequest& request) {
  std::vector<NodeId> rank_at;
  for (std::size_t r = 0; r < topology.num_nodes(); ++r) rank_at.push_back(request.node_of(r));
  return halving_doubling("halving_doubling", topology, request, rank_at);
}

}  // namespace espalier
