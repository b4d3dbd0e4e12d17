#include "sims/cli/jobs.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <thread>

namespace espalier {

namespace {

// 0 where the variable is not set to a number.
unsigned number_in_environment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return 0;
  const std::string_view view(text);
  unsigned number = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), number);
  return error == std::errc() && end == view.data() + view.size() ? number : 0;
}

}  // namespace

unsigned jobs_at_once(unsigned asked) {
  if (asked != 0) return asked;
  // A job on a shared node need not be bound to its processors.
  for (const char* name : {"SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE"}) {
    if (const unsigned given = number_in_environment(name); given != 0) return given;
  }
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace espalier
