#include "alg/certify/channel_dependencies.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "alg/routes/routing.h"
#include "alg/schedule/schedule_text.h"

namespace espalier {

namespace {

constexpr std::size_t kFirstSort = 1 << 16;

auto key(const Precedence& p) { return std::tie(p.before, p.after); }

}  // namespace

ChannelDependencies::ChannelDependencies(const Topology& topology, std::uint32_t vc_classes)
    : topology_(topology), classes_(std::max(vc_classes, 1U)), sort_at_(kFirstSort) {}

void ChannelDependencies::add(const RouteSet& routes, RouteId route) {
  const auto channel = [&](std::size_t hop) {
    const std::uint32_t wanted = classes_ == 1 ? 0 : vc_class_after(topology_, routes, route, hop);
    return routes.link(route, hop).value() * classes_ + std::min(wanted, classes_ - 1);
  };
  for (std::size_t hop = 1; hop < routes.hops(route); ++hop) {
    waits_.push_back({channel(hop), channel(hop - 1)});
  }
  // Many routes share their dependencies.
  if (waits_.size() >= sort_at_) sort_out();
}

void ChannelDependencies::sort_out() {
  std::sort(waits_.begin(), waits_.end(),
            [](const Precedence& a, const Precedence& b) { return key(a) < key(b); });
  waits_.erase(
      std::unique(waits_.begin(), waits_.end(),
                  [](const Precedence& a, const Precedence& b) { return key(a) == key(b); }),
      waits_.end());
  sort_at_ = std::max(kFirstSort, 2 * waits_.size());
}

std::string ChannelDependencies::cycle() {
  sort_out();
  const std::vector<std::uint32_t> cycle =
      sort_topologically(topology_.num_links() * classes_, waits_).cycle;
  std::string text;
  for (const std::uint32_t channel : cycle) {
    text += fmt::format("\n  link {} in VC class {} waits for",
                        link_name(topology_, LinkId(channel / classes_)), channel % classes_);
  }
  if (text.empty()) return text;
  return "virtual channels wait for each other:" + text + "\n  and so round again";
}

}  // namespace espalier
