// Steps that heal one fault, or make it simpler.
#include "shrink_steps.h"

namespace espalier::fuzz {

namespace {

template <class Fault>
void add_without_one(const FuzzCase& from, std::vector<Fault> FaultsConfig::*list,
                     std::vector<FuzzCase>& cases) {
  for (std::size_t i = 0; i < (from.point.faults.*list).size(); ++i) {
    auto& faults = cases.emplace_back(from).point.faults.*list;
    faults.erase(faults.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace

std::vector<FuzzCase> with_fewer_faults(const FuzzCase& from) {
  std::vector<FuzzCase> cases;
  add_without_one(from, &FaultsConfig::slow_links, cases);
  add_without_one(from, &FaultsConfig::late_nis, cases);
  add_without_one(from, &FaultsConfig::clock_skew, cases);
  for (std::size_t i = 0; i < from.point.faults.slow_links.size(); ++i) {
    const SlowLink& slow = from.point.faults.slow_links[i];
    if (slow.bytes_per_second == 0 || slow.latency_ps == 0) continue;
    cases.emplace_back(from).point.faults.slow_links[i].bytes_per_second = 0;
    cases.emplace_back(from).point.faults.slow_links[i].latency_ps = 0;
  }
  if (from.point.faults.post_spread.max_cycles != 0) {
    cases.emplace_back(from).point.faults.post_spread = {};
  }
  if (!from.point.faults.dma_jitter) return cases;
  cases.emplace_back(from).point.faults.dma_jitter.reset();
  if (from.point.faults.dma_jitter->max_cycles > 1) {
    cases.emplace_back(from).point.faults.dma_jitter->max_cycles /= 2;
  }
  for (std::size_t i = 0; from.point.faults.dma_jitter->nodes.size() > 1 &&
                          i < from.point.faults.dma_jitter->nodes.size();
       ++i) {
    auto& nodes = cases.emplace_back(from).point.faults.dma_jitter->nodes;
    nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return cases;
}

}  // namespace espalier::fuzz
