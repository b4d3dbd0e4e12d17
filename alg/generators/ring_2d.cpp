// 2D-RING: ring collectives along one dimension of a 2D grid, then along the other. The data are
// cut into parts that differ in the dimension that comes first and in the direction of the rings,
// so that all links are used.
//
// An all_reduce is a complete ring all-reduce along either dimension, as in MultiTree's comparison;
// it sends twice the minimum data. A reduce_scatter or all_gather is hierarchical: the second
// dimension moves only the block that the first dimension has left at the node.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "alg/generators/generator.h"
#include "alg/generators/rings.h"

namespace espalier {
namespace {

using DimPair = std::array<std::size_t, 2>;

// One share of the data. Places on a line are counted in the order of its ring.
struct Part {
  DimPair dims{};  // the first dimension and the second
  bool plus = true;
  Bytes begin = 0;
  Bytes end = 0;
};

class RingOf2d {
 public:
  RingOf2d(const Topology& topology, const CollectiveRequest& request)
      : topology_(topology),
        grid_(*topology.grid()),
        request_(request),
        schedule_(empty_schedule("2d_ring", topology, request)) {
    const auto used = long_dimensions(grid_);
    dims_ = {used[0], used[1]};
  }

  Schedule generate() {
    // A folded ring uses both directions of a line; otherwise there is a ring in each direction.
    schedule_.ni_ports = goes_round() ? 4 : 2;
    // Both halves change dimensions at the same step, so they never share a link, even if the
    // dimensions differ in length.
    const std::size_t longest = std::max(length(dims_[0]), length(dims_[1]));
    phase_steps_ =
        static_cast<Timestep>((longest - 1) * (request_.op == CollectiveOp::all_reduce ? 2 : 1));
    schedule_.num_steps = 2 * phase_steps_;

    std::vector<Part> parts;
    for (const bool plus : {true, false}) {
      if (!plus && !goes_round()) continue;
      for (const std::size_t first : {0U, 1U}) {
        parts.push_back({{dims_[first], dims_[1 - first]}, plus, 0, 0});
      }
    }
    const auto cuts = cuts_of_parts(parts);
    for (std::size_t p = 0; p < parts.size(); ++p) {
      parts[p].begin = cuts[p];
      parts[p].end = cuts[p + 1];
      next_flow_ = std::max(next_flow_, p * 2 * topology_.num_nodes());
      // The generator's row excludes other operations.
      if (request_.op == CollectiveOp::all_reduce) add_all_reduce(parts[p]);
      if (request_.op == CollectiveOp::reduce_scatter) add_reduce_scatter(parts[p]);
      if (request_.op == CollectiveOp::all_gather) add_all_gather(parts[p]);
    }
    return finished(std::move(schedule_));
  }

 private:
  // Chunks [first, first + count); count is 0 if the block has no bytes.
  struct Block {
    std::size_t first = 0;
    std::size_t count = 0;
  };
  using CompletedAt = std::vector<std::vector<TransferId>>;  // by node

  // Every part of an all_reduce passes both dimensions whole. Of the other collectives, a part
  // loads the dimension that comes first most, so a faster one gets more.
  [[nodiscard]] std::vector<Bytes> cuts_of_parts(const std::vector<Part>& parts) const {
    std::vector<std::uint64_t> rates;
    for (const Part& part : parts) {
      LinkId link = grid_link(topology_, NodeId(0), part.dims[0], true);
      if (!link.valid()) link = grid_link(topology_, NodeId(0), part.dims[0], false);
      rates.push_back(topology_.link(link).spec.bytes_per_second);
    }
    auto cuts = cut_evenly(request_.size, parts.size(), request_.element_bytes);
    const auto all = std::accumulate(rates.begin(), rates.end(), 0.0);
    if (request_.op == CollectiveOp::all_reduce || rates[0] == rates[1] || all == 0) return cuts;
    const auto elements = static_cast<double>(request_.size / request_.element_bytes);
    double before = 0;
    for (std::size_t p = 1; p < parts.size(); ++p) {
      before += static_cast<double>(rates[p - 1]) / all;
      cuts[p] = static_cast<Bytes>(elements * before) * request_.element_bytes;
    }
    return cuts;
  }

  [[nodiscard]] std::size_t length(std::size_t dim) const { return grid_.dims[dim]; }

  // Where only one dimension has rings, the lines of the other one take longer in any case.
  [[nodiscard]] bool closes() const { return grid_.closes(dims_[0]) && grid_.closes(dims_[1]); }

  // Rings visit the nodes of a line in order; on a mesh, the last hop goes back over the line.
  [[nodiscard]] bool goes_round() const {
    return closes() || request_.line_order == LineOrder::natural;
  }

  [[nodiscard]] NodeId node_at(const Part& part, std::size_t first, std::size_t second) const {
    std::vector<std::uint32_t> at(grid_.dims.size(), 0);
    at[part.dims[0]] = static_cast<std::uint32_t>(first);
    at[part.dims[1]] = static_cast<std::uint32_t>(second);
    return grid_.node_at(at);
  }

  // The ring along the part's first or second dimension, at coordinate `across` of the other
  // dimension.
  RingLine line(const Part& part, std::size_t which, std::size_t across) {
    const std::size_t dim = part.dims.at(which);
    const std::size_t size = length(dim);
    RingLine result;
    for (const std::size_t at : goes_round() ? round_order(size, part.plus) : fold_order(size)) {
      result.nodes.push_back(which == 0 ? node_at(part, at, across) : node_at(part, across, at));
    }
    for (std::size_t i = 0; i < size; ++i) {
      const NodeId from = result.nodes[i];
      const NodeId to = result.nodes[(i + 1) % size];
      const bool plus =
          closes() ? part.plus : grid_.coordinates(to).at(dim) > grid_.coordinates(from).at(dim);
      std::vector<LinkId> links;
      for (NodeId at = from; at != to; at = topology_.link(links.back()).to) {
        links.push_back(grid_link(topology_, at, dim, plus));
      }
      result.hops.push_back(schedule_.routes.add(topology_, links));
    }
    return result;
  }

  static std::vector<std::size_t> round_order(std::size_t size, bool plus) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < size; ++i) order.push_back(plus ? i : size - 1 - i);
    return order;
  }

  // A ring folded onto a line: 0 2 4 ... 5 3 1. Its hops have two links each, except at the ends,
  // and use every directed link of the line at most once.
  static std::vector<std::size_t> fold_order(std::size_t size) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < size; i += 2) order.push_back(i);
    for (std::size_t i = size - size % 2; i > 0; i -= 2) order.push_back(i - 1);
    return order;
  }

  // Chunks end where a block of either phase ends. Empty chunks are left out.
  void add_chunks(const std::vector<Bytes>& cuts) {
    for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
      schedule_.chunks.push_back({cuts[c], cuts[c + 1] - cuts[c], NodeId()});
    }
  }

  [[nodiscard]] static std::vector<Block> blocks_of(const std::vector<Bytes>& block_cuts,
                                                    const std::vector<Bytes>& chunk_cuts,
                                                    std::size_t first_chunk) {
    const auto index = [&](Bytes offset) {
      return static_cast<std::size_t>(
          std::lower_bound(chunk_cuts.begin(), chunk_cuts.end(), offset) - chunk_cuts.begin());
    };
    std::vector<Block> blocks;
    for (std::size_t b = 0; b + 1 < block_cuts.size(); ++b) {
      const std::size_t begin = index(block_cuts[b]);
      blocks.push_back({first_chunk + begin, index(block_cuts[b + 1]) - begin});
    }
    return blocks;
  }

  [[nodiscard]] std::vector<Bytes> cut_from(Bytes begin, Bytes end, std::size_t count) const {
    auto cuts = cut_evenly(end - begin, count, request_.element_bytes);
    for (Bytes& cut : cuts) cut += begin;
    return cuts;
  }

  RingFlow new_flow(const RingLine& line, NodeId root, const Block& block) {
    const auto place = std::find(line.nodes.begin(), line.nodes.end(), root) - line.nodes.begin();
    return {FlowId(next_flow_++), static_cast<std::size_t>(place), ChunkId(block.first),
            static_cast<std::uint32_t>(block.count)};
  }

  // Transfers that completed chunks of `block` at each node of the line.
  [[nodiscard]] RingWaits waits_on(const RingLine& line, const CompletedAt& completed,
                                   const Block& block) const {
    RingWaits waits(line.size());
    for (std::size_t place = 0; place < line.size(); ++place) {
      for (const TransferId id : completed[line.nodes[place].index()]) {
        const Transfer& t = schedule_.transfers[id.index()];
        const std::size_t first = t.first_chunk.index();
        if (first < block.first + block.count && block.first < first + t.num_chunks) {
          waits[place].push_back(id);
        }
      }
    }
    return waits;
  }

  void add_all_reduce(const Part& part) {
    const std::array<std::vector<Bytes>, 2> block_cuts{
        cut_from(part.begin, part.end, length(part.dims[0])),
        cut_from(part.begin, part.end, length(part.dims[1]))};
    std::vector<Bytes> cuts = block_cuts[0];
    cuts.insert(cuts.end(), block_cuts[1].begin(), block_cuts[1].end());
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    const std::size_t first_chunk = schedule_.chunks.size();
    add_chunks(cuts);

    CompletedAt completed(topology_.num_nodes());
    for (const std::size_t which : {0U, 1U}) {
      const auto blocks = blocks_of(block_cuts.at(which), cuts, first_chunk);
      const auto reduce_step = static_cast<Timestep>(1 + which * phase_steps_);
      const auto gather_step = static_cast<Timestep>(reduce_step + blocks.size() - 1);
      CompletedAt completed_now(topology_.num_nodes());
      for (std::size_t across = 0; across < length(part.dims.at(1 - which)); ++across) {
        const RingLine ring = line(part, which, across);
        for (std::size_t b = 0; b < blocks.size(); ++b) {
          const NodeId root = which == 0 ? node_at(part, b, across) : node_at(part, across, b);
          const RingFlow flow = new_flow(ring, root, blocks[b]);
          if (blocks[b].count == 0) continue;
          const RingWaits waits = waits_on(ring, completed, blocks[b]);
          const TransferId reduced = add_reduce_chain(schedule_, ring, flow, reduce_step, waits);
          auto root_waits = waits[flow.root];
          root_waits.push_back(reduced);
          const auto arrived = add_gather_chain(schedule_, ring, flow, gather_step, root_waits);
          for (std::size_t place = 0; place < ring.size(); ++place) {
            completed_now[ring.nodes[place].index()].push_back(place == flow.root ? reduced
                                                                                  : arrived[place]);
          }
        }
      }
      completed = std::move(completed_now);
    }
  }

  // The hierarchical layout: cells (x, 0), (x, 1), ... follow each other. Cell (x, y) belongs to
  // the rank with the node's number, and the nodes with coordinate x own block x of the first
  // dimension. With an order of ranks, a block is several sequences of chunks, and each is a
  // separate flow.
  struct Cells {
    std::vector<std::vector<Block>> blocks;  // by x
    std::vector<std::vector<Block>> cells;   // by x and y
  };

  Cells lay_out_cells(const Part& part) {
    const std::size_t second_length = length(part.dims[1]);
    Cells layout;
    layout.blocks.resize(length(part.dims[0]));
    layout.cells.assign(length(part.dims[0]), std::vector<Block>(second_length));
    const auto block_cuts = cut_from(part.begin, part.end, length(part.dims[0]));
    for (std::size_t x = 0; x + 1 < block_cuts.size(); ++x) {
      const auto cell_cuts = cut_from(block_cuts[x], block_cuts[x + 1], second_length);
      for (std::size_t y = 0; y < second_length; ++y) {
        const Bytes bytes = cell_cuts[y + 1] - cell_cuts[y];
        if (bytes == 0) continue;
        const NodeId owner = request_.node_of(node_at(part, x, y).index());
        const Block cell{schedule_.chunks.size(), 1};
        schedule_.chunks.push_back({cell_cuts[y], bytes, owner});
        const auto at = grid_.coordinates(owner);
        layout.cells[at.at(part.dims[0])][at.at(part.dims[1])] = cell;
        append(layout.blocks[at.at(part.dims[0])], cell);
      }
    }
    return layout;
  }

  // Cells come in the order of their chunks.
  static void append(std::vector<Block>& runs, const Block& cell) {
    if (!runs.empty() && runs.back().first + runs.back().count == cell.first) {
      ++runs.back().count;
    } else {
      runs.push_back(cell);
    }
  }

  void add_reduce_scatter(const Part& part) {
    const Cells layout = lay_out_cells(part);
    CompletedAt completed(topology_.num_nodes());
    for (std::size_t y = 0; y < length(part.dims[1]); ++y) {
      const RingLine ring = line(part, 0, y);
      const RingWaits no_waits(ring.size());
      for (std::size_t x = 0; x < ring.size(); ++x) {
        const NodeId root = node_at(part, x, y);
        for (const Block& run : layout.blocks[x]) {
          completed[root.index()].push_back(
              add_reduce_chain(schedule_, ring, new_flow(ring, root, run), 1, no_waits));
        }
      }
    }
    for (std::size_t x = 0; x < length(part.dims[0]); ++x) {
      const RingLine ring = line(part, 1, x);
      for (std::size_t y = 0; y < ring.size(); ++y) {
        const RingFlow flow = new_flow(ring, node_at(part, x, y), layout.cells[x][y]);
        if (flow.num_chunks == 0) continue;
        add_reduce_chain(schedule_, ring, flow, 1 + phase_steps_,
                         waits_on(ring, completed, layout.cells[x][y]));
      }
    }
  }

  // The mirror of the reduce_scatter: the second dimension comes first.
  void add_all_gather(const Part& part) {
    const Cells layout = lay_out_cells(part);
    CompletedAt completed(topology_.num_nodes());
    for (std::size_t x = 0; x < length(part.dims[0]); ++x) {
      const RingLine ring = line(part, 1, x);
      for (std::size_t y = 0; y < ring.size(); ++y) {
        const RingFlow flow = new_flow(ring, node_at(part, x, y), layout.cells[x][y]);
        if (flow.num_chunks == 0) continue;
        const auto arrived = add_gather_chain(schedule_, ring, flow, 1, {});
        for (std::size_t place = 0; place < ring.size(); ++place) {
          if (place != flow.root) completed[ring.nodes[place].index()].push_back(arrived[place]);
        }
      }
    }
    for (std::size_t y = 0; y < length(part.dims[1]); ++y) {
      const RingLine ring = line(part, 0, y);
      for (std::size_t x = 0; x < ring.size(); ++x) {
        for (const Block& run : layout.blocks[x]) {
          const RingFlow flow = new_flow(ring, node_at(part, x, y), run);
          add_gather_chain(schedule_, ring, flow, 1 + phase_steps_,
                           waits_on(ring, completed, run)[flow.root]);
        }
      }
    }
  }

  const Topology& topology_;
  const GridShape& grid_;
  const CollectiveRequest& request_;
  Schedule schedule_;
  DimPair dims_{};
  Timestep phase_steps_ = 0;
  std::size_t next_flow_ = 0;
};

std::string unsuited_for_2d_ring(const Topology& topology) {
  if (!topology.grid()) return "2D-RING needs a 2D torus or mesh; this network is not a grid";
  const std::size_t used = long_dimensions(*topology.grid()).size();
  if (used == 2) return {};
  return fmt::format(
      "2D-RING needs a torus or mesh with two dimensions of at least 2 nodes; {} has {}",
      fmt::join(topology.grid()->dims, "x"), used);
}

Schedule generate_2d_ring(const Topology& topology, const CollectiveRequest& request) {
  return RingOf2d(topology, request).generate();
}

}  // namespace

Generator ring_2d_row() {
  Generator row(
      "2d_ring",
      "ring all-reduce in one dimension, then in the other; each half of the data starts in "
      "another dimension",
      reduction_ops(), unsuited_for_2d_ring, generate_2d_ring);
  row.parameters = {{"collective.line_order", {}}};
  row.posts_halves = true;
  row.look = 2;
  return row;
}

}  // namespace espalier
