// Collective programs, and the contexts of NIs that run them.
#include "alg/algorithm.h"
#include "sims/config/key_builders.h"

namespace espalier {

using namespace key_builders;

namespace {

constexpr const char* kAlgorithmKey = "collective.algorithm";

const Algorithm* algorithm_of(const RunPoint& point) {
  return point.collective ? find_algorithm(point.collective->algorithm) : nullptr;
}
bool is_program(const RunPoint& point) {
  const Algorithm* algorithm = algorithm_of(point);
  return algorithm != nullptr && algorithm->is_program();
}
bool is_program_file(const RunPoint& point) {
  return is_program(point) && algorithm_of(point)->program == nullptr;
}
bool is_built_in(const RunPoint& point) {
  return is_program(point) && algorithm_of(point)->program != nullptr;
}
bool uses_channels(const RunPoint& point) {
  return is_built_in(point) && algorithm_of(point)->program->uses_channels;
}
bool uses_servers(const RunPoint& point) {
  return is_built_in(point) && algorithm_of(point)->program->uses_servers;
}

Key path_key(const char* name, const char* description, std::string ProgramConfig::*member) {
  Key key;
  key.name = name;
  key.shape.type = ValueType::text;
  key.description = description;
  key.set = [member](RunPoint& point, const Value& value) {
    point.collective->program.*member = value.text;
  };
  key.get = [member](const RunPoint& point) {
    Value value;
    value.text = point.collective->program.*member;
    return value;
  };
  return key;
}

Key for_programs(Key key) {
  return only_when(std::move(key), kAlgorithmKey, "program or one of gc3_*", is_program);
}

}  // namespace

void add_program_keys(std::vector<Key>& table) {
  table.push_back(required(only_when(
      path_key("collective.program.file",
               "the program as MSCCL XML (.xml) or as a trace (.trace), relative to this file's "
               "folder",
               &ProgramConfig::file),
      kAlgorithmKey, "program", is_program_file)));
  table.push_back(only_when(
      path_key("collective.program.promises",
               "what a custom collective's output chunks must hold, relative to this file's folder",
               &ProgramConfig::promises),
      kAlgorithmKey, "program", is_program_file));
  table.push_back(only_when(
      listable(integer_key(
          "collective.program.channels", 1, 32, "over which a built-in program spreads its steps",
          [](auto& p) -> auto& { return p.collective->program.channels; })),
      kAlgorithmKey, "a built-in program with channels", uses_channels));
  table.push_back(only_when(
      listable(integer_key(
          "collective.program.instances", 1, 32,
          "copies of a built-in program, each of its share of the data on channels of its own",
          [](auto& p) -> auto& { return p.collective->program.instances; })),
      kAlgorithmKey, "a built-in program", is_built_in));
  table.push_back(only_when(
      or_word(integer_key(
                  "collective.program.ranks_per_server", 1, 65536,
                  "ranks that a hierarchical program takes for one server; auto: as gpu_cluster "
                  "has them",
                  [](auto& p) -> auto& { return p.collective->program.ranks_per_server; }),
              "auto"),
      kAlgorithmKey, "a built-in program with servers", uses_servers));
  table.push_back(for_programs(listable(choice_key<ProtocolChoice>(
      "collective.program.protocol",
      "of all connections; auto: what the file says, Simple of a built-in program",
      [](auto& p) -> auto& { return p.collective->program.protocol; }))));
}

void add_program_ni_keys(std::vector<Key>& table) {
  constexpr std::uint64_t kMostCycles = 100'000'000;
  table.push_back(for_programs(or_word(
      integer_key(
          "system.ni.program.contexts", 1, 65536,
          "that run thread blocks, all of a call at once; auto: as many as the program needs",
          [](auto& p) -> auto& { return p.system.ni.program.contexts; }),
      "auto")));
  table.push_back(for_programs(
      or_word(integer_key(
                  "system.ni.program.context_steps", 1, 65536,
                  "instructions that a context's RAM holds; auto: as many as the program needs",
                  [](auto& p) -> auto& { return p.system.ni.program.context_steps; }),
              "auto")));
  table.push_back(for_programs(
      or_word(integer_key(
                  "system.ni.program.slots", 1, 1024,
                  "FIFO slots of a connection; protocol: 2 of Simple, 8 of LL and LL128",
                  [](auto& p) -> auto& { return p.system.ni.program.slots; }),
              "protocol")));
  table.push_back(for_programs(or_word(
      number_key(
          ValueType::size, "system.ni.program.slot", 1, kLargestMessage,
          "data of a FIFO slot: the tile; protocol: 2 MiB of Simple, 32 KiB of LL, 576000 B of "
          "LL128",
          [](auto& p) -> auto& { return p.system.ni.program.slot_bytes; }),
      "protocol")));
  table.push_back(for_programs(number_key(
      ValueType::size, "system.ni.program.request", 1, kLargestMessage,
      "data of one request of a context, which is a message",
      [](auto& p) -> auto& { return p.system.ni.program.request_bytes; })));
  table.push_back(for_programs(integer_key(
      "system.ni.program.requests", 1, 65536, "of one context under way",
      [](auto& p) -> auto& { return p.system.ni.program.requests; })));
  table.push_back(for_programs(
      or_word(integer_key(
                  "system.ni.program.context_bytes_per_cycle", 1, 1 << 20,
                  "what one context moves; sends and receives as they are on the wire",
                  [](auto& p) -> auto& { return p.system.ni.program.context_bytes_per_cycle; }),
              "unlimited")));
  table.push_back(for_programs(
      or_word(integer_key(
                  "system.ni.program.memory_bytes_per_cycle", 1, 1 << 20,
                  "what the contexts of an NI read and write together",
                  [](auto& p) -> auto& { return p.system.ni.program.memory_bytes_per_cycle; }),
              "unlimited")));
  table.push_back(for_programs(integer_key(
      "system.ni.program.decode_cycles", 1, kMostCycles, "from a step's turn to its first request",
      [](auto& p) -> auto& { return p.system.ni.program.decode_cycles; })));
  table.push_back(for_programs(integer_key(
      "system.ni.program.fence_cycles", 0, kMostCycles,
      "before the flag that completes a slot; protocol Simple",
      [](auto& p) -> auto& { return p.system.ni.program.fence_cycles; })));
  table.push_back(for_programs(integer_key(
      "system.ni.program.doorbell_cycles", 0, kMostCycles,
      "of each call: from the host's call, or the end of the call before, to the program load",
      [](auto& p) -> auto& { return p.system.ni.program.doorbell_cycles; })));
  table.push_back(for_programs(integer_key(
      "system.ni.program.load_cycles_per_step", 0, kMostCycles,
      "of each call: loading the program's steps into the contexts",
      [](auto& p) -> auto& { return p.system.ni.program.load_cycles_per_step; })));
  table.push_back(for_programs(integer_key(
      "system.ni.program.network_slot_cycles", 0, kMostCycles,
      "of an NI for each slot that it sends to another server of a gpu_cluster, one by one",
      [](auto& p) -> auto& { return p.system.ni.program.network_slot_cycles; })));
  table.push_back(for_programs(
      or_word(integer_key(
                  "system.ni.program.credit_cycles", 1, kMostCycles,
                  "a slot is free to its sender may use it; path: what the idle way back takes",
                  [](auto& p) -> auto& { return p.system.ni.program.credit_cycles; }),
              "path")));
}

}  // namespace espalier
