// The final values of the outputs. Data are followed through one execution, chunk by chunk, as sums
// of input chunks with their exact multiplicities. A program without races has the same result for
// any order, slots and tiles.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <vector>

#include "alg/program/program.h"
#include "alg/program/program_certifier_parts.h"
#include "hw/hash.h"

namespace espalier::program_certifier {

// Values of chunks, as sums of input chunks. A sum is stored as its two parts. Most sums are only
// parts of others, so terms are listed on demand.
class ChunkSums {
 public:
  using Value = std::uint32_t;
  static constexpr Value kNothing = 0;  // never written
  static constexpr Value kUnknown = 1;  // made from kNothing, which was reported when it was read

  struct Term {
    InputChunk chunk;
    std::uint32_t times = 0;
  };

  ChunkSums() : nodes_(2) {}
  [[nodiscard]] Value of(InputChunk chunk);
  [[nodiscard]] Value sum(Value a, Value b);
  // True if the value is the sum of `chunks`, which ascend and may repeat.
  [[nodiscard]] bool is_sum_of(Value value, const std::vector<InputChunk>& chunks);
  // The input chunk if the value is a single one; otherwise nullptr.
  [[nodiscard]] const InputChunk* single(Value value) const;
  // Ascending by chunk.
  [[nodiscard]] std::vector<Term> terms(Value value) const;

 private:
  struct Node {
    InputChunk chunk;        // set if the value has no parts
    Value left = kNothing;   // part; parts are older than their sum
    Value right = kNothing;  // part
    std::uint64_t hash = 0;  // the sum of the chunks' hashes
  };
  [[nodiscard]] bool is_single(Value value) const {
    return value > kUnknown && nodes_[value].left == kNothing;
  }

  std::vector<Node> nodes_;
  std::vector<Value> open_;  // while terms are listed
  std::vector<InputChunk> chunks_;
};

namespace {

std::uint64_t hash_of(InputChunk chunk) {
  return mix(std::uint64_t{chunk.rank} << 32 | chunk.index);
}

// Saturates: a program may double a chunk repeatedly, and no promise is as large as the limit.
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
  // Equal hashes do not prove equality.
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
  // Multiplicity of each part. A sum is younger than its parts.
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

namespace {

using Value = ChunkSums::Value;

class DataFlow {
 public:
  DataFlow(const FlatProgram& flat, const ProgramStorage& storage, Findings& findings)
      : flat_(flat), storage_(storage), findings_(findings), message_(flat.steps.size(), 0) {
    lay_out_messages();
    lay_out_memory();
  }

  void run(const std::vector<std::uint32_t>& order) {
    for (const std::uint32_t step : order) execute(step);
  }

  // The final value. Precondition: place < num_places(rank).
  [[nodiscard]] Value at(std::uint32_t rank, std::uint32_t place) const {
    return values_[memory_[rank] + place];
  }
  // The step that wrote it last; kNone: no step.
  [[nodiscard]] std::uint32_t writer(std::uint32_t rank, std::uint32_t place) const {
    return writers_[memory_[rank] + place];
  }
  [[nodiscard]] ChunkSums& sums() { return sums_; }

 private:
  void lay_out_messages() {
    std::size_t chunks = 0;
    for (std::size_t s = 0; s < flat_.steps.size(); ++s) {
      const ProgramStep& step = *flat_.steps[s].step;
      if (!sends(step.op)) continue;
      message_[s] = chunks;
      chunks += step.count;
    }
    in_flight_.resize(chunks);
  }

  void lay_out_memory() {
    for (std::uint32_t r = 0; r < flat_.program.ranks.size(); ++r) {
      memory_.push_back(values_.size());
      values_.resize(values_.size() + storage_.num_places(r), ChunkSums::kNothing);
      const std::uint32_t inputs = storage_.size(r, ProgramBuffer::input);
      for (std::uint32_t k = 0; k < inputs; ++k) {
        values_[memory_[r] + storage_.place(r, ProgramBuffer::input, k)] = sums_.of({r, k});
      }
    }
    writers_.assign(values_.size(), kNone);
  }

  [[nodiscard]] std::size_t index(std::uint32_t step, ProgramBuffer buffer,
                                  std::int32_t offset) const {
    const std::uint32_t rank = flat_.block_of(step).rank;
    return memory_[rank] + storage_.place(rank, buffer, static_cast<std::uint32_t>(offset));
  }

  // Copies the values into `read_`.
  void read(std::uint32_t step, ProgramBuffer buffer, std::int32_t offset) {
    const std::uint32_t count = flat_.steps[step].step->count;
    const std::size_t first = index(step, buffer, offset);
    read_.assign(values_.begin() + static_cast<std::ptrdiff_t>(first),
                 values_.begin() + static_cast<std::ptrdiff_t>(first + count));
    const auto nothing = std::find(read_.begin(), read_.end(), ChunkSums::kNothing);
    if (nothing == read_.end()) return;
    findings_.add(ProgramViolationKind::uninitialised, flat_.site(step),
                  "reads {} {}, which was never written before", to_string(buffer),
                  offset + (nothing - read_.begin()));
    std::replace(nothing, read_.end(), ChunkSums::kNothing, ChunkSums::kUnknown);
  }

  void add_to_result(std::size_t lane, Value value) {
    result_[lane] = result_[lane] == ChunkSums::kNothing ? value : sums_.sum(result_[lane], value);
  }

  void execute(std::uint32_t step) {
    const ProgramStep& s = *flat_.steps[step].step;
    result_.assign(s.count, ChunkSums::kNothing);
    if (s.op == ProgramOp::reduce) add_operand(step, s.dst_buffer, s.dst_offset);
    if (reads_source(s.op)) add_operand(step, s.src_buffer, s.src_offset);
    if (receives(s.op)) {
      const std::size_t message = message_[flat_.steps[step].message_of];
      for (std::size_t k = 0; k < s.count; ++k) add_to_result(k, in_flight_[message + k]);
    }
    if (sends(s.op)) {
      std::copy(result_.begin(), result_.end(),
                in_flight_.begin() + static_cast<std::ptrdiff_t>(message_[step]));
    }
    if (!writes_target(s.op)) return;
    const std::size_t first = index(step, s.dst_buffer, s.dst_offset);
    for (std::size_t k = 0; k < s.count; ++k) {
      values_[first + k] = result_[k];
      writers_[first + k] = step;
    }
  }

  void add_operand(std::uint32_t step, ProgramBuffer buffer, std::int32_t offset) {
    read(step, buffer, offset);
    for (std::size_t k = 0; k < read_.size(); ++k) add_to_result(k, read_[k]);
  }

  const FlatProgram& flat_;
  const ProgramStorage& storage_;
  Findings& findings_;
  ChunkSums sums_;
  std::vector<std::size_t> message_;  // by sending step: its first chunk in in_flight_
  std::vector<Value> in_flight_;
  std::vector<std::size_t> memory_;  // by rank: its first place in values_
  std::vector<Value> values_;
  std::vector<std::uint32_t> writers_;  // as values_
  std::vector<Value> read_;             // by the current step
  std::vector<Value> result_;
};

std::string times(std::uint32_t n) {
  if (n == 1) return "once";
  return n == 2 ? "twice" : fmt::format("{} times", n);
}

// How a value differs from the promised one.
class Difference {
 public:
  Difference(const std::vector<ChunkSums::Term>& is, const std::vector<InputChunk>& promised) {
    std::map<InputChunk, Times> all;
    for (const ChunkSums::Term& term : is) all[term.chunk].is = term.times;
    for (const InputChunk& chunk : promised) ++all[chunk].promised;
    for (const auto& [chunk, times] : all) add(chunk, times.is, times.promised);
    if (parts_ > kPrinted) text_ += fmt::format(" and {} more such", parts_ - kPrinted);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  static constexpr std::size_t kPrinted = 4;
  struct Times {
    std::uint32_t is = 0;
    std::uint32_t promised = 0;
  };

  void add(InputChunk chunk, std::uint32_t is, std::uint32_t promised) {
    if (is == promised || ++parts_ > kPrinted) return;
    if (!text_.empty()) text_ += ", ";
    const std::string name = fmt::format("input chunk {} of gpu {}", chunk.index, chunk.rank);
    if (is == 0) {
      text_ += "lacks " + name + (promised == 1 ? "" : ", which belongs there " + times(promised));
    } else {
      text_ += fmt::format("holds {} {} instead of {}", name, times(is),
                           promised == 0 ? "not at all" : times(promised));
    }
  }

  std::string text_;
  std::size_t parts_ = 0;
};

class Postcondition {
 public:
  Postcondition(const FlatProgram& flat, const ProgramStorage& storage, DataFlow& data,
                Findings& findings)
      : program_(flat.program), flat_(flat), storage_(storage), data_(data), findings_(findings) {}

  void check(std::uint32_t root) {
    if (program_.collective == CollectiveOp::custom) {
      check_promises();
      return;
    }
    for (std::uint32_t r = 0; r < program_.num_ranks(); ++r) {
      const std::uint32_t chunks = storage_.size(r, ProgramBuffer::output);
      expected_.resize(chunks);
      for (std::uint32_t k = 0; k < chunks; ++k) {
        // If all ranks have the same promise, it is listed once.
        if (r == 0 || !is_same_for_all()) {
          expected_[k] = {promised_value(program_, r, k, root), ChunkSums::kNothing};
        }
        check(r, k, expected_[k]);
      }
    }
  }

 private:
  struct Expected {
    std::vector<InputChunk> chunks;           // ascending
    Value known_right = ChunkSums::kNothing;  // a value that is their sum
  };

  [[nodiscard]] bool is_same_for_all() const {
    return program_.collective == CollectiveOp::all_reduce ||
           program_.collective == CollectiveOp::broadcast ||
           program_.collective == CollectiveOp::all_gather;
  }

  void check_promises() {
    for (const PromisedChunk& promise : program_.promises) {
      Expected expected{promise.value, ChunkSums::kNothing};
      std::sort(expected.chunks.begin(), expected.chunks.end());
      check(promise.rank, promise.index, expected);
    }
  }

  void check(std::uint32_t rank, std::uint32_t index, Expected& expected) {
    const std::uint32_t place = storage_.place(rank, ProgramBuffer::output, index);
    const Value is = data_.at(rank, place);
    // Values made from unwritten data have been reported already.
    if (expected.chunks.empty() || is == ChunkSums::kUnknown) return;
    if (is != ChunkSums::kNothing && is == expected.known_right) return;
    if (data_.sums().is_sum_of(is, expected.chunks)) {
      expected.known_right = is;
      return;
    }
    findings_.add_described(ProgramViolationKind::postcondition, site_of(program_, rank), [&] {
      const std::uint32_t writer = data_.writer(rank, place);
      const std::string by =
          writer == kNone ? "; no step writes it" : "; last written by " + flat_.name(writer);
      const Difference difference(data_.sums().terms(is), expected.chunks);
      return fmt::format("output chunk {} {}{}", index, difference.text(), by);
    });
  }

  const Program& program_;
  const FlatProgram& flat_;
  const ProgramStorage& storage_;
  DataFlow& data_;
  Findings& findings_;
  std::vector<Expected> expected_;  // by output chunk
};

// The rank that most outputs name as the root: in a broadcast the source of their chunks, in a
// reduce the holder of the sums.
std::uint32_t find_root(const Program& program, const ProgramStorage& storage, DataFlow& data) {
  std::vector<std::size_t> votes(program.num_ranks());
  for (std::uint32_t k = 0; k < program.chunks; ++k) {
    const bool is_reduce = program.collective == CollectiveOp::reduce;
    const std::vector<InputChunk> sum = promised_value(program, 0, k, 0);
    for (std::uint32_t r = 0; r < program.num_ranks(); ++r) {
      const Value value = data.at(r, storage.place(r, ProgramBuffer::output, k));
      if (is_reduce) {
        votes[r] += data.sums().is_sum_of(value, sum) ? 1U : 0U;
      } else if (const InputChunk* chunk = data.sums().single(value)) {
        if (chunk->index == k) ++votes[chunk->rank];
      }
    }
  }
  return static_cast<std::uint32_t>(std::max_element(votes.begin(), votes.end()) - votes.begin());
}

}  // namespace

void check_data(const FlatProgram& flat, const std::vector<std::uint32_t>& order,
                const ProgramStorage& storage, ProgramCertificate& certificate,
                Findings& findings) {
  const Program& program = flat.program;
  DataFlow data(flat, storage, findings);
  data.run(order);
  const bool has_root =
      program.collective == CollectiveOp::broadcast || program.collective == CollectiveOp::reduce;
  if (has_root) {
    certificate.root = program.root ? *program.root : find_root(program, storage, data);
  }
  certificate.promises_known =
      program.collective != CollectiveOp::custom || !program.promises.empty();
  Postcondition(flat, storage, data, findings).check(certificate.root);
}

}  // namespace espalier::program_certifier
