// Whom a train channel tells of what has arrived; called at the start of a cycle, before any
// evaluation.
#pragma once

#include <cstdint>

namespace espalier {

// The sender, whose number for the channel is `port`.
class CreditListener {
 public:
  virtual ~CreditListener() = default;
  // More credits are coming, or fewer. `look_now`: something may be able to move because of that.
  virtual void credits_changed(std::uint32_t port, bool look_now) = 0;
};

// The receiver, likewise.
class TrainListener {
 public:
  virtual ~TrainListener() = default;
  // A train has come into a VC that was empty.
  virtual void train_came(std::uint32_t port, std::uint32_t vc) = 0;
  // A train has come behind one that ends lazily: nothing else will make the receiver look.
  virtual void train_followed(std::uint32_t port, std::uint32_t vc) = 0;
  // A train has come behind others or has grown, or (`look_now`) has been cut.
  virtual void train_changed(std::uint32_t port, bool look_now) = 0;
};

}  // namespace espalier
