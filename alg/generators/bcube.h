// BCube over ranks: which numbers of them, and which base.
#pragma once

#include <cstdint>
#include <string>

namespace espalier {

// Empty where `nodes` is a power of `base`, else a sentence for the user.
[[nodiscard]] std::string unsuited_for_bcube(std::size_t nodes, std::uint32_t base);

// The smallest base of which `nodes`, at least 2, is a power: `nodes` itself is one.
[[nodiscard]] std::uint32_t smallest_bcube_base(std::size_t nodes);

}  // namespace espalier
