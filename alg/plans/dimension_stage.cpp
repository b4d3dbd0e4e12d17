#include "alg/plans/dimension_stage.h"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

namespace espalier {

const char* to_string(StageKind kind) {
  return kind == StageKind::reduce_scatter ? "reduce_scatter" : "all_gather";
}

const char* to_string(DimensionAlgorithm algorithm) {
  constexpr std::array kNames{"ring", "direct", "halving_doubling", "in_network"};
  return kNames.at(static_cast<std::size_t>(algorithm));
}

bool suits(DimensionAlgorithm algorithm, std::uint32_t size) {
  if (size < 2) return false;
  return algorithm != DimensionAlgorithm::halving_doubling || (size & (size - 1)) == 0;
}

StageSteps::StageSteps(DimensionAlgorithm algorithm, std::uint32_t size)
    : algorithm_(algorithm), size_(size) {
  if (!suits(algorithm, size)) {
    throw std::invalid_argument(
        fmt::format("{} does not run among {} NPUs", to_string(algorithm), size));
  }
}

std::uint32_t StageSteps::steps() const {
  if (algorithm_ == DimensionAlgorithm::ring) return size_ - 1;
  if (algorithm_ != DimensionAlgorithm::halving_doubling) return 1;
  std::uint32_t steps = 0;
  while ((std::uint32_t{1} << steps) < size_) ++steps;
  return steps;
}

std::uint32_t StageSteps::messages(bool many_in_network) const {
  const bool in_network = algorithm_ == DimensionAlgorithm::in_network;
  const bool many = algorithm_ == DimensionAlgorithm::direct || (in_network && many_in_network);
  return many ? size_ - 1 : 1;
}

std::uint32_t StageSteps::num_sends(StageKind kind, std::uint32_t /*step*/) const {
  return messages(kind == StageKind::reduce_scatter);
}

std::uint32_t StageSteps::num_receives(StageKind kind, std::uint32_t /*step*/) const {
  return messages(kind == StageKind::all_gather);
}

std::uint32_t StageSteps::ahead(std::uint32_t self, std::uint32_t lane, std::uint32_t n) const {
  const std::uint32_t forward = lane == 0 ? n : size_ - n;
  const std::uint32_t sum = self + forward;
  return sum < size_ ? sum : sum - size_;
}

std::uint32_t StageSteps::behind(std::uint32_t self, std::uint32_t lane, std::uint32_t n) const {
  return ahead(self, 1 - lane, n);
}

std::uint32_t StageSteps::exchange_distance(StageKind kind, std::uint32_t step) const {
  return kind == StageKind::reduce_scatter ? size_ >> (step + 1) : std::uint32_t{1} << step;
}

StageSend StageSteps::send(StageKind kind, std::uint32_t self, std::uint32_t lane,
                           std::uint32_t step, std::uint32_t i) const {
  const bool reduces = kind == StageKind::reduce_scatter;
  if (algorithm_ == DimensionAlgorithm::ring) {
    return {ahead(self, lane, 1), {behind(self, lane, reduces ? step + 1 : step), 1}};
  }
  if (algorithm_ == DimensionAlgorithm::halving_doubling) {
    const std::uint32_t d = exchange_distance(kind, step);
    const std::uint32_t partner = self ^ d;
    return {partner, {(reduces ? partner : self) / d * d, d}};
  }
  if (algorithm_ == DimensionAlgorithm::in_network && !reduces) return {self, {self, 1}};
  const std::uint32_t peer = ahead(self, 0, 1 + i);
  return {peer, {reduces ? peer : self, 1}};
}

StageReceive StageSteps::receive(StageKind kind, std::uint32_t self, std::uint32_t lane,
                                 std::uint32_t step, std::uint32_t i) const {
  const bool reduces = kind == StageKind::reduce_scatter;
  if (algorithm_ == DimensionAlgorithm::ring) {
    return {behind(self, lane, 1), {behind(self, lane, reduces ? step + 2 : step + 1), 1}};
  }
  if (algorithm_ == DimensionAlgorithm::halving_doubling) {
    const std::uint32_t d = exchange_distance(kind, step);
    const std::uint32_t partner = self ^ d;
    return {partner, {(reduces ? self : partner) / d * d, d}};
  }
  const std::uint32_t peer = ahead(self, 0, 1 + i);
  return {peer, {reduces ? self : peer, 1}};
}

double bytes_sent(StageKind kind, DimensionAlgorithm algorithm, std::uint32_t size,
                  double resident) {
  const auto others = static_cast<double>(size - 1);
  if (kind == StageKind::reduce_scatter) return resident * others / static_cast<double>(size);
  return algorithm == DimensionAlgorithm::in_network ? resident : resident * others;
}

}  // namespace espalier
