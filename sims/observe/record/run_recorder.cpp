#include "sims/observe/record/run_recorder.h"

#include <map>
#include <string>

#include "sims/system/fabric.h"

namespace espalier {

void RunRecorder::begin(Fabric& fabric) {
  record_.ticks_per_cycle = fabric.timing().ticks_per_cycle;
  messages_.emplace(fabric, record_.messages);
  watch_channels(fabric);
  watch_nis(fabric);
}

void RunRecorder::watch_channels(Fabric& fabric) {
  const std::vector<ChannelPlace> places = fabric.channels();
  for (const ChannelPlace& place : places) {
    record_.channels.push_back(
        {place.name, place.spec, place.link, std::vector<VcRecord>(place.spec.vcs)});
  }
  for (std::size_t c = 0; c < places.size(); ++c) {
    channels_.push_back(
        std::make_unique<ChannelRecorder>(record_.channels[c], *messages_, in_switch_));
    places[c].observe(*channels_.back());
  }
}

void RunRecorder::watch_nis(Fabric& fabric) {
  std::map<std::string, std::uint32_t> channel_of;
  for (std::size_t c = 0; c < record_.channels.size(); ++c) {
    channel_of[record_.channels[c].name] = static_cast<std::uint32_t>(c);
  }
  record_.nis.resize(fabric.topology().num_vertices());
  for (std::size_t v = 0; v < record_.nis.size(); ++v) {
    NetworkInterface* ni = fabric.ni_at(NodeId(v));
    if (ni == nullptr) continue;
    std::vector<std::uint32_t> channels;
    for (const auto& port : ni->injection_ports()) {
      channels.push_back(channel_of.at(port->link_name()));
    }
    nis_.push_back(std::make_unique<NiRecorder>(*ni, channels, record_.nis[v], *messages_));
    ni->observe(*nis_.back());
    ni->observe_contexts(*nis_.back());
  }
}

void RunRecorder::finish(Cycle end) {
  record_.end = end;
  for (const auto& channel : channels_) channel->end_at(end * record_.ticks_per_cycle);
}

}  // namespace espalier
