// Runs the algorithm that star.cpp and two lines of the registry add: the registry names it, its
// schedules are certified, and it follows an order of the ranks.
#include <fmt/format.h>

#include "alg/algorithm.h"
#include "alg/certify/certifier.h"
#include "alg/schedule/schedule_table.h"
#include "tests/support/networks.h"

int main() {
  using namespace espalier;
  const Algorithm* star = find_algorithm("star");
  if (star == nullptr || star->generator == nullptr) {
    fmt::print("the registry has no generator named star\n");
    return 1;
  }
  const Topology mesh = make_mesh({3, 4}, {});
  CollectiveRequest request;
  request.size = 4096;
  for (const bool reversed : {false, true}) {
    for (std::size_t n = 12; reversed && n-- > 0;) request.rank_order.emplace_back(n);
    const Schedule schedule = star->generator->generate(mesh, request);
    const Certificate certificate = certify(mesh, lower_to_tables(schedule));
    fmt::print("{}: {} transfers, {} violations\n", schedule.algorithm, schedule.transfers.size(),
               certificate.violations.size());
    if (!certificate.ok() || schedule.transfers.size() != 22) return 1;
  }
  return 0;
}
