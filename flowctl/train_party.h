#pragma once

namespace espalier {

// Whom a train channel tells of changes that may let something move; called at the start of a cycle,
// before any evaluation.
class TrainParty {
 public:
  virtual ~TrainParty() = default;
  virtual void look_again() = 0;
};

}  // namespace espalier
