// All-reduces with the fewest hops on tori. On a ring the window of every node grows on both sides
// (WindowStep); a message passes several links at once, and all together as many
// as half of the ring has. Nodes add in orders of their own, so the results of floating-point sums
// differ in their last bits.
#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "alg/program/builtin_parts.h"
#include "alg/program/grid_lines.h"

namespace espalier {

namespace {

// Searches the steps depth first. A window has pieces that are kept, in the order of the ring:
// elements received from the left, the node's own element, elements received from the right.
class WindowSearch {
 public:
  explicit WindowSearch(std::uint32_t nodes) : right_(nodes / 2), left_((nodes - 1) / 2) {}

  std::vector<WindowStep> run() {
    if (right_ == 0) return {};
    for (std::size_t most = 1;; ++most) {
      found_.clear();
      if (search({1}, 0, most)) return found_;
    }
  }

 private:
  // The numbers of elements that the first pieces have together: 0, then of one piece, of two, ...
  // Pieces are symmetric, so the last pieces have the same.
  static std::vector<std::uint32_t> lengths(const std::vector<std::uint32_t>& pieces) {
    std::vector<std::uint32_t> sums{0};
    for (const std::uint32_t piece : pieces) sums.push_back(sums.back() + piece);
    return sums;
  }

  // The window of pieces `pieces` reaches `radius` elements to either side.
  bool search(const std::vector<std::uint32_t>& pieces, std::uint32_t radius, std::size_t most) {
    const std::vector<std::uint32_t> possible = lengths(pieces);
    const auto can_send = [&](std::uint32_t elements) {
      return std::binary_search(possible.begin(), possible.end(), elements);
    };
    if (can_send(right_ - radius) && can_send(left_ - radius)) {
      found_.push_back({right_ - radius, left_ - radius});
      return true;
    }
    if (most == 1) return false;
    for (auto x = possible.rbegin(); *x != 0; ++x) {
      if (radius + *x > left_) continue;
      std::vector<std::uint32_t> next{*x};
      next.insert(next.end(), pieces.begin(), pieces.end());
      next.push_back(*x);
      found_.push_back({*x, *x});
      if (search(next, radius + *x, most - 1)) return true;
      found_.pop_back();
    }
    return false;
  }

  std::uint32_t right_;
  std::uint32_t left_;
  std::vector<WindowStep> found_;
};

}  // namespace

std::vector<WindowStep> window_steps(std::uint32_t nodes) { return WindowSearch(nodes).run(); }

namespace {

// Hands out scratch chunks of every rank.
class Scratch {
 public:
  explicit Scratch(std::uint32_t ranks) : used_(ranks, 0) {}
  std::uint32_t take(std::uint32_t rank, std::uint32_t count) {
    const std::uint32_t first = used_[rank];
    used_[rank] += count;
    return first;
  }
  // The same chunks of all ranks.
  std::uint32_t take(const std::vector<std::uint32_t>& ranks, std::uint32_t count) {
    std::uint32_t first = 0;
    for (const std::uint32_t rank : ranks) first = std::max(first, used_[rank]);
    for (const std::uint32_t rank : ranks) used_[rank] = first + count;
    return first;
  }

 private:
  std::vector<std::uint32_t> used_;
};

// The chunks that are summed up, and the channel of the messages.
struct WindowData {
  std::uint32_t index = 0;
  std::uint32_t count = 1;
  std::uint32_t channel = 0;
};

// One ring. Every rank replaces its chunks by the sum of the chunks of all ranks of the ring.
class Window {
 public:
  Window(ChunkTracer& tracer, Scratch& scratch, std::vector<std::uint32_t> ring,
         const WindowData& data)
      : tracer_(tracer),
        scratch_(scratch),
        ring_(std::move(ring)),
        data_(data),
        steps_(window_steps(size())) {}

  void write() {
    for (std::uint32_t i = 0; i < size(); ++i) {
      nodes_.push_back({{std::nullopt, std::nullopt, own(i), 0, 0, 1}});
    }
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      if (s + 1 == steps_.size()) {
        finish(steps_[s]);
      } else {
        grow(steps_[s]);
      }
    }
  }

 private:
  // What a node keeps of a step: the sums that it received, and the sum of its window.
  struct Kept {
    std::optional<ChunkRef> from_left;
    std::optional<ChunkRef> from_right;
    ChunkRef window;
    std::uint32_t left = 0;  // elements in from_left
    std::uint32_t right = 0;
    std::uint32_t length = 1;  // of the window
  };
  using Node = std::vector<Kept>;  // by step; the first one is the node's own element

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(ring_.size()); }
  [[nodiscard]] Directives directives() const { return {data_.channel}; }
  [[nodiscard]] ChunkRef own(std::uint32_t i) const {
    return tracer_.chunk(ring_[i], ProgramBuffer::input, data_.index, data_.count);
  }
  ChunkRef copy_in_scratch(const ChunkRef& chunks, std::uint32_t rank) {
    const Directives to = chunks.span().rank == rank ? Directives{} : directives();
    return chunks.copy(rank, ProgramBuffer::scratch, scratch_.take(rank, data_.count), to);
  }

  // The sum of the leftmost or rightmost `elements` of the window after step `s`. The sum that was
  // received last is added last, so that everything else can be added while its message is on its
  // way.
  ChunkRef edge(Node& node, std::size_t s, std::uint32_t elements, bool is_left) {
    const Kept& kept = node[s];
    if (elements == kept.length) return kept.window;
    const std::uint32_t outer = is_left ? kept.left : kept.right;
    const ChunkRef& received = is_left ? *kept.from_left : *kept.from_right;
    if (elements == outer) return received;
    const ChunkRef inner = edge(node, s - 1, elements - outer, is_left);
    return copy_in_scratch(inner, inner.span().rank).reduce(received);
  }

  // By sender: what it sends to the right and to the left.
  std::vector<std::pair<ChunkRef, std::optional<ChunkRef>>> edges(const WindowStep& step) {
    std::vector<std::pair<ChunkRef, std::optional<ChunkRef>>> sent;
    for (Node& node : nodes_) {
      const std::size_t s = node.size() - 1;
      std::pair<ChunkRef, std::optional<ChunkRef>> both{edge(node, s, step.right, true),
                                                        std::nullopt};
      if (step.left != 0) both.second = edge(node, s, step.left, false);
      sent.push_back(std::move(both));
    }
    return sent;
  }

  void grow(const WindowStep& step) {
    const auto sent = edges(step);
    for (std::uint32_t i = 0; i < size(); ++i) {
      const ChunkRef& left = sent[(i + size() - step.right) % size()].first;
      const ChunkRef& right = *sent[(i + step.left) % size()].second;
      const Kept& last = nodes_[i].back();
      const ChunkRef window = copy_in_scratch(last.window, ring_[i]);
      const ChunkRef from_left = copy_in_scratch(left, ring_[i]);
      const ChunkRef from_right = copy_in_scratch(right, ring_[i]);
      nodes_[i].push_back({from_left, from_right, window.reduce(from_left).reduce(from_right),
                           step.right, step.left, last.length + step.right + step.left});
    }
  }

  // The sums that are received last are not kept: they are added as they arrive. In a window of one
  // step, neighbours still read the place of the result, so they are received beside it.
  void finish(const WindowStep& step) {
    const auto sent = edges(step);
    std::vector<ChunkRef> received;  // by node: from the left, then from the right
    const bool is_only = steps_.size() == 1;
    for (std::uint32_t i = 0; i < size(); ++i) {
      received.push_back(sent[(i + size() - step.right) % size()].first);
      if (is_only) received.back() = copy_in_scratch(received.back(), ring_[i]);
      if (step.left == 0) continue;
      received.push_back(*sent[(i + step.left) % size()].second);
      if (is_only) received.back() = copy_in_scratch(received.back(), ring_[i]);
    }
    const std::size_t each = received.size() / size();
    for (std::uint32_t i = 0; i < size(); ++i) {
      const ChunkRef& window = nodes_[i].back().window;
      ChunkRef sum = window.copy(ring_[i], ProgramBuffer::input, data_.index);
      for (std::size_t r = i * each; r < (i + 1) * each; ++r) {
        sum = sum.reduce(received[r], is_only ? Directives{} : directives());
      }
    }
  }

  ChunkTracer& tracer_;
  Scratch& scratch_;
  std::vector<std::uint32_t> ring_;
  WindowData data_;
  std::vector<WindowStep> steps_;
  std::vector<Node> nodes_;
};

// An all-reduce of the ranks of a line: a window, or from end to end where the line is no ring.
void write_all_reduce(ChunkTracer& tracer, Scratch& scratch, const std::vector<std::uint32_t>& line,
                      bool is_ring, const WindowData& data) {
  if (is_ring) {
    Window(tracer, scratch, line, data).write();
  } else {
    write_line_sum(tracer, line,
                   {data.index, data.count, data.channel, scratch.take(line, 2 * data.count)});
  }
}

// The all-reduces of a grid: one after the other in the dimensions `dims`.
void write_windows(ChunkTracer& tracer, Scratch& scratch, const GridShape& grid,
                   const std::vector<std::size_t>& dims, std::size_t part, const WindowData& data) {
  for (const std::size_t dim : dims) {
    for (const auto& line : lines_along(grid, dim)) {
      write_all_reduce(tracer, scratch, turned(line, part), grid.closes(dim), data);
    }
  }
}

std::size_t window_stops(const GridShape& grid, std::optional<std::size_t> without) {
  std::size_t stops = 0;
  for (const std::size_t dim : long_dimensions(grid)) {
    if (dim == without) continue;
    stops += grid.closes(dim) ? window_steps(grid.dims[dim]).size() : grid.dims[dim] - 1;
  }
  return stops;
}

}  // namespace

// ---------------------------------------------------------------- windows in all dimensions
// Every part of the data visits the dimensions in an order of its own.

std::uint32_t window_segments(const BuiltinRequest& request) {
  const GridShape& grid = *request.grid;
  return cheapest_chain(request, {long_dimensions(grid).size(), window_stops(grid, std::nullopt)})
      .segments;
}

void write_window(ChunkTracer& tracer, const BuiltinRequest& request) {
  const GridShape& grid = *request.grid;
  Scratch scratch(request.ranks);
  for (std::uint32_t part = 0; part < long_dimensions(grid).size(); ++part) {
    write_windows(tracer, scratch, grid, dimensions_of_part(grid, part), part, {part, 1, part});
  }
}

// ---------------------------------------------------------------- reduce-scatter, windows,
// all-gather Of the part that begins in a dimension, every rank of a ring sums up one block, then
// the windows of the other dimensions work on blocks only. In a ring, each block comes to its owner
// from both sides.

namespace {

// One block for each rank of the ring, or of the line.
struct RingBlocks {
  std::vector<std::uint32_t> ring;
  bool closes = true;
  std::uint32_t index = 0;  // of the first block
  std::uint32_t count = 1;  // chunks of a block
  std::uint32_t channel = 0;

  [[nodiscard]] std::size_t size() const { return ring.size(); }
  // The ranks before and behind the owner of a block.
  [[nodiscard]] std::size_t before(std::size_t owner) const { return closes ? size() / 2 : owner; }
  [[nodiscard]] std::size_t behind(std::size_t owner) const { return size() - 1 - before(owner); }
  [[nodiscard]] ChunkRef at(ChunkTracer& tracer, std::size_t place, std::size_t block) const {
    return tracer.chunk(ring[place % size()], ProgramBuffer::input,
                        index + static_cast<std::uint32_t>(block) * count, count);
  }
};

void write_two_way_reduce_scatter(ChunkTracer& tracer, const RingBlocks& blocks) {
  const std::size_t size = blocks.size();
  for (std::size_t owner = 0; owner < size; ++owner) {
    const auto come = [&](std::size_t from, std::size_t hops, std::size_t step) {
      ChunkRef sum = blocks.at(tracer, from, owner);
      for (std::size_t h = 1; h <= hops; ++h) {
        sum = blocks.at(tracer, from + h * step, owner).reduce(sum, {blocks.channel});
      }
    };
    come(owner + size - blocks.before(owner), blocks.before(owner), 1);
    come(owner + blocks.behind(owner), blocks.behind(owner), size - 1);
  }
}

void write_two_way_all_gather(ChunkTracer& tracer, const RingBlocks& blocks) {
  const std::size_t size = blocks.size();
  for (std::size_t owner = 0; owner < size; ++owner) {
    const auto go = [&](std::size_t hops, std::size_t step) {
      ChunkRef chunk = blocks.at(tracer, owner, owner);
      for (std::size_t h = 1; h <= hops; ++h) {
        chunk = chunk.copy(blocks.ring[(owner + h * step) % size], ProgramBuffer::input,
                           chunk.span().index, {blocks.channel});
      }
    };
    go(blocks.closes ? size / 2 : blocks.behind(owner), 1);
    go(blocks.closes ? (size - 1) / 2 : blocks.before(owner), size - 1);
  }
}

// The blocks of a part are whole chunks in every dimension.
std::uint32_t chunks_of_part(const GridShape& grid) {
  std::uint32_t chunks = 1;
  for (const std::uint32_t size : grid.dims) chunks = std::lcm(chunks, size);
  return chunks;
}

// A part has `chunks` chunks.
void write_scattered_window(ChunkTracer& tracer, Scratch& scratch, const GridShape& grid,
                            std::uint32_t part, std::uint32_t chunks) {
  std::vector<std::size_t> dims = dimensions_of_part(grid, part);
  const std::size_t scattered = dims.front();
  dims.erase(dims.begin());
  const std::uint32_t count = chunks / grid.dims[scattered];
  const auto for_each_ring = [&](void (*write)(ChunkTracer&, const RingBlocks&)) {
    for (const auto& line : lines_along(grid, scattered)) {
      write(tracer, {turned(line, part), grid.closes(scattered), part * chunks, count, part});
    }
  };
  for_each_ring(write_two_way_reduce_scatter);
  for (const std::size_t dim : dims) {
    for (const auto& line : lines_along(grid, dim)) {
      const std::vector<std::uint32_t> ring = turned(line, part);
      // The owner of a block is the same on all nodes of the line.
      const std::uint32_t at = grid.coordinates(NodeId(ring.front()))[scattered];
      const std::uint32_t owner = part % 2 == 1 ? grid.dims[scattered] - 1 - at : at;
      write_all_reduce(tracer, scratch, ring, grid.closes(dim),
                       {part * chunks + owner * count, count, part});
    }
  }
  for_each_ring(write_two_way_all_gather);
}

}  // namespace

std::string unsuited_rs_window_ag(const BuiltinRequest& request) {
  std::string why = unsuited_rings(request);
  if (!why.empty()) return why;
  if (long_dimensions(*request.grid).size() > 1) return {};
  return "needs a torus with at least two dimensions; window and bidirectional_ring run on a ring";
}

std::uint32_t rs_window_ag_chunks(const BuiltinRequest& request) {
  const GridShape& grid = *request.grid;
  return static_cast<std::uint32_t>(long_dimensions(grid).size()) * chunks_of_part(grid);
}

std::uint32_t rs_window_ag_segments(const BuiltinRequest& request) {
  const GridShape& grid = *request.grid;
  const std::vector<std::size_t> dims = long_dimensions(grid);
  const std::uint32_t ring = grid.dims[dims.front()];
  return cheapest_chain(request,
                        {dims.size() * ring, 2 * (ring / 2) + window_stops(grid, dims.front())})
      .segments;
}

void write_rs_window_ag(ChunkTracer& tracer, const BuiltinRequest& request) {
  const GridShape& grid = *request.grid;
  Scratch scratch(request.ranks);
  for (std::uint32_t part = 0; part < long_dimensions(grid).size(); ++part) {
    write_scattered_window(tracer, scratch, grid, part, chunks_of_part(grid));
  }
}

}  // namespace espalier
