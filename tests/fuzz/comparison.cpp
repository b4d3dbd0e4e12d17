#include "comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "alg/schedule/schedule.h"
#include "sims/config/reader.h"

namespace espalier::fuzz {

namespace {

constexpr std::size_t kMostShown = 8;

std::string name_of_message(const MessageKey& key) {
  std::string text = fmt::format("{} -> {}, {} B", key.from, key.to, key.bytes);
  if (FlowId(key.flow).valid()) {
    text += fmt::format(", flow {} {} chunk {}", key.flow,
                        to_string(static_cast<TransferKind>(key.kind)), key.first_chunk);
  } else {
    text += fmt::format(", ready {}", key.ready);
  }
  return text;
}

std::string times_of(const DeliveredMessage* message) {
  if (message == nullptr) return "never delivered";
  if (!FlowId(message->key.flow).valid()) return fmt::format("delivered {}", message->delivered);
  return fmt::format("issued {}, delivered {}", message->issued, message->delivered);
}

// Messages of both runs by key; one of the two may be missing.
class Pairing {
 public:
  Pairing(const Observation& reference, const Observation& subject) {
    auto a = reference.deliveries.begin();
    auto b = subject.deliveries.begin();
    while (a != reference.deliveries.end() || b != subject.deliveries.end()) {
      const bool take_a =
          b == subject.deliveries.end() || (a != reference.deliveries.end() && !(b->key < a->key));
      const bool take_b =
          a == reference.deliveries.end() || (b != subject.deliveries.end() && !(a->key < b->key));
      note(take_a ? &*a : nullptr, take_b ? &*b : nullptr);
      if (take_a) ++a;
      if (take_b) ++b;
    }
    std::stable_sort(differences_.begin(), differences_.end(),
                     [](const auto& x, const auto& y) { return x.first < y.first; });
  }

  [[nodiscard]] std::string text() const {
    std::string text;
    for (std::size_t d = 0; d < std::min(kMostShown, differences_.size()); ++d) {
      text += differences_[d].second;
    }
    if (differences_.size() > kMostShown) {
      text += fmt::format("  and {} more messages\n", differences_.size() - kMostShown);
    }
    return text;
  }

 private:
  void note(const DeliveredMessage* reference, const DeliveredMessage* subject) {
    if (reference != nullptr && subject != nullptr && reference->issued == subject->issued &&
        reference->delivered == subject->delivered) {
      return;
    }
    const DeliveredMessage* any = reference != nullptr ? reference : subject;
    const Cycle first = std::min(reference != nullptr ? reference->delivered : kNever,
                                 subject != nullptr ? subject->delivered : kNever);
    differences_.emplace_back(first, fmt::format("  {}: {} | {}\n", name_of_message(any->key),
                                                 times_of(reference), times_of(subject)));
  }

  std::vector<std::pair<Cycle, std::string>> differences_;
};

std::string quantities_that_differ(const Observation& reference, const Observation& subject) {
  std::string text;
  for (std::size_t q = 0; q < reference.quantities.size(); ++q) {
    const auto& [name, value] = reference.quantities[q];
    const std::uint64_t other = subject.quantities[q].value;
    if (value != other) text += fmt::format("  {}: {} | {}\n", name, value, other);
  }
  return text;
}

}  // namespace

std::string describe_differences(const Observation& reference, const Observation& subject) {
  std::string text;
  if (reference.ended != subject.ended) {
    return fmt::format("  ended: {} | {}\n  {} | {}\n", reference.ended, subject.ended,
                       reference.words, subject.words);
  }
  if (reference.words.empty() != subject.words.empty()) {
    text += fmt::format("  failure: '{}' | '{}'\n", reference.words, subject.words);
  }
  if (!reference.ended) return text;
  text += Pairing(reference, subject).text() + quantities_that_differ(reference, subject);
  return text;
}

Verdict compare(const std::string& config_path, const Variants& variants) {
  Verdict verdict;
  std::vector<Observation> seen;
  for (const auto& overrides : {variants.reference, variants.subject}) {
    const ConfigResult config = read_run_config(config_path, overrides);
    if (!config.ok) return {Verdict::Kind::broken, config.diagnostics};
    seen.push_back(observe(*config.topology, config.points.front()));
  }
  verdict.messages = seen[0].deliveries.size();
  if (seen[0].ended) verdict.flit_hops = seen[0].quantities[3].value;
  const std::string differences = describe_differences(seen[0], seen[1]);
  if (!differences.empty()) {
    verdict.kind = Verdict::Kind::different;
    verdict.words = fmt::format("  {} | {}\n{}", fmt::join(variants.reference, " "),
                                fmt::join(variants.subject, " "), differences);
  } else if (!seen[0].ended) {
    verdict.kind = Verdict::Kind::broken;
    verdict.words = seen[0].words;
  }
  return verdict;
}

}  // namespace espalier::fuzz
