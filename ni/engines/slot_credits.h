// Credits for the FIFO slots of a program's connections: the sender's view of the remote buffers.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "hw/ids.h"

namespace espalier {

using ConnectionId = Id<struct ConnectionTag>;

// A sender to be woken when a credit reaches it.
class CreditedSender {
 public:
  virtual ~CreditedSender() = default;
  virtual void wake_for_credit(ConnectionId connection, Cycle at) = 0;
};

// Shared by all NIs. A sender can use a slot freed in cycle t from cycle t + latency on. Latency is
// at least one, so the order in which NIs are evaluated does not matter.
class SlotCredits {
 public:
  struct Spec {
    std::uint32_t slots = 1;
    Cycle latency = 1;  // of a credit on its way back
  };
  // `connections` is indexed by connection.
  explicit SlotCredits(const std::vector<Spec>& connections) {
    for (const Spec& spec : connections) books_.push_back({spec.slots, spec.latency, {}});
  }
  void connect(CreditedSender& sender) { sender_ = &sender; }

  // The first cycle in which a slot is free: `now` or earlier if one is free already, kNever if no
  // slot is known to become free.
  [[nodiscard]] Cycle free_from(ConnectionId connection, Cycle now) const {
    const Book& book = books_[connection.index()];
    if (book.free != 0) return now;
    return book.returning.empty() ? kNever : book.returning.front();
  }
  // Precondition: free_from(connection, now) <= now.
  void take(ConnectionId connection) {
    Book& book = books_[connection.index()];
    if (book.free != 0) {
      --book.free;
    } else {
      book.returning.pop_front();
    }
  }
  void give_back(ConnectionId connection, Cycle now) {
    Book& book = books_[connection.index()];
    book.returning.push_back(now + book.latency);
    if (sender_ != nullptr) sender_->wake_for_credit(connection, now + book.latency);
  }

 private:
  struct Book {
    std::uint32_t free = 0;
    Cycle latency = 1;
    std::deque<Cycle> returning;  // ascending
  };
  std::vector<Book> books_;
  CreditedSender* sender_ = nullptr;
};

}  // namespace espalier
