#include "sims/formats/llm_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "sims/point/limits.h"
#include "sims/text/nearest_name.h"
#include "sims/text/read_file.h"
#include "sims/text/text_lines.h"
#include "sims/text/values.h"

namespace espalier {

namespace {

constexpr std::uint64_t kMostNanoseconds = 1'000'000'000'000'000;
constexpr std::uint64_t kMostParts = std::uint64_t{1} << 20;  // lines, ranks, micro-batches
constexpr std::string_view kTableBegins = "[rank";
constexpr std::string_view kHybrid = "HYBRID_";
constexpr std::string_view kColumns = "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src";
const std::string kType = "CommType.";

// Where the ranks are that hold one model: all are copies, all hold one, or they are far from each
// other or neighbours.
enum class ModelLayout : std::uint8_t { copies, one, apart, neighbours };
constexpr std::array<std::pair<const char*, ModelLayout>, 7> kPolicies{{
    {"MICRO", ModelLayout::copies},
    {"DATA", ModelLayout::copies},
    {"MODEL", ModelLayout::one},
    {"HYBRID_DATA_MODEL", ModelLayout::apart},
    {"HYBRID_MODEL_DATA", ModelLayout::neighbours},
    {"HYBRID_TRANSFORMER", ModelLayout::neighbours},
    {"HYBRID_TRANSFORMER_FWD_IN_BCKWD", ModelLayout::neighbours},
}};
constexpr std::string_view kByLine = "HYBRID_CUSTOMIZED";

constexpr std::array<std::pair<const char*, CollectiveOp>, 5> kTypes{{
    {"ALLREDUCE", CollectiveOp::all_reduce},
    {"ALLGATHER", CollectiveOp::all_gather},
    {"REDUCESCATTER", CollectiveOp::reduce_scatter},
    {"ALLTOALL", CollectiveOp::all_to_all},
    {"BROADCAST", CollectiveOp::broadcast},
}};

// Groups of `count` ranks, each `stride` ranks after the one before.
struct RankSets {
  std::string name;
  std::uint64_t count = 1;
  std::uint64_t stride = 1;
};

// What a line does in one pass: it computes, then communicates.
struct LinePass {
  std::uint64_t nanoseconds = 0;
  CollectiveOp op = CollectiveOp::all_reduce;
  RankSets among;
  Bytes bytes = 0;
};

struct WorkLine {
  std::string name;
  std::array<LinePass, 3> passes;  // forward, gradient of input, gradient of weights
  std::uint64_t update_ns = 0;
};

// Reads either format into one rank's work, which all ranks do.
class LlmReader {
 public:
  LlmReader(std::size_t ranks, Diagnostics& diagnostics)
      : ranks_(ranks), diagnostics_(diagnostics), errors_before_(diagnostics.num_errors()) {
    group_of({"all", ranks, 1});
  }
  virtual ~LlmReader() = default;

  std::shared_ptr<const WorkGraph> parse(const std::string& file_name, const std::string& text) {
    const SourceIndex source = diagnostics_.add_file(file_name, text);
    std::size_t number = 0;
    for_each_line(text, source, diagnostics_, [&](std::string_view line, const Place& place) {
      const bool is_blank = line.find_first_not_of(kBlanks) == std::string_view::npos;
      return is_blank || read_line(number++, line, place);
    });
    if (good()) end(number, {source, 1, 1});
    if (!good()) return nullptr;
    graph_.ranks.assign(ranks_, std::make_shared<const RankWork>(std::move(work_)));
    return std::make_shared<const WorkGraph>(std::move(graph_));
  }

 protected:
  // Returns false where the lines that follow cannot be understood. The number counts from 0.
  virtual bool read_line(std::size_t number, std::string_view line, const Place& place) = 0;
  virtual void end(std::size_t lines, const Place& file) = 0;
  // Returns 0 after an error.
  std::uint64_t number(const ConfigNode& word, const std::string& what, std::uint64_t min,
                       std::uint64_t max) {
    const auto value = parse_value(word, what, range_shape(min, max), diagnostics_);
    return value ? value->number : 0;
  }
  bool error(const Place& place, const std::string& what, const std::string& hint = {}) {
    diagnostics_.error(place, what, hint);
    return false;
  }
  bool check_ranks(std::uint64_t ranks, const Place& place) {
    return ranks == 0 || ranks == ranks_ ||
           error(place,
                 fmt::format("the work is that of {} ranks, the network has {}", ranks, ranks_));
  }
  // Reports groups that do not fill the job.
  bool check_sets(const RankSets& sets, const Place& place) {
    const std::uint64_t block = sets.count * sets.stride;
    return (block != 0 && ranks_ % block == 0) ||
           error(place, fmt::format("{}: groups of {} ranks, {} apart, do not fill {} ranks",
                                    sets.name, sets.count, sets.stride, ranks_));
  }
  [[nodiscard]] bool good() const { return diagnostics_.num_errors() == errors_before_; }

  // Appends work after the work that blocks. Returns its number.
  std::uint32_t add(WorkNode node, const std::string& name) {
    const auto [known, is_new] = names_.emplace(name, graph_.names.size());
    if (is_new) graph_.names.push_back(name);
    node.name = static_cast<std::uint32_t>(known->second);
    node.id = work_.nodes.size();
    return work_.add(node, blocking_);
  }
  std::uint32_t compute(std::uint64_t nanoseconds, const std::string& name) {
    return add({WorkKind::compute, {}, 0, 0, 0, 0, 0, nanoseconds * 1000, 0}, name);
  }
  // Posts a collective and makes further work wait for it.
  void communicate(CollectiveOp op, const RankSets& among, Bytes bytes, const std::string& name) {
    blocking_ = {add({WorkKind::collective, op, 0, group_of(among), 0, 0, 0, 0, bytes}, name)};
  }

  const std::size_t ranks_;
  Diagnostics& diagnostics_;
  std::vector<std::uint32_t> blocking_;  // the work that further work waits for

 private:
  std::uint32_t group_of(const RankSets& sets) {
    const std::uint64_t stride = sets.count == ranks_ ? 1 : sets.stride;
    const auto [known, is_new] =
        groups_.emplace(std::make_pair(sets.count, stride), graph_.groups.size());
    if (is_new) graph_.groups.push_back({sets.name, {}});
    for (std::uint64_t first = 0; is_new && first < ranks_; ++first) {
      if (first % (sets.count * stride) >= stride) continue;
      auto& set = graph_.groups.back().sets.emplace_back();
      for (std::uint64_t k = 0; k < sets.count; ++k) {
        set.push_back(static_cast<std::uint32_t>(first + k * stride));
      }
    }
    return static_cast<std::uint32_t>(known->second);
  }

  const std::size_t errors_before_;
  WorkGraph graph_;
  RankWork work_;
  std::map<std::string, std::size_t> names_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> groups_;  // by count and stride
};

class PolicyReader : public LlmReader {
 public:
  using LlmReader::LlmReader;

 private:
  bool read_line(std::size_t number, std::string_view line, const Place& place) override {
    const std::vector<ConfigNode> words = words_of(line, place);
    if (number == 0) return read_policy(words);
    if (number == 1) {
      number_ = words[0];
      return LlmReader::number(number_, "number of lines", 1, kMostParts) != 0;
    }
    read_work(words);
    return lines_.size() <= kMostParts;
  }

  void end(std::size_t lines, const Place& /*file*/) override {
    if (lines < 3 || number_.text != std::to_string(lines - 2)) {
      error(lines < 2 ? end_of(policy_) : number_.place,
            fmt::format("the file states '{}' lines of work and has {}", number_.text,
                        std::max<std::size_t>(lines, 2) - 2));
    } else if (policy_.text == "MICRO") {
      for (const WorkLine& line : lines_) run(line, 2, "");
    } else {
      for (const WorkLine& line : lines_) run(line, 0, " forward");
      for (std::size_t l = lines_.size(); l-- > 0;) {
        repeat_forward(l);
        run(lines_[l], 1, " gradient of input");
        run(lines_[l], 2, " gradient of weights");
      }
    }
  }

  bool read_policy(const std::vector<ConfigNode>& words) {
    policy_ = words.front();
    for (std::size_t w = 1; w < words.size() && good(); ++w) read_parameter(words, w);
    if (!good() || (policy_.text != kByLine && !find_layout(policy_)) ||
        !check_sets({"TP", model(), of("pp")}, policy_.place) ||
        !check_sets({"EP", of("ep"), model()}, policy_.place)) {
      return false;
    }
    if (of("pp") == 1) return true;
    const std::uint64_t parts = of("vpp") * of("ga");
    diagnostics_.warning(
        policy_.place, fmt::format("the pipeline is not simulated: the time is that of one stage. "
                                   "SimAI adds {}/{} of it, and {} transfers of pp_comm bytes",
                                   of("pp") - 1, parts, 2 * parts));
    return true;
  }

  // A parameter of the first line, 1 if it is not given.
  [[nodiscard]] std::uint64_t of(const std::string& parameter) const {
    const auto found = parameters_.find(parameter);
    return found == parameters_.end() ? 1 : found->second;
  }

  void read_parameter(const std::vector<ConfigNode>& words, std::size_t& w) {
    static const std::vector<std::string> kNames{
        "model_parallel_NPU_group", "ep", "pp", "vpp", "ga", "all_gpus", "pp_comm", "checkpoints",
        "checkpoint_initiates"};
    const ConfigNode& key = words[w];
    const std::string name = key.text.substr(0, key.text.find(':'));
    if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) {
      error(key.place, fmt::format("parameter '{}' is not known", name), name_hint(name, kNames));
    } else if (++w == words.size()) {
      error(end_of(key), fmt::format("no value for '{}'", name));
    } else if (name == "pp_comm") {
      number(words[w], name, 0, kLargestCollective);
    } else if (name == "checkpoints" || name == "checkpoint_initiates") {
      auto& list = name == "checkpoints" ? checkpoints_ : initiating_;
      const std::uint64_t count = number(words[w], name, 0, words.size() - w - 1);
      while (list.size() < count) list.push_back(words[++w]);
    } else {
      const std::uint64_t value = number(words[w], name, 1, kMostParts);
      if (!parameters_.emplace(name, value).second) error(key.place, "the parameter stands twice");
      if (name == "all_gpus") check_ranks(value, words[w].place);
    }
  }

  std::optional<ModelLayout> find_layout(const ConfigNode& policy) {
    std::vector<std::string> names{std::string(kByLine)};
    for (const auto& [name, layout] : kPolicies) {
      names.emplace_back(name);
      if (policy.text != name) continue;
      if (layout <= ModelLayout::one || parameters_.count("model_parallel_NPU_group") != 0) {
        return layout;
      }
      error(policy.place, fmt::format("'{}' does not say how many ranks hold a model", name),
            "write model_parallel_NPU_group: 8 in the first line");
      return std::nullopt;
    }
    error(policy.place, fmt::format("policy '{}' is not known", policy.text),
          name_hint(policy.text, names));
    return std::nullopt;
  }
  [[nodiscard]] std::uint64_t model() const { return of("model_parallel_NPU_group"); }

  void read_work(const std::vector<ConfigNode>& words) {
    const bool is_by_line = policy_.text == kByLine;
    const std::size_t needed = is_by_line ? 13 : 12;
    // A file of SimAI has a word after the last column.
    if (words.size() < needed || words.size() > 13) {
      error(words[0].place, fmt::format("found {} columns in place of {}", words.size(), needed),
            "mlp -1 700 ALLREDUCE 4096 350 NONE 0 350 ALLREDUCE 8192 100");
      return;
    }
    const auto layout = find_layout(is_by_line ? words[12] : policy_);
    if (!layout) return;
    WorkLine line;
    line.name = words[0].text;
    for (std::size_t p = 0; p < 3; ++p) {
      LinePass& pass = line.passes.at(p);
      pass.nanoseconds = number(words[3 * p + 2], "computation", 0, kMostNanoseconds);
      pass.bytes = number(words[3 * p + 4], "bytes", 0, kLargestCollective);
      read_communication(words[3 * p + 3], *layout, p == 2, pass);
    }
    line.update_ns = number(words[11], "update", 0, kMostNanoseconds);
    lines_.push_back(std::move(line));
  }

  void read_communication(const ConfigNode& type, ModelLayout layout, bool is_weights,
                          LinePass& pass) {
    // SimAI takes the broadcast of AICB's first lines for nothing.
    if (type.text == "NONE" || type.text == "BROADCAST") {
      pass.bytes = 0;
      return;
    }
    for (const auto& [name, op] : kTypes) {
      if (type.text.rfind(name, 0) != 0) continue;
      const std::string suffix = type.text.substr(std::string_view(name).size());
      if (!suffix.empty() && suffix != "_EP" && suffix != "_DP_EP") break;
      pass.op = op;
      pass.among = ranks_of(suffix, layout, is_weights);
      if (!suffix.empty() && parameters_.count("ep") == 0) {
        error(type.place, fmt::format("'{}': the first line has no 'ep'", type.text),
              "write the number of ranks that hold the experts, ep: 8");
      } else if (check_sets(pass.among, type.place) && (pass.among.count == 1 || pass.bytes == 1)) {
        pass.bytes = 0;  // AICB writes one byte where there is nothing to send
      }
      return;
    }
    error(type.place, fmt::format("communication '{}' is not known", type.text),
          "NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER or ALLTOALL, alone or with _EP or _DP_EP");
  }

  [[nodiscard]] RankSets ranks_of(const std::string& suffix, ModelLayout layout,
                                  bool is_weights) const {
    const std::uint64_t per_copy = model() * of("pp");
    if (suffix == "_EP") return {"EP", of("ep"), model()};
    if (suffix == "_DP_EP") return {"DP_EP", ranks_ / per_copy / of("ep"), per_copy * of("ep")};
    const char* name = is_weights ? "DP" : "TP";
    if (layout <= ModelLayout::one) {
      return {name, is_weights == (layout == ModelLayout::copies) ? ranks_ : 1, 1};
    }
    const bool is_apart = layout == ModelLayout::apart;
    if (is_weights) return {name, ranks_ / per_copy, is_apart ? 1 : per_copy};
    return {name, model(), is_apart ? ranks_ / model() : 1};
  }

  void run(const WorkLine& line, std::size_t p, const std::string& what) {
    const LinePass& pass = line.passes.at(p);
    const bool is_measured = policy_.text == "MICRO";
    if (pass.nanoseconds != 0 && !is_measured) {
      blocking_ = {compute(pass.nanoseconds, line.name + what)};
    }
    if (pass.bytes == 0) return;
    const std::vector<std::uint32_t> before = blocking_;
    communicate(pass.op, pass.among, pass.bytes, line.name + what);
    if (p != 2 || is_measured) return;
    if (line.update_ns != 0) compute(line.update_ns, line.name + " update");
    blocking_ = before;
  }

  // What the forward pass has not kept, from the nearest checkpoint on.
  void repeat_forward(std::size_t last) {
    for (const ConfigNode& initiating : initiating_) {
      if (number(initiating, "checkpoint_initiates", 0, lines_.size() - 1) != last) continue;
      std::optional<std::size_t> first;
      for (const ConfigNode& checkpoint : checkpoints_) {
        const std::size_t at = number(checkpoint, "checkpoints", 0, lines_.size() - 1);
        if (at <= last && (!first || at > *first)) first = at;
      }
      if (!first) error(initiating.place, "no checkpoint before this line");
      for (std::size_t l = first.value_or(last); l < last; ++l) run(lines_[l], 0, " repeated");
    }
  }

  ConfigNode policy_;
  ConfigNode number_;
  std::map<std::string, std::uint64_t> parameters_;
  std::vector<ConfigNode> checkpoints_;
  std::vector<ConfigNode> initiating_;
  std::vector<WorkLine> lines_;
};

class OperationReader : public LlmReader {
 public:
  using LlmReader::LlmReader;

 private:
  bool read_line(std::size_t number, std::string_view line, const Place& place) override {
    if (number == 0) return read_ranks(words_of(line, place, "[]~"));
    if (number == 1) {
      return line.substr(0, kColumns.size()) == kColumns ||
             error(place, "expected the names of columns", std::string(kColumns) + ",...");
    }
    const std::vector<ConfigNode> cells = cells_of(line, place);
    if (cells[0].text != "CommType.epoch_end") read_operation(cells);
    return true;
  }

  void end(std::size_t lines, const Place& file) override {
    if (lines < 3) error(file, "the table has no operations");
  }

  // [rank0 ~ rank127]
  bool read_ranks(const std::vector<ConfigNode>& words) {
    if (words.size() != 5 || words[1].text != "rank0" || words[3].text.rfind("rank", 0) != 0) {
      return error(words[0].place, "expected the ranks, '[rank0 ~ rank127]'",
                   "tables of several pipeline stages are not read");
    }
    ConfigNode last = words[3];
    last.text.erase(0, 4);
    const std::uint64_t rank = number(last, "rank", 0, kMostParts);
    return good() && check_ranks(rank + 1, words[3].place);
  }

  void read_operation(const std::vector<ConfigNode>& cells) {
    if (cells.size() < 7) return void(error(cells.back().place, "expected seven columns"));
    const ConfigNode& type = cells[0];
    const bool is_barrier = type.text == "CommType.barrier";
    // PyTorch's barrier is an all-reduce of one element.
    const auto is_op = [&](const auto& one) { return type.text == kType + to_string(one.second); };
    const auto* const op =
        is_barrier ? kTypes.begin() : std::find_if(kTypes.begin(), kTypes.end(), is_op);
    if (op == kTypes.end()) {
      error(type.place, fmt::format("operation '{}' is not known", type.text),
            "CommType.all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, barrier or "
            "epoch_end");
      return;
    }
    if (cells[6].text != "None" && cells[6].text != "0") {
      error(cells[6].place, "src: only the first rank of a group may be the root");
    }
    const RankSets among = ranks_of(cells[1], cells[2]);
    const Bytes bytes = number(cells[3], "msg_size", 0, kLargestCollective);
    if (!good() || !check_sets(among, cells[1].place)) return;
    if (among.count == 1 || (bytes == 0 && !is_barrier)) return;
    communicate(op->second, among, is_barrier ? 4 : bytes,
                cells[4].text.empty() ? type.text : cells[4].text);
  }

  // Ranks of a tensor-parallel group are neighbours. Copies are as far apart as can be.
  RankSets ranks_of(const ConfigNode& group, const ConfigNode& size) {
    const std::uint64_t count = number(size, "comm_group_size", 1, kMostParts);
    const std::string name = group.text.substr(group.text.find('.') + 1);
    if (name == "dp_group") return {name, count, ranks_ / std::max<std::uint64_t>(count, 1)};
    if (name == "all") check_ranks(count, size.place);
    if (name != "all" && name != "tp_group") {
      error(group.place, fmt::format("group '{}' is not known", group.text),
            "CommGroup.tp_group, dp_group or all");
    }
    return {name, count, 1};
  }
};

}  // namespace

bool is_llm_workload(std::string_view text) {
  const std::string_view word = text.substr(0, text.find_first_of(" \t\r\n"));
  const auto is_word = [&](const auto& policy) { return word == policy.first; };
  return text.substr(0, kTableBegins.size()) == kTableBegins ||
         word.substr(0, kHybrid.size()) == kHybrid ||
         std::any_of(kPolicies.begin(), kPolicies.end(), is_word);
}

std::optional<LlmWorkloadText> llm_workload_text(const WorkloadConfig& config) {
  const std::string path = path_from(config.folder, config.file);
  FileText file = read_file_bytes(path);
  if (!file.text || !is_llm_workload(*file.text)) return std::nullopt;
  return LlmWorkloadText{path, *std::move(file.text)};
}

std::shared_ptr<const WorkGraph> parse_llm_workload(const std::string& file_name,
                                                    const std::string& text, std::size_t ranks,
                                                    Diagnostics& diagnostics) {
  if (text.substr(0, kTableBegins.size()) == kTableBegins) {
    return OperationReader(ranks, diagnostics).parse(file_name, text);
  }
  return PolicyReader(ranks, diagnostics).parse(file_name, text);
}

}  // namespace espalier
