// Random packets at a router's inputs, and what the model decides for them.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "router/output_hold.h"
#include "router/router_rules.h"

namespace espalier::test {

struct LeavingFlit {
  std::uint32_t output;
  bool tail;
  bool frees_vc;
};

struct HoldCycle {
  std::vector<HoldRequest> requests;
  std::vector<HoldGrant> grants;
  std::vector<LeavingFlit> leaving;  // by ascending output
};

// A VC's credits as bits, for choose_vc().
struct CreditBits {
  VcMask bits;
  [[nodiscard]] bool has_room(std::uint32_t vc, std::uint32_t, Tick) const {
    return (bits >> vc & 1U) != 0;
  }
  [[nodiscard]] Tick room_at(std::uint32_t, std::uint32_t) const { return 0; }
  [[nodiscard]] Tick unsent_credit(Cycle) const { return 0; }
};

// Packets of 1 to 4 flits wait in every VC. With `messages` each belongs to a message of up to four
// sub-packets. Flits, credits and wires are there at random.
class HoldTraffic {
 public:
  HoldTraffic(HoldSpec spec, bool messages, std::uint64_t seed)
      : spec_(std::move(spec)),
        messages_(messages),
        draw_(seed),
        model_(spec_, spec_.inputs),
        waiting_(std::size_t{spec_.inputs} * spec_.vcs),
        holder_(spec_.outputs, nullptr) {}

  const HoldCycle& next() {
    cycle_ = {};
    make_requests();
    decide();
    move_flits();
    return cycle_;
  }

 private:
  struct Packet {
    std::uint32_t sub_packets = 0;  // 0: the message is over
    std::uint32_t flits = 0;        // left
    std::uint32_t output = 0;
    VcMask permitted = 0;
    bool inside = false;
  };

  bool chance(unsigned percent) { return draw_() % 100 < percent; }
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(draw_() % limit); }
  VcMask mask() { return static_cast<VcMask>(draw_()) & all_vcs(spec_.vcs); }
  Packet& packet(std::uint32_t input, std::uint32_t vc) { return waiting_[input * spec_.vcs + vc]; }

  void make_requests() {
    std::vector<bool> wire_free(spec_.outputs);
    for (std::uint32_t o = 0; o < spec_.outputs; ++o) wire_free[o] = !chance(10);
    const unsigned busy = 1 + below(100);
    for (std::uint32_t i = 0; i < spec_.inputs; ++i) {
      for (std::uint32_t vc = 0; vc < spec_.vcs; ++vc) {
        Packet& front = packet(i, vc);
        if (front.sub_packets == 0) {
          front = {messages_ ? 1 + below(4) : 1, 1 + below(4), below(spec_.outputs), mask(), false};
          if (front.permitted == 0) front.permitted = all_vcs(spec_.vcs);
        }
        if (!chance(busy)) continue;
        const VcMask credits = chance(50) ? all_vcs(spec_.vcs) : mask();
        cycle_.requests.push_back({i, vc, front.output, !front.inside, wire_free[front.output],
                                   front.permitted, credits});
      }
    }
  }

  // As the router does.
  void decide() {
    const bool shared = spec_.crossbar_inputs == CrossbarInputs::port;
    SwitchAllocator& allocator = model_.allocator();
    allocator.clear();
    std::vector<VcMask> waiting(spec_.inputs, 0);
    for (const HoldRequest& request : cycle_.requests) {
      waiting[request.input] |= VcMask{1} << request.vc & ~model_.streaming(request.input);
    }
    for (std::uint32_t i = 0; i < spec_.inputs; ++i) {
      if (waiting[i] == 0 || (shared && model_.streaming(i) != 0)) continue;
      request_outputs(allocator, model_.arbiter_of(i), shared, waiting[i],
                      [&](std::uint32_t vc, SwitchAllocator::Request& asked) {
                        return make_request(i, vc, asked);
                      });
    }
    if (!allocator.any()) return;
    for (const SwitchAllocator::Request& winner : model_.decide()) {
      cycle_.grants.push_back({winner.input, winner.vc, winner.output, winner.out_vc});
      holder_[winner.output] = &packet(winner.input, winner.vc);
    }
  }
  bool make_request(std::uint32_t input, std::uint32_t vc, SwitchAllocator::Request& asked) {
    const auto given = std::find_if(
        cycle_.requests.begin(), cycle_.requests.end(),
        [&](const HoldRequest& request) { return request.input == input && request.vc == vc; });
    if (!given->wire_free || model_.is_held(given->output)) return false;
    const VcMask candidates = model_.candidates(input, vc, given->output, given->permitted);
    const VcChoice choice =
        choose_vc(CreditBits{given->credits}, candidates, 1, 0, 0, model_.first_vc(given->output));
    if (choice.vc == kNoVc) return false;
    asked = {crossbar_input_of(spec_.crossbar_inputs, input, vc, spec_.vcs),
             given->output,
             input,
             vc,
             choice.vc,
             given->starts,
             0,
             0};
    return true;
  }

  void move_flits() {
    for (std::uint32_t o = 0; o < spec_.outputs; ++o) {
      if (holder_[o] == nullptr || chance(20)) continue;
      Packet& front = *holder_[o];
      const bool tail = --front.flits == 0;
      front.inside = spec_.hold == SwitchHold::flit && !tail;
      if (tail && --front.sub_packets != 0) front.flits = 1 + below(4);
      const bool frees_vc = front.sub_packets == 0;
      cycle_.leaving.push_back({o, tail, frees_vc});
      model_.flit_leaves(o, tail, frees_vc);
      if (tail || spec_.hold == SwitchHold::flit) holder_[o] = nullptr;
    }
  }

  HoldSpec spec_;
  bool messages_;
  std::mt19937_64 draw_;
  SeparableHold model_;
  std::vector<Packet> waiting_;  // by input, then VC
  std::vector<Packet*> holder_;  // by output
  HoldCycle cycle_;
};

}  // namespace espalier::test
