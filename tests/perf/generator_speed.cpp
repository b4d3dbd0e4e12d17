// generator_speed ALGORITHM N: generates an all-reduce schedule for an N x N torus, and says how
// long that took.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "alg/generators/generator.h"
#include "hw/topology/topology.h"

int main(int argc, char** argv) {
  using namespace espalier;
  const Generator* generator = argc == 3 ? find_generator(argv[1]) : nullptr;
  const auto n = static_cast<std::uint32_t>(argc == 3 ? std::strtoul(argv[2], nullptr, 10) : 0);
  if (generator == nullptr || n < 2) {
    fmt::print(stderr, "usage: generator_speed ALGORITHM N\n");
    return 2;
  }
  const Topology topology = make_torus({n, n}, {150'000, 16'000'000'000});
  CollectiveRequest request;
  request.size = Bytes{n} * n * 4096;
  const auto begin = std::chrono::steady_clock::now();
  const Schedule schedule = generator->generate(topology, request);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  fmt::print("{} transfers in {:.2f} s\n", schedule.transfers.size(), seconds.count());
  return 0;
}
