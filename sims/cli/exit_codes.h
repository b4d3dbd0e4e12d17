#pragma once

namespace espalier {

inline constexpr int kGood = 0;
inline constexpr int kCheckFailed = 1;  // a certificate, a simulation or its data check
inline constexpr int kUsageError = 2;   // command line or input files

}  // namespace espalier
