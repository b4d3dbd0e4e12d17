// Counters of events in the modelled hardware. A module counts in a Counters of its own; the result
// of a run has the sum over all modules, under the counter's name (CONTRIBUTING.md, "Adding a
// counter").
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "hw/ids.h"

namespace espalier {

struct CounterRow {
  const char* name;  // of the field in results
  const char* unit;
  // One NPU can be simulated for all only if NPUs do not meet (sims/model/plan_forecast.h). A count
  // of meetings is then unknown, and null in results; any other count of the NPU is multiplied by
  // the number of NPUs.
  bool counts_meetings;
  const char* meaning;
};

using CounterId = Id<struct CounterTag>;

// All counters, in the order in which results list them.
[[nodiscard]] const std::vector<CounterRow>& counter_rows();
// The counter of that name. Throws std::logic_error if no row has the name.
[[nodiscard]] CounterId counter(std::string_view name);

class Counters {
 public:
  Counters();

  std::uint64_t& operator[](CounterId id) { return counts_[id.index()]; }
  [[nodiscard]] std::uint64_t operator[](CounterId id) const { return counts_[id.index()]; }
  Counters& operator+=(const Counters& other);
  // The counts of one NPU, said of all.
  void scale(std::uint64_t npus);

 private:
  std::vector<std::uint64_t> counts_;  // by CounterId
};

}  // namespace espalier
