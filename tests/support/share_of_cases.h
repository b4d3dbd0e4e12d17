// Under sanitizers code is 10 to 60 times slower. They report what a line of code does wrong, and
// few cases reach every line; so the longest property tests run only a share of their cases there.
// Without sanitizers every case runs.
#pragma once

#include <cstdint>

namespace espalier::test {

#ifdef ESPALIER_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// take() is true for the first case and then for one in `one_in`; without sanitizers for all.
class ShareOfCases {
 public:
  explicit ShareOfCases(std::uint32_t one_in) : one_in_(kSanitized ? one_in : 1) {}
  [[nodiscard]] bool take() { return count_++ % one_in_ == 0; }

 private:
  std::uint32_t one_in_;
  std::uint32_t count_ = 0;
};

}  // namespace espalier::test
