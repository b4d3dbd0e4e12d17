#pragma once

namespace espalier {

inline constexpr int kGood = 0;
inline constexpr int kCheckFailed = 1;  // a certificate, a simulation or its data check
inline constexpr int kUsageError = 2;   // command line or input files

// 130 after SIGINT, 143 after SIGTERM, as shells have it.
[[nodiscard]] inline int exit_code_of_signal(int signal) { return 128 + signal; }

}  // namespace espalier
