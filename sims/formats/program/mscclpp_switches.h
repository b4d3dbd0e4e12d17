// Operations that command a switch, which reads, adds and writes the memories of a group of ranks.
//
// The switch is one more rank of the program, whose blocks hand on each request as it comes:
//   load and reduce   the thread block sends a request, the switch asks each member, adds the
//                     answers in the order of ranks, and sends back one sum
//   multicast         the thread block sends the data once, the switch sends a copy to each member
#pragma once

#include <vector>

#include "sims/formats/program/mscclpp_steps.h"

namespace espalier::mscclpp {

class SwitchPorts {
 public:
  SwitchPorts(PlanSteps& steps, Program& program) : steps_(steps), program_(program) {}

  // Blocks by which a thread block and the members of a group reach the switch.
  struct Port {
    struct Member {
      std::uint32_t rank;
      std::uint32_t asks;     // of the switch: sends requests and copies
      std::uint32_t adds;     // of the switch: receives answers
      std::uint32_t lands;    // of the member: receives requests and copies
      std::uint32_t answers;  // of the member
    };
    std::uint32_t rank;
    std::uint32_t block;  // of the thread block's rank
    std::uint32_t takes;  // of the switch: receives from the thread block
    std::uint32_t gives;  // of the switch: sends sums
    std::vector<Member> members;
    Range registers;  // of the thread block
  };
  // `block`: of `rank`, has no connection yet.
  Port make(std::uint32_t rank, std::uint32_t block, const std::vector<std::uint32_t>& group);

  // glres; returns the step that passes the sum on to be multicast. `landed`: by member of the
  // port.
  std::uint32_t load_reduce(Port& port, const Range& src, const Range& dst,
                            const PlanSteps::Nodes& after, PlanSteps::Nodes& landed);
  // gstore; returns the step that sends.
  std::uint32_t multicast(Port& port, const Range& src, const Range& dst,
                          const PlanSteps::Nodes& after, PlanSteps::Nodes& landed);

 private:
  [[nodiscard]] Range reserve(std::uint32_t rank, std::uint64_t count);
  void copy(const Port& port, std::uint32_t sent, const Range& held, const Range& dst,
            PlanSteps::Nodes& landed);

  PlanSteps& steps_;
  Program& program_;
  std::uint32_t switch_ = 0;  // its number among the program's ranks; 0: none yet
};

}  // namespace espalier::mscclpp
