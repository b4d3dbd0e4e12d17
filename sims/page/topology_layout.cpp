#include "sims/page/topology_layout.h"

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "sims/page/text.h"

namespace espalier::report {

namespace {

constexpr double kLabelMargin = 34;  // around a network that has names beside its vertices
constexpr double kMargin = 34;       // above and below a network in rows
constexpr double kPi = 3.14159265358979323846;

// Where a hop of a grid leads in the picture, whose planes are side by side.
Place direction_of(const GridHop& hop) {
  const std::array<Place, 3> directions{{{1, 0}, {0, 1}, {0.7, -0.7}}};
  const Place& plus = directions.at(hop.dim);
  return hop.plus ? plus : Place{-plus.x, -plus.y};
}

std::string stroke(Place from, Place to) {
  return place_text("M", from.x, from.y) + place_text("L", to.x, to.y);
}

// The approximate width of a text: characters, not bytes.
double label_width(const std::string& text) {
  constexpr double kCharacter = 7.4;
  return kCharacter * static_cast<double>(std::count_if(text.begin(), text.end(),
                                                        [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

TopologyLayout::TopologyLayout(const Topology& topology, double width)
    : topology_(topology), width_(width), places_(topology.num_vertices()) {
  if (!topology.shape().at.empty()) {
    lay_out_positions(topology.shape().at);
  } else if (topology.grid()) {
    std::vector<Position> at;
    for (std::size_t n = 0; n < topology.num_nodes(); ++n)
      at.push_back(topology.grid()->position(NodeId(n)));
    lay_out_positions(at);
  } else if (!topology.shape().picture.empty()) {
    lay_out_rows(topology.shape().picture);
  } else {
    lay_out_circle();
    lay_out_springs();
  }
  find_parallel_links();
}

void TopologyLayout::lay_out_positions(const std::vector<Position>& at) {
  constexpr double kMostHeight = 6;  // in widths
  Position low = at.front();
  Position high = low;
  std::map<double, double> layers;  // by z, its number
  std::vector<Position> sorted = at;
  std::sort(sorted.begin(), sorted.end(), [](const Position& a, const Position& b) {
    return std::tie(a.z, a.x, a.y) < std::tie(b.z, b.x, b.y);
  });
  double nearest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const Position& a = sorted[i];
    layers.emplace(a.z, static_cast<double>(layers.size()));
    low = {std::min(low.x, a.x), std::min(low.y, a.y), 0};
    high = {std::max(high.x, a.x), std::max(high.y, a.y), 0};
    // Of those further right in the layer, the ones that may be nearer.
    for (std::size_t j = i + 1; j < sorted.size() && sorted[j].z == a.z; ++j) {
      if (sorted[j].x - a.x >= nearest) break;
      nearest = std::min(nearest, std::hypot(sorted[j].x - a.x, sorted[j].y - a.y));
    }
  }
  if (layers.size() == at.size()) nearest = std::max(1.0, high.x - low.x);
  const auto layer_of = [&](const Position& a) { return layers.at(a.z); };
  const auto count = static_cast<double>(layers.size());
  const double pitch = high.x - low.x + 2 * nearest;  // of layers
  const double across = count * pitch - 2 * nearest;
  const double scale = std::min({width_ / (across + 1.4 * nearest), 72 / nearest,
                                 kMostHeight * width_ / (high.y - low.y + 1.5 * nearest)});
  step_ = scale * nearest;
  const double left = (width_ - scale * across) / 2;
  const double top = step_ * 0.75;
  height_ = scale * (high.y - low.y) + 2 * top;
  for (std::size_t v = 0; v < at.size(); ++v) {
    places_[v] = {left + scale * (at[v].x - low.x + layer_of(at[v]) * pitch),
                  top + scale * (at[v].y - low.y)};
  }
  room_ = step_ / 2;
}

void TopologyLayout::lay_out_rows(const std::vector<PictureRow>& rows) {
  constexpr double kArch = 120;
  room_ = width_ / 2;
  height_ = kMargin - rows.front().gap;
  for (const PictureRow& row : rows) {
    height_ += row.gap;
    const auto count = static_cast<double>(row.vertices.size());
    for (std::size_t i = 0; i < row.vertices.size(); ++i) {
      const double part = (static_cast<double>(i) + 0.5) / count;
      const double below = row.arched ? kArch * (1 - std::sin(kPi * part)) : 0;
      places_[row.vertices[i].index()] = {width_ * (static_cast<double>(i) + 0.5) / count,
                                          height_ + below};
    }
    room_ = std::min(room_, width_ / std::max(count, 2.0) / 2);
    if (row.arched) height_ += kArch;
  }
  height_ += kMargin;
}

void TopologyLayout::lay_out_circle() {
  const auto count = static_cast<double>(places_.size());
  const double radius = width_ / 2 - 30;
  height_ = width_;
  for (std::size_t v = 0; v < places_.size(); ++v) {
    const double angle = 2 * kPi * static_cast<double>(v) / count - kPi / 2;
    places_[v] = {width_ / 2 + radius * std::cos(angle), height_ / 2 + radius * std::sin(angle)};
  }
  room_ = std::min(30.0, kPi * radius / count);
}

// Springs between all vertices, as long as the shortest path between them (Kamada and Kawai, 1989),
// relaxed by majorization of their stress (Gansner, Koren and North, 2004). Slow links are longer
// than fast ones, so that the members of a box stand together.
void TopologyLayout::lay_out_springs() {
  constexpr std::size_t kMostVertices = 256;  // all pairs of vertices have a spring
  constexpr int kRounds = 300;
  const std::size_t count = places_.size();
  std::map<std::pair<std::size_t, std::size_t>, double> rates;
  double fastest = 0;
  for (const TopologyLink& link : topology_.links()) {
    const auto [a, b] = std::minmax({link.from.index(), link.to.index()});
    double& rate = rates[{a, b}];
    rate = std::max(rate, static_cast<double>(link.spec.bytes_per_second));
    fastest = std::max(fastest, rate);
  }
  const bool is_complete = rates.size() == count * (count - 1) / 2;
  if (count > kMostVertices || count < 4 || is_complete) return;
  constexpr double kFar = std::numeric_limits<double>::infinity();
  std::vector<std::vector<double>> length(count, std::vector<double>(count, kFar));
  for (const auto& [ends, rate] : rates) {
    const double one = rate > 0 ? std::min(std::sqrt(fastest / rate), 3.0) : 1;
    length[ends.first][ends.second] = length[ends.second][ends.first] = one;
  }
  for (std::size_t v = 0; v < count; ++v) length[v][v] = 0;
  for (std::size_t via = 0; via < count; ++via) {
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = 0; b < count; ++b)
        length[a][b] = std::min(length[a][b], length[a][via] + length[via][b]);
    }
  }
  const double longest = *std::max_element(length[0].begin(), length[0].end());
  if (longest == kFar) return;  // some vertices are not connected
  const double side = width_ - 2 * kLabelMargin;
  const double unit = side / longest;
  std::vector<std::array<double, 2>> points(count);
  for (std::size_t v = 0; v < count; ++v) points[v] = {places_[v].x, places_[v].y};
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t a = 0; a < count; ++a) {
      std::array<double, 2> sum{};
      double weights = 0;
      for (std::size_t b = 0; b < count; ++b) {
        if (a == b) continue;
        const double wanted = length[a][b] * unit;
        const double dx = points[a][0] - points[b][0];
        const double dy = points[a][1] - points[b][1];
        const double part = wanted / std::max(std::hypot(dx, dy), 1e-6);
        const double weight = 1 / (wanted * wanted);
        sum[0] += weight * (points[b][0] + dx * part);
        sum[1] += weight * (points[b][1] + dy * part);
        weights += weight;
      }
      points[a] = {sum[0] / weights, sum[1] / weights};
    }
  }
  std::array<double, 2> low{points[0][0], points[0][1]};
  std::array<double, 2> high = low;
  for (const auto& point : points) {
    for (const std::size_t d : {0U, 1U}) {
      low[d] = std::min(low[d], point[d]);
      high[d] = std::max(high[d], point[d]);
    }
  }
  const double extent = std::max(high[0] - low[0], (high[1] - low[1]) / 1.1);
  if (extent <= 0) return;
  const double scale = side / extent;
  height_ = (high[1] - low[1]) * scale + 2 * kLabelMargin;
  for (std::size_t v = 0; v < count; ++v) {
    places_[v] = {width_ / 2 + (points[v][0] - (low[0] + high[0]) / 2) * scale,
                  kLabelMargin + (points[v][1] - low[1]) * scale};
  }
  double least = width_;
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      least = std::min(least, std::hypot(places_[a].x - places_[b].x, places_[a].y - places_[b].y));
    }
  }
  room_ = std::min(30.0, least / 2);
}

void TopologyLayout::find_parallel_links() {
  // The ends of links around a ring overlap neither the links between neighbours nor other ends.
  std::map<std::tuple<NodeId, NodeId, double>, std::uint32_t> seen;
  for (std::size_t l = 0; l < topology_.num_links(); ++l) {
    const TopologyLink& link = topology_.link(LinkId(l));
    Place direction;
    const bool apart = is_drawn_as_ends(LinkId(l), direction);
    has_ends_ = has_ends_ || apart;
    parallel_.push_back(seen[{link.from, link.to, apart ? direction.x + 2 * direction.y : 0}]++);
  }
}

bool TopologyLayout::is_drawn_as_ends(LinkId id, Place& direction) const {
  if (const std::vector<Position>& at = topology_.shape().at; !at.empty()) {
    const TopologyLink& link = topology_.link(id);
    const double up = at[link.to.index()].z - at[link.from.index()].z;
    direction = direction_of({2, up > 0, false});
    return up != 0;
  }
  if (!topology_.grid()) return false;
  const GridHop hop = grid_hop(topology_, id);
  direction = direction_of(hop);
  return hop.wraps || hop.dim == 2;
}

bool TopologyLayout::passes_vertex(const TopologyLink& link) const {
  if (topology_.shape().at.empty()) return false;
  const Place from = places_[link.from.index()];
  const Place to = places_[link.to.index()];
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  return std::any_of(places_.begin(), places_.end(), [&](const Place& at) {
    const double along =
        ((at.x - from.x) * (to.x - from.x) + (at.y - from.y) * (to.y - from.y)) / length;
    const double beside =
        ((at.y - from.y) * (to.x - from.x) - (at.x - from.x) * (to.y - from.y)) / length;
    return along > step_ / 4 && along < length - step_ / 4 && std::abs(beside) < step_ / 4;
  });
}

std::string TopologyLayout::link(LinkId id, double aside) const {
  const TopologyLink& link = topology_.link(id);
  Place from = places_[link.from.index()];
  Place to = places_[link.to.index()];
  Place direction;
  const bool as_ends = is_drawn_as_ends(id, direction);
  if (!as_ends) {
    const double length = std::hypot(to.x - from.x, to.y - from.y);
    if (length == 0) return {};
    direction = {(to.x - from.x) / length, (to.y - from.y) / length};
  }
  const double offset = aside * (1 + 2 * parallel_[id.index()]);
  const Place shift{-direction.y * offset, direction.x * offset};
  from = {from.x + shift.x, from.y + shift.y};
  to = {to.x + shift.x, to.y + shift.y};
  if (!as_ends && passes_vertex(link)) {
    // The arc is half a step beside its chord: between the rows of a grid.
    const double bend = step_ * (aside == 0 ? 0.8 : 1);
    return place_text("M", from.x, from.y) +
           place_text("Q", (from.x + to.x) / 2 - direction.y * bend,
                      (from.y + to.y) / 2 + direction.x * bend) +
           place_text(" ", to.x, to.y);
  }
  if (!as_ends) return stroke(from, to);
  const double end = step_ * 0.5;
  return stroke(from, {from.x + direction.x * end, from.y + direction.y * end}) +
         stroke({to.x - direction.x * end, to.y - direction.y * end}, to);
}

std::string TopologyLayout::all_links() const {
  std::string path;
  for (std::size_t l = 0; l < topology_.num_links(); ++l) path += link(LinkId(l), 0);
  return path;
}

std::string TopologyLayout::route(const RouteSet& routes, RouteId route) const {
  std::string path;
  for (std::size_t hop = 0; hop < routes.hops(route); ++hop)
    path += link(routes.link(route, hop), 0);
  return path;
}

std::vector<MapLabel> map_labels(const Topology& topology, const TopologyLayout& layout,
                                 double vertex_size) {
  constexpr std::size_t kMostLabels = 40;
  constexpr double kAbove = 4;  // what fonts have above and below their letters
  std::vector<MapLabel> labels;
  const bool is_plain_grid = topology.grid() && topology.shape().at.empty();
  if (is_plain_grid || topology.num_vertices() > kMostLabels) return labels;
  const double gap = vertex_size + 3;
  const auto is_free = [&](const MapLabel& label) {
    const double right = label.left + label.width;
    const double top = label.line - kMapLabelHeight + 3;
    const double bottom = label.line + 3;
    // Browsers' fonts are up to a tenth wider than label.width.
    const double margin = 2 + label.width / 10;
    if (label.left < margin || right > layout.width() - margin || top < kAbove ||
        bottom > layout.height() - kAbove)
      return false;
    for (std::size_t v = 0; v < topology.num_vertices(); ++v) {
      const Place at = layout.place(NodeId(v));
      if (at.x + vertex_size > label.left && at.x - vertex_size < right &&
          at.y + vertex_size > top && at.y - vertex_size < bottom)
        return false;
    }
    return std::none_of(labels.begin(), labels.end(), [&](const MapLabel& other) {
      return other.left < right && label.left < other.left + other.width &&
             std::abs(other.line - label.line) < kMapLabelHeight;
    });
  };
  for (std::size_t v = 0; v < topology.num_vertices(); ++v) {
    const Place at = layout.place(NodeId(v));
    MapLabel label{NodeId(v), topology.vertex_name(NodeId(v)), 0, 0, 0};
    label.width = label_width(label.words);
    // Away from the neighbours first, where the fewest links are.
    Place away{0, 0};
    for (const TopologyLink& link : topology.links()) {
      if (link.from != NodeId(v)) continue;
      const Place to = layout.place(link.to);
      const double length = std::max(1.0, std::hypot(to.x - at.x, to.y - at.y));
      away = {away.x - (to.x - at.x) / length, away.y - (to.y - at.y) / length};
    }
    std::array<Place, 8> directions{
        {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {0.7, 0.7}, {-0.7, 0.7}, {0.7, -0.7}, {-0.7, -0.7}}};
    std::stable_sort(directions.begin(), directions.end(), [&](Place a, Place b) {
      return a.x * away.x + a.y * away.y > b.x * away.x + b.y * away.y + 1e-9;
    });
    for (const Place direction : directions) {
      // The middle of the label's left edge, middle or right edge stands at the gap.
      label.left = at.x + direction.x * gap - label.width * (1 - direction.x) / 2;
      label.line = at.y + direction.y * (gap + 5) + 4;
      if (!is_free(label)) continue;
      labels.push_back(label);
      break;
    }
  }
  return labels;
}

}  // namespace espalier::report
