// What do the outputs hold in the end? Data are followed through one execution, chunk by chunk, as
// sums of input chunks with their exact numbers: a program without races has one result, whatever
// the order, the slots and the tiles.
#include <fmt/format.h>

#include <algorithm>

#include "alg/program/chunk_sums.h"
#include "alg/program/program_certifier_parts.h"

namespace espalier::program_certifier {

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

  // In the end. Precondition: place < num_places(rank).
  [[nodiscard]] Value at(std::uint32_t rank, std::uint32_t place) const {
    return values_[memory_[rank] + place];
  }
  // The step that wrote it; kNone: none did.
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
    for (std::uint32_t r = 0; r < flat_.program.num_ranks(); ++r) {
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

  // Into `read_`.
  void read(std::uint32_t step, ProgramBuffer buffer, std::int32_t offset) {
    const std::uint32_t count = flat_.steps[step].step->count;
    const std::size_t first = index(step, buffer, offset);
    read_.assign(values_.begin() + static_cast<std::ptrdiff_t>(first),
                 values_.begin() + static_cast<std::ptrdiff_t>(first + count));
    const auto nothing = std::find(read_.begin(), read_.end(), ChunkSums::kNothing);
    if (nothing == read_.end()) return;
    findings_.add(ProgramViolationKind::uninitialised, flat_.site(step), [&] {
      return fmt::format("reads {} {}, which was never written before", to_string(buffer),
                         offset + (nothing - read_.begin()));
    });
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
  std::vector<Value> read_;             // of the step at hand
  std::vector<Value> result_;
};

std::string times(std::uint32_t n) {
  if (n == 1) return "once";
  return n == 2 ? "twice" : fmt::format("{} times", n);
}

// In what a value differs from what was promised.
class Difference {
 public:
  Difference(ChunkSums::Terms is, ChunkSums::Terms promised) {
    const ChunkSums::Term* i = is.begin();
    const ChunkSums::Term* p = promised.begin();
    while (i != is.end() || p != promised.end()) {
      const bool only_is = p == promised.end() || (i != is.end() && i->chunk < p->chunk);
      const bool only_promised = i == is.end() || (p != promised.end() && p->chunk < i->chunk);
      add(only_is ? i->chunk : p->chunk, only_promised ? 0 : i->times, only_is ? 0 : p->times);
      if (!only_promised) ++i;
      if (!only_is) ++p;
    }
    if (parts_ > kPrinted) text_ += fmt::format(" and {} more such", parts_ - kPrinted);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  static constexpr std::size_t kPrinted = 4;

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
      for (const PromisedChunk& promise : program_.promises) {
        if (!promise.value.empty()) {
          check(promise.rank, promise.index, data_.sums().of(promise.value));
        }
      }
      return;
    }
    // Where all ranks are promised the same, it is made once.
    const bool same_for_all = program_.collective == CollectiveOp::all_reduce ||
                              program_.collective == CollectiveOp::broadcast ||
                              program_.collective == CollectiveOp::all_gather;
    std::vector<Value> of_rank_0;
    for (std::uint32_t r = 0; r < program_.num_ranks(); ++r) {
      const std::uint32_t chunks = storage_.size(r, ProgramBuffer::output);
      for (std::uint32_t k = 0; k < chunks; ++k) {
        const Value promised = same_for_all && r != 0 ? of_rank_0[k] : promise(r, k, root);
        if (r == 0) of_rank_0.push_back(promised);
        if (promised != ChunkSums::kNothing) check(r, k, promised);
      }
    }
  }

 private:
  [[nodiscard]] Value promise(std::uint32_t rank, std::uint32_t index, std::uint32_t root) {
    std::vector<InputChunk> chunks = promised_value(program_, rank, index, root);
    return chunks.empty() ? ChunkSums::kNothing : data_.sums().of(std::move(chunks));
  }

  void check(std::uint32_t rank, std::uint32_t index, Value promised) {
    const std::uint32_t place = storage_.place(rank, ProgramBuffer::output, index);
    const Value is = data_.at(rank, place);
    // Made of what was never written: that has been said.
    if (is == promised || is == ChunkSums::kUnknown) return;
    findings_.add(ProgramViolationKind::postcondition, site_of(program_, rank), [&] {
      const std::uint32_t writer = data_.writer(rank, place);
      const std::string by =
          writer == kNone ? "; no step writes it" : "; last written by " + flat_.name(writer);
      return fmt::format("output chunk {} {}{}", index, difference(is, promised), by);
    });
  }

  [[nodiscard]] std::string difference(Value is, Value promised) {
    const Difference difference(data_.sums().terms(is), data_.sums().terms(promised));
    return difference.text();
  }

  const Program& program_;
  const FlatProgram& flat_;
  const ProgramStorage& storage_;
  DataFlow& data_;
  Findings& findings_;
};

// The rank that most outputs say is the root: of a broadcast whose chunks they hold, of a reduce
// who holds the sums.
std::uint32_t find_root(const Program& program, const ProgramStorage& storage, DataFlow& data) {
  std::vector<std::size_t> votes(program.num_ranks());
  for (std::uint32_t k = 0; k < program.chunks; ++k) {
    const bool is_reduce = program.collective == CollectiveOp::reduce;
    const Value sum = is_reduce ? data.sums().of(promised_value(program, 0, k, 0)) : 0;
    for (std::uint32_t r = 0; r < program.num_ranks(); ++r) {
      const Value value = data.at(r, storage.place(r, ProgramBuffer::output, k));
      const ChunkSums::Terms terms = data.sums().terms(value);
      if (is_reduce) {
        votes[r] += value == sum ? 1 : 0;
      } else if (terms.end() - terms.begin() == 1 && terms.begin()->chunk.index == k) {
        ++votes[terms.begin()->chunk.rank];
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
