#include "alg/certify/certifier.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>

#include "alg/certify/certifier_parts.h"
#include "alg/certify/stage_proof.h"
#include "alg/plans/dimension_plan.h"

namespace espalier {
namespace {

using certifier::Findings;

// Time and memory of a proof grow with the square of this size.
constexpr std::uint32_t kLargestProven = 4096;

std::string describe(const DimensionPlan& plan, StageRef ref) {
  const PlannedStage& s = plan.chunks[ref.chunk].stages[ref.stage];
  return fmt::format("chunk {} stage {} ({} on dim{})", ref.chunk, ref.stage, to_string(s.kind),
                     s.dimension + 1);
}

// ---- form ----

void check_dimensions(const DimensionPlan& plan, Findings& findings) {
  const auto malformed = [&](const std::string& what) {
    findings.add(ViolationKind::malformed, "{}", what);
  };
  if (plan.op == CollectiveOp::all_to_all)
    malformed("a dimension plan cannot carry out an all_to_all");
  if (plan.dimensions.empty()) malformed("the plan has no dimensions");
  constexpr std::uint64_t kMostNodes = std::uint64_t{1} << 31;
  std::uint64_t nodes = 1;
  for (std::size_t d = 0; d < plan.dimensions.size(); ++d) {
    const PlannedDimension& dimension = plan.dimensions[d];
    if (!suits(dimension.algorithm, dimension.size)) {
      malformed(fmt::format("dim{}: {} does not run on a dimension of {} NPUs", d + 1,
                            to_string(dimension.algorithm), dimension.size));
    }
    if (dimension.size > kLargestProven) {
      malformed(fmt::format("dim{} has {} NPUs; the certifier proves dimensions of at most {} NPUs",
                            d + 1, dimension.size, kLargestProven));
    }
    if (nodes <= kMostNodes) nodes *= dimension.size;
  }
  if (nodes > kMostNodes)
    malformed(fmt::format("the plan's dimensions have more than {} NPUs in all", kMostNodes));
}

void check_chunks(const DimensionPlan& plan, Findings& findings) {
  Bytes end = 0;
  for (std::size_t c = 0; c < plan.chunks.size(); ++c) {
    const PlannedChunk& chunk = plan.chunks[c];
    if (chunk.offset != end) {
      findings.add(
          ViolationKind::malformed, "chunk {} begins at byte {}, but {} at byte {}", c,
          chunk.offset,
          c == 0 ? std::string("the collective begins") : fmt::format("chunk {} ends", c - 1), end);
    }
    end = chunk.offset + chunk.size;
    for (std::size_t s = 0; s < chunk.stages.size(); ++s) {
      if (chunk.stages[s].dimension < plan.dimensions.size()) continue;
      findings.add(ViolationKind::malformed,
                   "chunk {} stage {} is on dim{}, but the plan has {} dimensions", c, s,
                   chunk.stages[s].dimension + 1, plan.dimensions.size());
    }
  }
  if (end != plan.size) {
    findings.add(ViolationKind::malformed,
                 "the chunks end at byte {}, but the collective ends at byte {}", end, plan.size);
  }
}

void check_order_form(const DimensionPlan& plan, Findings& findings) {
  if (plan.start_order.empty()) return;
  if (plan.start_order.size() != plan.dimensions.size()) {
    findings.add(ViolationKind::malformed,
                 "the plan has start orders for {} dimensions, but it has {} dimensions",
                 plan.start_order.size(), plan.dimensions.size());
    return;
  }
  for (std::size_t d = 0; d < plan.start_order.size(); ++d) {
    for (std::size_t i = 0; i < plan.start_order[d].size(); ++i) {
      const StageRef ref = plan.start_order[d][i];
      if (ref.chunk >= plan.chunks.size() || ref.stage >= plan.chunks[ref.chunk].stages.size()) {
        findings.add(ViolationKind::malformed,
                     "start {} of dim{} names chunk {} stage {}, which does not exist", i, d + 1,
                     ref.chunk, ref.stage);
      } else if (plan.chunks[ref.chunk].stages[ref.stage].dimension != d) {
        findings.add(ViolationKind::malformed,
                     "start {} of dim{} names {}, which is on another dimension", i, d + 1,
                     describe(plan, ref));
      }
    }
  }
}

// ---- postcondition ----

// The reason why `stages` do not form the collective; empty if they do.
std::string stages_problem(const DimensionPlan& plan, const std::vector<PlannedStage>& stages) {
  constexpr std::size_t kNone = ~std::size_t{0};
  const bool reduces = plan.op != CollectiveOp::all_gather;
  const bool gathers = plan.op != CollectiveOp::reduce_scatter;
  std::vector<std::size_t> reduced_in(plan.dimensions.size(), kNone);  // stage
  std::vector<std::size_t> gathered_in(plan.dimensions.size(), kNone);
  std::size_t first_gather = kNone;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const bool is_reduction = stages[s].kind == StageKind::reduce_scatter;
    const std::uint32_t d = stages[s].dimension;
    if (is_reduction ? !reduces : !gathers) {
      return fmt::format("stage {} ({} on dim{}) does not belong to the collective {}", s,
                         to_string(stages[s].kind), d + 1, to_string(plan.op));
    }
    std::size_t& done_in = is_reduction ? reduced_in[d] : gathered_in[d];
    if (done_in != kNone) {
      return fmt::format("stages {} and {} are both {} on dim{}", done_in, s,
                         to_string(stages[s].kind), d + 1);
    }
    done_in = s;
    if (is_reduction && first_gather != kNone) {
      return fmt::format("stage {} reduces on dim{}, but stage {} has already gathered on dim{}", s,
                         d + 1, first_gather, stages[first_gather].dimension + 1);
    }
    if (!is_reduction && first_gather == kNone) first_gather = s;
  }
  for (std::size_t d = 0; d < plan.dimensions.size(); ++d) {
    if (reduces && reduced_in[d] == kNone) {
      return fmt::format("there is no reduce_scatter on dim{}", d + 1);
    }
    if (gathers && gathered_in[d] == kNone) {
      return fmt::format("there is no all_gather on dim{}", d + 1);
    }
  }
  for (std::size_t s = first_gather; reduces && gathers && s < stages.size(); ++s) {
    const std::uint32_t expected = stages[stages.size() - 1 - s].dimension;
    if (stages[s].dimension == expected) continue;
    return fmt::format(
        "stage {} gathers on dim{}, but must gather on dim{}: an all_reduce gathers in the reverse "
        "order of its reduction",
        s, stages[s].dimension + 1, expected + 1);
  }
  return {};
}

// A chunk that visits every dimension once is right if each dimension's stage is right. The groups
// of the dimension partition the NPUs. All NPUs of a group have the same part of the chunk, because
// it depends on the coordinates in the dimensions visited before, which are equal in the group. And
// each NPU's sum covers a product set of NPUs, which the stage extends by the dimension.
void check_stages(const DimensionPlan& plan, Findings& findings) {
  for (std::size_t c = 0; c < plan.chunks.size(); ++c) {
    std::string problem = stages_problem(plan, plan.chunks[c].stages);
    if (problem.empty()) continue;
    findings.add(ViolationKind::postcondition, "chunk {}: {}", c, problem);
  }
}

void prove_algorithms(const DimensionPlan& plan, Findings& findings) {
  std::set<std::pair<DimensionAlgorithm, std::uint32_t>> proven;
  for (const PlannedDimension& d : plan.dimensions) {
    if (!proven.emplace(d.algorithm, d.size).second) continue;
    const StageSteps steps(d.algorithm, d.size);
    for (const StageKind kind : {StageKind::reduce_scatter, StageKind::all_gather}) {
      const bool idle = kind == StageKind::reduce_scatter ? plan.op == CollectiveOp::all_gather
                                                          : plan.op == CollectiveOp::reduce_scatter;
      if (idle) continue;
      if (const auto fault = StageProof<StageSteps>(steps, kind).run()) {
        findings.add(fault->kind, "{}", fault->what);
      }
    }
  }
}

// ---- deadlock ----

// All NPUs start a dimension's stages in one order. A stage that all its NPUs have started ends and
// frees its places. So a stage waits forever only in a cycle of two kinds of waits: for the
// previous stage in the dimension's order, and for the previous stage of its chunk.
class StartOrderCheck {
 public:
  StartOrderCheck(const DimensionPlan& plan, Findings& findings)
      : plan_(plan),
        findings_(findings),
        started_(plan.dimensions.size(), 0),
        ended_(plan.chunks.size(), 0) {}

  void run(std::uint32_t in_flight) {
    if (!names_each_once()) return;
    if (in_flight == 0 && !plan_.chunks.empty()) {
      findings_.add(
          ViolationKind::deadlock,
          "no stage can start, because 0 stages may be in flight in a dimension; allowed is 1 or "
          "more");
      return;
    }
    advance();
    for (std::uint32_t d = 0; d < started_.size(); ++d) {
      if (started_[d] == plan_.start_order[d].size()) continue;
      findings_.add_described(ViolationKind::deadlock, [&] { return cycle_from(d); });
      return;
    }
  }

 private:
  [[nodiscard]] bool names_each_once() {
    std::vector<std::vector<bool>> named;
    for (const PlannedChunk& c : plan_.chunks) named.emplace_back(c.stages.size(), false);
    bool right = true;
    const auto add = [&](StageRef ref, const char* what) {
      right = false;
      findings_.add(ViolationKind::deadlock, "{} {}", describe(plan_, ref), what);
    };
    for (const auto& order : plan_.start_order) {
      for (const StageRef ref : order) {
        if (named[ref.chunk][ref.stage]) add(ref, "is named twice in the start orders");
        named[ref.chunk][ref.stage] = true;
      }
    }
    for (std::size_t c = 0; c < named.size(); ++c) {
      for (std::size_t s = 0; s < named[c].size(); ++s) {
        if (named[c][s]) continue;
        add({static_cast<std::uint32_t>(c), static_cast<std::uint32_t>(s)},
            "is not named in the start orders");
      }
    }
    return right;
  }

  [[nodiscard]] const StageRef* next_of(std::uint32_t dimension) const {
    const std::vector<StageRef>& order = plan_.start_order[dimension];
    return started_[dimension] < order.size() ? &order[started_[dimension]] : nullptr;
  }

  // Runs every stage that can run. The order of execution does not change which stages remain.
  void advance() {
    std::vector<std::uint32_t> candidates;
    for (std::uint32_t d = 0; d < started_.size(); ++d) candidates.push_back(d);
    while (!candidates.empty()) {
      const std::uint32_t d = candidates.back();
      candidates.pop_back();
      for (const StageRef* next = next_of(d); next != nullptr && ended_[next->chunk] == next->stage;
           next = next_of(d)) {
        ++started_[d];
        const std::vector<PlannedStage>& stages = plan_.chunks[next->chunk].stages;
        const std::uint32_t after = ++ended_[next->chunk];
        if (after < stages.size() && stages[after].dimension != d) {
          candidates.push_back(stages[after].dimension);
        }
      }
    }
  }

  // Precondition: no stage can run, and `dimension` has a stage that waits.
  [[nodiscard]] std::string cycle_from(std::uint32_t dimension) const {
    std::vector<bool> seen(started_.size(), false);
    while (!seen[dimension]) {
      seen[dimension] = true;
      dimension = awaited_dimension(dimension);
    }
    std::string text;
    const std::uint32_t first = dimension;
    do {
      const StageRef waiting = *next_of(dimension);
      const StageRef awaited{waiting.chunk, ended_[waiting.chunk]};
      dimension = awaited_dimension(dimension);
      const bool is_next = *next_of(dimension) == awaited;
      text += fmt::format("{}{} waits for {}", text.empty() ? "" : "; ", describe(plan_, waiting),
                          describe(plan_, awaited));
      if (!is_next) {
        text += fmt::format(", which dim{} starts after {}", dimension + 1,
                            describe(plan_, *next_of(dimension)));
      }
    } while (dimension != first);
    return text;
  }

  [[nodiscard]] std::uint32_t awaited_dimension(std::uint32_t dimension) const {
    const std::uint32_t chunk = next_of(dimension)->chunk;
    return plan_.chunks[chunk].stages[ended_[chunk]].dimension;
  }

  const DimensionPlan& plan_;
  Findings& findings_;
  std::vector<std::size_t> started_;  // by dimension
  std::vector<std::uint32_t> ended_;  // by chunk
};

}  // namespace

std::vector<Violation> certify_dimension_plan(const DimensionPlan& plan, std::uint32_t in_flight) {
  Findings findings;
  check_dimensions(plan, findings);
  check_chunks(plan, findings);
  check_order_form(plan, findings);
  if (findings.count(ViolationKind::malformed) != 0) return findings.list();
  check_stages(plan, findings);
  prove_algorithms(plan, findings);
  if (!plan.start_order.empty()) StartOrderCheck(plan, findings).run(in_flight);
  return findings.list();
}

}  // namespace espalier
