#include "sims/report/page/area.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sims/experiment/result_fields.h"

namespace espalier::report {

namespace {

using Json = nlohmann::ordered_json;

double number(const Json& object, const char* key, double otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : otherwise;
}

std::string text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

AreaBlock block_of(const Json& json) {
  AreaBlock block;
  block.name = text(json, "block");
  block.count = number(json, "count", 1);
  block.um2 = number(json, "um2", -1);
  block.um2_high = std::max(block.um2, number(json, "um2_high", block.um2));
  block.implementation = text(json, "implementation");
  block.origin = text(json, "origin");
  block.ps = number(json, "ps", 0);
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
  const Json* blocks = find_field(point.result, "area.blocks");
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
  for (AreaUnit& unit : units)
    count_instances(unit, number_of(point, "area." + unit.name + "_um2").value_or(0));
  return units;
}

std::vector<bool> pareto_front(const std::vector<Design>& designs) {
  std::vector<std::size_t> order(designs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (designs[a].cost != designs[b].cost) return designs[a].cost < designs[b].cost;
    return designs[a].time < designs[b].time;
  });
  std::vector<bool> front(designs.size(), false);
  // The shortest time of all cheaper designs.
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < order.size();) {
    const Design& first = designs[order[i]];  // the fastest design of its cost
    const bool is_better = first.time < best;
    std::size_t next = i;
    for (; next < order.size() && designs[order[next]].cost == first.cost; ++next)
      front[order[next]] = is_better && designs[order[next]].time == first.time;
    best = std::min(best, first.time);
    i = next;
  }
  return front;
}

}  // namespace espalier::report
