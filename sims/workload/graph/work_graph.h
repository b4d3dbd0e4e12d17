// The work of a job: what each rank computes, sends, receives and reduces, and what each piece of
// work waits for. Files of traces and built-in models of training become such a graph; GraphHosts
// executes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "alg/schedule/schedule.h"
#include "hw/ids.h"

namespace espalier {

// Which of a rank's nodes that are ready begin.
enum class IssueOrder : std::uint8_t {
  // One host operator, one computation, and one communication (a collective or a send) at a time:
  // of the nodes that are ready, the one with the lowest id, as in ASTRA-sim.
  lowest_id,
  // One host operator and one computation at a time. The collectives of a group, and the messages
  // to a peer, are streams of their own. A group's collectives begin in the order in which a
  // program of one thread would launch them: of the nodes that wait for none before, the lowest id
  // first.
  streams,
};

enum class WorkKind : std::uint8_t {
  none,        // takes no time: metadata, parts without work
  compute,     // the accelerator is busy for `picoseconds`
  host,        // the rank's host is busy for `picoseconds`
  send,        // `bytes` to `peer`; over when they have arrived there
  receive,     // `bytes` from `peer`
  collective,  // `op` of `group`; a group of one rank takes no time
};

struct WorkNode {
  WorkKind kind = WorkKind::none;
  CollectiveOp op = CollectiveOp::all_reduce;
  std::uint32_t name = 0;   // in WorkGraph::names
  std::uint32_t group = 0;  // in WorkGraph::groups
  // send, receive: the other rank. Messages from one rank to another with one tag and size are
  // received in the order in which they are sent.
  std::uint32_t peer = 0;
  std::uint64_t tag = 0;
  std::uint64_t id = 0;  // of the source: unique in its rank, orders work that is ready at once
  std::uint64_t picoseconds = 0;
  Bytes bytes = 0;  // of a collective: as CollectiveRequest::size
};

// The work of one rank.
struct RankWork {
  std::vector<WorkNode> nodes;
  // Node n waits for the nodes waits[first_wait[n]] to waits[first_wait[n + 1] - 1], which are
  // numbers in `nodes`, each once. One entry more than there are nodes.
  std::vector<std::uint32_t> first_wait{0};
  std::vector<std::uint32_t> waits;

  // Appends a node that waits for the nodes `after`. Returns its number.
  std::uint32_t add(const WorkNode& node, const std::vector<std::uint32_t>& after) {
    nodes.push_back(node);
    waits.insert(waits.end(), after.begin(), after.end());
    first_wait.push_back(static_cast<std::uint32_t>(waits.size()));
    return static_cast<std::uint32_t>(nodes.size() - 1);
  }
};

// Ranks that run collectives with each other. A rank is a member of at most one set; a rank that is
// in none posts no collective of the group. Traces name each set of ranks as a group of its own.
// Work that all ranks share names one group with a set for each value of the other coordinates: the
// tensor-parallel groups of a job, for instance.
struct WorkGroup {
  std::string name;
  std::vector<std::vector<std::uint32_t>> sets;  // ranks, in the order of a ring
};

// What reads a file or builds a model puts every rank's work here. Invariants, which check_work()
// (work_check.h) reports with rank and id: waits have no circle, peers are other ranks of the job,
// members of a set post the same collectives, and messages have a sender and a receiver of one
// size.
struct WorkGraph {
  std::vector<std::string> names;  // of nodes, each once
  std::vector<WorkGroup> groups;   // groups[0]: all ranks, in one set
  // By rank. Ranks that do the same work share it: then nodes name groups with several sets.
  std::vector<std::shared_ptr<const RankWork>> ranks;
};

}  // namespace espalier
