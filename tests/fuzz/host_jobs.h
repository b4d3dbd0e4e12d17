// Random jobs: collectives of several groups of ranks, and messages, in flight at the same time on
// a random system.
#pragma once

#include "campaign.h"

namespace espalier::fuzz {

// Simulates the campaign's cases in both fidelities, one after the other. Prints the cases that
// differ, and how many were compared. Returns true if none differs.
[[nodiscard]] bool run_host_jobs(const CampaignOptions& options);

}  // namespace espalier::fuzz
