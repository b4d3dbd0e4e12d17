#include "sims/formats/chakra_records.h"

#include <fmt/format.h>

#include <chakra.pb.h>

#include <algorithm>
#include <filesystem>

#include "sims/text/file_hashes.h"
#include "sims/text/utf8.h"

namespace espalier {

namespace {

// PyTorch's nodes with lists of tensors take some hundred kilobytes.
constexpr std::uint64_t kMostRecordBytes = std::uint64_t{64} << 20;
constexpr std::size_t kLongestName = 200;

// An integer of any kind or a bool. False for other values, and for more than an int64 holds.
bool integer_of(const chakra::Attribute& value, std::int64_t& number) {
  if (value.value_case() < chakra::Attribute::kInt32Value ||
      value.value_case() > chakra::Attribute::kBoolValue) {
    return false;
  }
  // All but one of these are 0.
  const std::uint64_t natural = value.uint32_value() + value.uint64_value() +
                                value.fixed32_value() + value.fixed64_value() +
                                static_cast<std::uint64_t>(value.bool_value());
  number = value.int32_value() + value.int64_value() + value.sint32_value() + value.sint64_value() +
           value.sfixed32_value() + value.sfixed64_value() + static_cast<std::int64_t>(natural);
  return natural >> 63 == 0;
}

void read_attribute(const chakra::Attribute& attribute, TraceNode& node) {
  const auto known = std::find(kTraceAttributes.begin(), kTraceAttributes.end(), attribute.name());
  if (known == kTraceAttributes.end()) return;
  const auto which = static_cast<TraceAttribute>(known - kTraceAttributes.begin());
  const auto expect = [&](bool is_good, const char* what) {
    if (!is_good && node.problem.empty()) {
      node.problem = fmt::format("has an attribute {} that is not {}", *known, what);
    }
  };
  if (which == TraceAttribute::pg_name) {
    expect(attribute.value_case() == chakra::Attribute::kStringValue, "a string");
    node.pg_name = attribute.string_value();
  } else if (which == TraceAttribute::involved_dim) {
    expect(attribute.value_case() == chakra::Attribute::kBoolsValue, "a list of bool");
    const auto& flags = attribute.bools_value().values();
    node.involved_dim.assign(flags.begin(), flags.end());
  } else {
    std::int64_t number = 0;
    const bool is_integer = integer_of(attribute, number);
    const bool is_any = which == TraceAttribute::comm_tag;
    expect(is_integer && (is_any || number >= 0), "an integer of 0 to 2^63 - 1");
    node.numbers[static_cast<std::size_t>(which)] = number;
  }
}

}  // namespace

struct TraceReader::Messages {
  chakra::Node node;
};

bool reads_traces() { return true; }

TraceReader::TraceReader(const std::string& path) : hash_(hash_text({})), messages_(new Messages) {
  // Opening a pipe would wait for its writer.
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    problem_ = "is not a file";
    return;
  }
  file_.open(path, std::ios::binary);
  if (!file_) {
    problem_ = "cannot be read";
    return;
  }
  std::string begin(64, '\0');
  file_.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(file_.gcount()));
  file_.clear();
  file_.seekg(0);
  const auto starts = [&](std::string_view magic) {
    return begin.compare(0, magic.size(), magic) == 0;
  };
  if (starts("\x1f\x8b")) {
    problem_ = "is compressed with gzip: unpack it with gunzip";
  } else if (starts("\x28\xb5\x2f\xfd")) {
    problem_ = "is compressed with zstd: unpack it with zstd -d --long=27";
  } else if (begin.find("\"workload_graph\"") != std::string::npos) {
    problem_ = "is Chakra's JSON form, which is not read: give the trace in protobuf (.et)";
  } else if (begin.empty()) {
    problem_ = "is empty";
  }
  if (!problem_.empty() || !read_message()) return;
  chakra::Metadata metadata;
  if (!metadata.ParseFromString(message_) || !is_plain_text(metadata.version())) {
    problem_ =
        "is no Chakra execution trace of version 0.0.4 or 1.0: its first record is no "
        "GlobalMetadata";
  }
}

TraceReader::~TraceReader() = default;

bool TraceReader::read_message() {
  const auto fail = [&](const char* why) {
    problem_ = fmt::format("is damaged: the record at byte {} {}", begin_, why);
    return false;
  };
  begin_ = at_;
  std::uint64_t length = 0;
  message_.clear();
  for (unsigned shift = 0;; shift += 7) {
    const int byte = file_.get();
    if (byte == std::ifstream::traits_type::eof()) {
      return message_.empty() ? false : fail("has no end");
    }
    message_ += static_cast<char>(byte);
    length |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) break;
    if (shift > 28) return fail("has no length");
  }
  hash_ = hash_text(message_, hash_);
  at_ += message_.size();
  if (length > kMostRecordBytes) return fail("is longer than 64 MiB");
  message_.resize(length);
  file_.read(message_.data(), static_cast<std::streamsize>(length));
  if (static_cast<std::uint64_t>(file_.gcount()) != length) return fail("ends behind the file");
  hash_ = hash_text(message_, hash_);
  at_ += length;
  return true;
}

bool TraceReader::next(TraceNode& node) {
  if (!problem_.empty() || !read_message()) return false;
  chakra::Node& read = messages_->node;
  if (!read.ParseFromString(message_)) {
    problem_ = fmt::format("is damaged: the record at byte {} is no node", begin_);
    return false;
  }
  node.id = read.id();
  // Results and messages contain it.
  node.name = printable(std::string_view(read.name()).substr(0, kLongestName));
  node.after.assign(read.data_deps().begin(), read.data_deps().end());
  node.after.insert(node.after.end(), read.ctrl_deps().begin(), read.ctrl_deps().end());
  node.microseconds = read.duration_micros();
  node.inputs = read.inputs().values();
  node.numbers.fill(std::nullopt);
  node.pg_name.clear();
  node.involved_dim.clear();
  node.problem.clear();
  if (read.type() > static_cast<std::uint32_t>(TraceNodeType::comm_coll)) {
    node.problem = fmt::format("is of type {}, which Chakra does not have", read.type());
  }
  node.type = static_cast<TraceNodeType>(read.type());
  for (const chakra::Attribute& attribute : read.attributes()) read_attribute(attribute, node);
  return true;
}

}  // namespace espalier
