#include "sims/workload/coordination/tensor_set.h"

#include <algorithm>

namespace espalier {

namespace {

// compute * at / total, without overflow for the times of an iteration.
Cycle scaled(Cycle at, Cycle total, Cycle compute) {
  if (compute == 0 || total == 0) return at;
  return static_cast<Cycle>(static_cast<long double>(at) * static_cast<long double>(compute) /
                            static_cast<long double>(total));
}

}  // namespace

Bytes TensorSet::bytes() const {
  Bytes sum = 0;
  for (const Tensor& tensor : tensors) sum += tensor.bytes;
  return sum;
}

TensorSet make_tensor_set(const std::vector<Layer>& layers, const IterationPlan& plan,
                          const TensorSpec& spec) {
  TensorSet set;
  const Cycle total = plan.compute();
  set.compute = spec.compute == 0 ? total : spec.compute;
  for (const GradientPost& post : plan.posts) {
    const Layer& layer = layers[post.layer];
    const Cycle ready = scaled(add_compute(plan.forward, post.at), total, spec.compute);
    const auto add = [&](const char* what, std::uint64_t elements) {
      set.tensors.push_back({layer.name + "/" + what, elements * spec.element_bytes, ready});
    };
    add("weights", post.parameters);
    const bool is_last = post.layer + 1 == layers.size();
    const bool has_norm = spec.tensors == LayerTensors::batch_norm && !is_last;
    if (has_norm) {
      add("scale", layer.filters);
      add("shift", layer.filters);
    } else if (spec.tensors != LayerTensors::weights) {
      add("bias", layer.filters);
    }
  }
  return set;
}

std::vector<TensorUnit> make_units(const TensorSet& set, std::uint32_t num_groups) {
  const std::size_t tensors = set.tensors.size();
  const std::size_t count = num_groups == 0 ? tensors : std::min<std::size_t>(num_groups, tensors);
  std::vector<TensorUnit> units(count);
  std::size_t next = 0;
  for (std::size_t u = 0; u < count; ++u) {
    const std::size_t size = tensors / count + (u < tensors % count ? 1 : 0);
    units[u].is_group = num_groups != 0;
    for (std::size_t i = 0; i < size; ++i, ++next) {
      units[u].tensors.emplace_back(next);
      units[u].bytes += set.tensors[next].bytes;
    }
  }
  return units;
}

namespace {

void append(Response& response, const TensorUnit& unit) {
  response.tensors.insert(response.tensors.end(), unit.tensors.begin(), unit.tensors.end());
  response.bytes += unit.bytes;
}

// Cuts a unit that does not fit into one buffer into several responses.
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
