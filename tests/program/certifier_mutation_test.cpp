// The certifier against executions in random order. Of programs that are right, every single
// mutation is either rejected or harmless; random programs that are accepted have one result.
#include <catch2/catch.hpp>

#include <algorithm>
#include <iostream>
#include <map>
#include <set>
#include <tuple>

#include "alg/program/program_certifier.h"
#include "random_execution.h"
#include "sketch.h"
#include "tests/support/share_of_cases.h"

using namespace espalier;
using namespace espalier::program_test;

namespace {

using Kind = ProgramViolationKind;

struct Mutant {
  std::string name;
  Program program;
};

class Mutations {
 public:
  Mutations(const Program& program, std::size_t rank, std::size_t block, std::size_t step)
      : program_(program), rank_(rank), block_(block), step_(step) {}

  // Where there is no next step, the program as it is.
  [[nodiscard]] Program swapped() {
    swap();
    return mutants_.empty() ? program_ : std::move(mutants_.back().program);
  }

  [[nodiscard]] std::vector<Mutant> all() {
    const ProgramStep& s = step_of(program_);
    if (s.wait_block >= 0) {
      change("wait for nothing", [](ProgramStep& m) { m.wait_block = m.wait_step = -1; });
    }
    if (s.signals) change("signal nothing", [](ProgramStep& m) { m.signals = false; });
    change("count + 1", [](ProgramStep& m) { ++m.count; });
    if (s.count > 0) change("count - 1", [](ProgramStep& m) { --m.count; });
    for (const int by : {-1, 1}) {
      if (reads_source(s.op)) change("source moved", [&](ProgramStep& m) { m.src_offset += by; });
      if (writes_target(s.op)) change("target moved", [&](ProgramStep& m) { m.dst_offset += by; });
    }
    for (int b = 0; b < 3; ++b) {
      const auto buffer = static_cast<ProgramBuffer>(b);
      if (reads_source(s.op) && buffer != s.src_buffer) {
        change("other source", [&](ProgramStep& m) { m.src_buffer = buffer; });
      }
      if (writes_target(s.op) && buffer != s.dst_buffer) {
        change("other target", [&](ProgramStep& m) { m.dst_buffer = buffer; });
      }
    }
    for (int k = 0; k <= static_cast<int>(ProgramOp::reduce); ++k) {
      const auto op = static_cast<ProgramOp>(k);
      if (op == s.op) continue;
      change(std::string("now ") + to_string(op), [&](ProgramStep& m) { m.op = op; });
    }
    drop();
    swap();
    return std::move(mutants_);
  }

 private:
  [[nodiscard]] const ProgramStep& step_of(const Program& program) const {
    return program.ranks[rank_].blocks[block_].steps[step_];
  }

  template <class Change>
  void change(const std::string& what, Change&& change) {
    Mutant mutant{name(what), program_};
    change(mutant.program.ranks[rank_].blocks[block_].steps[step_]);
    mutants_.push_back(std::move(mutant));
  }

  [[nodiscard]] std::string name(const std::string& what) const {
    return "gpu " + std::to_string(rank_) + " tb " + std::to_string(block_) + " step " +
           std::to_string(step_) + ": " + what;
  }

  // Waits follow the steps they are for; those for the step that is gone are gone.
  void drop() {
    Mutant mutant{name("dropped"), program_};
    auto& steps = mutant.program.ranks[rank_].blocks[block_].steps;
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(step_));
    renumber(mutant.program, [&](ProgramStep& waiting) {
      const auto target = static_cast<std::size_t>(waiting.wait_step);
      if (target == step_) waiting.wait_block = waiting.wait_step = -1;
      if (target > step_) --waiting.wait_step;
    });
    mutants_.push_back(std::move(mutant));
  }

  void swap() {
    Mutant mutant{name("swapped with the next"), program_};
    auto& steps = mutant.program.ranks[rank_].blocks[block_].steps;
    if (step_ + 1 == steps.size()) return;
    std::swap(steps[step_], steps[step_ + 1]);
    renumber(mutant.program, [&](ProgramStep& waiting) {
      const auto target = static_cast<std::size_t>(waiting.wait_step);
      if (target == step_) {
        ++waiting.wait_step;
      } else if (target == step_ + 1) {
        --waiting.wait_step;
      }
    });
    mutants_.push_back(std::move(mutant));
  }

  template <class Change>
  void renumber(Program& program, Change&& change) const {
    for (ThreadBlock& block : program.ranks[rank_].blocks) {
      for (ProgramStep& step : block.steps) {
        if (step.wait_block == static_cast<std::int32_t>(block_)) change(step);
      }
    }
  }

  const Program& program_;
  std::size_t rank_;
  std::size_t block_;
  std::size_t step_;
  std::vector<Mutant> mutants_;
};

ExecutionLimits limits_of(const ProgramLimits& limits, std::uint32_t tiles) {
  ExecutionLimits result;
  result.slots = limits.slots;
  result.chunks_per_slot = limits.chunks_per_slot;
  result.tiles = tiles;
  return result;
}

bool has(const ProgramCertificate& certificate, Kind kind) {
  return std::any_of(certificate.violations.begin(), certificate.violations.end(),
                     [&](const ProgramViolation& v) { return v.kind == kind; });
}

std::string text_of(const ProgramCertificate& certificate) {
  std::string text;
  for (const auto& v : certificate.violations) text += describe(v) + "\n";
  return text;
}

// What executions in random order show of a program.
struct Shown {
  std::size_t executions = 0;
  std::size_t stuck = 0;
  std::size_t read_nothing = 0;
  std::size_t wrong = 0;
  std::size_t different = 0;  // from the first one, somewhere in memory
};

// Stops where `enough` is reached.
template <class Enough>
Shown execute(const Program& program, const ProgramLimits& limits, std::uint32_t root,
              std::uint32_t seed, std::size_t executions, Enough enough) {
  Shown shown;
  std::vector<std::vector<Sum>> first;
  while (shown.executions < executions && !enough(shown)) {
    const std::uint32_t tiles = shown.executions % 4 == 3 ? 2 : 1;
    const std::uint32_t seed_of_this = seed + static_cast<std::uint32_t>(shown.executions);
    Outcome outcome = RandomExecution(program, limits_of(limits, tiles), seed_of_this).run();
    ++shown.executions;
    shown.stuck += outcome.is_stuck ? 1U : 0U;
    shown.read_nothing += outcome.has_read_nothing ? 1U : 0U;
    shown.wrong += is_right(program, outcome, root) ? 0U : 1U;
    if (first.empty()) first = outcome.memory[0];
    const bool is_same = std::all_of(outcome.memory.begin(), outcome.memory.end(),
                                     [&](const auto& tile) { return tile == first; });
    shown.different += is_same ? 0U : 1U;
  }
  return shown;
}

// Remembers in which order conflicting accesses have been seen.
class AccessOrders {
 public:
  // Returns whether two came the other way round before.
  bool add(const std::vector<MemoryAccess>& accesses) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Access>> of_place;
    bool is_reversed = false;
    for (const MemoryAccess& access : accesses) {
      const std::pair<std::uint32_t, std::uint32_t> place{access.rank, access.place};
      const Access later{access.block, access.step, access.writes};
      for (const Access& earlier : of_place[place]) {
        if (!std::get<2>(earlier) && !access.writes) continue;
        seen_.emplace(place, earlier, later);
        is_reversed = is_reversed || seen_.count({place, later, earlier}) != 0;
      }
      of_place[place].push_back(later);
    }
    return is_reversed;
  }

 private:
  using Access = std::tuple<std::uint32_t, std::uint32_t, bool>;  // block, step, writes
  std::set<std::tuple<std::pair<std::uint32_t, std::uint32_t>, Access, Access>> seen_;
};

// Whether two conflicting accesses are seen in both orders. A program has a race or not whatever
// its slots, and how much travels in one.
bool shows_race(const Program& program, std::uint32_t seed) {
  AccessOrders orders;
  for (std::uint32_t k = 0; k < 1000; ++k) {
    ExecutionLimits limits;
    limits.slots = 64;
    limits.chunks_per_slot = k % 2;
    if (orders.add(RandomExecution(program, limits, seed + k).run().accesses)) return true;
  }
  return false;
}

constexpr std::size_t kExecutions = 200;

void expect_right(const Program& program, const ProgramLimits& limits, std::uint32_t root,
                  std::uint32_t seed) {
  const Shown shown = execute(program, limits, root, seed, kExecutions, [](const Shown& s) {
    return s.stuck + s.read_nothing + s.wrong + s.different != 0;
  });
  CAPTURE(seed, shown.executions, shown.stuck, shown.read_nothing, shown.wrong, shown.different);
  REQUIRE(shown.executions == kExecutions);
  REQUIRE(shown.stuck + shown.read_nothing + shown.wrong + shown.different == 0);
}

struct Tally {
  std::size_t mutants = 0;
  std::size_t accepted = 0;
  std::size_t unexecutable = 0;  // malformed or unmatched: nothing to execute
  std::size_t deadlocks = 0;
  std::size_t wrong_data = 0;  // uninitialised or postcondition, without a race
  std::size_t races = 0;
  std::size_t harmful = 0;  // of them: some execution went wrong, or two differed
};

// Where nothing is a matter of order, every execution must show it.
void expect_rejection_shown(const Program& mutant, const ProgramCertificate& certificate,
                            const ProgramLimits& limits, std::uint32_t seed, Tally& tally) {
  CAPTURE(text_of(certificate));
  if (has(certificate, Kind::malformed) || has(certificate, Kind::unmatched)) {
    ++tally.unexecutable;
    return;
  }
  const auto never = [](const Shown&) { return false; };
  if (has(certificate, Kind::deadlock)) {
    ++tally.deadlocks;
    REQUIRE(execute(mutant, limits, 0, seed, 3, never).stuck == 3);
    return;
  }
  const std::uint32_t root = certificate.root;
  if (!has(certificate, Kind::race)) {
    ++tally.wrong_data;
    const Shown shown = execute(mutant, limits, root, seed, 5, never);
    REQUIRE(shown.stuck == 0);
    REQUIRE(shown.different == 0);
    if (has(certificate, Kind::uninitialised)) {
      REQUIRE(shown.read_nothing == 5);
    } else {
      REQUIRE(shown.wrong == 5);
    }
    return;
  }
  ++tally.races;
  const Shown shown = execute(mutant, limits, root, seed, 60, [](const Shown& s) {
    return s.read_nothing + s.wrong + s.different != 0;
  });
  REQUIRE(shown.stuck == 0);
  tally.harmful += shown.read_nothing + shown.wrong + shown.different != 0 ? 1U : 0U;
  REQUIRE(shows_race(mutant, seed));
}

Tally mutate(const Program& program, ProgramLimits limits, std::uint32_t seed) {
  const ProgramCertificate right = certify_program(program, limits);
  CAPTURE(text_of(right));
  REQUIRE(right.ok());
  limits.slots = right.least_slots;
  expect_right(program, limits, right.root, seed);
  if (limits.slots > 1) {
    ProgramLimits fewer = limits;
    --fewer.slots;
    REQUIRE(has(certify_program(program, fewer), Kind::deadlock));
    REQUIRE(execute(program, fewer, 0, seed, 3, [](const Shown&) { return false; }).stuck == 3);
  }
  Tally tally;
  test::ShareOfCases share(5);
  // The ranks are alike but for the ends of chains.
  for (const std::size_t rank : {std::size_t{0}, program.num_ranks() - 1}) {
    for (std::size_t b = 0; b < program.ranks[rank].blocks.size(); ++b) {
      for (std::size_t s = 0; s < program.ranks[rank].blocks[b].steps.size(); ++s) {
        for (const Mutant& mutant : Mutations(program, rank, b, s).all()) {
          if (!share.take()) continue;
          CAPTURE(mutant.name);
          ++tally.mutants;
          const ProgramCertificate certificate = certify_program(mutant.program, limits);
          if (certificate.ok()) {
            ++tally.accepted;
            expect_right(mutant.program, limits, certificate.root, seed);
          } else {
            expect_rejection_shown(mutant.program, certificate, limits, seed, tally);
          }
        }
      }
    }
  }
  return tally;
}

void expect_mutants_caught(const char* name, const Program& program,
                           std::uint32_t chunks_per_slot = 0) {
  INFO(name);
  ProgramLimits limits;
  limits.chunks_per_slot = chunks_per_slot;
  const Tally tally = mutate(program, limits, 1);
  std::cout << name << ": " << tally.mutants << " mutants, " << tally.accepted << " accepted, "
            << tally.unexecutable << " malformed or unmatched, " << tally.deadlocks
            << " deadlocks, " << tally.wrong_data << " wrong data, " << tally.races
            << " races of which " << tally.harmful << " harmful\n";
  // The others would be about values that are equal, or that nobody reads.
  if (!test::kSanitized) REQUIRE(tally.harmful * 10 >= tally.races * 9);
}

}  // namespace

TEST_CASE("Mutants of rings are rejected, or compute the right result") {
  expect_mutants_caught("ring all-reduce", ring_all_reduce(3, 1, 1));
  expect_mutants_caught("ring all-reduce, 2 channels", ring_all_reduce(2, 2, 2), 1);
  expect_mutants_caught("ring all-gather", ring_all_gather(4));
}

TEST_CASE("Mutants of chains are rejected, or compute the right result") {
  expect_mutants_caught("chain broadcast", chain_broadcast(3, 2));
  expect_mutants_caught("chain reduce", chain_reduce(3, 2), 1);
}

TEST_CASE("Mutants of all-to-alls are rejected, or compute the right result") {
  expect_mutants_caught("direct all-to-all", direct_all_to_all(3));
  expect_mutants_caught("two-step all-to-all", two_step_all_to_all(2, 2), 1);
}

TEST_CASE("Mutants of programs with many thread blocks are rejected, or compute the right result") {
  expect_mutants_caught("all-pairs all-reduce", all_pairs_all_reduce(3, 2), 1);
  expect_mutants_caught("hierarchical all-reduce", hierarchical_all_reduce(2, 2));
}

TEST_CASE("Mutants of composed programs are rejected, or compute the right result") {
  expect_mutants_caught("composed all-reduce", composed_all_reduce(3));
}

namespace {

// Copies and reduces between random places, some of them passed on from rank to rank; waits where
// memory asks for them, of which some are left out.
class RandomProgram {
 public:
  explicit RandomProgram(std::uint32_t seed)
      : random_(seed),
        ranks_(2 + random(2)),
        in_place_(random(2) == 0),
        wait_percent_(random(2) == 0 ? 100 : 60),
        sketch_(CollectiveOp::custom, in_place_, ranks_, kChunks, kChunks, 4) {
    const std::uint32_t operations = 3 + random(8);
    // Some as two calls.
    const std::uint32_t second_call = random(3) == 0 ? operations / 2 : operations;
    for (std::uint32_t k = 0; k < operations; ++k) {
      call_ = k < second_call ? 0 : 1;
      if (ranks_ == 3 && random(3) == 0) {
        bounce();
      } else if (random(3) == 0) {
        pass_on();
      } else if (random(3) == 0) {
        copy_here();
      } else {
        copy_there();
      }
    }
    program_ = sketch_.program();
    if (random(3) == 0) disturb();
  }
  [[nodiscard]] Program& program() { return program_; }

 private:
  static constexpr std::uint32_t kChunks = 3;

  [[nodiscard]] std::uint32_t random(std::uint32_t below) {
    return static_cast<std::uint32_t>(random_() % below);
  }
  [[nodiscard]] Where somewhere(std::uint32_t count) {
    return {static_cast<ProgramBuffer>(random(3)), random(kChunks - count + 1)};
  }
  // Most often of what holds something: the input.
  [[nodiscard]] Where source(std::uint32_t count) {
    const Where where = somewhere(count);
    return random(4) == 0 ? where : in(where.offset);
  }
  void add(std::size_t rank, std::size_t block, ProgramOp op, Where src, Where dst,
           std::uint32_t count) {
    sketch_.add(rank, block, op, src, dst, count, [&] { return random(100) < wait_percent_; });
  }

  void copy_here() {
    const std::uint32_t rank = random(ranks_);
    const std::uint32_t count = 1 + random(2);
    const std::size_t block = sketch_.block(rank, kNoPeer, kNoPeer, random(2), call_);
    const ProgramOp op = random(3) == 0 ? ProgramOp::reduce : ProgramOp::copy;
    add(rank, block, op, source(count), op == ProgramOp::reduce ? source(count) : somewhere(count),
        count);
  }

  // A block for each pair and channel.
  void copy_there() {
    const std::uint32_t from = random(ranks_);
    const std::uint32_t to = (from + 1 + random(ranks_ - 1)) % ranks_;
    const std::uint32_t count = 1 + random(2);
    const std::uint32_t channel = random(2);
    const auto peer = [](std::uint32_t rank) { return static_cast<std::int32_t>(rank); };
    add(from, sketch_.block(from, peer(to), peer(to), channel, call_), ProgramOp::send,
        source(count), in(0), count);
    const std::size_t block = sketch_.block(to, peer(from), peer(from), channel, call_);
    receive(to, block, count);
  }

  void receive(std::uint32_t rank, std::size_t block, std::uint32_t count) {
    const ProgramOp op = random(3) == 0 ? ProgramOp::recv_reduce_copy : ProgramOp::recv;
    add(rank, block, op, source(count), somewhere(count), count);
  }

  // The order in which the operations were drawn never gets stuck; this one may.
  void disturb() {
    for (int swaps = 0; swaps < 3; ++swaps) {
      const std::size_t rank = random(ranks_);
      const auto& blocks = program_.ranks[rank].blocks;
      if (blocks.empty()) continue;
      const std::size_t block = random(static_cast<std::uint32_t>(blocks.size()));
      const auto steps = static_cast<std::uint32_t>(blocks[block].steps.size());
      program_ = Mutations(program_, rank, block, random(steps)).swapped();
    }
  }

  [[nodiscard]] ProgramOp fused() {
    constexpr std::array<ProgramOp, 3> kFused = {
        ProgramOp::recv_copy_send, ProgramOp::recv_reduce_send, ProgramOp::recv_reduce_copy_send};
    return kFused.at(random(3));
  }

  // From rank 0 through rank 1 and 2 and back to another block of rank 1, and of rank 0.
  void bounce() {
    constexpr std::uint32_t kChannel = 3;
    const std::uint32_t count = 1 + random(2);
    const auto pass = [&](std::uint32_t rank, std::size_t block) {
      add(rank, block, fused(), source(count), somewhere(count), count);
    };
    add(0, sketch_.block(0, 1, kNoPeer, kChannel, call_), ProgramOp::send, source(count), in(0),
        count);
    pass(1, sketch_.block(1, 2, 0, kChannel, call_));
    pass(2, sketch_.block(2, 1, 1, kChannel, call_));
    pass(1, sketch_.block(1, 0, 2, kChannel, call_));
    receive(0, sketch_.block(0, kNoPeer, 1, kChannel, call_), count);
  }

  // Round the ranks, on a channel of its own.
  void pass_on() {
    const std::uint32_t first = random(ranks_);
    const std::uint32_t hops = 1 + random(ranks_);
    const std::uint32_t count = 1 + random(2);
    const auto block = [&](std::uint32_t rank) {
      return sketch_.block(rank, static_cast<std::int32_t>((rank + 1) % ranks_),
                           static_cast<std::int32_t>((rank + ranks_ - 1) % ranks_), 2, call_);
    };
    add(first, block(first), ProgramOp::send, source(count), in(0), count);
    for (std::uint32_t hop = 1; hop < hops; ++hop) {
      const std::uint32_t rank = (first + hop) % ranks_;
      add(rank, block(rank), fused(), source(count), somewhere(count), count);
    }
    const std::uint32_t last = (first + hops) % ranks_;
    receive(last, block(last), count);
  }

  std::mt19937 random_;
  std::uint32_t ranks_;
  bool in_place_;
  std::uint32_t wait_percent_;
  std::uint32_t call_ = 0;
  Sketch sketch_;
  Program program_;
};

// What one execution leaves in the outputs, where all of it is made of inputs.
void promise_what_comes_out(Program& program, const Outcome& outcome) {
  const ProgramStorage storage(program);
  for (std::uint32_t r = 0; r < program.num_ranks(); ++r) {
    for (std::uint32_t k = 0; k < program.chunks; ++k) {
      const Sum& value = outcome.memory[0][r][storage.place(r, ProgramBuffer::output, k)];
      if (!value.empty() && value.back().rank < program.num_ranks()) {
        program.promises.push_back({r, k, value});
      }
    }
  }
}

}  // namespace

TEST_CASE("Accepted random programs have one result, and refused ones show the violation") {
  std::size_t accepted = 0;
  std::size_t deadlocks = 0;
  std::size_t races = 0;
  std::size_t harmful = 0;
  test::ShareOfCases share(20);
  for (std::uint32_t seed = 0; seed < 3000; ++seed) {
    if (!share.take()) continue;
    CAPTURE(seed);
    RandomProgram random(seed);
    Program& program = random.program();
    ProgramLimits limits;
    limits.slots = 1 + seed % 3;
    limits.chunks_per_slot = seed % 2;
    // A disturbed one may mix up its messages; then there is nothing to execute.
    const ProgramCertificate form = certify_program(program, limits);
    if (has(form, Kind::malformed) || has(form, Kind::unmatched)) continue;
    const Outcome outcome = RandomExecution(program, limits_of(limits, 1), seed).run();
    if (!outcome.is_stuck) promise_what_comes_out(program, outcome);
    const ProgramCertificate certificate = certify_program(program, limits);
    CAPTURE(text_of(certificate));
    REQUIRE(has(certificate, Kind::deadlock) == outcome.is_stuck);
    if (certificate.ok()) {
      ++accepted;
      expect_right(program, limits, 0, seed * 1000);
    } else if (has(certificate, Kind::deadlock)) {
      ++deadlocks;
    } else if (!has(certificate, Kind::race)) {
      // Then the execution that made the promise is like all others.
      REQUIRE(has(certificate, Kind::uninitialised));
      REQUIRE_FALSE(has(certificate, Kind::postcondition));
      REQUIRE(outcome.has_read_nothing);
    } else {
      ++races;
      const Shown shown = execute(program, limits, 0, seed * 1000, 60,
                                  [](const Shown& s) { return s.different + s.wrong != 0; });
      harmful += shown.different + shown.wrong != 0 ? 1U : 0U;
      REQUIRE(shows_race(program, seed));
    }
  }
  std::cout << "random programs: " << accepted << " accepted, " << deadlocks << " deadlocks, "
            << races << " races of which " << harmful << " harmful\n";
  if (test::kSanitized) return;
  REQUIRE(accepted >= 300);
  REQUIRE(deadlocks >= 30);
  REQUIRE(harmful * 10 >= races * 8);
}
