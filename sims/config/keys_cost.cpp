// Keys of section system.cost: technology, storage, and the user's macros.
#include <algorithm>
#include <string_view>

#include "hw/cost/block_cost.h"
#include "sims/config/key_table.h"

namespace espalier {

namespace {

constexpr std::uint64_t kMicrosecond = 1'000'000;  // picoseconds

// A number of a macro: its name in the configuration, and where UserMacro has it.
struct MacroNumber {
  const char* name;
  double UserMacro::*member;  // nullptr: delay_ps
  const char* meaning;
};
constexpr MacroNumber kArea{"area_um2", &UserMacro::area_um2, "cell area of one instance"};
constexpr MacroNumber kLeakage{"leakage_mW", &UserMacro::leakage_mw, "leakage of one instance"};
constexpr MacroNumber kAccess{"access", nullptr, "access time"};
constexpr MacroNumber kRead{"read_pj", &UserMacro::read_pj, "energy of one read, pJ"};
constexpr MacroNumber kWrite{"write_pj", &UserMacro::write_pj, "energy of one write, pJ"};
constexpr MacroNumber kDelay{"delay", nullptr, "critical path, wires and setup included"};
constexpr MacroNumber kUse{"use_pj", &UserMacro::read_pj, "energy of one use, pJ"};

std::vector<MacroNumber> numbers_of(BlockKind kind) {
  switch (kind) {
    case BlockKind::memory:
      return {kArea, kAccess, kRead, kWrite, kLeakage};
    case BlockKind::table:
      return {kArea, kAccess, kRead, kLeakage};
    case BlockKind::logic:
      return {kArea, kDelay, kUse, kLeakage};
    case BlockKind::uncounted:
      return {kArea, kDelay, kLeakage};
    case BlockKind::phy:
      break;
  }
  return {{"area_um2", &UserMacro::area_um2,
           "cell area of the PHY at one end of a link, both directions"},
          {"leakage_mW", &UserMacro::leakage_mw,
           "leakage, and all other power that does not depend on traffic, at one end of a link"},
          {"pj_per_bit", &UserMacro::read_pj,
           "energy of a bit over a link, both ends and the wire, pJ"}};
}

// The block's name below system.cost.macros.
std::string name_in_macros(CostBlock block) {
  return block == CostBlock::router_phy ? "link" : to_string(block);
}

// Condition under which a system has the block; none: every system has it.
std::optional<KeyCondition> where_it_is(const KeyTable& table, CostBlock block) {
  switch (block) {
    case CostBlock::ni_schedule_table:
    case CostBlock::ni_control:
    case CostBlock::ni_dependency_state:
    case CostBlock::ni_row_repeat:
    case CostBlock::ni_slot_counter:
    case CostBlock::ni_program_memory:
    case CostBlock::ni_program_context:
    case CostBlock::ni_scoreboard:
    case CostBlock::ni_slot_credits:
      return table.where_not_dimensional();
    case CostBlock::ni_dimension_queue:
    case CostBlock::router_adders:
      return table.where_dimensional();
    case CostBlock::ni_readiness_table:
      return table.where("coordination.mode", {"in_ni"});
    default:
      return std::nullopt;
  }
}

struct MacroField {
  CostBlock block;
  MacroNumber number;
};
// In the order of the resolved configuration: the PHY first.
const std::vector<MacroField>& macro_fields() {
  static const std::vector<MacroField> fields = [] {
    std::vector<CostBlock> blocks{CostBlock::router_phy};
    for (std::size_t b = 0; b < kNumCostBlocks; ++b) {
      const auto block = static_cast<CostBlock>(b);
      if (block != CostBlock::router_phy) blocks.push_back(block);
    }
    std::vector<MacroField> all;
    for (const CostBlock block : blocks) {
      for (const MacroNumber& number : numbers_of(kind_of(block))) all.push_back({block, number});
    }
    return all;
  }();
  return fields;
}

ValueField field_of(const MacroField& field) {
  ValueShape shape;
  shape.zero_word = field.block == CostBlock::router_phy ? "none" : "formula";
  if (field.number.member == nullptr) {
    shape.type = ValueType::time;
    shape.min = 1;
    shape.max = kMicrosecond;
  } else {
    shape.type = ValueType::fraction;
    shape.min_excluded = true;
    shape.max_fraction = field.number.member == &UserMacro::area_um2           ? 1e12
                         : std::string_view(field.number.name) == "pj_per_bit" ? 1e6
                                                                               : 1e9;
  }
  return {name_in_macros(field.block) + "." + field.number.name, shape, false,
          field.number.meaning};
}

}  // namespace

void add_cost_keys(KeyTable& table) {
  const auto cost = table.group("system.cost", &RunPoint::system, &SystemConfig::cost);
  const auto flat = cost.only(table.where_not_dimensional());
  const auto dimensional = cost.only(table.where_dimensional());
  cost.choice("technology", &CostSpec::library);
  cost.number(ValueType::length, "node", &CostSpec::node_nm).range(5, 1000).word("auto");
  cost.time("fo4", &CostSpec::fo4_ps).range(1, 10'000).word("auto");
  cost.fraction("utilization", &CostSpec::utilization).above_zero_to(1);
  cost.fraction("wire_margin", &CostSpec::wire_margin).between(0, 10);
  cost.choice("buffers", &CostSpec::buffers);
  flat.choice("table", &CostSpec::table);
  flat.integer("table_entry_bits", &CostSpec::table_entry_bits).range(1, 65536).word("auto");
  dimensional.choice("queues", &CostSpec::queues);
  dimensional.integer("queue_entries", &CostSpec::queue_entries).range(1, 65536).word("auto");
}

// Some blocks depend on the mode of coordination, so this key comes after it in the table.
void add_macros_of_all_blocks(KeyTable& table) {
  Key& key = table.add("system.cost.macros");
  key.shape.type = ValueType::record;
  key.shape.zero_word = "formula";
  for (const MacroField& field : macro_fields()) key.shape.fields.push_back(field_of(field));
  key.optional = true;
  for (std::size_t b = 0; b < kNumCostBlocks; ++b) {
    const auto block = static_cast<CostBlock>(b);
    if (auto condition = where_it_is(table, block)) {
      key.part_conditions.emplace_back(name_in_macros(block), std::move(*condition));
    }
  }
  key.set = [](RunPoint& point, const Value& value) {
    const auto& fields = macro_fields();
    for (std::size_t f = 0; f < fields.size(); ++f) {
      const Value number = value.records.empty() ? Value{} : value.records.front()[f];
      UserMacro& macro = point.system.cost.macro(fields[f].block);
      if (const auto member = fields[f].number.member) {
        macro.*member = number.fraction;
      } else {
        macro.delay_ps = number.number;
      }
    }
  };
  key.get = [](const RunPoint& point) {
    std::vector<Value> numbers;
    for (const MacroField& field : macro_fields()) {
      const UserMacro& macro = point.system.cost.macro(field.block);
      Value& number = numbers.emplace_back();
      if (const auto member = field.number.member) {
        number.fraction = macro.*member;
      } else {
        number.number = macro.delay_ps;
      }
    }
    Value value;
    const bool is_given = std::any_of(numbers.begin(), numbers.end(),
                                      [](const Value& number) { return !(number == Value{}); });
    if (is_given) value.records.push_back(std::move(numbers));
    return value;
  };
}

}  // namespace espalier
