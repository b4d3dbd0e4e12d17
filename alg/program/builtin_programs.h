// Parametric collective programs that are selected by name: written in the chunk language,
// compiled when they are asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "alg/program/program.h"

namespace espalier {

struct BuiltinRequest {
  std::uint32_t ranks = 2;
  // Ranks of one server, numbered in a row; hierarchical programs need it. ranks / this servers.
  std::uint32_t ranks_per_server = 1;
  std::uint32_t channels = 1;   // over which a ring is spread
  std::uint32_t instances = 1;  // parallelize(): copies of the whole program, each of its share
  Protocol protocol = Protocol::simple;
};

struct BuiltinProgram {
  std::string name;     // as in `espalier list algorithms`
  std::string summary;  // one line
  CollectiveOp collective = CollectiveOp::all_reduce;
  bool uses_servers = false;   // ranks_per_server means something to it
  bool uses_channels = false;  // channels does
  // Empty where it can be made, else the reason why not, as a sentence for the user.
  std::string (*unsuited)(const BuiltinRequest& request) = nullptr;
  // Precondition: unsuited(request) is empty.
  Program (*build)(const BuiltinRequest& request) = nullptr;
};

// In the order in which they are listed to users.
[[nodiscard]] const std::vector<BuiltinProgram>& builtin_programs();
// nullptr where none has that name.
[[nodiscard]] const BuiltinProgram* find_builtin_program(const std::string& name);

}  // namespace espalier
