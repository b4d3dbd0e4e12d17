#include "sims/experiment/confirm_choice.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <stdexcept>

namespace espalier {

namespace {

bool read_bytes(int from, void* to, std::size_t bytes) {
  auto* at = static_cast<char*>(to);
  while (bytes != 0) {
    const ssize_t now = read(from, at, bytes);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return false;
    at += now;
    bytes -= static_cast<std::size_t>(now);
  }
  return true;
}

bool write_bytes(int to, const void* from, std::size_t bytes) {
  const auto* at = static_cast<const char*>(from);
  while (bytes != 0) {
    const ssize_t now = write(to, at, bytes);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return false;
    at += now;
    bytes -= static_cast<std::size_t>(now);
  }
  return true;
}

struct Pipe {
  int out = -1;  // read
  int in = -1;   // written

  Pipe() {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe to another process");
    out = ends[0];
    in = ends[1];
  }
};

// Returns 0 in the child, which ends with its parent.
pid_t forked() {
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process for a simulation");
  if (child == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
  return child;
}

// True if the child ended well.
bool await(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

struct RunningChild {
  pid_t process = 0;
  int cycles = -1;  // a pipe
};

RunningChild start(const ShortRun& run) {
  const Pipe pipe;
  const pid_t child = forked();
  if (child == 0) {
    int status = 1;
    try {
      const SimulationOutcome outcome = run();
      const bool told = write_bytes(pipe.in, &outcome.cycles, sizeof outcome.cycles);
      status = outcome.verified && told ? 0 : 1;
    } catch (const std::exception&) {
      status = 1;
    }
    _exit(status);
  }
  close(pipe.in);
  return {child, pipe.out};
}

}  // namespace

std::vector<std::optional<Cycle>> simulated_cycles(const std::vector<ShortRun>& runs,
                                                   Choices& choices) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<RunningChild> children;
  children.reserve(runs.size());
  for (const ShortRun& run : runs) children.push_back(start(run));
  std::vector<std::optional<Cycle>> result;
  for (const RunningChild& child : children) {
    Cycle cycles = 0;
    const bool heard = read_bytes(child.cycles, &cycles, sizeof cycles);
    close(child.cycles);
    const bool good = await(child.process);
    result.push_back(heard && good ? std::optional<Cycle>(cycles) : std::nullopt);
  }
  choices.add_simulating_seconds(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return result;
}

namespace {

// One answer: its length, and a JSON text with the choice or the error.
void answer_questions(int questions, int answers, const ChoiceProcess::Answer& answer) {
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
  const Pipe questions;
  const Pipe answers;
  child_ = forked();
  if (child_ == 0) {
    close(questions.in);
    close(answers.out);
    answer_questions(questions.out, answers.in, answer);
    _exit(0);
  }
  close(questions.out);
  close(answers.in);
  questions_ = questions.in;
  answers_ = answers.out;
}

ChoiceProcess::~ChoiceProcess() {
  close(questions_);
  close(answers_);
  await(child_);
}

Choice ChoiceProcess::ask(Bytes size) {
  std::size_t length = 0;
  std::string text;
  const bool asked = write_bytes(questions_, &size, sizeof size);
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
