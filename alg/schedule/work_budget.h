// How long planning may take.
#pragma once

#include <cstdint>
#include <memory>

namespace espalier {

// Planning has a budget of work, counted in about nanoseconds of one core, so that a plan is the
// same on every machine. What is spent once there is a plan: nothing more is tried, and the best
// plan so far wins. Copies share what is spent.
class WorkBudget {
 public:
  static constexpr std::uint64_t kMost = 4'000'000'000;
  explicit WorkBudget(std::uint64_t most = kMost)
      : state_(std::make_shared<State>(State{most, 0, false})) {}

  void spend(std::uint64_t work) const { state_->spent += work; }
  void found_plan() const { state_->has_plan = true; }
  [[nodiscard]] bool is_spent() const { return state_->has_plan && state_->spent > state_->most; }

 private:
  struct State {
    std::uint64_t most;
    std::uint64_t spent;
    bool has_plan;
  };
  std::shared_ptr<State> state_;
};

}  // namespace espalier
