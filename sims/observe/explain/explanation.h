// Where the time of a run went, as part of its result (docs/explain.md).
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "hw/topology/topology.h"
#include "sims/observe/explain/delays.h"

namespace espalier {

struct RunPoint;

// The place of a message in its schedule: {"step": 17}, or its chunk and stage.
using DescribePlace = std::function<nlohmann::ordered_json(RecordIndex)>;

// The module's name of the channel of a link: "net.r_1_2.in_w".
[[nodiscard]] std::string channel_name(const Topology& topology, const TopologyLink& link);

// A step of a program: its instruction and place.
[[nodiscard]] nlohmann::ordered_json describe_program_step(const ContextRecord::Step& step);

// Writes the fields of docs/results.md, "Where the time went". Vertices and channels have their
// modules' names.
class Describer {
 public:
  using Json = nlohmann::ordered_json;
  // `record` must outlive it.
  Describer(const RunRecord& record, DescribePlace place)
      : record_(record), place_(std::move(place)) {}

  [[nodiscard]] const std::string& ni(std::uint32_t vertex) const {
    return record_.nis[vertex].name;
  }
  [[nodiscard]] const std::string& channel(std::uint32_t number) const {
    return record_.channels[number].name;
  }
  [[nodiscard]] Json message(RecordIndex m) const;
  // The kind and place of a segment.
  [[nodiscard]] Json cause(const Segment& segment) const;
  [[nodiscard]] Json delay(const Delay& delay) const;
  // The time of a span: by kind, by place, by channel, and message by message.
  void add_path(Json& to, const TimePath& path) const;
  [[nodiscard]] Json whole_run(const TimePath& path, const std::vector<Delay>& delays) const;

 private:
  [[nodiscard]] Json causes(const TimePath& path) const;
  [[nodiscard]] Json bottlenecks(const TimePath& path) const;
  [[nodiscard]] Json legs(const TimePath& path) const;

  const RunRecord& record_;
  DescribePlace place_;
};

// The account that a Describer wrote for a run of `point`, with what decides its time:
// in one or two sentences (`verdict`) and as fields (`limit`): the bound, if the ratio to it that
// stands in `result` is near 1. A link is named with its rate if it is slower than most others, and
// a late NI with its delay. Channels get names for readers (`place`).
[[nodiscard]] nlohmann::ordered_json judged(const nlohmann::ordered_json& explanation,
                                            const nlohmann::ordered_json& result,
                                            const Topology& topology, const RunPoint& point);

}  // namespace espalier
