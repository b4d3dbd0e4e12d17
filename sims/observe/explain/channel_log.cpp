#include "sims/observe/explain/channel_log.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>

namespace espalier {

ChannelLog::ChannelLog(const RunRecord& record) : record_(record) {
  std::map<std::string, std::uint32_t> routers;
  std::size_t vcs = 0;
  for (const ChannelRecord& channel : record.channels) {
    const std::string router = channel.name.substr(0, channel.name.rfind('.'));
    router_of_.push_back(
        routers.emplace(router, static_cast<std::uint32_t>(routers.size())).first->second);
    first_vc_.push_back(vcs);
    vcs += channel.vcs.size();
  }
  for (std::uint32_t c = 0; c < record.channels.size(); ++c) {
    for (std::uint32_t vc = 0; vc < record.channels[c].vcs.size(); ++vc) pair_up(c, vc);
  }
  sort_by_message();
  by_vc_.resize(vcs);
  by_input_.resize(record.channels.size());
  by_sending_.resize(record.channels.size());
  for (std::uint32_t p = 0; p < passages_.size(); ++p) {
    const Passage& passage = passages_[p];
    by_output_[{router_of_[passage.channel], passage.out_port}].passages.push_back(p);
    by_input_[passage.channel].passages.push_back(p);
    by_sending_[passage.channel].passages.push_back(p);
    by_vc_[vc_number(passage.channel, passage.vc)].passages.push_back(p);
  }
  for (auto& [output, order] : by_output_) sort_by_time(order, &Passage::left);
  for (Order& order : by_input_) sort_by_time(order, &Passage::left);
  for (Order& order : by_sending_) sort_by_time(order, &Passage::sent);
  for (OfVc& of_vc : by_vc_) {
    std::sort(of_vc.passages.begin(), of_vc.passages.end(), [&](std::uint32_t a, std::uint32_t b) {
      return passages_[a].sent.start < passages_[b].sent.start;
    });
    std::uint64_t flits = 0;
    for (const std::uint32_t p : of_vc.passages) {
      of_vc.flits_before.push_back(flits);
      flits += passages_[p].sent.n;
    }
  }
}

// A VC's buffer is a queue: the i-th flit that came is the i-th to leave.
void ChannelLog::pair_up(std::uint32_t channel, std::uint32_t vc) {
  const VcRecord& of_vc = record_.channels[channel].vcs[vc];
  auto left = of_vc.left.begin();
  std::uint64_t taken = 0;  // of *left
  for (const CarriedRun& run : of_vc.carried) {
    for (std::uint64_t done = 0; done < run.flits.n && left != of_vc.left.end();) {
      const std::uint64_t n = std::min(run.flits.n - done, left->n - taken);
      Passage passage;
      passage.message = run.message;
      passage.channel = channel;
      passage.vc = vc;
      passage.hop = run.hop;
      passage.out_port = run.out_port;
      passage.offset = run.offset + done;
      passage.sent = {run.flits.tick_of(done), run.flits.rate, n};
      passage.left = {left->tick_of(taken), left->rate, n};
      passages_.push_back(passage);
      done += n;
      taken += n;
      if (taken == left->n) {
        ++left;
        taken = 0;
      }
    }
  }
}

void ChannelLog::sort_by_message() {
  std::sort(passages_.begin(), passages_.end(), [](const Passage& a, const Passage& b) {
    return std::tie(a.message, a.hop, a.offset) < std::tie(b.message, b.hop, b.offset);
  });
  of_message_.assign(record_.messages.size() + 1, 0);
  for (const Passage& passage : passages_) ++of_message_[passage.message + 1];
  std::partial_sum(of_message_.begin(), of_message_.end(), of_message_.begin());
}

void ChannelLog::sort_by_time(Order& order, RunOf run) const {
  std::sort(order.passages.begin(), order.passages.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie((passages_[a].*run).start, a) < std::tie((passages_[b].*run).start, b);
  });
  Tick latest = 0;
  for (const std::uint32_t p : order.passages) {
    const FlitRun& flits = passages_[p].*run;
    latest = std::max(latest, flits.tick_of(flits.n));
    order.latest.push_back(latest);
  }
}

std::uint16_t ChannelLog::hops(RecordIndex message) const {
  return static_cast<std::uint16_t>(passages_[of_message_[message + 1] - 1].hop + 1);
}

const Passage& ChannelLog::find(RecordIndex message, std::uint16_t hop, std::uint64_t flit) const {
  const auto begin = passages_.begin() + of_message_[message];
  const auto end = passages_.begin() + of_message_[message + 1];
  const auto after = std::upper_bound(
      begin, end, std::make_pair(hop, flit),
      [](const std::pair<std::uint16_t, std::uint64_t>& key, const Passage& passage) {
        return key < std::make_pair(passage.hop, passage.offset);
      });
  return *std::prev(after);
}

ChannelLog::Range ChannelLog::last_hop(RecordIndex message) const {
  const Passage* last = passages_.data() + of_message_[message + 1];
  const Passage* first = last - 1;
  while (first != passages_.data() + of_message_[message] && (first - 1)->hop == first->hop) {
    --first;
  }
  return {first, last};
}

std::size_t ChannelLog::first_from(const std::vector<std::uint32_t>& passages, RunOf run,
                                   Tick tick) const {
  const auto first =
      std::lower_bound(passages.begin(), passages.end(), tick,
                       [&](std::uint32_t p, Tick at) { return (passages_[p].*run).start < at; });
  return static_cast<std::size_t>(first - passages.begin());
}

std::vector<const Passage*> ChannelLog::under_way(const Order& order, RunOf run, Tick from,
                                                  Tick until) const {
  std::vector<const Passage*> found;
  for (std::size_t i = first_from(order.passages, run, until); i-- > 0;) {
    if (order.latest[i] <= from) break;
    const FlitRun& flits = passages_[order.passages[i]].*run;
    if (flits.tick_of(flits.n) > from) found.push_back(&passages_[order.passages[i]]);
  }
  return found;
}

std::vector<const Passage*> ChannelLog::beside(const Passage& passage, bool same_input, Tick from,
                                               Tick until) const {
  const Order& order = same_input ? by_input_[passage.channel]
                                  : by_output_.at({router_of_[passage.channel], passage.out_port});
  return under_way(order, &Passage::left, from, until);
}

std::vector<const Passage*> ChannelLog::sent_in(std::uint32_t channel, Tick from,
                                                Tick until) const {
  return under_way(by_sending_[channel], &Passage::sent, from, until);
}

std::uint64_t ChannelLog::count_before(const OfVc& of_vc, RunOf run, Tick tick) const {
  const std::size_t after = first_from(of_vc.passages, run, tick);
  if (after == 0) return 0;
  return of_vc.flits_before[after - 1] + (passages_[of_vc.passages[after - 1]].*run).before(tick);
}

std::uint64_t ChannelLog::sent_before(std::uint32_t channel, std::uint32_t vc, Tick tick) const {
  return count_before(by_vc_[vc_number(channel, vc)], &Passage::sent, tick);
}

std::uint64_t ChannelLog::left_before(std::uint32_t channel, std::uint32_t vc, Tick tick) const {
  return count_before(by_vc_[vc_number(channel, vc)], &Passage::left, tick);
}

const Passage* ChannelLog::next_sent(std::uint32_t channel, Tick tick) const {
  const std::vector<std::uint32_t>& order = by_sending_[channel].passages;
  const std::size_t next = first_from(order, &Passage::sent, tick);
  return next == order.size() ? nullptr : &passages_[order[next]];
}

const Passage* ChannelLog::next_to_leave(std::uint32_t channel, std::uint32_t vc,
                                         std::uint64_t left) const {
  const OfVc& of_vc = by_vc_[vc_number(channel, vc)];
  const auto after = std::upper_bound(of_vc.flits_before.begin(), of_vc.flits_before.end(), left);
  if (after == of_vc.flits_before.begin()) return nullptr;
  const auto index = static_cast<std::size_t>(after - of_vc.flits_before.begin()) - 1;
  const Passage& passage = passages_[of_vc.passages[index]];
  return left - of_vc.flits_before[index] < passage.sent.n ? &passage : nullptr;
}

std::uint64_t ChannelLog::flits_before(const Passage& passage) const {
  return sent_before(passage.channel, passage.vc, passage.sent.start);
}

const Passage* ChannelLog::before_on_vc(const Passage& passage) const {
  const OfVc& of_vc = by_vc_[vc_number(passage.channel, passage.vc)];
  const std::size_t here = first_from(of_vc.passages, &Passage::sent, passage.sent.start);
  return here == 0 ? nullptr : &passages_[of_vc.passages[here - 1]];
}

}  // namespace espalier
