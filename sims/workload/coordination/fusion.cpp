#include "sims/workload/coordination/fusion.h"

namespace espalier {

namespace {

void append(Response& response, const TensorUnit& unit) {
  response.tensors.insert(response.tensors.end(), unit.tensors.begin(), unit.tensors.end());
  response.bytes += unit.bytes;
}

// Of one unit that does not fit in one buffer.
void cut(const TensorUnit& unit, const TensorSet& set, Bytes threshold,
         std::vector<Response>& responses) {
  Response piece;
  for (const TensorId tensor : unit.tensors) {
    const Bytes bytes = set.tensors[tensor.index()].bytes;
    if (!piece.tensors.empty() && piece.bytes + bytes > threshold) {
      responses.push_back(piece);
      piece = {};
    }
    piece.tensors.push_back(tensor);
    piece.bytes += bytes;
  }
  responses.push_back(piece);
}

}  // namespace

std::vector<Response> fuse(const std::vector<UnitId>& ready, const std::vector<TensorUnit>& units,
                           const TensorSet& set, const FusionSpec& spec) {
  std::vector<Response> responses;
  std::vector<bool> taken(ready.size(), false);
  const auto is_alone = [&](const TensorUnit& unit) { return unit.is_group && !spec.fuse_groups; };
  for (std::size_t i = 0; i < ready.size(); ++i) {
    if (taken[i]) continue;
    const TensorUnit& first = units[ready[i].index()];
    if (first.bytes > spec.threshold) {
      cut(first, set, spec.threshold, responses);
      continue;
    }
    Response response;
    append(response, first);
    for (std::size_t j = i + 1; j < ready.size() && !is_alone(first); ++j) {
      const TensorUnit& other = units[ready[j].index()];
      if (taken[j] || is_alone(other) || response.bytes + other.bytes > spec.threshold) continue;
      append(response, other);
      taken[j] = true;
    }
    responses.push_back(response);
  }
  return responses;
}

}  // namespace espalier
