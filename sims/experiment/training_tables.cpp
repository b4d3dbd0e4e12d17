#include "sims/experiment/training_tables.h"

#include <algorithm>
#include <map>
#include <utility>

#include "alg/schedule/schedule_table.h"
#include "sims/choose/certify_point.h"
#include "sims/choose/choose.h"
#include "sims/point/config.h"

namespace espalier {

namespace {

TrainingTables layerwise_tables(const Topology& topology, const RunPoint& point,
                                const Choices& choices) {
  const CollectiveConfig& collective = *point.collective;
  const IterationPlan plan = plan_iteration(*point.training);
  std::map<Bytes, ScheduleTables> by_size;  // layers of one size share a schedule
  std::vector<const ScheduleTables*> parts;
  for (const GradientPost& post : plan.posts) {
    CollectiveConfig part = collective;
    part.size = post.parameters * collective.element_bytes;
    auto found = by_size.find(part.size);
    if (found == by_size.end()) {
      found =
          by_size.emplace(part.size, generate_tables(topology, point.system, part, choices)).first;
    }
    parts.push_back(&found->second);
  }
  TableSequence sequence = concatenate(topology, parts);
  TrainingTables result(std::move(sequence.tables));
  store_rows(result.tables, point.system.ni);
  std::map<Bytes, std::string> taken;
  for (const auto& [size, tables] : by_size) {
    if (!tables.taken.empty()) taken.emplace(size, tables.taken);
  }
  result.tables.choice = choices_text(taken);
  for (std::size_t p = 0; p < plan.posts.size(); ++p) {
    result.posts.push_back({sequence.first_step[p], sequence.first_chunk[p], plan.posts[p].at});
  }
  result.largest = std::move(by_size.rbegin()->second);
  return result;
}

// Cycles up to `end` that at least one span covers.
Cycle covered(std::vector<CollectiveSpan> spans, Cycle end) {
  std::sort(spans.begin(), spans.end(), [](const CollectiveSpan& a, const CollectiveSpan& b) {
    return a.first_issue < b.first_issue;
  });
  Cycle sum = 0;
  Cycle reached = 0;
  for (const CollectiveSpan& span : spans) {
    const Cycle from = std::max(reached, span.first_issue);
    const Cycle to = std::min(end, span.last_visible);
    if (to <= from) continue;
    sum += to - from;
    reached = to;
  }
  return sum;
}

}  // namespace

TrainingTables training_tables(const Topology& topology, const RunPoint& point,
                               const Choices& choices) {
  if (point.training->overlap == Overlap::layerwise) {
    return layerwise_tables(topology, point, choices);
  }
  return single_all_reduce(generate_tables(topology, point.system, *point.collective, choices));
}

TrainingTables single_all_reduce(ScheduleTables tables) {
  TrainingTables result(std::move(tables));
  result.posts.emplace_back();
  return result;
}

Certificate certify_training(const Topology& topology, const RunPoint& point,
                             const TrainingTables& tables) {
  if (!tables.largest) return certify_point(topology, point, tables.tables);
  RunPoint unlimited = point;
  unlimited.system.ni.table_entries = 0;
  Certificate all = certify_point(topology, unlimited, tables.tables);
  const Certificate largest = certify_point(topology, point, *tables.largest);
  all.most_table_entries = largest.most_table_entries;
  for (const Violation& violation : largest.violations) {
    if (violation.kind == ViolationKind::capacity) all.violations.push_back(violation);
  }
  return all;
}

IterationPlan plan_iteration(const TrainingConfig& training) {
  return plan_iteration(training.layers, training.mini_batch, training.compute);
}

IterationTimes iteration_times(const IterationPlan& plan, Overlap overlap,
                               const std::vector<CollectiveSpan>& collectives) {
  IterationTimes times;
  times.forward = plan.forward;
  times.backward = plan.backward;
  times.all_reduce = covered(collectives, kNever);
  Cycle last_visible = 0;
  for (const CollectiveSpan& span : collectives) {
    last_visible = std::max(last_visible, span.last_visible);
  }
  if (overlap == Overlap::none) {
    times.iteration = plan.compute() + last_visible;
    return times;
  }
  times.overlapped = covered(collectives, plan.backward);
  times.iteration = plan.forward + std::max(plan.backward, last_visible);
  return times;
}

}  // namespace espalier
