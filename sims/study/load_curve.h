// Which loads to simulate for a curve of latency against load, and where the curve ends.
#pragma once

#include <map>
#include <optional>
#include <vector>

namespace espalier {

// Loads are injection rates: flits per node and cycle. Without loads of the user, the curve finds
// the saturation load by bisection, to 1 % of it, and then adds round loads below it and 0.9 and
// 0.95 of it. Usage: simulate all of next(), add() each, until next() is empty. The loads depend on
// the results only.
class LoadCurve {
 public:
  // `loads`: of the user; empty: chosen, from `least`, below which the window has too few messages,
  // to `most`, the largest load that the sources can generate. Sources of a closed loop wait, so
  // they never saturate a network; their loads double from most / 64 to `most`.
  LoadCurve(std::vector<double> loads, double least, double most, bool is_closed_loop);

  [[nodiscard]] std::vector<double> next() const;
  void add(double load, bool saturated) { saturated_[load] = saturated; }

  // The largest load below which no simulated load saturates the network. Empty if no simulated
  // load saturates it, or if all do.
  [[nodiscard]] std::optional<double> saturation() const;

 private:
  [[nodiscard]] std::optional<double> next_of_search() const;
  [[nodiscard]] std::vector<double> chosen_loads() const;

  std::vector<double> loads_;
  double least_;
  double most_;
  bool searches_;
  std::map<double, bool> saturated_;  // by simulated load
};

}  // namespace espalier
