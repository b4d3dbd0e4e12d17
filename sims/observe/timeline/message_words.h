// What messages are called in a timeline.
#pragma once

#include <fmt/format.h>

#include <string>

#include "sims/observe/record/run_record.h"
#include "sims/observe/timeline/module_name.h"

namespace espalier {

// "Reduce of flow 3"; of a program "message of connection 3", of traffic "message", of control
// messages "control".
[[nodiscard]] inline std::string words_of(const RunRecord& record, const Operation& operation) {
  if (operation.is_background()) return "control";
  if (!operation.flow.valid()) return "message";
  if (!record.nis[operation.from.index()].contexts.empty()) {
    return fmt::format("message of connection {}", operation.flow.value());
  }
  const bool reduces = operation.on_arrival == TransferKind::reduce;
  return fmt::format("{} of flow {}", reduces ? "Reduce" : "Gather", operation.flow.value());
}

[[nodiscard]] inline std::string words_at_sender(const RunRecord& record,
                                                 const MessageRecord& message) {
  return fmt::format("{} to {}", words_of(record, message.operation),
                     name_below_top(record.nis[message.operation.to.index()].name));
}

[[nodiscard]] inline std::string words_at_receiver(const RunRecord& record,
                                                   const MessageRecord& message) {
  return fmt::format("{} from {}", words_of(record, message.operation),
                     name_below_top(record.nis[message.operation.from.index()].name));
}

}  // namespace espalier
