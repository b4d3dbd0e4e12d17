// Messages in flight and their paths. A router looks them up when a head flit arrives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "flowctl/framing.h"
#include "flowctl/virtual_channels.h"
#include "hw/ids.h"

namespace espalier {

// The result of route computation at one router: the output port, and the VCs of the next channel
// that the packet may use.
struct PathHop {
  std::uint16_t out_port = 0;
  VcMask vcs = 0;
};

// The two lanes of messages through ports that can carry both. A packet on the control lane may be
// interrupted: if it cannot go on, it releases the switch and requests it again.
enum class Lane : std::uint8_t {
  bulk,     // data of collectives and other large messages
  control,  // short messages of control or synchronization, on VCs of their own
};
inline constexpr std::size_t kLanes = 2;

// The part of a message that routers know. Paths are oblivious: they are computed once for each
// route and looked up hop by hop. A path represents the source routing of sub-packets (Next, then
// Eject), or the dimension-order lookup of normal packets, which always gives the same path for a
// pair of nodes.
struct Message {
  PacketGrid grid;
  std::uint64_t flits_left = 0;  // not yet received; counted in whole packets
  // First hop in PathTable: at the source router; the last hop is the ejection.
  std::uint32_t path = 0;
  Switching switching = Switching::vct;
  Lane lane = Lane::bulk;
};

class PathTable {
 public:
  // Returns the path's number for Message::path.
  std::uint32_t add(const std::vector<PathHop>& hops) {
    const auto first = static_cast<std::uint32_t>(hops_.size());
    hops_.insert(hops_.end(), hops.begin(), hops.end());
    return first;
  }
  [[nodiscard]] const PathHop& hop(std::uint32_t path, std::uint32_t hop) const {
    return hops_[path + hop];
  }

 private:
  std::vector<PathHop> hops_;
};

// Messages from the injection of their first flit to the ejection of their last flit. Ids are
// reused.
class MessageTable {
 public:
  MessageId add(const Message& message) {
    if (free_.empty()) {
      messages_.push_back(message);
      return MessageId(messages_.size() - 1);
    }
    const MessageId id = free_.back();
    free_.pop_back();
    messages_[id.index()] = message;
    return id;
  }
  void remove(MessageId id) { free_.push_back(id); }
  [[nodiscard]] Message& operator[](MessageId id) { return messages_[id.index()]; }
  [[nodiscard]] const Message& operator[](MessageId id) const { return messages_[id.index()]; }
  [[nodiscard]] std::size_t in_flight() const { return messages_.size() - free_.size(); }

 private:
  std::vector<Message> messages_;
  std::vector<MessageId> free_;
};

}  // namespace espalier
