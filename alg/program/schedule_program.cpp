#include "alg/program/schedule_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

#include "alg/program/chunk_language.h"

namespace espalier {

namespace {

std::uint32_t number(NodeId node) { return static_cast<std::uint32_t>(node.index()); }

class ScheduleTracing {
 public:
  ScheduleTracing(const Schedule& schedule, const ScheduleProgramOptions& options)
      : schedule_(schedule),
        options_(options),
        ranks_(static_cast<std::uint32_t>(schedule.num_nodes)) {}

  ScheduleProgram run() {
    std::string reason = unknown_to_programs();
    if (reason.empty()) reason = unequal_chunks();
    if (reason.empty()) reason = number_chunks();
    if (!reason.empty()) return {std::nullopt, reason};
    try {
      return {compile(trace(), options_.compile), {}};
    } catch (const ChunkError& error) {
      return {std::nullopt, fmt::format("in the order of the schedule's steps: {}", error.what())};
    }
  }

 private:
  [[nodiscard]] std::string unknown_to_programs() const {
    if (has_counts(schedule_.op)) {
      return fmt::format("programs do not compute {}", to_string(schedule_.op));
    }
    if (!schedule_.scope.groups.empty()) {
      return "in a program every node is a rank, and the schedule is for a process group";
    }
    return {};
  }
  // Whether every rank has the same buffer of all data.
  [[nodiscard]] bool is_whole() const {
    return schedule_.op == CollectiveOp::all_reduce || is_rooted(schedule_.op);
  }
  [[nodiscard]] bool is_all_to_all() const { return schedule_.op == CollectiveOp::all_to_all; }

  [[nodiscard]] std::string unequal_chunks() const {
    const auto [least, most] =
        std::minmax_element(schedule_.chunks.begin(), schedule_.chunks.end(),
                            [](const Chunk& a, const Chunk& b) { return a.size < b.size; });
    if (least == schedule_.chunks.end() || least->size == 0) {
      return "a chunk of the schedule is empty, because the size is too small";
    }
    if (most->size - least->size <= options_.element_bytes) return {};
    return fmt::format(
        "a program's chunks have equal sizes, but the schedule's chunks have {} to {} bytes",
        least->size, most->size);
  }

  // Numbers the chunks for the program. Returns the reason if that is impossible, otherwise an
  // empty text.
  std::string number_chunks() {
    index_.resize(schedule_.chunks.size());
    // Chunks so far of each rank; in an all_to_all, of each pair of ranks.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> count;
    for (std::size_t c = 0; c < index_.size(); ++c) {
      if (is_whole()) {
        index_[c] = static_cast<std::uint32_t>(c);
        continue;
      }
      const Chunk& chunk = schedule_.chunks[c];
      const std::uint32_t to = is_all_to_all() ? number(chunk.destination) : 0;
      index_[c] = count[{number(chunk.owner), to}]++;
    }
    if (is_whole()) {
      share_ = 1;
      chunks_ = static_cast<std::uint32_t>(index_.size());
      return {};
    }
    share_ = count.begin()->second;
    chunks_ = share_ * ranks_;
    const std::size_t owners = is_all_to_all() ? std::size_t{ranks_} * ranks_ : ranks_;
    const bool is_even =
        count.size() == owners &&
        std::all_of(count.begin(), count.end(), [&](const auto& c) { return c.second == share_; });
    if (!is_even) return "the schedule's ranks do not all have the same number of chunks";
    if (is_all_to_all()) return {};
    for (std::size_t c = 0; c < index_.size(); ++c) {
      index_[c] += number(schedule_.chunks[c].owner) * share_;
    }
    return {};
  }

  // The span of a chunk at a rank.
  ChunkSpan at(std::uint32_t rank, std::size_t chunk) {
    if (!is_all_to_all()) {
      const bool gathers = schedule_.op == CollectiveOp::all_gather;
      return {rank, gathers ? ProgramBuffer::output : ProgramBuffer::input, index_[chunk], 1};
    }
    const std::uint32_t owner = number(schedule_.chunks[chunk].owner);
    const std::uint32_t destination = number(schedule_.chunks[chunk].destination);
    if (rank == destination) {
      return {rank, ProgramBuffer::output, owner * share_ + index_[chunk], 1};
    }
    if (rank == owner) {
      return {rank, ProgramBuffer::input, destination * share_ + index_[chunk], 1};
    }
    const auto next = static_cast<std::uint32_t>(scratch_[rank].size());
    return {rank, ProgramBuffer::scratch, scratch_[rank].emplace(chunk, next).first->second, 1};
  }

  // Chunks that are consecutive on both sides travel in one message.
  void write_run(ChunkTracer& tracer, std::uint32_t from, std::uint32_t to, std::size_t first,
                 std::size_t count, TransferKind kind) {
    const auto follows = [](const ChunkSpan& run, const ChunkSpan& next) {
      return next.buffer == run.buffer && next.index == run.index + run.count;
    };
    for (std::size_t c = first; c < first + count;) {
      ChunkSpan source = at(from, c);
      ChunkSpan target = at(to, c);
      for (++c; c < first + count; ++c) {
        if (!follows(source, at(from, c)) || !follows(target, at(to, c))) break;
        ++source.count;
        ++target.count;
      }
      const ChunkRef sent = tracer.chunk(from, source.buffer, source.index, source.count);
      if (kind == TransferKind::copy) {
        sent.copy(to, target.buffer, target.index);
      } else {
        tracer.chunk(to, target.buffer, target.index, target.count).reduce(sent);
      }
    }
  }

  void write_transfer(ChunkTracer& tracer, const Transfer& transfer) {
    const std::size_t first = transfer.first_chunk.index();
    if (!schedule_.symmetry) {
      write_run(tracer, number(transfer.from), number(transfer.to), first, transfer.num_chunks,
                transfer.kind);
      return;
    }
    const Translations& group = *schedule_.symmetry;
    const std::size_t per_root = schedule_.chunks.size() / group.num_nodes();
    for (std::size_t n = 0; n < group.num_nodes(); ++n) {
      const NodeId by(n);
      const ChunkId chunk = group.translate_root(transfer.first_chunk, per_root, by);
      write_run(tracer, number(group.add(transfer.from, by)), number(group.add(transfer.to, by)),
                chunk.index(), transfer.num_chunks, transfer.kind);
    }
  }

  // An order in which every transfer follows the transfers that bring its data. A planned schedule
  // has one step and lists a sender's transfers by slot, so that steps say nothing; of the
  // transfers whose data are there, the one listed first goes first.
  [[nodiscard]] std::vector<std::size_t> program_order() const {
    const std::vector<Transfer>& transfers = schedule_.transfers;
    std::vector<std::size_t> order;
    if (!schedule_.listed_order) {
      order.resize(transfers.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      return order;
    }
    // A sum is passed on after all that is added to it, a copy also after the copy that came in.
    std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> senders;  // node, chunk
    for (std::size_t t = 0; t < transfers.size(); ++t) {
      for (std::uint32_t c = 0; c < transfers[t].num_chunks; ++c) {
        senders[{transfers[t].from.index(), transfers[t].first_chunk.index() + c}].push_back(t);
      }
    }
    std::vector<std::size_t> missing(transfers.size(), 0);
    std::vector<std::vector<std::size_t>> awaited_by(transfers.size());
    for (std::size_t t = 0; t < transfers.size(); ++t) {
      for (std::uint32_t c = 0; c < transfers[t].num_chunks; ++c) {
        const auto found =
            senders.find({transfers[t].to.index(), transfers[t].first_chunk.index() + c});
        if (found == senders.end()) continue;
        for (const std::size_t next : found->second) {
          if (transfers[t].kind == TransferKind::copy && transfers[next].kind != TransferKind::copy)
            continue;
          awaited_by[t].push_back(next);
          ++missing[next];
        }
      }
    }
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t t = 0; t < transfers.size(); ++t) {
      if (missing[t] == 0) ready.push(t);
    }
    while (!ready.empty()) {
      const std::size_t t = ready.top();
      ready.pop();
      order.push_back(t);
      for (const std::size_t next : awaited_by[t]) {
        if (--missing[next] == 0) ready.push(next);
      }
    }
    return order;
  }

  ChunkTrace trace() {
    ProgramSignature signature;
    signature.name = schedule_.algorithm;
    signature.collective = schedule_.op;
    signature.ranks = ranks_;
    signature.chunks = chunks_;
    signature.in_place = !is_all_to_all();
    if (is_rooted(schedule_.op)) signature.root = number(schedule_.scope.root);
    signature.protocol = options_.protocol;
    ChunkTracer tracer(signature);
    scratch_.resize(ranks_);
    {
      const auto instances = tracer.parallelize(options_.instances);
      if (is_all_to_all()) {
        // A rank's chunks for itself are copied locally.
        for (std::uint32_t r = 0; r < ranks_; ++r) {
          tracer.chunk(r, ProgramBuffer::input, r * share_, share_)
              .copy(r, ProgramBuffer::output, r * share_);
        }
      }
      for (const std::size_t t : program_order()) write_transfer(tracer, schedule_.transfers[t]);
    }
    return tracer.finish();
  }

  const Schedule& schedule_;
  const ScheduleProgramOptions& options_;
  std::uint32_t ranks_;
  std::uint32_t share_ = 1;   // chunks of a rank; all_to_all: chunks of a pair of ranks
  std::uint32_t chunks_ = 0;  // of the program
  std::vector<std::uint32_t> index_;
  std::vector<std::map<std::size_t, std::uint32_t>> scratch_;  // by rank and chunk
};

}  // namespace

ScheduleProgram program_of_schedule(const Schedule& schedule,
                                    const ScheduleProgramOptions& options) {
  return ScheduleTracing(schedule, options).run();
}

}  // namespace espalier
