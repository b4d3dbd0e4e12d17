#include "sockets/tlm/tlm_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "sockets/tlm/ni_sockets.h"

namespace espalier {

TlmNetwork::TlmNetwork(ClockDomain& clock, std::size_t nodes, TrafficClass traffic, Route route,
                       Done done)
    : clock_(clock),
      nodes_(nodes),
      traffic_(traffic),
      route_(std::move(route)),
      done_(std::move(done)),
      addresses_(nodes, AddressMap::kDefaultBits) {}

// The run may end before messages have arrived. Their payloads go back to their memory manager.
TlmNetwork::~TlmNetwork() {
  for (std::size_t i = 0; i < transactions_.size(); ++i) {
    if (transactions_[i].payload != nullptr) close(TransactionId(i));
  }
}

NiSockets& TlmNetwork::at(NetworkInterface& ni, const std::string& name) {
  std::unique_ptr<NiSockets>& sockets = sockets_[ni.node()];
  if (!sockets) {
    sockets = std::make_unique<NiSockets>(name.c_str(), ni, *this);
    ni.connect_source(*sockets);
  }
  return *sockets;
}

void TlmNetwork::set_address_bits(std::uint32_t bits) {
  if (!AddressMap::fits(nodes_, bits)) {
    throw std::invalid_argument(
        fmt::format("{} nodes of 2^{} addresses do not fit into 64 bits; a node may have 2^1 to "
                    "2^63 addresses, and all nodes together 2^64",
                    nodes_, bits));
  }
  addresses_ = AddressMap(nodes_, bits);
}

tlm::tlm_response_status TlmNetwork::judge(const tlm::tlm_generic_payload& payload,
                                           NodeId node) const {
  // A read would be two messages, and only a memory beside the receiver could answer it.
  if (!payload.is_write()) return tlm::TLM_COMMAND_ERROR_RESPONSE;
  if (payload.get_byte_enable_ptr() != nullptr) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  const unsigned bytes = payload.get_data_length();
  if (bytes == 0 || payload.get_streaming_width() < bytes) return tlm::TLM_BURST_ERROR_RESPONSE;
  if (payload.get_data_ptr() == nullptr) return tlm::TLM_GENERIC_ERROR_RESPONSE;
  const std::optional<NodeId> to = addresses_.owner(payload.get_address(), bytes);
  // A node's messages to itself do not use the network.
  if (!to || *to == node) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  return tlm::TLM_OK_RESPONSE;
}

TransactionId TlmNetwork::open(tlm::tlm_generic_payload& payload, NiSockets& sender) {
  if (free_.empty()) {
    free_.emplace_back(transactions_.size());
    transactions_.emplace_back();
  }
  const TransactionId id = free_.back();
  free_.pop_back();
  SocketTransaction& transaction = transactions_[id.index()];
  transaction.payload = &payload;
  transaction.sender = &sender;
  transaction.address = payload.get_address();
  transaction.stage = SocketTransaction::Stage::in_network;
  NiExtension* extension = payload.get_extension<NiExtension>();
  transaction.has_own_extension = extension == nullptr;
  if (extension == nullptr) {
    transaction.extension = {};
    extension = &transaction.extension;
    payload.set_extension(extension);
  }
  extension->source = sender.node();
  payload.acquire();
  payload.set_dmi_allowed(false);
  numbers_.emplace(&payload, id);
  ++posted_;
  return id;
}

void TlmNetwork::close(TransactionId id) {
  SocketTransaction& transaction = transactions_[id.index()];
  tlm::tlm_generic_payload& payload = *std::exchange(transaction.payload, nullptr);
  if (transaction.has_own_extension) payload.clear_extension<NiExtension>();
  numbers_.erase(&payload);
  free_.push_back(id);
  payload.release();
}

TransactionId TlmNetwork::number_of(const tlm::tlm_generic_payload& payload) const {
  const auto known = numbers_.find(&payload);
  return known == numbers_.end() ? TransactionId() : known->second;
}

void TlmNetwork::delivered(const Operation& operation, Cycle now) {
  ++delivered_;
  const TransactionId id(operation.first_chunk.index());
  const auto receiver = sockets_.find(operation.to);
  if (receiver != sockets_.end() && receiver->second->initiator.size() != 0) {
    receiver->second->arrive(id);
    return;
  }
  SocketTransaction& transaction = transactions_[id.index()];
  transaction.payload->set_response_status(tlm::TLM_OK_RESPONSE);
  transaction.stage = SocketTransaction::Stage::answered;
  transaction.sender->answer(id, clock_.time_of(now));
}

bool TlmNetwork::has_more(Cycle now) const {
  return std::any_of(sockets_.begin(), sockets_.end(), [now](const auto& at) {
    const Cycle ready = at.second->next_ready();
    return ready != kNever && ready > now;
  });
}

std::string TlmNetwork::describe_waits() const {
  std::string waits;
  for (const auto& [node, sockets] : sockets_) {
    const std::string of_node = sockets->describe_waits();
    if (!of_node.empty()) waits += (waits.empty() ? "" : "; ") + of_node;
  }
  return waits;
}

}  // namespace espalier
