// A router of our own, written without Espalier's router: one FIFO per input and VC, an ideal
// crossbar, and flits of different packets in any order on an output. It needs only the type of a
// flit from Espalier.
#pragma once

#include <cstdint>
#include <queue>
#include <string>
#include <systemc>
#include <vector>

#include "sockets/signals/router_socket.h"

SC_MODULE(OwnRouter) {
  using Flit = espalier::SignalFlit;

  sc_core::sc_in<bool> clk{"clk"};
  sc_core::sc_vector<sc_core::sc_in<bool>> in_valid;
  sc_core::sc_vector<sc_core::sc_in<Flit>> in_flit;
  sc_core::sc_vector<sc_core::sc_out<std::uint32_t>> in_credits;
  sc_core::sc_vector<sc_core::sc_out<bool>> out_valid;
  sc_core::sc_vector<sc_core::sc_out<Flit>> out_flit;
  sc_core::sc_vector<sc_core::sc_in<std::uint32_t>> out_credits;

  OwnRouter(sc_core::sc_module_name name, const espalier::RouterSignals& place)
      : sc_module(name),
        in_valid("in_valid", place.inputs.size()),
        in_flit("in_flit", place.inputs.size()),
        in_credits("in_credits", place.inputs.size()),
        out_valid("out_valid", place.outputs.size()),
        out_flit("out_flit", place.outputs.size()),
        out_credits("out_credits", place.outputs.size()),
        vcs(place.spec.vcs),
        fifos(place.inputs.size() * vcs),
        to_vc(fifos.size(), kNone) {
    for (const auto& signals : place.outputs) outputs.emplace_back(signals->spec);
    SC_HAS_PROCESS(OwnRouter);
    SC_METHOD(edge);
    sensitive << clk.pos();
    dont_initialize();
  }

  void bind(sc_core::sc_clock & clock, espalier::RouterSignals & place) {
    clk(clock);
    for (std::size_t i = 0; i < place.inputs.size(); ++i) {
      in_valid[i](place.inputs[i]->valid);
      in_flit[i](place.inputs[i]->flit);
      in_credits[i](place.inputs[i]->credits);
    }
    for (std::size_t o = 0; o < place.outputs.size(); ++o) {
      out_valid[o](place.outputs[o]->valid);
      out_flit[o](place.outputs[o]->flit);
      out_credits[o](place.outputs[o]->credits);
    }
  }

  std::uint64_t flits_passed = 0;

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Output {
    explicit Output(const espalier::FlitChannelSpec& spec)
        : ejects(spec.vc_depth_flits == 0),
          gap(spec.cycles_per_flit),
          credits(spec.vcs, ejects ? 1 : spec.vc_depth_flits),
          owned(spec.vcs, false) {}
    bool ejects;        // to the NI, which takes every flit and returns no credits
    std::uint32_t gap;  // the link carries a flit in every so many cycles
    std::uint32_t busy = 0;
    std::vector<std::uint32_t> credits;
    std::vector<bool> owned;  // by a packet that has not ended
    std::size_t turn = 0;     // round robin over inputs and VCs
  };

  // The VC for the flit at the front of FIFO `f`; kNone if the flit must wait.
  std::uint32_t vc_for(std::size_t f, const Flit& flit, const Output& out) const {
    if (to_vc[f] != kNone) return out.credits[to_vc[f]] != 0 ? to_vc[f] : kNone;
    for (std::uint32_t vc = 0; vc < vcs; ++vc) {
      if ((flit.out_vcs >> vc & 1) != 0 && !out.owned[vc] && out.credits[vc] != 0) return vc;
    }
    return kNone;
  }

  void edge() {
    // Decide from what is in the FIFOs, then take what arrives: a flit stays for one cycle at
    // least.
    std::vector<std::uint32_t> freed(in_valid.size(), 0);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      Output& out = outputs[o];
      for (std::uint32_t vc = 0; vc < vcs; ++vc) out.credits[vc] += out_credits[o].read() >> vc & 1;
      out_valid[o].write(false);
      if (out.busy != 0 && --out.busy != 0) continue;
      for (std::size_t n = 0; n < fifos.size(); ++n) {
        const std::size_t f = (out.turn + n) % fifos.size();
        if (fifos[f].empty() || fifos[f].front().out_port != o) continue;
        Flit flit = fifos[f].front();
        const std::uint32_t vc = vc_for(f, flit, out);
        if (vc == kNone) continue;
        const bool ends = espalier::releases_vc(flit.type);
        out.owned[vc] = !ends;
        to_vc[f] = ends ? kNone : vc;
        if (!out.ejects) --out.credits[vc];
        flit.vc = vc;
        out_valid[o].write(true);
        out_flit[o].write(flit);
        out.busy = out.gap;
        out.turn = f + 1;
        fifos[f].pop();
        freed[f / vcs] |= std::uint32_t{1} << f % vcs;
        ++flits_passed;
        break;
      }
    }
    for (std::size_t i = 0; i < in_valid.size(); ++i) {
      in_credits[i].write(freed[i]);
      if (in_valid[i].read()) fifos[i * vcs + in_flit[i].read().vc].push(in_flit[i].read());
    }
  }

  std::uint32_t vcs;
  std::vector<Output> outputs;
  std::vector<std::queue<Flit>> fifos;  // by input, then VC
  std::vector<std::uint32_t> to_vc;     // by FIFO: the VC of the packet that is leaving
};
