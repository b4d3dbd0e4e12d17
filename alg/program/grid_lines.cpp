#include "alg/program/grid_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "alg/program/builtin_parts.h"

namespace espalier {

namespace {

// A segment has program contexts of its own at every node.
constexpr std::uint32_t kMostSegmentsGiven = 256;

}  // namespace

std::vector<std::vector<std::uint32_t>> lines_along(const GridShape& grid, std::size_t dim) {
  std::vector<std::vector<std::uint32_t>> lines;
  std::size_t nodes = 1;
  for (const std::uint32_t size : grid.dims) nodes *= size;
  for (std::size_t n = 0; n < nodes; ++n) {
    std::vector<std::uint32_t> at = grid.coordinates(NodeId(n));
    if (at[dim] != 0) continue;
    std::vector<std::uint32_t> line;
    for (; at[dim] < grid.dims[dim]; ++at[dim]) line.push_back(grid.node_at(at).value());
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::size_t> dimensions_of_part(const GridShape& grid, std::size_t part) {
  std::vector<std::size_t> dims = long_dimensions(grid);
  std::rotate(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(part), dims.end());
  return dims;
}

std::vector<std::uint32_t> turned(std::vector<std::uint32_t> line, std::size_t part) {
  if (part % 2 == 1) std::reverse(line.begin(), line.end());
  return line;
}

ChainCost cheapest_chain(const BuiltinRequest& request, const Chain& chain) {
  constexpr double kPsPerSecond = 1e12;
  const double byte_ps =
      kPsPerSecond / static_cast<double>(std::max<std::uint64_t>(request.link.bytes_per_second, 1));
  const Bytes elements = std::max<Bytes>(request.size / request.element_bytes, 1);
  const auto message_ps = [&](Bytes pieces) {
    const Bytes bytes = (elements + pieces - 1) / pieces * request.element_bytes;
    const Bytes wire = request.timing.flits(bytes) * request.timing.flit_bytes;
    return static_cast<std::uint64_t>(static_cast<double>(wire) * byte_ps);
  };
  const auto cost = [&](std::uint32_t segments) {
    const std::uint64_t segment_ps = message_ps(chain.parts * segments);
    ChainCost found{segments,
                    chain.stops * (chain.stop_ps + segment_ps) + (segments - 1) * segment_ps};
    const std::uint64_t followed_ps = segments * segment_ps + message_ps(chain.parts);
    if (followed_ps > request.link.latency_ps) {
      found.ps += chain.followed * (followed_ps - request.link.latency_ps);
    }
    return found;
  };
  if (request.segments != 0) return cost(request.segments);
  ChainCost best = cost(1);
  for (std::uint32_t segments = 2; segments <= chain.most_segments; segments *= 2) {
    const ChainCost tried = cost(segments);
    if (tried.ps < best.ps) best = tried;
  }
  return best;
}

namespace {

std::string unsuited_grid(const BuiltinRequest& request, const char* kind) {
  std::string sizes = unsuited_sizes(request);
  if (!sizes.empty()) return sizes;
  if (request.segments > kMostSegmentsGiven) {
    return fmt::format("runs with at most {} segments; found {}", kMostSegmentsGiven,
                       request.segments);
  }
  return request.grid ? "" : fmt::format("needs a {}; the network is no grid", kind);
}

// Empty if all long dimensions have rings, or none has.
std::string unlike_dimension(const GridShape& grid, bool rings, const char* kind) {
  for (const std::size_t dim : long_dimensions(grid)) {
    if (grid.closes(dim) == rings) continue;
    const char* const has = !rings ? "rings" : grid.wraps[dim] ? "twisted rings" : "no rings";
    return fmt::format("needs a {}; dimension {} of the network has {}", kind, "XYZ"[dim], has);
  }
  return {};
}

}  // namespace

std::string unsuited_rings(const BuiltinRequest& request) {
  std::string why = unsuited_grid(request, "torus");
  if (!why.empty()) return why;
  const GridShape& grid = *request.grid;
  for (const std::size_t dim : long_dimensions(grid)) {
    if (grid.closes(dim)) return {};
  }
  return "needs a dimension with rings; line runs on a mesh";
}

std::string unsuited_torus(const BuiltinRequest& request) {
  std::string why = unsuited_grid(request, "torus");
  return why.empty() ? unlike_dimension(*request.grid, true, "torus") : why;
}

std::string unsuited_mesh(const BuiltinRequest& request) {
  std::string why = unsuited_grid(request, "mesh");
  return why.empty() ? unlike_dimension(*request.grid, false, "mesh") : why;
}

}  // namespace espalier
