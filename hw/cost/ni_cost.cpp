#include "hw/cost/ni_cost.h"

#include <algorithm>

#include "hw/cost/logic.h"
#include "hw/cost/memory_block.h"

namespace espalier {

namespace {

constexpr std::uint32_t kAddressBits = 64;        // Start Addr of a DMA request
constexpr std::uint32_t kMessagePacketBits = 16;  // 65535 packets of a message
// Of counts of passes, of a step's requests, and of the steps that a context has done.
constexpr std::uint32_t kProgramCountBits = 16;
constexpr SramPorts kTwoPorts = SramPorts::one_read_one_write;

class NiPricer {
 public:
  NiPricer(const CostSpec& spec, const Technology& technology)
      : spec_(spec), technology_(technology) {}

  void add_ports(const NiPorts& ports) {
    if (ports.buffer_flits != 0) {
      const double bits = ports.flit_bits;
      const double words = ports.buffer_flits;
      add_memory(CostBlock::ni_buffers, {words, bits, kTwoPorts, 2 * bits}, spec_.buffers,
                 ports.count, ports.dimension);
      add_logic(CostBlock::ni_fifo_control, logic::fifo_control(ports.buffer_flits),
                logic::fifo_control_depth(ports.buffer_flits),
                RtlInstance{RtlModule::fifo_control, ports.buffer_flits}, ports.count,
                ports.dimension);
    }
    add_sender(ports);
    if (ports.ejection_registers != 0) {
      const double bits = static_cast<double>(ports.ejection_registers) * ports.flit_bits;
      BlockCost registers = logic_block(CostBlock::ni_ejection_registers, logic::flip_flops(bits),
                                        {}, std::nullopt, spec_, technology_);
      registers.clocked_bits = bits;
      registers.words = ports.ejection_registers;
      registers.bits = ports.flit_bits;
      registers.implementation = Implementation::flip_flop;
      add(registers, ports.count, ports.dimension);
    }
    if (ports.adders.count == 0) return;
    BlockCost adders = price_adders(CostBlock::ni_adders, ports.adders, spec_, technology_);
    adders.dimension = ports.dimension;
    cost_.blocks.push_back(adders);
  }

  void add_messages(const MessageTableShape& messages) {
    if (messages.entries == 0) return;
    add_logic(CostBlock::ni_message_table,
              logic::message_table(messages.entries, messages.tag_bits, messages.count_bits),
              logic::message_table_depth(messages.entries),
              RtlInstance{RtlModule::message_table, messages.entries, messages.tag_bits,
                          messages.count_bits});
  }

  void add_program(const ProgramContextsShape& program) {
    const double steps = program.steps;
    const double bits = program.instruction_bits;
    add_memory(CostBlock::ni_program_memory, {steps, bits}, spec_.table, program.contexts);
    const logic::ContextShape context{std::max(1U, bits_for(program.steps)), kProgramCountBits,
                                      kProgramCountBits, bits_for(program.requests + 1ULL),
                                      kAddressBits};
    add_logic(CostBlock::ni_program_context, logic::program_context(context),
              logic::program_context_depth(context),
              RtlInstance{RtlModule::program_context, context.step_bits, context.tile_bits,
                          context.request_bits, context.flight_bits, context.address_bits},
              program.contexts);
    const std::uint32_t slot_bits = bits_for(program.slots + 1ULL);
    add_logic(CostBlock::ni_slot_credits, logic::slot_credits(slot_bits),
              logic::slot_credits_depth(slot_bits), RtlInstance{RtlModule::slot_credits, slot_bits},
              program.contexts);
    if (program.contexts < 2) return;  // a single context waits for no other
    add_logic(CostBlock::ni_scoreboard,
              logic::program_scoreboard(program.contexts, kProgramCountBits),
              logic::program_scoreboard_depth(program.contexts, kProgramCountBits),
              RtlInstance{RtlModule::program_scoreboard, program.contexts, kProgramCountBits});
  }

  void add_table(const ScheduleTableShape& table) {
    const double entries = table.entries;
    const double bits = table.entry_bits;
    // A row that repeats is written back while the next one is read.
    const SramPorts row_ports = table.repeat_bits != 0 ? kTwoPorts : SramPorts::one_read_write;
    const double contexts = table.contexts;
    add_memory(CostBlock::ni_schedule_table, {entries, bits, row_ports}, spec_.table, contexts);
    add_logic(CostBlock::ni_control,
              logic::ni_control(table.step_bits, table.lockstep_bits, table.issue_per_cycle),
              logic::ni_control_depth(table.step_bits, table.lockstep_bits),
              RtlInstance{RtlModule::ni_control, table.step_bits, table.lockstep_bits,
                          table.issue_per_cycle},
              contexts);
    BlockCost dependencies =
        logic_block(CostBlock::ni_dependency_state,
                    logic::dependency_state(table.places, table.issue_per_cycle, table.turnaround),
                    logic::dependency_state_depth(table.places),
                    RtlInstance{RtlModule::dependency_state, table.places, table.issue_per_cycle,
                                table.turnaround},
                    spec_, technology_);
    dependencies.words = table.places;
    dependencies.bits = 1;
    add(dependencies, contexts);
    if (table.slot_bits != 0) {
      add_logic(CostBlock::ni_slot_counter, logic::slot_counter(table.slot_bits),
                logic::slot_counter_depth(table.slot_bits),
                RtlInstance{RtlModule::slot_counter, table.slot_bits, 0}, contexts);
    }
    if (table.repeat_bits == 0) return;
    add_logic(CostBlock::ni_row_repeat, logic::row_repeat(kAddressBits, table.repeat_bits),
              logic::row_repeat_depth(kAddressBits),
              RtlInstance{RtlModule::row_repeat, kAddressBits, table.repeat_bits}, contexts);
  }

  void add_queue(const DimensionQueueShape& queue) {
    if (queue.finds_smallest) {
      cost_.blocks.push_back(price_scf_queue(queue, spec_, technology_));
      return;
    }
    const double bits = queue.key_bits + bits_for(queue.entries);
    const double entries = queue.entries;
    add_memory(CostBlock::ni_dimension_queue, {entries, bits, kTwoPorts}, spec_.queues, 1,
               queue.dimension);
  }

  void add_readiness(const ReadinessShape& shape) {
    BlockCost table = logic_block(
        CostBlock::ni_readiness_table, logic::readiness_table(shape.units, shape.children),
        logic::readiness_table_depth(shape.units, shape.children),
        RtlInstance{RtlModule::readiness_table, shape.units, shape.children}, spec_, technology_);
    table.words = shape.units;
    table.bits = shape.children + 1.0;
    add(table);
  }

  NiCost take() { return std::move(cost_); }

 private:
  void add_sender(const NiPorts& ports) {
    if (ports.send_queue != 0) {
      const double entries = ports.send_queue;
      const double bits = ports.descriptor_bits;
      add_memory(CostBlock::ni_send_queue, {entries, bits, kTwoPorts}, spec_.buffers, ports.count,
                 ports.dimension);
    }
    // The packets that the buffer holds are read ahead.
    const std::uint32_t reads = std::max(1U, ports.buffer_flits / std::max(1U, ports.packet_flits));
    add_logic(CostBlock::ni_dma_engine, logic::dma_engine(kAddressBits),
              logic::dma_engine_depth(kAddressBits),
              RtlInstance{RtlModule::dma_engine, kAddressBits,
                          std::max(1U, bits_for(ports.payload_bytes)),
                          std::max(2U, bits_for(reads + 1ULL))},
              ports.count, ports.dimension);
    const std::uint32_t flits = bits_for(ports.packet_flits + 1ULL);
    const logic::PacketizerShape shape{ports.flit_bits, ports.vcs,
                                       std::max(flits + 1, bits_for(ports.credits + 1ULL)), flits,
                                       kMessagePacketBits};
    add_logic(CostBlock::ni_packetizer, logic::packetizer(shape),
              logic::packetizer_depth(shape.credit_bits),
              RtlInstance{RtlModule::packetizer, shape.flit_bits, shape.vcs, shape.credit_bits,
                          shape.packet_bits, shape.message_bits},
              ports.count, ports.dimension);
  }

  void add_logic(CostBlock block, Gates gates, Depth depth, const RtlInstance& rtl,
                 double count = 1, std::uint32_t dimension = 0) {
    add(logic_block(block, gates, depth, rtl, spec_, technology_), count, dimension);
  }
  void add_memory(CostBlock block, const MemoryShape& shape, Storage storage, double count = 1,
                  std::uint32_t dimension = 0) {
    add(memory_block(block, shape, storage, technology_), count, dimension);
  }
  void add(BlockCost block, double count = 1, std::uint32_t dimension = 0) {
    block.count = count;
    block.dimension = dimension;
    apply_macro(block, spec_.macro(block.block), technology_.fo4_ps());
    cost_.blocks.push_back(block);
  }

  const CostSpec& spec_;
  const Technology& technology_;
  NiCost cost_;
};

}  // namespace

bool is_extension(CostBlock block) {
  // The blocks of the extension are the last ones, but for the engine of each port.
  return block == CostBlock::ni_dma_engine || block >= CostBlock::ni_schedule_table;
}

AreaRange NiCost::area_if(bool (*counts)(CostBlock block)) const {
  AreaRange sum;
  for (const BlockCost& block : blocks) {
    if (counts(block.block)) sum = sum + block.area();
  }
  return sum;
}

BlockCost price_scf_queue(const DimensionQueueShape& queue, const CostSpec& spec,
                          const Technology& technology) {
  const std::uint32_t entries = std::max(2U, queue.entries);  // the least that the module takes
  const std::uint32_t chunk_bits = bits_for(entries);
  BlockCost cost = logic_block(
      CostBlock::ni_dimension_queue, logic::scf_queue(entries, queue.key_bits, chunk_bits),
      logic::scf_queue_depth(entries, queue.key_bits),
      RtlInstance{RtlModule::dimension_queue, entries, queue.key_bits, chunk_bits}, spec,
      technology);
  cost.implementation = Implementation::flip_flop;
  cost.words = entries;
  cost.bits = queue.key_bits + chunk_bits;
  cost.write_pj = flip_flop_access_pj(cost.bits, technology);
  cost.dimension = queue.dimension;
  apply_macro(cost, spec.macro(cost.block), technology.fo4_ps());
  return cost;
}

NiCost price_ni(const NiShape& shape, const CostSpec& spec, const Technology& technology) {
  NiPricer pricer(spec, technology);
  for (const NiPorts& ports : shape.ports) pricer.add_ports(ports);
  pricer.add_messages(shape.messages);
  if (shape.table) pricer.add_table(*shape.table);
  if (shape.program) pricer.add_program(*shape.program);
  for (const DimensionQueueShape& queue : shape.queues) pricer.add_queue(queue);
  if (shape.readiness) pricer.add_readiness(*shape.readiness);
  return pricer.take();
}

}  // namespace espalier
