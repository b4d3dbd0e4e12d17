#include "sims/formats/program/msccl_xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "sims/formats/program/msccl_format.h"
#include "sims/formats/program/xml_document.h"
#include "sims/text/nearest_name.h"
#include "sims/text/utf8.h"

namespace espalier {

namespace {

constexpr std::int64_t kMostInt = INT32_MAX;

const std::vector<const char*> kAlgoAttributes{
    "name",       "proto",    "nchannels", "nchunksperloop", "ngpus", "coll", "inplace",
    "outofplace", "minBytes", "maxBytes",  "nthreads",       "redop", "root"};
const std::vector<const char*> kGpuAttributes{"id", "i_chunks", "o_chunks", "s_chunks"};
const std::vector<const char*> kBlockAttributes{"id", "send", "recv", "chan"};
const std::vector<const char*> kStepAttributes{"s",      "type", "srcbuf", "srcoff", "dstbuf",
                                               "dstoff", "cnt",  "depid",  "deps",   "hasdep"};
const std::vector<std::string> kElements{"algo", "gpu", "tb", "step"};

// Collectives of MSCCL documents that Espalier does not support.
const std::vector<std::pair<const char*, const char*>> kForeignCollectives{
    {"alltoallv", "its messages have different sizes, but the chunks of a program are equal"},
    {"send", "it is a single message and not a collective"},
    {"recv", "it is a single message and not a collective"},
    {"gather", "write it as 'custom', with a file of promises"},
    {"scatter", "write it as 'custom', with a file of promises"}};

std::uint32_t as_u32(std::int64_t value) { return static_cast<std::uint32_t>(value); }
std::int32_t as_i32(std::int64_t value) { return static_cast<std::int32_t>(value); }

class Reader {
 public:
  explicit Reader(XmlReport& report) : report_(report) {}

  std::optional<Program> read(pugi::xml_node document) {
    const pugi::xml_node algo = find_algo(document);
    if (algo) read_algo(algo);
    report_.end();
    if (report_.failed()) return std::nullopt;
    return std::move(program_);
  }

 private:
  pugi::xml_node find_algo(pugi::xml_node document) {
    pugi::xml_node algo;
    for (const pugi::xml_node node : document.children()) {
      if (node.type() != pugi::node_element) continue;
      if (std::strcmp(node.name(), "algo") != 0) {
        report_foreign_root(node);
      } else if (algo) {
        report_.error(node.name(), "found a second 'algo'; a document has one",
                      fmt::format("the first is in line {}", report_.line(algo.name())));
      } else {
        algo = node;
      }
    }
    return algo;
  }

  void report_foreign_root(pugi::xml_node node) {
    const std::string name = node.name();
    report_.error(
        node.name(), fmt::format("expected the element 'algo', found '{}'", name),
        name == "msccl_algos" ? "this file is a list of files; give one of the listed files"
        : name == "system" ? "this is a topology of NCCL: system.topology: {type: file, file: ...}"
                           : "");
  }

  // Calls visit(child) for the children with the name. Other children are reported or ignored.
  template <class Visit>
  void for_each_child(pugi::xml_node parent, const char* name, const Visit& visit) {
    for (const pugi::xml_node child : parent.children()) {
      if (report_.full()) return;
      if (child.type() != pugi::node_element) {
        report_.ignored(child.value(), fmt::format("text in '{}'", parent.name()),
                        [] { return std::string(); });
      } else if (std::strcmp(child.name(), name) == 0) {
        visit(child);
      } else {
        report_other(parent, child, name);
      }
    }
  }
  void nothing_in(pugi::xml_node parent) {
    for_each_child(parent, "", [](pugi::xml_node) {});
  }

  void report_other(pugi::xml_node parent, pugi::xml_node child, const char* expected) {
    const bool is_known =
        std::find(kElements.begin(), kElements.end(), child.name()) != kElements.end();
    if (is_known) {
      report_.error(child.name(), fmt::format("found '{}' in '{}'", child.name(), parent.name()),
                    "elements nest as algo > gpu > tb > step");
    } else if (std::strcmp(child.name(), "op") == 0 && std::strcmp(expected, "step") == 0) {
      report_.error(child.name(), "'op' is not read by any runtime; the element is called 'step'",
                    "write <step s= type= srcbuf= srcoff= dstbuf= dstoff= cnt= depid= deps= "
                    "hasdep=/>");
    } else {
      report_.ignored(child.name(),
                      fmt::format("element '{}' in '{}'", child.name(), parent.name()), [&] {
                        const std::string nearest = nearest_name(child.name(), {expected});
                        return nearest.empty() ? "" : fmt::format("did you mean '{}'?", nearest);
                      });
    }
  }

  // ---------------------------------------------------------------- algo

  void read_algo(pugi::xml_node node) {
    XmlElement algo(node, kAlgoAttributes, nullptr, nullptr, report_);
    read_name(algo);
    read_collective(algo);
    program_.protocol = algo.choice("proto", kMscclNamesOfProtocols).value_or(Protocol::simple);
    channels_ = algo.integer("nchannels", {1, kMostInt});
    if (channels_.value_or(0) > kMostUsableChannels) {
      algo.warn_at("nchannels", fmt::format("runtimes use {} at most", kMostUsableChannels));
    }
    chunks_ = algo.integer("nchunksperloop", {1, kMostChunksOfBuffer});
    num_gpus_ = algo.integer("ngpus", {1, kMostInt});
    read_aliasing(algo);
    read_sizes(algo);
    check_unread(algo);
    program_.num_channels = as_u32(channels_.value_or(1));
    program_.chunks = as_u32(chunks_.value_or(1));
    check_shares(algo);
    read_gpus(node, algo);
    check_channels_used(algo);
  }

  void read_name(XmlElement& algo) {
    program_.name = algo.text("name");
    if (!algo.has("name")) {
      const char* why = "runtimes of the first generation require it";
      if (algo.has("outofplace")) {
        algo.warn_at("name", "it is missing", why);
      } else {
        algo.error_at("name", "it is missing", why);
      }
    } else if (!is_plain_text(program_.name)) {
      algo.error_at("name", "contains a control character or broken UTF-8");
    }
  }

  void read_collective(XmlElement& algo) {
    for (const auto& [name, reason] : kForeignCollectives) {
      if (algo.text("coll") != name) continue;
      algo.error_at("coll", fmt::format("'{}' is not supported", name), reason);
      return;
    }
    collective_ = algo.choice("coll", kMscclNamesOfCollectives);
    program_.collective = collective_.value_or(CollectiveOp::all_reduce);
    if (!algo.has("root")) return;
    if (!collective_ || !is_rooted(*collective_)) {
      algo.warn_at("root", "is ignored, because the collective has no root");
      return;
    }
    const auto root = algo.integer("root", {0, kMostInt});
    if (root) program_.root = as_u32(*root);
  }

  void read_aliasing(XmlElement& algo) {
    const IntegerRange any{INT32_MIN, kMostInt};
    const auto in_place = algo.integer("inplace", any);
    is_later_ = algo.has("outofplace");
    const auto out_of_place = algo.integer_or("outofplace", any, in_place.value_or(0) == 0 ? 1 : 0);
    if (!in_place || !out_of_place) return;
    program_.in_place = *in_place != 0;
    program_.also_out_of_place = *in_place != 0 && *out_of_place != 0;
    if (*in_place == 0 && *out_of_place == 0) {
      algo.error_at("outofplace",
                    "the program is neither in place nor out of place, so it could never be used",
                    "write inplace=\"1\", outofplace=\"1\", or both");
    }
  }

  void read_sizes(XmlElement& algo) {
    const IntegerRange bytes{0, INT64_MAX};
    const auto min = algo.integer_or("minBytes", bytes, 0);
    const auto max = algo.integer_or("maxBytes", bytes, is_later_ ? 0 : kDefaultMaxBytes);
    if (!min || !max) return;
    const bool unlimited = *max == 0 || *max == kUnlimitedBytes;
    if (!unlimited && *min > *max) {
      algo.error_at("minBytes", fmt::format("{} is more than maxBytes, {}", *min, *max),
                    algo.has("maxBytes") ? "" : "without the attribute, maxBytes is 134217728");
      return;
    }
    if (!is_later_ && !unlimited && *min == *max) {
      algo.warn_at("maxBytes", "no size is at least minBytes and below maxBytes",
                   "without 'outofplace' maxBytes is the first size that is too large");
    }
    if (!is_later_ && *max == 0) {
      algo.warn_at(
          "maxBytes", "0 is read as 'no limit'",
          "runtimes of the first generation read it as 'never' and would not use the program");
    }
    program_.min_bytes = static_cast<Bytes>(*min);
    const bool is_exclusive = !is_later_ && !unlimited;
    const bool is_shorter = is_exclusive && *max > *min;
    program_.max_bytes = unlimited ? 0 : static_cast<Bytes>(*max) - (is_shorter ? 1 : 0);
  }

  // Checks attributes that Espalier does not use, but runtimes do.
  static void check_unread(XmlElement& algo) {
    const auto threads = algo.integer_or("nthreads", {0, kMostInt}, 0);
    if (threads && *threads % 32 != 0) {
      algo.error_at("nthreads", fmt::format("{} is not a multiple of 32", *threads));
    }
  }

  void check_shares(XmlElement& algo) {
    if (!collective_ || !chunks_ || !num_gpus_ || !has_shares(*collective_)) return;
    if (*chunks_ % *num_gpus_ == 0) return;
    algo.error_at(
        "nchunksperloop",
        fmt::format("{} chunks are not a multiple of {} ranks", *chunks_, *num_gpus_),
        fmt::format("{} needs the same number of chunks for every rank", algo.text("coll")));
  }

  void check_channels_used(XmlElement& algo) {
    if (!channels_ || report_.failed() || highest_channel_ + 1 == *channels_) return;
    algo.warn_at("nchannels", fmt::format("the highest channel used is {}", highest_channel_));
  }

  // ---------------------------------------------------------------- gpu

  void read_gpus(pugi::xml_node algo_node, XmlElement& algo) {
    std::map<std::int64_t, RankProgram> by_rank;
    std::int64_t elements = 0;
    for_each_child(algo_node, "gpu", [&](pugi::xml_node node) {
      ++elements;
      read_gpu(node, by_rank);
    });
    if (report_.full()) return;
    if (program_.root && num_gpus_ && *program_.root >= *num_gpus_) {
      algo.error_at("root", fmt::format("there is no rank {}", *program_.root));
    }
    if (num_gpus_ && *num_gpus_ != elements) {
      algo.error_at(
          "ngpus",
          fmt::format("{} ranks, but the document has {} gpu elements", *num_gpus_, elements),
          missing_rank(by_rank) + "write one gpu element for each rank, even if it is empty");
    }
    if (num_chunks_ > kMostChunksOfProgram) {
      algo.error(fmt::format("all buffers together have {} chunks, which is too many", num_chunks_),
                 fmt::format("allowed are at most {}", kMostChunksOfProgram));
    }
    for (auto& [rank, gpu] : by_rank) program_.ranks.push_back(std::move(gpu));
  }

  // The beginning of a hint about a missing rank.
  [[nodiscard]] std::string missing_rank(const std::map<std::int64_t, RankProgram>& by_rank) const {
    std::int64_t rank = 0;
    while (by_rank.count(rank) != 0) ++rank;
    return rank < *num_gpus_ ? fmt::format("gpu {} is missing; ", rank) : std::string();
  }

  void read_gpu(pugi::xml_node node, std::map<std::int64_t, RankProgram>& by_rank) {
    XmlElement gpu(node, kGpuAttributes, "id", nullptr, report_);
    RankProgram rank;
    rank.line = report_.line(node.name());
    const auto id = gpu.integer("id", {0, num_gpus_.value_or(kMostInt) - 1});
    rank_ = id.value_or(-1);
    const IntegerRange chunks{0, kMostChunksOfBuffer};
    const auto inputs = gpu.integer("i_chunks", chunks);
    const auto outputs = gpu.integer("o_chunks", chunks);
    const auto scratch = gpu.integer("s_chunks", chunks);
    rank.input_chunks = as_u32(inputs.value_or(0));
    rank.output_chunks = as_u32(outputs.value_or(0));
    rank.scratch_chunks = as_u32(scratch.value_or(0));
    num_chunks_ += scratch.value_or(0);
    if (collective_ && chunks_ && num_gpus_) {
      const std::int64_t in = input_chunks_of(*collective_, *chunks_, *num_gpus_);
      const std::int64_t out = output_chunks_of(*collective_, *chunks_, *num_gpus_);
      num_chunks_ += in + out;
      if (inputs) check_buffer(gpu, "i_chunks", *inputs, in);
      if (outputs) check_buffer(gpu, "o_chunks", *outputs, out);
    }
    read_blocks(node, gpu, rank);
    if (!id) return;
    const auto [first, is_new] = by_rank.emplace(*id, std::move(rank));
    if (is_new) return;
    gpu.error_at("id", fmt::format("rank {} is given twice", *id),
                 fmt::format("the first is in line {}", first->second.line));
  }

  void check_buffer(XmlElement& gpu, const char* name, std::int64_t chunks, std::int64_t expected) {
    if (chunks == 0 || chunks == expected) return;
    if (*collective_ == CollectiveOp::custom && chunks < expected) {
      gpu.warn_at(name, fmt::format("{} is less than nchunksperloop", chunks),
                  "runtimes of the first generation refuse such a program");
      return;
    }
    gpu.error_at(name, fmt::format("{} does not match nchunksperloop, {}", chunks, *chunks_),
                 fmt::format("write {}, or 0 if the program does not use the buffer", expected));
  }

  // ---------------------------------------------------------------- tb

  void read_blocks(pugi::xml_node node, const XmlElement& gpu, RankProgram& rank) {
    const auto count = std::distance(node.children("tb").begin(), node.children("tb").end());
    if (count > kMostBlocksOfRank) {
      report_.error(node.name(), fmt::format("{}: has {} thread blocks", gpu.label(), count),
                    fmt::format("runtimes accept at most {}", kMostBlocksOfRank));
    }
    std::map<std::int64_t, ThreadBlock> by_id;
    std::map<std::int64_t, std::int64_t> of_channel;
    for_each_child(node, "tb", [&](pugi::xml_node child) {
      XmlElement tb(child, kBlockAttributes, "id", &gpu, report_);
      ThreadBlock block;
      block.line = report_.line(child.name());
      const auto id = tb.integer("id", {0, count - 1});
      block.send_peer = read_peer(tb, "send");
      block.recv_peer = read_peer(tb, "recv");
      read_channel(tb, block, of_channel);
      read_steps(child, tb, block);
      if (!id) return;
      const auto [first, is_new] = by_id.emplace(*id, std::move(block));
      if (is_new) return;
      tb.error_at("id", fmt::format("{} is given twice", *id),
                  fmt::format("the first is in line {}; give each of 0 to {} once, in any order",
                              first->second.line, count - 1));
    });
    for (auto& [id, block] : by_id) rank.blocks.push_back(std::move(block));
  }

  std::int32_t read_peer(XmlElement& tb, const char* name) {
    const auto peer = tb.integer(name, {-1, num_gpus_.value_or(kMostInt) - 1});
    if (peer && *peer != -1 && *peer == rank_) {
      tb.error_at(name, fmt::format("{} is the rank itself", *peer), "write -1 for no peer");
    }
    return as_i32(peer.value_or(-1));
  }

  void read_channel(XmlElement& tb, ThreadBlock& block,
                    std::map<std::int64_t, std::int64_t>& of_channel) {
    const auto channel = tb.integer("chan", {0, channels_.value_or(kMostInt) - 1});
    if (!channel) return;
    block.channel = as_u32(*channel);
    highest_channel_ = std::max(highest_channel_, *channel);
    if (++of_channel[*channel] != kMostBlocksOfChannel + 1) return;
    tb.error_at("chan",
                fmt::format("more than {} thread blocks of this rank have channel {}",
                            kMostBlocksOfChannel, *channel),
                "runtimes do not accept more");
  }

  // ---------------------------------------------------------------- step

  void read_steps(pugi::xml_node node, const XmlElement& tb, ThreadBlock& block) {
    std::int64_t expected = 0;
    bool in_order = true;  // an error in the order is reported once
    bool after_nop = false;
    for_each_child(node, "step", [&](pugi::xml_node child) {
      XmlElement step(child, kStepAttributes, "s", &tb, report_);
      const auto s = step.integer("s", {0, kMostInt});
      if (s && *s != expected && in_order) {
        in_order = false;
        step.error_at("s", fmt::format("expected {1}, found {0}", *s, expected),
                      "number steps from 0 in their order");
      }
      if (expected++ == kMostStepsOfBlock) {
        step.error(fmt::format("{}: has more than {} steps", tb.label(), kMostStepsOfBlock),
                   "runtimes do not accept more");
      }
      read_step(child, step, block);
      check_after_nop(step, block.steps.back(), after_nop);
      after_nop = step.text("type") == to_string(ProgramOp::nop);
      nothing_in(child);
    });
    block.steps.shrink_to_fit();
  }

  void read_step(pugi::xml_node node, XmlElement& element, ThreadBlock& block) {
    ProgramStep step;
    step.line = report_.line(node.name());
    if (element.text("type") == "ra") {
      element.error_at("type", "'ra' is reserved; runtimes do not execute it");
    } else {
      step.op = element.choice("type", kMscclNamesOfOps).value_or(ProgramOp::nop);
    }
    step.count = read_count(element, step.op);
    const IntegerRange offset{-1, kMostInt};
    step.src_buffer = element.choice("srcbuf", kMscclNamesOfBuffers).value_or(ProgramBuffer::input);
    step.src_offset = as_i32(element.integer("srcoff", offset).value_or(-1));
    step.dst_buffer =
        element.choice("dstbuf", kMscclNamesOfBuffers).value_or(ProgramBuffer::output);
    step.dst_offset = as_i32(element.integer("dstoff", offset).value_or(-1));
    const auto wait_block = element.integer("depid", {-1, kMostInt});
    const auto wait_step = element.integer("deps", {-1, kMostInt});
    if (wait_block && wait_step && (*wait_block == -1) != (*wait_step == -1)) {
      element.error_at(*wait_block == -1 ? "depid" : "deps",
                       fmt::format("depid is {} and deps is {}; either both or neither must be -1",
                                   *wait_block, *wait_step),
                       "write -1 for both if there is none");
    }
    step.wait_block = as_i32(wait_block.value_or(-1));
    step.wait_step = as_i32(wait_step.value_or(-1));
    step.signals = element.integer("hasdep", {0, 1}).value_or(0) == 1;
    block.steps.push_back(step);
  }

  // A nop has no count.
  static std::uint32_t read_count(XmlElement& element, ProgramOp op) {
    const bool is_nop = op == ProgramOp::nop;
    const auto count = element.integer("cnt", {is_nop ? 0 : 1, kMostChunksOfStep});
    return is_nop ? 0 : as_u32(count.value_or(1));
  }

  static void check_after_nop(XmlElement& element, const ProgramStep& step, bool after_nop) {
    if (!after_nop || step.op == ProgramOp::nop || step.wait_block != -1) return;
    element.error_at("depid", "the step before is a nop, so this step needs a dependency",
                     "move the dependency of the last nop to this step");
  }

  XmlReport& report_;
  Program program_;
  // Values are empty if no valid value was given. Checks that need such a value are skipped.
  std::optional<CollectiveOp> collective_;
  std::optional<std::int64_t> channels_;
  std::optional<std::int64_t> chunks_;
  std::optional<std::int64_t> num_gpus_;
  bool is_later_ = false;  // a document of the later generation
  std::int64_t rank_ = -1;
  std::int64_t highest_channel_ = 0;
  std::int64_t num_chunks_ = 0;  // of all buffers
};

}  // namespace

std::optional<Program> read_msccl_xml(const std::string& file_name, const std::string& text,
                                      Diagnostics& diagnostics) {
  const std::size_t errors_before = diagnostics.num_errors();
  const XmlSource source(file_name, text, diagnostics);
  if (diagnostics.num_errors() != errors_before) return std::nullopt;
  XmlReport report(source, diagnostics);
  return Reader(report).read(source.document());
}

}  // namespace espalier
