#include "sims/experiment/confirm_choice.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "sims/experiment/whole_file.h"

namespace espalier {

namespace {

bool read_bytes(const Descriptor& from, void* to, std::size_t bytes) {
  auto* at = static_cast<char*>(to);
  while (bytes != 0) {
    const ssize_t now = read(from.number(), at, bytes);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return false;
    at += now;
    bytes -= static_cast<std::size_t>(now);
  }
  return true;
}

bool write_bytes(const Descriptor& to, const void* from, std::size_t bytes) {
  return write_all(to.number(), {static_cast<const char*>(from), bytes});
}

struct RunningSimulation {
  ChildProcess process;
  Descriptor cycles;
};

RunningSimulation start(const Rival& rival) {
  Pipe pipe;
  ChildProcess process([&] {
    try {
      const SimulationOutcome outcome = rival.run();
      const bool told = write_bytes(pipe.write, &outcome.cycles, sizeof outcome.cycles);
      return outcome.verified && told ? 0 : 1;
    } catch (const std::exception&) {
      return 1;
    }
  });
  return {std::move(process), std::move(pipe.read)};
}

}  // namespace

std::string to_text(const Rival& rival) {
  if (rival.failed) {
    return fmt::format("{}, not completed ({:.4g} {})", rival.name, rival.planned_us, rival.by);
  }
  return rival.simulated_us
             ? fmt::format("{}, {:.4g} us simulated ({:.4g} {})", rival.name, *rival.simulated_us,
                           rival.planned_us, rival.by)
             : fmt::format("{}, {:.4g} us {}", rival.name, rival.planned_us, rival.by);
}

std::string why_text(const Rival& taken, const Rival& next) {
  return fmt::format("{}; next is {}", to_text(taken), to_text(next));
}

bool is_settled(const Rival& a, const Rival& b) {
  if (a.failed || b.failed) return true;
  if (a.simulated_us && b.simulated_us) return true;
  const double ratio = std::max(a.us(), b.us()) / std::min(a.us(), b.us());
  return a.is_known() && b.is_known() && ratio > kListError;
}

bool is_faster(const Rival& a, const Rival& b) {
  return a.failed != b.failed ? b.failed : a.us() < b.us();
}

std::function<double(Cycle)> microseconds(const ClockSpec& clock) {
  return [clock](Cycle cycles) {
    return static_cast<double>(cycles) * 1e6 / static_cast<double>(clock.hertz);
  };
}

void simulate(const std::vector<Rival*>& rivals, const std::function<bool(const Rival&)>& wanted,
              const std::function<double(Cycle)>& us, const Choices& choices) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::pair<Rival*, RunningSimulation>> children;
  for (Rival* rival : rivals) {
    if (wanted(*rival)) children.emplace_back(rival, start(*rival));
  }
  for (auto& [rival, child] : children) {
    Cycle cycles = 0;
    const bool heard = read_bytes(child.cycles, &cycles, sizeof cycles);
    child.cycles.close();
    rival->failed = child.process.wait() != 0 || !heard;
    if (!rival->failed) rival->simulated_us = us(cycles);
  }
  choices.add_simulating_seconds(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

namespace {

// One answer: its length, and a JSON text with the choice or the error.
void answer_questions(const Descriptor& questions, const Descriptor& answers,
                      const ChoiceProcess::Answer& answer) {
  Bytes size = 0;
  while (read_bytes(questions, &size, sizeof size)) {
    nlohmann::ordered_json reply;
    try {
      reply = to_json(answer(size));
    } catch (const std::exception& error) {
      reply = {{"error", error.what()}};
    }
    const std::string text = reply.dump();
    const std::size_t length = text.size();
    if (!write_bytes(answers, &length, sizeof length) || !write_bytes(answers, text.data(), length))
      return;
  }
}

}  // namespace

ChoiceProcess::ChoiceProcess(const Answer& answer) {
  Pipe questions;
  Pipe answers;
  child_.emplace([&] {
    questions.write.close();  // so that the child sees when this process asks no more
    answers.read.close();
    answer_questions(questions.read, answers.write, answer);
    return 0;
  });
  questions_ = std::move(questions.write);
  answers_ = std::move(answers.read);
}

ChoiceProcess::~ChoiceProcess() {
  questions_.close();
  answers_.close();
  child_->wait();
}

Choice ChoiceProcess::ask(Bytes size) {
  std::size_t length = 0;
  std::string text;
  // A process that has ended is an error, not the end of this one.
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  const bool asked = write_bytes(questions_, &size, sizeof size);
  std::signal(SIGPIPE, before);
  if (asked && read_bytes(answers_, &length, sizeof length)) {
    text.resize(length);
    if (!read_bytes(answers_, text.data(), length)) text.clear();
  }
  if (text.empty()) throw std::runtime_error("the process that chooses algorithms has ended");
  const auto reply = nlohmann::ordered_json::parse(text);
  if (reply.contains("error")) throw std::runtime_error(reply.at("error").get<std::string>());
  return choice_from_json(reply);
}

}  // namespace espalier
