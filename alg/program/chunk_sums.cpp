#include "alg/program/chunk_sums.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>

namespace espalier::program_certifier {

namespace {

// splitmix64: sums of neighbouring chunks must not have the same hash.
std::uint64_t hash_of(InputChunk chunk) {
  std::uint64_t x = (std::uint64_t{chunk.rank} << 32 | chunk.index) + 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

// A program that doubles a chunk over and over gets far; no promise is as large as the limit.
std::uint32_t add(std::uint32_t a, std::uint32_t b) {
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  return a > kMost - b ? kMost : a + b;
}

}  // namespace

ChunkSums::Value ChunkSums::of(InputChunk chunk) {
  nodes_.push_back({chunk, kNothing, kNothing, hash_of(chunk)});
  return static_cast<Value>(nodes_.size() - 1);
}

ChunkSums::Value ChunkSums::sum(Value a, Value b) {
  if (a <= kUnknown || b <= kUnknown) return kUnknown;
  nodes_.push_back({{}, a, b, nodes_[a].hash + nodes_[b].hash});
  return static_cast<Value>(nodes_.size() - 1);
}

bool ChunkSums::is_sum_of(Value value, const std::vector<InputChunk>& chunks) {
  if (value <= kUnknown) return false;
  std::uint64_t hash = 0;
  for (const InputChunk& chunk : chunks) hash += hash_of(chunk);
  if (nodes_[value].hash != hash) return false;
  // Equal hashes are no proof.
  chunks_.clear();
  open_.assign(1, value);
  while (!open_.empty() && chunks_.size() <= chunks.size()) {
    const Node& node = nodes_[open_.back()];
    const bool is_leaf = is_single(open_.back());
    open_.pop_back();
    if (is_leaf) {
      chunks_.push_back(node.chunk);
    } else {
      open_.push_back(node.left);
      open_.push_back(node.right);
    }
  }
  std::sort(chunks_.begin(), chunks_.end());
  return chunks_ == chunks;
}

const InputChunk* ChunkSums::single(Value value) const {
  return is_single(value) ? &nodes_[value].chunk : nullptr;
}

std::vector<ChunkSums::Term> ChunkSums::terms(Value value) const {
  std::map<InputChunk, std::uint32_t> found;
  // How often each part counts; all that it is a part of is younger.
  std::map<Value, std::uint32_t, std::greater<>> parts;
  if (value > kUnknown) parts[value] = 1;
  while (!parts.empty()) {
    const auto [youngest, times] = *parts.begin();
    parts.erase(parts.begin());
    const Node& node = nodes_[youngest];
    if (is_single(youngest)) {
      found[node.chunk] = add(found[node.chunk], times);
      continue;
    }
    for (const Value part : {node.left, node.right}) parts[part] = add(parts[part], times);
  }
  std::vector<Term> terms;
  terms.reserve(found.size());
  for (const auto& [chunk, times] : found) terms.push_back({chunk, times});
  return terms;
}

}  // namespace espalier::program_certifier
