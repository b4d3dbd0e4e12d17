// RING's all-reduce on a ring of six nodes, with a network interface in Verilog at node r_2.
#include <cstdio>
#include <memory>

#include "Vring_ni.h"
#include "alg/generators/generator.h"
#include "alg/schedule/schedule_table.h"
#include "axi_stream.h"
#include "hw/clock/clock_domain.h"
#include "sims/model/build_topology.h"
#include "sims/point/config.h"
#include "sims/system/elaboration.h"
#include "sims/system/simulation.h"

using namespace espalier;

// Writes the messages of the node's schedule table into the Verilog NI, one row per cycle, and
// starts it.
SC_MODULE(TableWriter) {
  sc_core::sc_signal<bool> write{"write"}, is_reduce{"is_reduce"}, start{"start"};
  sc_core::sc_signal<std::uint32_t> flow{"flow"}, destination{"destination"}, beats{"beats"};

  TableWriter(sc_core::sc_module_name name, sc_core::sc_clock & clock, const NiSignals& ni)
      : sc_module(name), sends(ni.sends) {
    SC_HAS_PROCESS(TableWriter);
    SC_METHOD(edge);
    sensitive << clock.posedge_event();
    dont_initialize();
  }

 private:
  void edge() {
    write.write(row < sends.size());
    start.write(row > sends.size());
    if (row < sends.size()) {
      flow.write(sends[row].flow);
      destination.write(sends[row].destination);
      is_reduce.write(sends[row].kind == TransferKind::reduce);
      beats.write(static_cast<std::uint32_t>(AxiStreamNi::beats(sends[row])));
    }
    ++row;
  }
  const std::vector<NiSend>& sends;
  std::size_t row = 0;
};

// The Verilog NI, its table, and AXI4-Stream between them and the network.
struct VerilogNi {
  VerilogNi(sc_core::sc_clock& clock, NiSignals& ni)
      : axi("axi", ni), table("table", clock, ni), rtl("rtl") {
    axi.bind(clock);
    rtl.clk(clock);
    rtl.table_write(table.write);
    rtl.table_flow(table.flow);
    rtl.table_destination(table.destination);
    rtl.table_is_reduce(table.is_reduce);
    rtl.table_beats(table.beats);
    rtl.start(table.start);
    AxiStreamSignals& tx = *axi.sent[0];
    rtl.tx_tvalid(tx.tvalid);
    rtl.tx_tready(tx.tready);
    rtl.tx_tlast(tx.tlast);
    rtl.tx_tid(tx.tid);
    rtl.tx_tdest(tx.tdest);
    rtl.tx_tuser(tx.tuser);
    AxiStreamSignals& rx = *axi.received[0];
    rtl.rx_tvalid(rx.tvalid);
    rtl.rx_tready(rx.tready);
    rtl.rx_tlast(rx.tlast);
    rtl.messages_received(received);
  }
  AxiStreamNi axi;
  TableWriter table;
  sc_core::sc_signal<std::uint32_t> received{"received"};
  Vring_ni rtl;
};

int sc_main(int, char**) {
  prepare_kernel();
  RunPoint point;  // every key of a configuration, with its default
  point.system.topology.type = "torus";
  point.system.topology.set("dims", {6});
  point.system.topology.external.nis = {"r_2"};
  point.system.ni.ports = 1;
  point.collective.emplace();
  const Topology topology = build_topology(point.system);
  CollectiveRequest request;
  request.op = CollectiveOp::all_reduce;
  request.size = 48 * 1024;
  const ScheduleTables tables =
      lower_to_tables(find_generator("ring")->generate(topology, request));

  std::unique_ptr<VerilogNi> ni;
  SimulationHooks hooks;
  hooks.elaborate = [&](Elaboration& elaboration) {
    ni = std::make_unique<VerilogNi>(elaboration.clock(), elaboration.ni("r_2"));
  };
  const SimulationOutcome outcome = simulate_collective(topology, point, tables, hooks);
  std::printf("%llu cycles, verified: %s\n", static_cast<unsigned long long>(outcome.cycles),
              outcome.verified ? "true" : "false");
  if (!outcome.verified) std::fprintf(stderr, "%s\n", outcome.failure.c_str());
  return outcome.verified ? 0 : 1;
}
