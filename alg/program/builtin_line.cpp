// An all-reduce with the fewest hops on meshes. Along a line, running sums go from the first node
// to the last one, and from the last one to the first. Every node needs both, and its own data.
// Nodes add in orders of their own, so the results of floating-point sums differ in their last
// bits.
//
// There are two forms. In the chain every node stops both sums. It keeps a sum that arrives, adds
// its own data to it, and sends that on, so that every link carries each sum once. In the other
// form the line is cut into pairs of nodes, and a sum stops once in a pair: it comes over two links
// at once to the pair's far node, which passes it on as it adds its own. The near node gets the sum
// in a second message. Half of the stops cost less than the second message, while messages are
// short.
#include <algorithm>
#include <utility>

#include "alg/program/builtin_parts.h"
#include "alg/program/grid_lines.h"

namespace espalier {

namespace {

class LineSum {
 public:
  LineSum(ChunkTracer& tracer, std::vector<std::uint32_t> line, const LineData& data)
      : tracer_(tracer), line_(std::move(line)), data_(data) {}

  void write_chain() {
    const std::size_t last = line_.size() - 1;
    std::vector<ChunkRef> copies;  // of inner nodes, to which the sum that goes back is added
    for (std::size_t i = 1; i < last; ++i) {
      copies.push_back(own(i).copy(line_[i], ProgramBuffer::scratch, data_.scratch));
    }
    ChunkRef back = own(last);
    std::vector<ChunkRef> received;  // from the last node to the first one
    for (std::size_t i = last; i-- > 0;) {
      received.push_back(
          back.copy(line_[i], ProgramBuffer::scratch, data_.scratch + data_.count, directives()));
      if (i > 0) back = copies[i - 1].reduce(received.back());
    }
    ChunkRef forth = own(0);
    for (std::size_t i = 1; i <= last; ++i) forth = own(i).reduce(forth, directives());
    for (std::size_t i = 0; i < last; ++i) own(i).reduce(received[last - 1 - i]);
  }

  // Messages along the line are cut into segments, the last ones beside them are not: they leave
  // when all segments have passed on, and have the time of a link until they are missed.
  void write_pairs(std::uint32_t segments) {
    const std::size_t pairs = (line_.size() + 1) / 2;  // the last one may be a single node
    {
      const auto instances = tracer_.parallelize(segments);
      // A node that begins to pass sums on adds at once what it receives.
      exchange(second(0), first(0), data_.scratch);
      for (std::size_t p = 1; p < pairs; ++p) {
        if (first(p) != second(p)) exchange(first(p), second(p), data_.scratch);
      }
      // First nodes pass the sum back, second ones pass the sum that goes forth.
      for (std::size_t p = pairs - 1; p-- > 0;) {
        own(first(p)).reduce(own(first(p + 1)), directives());
      }
      for (std::size_t p = 1; p < pairs; ++p) {
        if (first(p) == second(p)) continue;
        own(second(p)).reduce(own(second(p - 1)), directives());
      }
    }
    // Now the second node of a pair has the sum of all nodes up to it, and the first node of the
    // next pair that of all others. The sum that comes later, from the farther end, is added at
    // once.
    for (std::size_t p = 1; p < pairs; ++p) {
      if (2 * p > pairs) {
        exchange(first(p), second(p - 1), data_.scratch + 1);
      } else {
        exchange(second(p - 1), first(p), data_.scratch + 1);
      }
    }
  }

 private:
  [[nodiscard]] Directives directives() const { return {data_.channel}; }
  [[nodiscard]] ChunkRef own(std::size_t i) const {
    return tracer_.chunk(line_[i], ProgramBuffer::input, data_.index, data_.count);
  }
  [[nodiscard]] static std::size_t first(std::size_t pair) { return 2 * pair; }
  [[nodiscard]] std::size_t second(std::size_t pair) const {
    return std::min(2 * pair + 1, line_.size() - 1);
  }

  // Both nodes get the sum of their data. Node `b` receives the other's data beside its own, which
  // `a` still reads.
  void exchange(std::size_t a, std::size_t b, std::uint32_t scratch) {
    const ChunkRef beside = own(a).copy(line_[b], ProgramBuffer::scratch, scratch, directives());
    own(a).reduce(own(b), directives());
    own(b).reduce(beside);
  }

  ChunkTracer& tracer_;
  std::vector<std::uint32_t> line_;
  LineData data_;
};

// How often a sum stops on its way through all dimensions.
std::size_t stops_of(const GridShape& grid, bool in_pairs) {
  std::size_t stops = 0;
  for (const std::uint32_t size : grid.dims) stops += in_pairs ? size / 2 : size - 1;
  return stops;
}

// The cheapest chain, or pairs, of a request.
struct LineForm {
  bool in_pairs = false;
  std::uint32_t segments = 1;
};

LineForm form_of(const BuiltinRequest& request) {
  const GridShape& grid = *request.grid;
  const std::size_t parts = long_dimensions(grid).size();
  // In the chain, a node reads both operands from memory, and then the sum.
  const MessageTiming& timing = request.timing;
  const std::uint64_t stop_ps = timing.injection_ps + timing.delivery_ps + timing.reduction_ps;
  // A way of so many stops gains by short segments.
  constexpr std::uint32_t kMostSegments = 32;
  const ChainCost chain = cheapest_chain(
      request,
      {parts, stops_of(grid, false), stop_ps + 2 * timing.turnaround_ps, 0, kMostSegments});
  const ChainCost pairs =
      cheapest_chain(request, {parts, stops_of(grid, true), stop_ps, parts, kMostSegments});
  if (pairs.ps < chain.ps) return {true, pairs.segments};
  return {false, chain.segments};
}

}  // namespace

void write_line_sum(ChunkTracer& tracer, const std::vector<std::uint32_t>& line,
                    const LineData& data) {
  LineSum(tracer, line, data).write_chain();
}

// Pairs cut their messages themselves.
std::uint32_t line_segments(const BuiltinRequest& request) {
  const LineForm form = form_of(request);
  return form.in_pairs ? 1 : form.segments;
}

void write_line(ChunkTracer& tracer, const BuiltinRequest& request) {
  const GridShape& grid = *request.grid;
  const LineForm form = form_of(request);
  const auto parts = static_cast<std::uint32_t>(long_dimensions(grid).size());
  for (std::uint32_t part = 0; part < parts; ++part) {
    std::uint32_t scratch = 2 * parts * part;
    for (const std::size_t dim : dimensions_of_part(grid, part)) {
      for (const auto& line : lines_along(grid, dim)) {
        LineSum sum(tracer, turned(line, part), {part, 1, part, scratch});
        if (form.in_pairs) {
          sum.write_pairs(form.segments);
        } else {
          sum.write_chain();
        }
      }
      scratch += 2;
    }
  }
}

}  // namespace espalier
