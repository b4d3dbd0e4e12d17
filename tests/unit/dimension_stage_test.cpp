#include "alg/plans/dimension_stage.h"

#include <catch2/catch.hpp>

#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "dimension_cases.h"

using namespace espalier;
using espalier::test::kAllAlgorithms;

namespace {

constexpr StageKind kBothKinds[] = {StageKind::reduce_scatter, StageKind::all_gather};

template <class Visit>
void for_all_steps(Visit visit) {
  for (const DimensionAlgorithm algorithm : kAllAlgorithms) {
    for (std::uint32_t size = 2; size <= 17; ++size) {
      if (suits(algorithm, size)) visit(StageSteps(algorithm, size));
    }
  }
}

// How often each NPU's data is contained in a block: by NPU that holds it, block, contributor.
using Multisets = std::vector<std::vector<std::vector<int>>>;

Multisets at_first(StageKind kind, std::uint32_t size) {
  Multisets held(size, std::vector<std::vector<int>>(size, std::vector<int>(size, 0)));
  for (std::uint32_t n = 0; n < size; ++n) {
    for (std::uint32_t b = 0; b < size; ++b) {
      if (kind == StageKind::reduce_scatter || b == n) held[n][b][n] = 1;
    }
  }
  return held;
}

// All NPUs go through the steps of a lane together; a message takes along what its sender had at
// the beginning of the step.
Multisets execute(const StageSteps& steps, StageKind kind, std::uint32_t lane) {
  const bool reduces = kind == StageKind::reduce_scatter;
  Multisets held = at_first(kind, steps.size());
  for (std::uint32_t step = 0; step < steps.steps(); ++step) {
    const Multisets before = held;
    for (std::uint32_t n = 0; n < steps.size(); ++n) {
      for (std::uint32_t i = 0; i < steps.num_sends(kind, step); ++i) {
        const StageSend s = steps.send(kind, n, lane, step, i);
        for (std::uint32_t b = s.blocks.first; b < s.blocks.first + s.blocks.count; ++b) {
          for (std::uint32_t to = 0; to < steps.size(); ++to) {
            const bool to_all = s.peer == n;  // by the switch
            if (to_all ? to == n : to != s.peer) continue;
            for (std::uint32_t c = 0; c < steps.size(); ++c) {
              if (!reduces) held[to][b][c] = 0;
            }
            for (std::uint32_t c = 0; c < steps.size(); ++c) held[to][b][c] += before[n][b][c];
          }
        }
      }
    }
  }
  return held;
}

}  // namespace

TEST_CASE("A reduce-scatter leaves every NPU of a group with the sum of its own block") {
  for_all_steps([](const StageSteps& steps) {
    for (std::uint32_t lane = 0; lane < steps.lanes(); ++lane) {
      const Multisets held = execute(steps, StageKind::reduce_scatter, lane);
      CAPTURE(to_string(steps.algorithm()), steps.size(), lane);
      for (std::uint32_t n = 0; n < steps.size(); ++n) {
        CHECK(held[n][n] == std::vector<int>(steps.size(), 1));
      }
    }
  });
}

TEST_CASE("An all-gather leaves every NPU of a group with every block of its owner") {
  for_all_steps([](const StageSteps& steps) {
    for (std::uint32_t lane = 0; lane < steps.lanes(); ++lane) {
      const Multisets held = execute(steps, StageKind::all_gather, lane);
      CAPTURE(to_string(steps.algorithm()), steps.size(), lane);
      for (std::uint32_t n = 0; n < steps.size(); ++n) {
        for (std::uint32_t b = 0; b < steps.size(); ++b) {
          std::vector<int> of_owner(steps.size(), 0);
          of_owner[b] = 1;
          CHECK(held[n][b] == of_owner);
        }
      }
    }
  });
}

TEST_CASE("What an NPU sends in a step its peer receives in the same step, and nothing else") {
  using Message = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
  for_all_steps([](const StageSteps& steps) {
    if (steps.algorithm() == DimensionAlgorithm::in_network) return;
    for (const StageKind kind : kBothKinds) {
      for (std::uint32_t lane = 0; lane < steps.lanes(); ++lane) {
        for (std::uint32_t step = 0; step < steps.steps(); ++step) {
          std::set<Message> sent;
          std::set<Message> received;
          for (std::uint32_t n = 0; n < steps.size(); ++n) {
            for (std::uint32_t i = 0; i < steps.num_sends(kind, step); ++i) {
              const StageSend s = steps.send(kind, n, lane, step, i);
              sent.emplace(n, s.peer, s.blocks.first, s.blocks.count);
            }
            for (std::uint32_t i = 0; i < steps.num_receives(kind, step); ++i) {
              const StageReceive r = steps.receive(kind, n, lane, step, i);
              received.emplace(r.peer, n, r.blocks.first, r.blocks.count);
            }
          }
          CHECK(sent == received);
          CHECK(sent.size() == std::size_t{steps.size()} * steps.num_sends(kind, step));
        }
      }
    }
  });
}

TEST_CASE("An offloading switch gets every block but the own one and gives back the own sum") {
  const StageSteps steps(DimensionAlgorithm::in_network, 5);
  std::vector<std::uint32_t> sent;
  for (std::uint32_t i = 0; i < steps.num_sends(StageKind::reduce_scatter, 0); ++i) {
    const StageSend s = steps.send(StageKind::reduce_scatter, 2, 0, 0, i);
    CHECK(s.peer == s.blocks.first);
    sent.push_back(s.peer);
  }
  CHECK(sent == std::vector<std::uint32_t>{3, 4, 0, 1});
  REQUIRE(steps.num_receives(StageKind::reduce_scatter, 0) == 1);
  CHECK(steps.receive(StageKind::reduce_scatter, 2, 0, 0, 0).blocks.first == 2);

  REQUIRE(steps.num_sends(StageKind::all_gather, 0) == 1);
  CHECK(steps.send(StageKind::all_gather, 2, 0, 0, 0).peer == 2);
  std::vector<std::uint32_t> received;
  for (std::uint32_t i = 0; i < steps.num_receives(StageKind::all_gather, 0); ++i) {
    received.push_back(steps.receive(StageKind::all_gather, 2, 0, 0, i).blocks.first);
  }
  CHECK(received == std::vector<std::uint32_t>{3, 4, 0, 1});
}

TEST_CASE("Lanes of a ring are mirror images, one for each direction") {
  const StageSteps steps(DimensionAlgorithm::ring, 6);
  REQUIRE(steps.lanes() == 2);
  CHECK(steps.send(StageKind::all_gather, 2, 0, 0, 0).peer == 3);
  CHECK(steps.send(StageKind::all_gather, 2, 1, 0, 0).peer == 1);
  const auto mirror = [](std::uint32_t x) { return (6 - x) % 6; };
  for (const StageKind kind : kBothKinds) {
    for (std::uint32_t step = 0; step < steps.steps(); ++step) {
      for (std::uint32_t n = 0; n < 6; ++n) {
        const StageSend there = steps.send(kind, n, 0, step, 0);
        const StageSend back = steps.send(kind, mirror(n), 1, step, 0);
        CHECK(back.peer == mirror(there.peer));
        CHECK(back.blocks.first == mirror(there.blocks.first));
      }
    }
  }
}

TEST_CASE("Steps and bytes of a stage are those of Themis' Table 1") {
  CHECK(StageSteps(DimensionAlgorithm::ring, 16).steps() == 15);
  CHECK(StageSteps(DimensionAlgorithm::direct, 16).steps() == 1);
  CHECK(StageSteps(DimensionAlgorithm::halving_doubling, 16).steps() == 4);
  CHECK(StageSteps(DimensionAlgorithm::in_network, 16).steps() == 1);
  // Footnote 7: (P-1)/P of 4 MB.
  for (const DimensionAlgorithm algorithm : kAllAlgorithms) {
    CHECK(bytes_sent(StageKind::reduce_scatter, algorithm, 16, 4'000'000) == 3'750'000);
  }
  CHECK(bytes_sent(StageKind::all_gather, DimensionAlgorithm::ring, 16, 250'000) == 3'750'000);
  CHECK(bytes_sent(StageKind::all_gather, DimensionAlgorithm::in_network, 16, 250'000) == 250'000);
}

TEST_CASE("A group sends P-1 times what one NPU of it has, whatever the algorithm") {
  for_all_steps([](const StageSteps& steps) {
    for (const StageKind kind : kBothKinds) {
      std::size_t blocks = 0;  // counted once per lane
      for (std::uint32_t lane = 0; lane < steps.lanes(); ++lane) {
        for (std::uint32_t step = 0; step < steps.steps(); ++step) {
          for (std::uint32_t n = 0; n < steps.size(); ++n) {
            for (std::uint32_t i = 0; i < steps.num_sends(kind, step); ++i) {
              blocks += steps.send(kind, n, lane, step, i).blocks.count;
            }
          }
        }
      }
      CAPTURE(to_string(steps.algorithm()), to_string(kind), steps.size());
      const bool copied_by_switch =
          steps.algorithm() == DimensionAlgorithm::in_network && kind == StageKind::all_gather;
      const std::size_t times = copied_by_switch ? 1 : steps.size() - 1;
      CHECK(blocks == steps.lanes() * times * steps.size());
      // What an NPU has is all P blocks before a reduce_scatter, one before an all_gather.
      const double resident = kind == StageKind::reduce_scatter ? steps.size() : 1;
      CHECK(bytes_sent(kind, steps.algorithm(), steps.size(), resident) ==
            static_cast<double>(times));
    }
  });
}

TEST_CASE("A dimension refuses an algorithm that does not suit its size") {
  CHECK_FALSE(suits(DimensionAlgorithm::halving_doubling, 12));
  CHECK_FALSE(suits(DimensionAlgorithm::ring, 1));
  CHECK_THROWS_AS(StageSteps(DimensionAlgorithm::halving_doubling, 12), std::invalid_argument);
  CHECK_THROWS_AS(StageSteps(DimensionAlgorithm::direct, 1), std::invalid_argument);
}
