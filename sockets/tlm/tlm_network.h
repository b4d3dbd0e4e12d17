// The transactions that TLM sockets have in flight, and the rules for what a payload may ask.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tlm>
#include <unordered_map>
#include <vector>

#include "hw/clock/clock_domain.h"
#include "hw/ids.h"
#include "ni/network_interface.h"
#include "ni/operation.h"
#include "sockets/tlm/ni_extension.h"

namespace espalier {

class NiSockets;

// Which node an address of a generic payload selects. Node n owns the 2^bits addresses from n <<
// bits on.
class AddressMap {
 public:
  static constexpr std::uint32_t kDefaultBits = 32;

  // Precondition: all nodes' addresses fit into 64 bits (fits()).
  AddressMap(std::size_t nodes, std::uint32_t bits) : nodes_(nodes), bits_(bits) {}

  [[nodiscard]] static bool fits(std::size_t nodes, std::uint32_t bits) {
    return bits >= 1 && bits <= 63 && nodes - 1 <= (~std::uint64_t{0} >> bits);
  }

  [[nodiscard]] std::uint64_t first_address(NodeId node) const {
    return std::uint64_t{node.index()} << bits_;
  }
  [[nodiscard]] std::uint64_t offset(std::uint64_t address) const {
    return address & ((std::uint64_t{1} << bits_) - 1);
  }
  // The node that owns all `bytes` addresses from `address` on; empty if no node does.
  // Precondition: bytes > 0.
  [[nodiscard]] std::optional<NodeId> owner(std::uint64_t address, std::uint64_t bytes) const {
    const std::uint64_t node = address >> bits_;
    const std::uint64_t room = (std::uint64_t{1} << bits_) - offset(address);
    if (node >= nodes_ || bytes > room) return std::nullopt;
    return NodeId(node);
  }

 private:
  std::size_t nodes_;
  std::uint32_t bits_;
};

// A write from BEGIN_REQ to END_RESP. The payload itself goes to the target at the receiver, as
// through an interconnect, so its bytes are not copied.
struct SocketTransaction {
  enum class Stage : std::uint8_t {
    in_network,  // until the message is visible
    offered,     // the target has BEGIN_REQ and has not answered END_REQ
    in_target,   // until the target's BEGIN_RESP
    answered     // until the initiator's END_RESP
  };
  tlm::tlm_generic_payload* payload = nullptr;
  NiSockets* sender = nullptr;
  std::uint64_t address = 0;  // as the initiator wrote it
  Stage stage = Stage::in_network;
  bool has_own_extension = false;  // the initiator has added none
  NiExtension extension;
};
using TransactionId = Id<struct TransactionTag>;

class TlmNetwork {
 public:
  using Route = std::function<RouteId(NodeId from, NodeId to)>;
  using Done = std::function<void()>;

  // Messages are of class `traffic`. `route` names the route between two nodes, and throws
  // std::invalid_argument if there is none. `done` is called after each END_RESP.
  TlmNetwork(ClockDomain& clock, std::size_t nodes, TrafficClass traffic, Route route, Done done);
  ~TlmNetwork();
  TlmNetwork(const TlmNetwork&) = delete;
  TlmNetwork& operator=(const TlmNetwork&) = delete;

  // The sockets of an NI, which are made when they are first asked for. During elaboration only.
  // `name`: of the SystemC module.
  [[nodiscard]] NiSockets& at(NetworkInterface& ni, const std::string& name);
  // Throws std::invalid_argument if the nodes' addresses do not fit into 64 bits.
  void set_address_bits(std::uint32_t bits);
  [[nodiscard]] const AddressMap& addresses() const { return addresses_; }

  // A message of these sockets is visible at its receiver.
  void delivered(const Operation& operation, Cycle now);
  // From now on, BEGIN_REQ is an error.
  void finish() { finished_ = true; }
  [[nodiscard]] bool finished() const { return finished_; }

  // Messages so far, whose BEGIN_REQ was accepted, which are visible, and whose END_RESP has come.
  [[nodiscard]] std::uint64_t posted() const { return posted_; }
  [[nodiscard]] std::uint64_t delivered() const { return delivered_; }
  [[nodiscard]] std::uint64_t completed() const { return completed_; }
  // True if an accepted message is posted after `now`.
  [[nodiscard]] bool has_more(Cycle now) const;
  // Which sockets wait for which phase of a foreign module; empty if none waits.
  [[nodiscard]] std::string describe_waits() const;

 private:
  friend class NiSockets;

  // What a payload at the NI of `node` is answered without a message; TLM_OK_RESPONSE if it becomes
  // a message.
  [[nodiscard]] tlm::tlm_response_status judge(const tlm::tlm_generic_payload& payload,
                                               NodeId node) const;
  [[nodiscard]] bool is_in_flight(const tlm::tlm_generic_payload& payload) const {
    return numbers_.count(&payload) != 0;
  }
  // Precondition: judge() accepts the payload.
  TransactionId open(tlm::tlm_generic_payload& payload, NiSockets& sender);
  void close(TransactionId id);
  // Invalid if the payload is not in flight.
  [[nodiscard]] TransactionId number_of(const tlm::tlm_generic_payload& payload) const;
  SocketTransaction& operator[](TransactionId id) { return transactions_[id.index()]; }

  ClockDomain& clock_;
  std::size_t nodes_;
  TrafficClass traffic_;
  Route route_;
  Done done_;
  AddressMap addresses_;
  std::map<NodeId, std::unique_ptr<NiSockets>> sockets_;
  std::deque<SocketTransaction> transactions_;  // by number; numbers are used again
  std::vector<TransactionId> free_;
  std::unordered_map<const tlm::tlm_generic_payload*, TransactionId> numbers_;
  std::uint64_t posted_ = 0;
  std::uint64_t delivered_ = 0;
  std::uint64_t completed_ = 0;
  bool finished_ = false;
};

}  // namespace espalier
