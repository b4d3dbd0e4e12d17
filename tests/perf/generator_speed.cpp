// generator_speed ALGORITHM DIMS [OPERATION BYTES]: generates a schedule for a torus of DIMS nodes,
// for example 8x16 (one number N: N x N), and says how long that took. Without an operation, an
// all_reduce of 4096 bytes per node.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <sstream>
#include <string>

#include "alg/generators/generator.h"
#include "hw/topology/topology.h"
#include "tests/support/networks.h"

namespace {

std::vector<std::uint32_t> numbers(const std::string& text) {
  std::vector<std::uint32_t> result;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, 'x');) {
    result.push_back(static_cast<std::uint32_t>(std::strtoul(part.c_str(), nullptr, 10)));
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace espalier;
  const Generator* generator = argc == 3 || argc == 5 ? find_generator(argv[1]) : nullptr;
  std::vector<std::uint32_t> dims = argc > 2 ? numbers(argv[2]) : std::vector<std::uint32_t>{};
  if (dims.size() == 1) dims.push_back(dims.front());
  std::size_t nodes = 1;
  for (const std::uint32_t d : dims) nodes *= d;
  CollectiveRequest request;
  request.size = Bytes{nodes} * 4096;
  if (argc == 5) {
    const std::string name = argv[3];
    for (const CollectiveOp op : {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter,
                                  CollectiveOp::all_gather, CollectiveOp::all_to_all}) {
      if (name == to_string(op)) request.op = op;
    }
    request.size = std::strtoull(argv[4], nullptr, 10);
  }
  if (generator == nullptr || nodes < 2 || request.size < request.element_bytes) {
    fmt::print(stderr, "usage: generator_speed ALGORITHM DIMS [OPERATION BYTES]\n");
    return 2;
  }
  const Topology topology = make_torus(dims, {150'000, 16'000'000'000});
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t begin_cpu = std::clock();
  const Schedule schedule = generator->generate(topology, request);
  const double cpu = static_cast<double>(std::clock() - begin_cpu) / CLOCKS_PER_SEC;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  fmt::print("{} transfers in {:.2f} s, {:.2f} s of a processor\n", schedule.transfers.size(),
             seconds.count(), cpu);
  return 0;
}
