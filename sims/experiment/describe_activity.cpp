#include "sims/experiment/describe_activity.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/topology/link_timing.h"

namespace espalier {

namespace {

constexpr double kLongestPeriodNs = 100'000;
constexpr Cycle kFewestPeriods = 10;

struct Span {
  Cycle begin = 0;
  Cycle end = 0;
};

// Their union, in order.
std::vector<Span> merged(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.begin < b.begin; });
  std::vector<Span> result;
  for (const Span& span : spans) {
    if (result.empty() || span.begin > result.back().end) {
      result.push_back(span);
    } else {
      result.back().end = std::max(result.back().end, span.end);
    }
  }
  return result;
}

}  // namespace

void describe_activity(nlohmann::ordered_json& result, const RunPoint& point,
                       const DimensionPlan& plan, const std::vector<StageSpan>& stages) {
  Cycle end = 0;
  for (const StageSpan& stage : stages) end = std::max(end, stage.end);
  if (end == 0) return;
  const double ns_per_cycle = nanoseconds(1, point.system.clock);
  double period_ns = kLongestPeriodNs;
  while (period_ns > ns_per_cycle && static_cast<double>(end) * ns_per_cycle <
                                         period_ns * static_cast<double>(kFewestPeriods)) {
    period_ns /= 10;
  }
  const Cycle period = std::max<Cycle>(1, static_cast<Cycle>(period_ns / ns_per_cycle));
  auto& activity = result["activity"];
  activity["period_ns"] = nanoseconds(period, point.system.clock);
  for (std::uint32_t d = 0; d < plan.dimensions.size(); ++d) {
    std::vector<Span> spans;
    for (const StageSpan& stage : stages) {
      const bool here = plan.chunks[stage.stage.chunk].stages[stage.stage.stage].dimension == d;
      if (here) spans.push_back({stage.ready, stage.end});
    }
    std::vector<Cycle> active(end / period + 1, 0);
    for (const Span& span : merged(spans)) {
      for (Cycle at = span.begin; at < span.end;) {
        const Cycle until = std::min(span.end, (at / period + 1) * period);
        active[at / period] += until - at;
        at = until;
      }
    }
    auto rates = nlohmann::ordered_json::array();
    for (std::size_t p = 0; p < active.size(); ++p) {
      const Cycle length = std::min(period, end - p * period);  // the last one ends early
      if (length != 0) {
        rates.push_back(static_cast<double>(active[p]) / static_cast<double>(length));
      }
    }
    activity[fmt::format("dim{}", d + 1)] = std::move(rates);
  }
}

}  // namespace espalier
