#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "sims/formats/program/msccl_format.h"
#include "sims/formats/program/mscclpp.h"
#include "sims/formats/program/mscclpp_plan.h"
#include "sims/text/read_file.h"
#include "sims/text/strict_json.h"

namespace espalier {

namespace mscclpp {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMost = UINT32_MAX / 2;

// Names of earlier generations, and the name of the newest.
const std::map<std::string, std::string> kRenamed{
    {"rsignal", "rlxsignal"}, {"rwait", "rlxwait"}, {"rrc", "rre"},
    {"rrcs", "rres"},         {"rs", "res"},        {"rspkt", "respkt"},
    {"rpkt", "repkt"},        {"tpkt", "cpkt"},     {"ucpkt", "upkt"}};
const std::map<std::string, ProgramBuffer> kBuffers{
    {"i", ProgramBuffer::input},       {"o", ProgramBuffer::output},
    {"s", ProgramBuffer::scratch},     {"input", ProgramBuffer::input},
    {"output", ProgramBuffer::output}, {"scratch", ProgramBuffer::scratch}};

class Parser {
 public:
  explicit Parser(const std::string& text) : json_(parse_strict_json(text)) {
    const std::vector<Place> found = object_places(text);
    std::size_t next = 0;
    note_places(json_, found, next);
  }

  Plan parse() {
    const Json& root = json_;
    plan_.name = text_or(root, {"name"}, "");
    plan_.protocol = text_or(root, {"protocol"}, "");
    plan_.collective = text_or(root, {"collective", "colletive"}, "");
    const bool is_known =
        std::any_of(std::begin(kMscclNamesOfCollectives), std::end(kMscclNamesOfCollectives),
                    [&](const auto& name) { return plan_.collective == name.first; });
    if (!is_known && plan_.collective != "sendrecv" && plan_.collective != "alltoallv") {
      fail(root, fmt::format("collective is '{}', which is not known", plan_.collective),
           "for example \"collective\": \"allreduce\", or \"custom\" with a file of promises");
    }
    plan_.in_place = value(root, {"inplace"}) != nullptr &&
                     value(root, {"inplace"})->is_boolean() &&
                     value(root, {"inplace"})->get<bool>();
    plan_.min_bytes = number_or(root, {"min_message_size"}, 0, INT64_MAX);
    plan_.max_bytes = number_or(root, {"max_message_size"}, 0, UINT64_MAX);
    if (plan_.max_bytes > INT64_MAX) plan_.max_bytes = 0;
    // Remote buffers need the number of ranks, channels all of them.
    const Json& gpus = list(root, {"gpus"});
    if (gpus.empty() || gpus.size() > kMostRanks) {
      throw PlanError(place(root), fmt::format("the plan has {} gpus; allowed are 1 to {}",
                                               gpus.size(), kMostRanks));
    }
    plan_.gpus.resize(gpus.size());
    for (std::uint32_t r = 0; r < gpus.size(); ++r) read_gpu(gpus[r], r);
    return std::move(plan_);
  }

 private:
  using Keys = std::initializer_list<const char*>;
  static constexpr std::size_t kMostRanks = 4096;
  static constexpr const char* kSwitchChannel = "switch channel of the thread block";

  // What the operations of one thread block may name.
  struct Names {
    std::map<std::string, std::vector<Channel>> channels;  // by pair of buffers and type
    std::map<std::string, std::vector<Range>> buffers;     // by type
    std::vector<Range> switches;
  };

  void note_places(const Json& json, const std::vector<Place>& found, std::size_t& next) {
    if (json.is_object() && next < found.size()) places_.emplace(&json, found[next++]);
    if (json.is_structured()) {
      for (const Json& child : json) note_places(child, found, next);
    }
  }
  [[nodiscard]] Place place(const Json& json) const {
    const auto at = places_.find(&json);
    return at == places_.end() ? Place{0, 1, 1} : at->second;
  }

  // ---------------------------------------------------------------- values, by any of their names

  static const Json* value(const Json& of, Keys keys) {
    if (!of.is_object()) return nullptr;
    for (const char* key : keys) {
      if (const auto at = of.find(key); at != of.end()) return &*at;
    }
    return nullptr;
  }
  [[noreturn]] void fail(const Json& at, const std::string& what,
                         const std::string& hint = {}) const {
    throw PlanError(place(at), where_ + what, hint);
  }
  [[nodiscard]] std::uint64_t number(const Json& of, const Json& json, const char* name,
                                     std::uint64_t most = kMost) const {
    const bool is_number =
        json.is_number_unsigned() || (json.is_number_integer() && json.get<std::int64_t>() >= 0);
    if (is_number && json.get<std::uint64_t>() <= most) return json.get<std::uint64_t>();
    std::string shown = json.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (shown.size() > 40) shown = shown.substr(0, 40) + "...";
    fail(of, fmt::format("{} is {}; allowed is an integer from 0 to {}", name, shown, most));
  }
  [[nodiscard]] std::uint64_t number_or(const Json& of, Keys keys, std::uint64_t otherwise,
                                        std::uint64_t most = kMost) const {
    const Json* json = value(of, keys);
    return json == nullptr ? otherwise : number(of, *json, *keys.begin(), most);
  }
  [[nodiscard]] std::uint64_t number(const Json& of, Keys keys, std::uint64_t most = kMost) const {
    const Json* json = value(of, keys);
    if (json == nullptr) fail(of, fmt::format("{} is missing", *keys.begin()));
    return number(of, *json, *keys.begin(), most);
  }
  [[nodiscard]] std::uint32_t number32(const Json& of, Keys keys,
                                       std::uint64_t most = kMost) const {
    return static_cast<std::uint32_t>(number(of, keys, most));
  }
  [[nodiscard]] std::string text_or(const Json& of, Keys keys, const std::string& otherwise) const {
    const Json* json = value(of, keys);
    if (json == nullptr) return otherwise;
    if (!json->is_string()) fail(of, fmt::format("{} is not a text", *keys.begin()));
    return json->get<std::string>();
  }
  // An empty list if it is missing.
  [[nodiscard]] const Json& list(const Json& of, Keys keys) const {
    static const Json kEmpty = Json::array();
    const Json* json = value(of, keys);
    if (json == nullptr) return kEmpty;
    if (!json->is_array()) fail(of, fmt::format("{} is not a list", *keys.begin()));
    return *json;
  }
  [[nodiscard]] std::vector<std::uint32_t> numbers(const Json& of, Keys keys) const {
    std::vector<std::uint32_t> found;
    for (const Json& item : list(of, keys)) {
      found.push_back(static_cast<std::uint32_t>(number(of, item, *keys.begin())));
    }
    return found;
  }
  [[nodiscard]] ProgramBuffer buffer(const Json& of, Keys keys) const {
    const std::string name = text_or(of, keys, "");
    const auto found = kBuffers.find(name);
    if (found == kBuffers.end()) {
      fail(of, fmt::format("{} is '{}'; allowed are i, o and s", *keys.begin(), name));
    }
    return found->second;
  }
  // sm and proxy are the words of schema 1.
  [[nodiscard]] static std::string type_name(const std::string& type) {
    return type == "sm" ? "memory" : type == "proxy" ? "port" : type == "nvls" ? "switch" : type;
  }
  [[nodiscard]] std::uint32_t rank(const Json& of, std::uint32_t rank) const {
    if (rank < plan_.gpus.size() && rank != gpu_) return rank;
    fail(of, fmt::format(rank == gpu_ ? "rank {} is the gpu itself" : "there is no rank {}", rank));
  }
  template <class Item>
  using Lists = std::map<std::string, std::vector<Item>>;
  // An empty list if there is none of that key.
  template <class Item>
  static const std::vector<Item>& in(const Lists<Item>& lists, const std::string& key) {
    static const std::vector<Item> kEmpty;
    const auto found = lists.find(key);
    return found == lists.end() ? kEmpty : found->second;
  }
  template <class Item>
  [[nodiscard]] const Item& item(const Json& of, const std::vector<Item>& items,
                                 std::uint64_t index, const std::string& what) const {
    if (index < items.size()) return items[index];
    fail(of, fmt::format("names {} {}, but there are {}", what, index, items.size()));
  }

  // ---------------------------------------------------------------- gpus

  void read_gpu(const Json& json, std::uint32_t number_of_gpu) {
    gpu_ = number_of_gpu;
    where_ = fmt::format("gpu {}: ", gpu_);
    Gpu& gpu = plan_.gpus[gpu_];
    gpu.place = place(json);
    if (number_or(json, {"id"}, gpu_) != gpu_) {
      fail(json, fmt::format("its id is {}; ids ascend from 0", number(json, {"id"})));
    }
    const auto chunks = [&](Keys keys) {
      return static_cast<std::uint32_t>(
          number_or(json, keys, 0, static_cast<std::uint64_t>(kMostChunksOfBuffer)));
    };
    gpu.input_chunks = chunks({"input_chunks", "inputChunks"});
    gpu.output_chunks = chunks({"output_chunks", "outputChunks"});
    gpu.scratch_chunks = chunks({"scratch_chunks", "scratchChunks"});
    for (const Json& semaphore : list(json, {"semaphores"})) {
      gpu.semaphores.push_back(number32(semaphore, {"init_value"}));
    }
    const Lists<Channel> channels = read_channels(json);
    std::vector<Range> remote;
    for (const Json& at : list(json, {"remote_buffers", "remoteBuffers"})) {
      remote.push_back({rank(at, number32(at, {"rank"})), buffer(at, {"type"}), 0, 0});
    }
    const Json& blocks = list(json, {"threadblocks"});
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      where_ = fmt::format("gpu {} tb {}: ", gpu_, b);
      const Names names = read_names(blocks[b], channels, remote);
      std::vector<Op>& ops = gpu.blocks.emplace_back();
      const Json& list_of_ops = list(blocks[b], {"ops"});
      std::size_t num_ops = 0;
      for (std::size_t s = 0; s < list_of_ops.size(); ++s) {
        where_ = fmt::format("gpu {} tb {} op {}: ", gpu_, b, s);
        ops.push_back(read_op(list_of_ops[s], names, false));
        num_ops += 1 + ops.back().ops.size();
      }
      if (num_ops <= kMostOpsOfBlock) continue;
      where_ = fmt::format("gpu {} tb {}: ", gpu_, b);
      fail(blocks[b],
           fmt::format("it has {} operations, but MSCCL++'s executor takes {} (MAX_OPERATION)",
                       num_ops, kMostOpsOfBlock),
           "write more thread blocks");
    }
  }

  // A channel for each group of ranks whose memories the switch reads and writes together.
  void read_switch_channels(const Json& json) {
    for (const Json& group : list(json, {"rank_groups", "rankGroups"})) {
      Range range{gpu_, buffer(json, {"buffer_type", "buff"}), 0, 0, numbers(group, {"ranks"})};
      std::vector<std::uint32_t>& ranks = range.group;
      std::sort(ranks.begin(), ranks.end());
      if (std::adjacent_find(ranks.begin(), ranks.end()) != ranks.end() ||
          !std::binary_search(ranks.begin(), ranks.end(), gpu_) ||
          ranks.back() >= plan_.gpus.size()) {
        fail(group, "a switch channel is of different ranks of the plan, this gpu among them");
      }
      switches_.push_back(std::move(range));
    }
  }

  Lists<Channel> read_channels(const Json& json) {
    switches_.clear();
    Lists<Channel> channels;  // by pair of buffers, empty in schema 2, and type
    std::map<std::string, std::uint32_t> numbers_to;  // by pair of buffers, type and peer
    for (const Json& group : list(json, {"channels"})) {
      const std::string type = type_name(text_or(group, {"channel_type", "type"}, ""));
      if (type == "switch") read_switch_channels(group);
      if (type == "none" || type == "switch") continue;
      if (type != "memory" && type != "port") {
        fail(group, fmt::format("channel type '{}'; allowed are memory, port and switch", type));
      }
      const std::string pair = text_or(group, {"srcbuff"}, "") + text_or(group, {"dstbuff"}, "");
      for (const std::uint32_t peer : numbers(group, {"connected_to", "connectedTo"})) {
        Channel channel;
        channel.peer = rank(group, peer);
        channel.type = type == "port" ? ChannelType::port : ChannelType::memory;
        channel.buffers = pair;
        channel.number = numbers_to[fmt::format("{} {} {}", pair, type, peer)]++;
        channels[pair + " " + type].push_back(channel);
      }
    }
    return channels;
  }

  Names read_names(const Json& block, const Lists<Channel>& channels,
                   const std::vector<Range>& remote) {
    Names names;
    for (const Json& group : list(block, {"channels"})) {
      const std::string type = type_name(text_or(group, {"channel_type", "ctype"}, ""));
      if (type == "switch") {
        for (const std::uint32_t id : numbers(group, {"channel_ids", "cids"})) {
          names.switches.push_back(item(group, switches_, id, "switch channel"));
        }
      }
      if (type == "none" || type == "switch") continue;
      const std::string key =
          text_or(group, {"src"}, "") + text_or(group, {"dst"}, "") + " " + type;
      for (const std::uint32_t id : numbers(group, {"channel_ids", "cids"})) {
        names.channels[key].push_back(item(group, in(channels, key), id, type + " channel"));
      }
    }
    for (const Json& group : list(block, {"remote_buffer_refs", "remoteBuffersRefs"})) {
      const std::string type =
          type_name(text_or(group, {"access_channel_type", "accessChannelType"}, "memory"));
      for (const std::uint32_t id : numbers(group, {"remote_buffer_ids", "ids"})) {
        names.buffers[type].push_back(item(group, remote, id, "remote buffer"));
      }
    }
    return names;
  }

  // ---------------------------------------------------------------- operations

  Op read_op(const Json& json, const Names& names, bool is_inner) {
    Op op;
    op.place = place(json);
    op.name = text_or(json, {"name"}, "");
    if (const auto renamed = kRenamed.find(op.name); renamed != kRenamed.end()) {
      op.name = renamed->second;
    }
    where_ += op.name + ": ";
    if (value(json, {"reduce_op"}) != nullptr && text_or(json, {"reduce_op"}, "") != "sum") {
      fail(json, "reduces otherwise than by sum, which no executor does");
    }
    const std::string type = type_name(text_or(json, {"channel_type", "ctype"}, "memory"));
    op.type = type == "port" ? ChannelType::port : ChannelType::memory;
    if (op.name == "pipeline" && !is_inner) {
      read_pipeline(json, names, op);
    } else if (value(json, {"src_buff", "dst_buff"}) != nullptr) {
      read_ranges(json, names, type, op);
    } else {
      read_ranges_of_schema_1(json, names, type, op);
    }
    for (const std::uint32_t id : numbers(json, {"channel_ids", "cids"})) {
      if (type != "memory" && type != "port") break;
      op.channels.push_back(
          item(json, in(names.channels, " " + type), id, type + " channel of the thread block"));
    }
    if (const Json* group = value(json, {"tbg_info"})) {
      op.slices = number32(*group, {"tbg_size"}, 1024);
      op.slice = number32(*group, {"tb_id"});
      if (op.slice >= op.slices) fail(*group, fmt::format("tb_id {} of {}", op.slice, op.slices));
    }
    if (op.name == "barrier") {
      op.barrier = number32(json, {"barrier_id"});
      op.barrier_blocks = number32(json, {"num_threadblocks"});
    }
    op.semaphores = numbers(json, {"semaphore_ids"});
    for (const std::uint32_t id : op.semaphores) {
      static_cast<void>(item(json, plan_.gpus[gpu_].semaphores, id, "semaphore"));
    }
    for (const Json& awaited : list(json, {"deps"})) {
      op.after.emplace_back(number32(awaited, {"tb"}), number32(awaited, {"step"}));
    }
    return op;
  }

  void read_pipeline(const Json& json, const Names& names, Op& op) {
    const Json* context = value(json, {"iter_context"});
    if (context == nullptr) fail(json, "iter_context is missing");
    op.unit_bytes = number(*context, {"unit_size"}, INT64_MAX);
    op.unit_chunks = number(*context, {"num_chunks"});
    if (op.unit_bytes == 0 || op.unit_chunks == 0) fail(*context, "unit_size or num_chunks is 0");
    if (op.unit_bytes % 16 != 0) {
      fail(*context, fmt::format("unit_size is {} bytes; executors cut at 16", op.unit_bytes));
    }
    const std::string where = where_;
    for (const Json& inner : list(json, {"ops"})) {
      where_ = where;
      op.ops.push_back(read_op(inner, names, true));
    }
    where_ = where;
  }

  void read_ranges(const Json& json, const Names& names, const std::string& type, Op& op) {
    const auto read = [&](Keys keys, std::vector<Range>& ranges) {
      for (const Json& at : list(json, keys)) {
        if (value(at, {"dynamic_index", "dynamic_size"}) != nullptr) {
          fail(json, "dynamic_index and dynamic_size stand for numbers that a call fills in",
               "read the plan with its numbers");
        }
        Range range{gpu_, ProgramBuffer::input, 0, 0};
        if (value(at, {"switch_channel_id"}) != nullptr) {
          range = item(at, names.switches, number(at, {"switch_channel_id"}), kSwitchChannel);
        } else if (value(at, {"buffer_id", "buff_id"}) != nullptr) {
          range = item(at, in(names.buffers, type), number(at, {"buffer_id", "buff_id"}),
                       "remote " + type + " buffer of the thread block");
        } else {
          range.buffer = buffer(at, {"type"});
        }
        range.index = number(at, {"index", "offset"});
        range.count = number(at, {"size"});
        ranges.push_back(check_range(at, range));
      }
    };
    read({"src_buff"}, op.src);
    read({"dst_buff"}, op.dst);
  }

  // An operation names its own buffers, and those at the far ends of channels by i_ and o_.
  void read_ranges_of_schema_1(const Json& json, const Names& names, const std::string& type,
                               Op& op) {
    const std::uint64_t count = number_or(json, {"cnt"}, 1);
    const auto own = [&](const char* buff, const char* offset, const char* listed, const char* ids,
                         std::vector<Range>& ranges) {
      if (value(json, {buff}) != nullptr && value(json, {offset}) != nullptr) {
        ranges.push_back({gpu_, buffer(json, {buff}), number(json, {offset}), count});
      }
      for (const Json& at : list(json, {listed})) {
        ranges.push_back({gpu_, buffer(at, {"buff"}), number(at, {"off"}), count});
      }
      const bool is_in = ids[0] == 'i';
      const Json* pair = value(json, {is_in ? "i_buff" : "o_buff"});
      if (pair == nullptr) return;
      const std::string key =
          text_or(*pair, {"src"}, "") + text_or(*pair, {"dst"}, "") + " " + type;
      for (const Json& at : list(json, {ids})) {
        const Channel& channel = item(json, in(names.channels, key), number(at, {"id"}),
                                      key + " channel of the thread block");
        op.channels.push_back(channel);
        ranges.push_back({channel.peer, buffer(*pair, {"dst"}), number_or(at, {"off"}, 0), count});
      }
    };
    own("srcbuff", "srcoff", "srcs", "i_cids", op.src);
    own("dstbuff", "dstoff", "dsts", "o_cids", op.dst);
    const auto far = [&](const char* listed, const char* single, std::vector<Range>& ranges) {
      const Json& ids = list(json, {listed});
      if (type != "switch" || ranges.size() != 1 || (ids.empty() && !value(json, {single}))) return;
      const std::uint64_t id = ids.empty() ? number(json, {single}) : number(ids[0], {"id"});
      const Range& channel = item(json, names.switches, id, kSwitchChannel);
      ranges[0].buffer = channel.buffer;
      ranges[0].group = channel.group;
    };
    far("i_cids", "gi_cid", op.src);
    far("o_cids", "go_cid", op.dst);
    if (op.name == "signal" || op.name == "wait" || op.name == "flush") {
      op.src.clear();
      op.dst.clear();
    }
    for (const auto* ranges : {&op.src, &op.dst}) {
      for (const Range& range : *ranges) unchecked_.push_back({range, op.place, where_});
    }
  }

  const Range& check_range(const Json& at, const Range& range) {
    if (range.count == 0) fail(at, "its range has no chunks");
    unchecked_.push_back({range, place(at), where_});
    return range;
  }

 public:
  // Ranges may name ranks that are read later. Precondition: parse() is done.
  void check_ranges(const Plan& plan) const {
    for (const auto& [range, place, where] : unchecked_) {
      const std::vector<std::uint32_t> one{range.rank};
      for (const std::uint32_t rank : range.group.empty() ? one : range.group) {
        const Gpu& gpu = plan.gpus[rank];
        const std::uint64_t chunks = range.buffer == ProgramBuffer::scratch ? gpu.scratch_chunks
                                     : range.buffer == ProgramBuffer::input ? gpu.input_chunks
                                                                            : gpu.output_chunks;
        if (range.index + range.count <= chunks) continue;
        throw PlanError(place, fmt::format("{}chunks {} to {} of buffer {} of gpu {}, which has {}",
                                           where, range.index, range.index + range.count - 1,
                                           to_string(range.buffer), rank, chunks));
      }
    }
  }

 private:
  struct Unchecked {
    Range range;
    Place place;
    std::string where;
  };
  Json json_;
  std::unordered_map<const Json*, Place> places_;
  std::vector<Unchecked> unchecked_;
  std::vector<Range> switches_;  // of the gpu: its switch channels, as empty ranges
  Plan plan_;
  std::uint32_t gpu_ = 0;
  std::string where_;  // "gpu 1 tb 0 op 3: ", for errors
};

}  // namespace

Plan parse_plan(const std::string& text) {
  Parser parser(text);
  Plan plan = parser.parse();
  parser.check_ranges(plan);
  return plan;
}

}  // namespace mscclpp

bool is_mscclpp_plan(std::string_view text) {
  const auto has = [&](const char* word) { return text.find(word) != std::string_view::npos; };
  const std::size_t first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  return first != std::string_view::npos && text[first] == '{' && has("\"gpus\"") &&
         (has("\"protocol\"") || has("\"collective\""));
}

bool is_mscclpp_file(const std::filesystem::path& path) {
  const FileText file = path.extension() == ".json" ? read_kept_file(path.string()) : FileText{};
  return file.text && is_mscclpp_plan(*file.text);
}

std::optional<Program> read_mscclpp(const std::string& file_name, const std::string& text,
                                    Bytes size, Diagnostics& diagnostics) {
  const SourceIndex source = diagnostics.add_file(file_name, text);
  const auto report = [&](Place place, const std::string& what, const std::string& hint) {
    place.source = source;
    diagnostics.error(place, what, hint);
    return std::nullopt;
  };
  try {
    const mscclpp::Plan plan = mscclpp::parse_plan(text);
    Program program = mscclpp::lower_plan(plan, size);
    // The executor doubles scratch for LL, but operations say whether they move packets.
    const bool has_packets = program.protocol == Protocol::ll;
    if (plan.protocol == (has_packets ? "Simple" : "LL")) {
      Place place = JsonError(text.find("\"protocol\""), "").place(text);
      place.source = source;
      diagnostics.warning(place,
                          fmt::format("protocol is {}, but the plan's operations move {}",
                                      plan.protocol, has_packets ? "packets" : "no packets"),
                          has_packets ? "write LL" : "write Simple");
    }
    return program;
  } catch (const mscclpp::PlanError& error) {
    return report(error.place, error.what(), error.hint);
  } catch (const JsonError& error) {
    return report(error.place(text), error.what(), "");
  }
}

}  // namespace espalier
