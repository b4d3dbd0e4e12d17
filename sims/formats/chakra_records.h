// The records of a Chakra execution trace, one after the other.
#pragma once

#include <array>
#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace espalier {

enum class TraceNodeType : std::uint8_t {
  invalid,
  metadata,
  mem_load,
  mem_store,
  comp,
  comm_send,
  comm_recv,
  comm_coll
};

// Attributes that are read; all others are skipped.
enum class TraceAttribute : std::uint8_t {
  is_cpu_op,
  num_ops,
  tensor_size,
  comm_type,
  comm_size,
  comm_src,
  comm_dst,
  comm_tag,
  comm_group,
  pg_name,
  involved_dim
};
inline constexpr std::array<const char*, 11> kTraceAttributes{
    "is_cpu_op", "num_ops",  "tensor_size", "comm_type", "comm_size",   "comm_src",
    "comm_dst",  "comm_tag", "comm_group",  "pg_name",   "involved_dim"};

// A node. What the trace does not say is 0 or empty.
struct TraceNode {
  std::uint64_t id = 0;
  std::string name;
  TraceNodeType type = TraceNodeType::invalid;
  std::vector<std::uint64_t> after;  // data_deps and ctrl_deps
  std::uint64_t microseconds = 0;
  std::string inputs;
  std::array<std::optional<std::int64_t>, kTraceAttributes.size()> numbers;
  std::string pg_name;
  std::vector<bool> involved_dim;
  std::string problem;  // why the node cannot be used; empty: nothing is wrong

  [[nodiscard]] const std::optional<std::int64_t>& number(TraceAttribute which) const {
    return numbers[static_cast<std::size_t>(which)];
  }
};

// False in a build without protobuf. Then every trace is refused.
[[nodiscard]] bool reads_traces();
inline constexpr const char* kNoTraces =
    "this program was built without protobuf, so it cannot read execution traces; install Debian's "
    "libprotobuf-dev and protobuf-compiler, and build it again";

// Reads a record at a time, so a trace may be larger than the memory.
class TraceReader {
 public:
  // Opens the file and reads its first record.
  explicit TraceReader(const std::string& path);
  ~TraceReader();
  TraceReader(const TraceReader&) = delete;
  TraceReader& operator=(const TraceReader&) = delete;

  // Returns false at the end of the file, or where the file cannot be read any further.
  bool next(TraceNode& node);
  // Why the file cannot be read, with the byte where that begins; empty: nothing is wrong. To be
  // appended to the file's name.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  // Of the bytes read so far (hash_text).
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

 private:
  struct Messages;  // protobuf's

  // The next record's message is in `message_`. False at the end, or after a problem.
  bool read_message();

  std::ifstream file_;
  std::string message_;
  std::uint64_t begin_ = 0;  // of the present record, in the file
  std::uint64_t at_ = 0;
  std::uint64_t hash_;
  std::string problem_;
  std::unique_ptr<Messages> messages_;
};

}  // namespace espalier
