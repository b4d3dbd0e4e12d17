#include "observation.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <exception>
#include <optional>
#include <tuple>

#include "fuzz_case.h"
#include "model_test_support.h"
#include "sims/choose/choose.h"
#include "sims/system/simulation.h"
#include "tests/support/share_of_cases.h"

namespace espalier::fuzz {

namespace {

// A case takes milliseconds; one that hangs must not stop the campaign. A planner may need seconds,
// above all under sanitizers, and is not what is compared.
constexpr rlim_t kMostSecondsToPlan = 60;
constexpr rlim_t kMostSecondsToSimulate = test::kSanitized ? 30 : 3;
constexpr std::size_t kNumbersPerDelivery = 9;
constexpr std::array<const char*, 11> kQuantities{"complete",
                                                  "verified",
                                                  "cycles",
                                                  "flit_hops",
                                                  "flits_injected",
                                                  "head_flits",
                                                  "ni_ports",
                                                  "max latency",
                                                  "latency (sum)",
                                                  "messages delivered",
                                                  "link utilization (1e-12)"};

// From here on, this process may use `seconds` of processor time.
void limit_cpu_time(rlim_t seconds) {
  const rlim_t used = static_cast<rlim_t>(std::clock() / CLOCKS_PER_SEC) + 1;
  rlimit limit{};
  getrlimit(RLIMIT_CPU, &limit);
  limit.rlim_cur = std::min(used + seconds, limit.rlim_max);
  setrlimit(RLIMIT_CPU, &limit);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
}

std::uint64_t as_number(double value) { return static_cast<std::uint64_t>(std::llround(value)); }

test::Numbers quantities_of(const SimulationOutcome& o) {
  test::Numbers numbers{o.complete ? 1U : 0U,
                        o.verified ? 1U : 0U,
                        o.cycles,
                        o.flit_hops,
                        o.flits_injected,
                        o.head_flits,
                        o.ni_ports,
                        o.latency.max_cycles,
                        as_number(o.latency.mean_cycles * static_cast<double>(o.latency.messages)),
                        o.latency.messages,
                        as_number(o.link_utilization_mean * 1e12)};
  for (const std::uint64_t n : test::counts_of(o.counters)) numbers.push_back(n);
  return numbers;
}

ScheduleTables tables_of(const Topology& topology, const RunPoint& point) {
  CollectiveConfig collective = *point.collective;
  fit_collective(collective, topology.num_nodes());
  return generate_tables(topology, point.system, collective);
}

test::Report simulate(const Topology& topology, const RunPoint& point) {
  limit_cpu_time(kMostSecondsToPlan);
  const std::optional<ScheduleTables> tables =
      point.traffic ? std::nullopt : std::optional(tables_of(topology, point));
  limit_cpu_time(kMostSecondsToSimulate);
  test::Numbers deliveries;
  SimulationHooks hooks;
  hooks.delivered = [&](const Operation& o, Cycle now) {
    const Cycle posted = point.traffic ? o.ready : 0;
    for (const std::uint64_t n :
         {std::uint64_t{o.from.index()}, std::uint64_t{o.to.index()}, std::uint64_t{o.flow.index()},
          static_cast<std::uint64_t>(o.on_arrival), std::uint64_t{o.first_chunk.index()}, o.bytes,
          posted, o.ready, now}) {
      deliveries.push_back(n);
    }
  };
  const SimulationOutcome outcome = tables ? simulate_collective(topology, point, *tables, hooks)
                                           : simulate_traffic(topology, point, hooks);
  test::Report report{quantities_of(outcome), outcome.failure};
  report.numbers.insert(report.numbers.end(), deliveries.begin(), deliveries.end());
  return report;
}

DeliveredMessage delivery_from(const std::uint64_t* n) {
  return {{n[0], n[1], n[2], n[3], n[4], n[5], n[6]}, n[7], n[8]};
}

auto members(const MessageKey& k) {
  return std::tie(k.from, k.to, k.flow, k.kind, k.first_chunk, k.bytes, k.ready);
}

}  // namespace

bool operator<(const MessageKey& a, const MessageKey& b) { return members(a) < members(b); }
bool operator==(const MessageKey& a, const MessageKey& b) { return members(a) == members(b); }

Observation observe(const Topology& topology, const RunPoint& point) {
  Observation seen;
  test::Report report;
  try {
    report = test::in_child([&] { return simulate(topology, point); });
  } catch (const std::exception& error) {
    seen.words = error.what();
    return seen;
  }
  seen.ended = true;
  seen.words = report.text;
  std::vector<const char*> names(kQuantities.begin(), kQuantities.end());
  for (const CounterRow& row : counter_rows()) names.push_back(row.name);
  for (std::size_t q = 0; q < names.size(); ++q) {
    seen.quantities.push_back({names[q], report.numbers[q]});
  }
  for (std::size_t at = names.size(); at < report.numbers.size(); at += kNumbersPerDelivery) {
    seen.deliveries.push_back(delivery_from(report.numbers.data() + at));
  }
  std::sort(seen.deliveries.begin(), seen.deliveries.end(), [](const auto& a, const auto& b) {
    return std::tie(a.key, a.delivered) < std::tie(b.key, b.delivered);
  });
  return seen;
}

}  // namespace espalier::fuzz
