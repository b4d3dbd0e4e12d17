// The slots of one link within a period.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace espalier {

// A slot is as long as a message of one share.
class LinkSlots {
 public:
  LinkSlots(std::uint64_t slot_ps, std::uint64_t period_ps)
      : slot_ps_(slot_ps), period_ps_(period_ps) {
    if (period_ps != 0) next_free_.resize(period_ps / slot_ps + 1);
    std::iota(next_free_.begin(), next_free_.end(), 0U);
  }

  // The first time, not before `ps`, at which `slots` slots in a row are free.
  [[nodiscard]] std::uint64_t first_free(std::uint64_t ps, std::uint32_t slots) {
    if (period_ps_ == 0) return std::max(ps, free_from_);
    std::uint64_t base = ps / period_ps_ * period_ps_;
    std::uint64_t slot = (ps - base + slot_ps_ - 1) / slot_ps_;
    // Two periods at most: then every place has been seen.
    for (std::size_t turns = 0; turns <= 2 * next_free_.size(); ++turns) {
      if (slot >= count()) {
        base += period_ps_;
        slot = 0;
      }
      slot = find(static_cast<std::uint32_t>(slot));
      if (slot >= count()) continue;
      if (slot + slots <= count() && free_in_row(slot, slots)) return base + slot * slot_ps_;
      ++slot;
    }
    return kNever;
  }
  void take(std::uint64_t ps, std::uint32_t slots) {
    if (period_ps_ == 0) {
      free_from_ = ps + slots * slot_ps_;
      return;
    }
    const std::uint64_t slot = ps % period_ps_ / slot_ps_;
    for (std::uint64_t s = slot; s < slot + slots; ++s) {
      next_free_[s] = static_cast<std::uint32_t>(s + 1);
    }
  }
  [[nodiscard]] bool is_free(std::uint64_t ps, std::uint32_t slots) {
    return first_free(ps, slots) == ps;
  }

  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

 private:
  [[nodiscard]] std::uint64_t count() const { return next_free_.size() - 1; }
  std::uint32_t find(std::uint32_t s) {
    std::uint32_t end = s;
    while (next_free_[end] != end) end = next_free_[end];
    while (next_free_[s] != end) {
      const std::uint32_t next = next_free_[s];
      next_free_[s] = end;
      s = next;
    }
    return end;
  }
  bool free_in_row(std::uint64_t slot, std::uint32_t slots) const {
    for (std::uint64_t s = slot; s < slot + slots; ++s) {
      if (next_free_[s] != s) return false;
    }
    return true;
  }

  std::uint64_t slot_ps_;
  std::uint64_t period_ps_;
  std::vector<std::uint32_t> next_free_;  // union-find; one more than slots
  std::uint64_t free_from_ = 0;           // without a period
};

}  // namespace espalier
