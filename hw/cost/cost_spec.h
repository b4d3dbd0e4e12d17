// The user's statements about hardware cost: technology, storage, and macros.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace espalier {

// The modules of hw/rtl. A synthesis tool can measure them in place of a formula.
enum class RtlModule : std::uint8_t {
  ni_control,
  dependency_state,
  fifo_control,
  dimension_queue,
  readiness_table,
  row_repeat,
  slot_counter,
  fp_adder,
  dma_engine,
  packetizer,
  message_table,
  program_context,
  program_scoreboard,
  slot_credits,
  output_state,
  credit_counter,
  switch_allocator
};

// A module with its parameters in the order of its source: ni_control S, L, I; dependency_state N,
// I, T; fifo_control D; dimension_queue N, K, I; readiness_table UNITS, CHILDREN; row_repeat A, N;
// slot_counter N; fp_adder E, M; dma_engine A, P, O; packetizer W, V, C, F, N; message_table N, K,
// C; program_context S, T, R, I, A; program_scoreboard N, B; slot_credits B;
// output_state and switch_allocator P, V, SHARED; credit_counter D. The others are 0.
struct RtlInstance {
  RtlModule module = RtlModule::ni_control;
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  std::uint32_t third = 0;
  std::uint32_t fourth = 0;
  std::uint32_t fifth = 0;

  [[nodiscard]] friend bool operator==(const RtlInstance& a, const RtlInstance& b) {
    return a.module == b.module && a.first == b.first && a.second == b.second &&
           a.third == b.third && a.fourth == b.fourth && a.fifth == b.fifth;
  }
};

// A synthesis tool's measurement of a module: area in drive-1 NAND2s and critical path in FO4, in
// the libraries to which the module was mapped. Wires are not included.
struct SynthesizedLogic {
  RtlInstance instance;
  double gates = 0;
  double fo4 = 0;
  // From a user's library. ps takes the place of fo4; 0: the library has no timing.
  double ps = 0;
  std::optional<double> leakage_uw;  // empty: the library's cells have no leakage
};

// What a user's Liberty file says of its cells.
struct UserLibrary {
  std::string name;
  double nand2_um2 = 0;  // of the smallest NAND2
};

// Cell libraries; hw/cost/technology.cpp has their areas, read from Liberty or LEF files.
enum class CellLibrary : std::uint8_t {
  osu050,
  osu035,
  osu018,
  gf180mcu,
  ihp_sg13g2,
  sky130hd,
  nangate45,
  asap7
};

// How a memory is built; automatic: flip-flops or SRAM, whichever is smaller.
enum class Storage : std::uint8_t { automatic, flip_flop, sram };

// The priced blocks. Router: buffers at each input port, control of each VC's FIFO, crossbar,
// allocators, state of the outputs, credits for each VC of the links that leave; in a switch that
// reduces, adders. Any NI: at each port buffers, descriptors of messages to send (send queue), a
// DMA engine, a packetizer and registers of ejected flits; a table of partly arrived messages;
// adders. NI that executes schedules: schedule table, its control, dependency state. NI that runs
// collective programs: for each program context an instruction memory, a sequencer and slot
// credits; a scoreboard. NI of a multi-dimensional system: for each dimension a dimension queue.
// NI that coordinates jobs: readiness table.
enum class CostBlock : std::uint8_t {
  router_buffers,
  router_fifo_control,
  router_crossbar,
  router_allocators,
  router_output_state,
  router_credit_counters,
  router_adders,
  router_phy,
  ni_buffers,
  ni_fifo_control,
  ni_send_queue,
  ni_dma_engine,
  ni_packetizer,
  ni_ejection_registers,
  ni_message_table,
  ni_adders,
  ni_schedule_table,
  ni_control,
  ni_dependency_state,
  ni_row_repeat,
  ni_slot_counter,
  ni_dimension_queue,
  ni_program_memory,
  ni_program_context,
  ni_scoreboard,
  ni_slot_credits,
  ni_readiness_table
};
inline constexpr std::size_t kNumCostBlocks =
    static_cast<std::size_t>(CostBlock::ni_readiness_table) + 1;

// A user's numbers for one instance of a block. A number of 0 is replaced by the formula's. For
// logic, `read_pj` is the energy of one use; for a PHY, the energy of a bit over its link: both
// ends and the wire.
struct UserMacro {
  double area_um2 = 0;
  std::uint64_t delay_ps = 0;  // access time of a memory, critical path of logic; margin included
  double read_pj = 0;
  double write_pj = 0;
  double leakage_mw = 0;
};

struct CostSpec {
  CellLibrary library = CellLibrary::nangate45;
  std::uint64_t node_nm = 0;  // feature size; 0: the library's own
  std::uint64_t fo4_ps = 0;   // delay of an inverter that drives four; 0: derived from the node
  double utilization = 0.70;  // cell area / placed area
  double wire_margin = 0.30;  // added to logic delay for wires and setup
  Storage buffers = Storage::automatic;
  Storage table = Storage::automatic;
  Storage queues = Storage::automatic;
  std::uint32_t table_entry_bits = 0;  // 0: the sum of the fields that the topology needs
  std::uint32_t queue_entries = 0;     // of each dimension queue; 0: enough for the expected chunks
  std::array<UserMacro, kNumCostBlocks> macros;
  std::vector<SynthesizedLogic> synthesized;  // replace the formulas for these modules
  std::optional<UserLibrary> user_library;    // takes the place of `library` for logic

  [[nodiscard]] const UserMacro& macro(CostBlock block) const {
    return macros[static_cast<std::size_t>(block)];
  }
  [[nodiscard]] UserMacro& macro(CostBlock block) {
    return macros[static_cast<std::size_t>(block)];
  }
  // The PHY at one end of a link, both directions. No formula prices it; 0: not given.
  [[nodiscard]] const UserMacro& link() const { return macro(CostBlock::router_phy); }
};

}  // namespace espalier
