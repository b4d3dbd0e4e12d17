// What messages are called in a timeline.
#pragma once

#include <fmt/format.h>

#include <string>

#include "sims/timeline/module_name.h"
#include "sims/trace/run_record.h"

namespace espalier {

// "Reduce of flow 3"; of traffic "message", of control messages "control".
[[nodiscard]] inline std::string words_of(const Operation& operation) {
  if (operation.is_control) return "control";
  if (!operation.flow.valid()) return "message";
  const bool reduces = operation.on_arrival == TransferKind::reduce;
  return fmt::format("{} of flow {}", reduces ? "Reduce" : "Gather", operation.flow.value());
}

[[nodiscard]] inline std::string words_at_sender(const RunRecord& record,
                                                 const MessageRecord& message) {
  return fmt::format("{} to {}", words_of(message.operation),
                     name_below_top(record.nis[message.operation.to.index()].name));
}

[[nodiscard]] inline std::string words_at_receiver(const RunRecord& record,
                                                   const MessageRecord& message) {
  return fmt::format("{} from {}", words_of(message.operation),
                     name_below_top(record.nis[message.operation.from.index()].name));
}

}  // namespace espalier
