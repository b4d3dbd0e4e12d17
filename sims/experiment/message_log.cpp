#include "sims/experiment/message_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <tuple>

#include "alg/schedule/schedule.h"

namespace espalier {

namespace {

auto order(const Operation& o) {
  return std::make_tuple(o.from, o.to, o.flow, o.on_arrival, o.first_chunk, o.ready, o.bytes);
}

}  // namespace

MessageLog::MessageLog(const std::string& path, std::size_t point, const Topology& topology,
                       bool is_traffic)
    : path_(path),
      point_(point),
      topology_(topology),
      is_traffic_(is_traffic),
      removed_(path),
      file_(path, std::ios::binary) {}

std::string MessageLog::name_beside_gradients(const Operation& message) const {
  if (!message.is_background()) return "";
  if (message.traffic == TrafficClass::socket) return "socket";
  return topology_.is_switch(message.from) ? "tenant" : "control";
}

void MessageLog::note(const Operation& message, Cycle delivered) {
  if (delivered != cycle_) write_cycle();
  cycle_ = delivered;
  delivered_.push_back(message);
}

void MessageLog::write_cycle() {
  std::stable_sort(delivered_.begin(), delivered_.end(),
                   [](const auto& a, const auto& b) { return order(a) < order(b); });
  for (const Operation& o : delivered_) {
    const bool has_flow = !is_traffic_ && !o.is_background();
    const std::string flow = has_flow ? fmt::format("{}", o.flow.index()) : "";
    const std::string op = has_flow ? to_string(o.on_arrival) : name_beside_gradients(o);
    file_ << fmt::format("{},{},{},{},{},{},{},{}\n", point_, topology_.vertex_name(o.from),
                         topology_.vertex_name(o.to), flow, op, o.bytes, o.ready, cycle_);
  }
  delivered_.clear();
}

bool MessageLog::finish() {
  write_cycle();
  file_.close();
  if (file_) return true;
  // A part that lacks messages must not join the others.
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
  return false;
}

MessageLogParts::MessageLogParts(std::string target, std::size_t points)
    : target_(std::move(target)), ending_(unfinished_name("").string()), points_(points) {
  const auto folder = std::filesystem::path(target_).parent_path();
  remove_unfinished_files(folder.empty() ? "." : folder);
}

MessageLogParts::~MessageLogParts() {
  std::error_code ignored;
  for (std::size_t i = 0; i <= points_; ++i) std::filesystem::remove(part(i), ignored);
}

std::string MessageLogParts::part(std::size_t point) const {
  return fmt::format("{}.point{}{}", target_, point + 1, ending_);
}

bool MessageLogParts::has_part(std::size_t point) const {
  std::error_code ignored;
  return std::filesystem::exists(part(point), ignored);
}

bool MessageLogParts::join() const {
  std::error_code error;
  const bool is_file =
      !std::filesystem::exists(target_, error) || std::filesystem::is_regular_file(target_, error);
  const std::string joined = is_file ? part(points_) : target_;
  std::ofstream file(joined, std::ios::binary);
  file << "point,from,to,flow,op,bytes,ready,delivered\n";
  for (std::size_t i = 0; i < points_; ++i) {
    std::ifstream lines(part(i), std::ios::binary);
    // Inserting an empty buffer counts as a failure.
    if (lines && lines.peek() != std::ifstream::traits_type::eof()) file << lines.rdbuf();
  }
  file.close();
  if (file.fail()) return false;
  if (is_file) std::filesystem::rename(joined, target_, error);
  return !is_file || !error;
}

}  // namespace espalier
