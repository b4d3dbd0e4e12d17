// Systems with external routers, and the log of a run that must not depend on them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model_test_support.h"
#include "sims/system/elaboration.h"
#include "sims/system/simulation.h"
#include "tests/model/signal_router.h"

namespace espalier::test {

// Built-in routers behind signals, in place of the routers in the configuration.
class SignalRouters {
 public:
  explicit SignalRouters(const ExternalConfig& config) : config_(config) {}
  void attach(Elaboration& elaboration) {
    for (const std::string& vertex : config_.routers) {
      RouterSignals& signals = elaboration.router(vertex);
      routers_.push_back(std::make_unique<SignalRouter>((vertex + "_own").c_str(), signals));
      routers_.back()->bind(elaboration.clock(), signals);
    }
  }

 private:
  const ExternalConfig& config_;
  std::vector<std::unique_ptr<SignalRouter>> routers_;
};

// Numbers: outcome, then sender, receiver, flow and cycle of each delivery, in order. Text: why the
// run failed.
inline Report delivery_log(const RunPoint& point, const Topology& topology,
                           const ScheduleTables* tables) {
  return in_child([&] {
    SignalRouters routers(point.system.topology.external);
    Report log;
    SimulationHooks hooks;
    hooks.delivered = [&](const Operation& operation, Cycle now) {
      for (const std::uint64_t n :
           {std::uint64_t{operation.from.value()}, std::uint64_t{operation.to.value()},
            std::uint64_t{operation.flow.value()}, now}) {
        log.numbers.push_back(n);
      }
    };
    hooks.elaborate = [&](Elaboration& elaboration) { routers.attach(elaboration); };
    const SimulationOutcome outcome = tables == nullptr
                                          ? simulate_traffic(topology, point, hooks)
                                          : simulate_collective(topology, point, *tables, hooks);
    const Numbers end{outcome.verified ? 1U : 0U, outcome.cycles, outcome.flit_hops};
    log.numbers.insert(log.numbers.begin(), end.begin(), end.end());
    log.text = outcome.failure;
    return log;
  });
}

// The number of deliveries, or of fields of the outcome, that differ.
inline std::size_t differences(const Report& a, const Report& b) {
  std::size_t count = a.numbers.size() == b.numbers.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.numbers.size(), b.numbers.size()); ++i) {
    if (a.numbers[i] != b.numbers[i]) ++count;
  }
  return count;
}

}  // namespace espalier::test
