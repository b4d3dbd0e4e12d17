// Checks that every message has a sender and a receiver: the ends of connections and their
// messages.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "alg/program/program_certifier_parts.h"

namespace espalier::program_certifier {

namespace {

// One end of a connection, and the block that names it.
struct End {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t channel = 0;
  std::uint32_t call = 0;
  bool sends = false;
  std::size_t block = 0;

  [[nodiscard]] std::uint32_t rank() const { return sends ? from : to; }
  [[nodiscard]] auto connection() const { return std::tie(from, to, channel, call); }
};

std::vector<End> ends_of(const Program& program) {
  std::vector<End> ends;
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r) {
    const auto& blocks = program.ranks[r].blocks;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const ThreadBlock& block = blocks[b];
      if (block.send_peer != kNoPeer) {
        const auto to = static_cast<std::uint32_t>(block.send_peer);
        ends.push_back({r, to, block.channel, block.call, true, b});
      }
      if (block.recv_peer != kNoPeer) {
        const auto from = static_cast<std::uint32_t>(block.recv_peer);
        ends.push_back({from, r, block.channel, block.call, false, b});
      }
    }
  }
  std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) {
    return std::tuple(a.connection(), a.sends, a.block) <
           std::tuple(b.connection(), b.sends, b.block);
  });
  return ends;
}

std::string connection_name(const End& end) {
  return fmt::format("{} gpu {} on channel {}", end.sends ? "sends to" : "receives from",
                     end.sends ? end.to : end.from, end.channel);
}

// A context keeps the state of the ends that it names and writes it back at its end, used or not.
// Two contexts would overwrite each other's state.
void check_owner(const Program& program, const End& first, const End& second, Findings& findings) {
  findings.add(ProgramViolationKind::malformed, site_of(program, second.rank(), second.block),
               "{}, as {} does, but only one thread block may own this end of a connection",
               connection_name(second), name_of(site_of(program, first.rank(), first.block)));
}

// A connection needs both ends to be set up, even if it is not used. The place is the first step
// that uses it.
void check_counterpart(const Program& program, const End& end, Findings& findings) {
  const auto& steps = program.ranks[end.rank()].blocks[end.block].steps;
  const auto used = std::find_if(steps.begin(), steps.end(), [&](const ProgramStep& step) {
    return end.sends ? sends(step.op) : receives(step.op);
  });
  const auto step = static_cast<std::size_t>(used - steps.begin());
  const Site site = used == steps.end() ? site_of(program, end.rank(), end.block)
                                        : site_of(program, end.rank(), end.block, step);
  findings.add(ProgramViolationKind::malformed, site,
               "{}, but no thread block of gpu {} has the other end of this connection",
               connection_name(end), end.sends ? end.to : end.from);
}

}  // namespace

void check_ends(const Program& program, Findings& findings) {
  const std::vector<End> ends = ends_of(program);
  for (std::size_t begin = 0; begin < ends.size();) {
    std::size_t end = begin;
    while (end < ends.size() && ends[end].connection() == ends[begin].connection()) ++end;
    for (std::size_t i = begin + 1; i < end; ++i) {
      if (ends[i].sends == ends[i - 1].sends) {
        check_owner(program, ends[i - 1], ends[i], findings);
      }
    }
    if (ends[begin].sends == ends[end - 1].sends) check_counterpart(program, ends[begin], findings);
    begin = end;
  }
}

void pair_messages(FlatProgram& flat, Findings& findings) {
  for (const FlatConnection& connection : flat.connections) {
    const std::size_t pairs = std::min(connection.sends.size(), connection.receives.size());
    for (std::size_t k = 0; k < pairs; ++k) {
      const std::uint32_t send = connection.sends[k];
      const std::uint32_t receive = connection.receives[k];
      flat.steps[send].received_by = receive;
      flat.steps[receive].message_of = send;
      const std::uint32_t sent = flat.steps[send].step->count;
      const std::uint32_t received = flat.steps[receive].step->count;
      if (sent == received) continue;
      findings.add(ProgramViolationKind::unmatched, flat.site(send),
                   "sends {} chunks as message {} of its connection, but {} receives {}", sent, k,
                   flat.name(receive), received);
      break;  // the following pairs are mostly shifted by this one
    }
    if (connection.sends.size() == connection.receives.size()) continue;
    const bool lacks_receives = connection.sends.size() > pairs;
    const std::uint32_t alone = (lacks_receives ? connection.sends : connection.receives)[pairs];
    const std::uint32_t other = lacks_receives ? connection.receiver : connection.sender;
    findings.add(ProgramViolationKind::unmatched, flat.site(alone),
                 "{} message {} of its connection, but gpu {} tb {} {} only {}",
                 lacks_receives ? "sends" : "receives", pairs, flat.blocks[other].rank,
                 flat.blocks[other].number, lacks_receives ? "receives" : "sends", pairs);
  }
}

}  // namespace espalier::program_certifier
