#include "sims/page/area.h"

#include <algorithm>
#include <cmath>

#include "sims/experiment/result_fields.h"

namespace espalier::report {

namespace {

using Json = nlohmann::ordered_json;

AreaBlock block_of(const Json& json) {
  AreaBlock block;
  block.name = text_in(json, field::area_blocks_block).value_or("");
  block.count = number_in(json, field::area_blocks_count).value_or(1);
  block.um2 = number_in(json, field::area_blocks_um2).value_or(-1);
  block.um2_high =
      std::max(block.um2, number_in(json, field::area_blocks_um2_high).value_or(block.um2));
  block.implementation = text_in(json, field::area_blocks_implementation).value_or("");
  block.origin = text_in(json, field::area_blocks_origin).value_or("");
  block.ps = number_in(json, field::area_blocks_ps).value_or(0);
  return block;
}

// A block may state the area of one instance or of all its instances. The area of the whole unit
// tells which.
void count_instances(AreaUnit& unit, double total) {
  if (total <= 0) return;
  double of_instances = 0;
  for (const AreaBlock& block : unit.blocks) of_instances += block.count * block.um2;
  if (std::abs(unit.low() - total) <= std::abs(of_instances - total)) return;
  for (AreaBlock& block : unit.blocks) {
    block.um2 *= block.count;
    block.um2_high *= block.count;
  }
}

}  // namespace

double AreaUnit::low() const {
  double sum = 0;
  for (const AreaBlock& block : blocks) sum += block.um2;
  return sum;
}

double AreaUnit::high() const {
  double sum = 0;
  for (const AreaBlock& block : blocks) sum += block.um2_high;
  return sum;
}

std::vector<AreaUnit> area_units(const ReportPoint& point) {
  std::vector<AreaUnit> units;
  const Json* blocks = find_field(point.result, field::area_blocks);
  if (blocks == nullptr || !blocks->is_array()) return units;
  for (const Json& json : *blocks) {
    if (!json.is_object()) continue;
    const AreaBlock block = block_of(json);
    if (block.name.empty() || block.um2 < 0) continue;
    const std::string name = block.name.substr(0, block.name.find('.'));
    auto unit = std::find_if(units.begin(), units.end(),
                             [&](const AreaUnit& other) { return other.name == name; });
    if (unit == units.end()) unit = units.insert(units.end(), {name, {}});
    unit->blocks.push_back(block);
  }
  for (AreaUnit& unit : units) {
    const auto um2 = unit.name == "router" ? number_of(point, field::area_router_um2)
                     : unit.name == "ni"   ? number_of(point, field::area_ni_um2)
                                           : std::nullopt;
    count_instances(unit, um2.value_or(0));
  }
  return units;
}

std::vector<bool> pareto_front(const std::vector<Design>& designs, double tolerance) {
  const double factor = 1 + tolerance;
  // A gain is larger than the tolerance, a loss is not: each step from a design to one that
  // dominates it makes cost times time smaller, so no designs dominate one another in a circle.
  const auto dominates = [&](const Design& a, const Design& b) {
    const bool is_as_good = a.cost <= b.cost * factor && a.time <= b.time * factor;
    return is_as_good && (a.cost * factor < b.cost || a.time * factor < b.time);
  };
  std::vector<bool> front(designs.size(), true);
  for (std::size_t i = 0; i < designs.size(); ++i) {
    front[i] = std::none_of(designs.begin(), designs.end(),
                            [&](const Design& other) { return dominates(other, designs[i]); });
  }
  return front;
}

std::vector<Tie> ties_of(const std::vector<Design>& designs, const std::vector<bool>& counts,
                         double tolerance) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < designs.size(); ++i) {
    if (counts[i]) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (designs[a].cost != designs[b].cost) return designs[a].cost < designs[b].cost;
    return designs[a].time < designs[b].time;
  });
  const auto apart = [](double a, double b) {
    return a == b ? 0 : std::max(a, b) / std::min(a, b) - 1;
  };
  std::vector<Tie> ties;
  for (const std::size_t i : order) {
    const auto spread = [&](const Tie& tie) {
      return std::max(apart(designs[i].cost, designs[tie.best].cost),
                      apart(designs[i].time, designs[tie.best].time));
    };
    const auto tie = std::find_if(ties.begin(), ties.end(),
                                  [&](const Tie& one) { return spread(one) <= tolerance; });
    if (tie == ties.end()) {
      ties.push_back({i, {}, 0});
    } else {
      tie->spread = std::max(tie->spread, spread(*tie));
      tie->others.push_back(i);
    }
  }
  return ties;
}

}  // namespace espalier::report
