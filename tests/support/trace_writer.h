// Writes Chakra execution traces byte by byte, without protobuf.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "sims/formats/chakra_records.h"

namespace espalier::test {

// To be asked first by tests that read traces.
inline bool skips_traces() {
  if (!reads_traces()) fmt::print("skipped: built without protobuf\n");
  return !reads_traces();
}

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  return bytes + static_cast<char>(value);
}
inline std::string number_field(unsigned field, std::uint64_t value) {
  return varint(field << 3) + varint(value);
}
inline std::string text_field(unsigned field, const std::string& text) {
  return varint(field << 3 | 2) + varint(text.size()) + text;
}

// Kinds of attributes, by their field.
inline constexpr unsigned kInt32 = 7;
inline constexpr unsigned kInt64 = 9;
inline constexpr unsigned kUint64 = 13;
inline constexpr unsigned kBool = 27;

// A node of a trace; each method returns the node itself.
class TraceNodeText {
 public:
  TraceNodeText(std::uint64_t id, const std::string& name, unsigned type) {
    if (id != 0) text_ += number_field(1, id);
    text_ += text_field(2, name);
    if (type != 0) text_ += number_field(3, type);
  }
  TraceNodeText& after(const std::vector<std::uint64_t>& ids, bool is_control = false) {
    for (const std::uint64_t id : ids) text_ += number_field(is_control ? 4 : 5, id);  // unpacked
    return *this;
  }
  TraceNodeText& lasts(std::uint64_t microseconds) {
    text_ += number_field(7, microseconds);
    return *this;
  }
  TraceNodeText& inputs(const std::string& values) {
    text_ += text_field(8, text_field(1, values));
    return *this;
  }
  TraceNodeText& has(const std::string& name, std::uint64_t value, unsigned kind = kInt64) {
    text_ += text_field(10, text_field(1, name) + number_field(kind, value));
    return *this;
  }
  TraceNodeText& has(const std::string& name, const std::string& value) {
    text_ += text_field(10, text_field(1, name) + text_field(29, value));
    return *this;
  }
  TraceNodeText& involves(const std::vector<bool>& dimensions) {
    std::string packed;
    for (const bool flag : dimensions) packed += static_cast<char>(flag ? 1 : 0);
    text_ += text_field(10, text_field(1, "involved_dim") + text_field(28, text_field(1, packed)));
    return *this;
  }
  [[nodiscard]] std::string record() const { return varint(text_.size()) + text_; }

 private:
  std::string text_;
};

// A trace of these nodes, with the version in its first record.
inline std::string trace_text(const std::vector<TraceNodeText>& nodes) {
  std::string text = varint(7) + text_field(1, "0.0.4");
  for (const TraceNodeText& node : nodes) text += node.record();
  return text;
}

inline TraceNodeText comp(std::uint64_t id, std::uint64_t microseconds) {
  return TraceNodeText(id, "comp" + std::to_string(id), 4)
      .lasts(microseconds)
      .has("is_cpu_op", 0, kBool);
}
// `type`: Chakra's number.
inline TraceNodeText coll(std::uint64_t id, unsigned type, std::uint64_t bytes) {
  return TraceNodeText(id, "coll" + std::to_string(id), 7)
      .has("is_cpu_op", 0, kBool)
      .has("comm_type", type)
      .has("comm_size", bytes);
}
inline TraceNodeText send(std::uint64_t id, std::uint32_t to, std::uint64_t bytes,
                          unsigned tag = 5) {
  return TraceNodeText(id, "send" + std::to_string(id), 5)
      .has("comm_dst", to, kInt32)
      .has("comm_tag", tag, kInt32)
      .has("comm_size", bytes, kUint64);
}
inline TraceNodeText receive(std::uint64_t id, std::uint32_t from, std::uint64_t bytes,
                             unsigned tag = 5) {
  return TraceNodeText(id, "recv" + std::to_string(id), 6)
      .has("comm_src", from, kInt32)
      .has("comm_tag", tag, kInt32)
      .has("comm_size", bytes);
}

}  // namespace espalier::test
