#include "axi_stream.h"

#include <fmt/format.h>

#include <algorithm>

namespace espalier {

namespace {

// With two places, a beat passes in every cycle although tready is a register.
constexpr std::size_t kBeatsTaken = 2;

}  // namespace

AxiStreamNi::AxiStreamNi(sc_core::sc_module_name module_name, NiSignals& like)
    : sc_module(module_name), like_(like) {
  for (std::size_t p = 0; p < like.injection.size(); ++p) {
    sent.push_back(std::make_unique<AxiStreamSignals>(fmt::format("sent{}", p)));
    received.push_back(std::make_unique<AxiStreamSignals>(fmt::format("received{}", p)));
    senders_.push_back(std::make_unique<Sender>(fmt::format("out{}", p)));
    const FlitChannelSpec& spec = like.injection[p]->spec;
    senders_.back()->credits.assign(spec.vcs, spec.vc_depth_flits);
    receivers_.push_back(std::make_unique<Receiver>(fmt::format("in{}", p)));
  }
  SC_HAS_PROCESS(AxiStreamNi);
  SC_METHOD(rise);
  sensitive << clk.pos();
  dont_initialize();
}

void AxiStreamNi::bind(sc_core::sc_clock& clock) {
  clk.bind(clock);
  for (std::size_t p = 0; p < senders_.size(); ++p) {
    senders_[p]->port.bind(*like_.injection[p]);
    receivers_[p]->port.bind(*like_.ejection[p]);
  }
}

void AxiStreamNi::rise() {
  for (std::size_t p = 0; p < senders_.size(); ++p) {
    take_beat(p);
    send_flit(p);
    sent[p]->tready.write(senders_[p]->beats.size() < kBeatsTaken);
    receive_flit(*receivers_[p]);
    show_beat(p);
  }
}

void AxiStreamNi::take_beat(std::size_t port) {
  const AxiStreamSignals& stream = *sent[port];
  if (!stream.tvalid.read() || !stream.tready.read()) return;
  senders_[port]->beats.push_back(
      {stream.tid.read(), stream.tdest.read(), stream.tuser.read(), stream.tlast.read()});
}

void AxiStreamNi::send_flit(std::size_t port) {
  Sender& sender = *senders_[port];
  for (VcMask left = sender.port.credits.read(); left != 0; left &= left - 1) {
    ++sender.credits[static_cast<std::size_t>(__builtin_ctz(left))];
  }
  sender.port.valid.write(false);
  if (sender.beats.empty()) return;
  const Beat beat = sender.beats.front();
  SignalFlit flit;
  flit.flow = beat.id;
  flit.destination = beat.dest;
  flit.kind = (beat.user & 1U) != 0 ? TransferKind::reduce : TransferKind::copy;
  if (sender.message == nullptr) {
    const auto named = std::find_if(like_.sends.begin(), like_.sends.end(), [&](const NiSend& s) {
      return s.flow == flit.flow && s.destination == flit.destination && s.kind == flit.kind;
    });
    if (named == like_.sends.end()) {
      // The NI's port reports the head flit of an unknown message.
      flit.type = FlitType::head;
      sender.port.valid.write(true);
      sender.port.flit.write(flit);
      return;
    }
    sender.message = &*named;
  }
  const FlitChannelSpec& spec = like_.injection[port]->spec;
  if (!has_vc(spec, sender) || sender.credits[sender.vc] == 0) return;
  const Framing& framing = sender.message->framing;
  const std::uint32_t flits = framing.flits_in_packet(sender.packet);
  flit.vc = sender.vc;
  flit.type = framing.type_of(sender.packet, sender.flit);
  flit.left_in_packet = flits - sender.flit;
  const bool ends_message = sender.packet + 1 == framing.packets() && flit.left_in_packet == 1;
  if (!carries_header(flit.type)) {
    // A tail in another place than the table says is for the NI's port to report.
    if (beat.last != ends_message) flit.type = beat.last ? FlitType::tail : FlitType::body;
    sender.beats.pop_front();
  }
  sender.port.valid.write(true);
  sender.port.flit.write(flit);
  --sender.credits[sender.vc];
  if (++sender.flit < flits) return;
  sender.flit = 0;
  if (releases_vc(flit.type)) sender.vc = kNoVc;
  if (++sender.packet < framing.packets()) return;
  sender.packet = 0;
  sender.message = nullptr;
}

bool AxiStreamNi::has_vc(const FlitChannelSpec& spec, Sender& sender) const {
  if (sender.vc != kNoVc) return true;
  const std::uint32_t flits = sender.message->framing.flits_in_packet(sender.packet);
  for (std::uint32_t vc = 0; vc < spec.vcs; ++vc) {
    if ((spec.permitted >> vc & 1U) == 0) continue;
    if (sender.credits[vc] < std::min(flits, spec.vc_depth_flits)) continue;
    sender.vc = vc;
    return true;
  }
  return false;
}

void AxiStreamNi::receive_flit(Receiver& receiver) {
  if (!receiver.port.valid.read()) return;
  const SignalFlit flit = receiver.port.flit.read();
  const auto [left, is_new] = beats_left_.try_emplace(flit.message, 0);
  if (is_new) {
    const Framing framing(like_.framing, flit.bytes);
    left->second = framing.flits() - framing.head_flits();
  }
  if (carries_header(flit.type)) return;
  const bool last = --left->second == 0;
  if (last) beats_left_.erase(left);
  const std::uint32_t is_reduce = flit.kind == TransferKind::reduce ? 1 : 0;
  receiver.beats.push_back({flit.flow, flit.destination, flit.source << 1U | is_reduce, last});
}

void AxiStreamNi::show_beat(std::size_t port) {
  Receiver& receiver = *receivers_[port];
  AxiStreamSignals& stream = *received[port];
  if (receiver.shown && stream.tready.read()) receiver.beats.pop_front();
  receiver.shown = !receiver.beats.empty();
  stream.tvalid.write(receiver.shown);
  if (!receiver.shown) return;
  const Beat& beat = receiver.beats.front();
  stream.tid.write(beat.id);
  stream.tdest.write(beat.dest);
  stream.tuser.write(beat.user);
  stream.tlast.write(beat.last);
}

}  // namespace espalier
