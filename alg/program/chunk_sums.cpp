#include "alg/program/chunk_sums.h"

#include <algorithm>
#include <limits>

namespace espalier::program_certifier {

namespace {

// splitmix64: neighbouring chunks must not have neighbouring hashes, whose sums would be alike.
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

ChunkSums::ChunkSums() : entries_(2) {}

ChunkSums::Terms ChunkSums::terms(Value value) const {
  const Entry& entry = entries_[value];
  return {terms_.data() + entry.begin, terms_.data() + entry.end};
}

ChunkSums::Value ChunkSums::intern(const std::vector<Term>& terms, std::uint64_t hash) {
  Value& first = by_hash_[hash];
  for (Value v = first; v != kNothing; v = entries_[v].next_alike) {
    const Terms known = this->terms(v);
    if (std::equal(known.begin(), known.end(), terms.begin(), terms.end())) return v;
  }
  const auto value = static_cast<Value>(entries_.size());
  entries_.push_back({terms_.size(), terms_.size() + terms.size(), hash, first});
  terms_.insert(terms_.end(), terms.begin(), terms.end());
  first = value;
  return value;
}

ChunkSums::Value ChunkSums::of(InputChunk chunk) { return intern({{chunk, 1}}, hash_of(chunk)); }

ChunkSums::Value ChunkSums::of(std::vector<InputChunk> chunks) {
  std::sort(chunks.begin(), chunks.end());
  std::vector<Term> terms;
  std::uint64_t hash = 0;
  for (const InputChunk& chunk : chunks) {
    hash += hash_of(chunk);
    if (!terms.empty() && terms.back().chunk == chunk) {
      ++terms.back().times;
    } else {
      terms.push_back({chunk, 1});
    }
  }
  return intern(terms, hash);
}

ChunkSums::Value ChunkSums::sum(Value a, Value b) {
  if (a > b) std::swap(a, b);
  if (a <= kUnknown) return kUnknown;
  Value& known = by_pair_[std::uint64_t{a} << 32 | b];
  if (known != kNothing) return known;
  scratch_.clear();
  const Terms left = terms(a);
  const Terms right = terms(b);
  const Term* l = left.begin();
  const Term* r = right.begin();
  while (l != left.end() && r != right.end()) {
    if (l->chunk == r->chunk) {
      scratch_.push_back({l->chunk, add(l->times, r->times)});
      ++l;
      ++r;
    } else {
      scratch_.push_back(l->chunk < r->chunk ? *l++ : *r++);
    }
  }
  scratch_.insert(scratch_.end(), l, left.end());
  scratch_.insert(scratch_.end(), r, right.end());
  known = intern(scratch_, entries_[a].hash + entries_[b].hash);
  return known;
}

}  // namespace espalier::program_certifier
