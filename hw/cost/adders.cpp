#include "hw/cost/adders.h"

#include <algorithm>

#include "hw/cost/logic.h"

namespace espalier {

namespace {

struct Published {
  double um2;  // at 45 nm
  double pj;   // of an addition
};
constexpr double kPublishedAtNm = 45;
constexpr Published kInt8{36, 0.03};
constexpr Published kFp16{1360, 0.4};
constexpr Published kFp32{4184, 0.9};

struct Format {
  std::uint32_t exponent_bits;
  std::uint32_t fraction_bits;
};
constexpr Format kFp32Format{8, 23};

Format format_of(std::uint32_t element_bytes) {
  if (element_bytes == 2) return {5, 10};
  return element_bytes == 4 ? kFp32Format : Format{11, 52};
}

// Of 8 integer bits: eight full adders of Nangate45, and their carries.
constexpr Gates kInt8Gates{8 * 4.256 / 0.798};
constexpr Depth kInt8Depth{12};

Published number_of(std::uint32_t element_bytes) {
  if (element_bytes == 1) return kInt8;
  if (element_bytes == 2) return kFp16;
  if (element_bytes == 4) return kFp32;
  const double more = logic::fp_adder(format_of(element_bytes).fraction_bits).value /
                      logic::fp_adder(kFp32Format.fraction_bits).value;
  return {more * kFp32.um2, more * kFp32.pj};
}

BlockCost unit_of(CostBlock block, std::uint32_t element_bytes, const CostSpec& spec,
                  const Technology& technology) {
  if (element_bytes == 1) {
    return logic_block(block, kInt8Gates, kInt8Depth, std::nullopt, spec, technology);
  }
  const auto [exponent, fraction] = format_of(element_bytes);
  return logic_block(block, logic::fp_adder(fraction), logic::fp_adder_depth(exponent, fraction),
                     RtlInstance{RtlModule::fp_adder, exponent, fraction}, spec, technology);
}

}  // namespace

Adders adders_for(std::uint64_t bytes, std::uint32_t element_bytes) {
  std::uint32_t width = 8;
  while (element_bytes % width != 0) width /= 2;
  const std::uint64_t count = std::max<std::uint64_t>(1, (bytes + width - 1) / width);
  return {static_cast<std::uint32_t>(count), width};
}

BlockCost price_adders(CostBlock block, const Adders& adders, const CostSpec& spec,
                       const Technology& technology) {
  BlockCost cost = unit_of(block, adders.element_bytes, spec, technology);
  cost.count = adders.count;
  const Published published = number_of(adders.element_bytes);
  const Origin origin = adders.element_bytes == 8 ? Origin::formula : Origin::published;
  // The energy stays the published one where a synthesis tool has measured the area.
  cost.read_pj = technology.logic_energy_factor() * published.pj;
  cost.energy_origin = origin;
  if (cost.origin == Origin::formula) {
    const double scale = technology.node_nm() / kPublishedAtNm;
    const double area = scale * scale * published.um2;
    cost.each = {area, area};
    cost.origin = origin;
  }
  apply_macro(cost, spec.macro(block), technology.fo4_ps());
  return cost;
}

}  // namespace espalier
