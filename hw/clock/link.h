// A wire with a latency and a rate: one direction of a link, or an injection or ejection channel.
#pragma once

#include <systemc>

#include "hw/hash.h"
#include "hw/topology/link_timing.h"

namespace espalier {

// Random refusals, for tests and for studies of noise: in each cycle a link refuses flits with this
// probability. Refusals are a pure function of seed, link and cycle, so neither the order of
// evaluation nor sleeping changes them.
struct StallPattern {
  double probability = 0;
  std::uint64_t seed = 0;
  [[nodiscard]] bool refuses(std::uint64_t link_number, Cycle cycle) const;
};

class Link : public sc_core::sc_module {
 public:
  // `number` is unique in the system; it selects the link's stream of stalls.
  Link(sc_core::sc_module_name module_name, std::uint64_t number, LinkTiming timing,
       StallPattern stalls);

  [[nodiscard]] bool may_refuse() const { return stalls_.probability > 0; }
  [[nodiscard]] bool refuses(Cycle now) const {
    return may_refuse() && stalls_.refuses(number_, now);
  }
  [[nodiscard]] const LinkTiming& timing() const { return timing_; }

 private:
  LinkTiming timing_;
  std::uint64_t number_;
  StallPattern stalls_;
};

inline bool StallPattern::refuses(std::uint64_t link_number, Cycle cycle) const {
  return unit_interval(mix(mix(seed, link_number), cycle)) < probability;
}

inline Link::Link(sc_core::sc_module_name module_name, std::uint64_t number, LinkTiming timing,
                  StallPattern stalls)
    : sc_module(module_name), timing_(timing), number_(number), stalls_(stalls) {}

}  // namespace espalier
