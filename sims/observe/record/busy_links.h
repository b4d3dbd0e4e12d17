// Which links carried how much, when, and for whom. A run of many messages has too many for a
// RunRecord; this record has windows of equal length.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hw/topology/link_timing.h"
#include "hw/topology/topology.h"
#include "ni/operation.h"
#include "sims/system/simulation.h"

namespace espalier {

// The dimensions of a grid (X, Y, Z) or of a network that is built by dimensions (dim1, ...). Links
// of another network are alike if they have one rate and are equally far from the nodes.
struct LinkKinds {
  std::vector<std::string> names;
  std::vector<std::uint32_t> of;  // by LinkId: number in `names`
  // The kind with the least bandwidth of a link; of several, the last one.
  std::uint32_t slowest = 0;
};
[[nodiscard]] LinkKinds link_kinds(const Topology& topology);

class BusyLinks : public SystemObserver {
 public:
  // A number for whom a message travels: its collective, for instance.
  using UserOf = std::function<std::uint32_t(const Operation&)>;

  BusyLinks(LinkKinds kinds, UserOf user_of);
  ~BusyLinks() override;
  void begin(Fabric& fabric) override;
  void advance(Cycle until) override { count(until, false); }
  void finish(Cycle end) override { count(end, true); }

  // The rest holds after finish(). By user, the share of the cycles from `from` to `to` in which
  // the link carried flits for it. A window that is not wholly within counts in proportion.
  [[nodiscard]] std::map<std::uint32_t, double> shares(LinkId link, Cycle from, Cycle to) const;
  // By window, the share of its cycles in which the links of a kind were busy, on average.
  [[nodiscard]] std::vector<double> busy(std::uint32_t kind) const;
  [[nodiscard]] const LinkKinds& kinds() const { return kinds_; }
  [[nodiscard]] Cycle window() const { return window_; }  // cycles

 private:
  class Watcher;

  void count(Cycle until, bool is_over);

  LinkKinds kinds_;
  UserOf user_of_;
  Fabric* fabric_ = nullptr;  // until finish()
  Tick ticks_per_cycle_ = 1;
  Cycle window_ = 16;
  std::vector<std::unique_ptr<Watcher>> watchers_;  // by LinkId
};

}  // namespace espalier
