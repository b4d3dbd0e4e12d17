#include "ni/rtl/rtl_dependencies.h"

#include <RtlDependencyState.h>
#include <RtlDependencyState___024root.h>
#include <fmt/format.h>

#include <stdexcept>
#include <vector>

#include "hw/bits.h"
#include "hw/clocked_verilog.h"

namespace espalier {

namespace {

constexpr std::uint32_t kPlaceBits = 13;
constexpr std::uint32_t kThroughBits = 14;
static_assert(kRtlPlaces == 1U << kPlaceBits);

// Writes field `index` of a port of many words.
template <class Words>
void put_field(Words& words, std::uint32_t index, std::uint32_t bits, std::uint32_t value) {
  for (std::uint32_t b = 0; b < bits; ++b) {
    const std::uint32_t at = index * bits + b;
    const std::uint32_t mask = 1U << (at % 32);
    words[at / 32] = (value >> b & 1U) != 0 ? words[at / 32] | mask : words[at / 32] & ~mask;
  }
}

// The Verilog sees a cycle at its first event or decision. Its clock rises when the cycle is over.
class RtlDependencyTable : public DependencyState, private RtlProbe {
 public:
  RtlDependencyTable(const TableProgram& program, Cycle turnaround, std::uint32_t issue_per_cycle)
      : DependencyState(program, turnaround), issue_per_cycle_(issue_per_cycle) {
    refuse("entries in a cycle", kRtlIssuePerCycle, issue_per_cycle);
    refuse("places of events", kRtlPlaces, program.num_places());
    refuse("cycles of turnaround", kRtlTurnaround, turnaround);
    model_->turnaround = static_cast<std::uint8_t>(turnaround);
    model_->comes = 0;
    model_->reads_back = 0;
    model_.reset();
  }

  [[nodiscard]] bool is_clear(std::size_t entry, Cycle now) override {
    begin(now);
    if (!is_asked_) head_ = entry;
    is_asked_ = true;
    if (entry < head_ || entry - head_ >= issue_per_cycle_) {
      throw std::logic_error("dependency_state.v does not see this entry");
    }
    const auto place = static_cast<std::uint32_t>(entry - head_);
    put_field(model_->through, place, kThroughBits, program().entries[entry].through);
    model_.low();
    return (model_->clear >> place & 1U) != 0;
  }
  [[nodiscard]] RtlProbe* rtl_probe() override { return this; }

 private:
  [[nodiscard]] const char* module() const override { return "dependency_state"; }
  [[nodiscard]] std::vector<RtlSignal> signals() const override {
    const auto* registers = model_->rootp;
    std::vector<RtlSignal> all{
        {"missing", bits_to_count(program().num_places()),
         [registers] { return registers->dependency_state__DOT__missing; }},
    };
    // An event of a cycle has a bit in each stage. With each cycle it moves to the stage before.
    static_assert(kRtlEventsPerCycle == 32);
    for (std::uint32_t stage = 0; stage < turnaround(); ++stage) {
      all.push_back(
          {fmt::format("delayed{}", stage), 2 * issue_per_cycle_,
           [registers, stage] { return registers->dependency_state__DOT__delayed[stage]; },
           RtlKind::mask});
    }
    return all;
  }
  void catch_up(Cycle until) override {
    if (until > cycle_) begin(until);
  }

  static void refuse(const char* what, std::uint64_t has, std::uint64_t needs) {
    if (needs <= has) return;
    throw std::invalid_argument(fmt::format(
        "simulation.rtl: dependency_state.v has {} {} here, but an NI needs {}", has, what, needs));
  }

  void set_place(std::uint32_t place, bool reads_back, Cycle now) override {
    begin(now);
    refuse("events in a cycle", kRtlEventsPerCycle, events_ + 1);
    const std::uint32_t bit = 1U << events_;
    model_->comes |= bit;
    if (reads_back) model_->reads_back |= bit;
    put_field(model_->place, events_, kPlaceBits, place);
    ++events_;
    if (reads_back) delayed_before_ = now + 1 + turnaround();
  }

  // Ends the cycles before `now`. A cycle without an event, with none that waits for its
  // write-back, leaves the registers as they are, and its clock is left out.
  void begin(Cycle now) {
    if (now < cycle_) throw std::logic_error("dependency_state.v has had this cycle");
    while (cycle_ < now) {
      const bool is_idle = events_ == 0 && cycle_ >= delayed_before_;
      if (!is_idle || is_watched()) low();
      if (!is_idle) model_.rise();
      cycle_ = is_idle ? now : cycle_ + 1;
      is_asked_ = false;
      events_ = 0;
      model_->comes = 0;
      model_->reads_back = 0;
    }
  }
  void low() {
    model_.low();
    settled(cycle_);
  }

  std::uint32_t issue_per_cycle_;
  ClockedVerilog<RtlDependencyState> model_;
  Cycle cycle_ = 0;           // that the registers belong to
  Cycle delayed_before_ = 0;  // from this cycle on, no event waits for its write-back
  std::uint32_t events_ = 0;  // of the present cycle
  bool is_asked_ = false;     // a decision of the present cycle
  std::size_t head_ = 0;      // the first entry of these decisions
};

}  // namespace

std::unique_ptr<DependencyState> make_rtl_dependencies(const TableProgram& program,
                                                       Cycle turnaround,
                                                       std::uint32_t issue_per_cycle) {
  return std::make_unique<RtlDependencyTable>(program, turnaround, issue_per_cycle);
}

}  // namespace espalier
