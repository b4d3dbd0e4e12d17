#include "ni/engines/dimension_arbiter.h"

#include <utility>

namespace espalier {

namespace {

class QueueArbiter : public DimensionArbiter {
 public:
  QueueArbiter(const ArbiterSpec& spec, Cycle arbitration)
      : waiting_(spec), arbitration_(arbitration) {}

  void push(StageRef stage, std::uint64_t key) override { waiting_.push(stage, key); }

  std::optional<StageRef> decide(Cycle now, const Inputs& inputs) override {
    now_ = now;
    if (!chosen_ && can_choose(inputs)) {
      if (inputs.is_fixed) {
        chosen_ = inputs.next;
        waiting_.take(*chosen_);
      } else {
        chosen_ = waiting_.pop();
      }
      starts_ = now + arbitration_ - 1;
    }
    if (!chosen_ || starts_ > now) return std::nullopt;
    return std::exchange(chosen_, std::nullopt);
  }

  Cycle rest(const Inputs& inputs) override {
    if (chosen_) return starts_;
    return can_choose(inputs) ? now_ + 1 : kNever;
  }

  [[nodiscard]] bool is_choosing() const override { return chosen_.has_value(); }
  [[nodiscard]] std::size_t size() const override { return waiting_.size(); }
  [[nodiscard]] bool holds(StageRef stage) const override {
    return waiting_.holds(stage) || (chosen_ && *chosen_ == stage);
  }
  [[nodiscard]] std::optional<StageRef> head() const override {
    if (chosen_ || waiting_.empty()) return chosen_;
    return waiting_.next();
  }

 private:
  [[nodiscard]] bool can_choose(const Inputs& inputs) const {
    if (!inputs.open) return false;
    if (!inputs.is_fixed) return !waiting_.empty();
    return inputs.next && waiting_.holds(*inputs.next);
  }

  StageQueue waiting_;
  Cycle arbitration_;
  Cycle now_ = 0;  // of the last decision
  std::optional<StageRef> chosen_;
  Cycle starts_ = 0;  // of the chosen stage
};

}  // namespace

std::unique_ptr<DimensionArbiter> make_arbiter(const ArbiterSpec& spec, Cycle arbitration,
                                               std::size_t /*stages*/) {
  return std::make_unique<QueueArbiter>(spec, arbitration);
}

}  // namespace espalier
