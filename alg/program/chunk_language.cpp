#include "alg/program/chunk_language.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace espalier {

namespace {

const char* name_of(ProgramBuffer buffer) {
  constexpr std::array kNames{"in", "out", "scratch"};
  return kNames.at(static_cast<std::size_t>(buffer));
}

std::string to_text(const std::vector<InputChunk>& value) {
  if (value.empty()) return "nothing";
  constexpr std::size_t kListed = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(value.size(), kListed); ++i) {
    text +=
        fmt::format("{}rank {} in[{}]", text.empty() ? "" : " + ", value[i].rank, value[i].index);
  }
  if (value.size() > kListed) text += fmt::format(" + {} more", value.size() - kListed);
  return text;
}

// True if each rank has an equal share of the chunks.
bool divides_by_ranks(CollectiveOp op) {
  return op == CollectiveOp::all_gather || op == CollectiveOp::reduce_scatter ||
         op == CollectiveOp::all_to_all;
}

Program signature_program(const ProgramSignature& signature) {
  Program program;
  program.name = signature.name;
  program.collective = signature.collective;
  program.in_place = signature.in_place;
  program.protocol = signature.protocol;
  program.chunks = signature.chunks;
  program.min_bytes = signature.min_bytes;
  program.max_bytes = signature.max_bytes;
  program.root = signature.root;
  program.promises = signature.promises;
  program.ranks.resize(signature.ranks);
  if (signature.collective != CollectiveOp::custom) return program;
  for (std::size_t r = 0; r < program.ranks.size(); ++r) {
    const auto of_rank = [&](const std::vector<std::uint32_t>& counts) {
      return counts.empty() ? signature.chunks : counts[r];
    };
    program.ranks[r].input_chunks = of_rank(signature.input_chunks);
    program.ranks[r].output_chunks = of_rank(signature.output_chunks);
  }
  return program;
}

}  // namespace

std::string to_string(const ChunkSpan& span) {
  const std::string last =
      span.count > 1 ? fmt::format("..{}", std::uint64_t{span.index} + span.count - 1) : "";
  return fmt::format("rank {} {}[{}{}]", span.rank, name_of(span.buffer), span.index, last);
}

// The value of every place: a sum of input chunks, each as often as it was added.
class ChunkTracer::Memory {
 public:
  // Shared by all places with the value; nullptr: never written.
  using Value = std::shared_ptr<const std::vector<InputChunk>>;
  struct Place {
    Value value;
    std::uint32_t version = 0;  // number of writes
  };

  explicit Memory(const Program& signature) : storage_(signature), ranks_(signature.num_ranks()) {
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      ranks_[r].resize(storage_.num_places(r));
      for (std::uint32_t i = 0; i < storage_.size(r, ProgramBuffer::input); ++i) {
        place(r, ProgramBuffer::input, i).value =
            std::make_shared<const std::vector<InputChunk>>(1, InputChunk{r, i});
      }
    }
  }

  [[nodiscard]] const ProgramStorage& storage() const { return storage_; }

  [[nodiscard]] std::uint32_t number(const ChunkSpan& span) const {
    return storage_.place(span.rank, span.buffer, span.index);
  }
  // A place that does not exist yet is in scratch and was never written.
  [[nodiscard]] Place at(std::uint32_t rank, std::uint32_t number) const {
    return number < ranks_[rank].size() ? ranks_[rank][number] : Place{};
  }
  void write(std::uint32_t rank, std::uint32_t number, Value value) {
    auto& places = ranks_[rank];
    if (places.size() <= number) places.resize(number + 1);
    places[number].value = std::move(value);
    ++places[number].version;
  }

  [[nodiscard]] static Value sum(const Value& a, const Value& b) {
    auto merged = std::make_shared<std::vector<InputChunk>>();
    merged->reserve(a->size() + b->size());
    std::merge(a->begin(), a->end(), b->begin(), b->end(), std::back_inserter(*merged));
    return merged;
  }

 private:
  Place& place(std::uint32_t rank, ProgramBuffer buffer, std::uint32_t index) {
    return ranks_[rank][storage_.place(rank, buffer, index)];
  }

  ProgramStorage storage_;
  std::vector<std::vector<Place>> ranks_;
};

ChunkRef ChunkRef::copy(std::uint32_t rank, ProgramBuffer buffer, std::uint32_t index,
                        Directives directives) const {
  const ChunkSpan target{rank, buffer, index, span_.count};
  tracer_->check_span(target);
  tracer_->check_fresh(*this);
  return tracer_->record(TransferKind::copy, *this, target, directives);
}

ChunkRef ChunkRef::reduce(const ChunkRef& other, Directives directives) const {
  if (span_.count != other.span_.count) {
    tracer_->fail(fmt::format("cannot reduce {} chunks of {} into {} chunks of {}",
                              other.span_.count, to_string(other.span_), span_.count,
                              to_string(span_)));
  }
  tracer_->check_fresh(*this);
  tracer_->check_fresh(other);
  return tracer_->record(TransferKind::reduce, other, span_, directives);
}

ChunkTracer::ChunkTracer(const ProgramSignature& signature) {
  check_signature(signature);
  trace_.signature = signature_program(signature);
  memory_ = std::make_unique<Memory>(trace_.signature);
}

ChunkTracer::~ChunkTracer() = default;

void ChunkTracer::fail(const std::string& what) const { throw ChunkError(what, place_); }

void ChunkTracer::check_signature(const ProgramSignature& signature) const {
  if (signature.ranks == 0) fail("a program needs at least one rank");
  if (signature.chunks == 0) fail("a program needs at least one chunk");
  if (signature.chunks >= kMostChunks) {
    fail(fmt::format("the program has {} chunks; allowed are at most {}", signature.chunks,
                     kMostChunks - 1));
  }
  if (std::uint64_t{signature.ranks} * signature.chunks > kMostPlaces) {
    fail(fmt::format("the program has {} chunks on each of {} ranks; allowed are at most {} in all",
                     signature.chunks, signature.ranks, kMostPlaces));
  }
  if (divides_by_ranks(signature.collective) && signature.chunks % signature.ranks != 0) {
    fail(
        fmt::format("the program has {} chunks, but the number of chunks of {} must be a multiple "
                    "of its {} ranks",
                    signature.chunks, to_string(signature.collective), signature.ranks));
  }
  const bool has_root = signature.collective == CollectiveOp::broadcast ||
                        signature.collective == CollectiveOp::reduce;
  if (has_root && !signature.root) {
    fail(fmt::format("{} needs a root", to_string(signature.collective)));
  }
  if (signature.root && *signature.root >= signature.ranks) {
    fail(fmt::format("root {} does not exist; the program has {} ranks", *signature.root,
                     signature.ranks));
  }
  if (signature.collective != CollectiveOp::custom) {
    if (!signature.promises.empty())
      fail("promises are given, but only a custom collective takes promises");
    return;
  }
  for (const auto* counts : {&signature.input_chunks, &signature.output_chunks}) {
    if (!counts->empty() && counts->size() != signature.ranks) {
      fail(fmt::format("buffer sizes are given for {} ranks, but the program has {} ranks",
                       counts->size(), signature.ranks));
    }
    for (const std::uint32_t count : *counts) {
      if (count > signature.chunks) {
        fail(fmt::format("a buffer has {} chunks, but a buffer of this program has at most {}",
                         count, signature.chunks));
      }
    }
  }
  const auto chunks_of = [&](const std::vector<std::uint32_t>& counts, std::uint32_t rank) {
    return counts.empty() ? signature.chunks : counts[rank];
  };
  for (const PromisedChunk& promise : signature.promises) {
    if (promise.rank >= signature.ranks ||
        promise.index >= chunks_of(signature.output_chunks, promise.rank)) {
      fail(fmt::format("a promise names rank {} out[{}], which does not exist", promise.rank,
                       promise.index));
    }
    for (const InputChunk& part : promise.value) {
      if (part.rank >= signature.ranks ||
          part.index >= chunks_of(signature.input_chunks, part.rank)) {
        fail(
            fmt::format("the promise of rank {} out[{}] names rank {} in[{}], which does not exist",
                        promise.rank, promise.index, part.rank, part.index));
      }
    }
    if (!std::is_sorted(promise.value.begin(), promise.value.end())) {
      fail(fmt::format(
          "the promise of rank {} out[{}] does not list its input chunks in ascending order",
          promise.rank, promise.index));
    }
  }
}

void ChunkTracer::check_span(const ChunkSpan& span) const {
  if (span.rank >= trace_.signature.num_ranks()) {
    fail(fmt::format("rank {} does not exist; the program has {} ranks", span.rank,
                     trace_.signature.num_ranks()));
  }
  if (span.count == 0) fail("a reference needs at least one chunk");
  const bool grows = span.buffer == ProgramBuffer::scratch;
  const std::uint32_t size = grows ? kMostChunks : memory_->storage().size(span.rank, span.buffer);
  if (std::uint64_t{span.index} + span.count > size) {
    fail(fmt::format("{} is out of range: the buffer has {} chunks", to_string(span), size));
  }
}

void ChunkTracer::check_fresh(const ChunkRef& ref) const {
  if (ref.tracer_ != this) fail("the reference belongs to another program");
  const std::uint32_t first = memory_->number(ref.span_);
  for (std::uint32_t k = 0; k < ref.span_.count; ++k) {
    if (memory_->at(ref.span_.rank, first + k).version == ref.versions_[k]) continue;
    const ChunkSpan chunk{ref.span_.rank, ref.span_.buffer, ref.span_.index + k, 1};
    fail(fmt::format("the reference to {} is stale: {} was written since", to_string(ref.span_),
                     to_string(chunk)));
  }
}

ChunkRef ChunkTracer::reference_to(const ChunkSpan& span) {
  std::vector<std::uint32_t> versions;
  const std::uint32_t first = memory_->number(span);
  for (std::uint32_t k = 0; k < span.count; ++k) {
    versions.push_back(memory_->at(span.rank, first + k).version);
  }
  return {this, span, std::move(versions)};
}

ChunkRef ChunkTracer::chunk(std::uint32_t rank, ProgramBuffer buffer, std::uint32_t index,
                            std::uint32_t count) {
  const ChunkSpan span{rank, buffer, index, count};
  check_span(span);
  const std::uint32_t first = memory_->number(span);
  for (std::uint32_t k = 0; k < count; ++k) {
    if (memory_->at(rank, first + k).value) continue;
    fail(fmt::format("{} is read, but no operation before has written it",
                     to_string({rank, buffer, index + k, 1})));
  }
  return reference_to(span);
}

ChunkRef ChunkTracer::record(TransferKind kind, const ChunkRef& source, const ChunkSpan& target,
                             Directives directives) {
  const ChunkSpan& from = source.span_;
  const std::uint32_t first_read = memory_->number(from);
  const std::uint32_t first_written = memory_->number(target);
  const bool is_same_rank = from.rank == target.rank;
  if (is_same_rank && kind == TransferKind::copy && first_read == first_written) {
    return reference_to(target);
  }
  if (is_same_rank && first_read < first_written + target.count &&
      first_written < first_read + from.count) {
    fail(kind == TransferKind::reduce
             ? fmt::format("{} is reduced with itself", to_string(target))
             : fmt::format("{} and its copy {} overlap", to_string(from), to_string(target)));
  }
  if (directives.channel.value_or(0) >= kMostChannels) {
    fail(fmt::format("channel {} is too large; allowed are 0 to {}", *directives.channel,
                     kMostChannels - 1));
  }
  for (std::uint32_t k = 0; kind == TransferKind::reduce && k < target.count; ++k) {
    const std::size_t terms = memory_->at(from.rank, first_read + k).value->size() +
                              memory_->at(target.rank, first_written + k).value->size();
    if (terms > kMostTerms)
      fail(fmt::format("the sum has more than {} chunks, which is the limit", kMostTerms));
  }
  for (std::uint32_t k = 0; k < target.count; ++k) {
    Memory::Value value = memory_->at(from.rank, first_read + k).value;
    if (kind == TransferKind::reduce) {
      value = Memory::sum(memory_->at(target.rank, first_written + k).value, value);
    }
    memory_->write(target.rank, first_written + k, std::move(value));
  }
  if (target.buffer == ProgramBuffer::scratch) {
    std::uint32_t& scratch = trace_.signature.ranks[target.rank].scratch_chunks;
    scratch = std::max(scratch, target.index + target.count);
  }
  const std::uint32_t parallel = fragments_.empty() ? 1 : fragments_.back();
  trace_.operations.push_back({kind, from, target, directives.channel, parallel, 0, call_, place_});
  return reference_to(target);
}

void ChunkTracer::begin_parallelize(std::uint32_t instances) {
  const std::uint64_t product =
      std::uint64_t{instances} * (fragments_.empty() ? 1 : fragments_.back());
  if (product == 0) fail("a fragment needs at least one instance");
  if (product * trace_.signature.chunks >= kMostChunks) {
    fail(fmt::format("{} instances of {} chunks exceed the limit of {} chunks", product,
                     trace_.signature.chunks, kMostChunks - 1));
  }
  fragments_.push_back(static_cast<std::uint32_t>(product));
}

void ChunkTracer::end_parallelize() {
  if (fragments_.empty()) fail("there is no open fragment to end");
  leave_fragment();
}

void ChunkTracer::leave_fragment() {
  if (!fragments_.empty()) fragments_.pop_back();
}

ChunkTracer::Fragment ChunkTracer::parallelize(std::uint32_t instances) {
  begin_parallelize(instances);
  return Fragment(*this);
}

void ChunkTracer::check_promises() const {
  const Program& program = trace_.signature;
  // promised_value searches a custom program's promises for each chunk.
  const auto check = [&](std::uint32_t rank, std::uint32_t index,
                         const std::vector<InputChunk>& promised) {
    const std::uint32_t place = memory_->storage().place(rank, ProgramBuffer::output, index);
    const Memory::Value value = memory_->at(rank, place).value;
    if (value && *value == promised) return;
    fail(fmt::format("at the end rank {} out[{}] must hold {}, but holds {}", rank, index,
                     to_text(promised), to_text(value ? *value : std::vector<InputChunk>{})));
  };
  if (program.collective == CollectiveOp::custom) {
    for (const PromisedChunk& promise : program.promises) {
      if (!promise.value.empty()) check(promise.rank, promise.index, promise.value);
    }
    return;
  }
  for (std::uint32_t r = 0; r < program.num_ranks(); ++r) {
    for (std::uint32_t i = 0; i < memory_->storage().size(r, ProgramBuffer::output); ++i) {
      const auto promised = promised_value(program, r, i, program.root.value_or(0));
      if (!promised.empty()) check(r, i, promised);
    }
  }
}

ChunkTrace ChunkTracer::finish() {
  if (!fragments_.empty()) fail("a fragment is still open at the end of the program");
  check_promises();
  return trace_;
}

}  // namespace espalier
