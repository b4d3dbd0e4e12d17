// Shared by program_certifier.cpp and certify_program_*.cpp.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "alg/program/program.h"
#include "alg/program/program_certifier.h"

namespace espalier::program_certifier {

inline constexpr std::uint32_t kNone = 0xffffffff;
inline constexpr auto kMalformed = ProgramViolationKind::malformed;

// The place of a violation: a rank, one of its blocks, one of its steps; -1: none.
struct Site {
  std::int32_t gpu = -1;
  std::int32_t tb = -1;
  std::int32_t step = -1;
  std::uint32_t line = 0;
};
[[nodiscard]] Site site_of(const Program& program, std::size_t rank);
[[nodiscard]] Site site_of(const Program& program, std::size_t rank, std::size_t block);
[[nodiscard]] Site site_of(const Program& program, std::size_t rank, std::size_t block,
                           std::size_t step);
// "gpu 1 tb 0 step 3", without the missing parts.
[[nodiscard]] std::string name_of(const Site& site);

// Collects violations: the first few of each kind as texts, and the number of all.
class Findings {
 public:
  template <class... Args>
  void add(ProgramViolationKind kind, const Site& site, fmt::format_string<Args...> text,
           Args&&... args) {
    add_described(kind, site, [&] { return fmt::format(text, std::forward<Args>(args)...); });
  }
  // `what` makes the text, if it is listed.
  template <class Describe>
  void add_described(ProgramViolationKind kind, const Site& site, Describe&& what) {
    const auto k = static_cast<std::size_t>(kind);
    if (listed_.at(k).size() < ProgramCertificate::kListedPerKind) {
      listed_.at(k).push_back(
          {kind, site.gpu, site.tb, site.step, site.line, std::forward<Describe>(what)()});
    }
    ++count_.at(k);
  }
  [[nodiscard]] std::size_t count(ProgramViolationKind kind) const {
    return count_.at(static_cast<std::size_t>(kind));
  }
  // By kind, then in the order of their discovery.
  [[nodiscard]] std::vector<ProgramViolation> list() const;

 private:
  static constexpr std::size_t kKinds = 7;
  std::array<std::vector<ProgramViolation>, kKinds> listed_;
  std::array<std::size_t, kKinds> count_{};
};

// The program as arrays of all blocks, steps and connections of all ranks, with resolved
// references. A number of a block, step or connection is an index into these arrays.
struct FlatStep {
  const ProgramStep* step = nullptr;
  std::uint32_t block = 0;
  std::uint32_t position = 0;         // index in the block
  std::uint32_t waits_for = kNone;    // step
  std::uint32_t message_of = kNone;   // for a receive: the sending step
  std::uint32_t received_by = kNone;  // for a send: the receiving step
};
struct FlatBlock {
  std::uint32_t rank = 0;
  std::uint32_t number = 0;
  std::uint32_t call = 0;
  std::uint32_t first = 0;  // steps [first, end), without trailing nops, which have no effect
  std::uint32_t end = 0;
  std::uint32_t in = kNone;   // connection
  std::uint32_t out = kNone;  // connection
};
struct FlatConnection {
  std::uint32_t sender = kNone;         // block
  std::uint32_t receiver = kNone;       // block
  std::vector<std::uint32_t> sends;     // steps, in order
  std::vector<std::uint32_t> receives;  // steps, in order
};
struct FlatProgram {
  // Precondition: check_form found nothing. Messages are not paired yet.
  explicit FlatProgram(const Program& program);

  [[nodiscard]] Site site(std::uint32_t step) const;
  [[nodiscard]] std::string name(std::uint32_t step) const { return name_of(site(step)); }
  [[nodiscard]] const FlatBlock& block_of(std::uint32_t step) const {
    return blocks[steps[step].block];
  }

  const Program& program;
  std::vector<FlatStep> steps;
  std::vector<FlatBlock> blocks;
  std::vector<std::uint32_t> first_block;  // by rank, with an entry for the end
  std::vector<FlatConnection> connections;
};

// Both report malformed programs.
void check_form(const Program& program, Findings& findings);
void check_step_form(const Program& program, std::size_t rank, std::size_t block,
                     Findings& findings);
// Checks the owners of the ends of connections. Precondition: peers are ranks of the program.
void check_ends(const Program& program, Findings& findings);

// Pairs the k-th send with the k-th receive of every connection, or reports why it cannot.
void pair_messages(FlatProgram& flat, Findings& findings);

// Returns the steps in an order of execution with unlimited slots; empty if the program has a
// deadlock with limited or unlimited slots, which is reported. Fills in least_slots.
[[nodiscard]] std::vector<std::uint32_t> check_deadlock(const FlatProgram& flat,
                                                        const ProgramLimits& limits,
                                                        ProgramCertificate& certificate,
                                                        Findings& findings);

void check_races(const FlatProgram& flat, const std::vector<std::uint32_t>& order,
                 const ProgramStorage& storage, Findings& findings);

// Follows the data through `order`, and checks reads and the final outputs. Fills in the root and
// whether promises are known.
void check_data(const FlatProgram& flat, const std::vector<std::uint32_t>& order,
                const ProgramStorage& storage, ProgramCertificate& certificate, Findings& findings);

// Fills in most_contexts and most_steps, and reports exceeded limits.
void check_capacity(const Program& program, const ProgramLimits& limits,
                    ProgramCertificate& certificate, Findings& findings);

}  // namespace espalier::program_certifier
