#include "alg/schedule/schedule.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "alg/schedule/collective_request.h"

namespace espalier {

const char* to_string(CollectiveOp op) {
  constexpr std::array kNames{"all_reduce",  "reduce_scatter", "all_gather", "all_to_all",
                              "broadcast",   "reduce",         "custom",     "all_to_allv",
                              "all_gatherv", "reduce_scatterv"};
  return kNames.at(static_cast<std::size_t>(op));
}

const char* to_string(TransferKind kind) {
  return kind == TransferKind::reduce ? "reduce" : "copy";
}

TransferId Schedule::add(const Transfer& transfer, const std::vector<TransferId>& after) {
  const TransferId id(transfers.size());
  transfers.push_back(transfer);
  dependencies.insert(dependencies.end(), after.begin(), after.end());
  dependency_begin.push_back(static_cast<std::uint32_t>(dependencies.size()));
  return id;
}

void Schedule::sort_by_step() {
  std::vector<std::uint32_t> order(transfers.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return transfers[a].step < transfers[b].step;
  });
  std::vector<std::uint32_t> new_index(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    new_index[order[i]] = static_cast<std::uint32_t>(i);

  std::vector<Transfer> sorted;
  std::vector<std::uint32_t> sorted_begin{0};
  std::vector<TransferId> sorted_dependencies;
  sorted.reserve(transfers.size());
  sorted_begin.reserve(transfers.size() + 1);
  sorted_dependencies.reserve(dependencies.size());
  for (const std::uint32_t old : order) {
    sorted.push_back(transfers[old]);
    for (std::uint32_t d = dependency_begin[old]; d < dependency_begin[old + 1]; ++d) {
      sorted_dependencies.emplace_back(new_index[dependencies[d].index()]);
    }
    sorted_begin.push_back(static_cast<std::uint32_t>(sorted_dependencies.size()));
  }
  transfers = std::move(sorted);
  dependency_begin = std::move(sorted_begin);
  dependencies = std::move(sorted_dependencies);
}

Bytes Schedule::bytes_of(const Transfer& t) const {
  const Chunk& first = chunks[t.first_chunk.index()];
  const Chunk& last = chunks[t.first_chunk.index() + t.num_chunks - 1];
  return last.offset + last.size - first.offset;
}

std::vector<Bytes> cut_evenly(Bytes size, std::size_t count, Bytes element_bytes) {
  const Bytes elements = size / element_bytes;
  const Bytes quotient = elements / count;
  const Bytes remainder = elements % count;
  std::vector<Bytes> offsets{0};
  offsets.reserve(count + 1);
  for (std::size_t i = 0; i < count; ++i) {
    offsets.push_back(offsets.back() + (quotient + (i < remainder ? 1 : 0)) * element_bytes);
  }
  return offsets;
}

bool is_contention_free(const Schedule& schedule) {
  std::size_t num_links = 0;
  for (const Transfer& t : schedule.transfers) {
    for (const LinkId l : schedule.routes.links(t.route))
      num_links = std::max(num_links, l.index() + 1);
  }
  std::vector<Timestep> last_use(num_links, 0);
  for (const Transfer& t : schedule.transfers) {
    for (const LinkId l : schedule.routes.links(t.route)) {
      Timestep& last = last_use[l.index()];
      if (last == t.step) return false;
      last = t.step;
    }
  }
  return true;
}

Schedule empty_schedule(const char* algorithm, const Topology& topology,
                        const CollectiveRequest& request) {
  Schedule schedule(topology);
  schedule.algorithm = algorithm;
  schedule.op = request.op;
  schedule.scope = request.scope(topology.num_nodes());
  schedule.num_nodes = topology.num_nodes();
  schedule.size = request.size;
  return schedule;
}

}  // namespace espalier
