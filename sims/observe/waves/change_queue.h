// Changes of signals between their discovery and the file: found in any order, written in order.
#pragma once

#include <cstdint>
#include <vector>

#include "sims/observe/waves/wave_writer.h"

namespace espalier {

struct WaveChange {
  Cycle at;
  std::uint64_t bits;
  SignalId signal;
  bool is_unknown;
};

class ChangeQueue {
 public:
  // Grown step by step, its memory would be new to the machine, and filled, at every step.
  ChangeQueue() { waiting_.reserve(kUsually); }
  void add(const WaveChange& change) { waiting_.push_back(change); }
  // Takes those before cycle `until`, by time, then signal, then order of add(). Good until the
  // next call.
  [[nodiscard]] const std::vector<WaveChange>& take_before(Cycle until);

 private:
  static constexpr std::size_t kUsually = std::size_t{1} << 16;

  template <class Key>
  void sort_due_by(Key key, std::uint64_t largest);
  void sort_due();

  std::vector<WaveChange> waiting_;
  std::vector<WaveChange> due_;     // kept for its memory, as what follows
  std::vector<WaveChange> sorted_;  // by a digit
  std::vector<std::uint32_t> place_;
};

}  // namespace espalier
