#include "hw/cost/ni_cost.h"

#include <algorithm>

#include "hw/cost/logic.h"
#include "hw/cost/memory_block.h"

namespace espalier {

namespace {

constexpr std::uint32_t kAddressBits = 64;  // Start Addr of a DMA request
constexpr std::uint32_t kSizeBits = 64;

class NiPricer {
 public:
  NiPricer(const CostSpec& spec, const Technology& technology)
      : spec_(spec), technology_(technology) {}

  void add_ports(const NiPorts& ports) {
    if (ports.buffer_flits != 0) {
      MemoryShape shape;
      shape.words = ports.buffer_flits;
      shape.bits = ports.flit_bits;
      shape.ports = SramPorts::one_read_one_write;
      shape.beside_flip_flops = logic::flip_flops(2.0 * ports.flit_bits);
      add(memory_block(CostBlock::ni_buffers, shape, spec_.buffers, technology_), ports.count,
          ports.dimension);
      const std::uint32_t pointer = std::max(1U, bits_for(ports.buffer_flits));
      add(logic_block(CostBlock::ni_fifo_control, logic::fifo_control(pointer),
                      logic::fifo_control_depth(pointer),
                      RtlInstance{RtlModule::fifo_control, pointer, 0}, spec_, technology_),
          ports.count, ports.dimension);
    }
    add(logic_block(CostBlock::ni_dma_registers, logic::flip_flops(kAddressBits + kSizeBits), {},
                    std::nullopt, spec_, technology_),
        ports.count, ports.dimension);
  }

  void add_table(const ScheduleTableShape& table) {
    MemoryShape shape;
    shape.words = table.entries;
    shape.bits = table.entry_bits;
    // A row that repeats is written back while the next one is read.
    if (table.repeat_bits != 0) shape.ports = SramPorts::one_read_one_write;
    add(memory_block(CostBlock::ni_schedule_table, shape, spec_.table, technology_));
    add(logic_block(CostBlock::ni_control,
                    logic::ni_control(table.step_bits, table.lockstep_bits, table.issue_per_cycle),
                    logic::ni_control_depth(table.step_bits, table.lockstep_bits),
                    RtlInstance{RtlModule::ni_control, table.step_bits, table.lockstep_bits,
                                table.issue_per_cycle},
                    spec_, technology_));
    add(logic_block(CostBlock::ni_dependency_table,
                    logic::dependency_table(table.dependencies, table.tag_bits),
                    logic::dependency_match_depth(table.dependencies, table.tag_bits),
                    RtlInstance{RtlModule::dependency_table, table.dependencies, table.tag_bits},
                    spec_, technology_));
    if (table.slot_bits != 0) {
      add(logic_block(CostBlock::ni_slot_counter, logic::slot_counter(table.slot_bits),
                      logic::slot_counter_depth(table.slot_bits),
                      RtlInstance{RtlModule::slot_counter, table.slot_bits, 0}, spec_,
                      technology_));
    }
    if (table.repeat_bits == 0) return;
    add(logic_block(CostBlock::ni_row_repeat, logic::row_repeat(kAddressBits, table.repeat_bits),
                    logic::row_repeat_depth(kAddressBits),
                    RtlInstance{RtlModule::row_repeat, kAddressBits, table.repeat_bits}, spec_,
                    technology_));
  }

  void add_queue(const DimensionQueueShape& queue) {
    if (queue.finds_smallest) {
      cost_.blocks.push_back(price_scf_queue(queue, spec_, technology_));
      return;
    }
    MemoryShape shape;
    shape.words = queue.entries;
    shape.bits = queue.key_bits + bits_for(queue.entries);
    shape.ports = SramPorts::one_read_one_write;
    add(memory_block(CostBlock::ni_dimension_queue, shape, spec_.queues, technology_), 1,
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
  return block == CostBlock::ni_dma_registers || block == CostBlock::ni_schedule_table ||
         block == CostBlock::ni_control || block == CostBlock::ni_dependency_table ||
         block == CostBlock::ni_row_repeat || block == CostBlock::ni_slot_counter ||
         block == CostBlock::ni_dimension_queue || block == CostBlock::ni_readiness_table;
}

AreaRange NiCost::extension() const {
  AreaRange sum;
  for (const BlockCost& block : blocks) {
    if (is_extension(block.block)) sum = sum + block.area();
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
  if (shape.table) pricer.add_table(*shape.table);
  for (const DimensionQueueShape& queue : shape.queues) pricer.add_queue(queue);
  if (shape.readiness) pricer.add_readiness(*shape.readiness);
  return pricer.take();
}

}  // namespace espalier
