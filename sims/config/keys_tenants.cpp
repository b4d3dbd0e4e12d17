// Keys of the section `tenants`.
#include <limits>

#include "sims/config/key_builders.h"

namespace espalier {

using namespace key_builders;

namespace {

constexpr std::uint64_t kMostFlows = 65536;

}  // namespace

void add_tenant_keys(std::vector<Key>& table) {
  table.push_back(integer_key(
      "tenants.flows", 1, kMostFlows, "each from one rack to another, drawn from the seed",
      [](auto& p) -> auto& { return p.tenants->flows; }));
  table.push_back(number_key(
      ValueType::size, "tenants.message", 1, kLargestMessage, "size of each message of a flow",
      [](auto& p) -> auto& { return p.tenants->message_bytes; }));
  table.push_back(number_key(
      ValueType::rate, "tenants.rate", 1'000, 1'000 * kSecond, "of a flow while it sends",
      [](auto& p) -> auto& { return p.tenants->bytes_per_second; }));
  table.push_back(number_key(
      ValueType::time, "tenants.on_time", 1, 1'000 * kSecond, "mean time for which a flow sends",
      [](auto& p) -> auto& { return p.tenants->on_time_ps; }));
  table.push_back(number_key(
      ValueType::time, "tenants.off_time", 0, 1'000 * kSecond,
      "mean time for which it pauses; 0ns: never",
      [](auto& p) -> auto& { return p.tenants->off_time_ps; }));
  table.push_back(integer_key(
      "tenants.seed", 0, std::numeric_limits<std::uint64_t>::max(), "of racks and times",
      [](auto& p) -> auto& { return p.tenants->seed; }));
}

}  // namespace espalier
