// Keys of who is which rank: collective.rank_order and what belongs to it, and the section
// `reorder`, which searches for an order.
#include <limits>

#include "sims/config/key_builders.h"

namespace espalier {

using namespace key_builders;

namespace {

constexpr std::uint64_t kMostEvaluations = 1'000'000'000'000;
constexpr std::uint64_t kAnySeed = std::numeric_limits<std::uint64_t>::max();

Key source_key() {
  Key key;
  key.name = "collective.rank_order";
  key.shape.type = ValueType::text;
  key.shape.zero_word = RankOrderConfig::kIdentity;
  key.shape.names = {RankOrderConfig::kRandom};
  key.optional = true;
  key.description =
      "which node each rank is: identity: rank r is node r; random: drawn; a file of espalier "
      "reorder, relative to this file's folder";
  key.set = [](RunPoint& point, const Value& value) {
    point.collective->rank_order.source = value.text;
  };
  key.get = [](const RunPoint& point) {
    Value value;
    value.text = point.collective->rank_order.source;
    return value;
  };
  return key;
}

Key model_key() {
  Key key;
  key.name = "reorder.model";
  key.shape.type = ValueType::name;
  key.shape.names = all_names<OrderModel>();
  key.shape.names.insert(key.shape.names.begin(), "auto");
  key.description = "whose messages are priced; auto: those of collective.algorithm";
  key.set = [](RunPoint& point, const Value& value) {
    point.reorder.model.reset();
    if (value.number != 0) point.reorder.model = static_cast<OrderModel>(value.number - 1);
  };
  key.get = [](const RunPoint& point) {
    Value value;
    if (point.reorder.model) value.number = 1 + static_cast<std::uint64_t>(*point.reorder.model);
    return value;
  };
  return key;
}

}  // namespace

void add_rank_order_keys(std::vector<Key>& table) {
  table.push_back(listable(source_key()));
  table.push_back(listable(
      only_when(integer_key(
                    "collective.rank_order_seed", 0, kAnySeed, "of the order that is drawn",
                    [](auto& p) -> auto& { return p.collective->rank_order.seed; }),
                "collective.rank_order", "random",
                [](const RunPoint& p) { return p.collective->rank_order.is_random(); })));
  table.push_back(of_algorithms(integer_key(
      "collective.base", 2, 64, "peers of a group, the base of the ranks' digits",
      [](auto& p) -> auto& { return p.collective->base; })));
}

// A run does not depend on them, so the resolved configuration is without them.
void add_reorder_keys(std::vector<Key>& table) {
  const auto add = [&](Key key) {
    key.resolved = false;
    table.push_back(std::move(key));
  };
  add(model_key());
  add(choice_key<OrderForm>(
      "reorder.form",
      "generated: the messages that the generator sends; corrected: the published model with its "
      "indices put right; as_printed: letter by letter",
      [](auto& p) -> auto& { return p.reorder.form; }));
  add(choice_key<OrderObjective>(
      "reorder.objective",
      "sum: as published; max: a ring's slowest hop; load: all messages, for links that are shared",
      [](auto& p) -> auto& { return p.reorder.search.objective; }));
  add(choice_key<OrderSearch>(
      "reorder.search", "how orders are searched",
      [](auto& p) -> auto& { return p.reorder.search.search; }));
  add(integer_key(
      "reorder.evaluations", 1, kMostEvaluations, "orders that the search may price",
      [](auto& p) -> auto& { return p.reorder.search.evaluations; }));
  add(integer_key(
      "reorder.seed", 0, kAnySeed, "of the search and of the random orders",
      [](auto& p) -> auto& { return p.reorder.search.seed; }));
  add(choice_key<OrderDirection>(
      "reorder.direction", "which order is written: the best, or the worst to compare with",
      [](auto& p) -> auto& { return p.reorder.search.direction; }));
  add(choice_key<OrderStart>(
      "reorder.start", "where the search begins; clustered: near nodes beside each other",
      [](auto& p) -> auto& { return p.reorder.search.start; }));
  add(integer_key(
      "reorder.random_orders", 1, 1'000'000, "drawn to compare with",
      [](auto& p) -> auto& { return p.reorder.random_orders; }));
  add(integer_key(
      "reorder.exact_nodes", 0, 16,
      "up to so many nodes an order is proven optimal; models other than a ring up to 12",
      [](auto& p) -> auto& { return p.reorder.exact_nodes; }));
  add(number_key(
      ValueType::size, "reorder.window", 1, std::uint64_t{1} << 30,
      "a pair moves so many bytes per round trip: what a latency says of a bandwidth",
      [](auto& p) -> auto& { return p.reorder.window; }));
  add(or_word(integer_key(
                  "reorder.z3_rlimit", 1, std::numeric_limits<std::uint32_t>::max(),
                  "Z3's resource units to look for a better order; off: it is not asked",
                  [](auto& p) -> auto& { return p.reorder.z3_rlimit; }),
              "off"));
  add(integer_key(
      "reorder.probes", 1, 100'000, "of each ordered pair, one after the other",
      [](auto& p) -> auto& { return p.reorder.probes; }));
  add(number_key(
      ValueType::size, "reorder.payload", 1, std::uint64_t{64} * 1024, "of a probe",
      [](auto& p) -> auto& { return p.reorder.payload; }));
  add(integer_key(
      "reorder.percentile", 1, 100, "of a pair's round trips: 10 filters interference out",
      [](auto& p) -> auto& { return p.reorder.percentile; }));
}

}  // namespace espalier
