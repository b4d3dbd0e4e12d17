// Changes of signals, which are found in any order and written in order of time.
#pragma once

#include <cstdint>
#include <vector>

#include "sims/observe/waves/wave_format.h"

namespace espalier {

struct WaveChange {
  Cycle at;
  std::uint64_t bits;
  SignalId signal;
  bool is_unknown;
};

class ChangeQueue {
 public:
  // Avoids a copy, and page faults of new memory, each time the vector grows.
  ChangeQueue() { waiting_.reserve(kUsually); }
  void add(const WaveChange& change) { waiting_.push_back(change); }
  // Removes the changes before cycle `until`, sorted by time, then signal, then order of add(). The
  // result is valid until the next call.
  [[nodiscard]] const std::vector<WaveChange>& take_before(Cycle until);

 private:
  static constexpr std::size_t kUsually = std::size_t{1} << 16;

  template <class Key>
  void sort_due_by(Key key, std::uint64_t largest);
  void sort_due();

  std::vector<WaveChange> waiting_;
  std::vector<WaveChange> due_;     // the next three are members only to reuse their memory
  std::vector<WaveChange> sorted_;  // by a digit
  std::vector<std::uint32_t> place_;
};

}  // namespace espalier
