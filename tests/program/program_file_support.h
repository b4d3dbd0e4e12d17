// Files of the corpus, and programs to compare.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "alg/program/program.h"
#include "sims/formats/program/msccl_xml.h"
#include "sims/text/diagnostics.h"

namespace espalier {

inline std::string contents_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Paths below tests/program/, ascending.
inline std::vector<std::string> corpus(const std::string& folder, const std::string& extension) {
  const std::string root = std::string(ESPALIER_SOURCE_DIR) + "/tests/program/" + folder;
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    if (entry.path().extension() == extension) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

inline std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

inline Program read_valid(const std::string& text) {
  Diagnostics diagnostics;
  auto program = read_msccl_xml("test.xml", text, diagnostics);
  if (!program) throw std::runtime_error(diagnostics.text());
  return *program;
}

inline std::string errors_of(const std::string& text) {
  Diagnostics diagnostics;
  const auto program = read_msccl_xml("test.xml", text, diagnostics);
  return program ? "" : diagnostics.text();
}

// Everything in it but the lines of the file it comes from.
inline std::string dump(const Program& program) {
  std::string out = fmt::format(
      "{} in_place {} too {} {} channels {} chunks {} bytes {}-{} root {}\n",
      to_string(program.collective), program.in_place, program.also_out_of_place,
      to_string(program.protocol), program.num_channels, program.chunks, program.min_bytes,
      program.max_bytes, program.root ? static_cast<int>(*program.root) : -1);
  out += program.name + "\n";
  for (const PromisedChunk& promise : program.promises) {
    out += fmt::format("promise {} {}:", promise.rank, promise.index);
    for (const InputChunk& chunk : promise.value)
      out += fmt::format(" {}:{}", chunk.rank, chunk.index);
    out += "\n";
  }
  for (const RankProgram& rank : program.ranks) {
    out +=
        fmt::format("rank {} {} {}\n", rank.input_chunks, rank.output_chunks, rank.scratch_chunks);
    for (const ThreadBlock& block : rank.blocks) {
      out += fmt::format(" block {} {} {} {}\n", block.send_peer, block.recv_peer, block.channel,
                         block.call);
      for (const ProgramStep& step : block.steps) {
        out +=
            fmt::format("  {} {}{} {}{} {} wait {},{} signals {}\n", to_string(step.op),
                        to_string(step.src_buffer), step.src_offset, to_string(step.dst_buffer),
                        step.dst_offset, step.count, step.wait_block, step.wait_step, step.signals);
      }
    }
  }
  return out;
}

// The program's promises as the text of a promises file.
inline std::string write_promises(const Program& program) {
  std::string text;
  for (const PromisedChunk& promise : program.promises) {
    text += fmt::format("rank {} out {} =", promise.rank, promise.index);
    const char* sign = " ";
    for (const auto& part : promise.value) {
      text += fmt::format("{}{}:{}", std::exchange(sign, " + "), part.rank, part.index);
    }
    text += "\n";
  }
  return text;
}

}  // namespace espalier
