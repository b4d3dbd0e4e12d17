// Small data centres with other tenants, drawn from a seed.
#pragma once

#include "hw/hash.h"
#include "model_test_support.h"
#include "sims/point/config.h"
#include "tests/support/networks.h"

namespace espalier::test {

// 2 pods of 2 racks of 4 hosts, links of three kinds. `seed` says where its nodes are.
inline Topology small_center(std::uint32_t nodes, std::uint64_t seed) {
  return make_data_center(
      {2, 2, 4, 2, 2, 1, 2, seed, nodes, seed},
      {link_of(5), link_of(11, kFlitPerCycle / 2), link_of(23, kFlitPerCycle * 3 / 4)});
}

// Of a point on it. Times in cycles of 1 ns, rates that fill an uplink up to nearly.
inline TenantsConfig some_tenants(std::uint64_t seed) {
  TenantsConfig tenants;
  tenants.seed = seed;
  tenants.flows = static_cast<std::uint32_t>(1 + mix(seed, 1) % 12);
  tenants.message_bytes = 1 + mix(seed, 2) % 5000;
  tenants.bytes_per_second = kFlitPerCycle / 2 / (1 + mix(seed, 3) % 8);
  tenants.on_time_ps = 1000 * (1 + mix(seed, 4) % 3000);
  tenants.off_time_ps = 1000 * (mix(seed, 5) % 3000);
  return tenants;
}

// Modes, depths and VCs as the seed says.
inline SystemConfig some_system(std::uint64_t seed) {
  SystemConfig config =
      in_mode(mix(seed, 6) % 2 == 0 ? FlowControlMode::message : FlowControlMode::packet);
  config.router.vcs = static_cast<std::uint32_t>(1 + mix(seed, 7) % 3);
  config.router.vc_depth_flits = static_cast<std::uint32_t>(17 + mix(seed, 8) % 60);
  return config;
}

}  // namespace espalier::test
