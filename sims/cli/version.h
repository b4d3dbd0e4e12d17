// Which program this is: its version, the commit it was built from, and its optional parts.
#pragma once

#include <string>

namespace espalier {

// "0.1.0+g1234abcd"; "-dirty" follows if the clone had local changes; "0.1.0" if the sources were
// no clone. Results and points of sweeps carry it.
extern const char* const kVersion;

// The answer to --version: version, build type, compiler, optional parts.
[[nodiscard]] std::string version_text();

}  // namespace espalier
