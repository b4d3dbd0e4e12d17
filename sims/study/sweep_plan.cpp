#include "sims/study/sweep_plan.h"

#include <fmt/format.h>

#include <map>

#include "sims/config/config_layers.h"
#include "sims/config/keys.h"
#include "sims/config/reader.h"
#include "sims/point/config.h"
#include "sims/point/fidelity.h"
#include "sims/study/axis_values.h"
#include "sims/study/progress.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

class SweepPlanner {
 public:
  SweepPlanner(const Sweep& sweep, Diagnostics& diagnostics)
      : sweep_(sweep), diagnostics_(diagnostics), sources_(diagnostics.without_messages()) {}

  SweepPlan plan() {
    if (!is_too_large()) expand(0, sweep_.base, Json::object());
    progress_.clear();
    return std::move(plan_);
  }

 private:
  void refuse(const std::string& points) {
    diagnostics_.error(
        {0, 1, 1},
        fmt::format("the axes make {} points; at most {} are allowed", points, kMostCombinations),
        "give the axes fewer values, or write several sweeps");
  }

  // Axes without a condition multiply, whatever the other axes do. The product is computed first,
  // so that a million points need not be built to find that they are too many.
  bool is_too_large() {
    double product = 1;
    bool is_exact = true;
    for (const SweepAxis& axis : sweep_.axes) {
      is_exact = is_exact && !axis.when;
      if (!axis.when) product *= static_cast<double>(axis.size());
    }
    combinations_ = product;
    if (product <= static_cast<double>(kMostCombinations)) return false;
    refuse(fmt::format("{}{:.0f}", is_exact ? "" : "at least ", product));
    return true;
  }

  void expand(std::size_t axis_index, const ConfigNode& config, const Json& set) {
    if (plan_.combinations > kMostCombinations) return;
    if (axis_index == sweep_.axes.size()) {
      add(config, set);
      return;
    }
    const SweepAxis& axis = sweep_.axes[axis_index];
    if (axis.when && !holds(*axis.when, draft_run_point(config))) {
      expand(axis_index + 1, config, set);
      return;
    }
    for (std::size_t i = 0; i < axis.size(); ++i) {
      ConfigNode inner = config;
      Json inner_set = set;
      for (const AxisKey& key : axis.keys) {
        set_key(inner, key.key->name, key.values[i]);
        inner_set[key.key->name] = json_of(key.values[i]);
      }
      if (!axis.cases.empty()) {
        inner = lay_over(config, axis.cases[i].config);
        inner_set.update(axis.cases[i].set);
      }
      expand(axis_index + 1, inner, inner_set);
    }
  }

  void add(const ConfigNode& config, const Json& set) {
    if (++plan_.combinations > kMostCombinations) {
      refuse(fmt::format("more than {}", kMostCombinations));
      return;
    }
    progress_.update(0, static_cast<double>(plan_.combinations) / combinations_);
    if (!is_wanted(config)) {
      ++plan_.excluded;
      return;
    }
    Diagnostics own = sources_;
    std::vector<RunPoint> points = read_run_config_tree(config, sweep_.folder, {}, own);
    if (own.num_errors() != 0 && skips(config, set)) {
      ++plan_.unsuited;
      return;
    }
    diagnostics_.take(own, set_text(set));
    if (points.size() != 1) {
      ++plan_.invalid;
      return;
    }
    RunPoint& point = points.front();
    point.simulation.fidelity = chosen_fidelity(point);
    StudyPoint planned = study_point(point);
    const auto [known, is_new] = index_.emplace(planned.id, plan_.points.size());
    if (!is_new) {
      ++plan_.alike;
      plan_.points[known->second].alike.push_back(set);
      return;
    }
    planned.set = set;
    plan_.points.push_back(std::move(planned));
  }

  // True if an axis has several algorithms and this combination's algorithm does not suit, but
  // another algorithm of the axis does.
  bool skips(const ConfigNode& config, const Json& set) {
    const auto chosen = set.find(kAlgorithmKey);
    if (chosen == set.end()) return false;
    for (const SweepAxis& axis : sweep_.axes) {
      for (const AxisKey& key : axis.keys) {
        if (key.key->name != kAlgorithmKey) continue;
        ConfigNode list;
        list.kind = ConfigNode::Kind::list;
        list.place = key.values.front().place;
        list.items = key.values;
        ConfigNode all = config;
        set_key(all, kAlgorithmKey, list);
        for (const SkippedAlgorithm& each : skipped_algorithms(all, sweep_.folder, sources_)) {
          if (each.name != text_of(*chosen)) continue;
          diagnostics_.warning(key.values.front().place,
                               fmt::format("{}: {} is skipped where it does not suit: {}",
                                           kAlgorithmKey, each.name, each.reason));
          return true;
        }
      }
    }
    return false;
  }

  [[nodiscard]] bool is_wanted(const ConfigNode& config) const {
    if (!sweep_.only && !sweep_.except) return true;
    const RunPoint draft = draft_run_point(config);
    return (!sweep_.only || holds(*sweep_.only, draft)) &&
           !(sweep_.except && holds(*sweep_.except, draft));
  }

  const Sweep& sweep_;
  Diagnostics& diagnostics_;
  Diagnostics sources_;
  std::map<std::string, std::size_t> index_;  // of points, by id
  double combinations_ = 1;                   // without axes that have a condition
  Progress progress_{1};
  SweepPlan plan_;
};

}  // namespace

SweepPlan plan_sweep(const Sweep& sweep, Diagnostics& diagnostics) {
  SweepPlan plan = SweepPlanner(sweep, diagnostics).plan();
  if (plan.points.empty() && diagnostics.num_errors() == 0) {
    diagnostics.error({0, 1, 1}, "the sweep has no points",
                      "'only' and 'except' leave out all points");
  }
  return plan;
}

std::string set_text(const Json& set) {
  std::string text;
  for (const auto& [key, value] : set.items())
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, text_of(value));
  return text;
}

}  // namespace espalier
