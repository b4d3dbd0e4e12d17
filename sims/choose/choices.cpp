#include "sims/choose/choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "sims/config/resolved.h"
#include "sims/point/config.h"
#include "sims/text/file_hashes.h"
#include "sims/text/people.h"
#include "sims/text/read_file.h"
#include "sims/text/utf8.h"
#include "sims/text/whole_file.h"

namespace espalier {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Another program may choose otherwise, even if it has the same version.
std::uint64_t hash_of_this_program() {
  static const std::uint64_t hash = [] {
    const FileText program = read_file_bytes("/proc/self/exe");
    if (!program.text) throw std::runtime_error("the file of this program " + program.problem);
    return hash_text(*program.text);
  }();
  return hash;
}

std::string links_text(const Topology& topology) {
  std::string text = fmt::format("{} {}", topology.num_nodes(), topology.num_vertices());
  for (const TopologyLink& link : topology.links()) {
    text += fmt::format(";{} {} {} {} {}", link.from.index(), link.to.index(), link.spec.latency_ps,
                        link.spec.bytes_per_second, link.spec.flit_bytes);
  }
  return text;
}

}  // namespace

void TakenAlgorithms::note(Bytes size, const std::string& algorithm) {
  if (algorithm.empty()) return;
  std::string& taken = by_size_[size];
  if (taken.find(algorithm) != std::string::npos) return;
  taken += (taken.empty() ? "" : " and ") + algorithm;
}

std::string TakenAlgorithms::text() const {
  std::vector<std::pair<std::string, std::vector<Bytes>>> by_name;
  for (const auto& [size, name] : by_size_) {
    const auto same = std::find_if(by_name.begin(), by_name.end(),
                                   [&, &n = name](const auto& known) { return known.first == n; });
    if (same == by_name.end()) {
      by_name.push_back({name, {size}});
    } else {
      same->second.push_back(size);
    }
  }
  std::vector<std::string> parts;
  for (const auto& [name, sizes] : by_name) {
    parts.push_back(sizes.size() == 1 ? fmt::format("{} for {} B", name, sizes.front())
                                      : fmt::format("{} for {} sizes from {} to {} B", name,
                                                    sizes.size(), sizes.front(), sizes.back()));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

Json choice_question(const Topology& topology, const SystemConfig& system,
                     const CollectiveConfig& collective, const std::vector<std::string>& programs) {
  RunPoint point;
  point.system = system;
  point.collective = collective;
  Json ranks = Json::array();
  for (const NodeId node : collective.rank_order.nodes) ranks.push_back(node.index());
  Json question;
  question["program"] = hash_of_this_program();
  question["config"] = resolved_json(point);
  // Numbers that the configuration leaves to the cost model depend on the whole run.
  question["implied"] = {system.router.pipeline_cycles, system.router.vc_depth_flits,
                         system.ni.reduction.latency_cycles,
                         system.ni.dimension_queue.arbitration_cycles};
  question["links"] = hash_text(links_text(topology));
  question["ranks"] = std::move(ranks);
  question["programs"] = programs;
  question["weights"] = collective.counts.weights;  // the configuration names only their file
  return question;
}

std::string Choices::file_of(const std::string& question) const {
  return (fs::path(memory_->folder) / fmt::format("{:016x}.json", hash_text(question))).string();
}

std::optional<Choice> Choices::find(const Json& question) const {
  const std::string text = question.dump();
  if (const auto found = memory_->known.find(text); found != memory_->known.end())
    return found->second;
  if (memory_->folder.empty()) return std::nullopt;
  const FileText file = read_kept_file(file_of(text));
  if (!file.text) return std::nullopt;
  const Json document = Json::parse(*file.text, nullptr, false);
  // Two questions may have the same hash.
  if (document.is_discarded() || !document.contains("question") ||
      document["question"] != question) {
    return std::nullopt;
  }
  try {
    const Json& answer = document.at("answer");
    constexpr std::uint64_t kMostSegments = 64 << 10;  // of collective.segments
    const Json& segments = answer.at("segments");
    const std::string why = answer.at("choice").get<std::string>();
    if (why.empty() || !is_plain_text(why)) return std::nullopt;
    if (!segments.is_number_unsigned() || segments.get<std::uint64_t>() > kMostSegments) {
      return std::nullopt;
    }
    return Choice{answer.at("algorithm").get<std::string>(), segments.get<std::uint32_t>(), why};
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

void Choices::keep(const Json& question, const Choice& choice) const {
  const std::string text = question.dump();
  memory_->known[text] = choice;
  if (memory_->folder.empty()) return;
  const std::string file = file_of(text);
  std::error_code error;
  fs::create_directories(memory_->folder, error);
  const Json document{
      {"question", question},
      {"answer",
       {{"algorithm", choice.algorithm}, {"segments", choice.segments}, {"choice", choice.why}}}};
  if (!error && write_whole_file(file, document.dump(2) + "\n")) return;
  // The folder only saves time: without it, other points choose again.
  tell(stderr, "warning: {}: the choice of an algorithm cannot be kept\n", file);
}

}  // namespace espalier
