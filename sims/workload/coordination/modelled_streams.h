// Every rank's stream of collectives, without a network: a collective begins when all ranks have
// come to it, and takes as long as it is said to.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "flowctl/wait_list.h"
#include "sims/workload/coordination/closed_form.h"
#include "sims/workload/coordination/host_services.h"

namespace espalier {

class ModelledStreams {
 public:
  // `reductions` must outlive it.
  ModelledStreams(std::size_t ranks, const ReductionTime& reductions)
      : reductions_(reductions), streams_(ranks) {}

  struct Running {
    CollectiveNumber collective = 0;
    Cycle end = 0;  // on all ranks
  };
  // See HostServices::post. Returns what all ranks have come to with it.
  [[nodiscard]] std::optional<Running> post(RankId rank, CollectiveNumber collective, Bytes bytes,
                                            Cycle at);
  // It has ended, on all ranks; `begun` are those that all ranks have come to with that.
  void ended(const Running& running, std::vector<Running>& begun);

  // Ranks whose next collectives differ.
  void explain(const HostProgram& hosts, WaitList& waits) const;

 private:
  struct Post {
    CollectiveNumber collective = 0;
    Bytes bytes = 0;
    Cycle at = 0;
  };
  struct Meeting {
    std::size_t arrived = 0;
    Cycle latest = 0;
  };

  // The rank has come to the first collective of its stream.
  [[nodiscard]] std::optional<Running> arrive(const Post& post, Cycle at);

  const ReductionTime& reductions_;
  std::vector<std::deque<Post>> streams_;
  std::vector<Meeting> meetings_;  // by collective
};

}  // namespace espalier
