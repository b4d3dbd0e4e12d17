#include "sims/observe/record/ni_recorder.h"

#include <utility>

#include "ni/network_interface.h"

namespace espalier {

NiRecorder::NiRecorder(NetworkInterface& ni, std::vector<std::uint32_t> channels, NiRecord& record,
                       MessageRecords& records)
    : channels_(std::move(channels)), record_(record), records_(records) {
  record_.name = ni.name();
  if (ni.engine() == nullptr) return;
  ni.prepare_to_show();
  ni.engine()->show(view_);
  has_table_ = view_.table.has_value();
  record_.contexts.resize(view_.contexts.size());
}

void NiRecorder::evaluated(const NetworkInterface& ni, Cycle now) {
  if (!has_table_) return;
  ni.engine()->show(view_);
  const auto timestep = static_cast<Timestep>(view_.table->timestep);
  const NiRecord::Move before = record_.moves.empty() ? NiRecord::Move() : record_.moves.back();
  if (before.issued == view_.table->head && before.timestep == timestep) return;
  record_.moves.push_back({now, view_.table->head, timestep});
}

void NiRecorder::message_issued(MessageId message, std::uint32_t port, Cycle read, Cycle now) {
  MessageRecord& record = records_.open(message);
  record.channel = channels_[port];
  record.issued = now;
  record.read = read;
}

void NiRecorder::step_began(const StepPlace& place, const ProgramStep& step, Cycle now) {
  ContextRecord& context = record_.contexts[place.block];
  ContextRecord::Step& begun = context.steps.emplace_back();
  begun.place = place;
  begun.step = step;
  begun.times.turn = now;
  begun.times.ended = kNever;
  begun.first_request = context.requests.size();
}

void NiRecorder::request_ended(const StepPlace& place, const RequestTimes& times) {
  ContextRecord& context = record_.contexts[place.block];
  context.requests.push_back(times);
  ++context.steps.back().num_requests;
}

void NiRecorder::step_ended(const StepPlace& place, const StepTimes& times) {
  record_.contexts[place.block].steps.back().times = times;
}

}  // namespace espalier
