#include "hw/clock/link.h"

#include "hw/hash.h"

namespace espalier {

bool StallPattern::refuses(std::uint64_t link_number, Cycle cycle) const {
  return unit_interval(mix(mix(seed, link_number), cycle)) < probability;
}

Link::Link(sc_core::sc_module_name module_name, std::uint64_t number, LinkTiming timing,
           StallPattern stalls)
    : sc_module(module_name), timing_(timing), number_(number), stalls_(stalls) {}

}  // namespace espalier
