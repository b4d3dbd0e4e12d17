#pragma once

#include <cstdint>
#include <string>

#include "flowctl/channel_spec.h"
#include "hw/topology/link_timing.h"

namespace espalier {

// An input port: the link that ends there becomes a child module of the router, `<router>.<name>`.
struct InputPortSpec {
  std::string name;
  std::uint64_t link_number = 0;  // unique in the system
  LinkTiming timing;
  ChannelSpec channel;
};

}  // namespace espalier
