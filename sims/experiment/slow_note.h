// Why a simulation in fidelity train was slow, as a note of `run` says it.
#pragma once

#include <string>

#include "flowctl/train/packet_stops.h"
#include "hw/topology/topology.h"

namespace espalier {

struct RunPoint;

// A sentence with the share of packets after which trains stopped and the settings that cause most
// of these stops. Empty if the simulation took no more than a second of CPU time, if the share is
// small, or if no setting is known to cause it.
[[nodiscard]] std::string slow_note(const Topology& topology, const RunPoint& point,
                                    const PacketStops& stops, double engine_seconds);

}  // namespace espalier
