// Collective programs as execution plans of MSCCL++ (JSON).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "alg/program/program.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// Whether the text is a plan of any generation.
[[nodiscard]] bool is_mscclpp_plan(std::string_view text);
// Whether the file is one; its name ends in .json.
[[nodiscard]] bool is_mscclpp_file(const std::filesystem::path& path);

// Reads a plan of schema 2 (snake_case), schema 1 (camelCase) or a mix of both. The result is
// one-sided: a put is a message to the peer's memory, a signal a message without data, a read a
// request and its answer. Steps name the operation of the plan that they belong to. `size` of the
// call decides how often pipelines repeat; 0: a pipeline moves by one chunk. nullopt: an error is
// reported, which names gpu, tb and op.
//
// Refused: unknown operations; more than the executor takes; ranges beyond a buffer; channels,
// buffers and semaphores that do not exist; waits without a signal, or relaxed ones for data;
// signals behind writes without a nop; a proxy's channels that lead elsewhere than its data;
// packets that nobody writes, or that are written twice; barriers that lack a thread block. Left to
// certify_program(): deadlocks, races, results.
[[nodiscard]] std::optional<Program> read_mscclpp(const std::string& file_name,
                                                  const std::string& text, Bytes size,
                                                  Diagnostics& diagnostics);

// Exactly one of the two is set.
struct MscclppDocument {
  std::string text;
  std::string reason;  // why the program cannot be a plan, as a sentence
};

// The program as a plan of schema 2, the same bytes for the same program: a message is a put and a
// signal, a wait for another thread block a semaphore. Protocols and slots are lost. Data land in
// their places if the certifier proves that no earlier access can meet them, otherwise in scratch.
[[nodiscard]] MscclppDocument write_mscclpp(const Program& program);

}  // namespace espalier
