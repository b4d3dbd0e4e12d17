// Programs for tests, in a notation of one line per rank, block and step:
//   gpu i2 o0 s1        chunks of its buffers; what is 0 may be left out
//   tb >1 <2 c0 k1      peers to send to and receive from, channel, call; each may be left out
//   rrc i0 s1 x2 @1.3 ! operation, source, target (where the same: one), count, the block and step
//                       it waits for, and that it signals
// Lines are counted from 1, as in a file; empty ones too.
#pragma once

#include <sstream>
#include <string>

#include "alg/program/program.h"

namespace espalier::program_test {

inline ProgramOp op_named(const std::string& name) {
  for (int k = 0; k <= static_cast<int>(ProgramOp::reduce); ++k) {
    const auto op = static_cast<ProgramOp>(k);
    if (name == to_string(op)) return op;
  }
  throw std::invalid_argument("no operation " + name);
}

inline ProgramBuffer buffer_named(char name) {
  if (name == 'i') return ProgramBuffer::input;
  return name == 'o' ? ProgramBuffer::output : ProgramBuffer::scratch;
}

inline ProgramStep step_of(std::istringstream& words, ProgramOp op) {
  ProgramStep step;
  step.op = op;
  step.count = op == ProgramOp::nop ? 0 : 1;
  int operands = 0;
  std::string word;
  while (words >> word) {
    if (word[0] == '!') {
      step.signals = true;
    } else if (word[0] == 'x') {
      step.count = static_cast<std::uint32_t>(std::stoul(word.substr(1)));
    } else if (word[0] == '@') {
      step.wait_block = std::stoi(word.substr(1));
      step.wait_step = std::stoi(word.substr(word.find('.') + 1));
    } else {
      if (operands++ == 0) {
        step.src_buffer = buffer_named(word[0]);
        step.src_offset = std::stoi(word.substr(1));
      }
      step.dst_buffer = buffer_named(word[0]);
      step.dst_offset = std::stoi(word.substr(1));
    }
  }
  return step;
}

inline void read_line(Program& program, const std::string& text, std::uint32_t line) {
  std::istringstream words(text);
  std::string first;
  if (!(words >> first)) return;
  std::string word;
  if (first == "gpu") {
    RankProgram& rank = program.ranks.emplace_back();
    rank.line = line;
    while (words >> word) {
      const auto chunks = static_cast<std::uint32_t>(std::stoul(word.substr(1)));
      if (word[0] == 'i') rank.input_chunks = chunks;
      if (word[0] == 'o') rank.output_chunks = chunks;
      if (word[0] == 's') rank.scratch_chunks = chunks;
    }
  } else if (first == "tb") {
    ThreadBlock& block = program.ranks.back().blocks.emplace_back();
    block.line = line;
    while (words >> word) {
      const int value = std::stoi(word.substr(1));
      if (word[0] == '>') block.send_peer = value;
      if (word[0] == '<') block.recv_peer = value;
      if (word[0] == 'c') block.channel = static_cast<std::uint32_t>(value);
      if (word[0] == 'k') block.call = static_cast<std::uint32_t>(value);
    }
  } else {
    auto& steps = program.ranks.back().blocks.back().steps;
    steps.push_back(step_of(words, op_named(first)));
    steps.back().line = line;
  }
}

inline Program program_of(CollectiveOp collective, bool in_place, std::uint32_t chunks,
                          const std::string& text) {
  Program program;
  program.collective = collective;
  program.in_place = in_place;
  program.chunks = chunks;
  program.num_channels = 4;
  std::istringstream lines(text);
  std::string line;
  for (std::uint32_t number = 1; std::getline(lines, line); ++number) {
    read_line(program, line, number);
  }
  return program;
}

}  // namespace espalier::program_test
