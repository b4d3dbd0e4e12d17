#include "ni/rtl/rtl_dimension_queue.h"

#include <RtlFifo.h>
#include <RtlFifo___024root.h>
#include <RtlScfNewest.h>
#include <RtlScfNewest___024root.h>
#include <RtlScfOldest.h>
#include <RtlScfOldest___024root.h>
#include <fmt/format.h>

#include <stdexcept>
#include <vector>

#include "hw/bits.h"
#include "hw/clocked_verilog.h"

namespace espalier {

namespace {

// The port `chunk` carries chunk and stage, so that two stages of a chunk differ.
constexpr std::uint32_t kStageBits = 8;
constexpr std::uint32_t kNoNumber = 0xffff'ffff;

std::uint32_t number_of(StageRef stage) {
  if (stage.stage >> kStageBits != 0 || stage.chunk >> (32 - kStageBits) != 0) {
    throw std::invalid_argument(fmt::format(
        "dimension_queue.v has no number for stage {} of chunk {}", stage.stage, stage.chunk));
  }
  return stage.chunk << kStageBits | stage.stage;
}
StageRef stage_of(std::uint32_t number) {
  return {number >> kStageBits, number & ((1U << kStageBits) - 1)};
}

// The Verilog sees a cycle at its decision, unless no register can change in it. Its clock rises
// when the cycle is over. `Model` has a push port for every stage, because all may arrive in one
// cycle.
template <class Model>
class RtlArbiter : public DimensionArbiter, private RtlProbe {
 public:
  RtlArbiter(Cycle arbitration, std::size_t stages) : arbitration_(arbitration), stages_(stages) {
    model_->more = static_cast<std::uint16_t>(arbitration - 1);
    model_.reset();
  }

  void push(StageRef stage, std::uint64_t key) override { arrivals_.push_back({stage, key}); }

  std::optional<StageRef> decide(Cycle now, const Inputs& inputs) override {
    rest_until(now);
    now_ = now;
    if (can_sleep(inputs)) {
      settle(inputs, now);
      return std::nullopt;
    }
    is_clocked_ = true;
    show_arrivals();
    show(inputs);
    settled(now);
    if (model_->begins != 0) starts_ = now + arbitration_ - 1;
    if (model_->starts == 0) return std::nullopt;
    return stage_of(model_->chunk);
  }

  Cycle rest(const Inputs& inputs) override {
    if (is_clocked_) rise();
    is_clocked_ = false;
    cycle_ = now_ + 1;
    at_rest_ = inputs;
    may_begin_ = false;
    if (model_->busy != 0) return starts_;
    if (model_->depth == 0 || !inputs.open) return kNever;
    show(inputs);
    may_begin_ = model_->begins != 0;
    return may_begin_ ? cycle_ : kNever;
  }

  [[nodiscard]] bool is_choosing() const override { return model_->busy != 0; }
  [[nodiscard]] std::size_t size() const override {
    return std::size_t{model_->depth} - (is_choosing() ? 1 : 0);
  }
  [[nodiscard]] bool holds(StageRef stage) const override {
    Inputs inputs;
    inputs.next = stage;
    inputs.is_fixed = true;
    show(inputs);
    return model_->found != 0;
  }
  [[nodiscard]] std::optional<StageRef> head() const override {
    show(Inputs());
    if (model_->found == 0) return std::nullopt;
    return stage_of(model_->chunk);
  }
  [[nodiscard]] RtlProbe* rtl_probe() override { return this; }

 private:
  [[nodiscard]] const char* module() const override { return "dimension_queue"; }
  [[nodiscard]] std::vector<RtlSignal> signals() const override {
    const auto* registers = model_->rootp;
    return {
        {"depth", bits_to_count(stages_), [this] { return model_->depth; }},
        {"busy", 1, [this] { return model_->busy; }},
        {"left", bits_to_count(arbitration_),
         [registers] { return registers->dimension_queue__DOT__left; }, RtlKind::down_counter},
        {"limit", bits_to_count(stages_),
         [registers] { return registers->dimension_queue__DOT__limit; }},
        {"found", 1, [this] { return model_->found; }},
        {"begins", 1, [this] { return model_->begins; }},
        {"starts", 1, [this] { return model_->starts; }},
        // The port `chunk` in its two parts.
        {"chunk", 32 - kStageBits, [this] { return stage_of(model_->chunk).chunk; }},
        {"stage", kStageBits, [this] { return stage_of(model_->chunk).stage; }},
    };
  }
  void catch_up(Cycle until) override {
    if (until > cycle_) rest_until(until);
  }

  struct Arrival {
    StageRef stage;
    std::uint64_t key = 0;
  };

  // Nothing arrives, and what the arbiter rests on still does not let a choice begin.
  [[nodiscard]] bool can_sleep(const Inputs& inputs) const {
    if (!arrivals_.empty() || model_->busy != 0) return false;
    const bool as_at_rest =
        inputs.is_fixed == at_rest_.is_fixed && inputs.next == at_rest_.next && at_rest_.open;
    return model_->depth == 0 || !inputs.open || (as_at_rest && !may_begin_);
  }

  // The cycles in which the NI rests. A choice counts down in them, and nothing else changes
  // (tests/synthesis/dimension_queue_proof_test.cpp): the counter is set to what it has come to. A
  // waveform sees each cycle, so with a waveform they are clocked.
  void rest_until(Cycle now) {
    if (now < cycle_) throw std::logic_error("dimension_queue.v has had this cycle");
    if (cycle_ == now) return;
    if (may_begin_ || (model_->busy != 0 && starts_ < now)) {
      throw std::logic_error(
          fmt::format("dimension_queue.v decides in cycle {}, in which its NI rests",
                      may_begin_ ? cycle_ : starts_));
    }
    if (model_->busy == 0) {
      settle(at_rest_, cycle_);
    } else if (is_watched()) {
      for (; cycle_ < now; ++cycle_) {
        settle(at_rest_, cycle_);
        rise();
      }
    } else {
      auto& left = model_->rootp->dimension_queue__DOT__left;
      left = static_cast<std::uint16_t>(left - (now - cycle_));
    }
    cycle_ = now;
  }
  void settle(const Inputs& inputs, Cycle now) const {
    if (!is_watched()) return;
    show(inputs);
    settled(now);
  }

  void show_arrivals() {
    for (std::size_t port = 0; port < arrivals_.size(); ++port) {
      model_->push[port / 32] |= EData{1} << port % 32;
      model_->push_key[2 * port] = static_cast<EData>(arrivals_[port].key);
      model_->push_key[2 * port + 1] = static_cast<EData>(arrivals_[port].key >> 32U);
      model_->push_chunk[port] = number_of(arrivals_[port].stage);
    }
    arrivals_.clear();
  }
  void show(const Inputs& inputs) const {
    model_->fixed = inputs.is_fixed ? 1 : 0;
    // kNoNumber if no stage is left in the order.
    model_->fixed_chunk = inputs.next ? number_of(*inputs.next) : kNoNumber;
    model_->open = inputs.open ? 1 : 0;
    model_.low();
  }
  // Nothing arrives after it.
  void rise() {
    model_.rise();
    for (std::size_t w = 0; w < kRtlQueueStages / 32; ++w) model_->push[w] = 0;
  }

  Cycle arbitration_;
  std::size_t stages_;  // the most that wait
  ClockedVerilog<Model> model_;
  std::vector<Arrival> arrivals_;  // in the cycle that is decided next
  Cycle cycle_ = 0;                // that the registers belong to
  Cycle now_ = 0;                  // of the last decision
  bool is_clocked_ = false;        // the clock rises after that cycle
  Cycle starts_ = 0;               // of the choice that is being made
  Inputs at_rest_;
  bool may_begin_ = false;  // a choice, in the first cycle of rest
};

}  // namespace

std::unique_ptr<DimensionArbiter> make_rtl_arbiter(const ArbiterSpec& spec, Cycle arbitration,
                                                   std::size_t stages) {
  if (stages > kRtlQueueStages) {
    throw std::invalid_argument(fmt::format(
        "the queues of dimension_queue.v take up to {} chunks here, but the plan has {}",
        kRtlQueueStages, stages));
  }
  if (arbitration > kRtlLongestArbitration) {
    throw std::invalid_argument(
        fmt::format("an arbitration of {} cycles is longer than the counter of dimension_queue.v",
                    arbitration));
  }
  if (spec.order == QueueOrder::fifo) {
    return std::make_unique<RtlArbiter<RtlFifo>>(arbitration, stages);
  }
  if (spec.ties == TieRule::oldest) {
    return std::make_unique<RtlArbiter<RtlScfOldest>>(arbitration, stages);
  }
  return std::make_unique<RtlArbiter<RtlScfNewest>>(arbitration, stages);
}

}  // namespace espalier
