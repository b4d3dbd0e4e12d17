// The interface of the offline schedule generators, and their registry.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alg/schedule/algorithm_row.h"
#include "alg/schedule/collective_request.h"

namespace espalier {

// Cost models of rank orders (Cloud Collectives, section IV-A; alg/rank_order/order_model.h).
enum class OrderModel : std::uint8_t {
  ring,
  halving_doubling,
  dbtree,
  bcube,
};

// A parameter whose value does not fit the network.
struct ParameterProblem {
  std::string key;
  std::string reason;         // a sentence for the user
  std::uint64_t instead = 0;  // a value that fits
};

struct Generator : AlgorithmRow {
  Generator() = default;
  // What every row has.
  Generator(const char* the_name, const char* the_summary, std::vector<CollectiveOp> the_ops,
            std::string (*is_unsuited)(const Topology& topology),
            Schedule (*makes)(const Topology& topology, const CollectiveRequest& request))
      : unsuited(is_unsuited), make(makes) {
    name = the_name;
    summary = the_summary;
    ops = std::move(the_ops);
  }

  // Returns an empty text if the algorithm runs on this topology, otherwise the reason as a
  // sentence for the user.
  std::string (*unsuited)(const Topology& topology) = nullptr;
  // The same where only some operations are too large; nullptr: size does not depend on them.
  std::string (*too_large)(const Topology& topology, CollectiveOp op) = nullptr;
  // Preconditions of make() and generate(): both texts are empty; ops contains request.op;
  // request.rank_order is empty or contains every node once (it is empty if follows_rank_order() is
  // false). The result has no transfers of zero bytes. Throws std::invalid_argument if the request
  // cannot be met on this topology.
  Schedule (*make)(const Topology& topology, const CollectiveRequest& request) = nullptr;
  // The same; on a network of several planes (alg/routes/planes.h), one schedule for each plane and
  // its share of the data, side by side.
  [[nodiscard]] Schedule generate(const Topology& topology, const CollectiveRequest& request) const;
  // The segments that make() chooses where the request leaves them open, as many in every plane, so
  // that all planes have the same timesteps. nullptr: it chooses none.
  std::uint32_t (*auto_segments)(const CollectiveRequest& request) = nullptr;
  // Checks the request's parameters; nullptr: every value is valid.
  std::optional<ParameterProblem> (*problem)(const Topology& topology,
                                             const CollectiveRequest& request) = nullptr;
  // Routes of several links are its own, and not those of packets.
  bool has_own_routes = false;
  // Messages are listed by planned time, in one timestep, over all planes of the network.
  bool plans_times = false;
  // The work of make() for every pair of nodes and phase, in about nanoseconds of one core; 0: less
  // than the square of the nodes. `roots_wait`: behind switches, copies wait for all reduces.
  std::uint64_t pair_work = 0;
  bool roots_wait = false;
  // Its all_to_all is never the fastest, so `auto` does not try it.
  bool exchanges_slowly = false;
  // Plans several groups at the same time; other algorithms plan each alone.
  bool plans_groups = false;
  // The second half of the steps is a collective of its own for the hosts of MultiTree's authors.
  bool posts_halves = false;
  // The messages that `espalier reorder` prices; none if the algorithm follows the network.
  std::optional<OrderModel> order_model = std::nullopt;
};

// Sorted by step, with the claim of freedom from contention that holds.
[[nodiscard]] Schedule finished(Schedule schedule);

// In the order in which users see them.
[[nodiscard]] const std::vector<Generator>& generators();
// Returns nullptr if no generator has that name.
[[nodiscard]] const Generator* find_generator(const std::string& name);

}  // namespace espalier
