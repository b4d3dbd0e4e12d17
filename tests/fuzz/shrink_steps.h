// Single steps towards a simpler case: each list holds cases that differ from `from` in one thing.
#pragma once

#include <cstddef>
#include <vector>

#include "fuzz_case.h"

namespace espalier::fuzz {

// Without runs of `length` messages: [0, length), [length, 2 length), ...
[[nodiscard]] std::vector<FuzzCase> with_fewer_messages(const FuzzCase& from, std::size_t length);
// A traffic pattern as the messages it draws, or none.
[[nodiscard]] std::vector<FuzzCase> with_listed_messages(const FuzzCase& from);
// Without one edge, or without one vertex that sends and receives nothing; a smaller grid.
[[nodiscard]] std::vector<FuzzCase> with_smaller_network(const FuzzCase& from);
// All messages earlier, or one of them shorter or earlier.
[[nodiscard]] std::vector<FuzzCase> with_simpler_messages(const FuzzCase& from);
// Links with a latency of a cycle, or of full rate.
[[nodiscard]] std::vector<FuzzCase> with_simpler_links(const FuzzCase& from);
// One fault less, or half of one.
[[nodiscard]] std::vector<FuzzCase> with_fewer_faults(const FuzzCase& from);
// One key of the configuration at its simplest value, or nearer to it.
[[nodiscard]] std::vector<FuzzCase> with_simpler_settings(const FuzzCase& from);

}  // namespace espalier::fuzz
