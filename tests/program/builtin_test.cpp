#include "alg/program/builtin_programs.h"

#include <catch2/catch.hpp>
#include <iostream>

#include "program_interpreter.h"

using namespace espalier;

TEST_CASE("Every built-in program computes its collective at every size it is made for") {
  for (const BuiltinProgram& builtin : builtin_programs()) {
    for (std::uint32_t ranks = 2; ranks <= 17; ++ranks) {
      for (std::uint32_t per_server = 1; per_server <= (builtin.uses_servers ? ranks : 1);
           ++per_server) {
        for (const std::uint32_t channels : {1U, 3U}) {
          for (const std::uint32_t instances : {1U, 2U, 3U}) {
            for (const Protocol protocol : {Protocol::simple, Protocol::ll}) {
              const BuiltinRequest request{ranks, per_server, channels, instances, protocol};
              if (channels > 1 && !builtin.uses_channels) continue;
              if (!builtin.unsuited(request).empty()) continue;
              INFO(builtin.name << " ranks " << ranks << " per server " << per_server
                                << " channels " << channels << " instances " << instances << " "
                                << to_string(protocol));
              const Program program = builtin.build(request);
              REQUIRE(interpret(program, 2).empty());
            }
          }
        }
      }
    }
  }
}

TEST_CASE("Numbers", "[.numbers]") {
  for (const BuiltinProgram& builtin : builtin_programs()) {
    const BuiltinRequest request{16, 8, 1, 1, Protocol::simple};
    if (!builtin.unsuited(request).empty()) continue;
    const Program program = builtin.build(request);
    std::size_t blocks = 0, nops = 0;
    std::map<std::string, std::size_t> ops;
    for (const RankProgram& rank : program.ranks) {
      blocks = std::max(blocks, rank.blocks.size());
      for (const auto& b : rank.blocks)
        for (const auto& s : b.steps) {
          ++ops[to_string(s.op)];
          nops += s.op == ProgramOp::nop;
        }
    }
    std::cout << builtin.name << ": steps " << program.num_steps() << " blocks " << blocks
              << " channels " << program.num_channels << " chunks " << program.chunks << " :";
    for (auto& [o, n] : ops) std::cout << ' ' << o << ' ' << n;
    std::cout << '\n';
  }
}
