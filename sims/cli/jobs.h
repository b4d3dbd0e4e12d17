// How many simulations run at once.
#pragma once

namespace espalier {

// `asked` where it is not 0; else the processors that a Slurm job was given, or all of them.
[[nodiscard]] unsigned jobs_at_once(unsigned asked);

}  // namespace espalier
