// Who wrote and read each place last: what dependencies of operations come from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace espalier {

// A dependency of a node on an earlier one.
struct DagEdge {
  std::uint32_t from = 0;
  // Data that it needs (true dependency); else `from` only has to be done with a place that the
  // node writes (false dependency).
  bool is_true = false;
  friend bool operator==(const DagEdge& a, const DagEdge& b) {
    return a.from == b.from && a.is_true == b.is_true;
  }
};

// Nodes are told in an order in which they can run. Of one rank.
class PlaceHistory {
 public:
  static constexpr std::uint32_t kNobody = ~0U;

  void read(std::uint32_t place, std::uint32_t node, std::vector<DagEdge>& after) {
    Place& at = reach(place);
    if (at.writer != kNobody && at.writer != node) after.push_back({at.writer, true});
    if (at.readers.empty() || at.readers.back() != node) at.readers.push_back(node);
  }
  void write(std::uint32_t place, std::uint32_t node, std::vector<DagEdge>& after) {
    Place& at = reach(place);
    if (at.writer != kNobody && at.writer != node) after.push_back({at.writer, false});
    for (const std::uint32_t reader : at.readers) {
      if (reader != node) after.push_back({reader, false});
    }
    at.writer = node;
    at.readers.clear();
  }
  // kNobody where it holds what it held at first.
  [[nodiscard]] std::uint32_t last_writer(std::uint32_t place) const {
    return place < places_.size() ? places_[place].writer : kNobody;
  }

  // One edge per node, ascending; a true one wins.
  static void simplify(std::vector<DagEdge>& edges) {
    std::sort(edges.begin(), edges.end(), [](const DagEdge& a, const DagEdge& b) {
      return a.from != b.from ? a.from < b.from : a.is_true && !b.is_true;
    });
    const auto same = [](const DagEdge& a, const DagEdge& b) { return a.from == b.from; };
    edges.erase(std::unique(edges.begin(), edges.end(), same), edges.end());
  }

 private:
  struct Place {
    std::uint32_t writer = kNobody;
    std::vector<std::uint32_t> readers;  // since it was written
  };
  Place& reach(std::uint32_t place) {
    if (places_.size() <= place) places_.resize(place + 1);
    return places_[place];
  }

  std::vector<Place> places_;
};

}  // namespace espalier
