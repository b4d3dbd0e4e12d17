// The search for waves where slots hold the order of messages and a table lists every message:
// their order need not have a period (alg/packing/justify_sends.cpp).
#include <algorithm>
#include <optional>
#include <utility>

#include "alg/generators/segment_choice.h"

namespace espalier {

namespace {

constexpr std::uint32_t kFewestJustified = 4;
constexpr std::size_t kManyJustifiedSends =
    500'000;                        // above this, a single number of waves is planned
constexpr double kHopeless = 1.01;  // times other trees: no number of waves makes up for it

}  // namespace

// The number of waves near `wanted` whose messages have the fewest flits. Segments are whole flits,
// so some numbers of waves send more flits than the data need.
std::uint32_t SegmentChoice::well_cut(Bytes unit, std::uint32_t wanted) const {
  std::uint32_t best = wanted;
  std::uint64_t least = ~std::uint64_t{0};
  for (std::uint32_t w = std::max(1U, wanted - wanted / 8); w <= wanted + wanted / 8; ++w) {
    const std::uint64_t flits = w * request_.timing.flits(segment_bytes(unit, w));
    if (flits >= least) continue;
    least = flits;
    best = w;
  }
  return best;
}

void SegmentChoice::consider_justified(const TreeOps& trees, std::uint32_t waves) {
  const Bytes unit = unit_bytes(trees);
  std::optional<Passing> best;
  std::uint32_t best_waves = 0;
  const auto try_waves = [&](std::uint32_t wanted) {
    Passing p;
    p.segment = segment_bytes(unit, wanted);
    p.together = static_cast<std::uint32_t>((unit + p.segment - 1) / p.segment);
    if (p.together < 2 || p.together == best_waves) return false;
    p.rows = rows_of(trees.ops) * p.together;
    const WaveTask task = task_of(trees, p.segment);
    const WavePlan wave = plan_wave(task, true);
    // The busiest link's time, which gaps cannot shorten.
    const double least = static_cast<double>(wave.period_ps) / wave.stretch * (p.together - 1);
    const Passing* rival = best ? &*best : best_ ? &passing_ : nullptr;
    if (rival != nullptr && least >= static_cast<double>(rival->time_ps)) return false;
    p.plan = justified(task, wave, p.together);
    p.time_ps = p.plan.end_ps(1);
    if (best && p.time_ps >= best->time_ps) return false;
    best_waves = p.together;
    best = std::move(p);
    return true;
  };
  if (request_.segments != 0) {
    try_waves(request_.segments);
  } else {
    // Gaps at the ends are filled, so half of the waves of the best periodic plan are enough.
    const auto most = static_cast<std::uint32_t>(
        std::min<std::size_t>(waves, kMostListedSends / trees.ops.size()));
    const std::uint32_t first = well_cut(unit, std::min(most, waves / 2));
    if (!try_waves(first)) return;
    const auto of_best = static_cast<double>(best->time_ps);
    if (best_ && of_best > kHopeless * static_cast<double>(passing_.time_ps)) return;
    if (trees.ops.size() * first <= kManyJustifiedSends) {
      for (std::uint32_t w = first / 2; w >= kFewestJustified && try_waves(well_cut(unit, w));) {
        w /= 2;
      }
      const std::uint32_t found = best_waves;
      try_waves(well_cut(unit, found - found / 4));
      if (found == first) try_waves(well_cut(unit, std::min(most, found + found / 2)));
    }
  }
  if (best) consider_passing(trees, std::move(*best));
}

}  // namespace espalier
