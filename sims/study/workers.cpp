#include "sims/study/workers.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <deque>
#include <limits>
#include <list>
#include <new>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "sims/text/whole_file.h"

namespace espalier {

namespace {

using Clock = std::chrono::steady_clock;

struct Worker {
  std::size_t point;
  ChildProcess process;
  Descriptor lines;  // the worker's stdout
  Clock::time_point deadline;
  bool too_late = false;
  bool stopped = false;
  Cycle at_least = 0;
  std::string received;  // not yet a whole line
  WorkerReport report;
  bool has_report = false;
};

class Batch {
 public:
  Batch(const std::vector<std::string>& command, std::size_t points, const WorkerBatch& batch)
      : command_(command), points_(points), batch_(batch) {}

  int run(std::size_t at_once) {
    at_once_ = at_once;
    start_workers();
    while (!workers_.empty() || !ended_.empty()) {
      if (ended_.empty()) {
        wait();
      } else {
        report_next();
      }
    }
    return signal_;
  }

 private:
  struct Ended {
    std::size_t point;
    WorkerReport report;
    bool reports;  // false: the signal ended it, so it is not done
  };

  void start_workers() {
    while (next_ != points_ && !stopped_ && workers_.size() < at_once_) {
      if (batch_.loses && batch_.loses(next_, 0)) {
        WorkerReport report;
        report.stopped = true;
        ended_.push_back({next_++, std::move(report), true});
        continue;
      }
      try {
        start_next();
      } catch (const std::system_error& error) {
        // While other processes hold all file descriptors or places for processes, fewer
        // simulations run at once. The next one starts when one of them has ended.
        const bool is_shortage = error.code() == std::errc::too_many_files_open ||
                                 error.code() == std::errc::too_many_files_open_in_system ||
                                 error.code() == std::errc::resource_unavailable_try_again;
        if (is_shortage && !workers_.empty()) return;
        WorkerReport report;
        report.failure =
            fmt::format("cannot start a simulation process: {}", error.code().message());
        report.kind = FailureKind::error;
        ended_.push_back({next_++, report, true});
      }
    }
  }

  void start_next() {
    Pipe lines;
    ChildOptions options;
    options.input = batch_.input(next_);
    options.out = lines.write.number();
    options.is_worker = true;
    options.memory_bytes = batch_.limits.memory_bytes;
    ChildProcess process(command_.front(), {command_.begin() + 1, command_.end()}, options);
    const bool limited = batch_.limits.time.count() != 0;
    const auto deadline = limited ? Clock::now() + batch_.limits.time : Clock::time_point::max();
    workers_.push_back(
        {next_, std::move(process), std::move(lines.read), deadline, {}, {}, {}, {}, {}, {}});
    ++next_;
  }

  // Milliseconds until the next worker is too late, for poll(). -1: never.
  [[nodiscard]] int patience() const {
    auto first = Clock::time_point::max();
    for (const Worker& worker : workers_) {
      if (!worker.too_late) first = std::min(first, worker.deadline);
    }
    if (first == Clock::time_point::max()) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(first - Clock::now()).count();
    return static_cast<int>(std::clamp<decltype(left)>(left, 0, std::numeric_limits<int>::max()));
  }

  // Until a worker writes, ends or is too late, or a signal arrives.
  void wait() {
    std::vector<pollfd> sources{{signals_.descriptor(), POLLIN, 0}};
    for (const Worker& worker : workers_) sources.push_back({worker.lines.number(), POLLIN, 0});
    if (poll(sources.data(), sources.size(), patience()) < 0) {
      if (errno == EINTR) return;
      throw std::system_error(errno, std::generic_category(), "poll");
    }
    if (const int signal = signals_.take(); signal != 0 && signal_ == 0) stop(signal);
    auto source = sources.begin() + 1;
    for (auto worker = workers_.begin(); worker != workers_.end(); ++source) {
      if (source->revents != 0 && !read_lines(*worker)) {
        end(*worker);
        worker = workers_.erase(worker);
        continue;
      }
      if (!worker->too_late && Clock::now() >= worker->deadline) {
        worker->too_late = true;
        worker->process.end();
      }
      ++worker;
    }
  }

  // False at the end of the worker's output: the worker has ended.
  bool read_lines(Worker& worker) const {
    char piece[65536];
    const ssize_t bytes = read(worker.lines.number(), piece, sizeof piece);
    if (bytes < 0) return errno == EINTR;
    worker.received.append(piece, static_cast<std::size_t>(bytes));
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = worker.received.find('\n', begin)) != std::string::npos;) {
      take_line(worker, worker.received.substr(begin, end - begin));
      begin = end + 1;
    }
    worker.received.erase(0, begin);
    return bytes != 0;
  }

  void take_line(Worker& worker, const std::string& line) const {
    auto message = nlohmann::ordered_json::parse(line, nullptr, false);
    if (!message.is_object()) return;
    if (message.contains("progress")) {
      batch_.progress(worker.point, message["progress"].get<double>());
      worker.at_least = message.value("at_least", Cycle{0});
      stop_if_it_loses(worker);
    }
    if (!message.contains("report")) return;
    nlohmann::ordered_json& report = message["report"];
    worker.report.result = std::move(report["result"]);
    worker.report.failure = report["failure"].get<std::string>();
    worker.report.note = report.value("note", "");
    worker.report.unsuited = report.value("unsuited", false);
    worker.has_report = true;
    if (worker.report.failure.empty()) return;
    worker.report.kind =
        worker.report.result.is_null() ? FailureKind::error : FailureKind::unverified;
    if (report.contains("out_of_memory")) worker.report.kind = FailureKind::memory_limit;
  }

  void stop_if_it_loses(Worker& worker) const {
    if (worker.stopped || !batch_.loses || !batch_.loses(worker.point, worker.at_least)) return;
    worker.stopped = true;
    worker.process.end();
  }

  void end(Worker& worker) {
    judge(worker, worker.process.wait());
    const bool reports = worker.has_report || signal_ == 0;
    ended_.push_back({worker.point, std::move(worker.report), reports});
  }

  void judge(Worker& worker, int status) const {
    WorkerReport& report = worker.report;
    if (worker.has_report) {
      if (report.kind == FailureKind::memory_limit && batch_.limits.memory_bytes != 0)
        report.failure = fmt::format("exceeded the memory limit of {}",
                                     format_quantity(Quantity::size, batch_.limits.memory_bytes));
      return;
    }
    if (worker.stopped) {
      report.stopped = true;
      return;
    }
    if (worker.too_late) {
      report.kind = FailureKind::time_limit;
      report.failure =
          fmt::format("exceeded the time limit of {}",
                      format_quantity(Quantity::duration,
                                      static_cast<std::uint64_t>(batch_.limits.time.count())));
      return;
    }
    report.kind = FailureKind::crash;
    report.failure = "the simulation process ended without a result";
    if (WIFSIGNALED(status)) {
      const int signal = WTERMSIG(status);
      // Otherwise the user has killed it.
      const char* cause = signal == SIGKILL ? "; the machine was probably out of memory" : "";
      report.failure += fmt::format(" ({}{})", signal_name(signal), cause);
    } else if (WIFEXITED(status)) {
      report.failure += fmt::format(" (exit code {})", WEXITSTATUS(status));
    }
  }

  void report_next() {
    const Ended ended = std::move(ended_.front());
    ended_.pop_front();
    // The next point is simulated while this report is written, unless it may lose by that report.
    if (!batch_.loses) start_workers();
    if (ended.reports) {
      batch_.progress(ended.point, 1.0);
      if (!batch_.finished(ended.point, ended.report)) stopped_ = true;
      for (Worker& worker : workers_) stop_if_it_loses(worker);
    }
    start_workers();
  }

  void stop(int signal) {
    signal_ = signal;
    stopped_ = true;
    for (Worker& worker : workers_) worker.process.end();
  }

  StopSignals signals_;
  const std::vector<std::string>& command_;
  std::size_t points_;
  const WorkerBatch& batch_;
  std::size_t at_once_ = 1;
  std::list<Worker> workers_;
  std::deque<Ended> ended_;  // not yet reported
  std::size_t next_ = 0;
  bool stopped_ = false;
  int signal_ = 0;
};

// In as few writes as the pipe allows. Nobody hears a worker whose parent has ended.
void write_line(const nlohmann::ordered_json& message) {
  static_cast<void>(write_all(STDOUT_FILENO, message.dump() + "\n"));
}

}  // namespace

void write_worker_progress(double done, Cycle at_least) {
  write_line({{"progress", done}, {"at_least", at_least}});
}

void write_worker_report(const PointReport& report) {
  nlohmann::ordered_json message;
  message["report"]["result"] = report.result;
  message["report"]["failure"] = report.failure;
  message["report"]["note"] = report.note;
  message["report"]["unsuited"] = report.unsuited;
  write_line(message);
}

void report_out_of_memory() {
  // This function must not allocate.
  constexpr char kReport[] =
      "{\"report\":{\"result\":null,\"failure\":\"out of memory\",\"out_of_memory\":true}}\n";
  const ssize_t ignored = write(STDOUT_FILENO, kReport, sizeof kReport - 1);
  static_cast<void>(ignored);
  _exit(EXIT_FAILURE);
}

std::string out_of_memory_text() {
  rusage use{};
  rlimit limit{};
  getrusage(RUSAGE_SELF, &use);
  getrlimit(RLIMIT_AS, &limit);
  std::string text = fmt::format("out of memory: it needs more than {:.1f} GB",
                                 static_cast<double>(use.ru_maxrss) * 1024 / 1e9);
  if (limit.rlim_cur != RLIM_INFINITY)
    text +=
        fmt::format(" (limit: {:.1f} GB, ulimit -v)", static_cast<double>(limit.rlim_cur) / 1e9);
  return text + "; choose a smaller system or collective, or fewer transfers (another algorithm)";
}

void report_when_out_of_memory() { std::set_new_handler(report_out_of_memory); }

ParsedQuantity LimitRange::parse(const std::string& text) const {
  ParsedQuantity parsed = parse_quantity(quantity, text);
  if (!parsed.value || (*parsed.value >= least && *parsed.value <= most)) return parsed;
  const bool too_little = *parsed.value < least;
  return {
      std::nullopt, fmt::format("{} is too {}", text, too_little ? "small" : "large"),
      fmt::format("{} to {}", format_quantity(quantity, least), format_quantity(quantity, most))};
}

int run_workers(const std::vector<std::string>& command, std::size_t points, std::size_t at_once,
                const WorkerBatch& batch) {
  return Batch(command, points, batch).run(std::max<std::size_t>(at_once, 1));
}

std::optional<unsigned> parse_number(std::string_view text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

unsigned jobs_at_once(unsigned asked) {
  if (asked != 0) return asked;
  // Slurm does not always bind a job on a shared node to its processors, so Slurm's variables are
  // read.
  for (const char* name : {"SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE"}) {
    const char* text = std::getenv(name);
    const unsigned given = text == nullptr ? 0 : parse_number(text).value_or(0);
    if (given != 0) return given;
  }
  return std::max(1U, std::thread::hardware_concurrency());
}

StopSignals::StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kStopSignals) {
    // Blocked, a signal that the caller ignores (nohup) would arrive here all the same.
    struct sigaction given {};
    sigaction(signal, nullptr, &given);
    if (given.sa_handler != SIG_IGN) sigaddset(&signals, signal);
  }
  descriptor_ = Descriptor(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (descriptor_.number() < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
  sigprocmask(SIG_BLOCK, &signals, &before_);
}

StopSignals::~StopSignals() {
  while (take() != 0) {
  }
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

int StopSignals::take() const {
  signalfd_siginfo signal{};
  const ssize_t bytes = read(descriptor_.number(), &signal, sizeof signal);
  return bytes == sizeof signal ? static_cast<int>(signal.ssi_signo) : 0;
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

}  // namespace espalier
