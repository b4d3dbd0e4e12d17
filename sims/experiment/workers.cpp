#include "sims/experiment/workers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/process/args.hpp>
#include <boost/process/async.hpp>
#include <boost/process/async_pipe.hpp>
#include <boost/process/child.hpp>
#include <boost/process/extend.hpp>
#include <boost/process/io.hpp>
#include <csignal>
#include <cstring>
#include <list>
#include <new>

#include "sims/text/units.h"

namespace espalier {

namespace {

namespace asio = boost::asio;
namespace bp = boost::process;
using boost::system::error_code;

// Runs in the child before exec, so it may only call functions that are safe after fork().
struct ChildSetup {
  pid_t parent;
  std::uint64_t memory_bytes;

  template <class Executor>
  void operator()(Executor&) const {
    // A parent that is killed cannot end its children. It may have been killed already.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(EXIT_FAILURE);
    // A terminal sends these signals to all its processes; the parent decides what to do.
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGTERM, SIG_IGN);
    if (memory_bytes == 0) return;
    const rlimit limit{memory_bytes, memory_bytes};
    setrlimit(RLIMIT_AS, &limit);
  }
};

struct Worker {
  Worker(asio::io_context& io, std::size_t which) : point(which), pipe(io), deadline(io) {}

  std::size_t point;
  bp::async_pipe pipe;
  asio::steady_timer deadline;
  std::string received;
  WorkerReport report;
  bp::child child;
  pid_t pid = 0;  // 0: not running
  bool exited = false;
  bool has_report = false;
  bool pipe_open = true;
  bool too_late = false;
};

class Batch {
 public:
  Batch(std::string program, std::size_t points, const WorkerBatch& batch)
      : program_(std::move(program)), points_(points), batch_(batch), signals_(io_) {}

  int run(std::size_t at_once) {
    signals_.add(SIGINT);
    signals_.add(SIGTERM);
    signals_.async_wait([this](const error_code& error, int signal) {
      if (!error) stop(signal);
    });
    for (std::size_t i = 0; i < at_once; ++i) start_next();
    if (points_ == 0) signals_.cancel();
    io_.run();
    return signal_;
  }

 private:
  void start_next() {
    if (next_ == points_ || stopped_) return;
    try {
      workers_.emplace_back(io_, next_);
    } catch (const std::system_error& failure) {
      fail_next(failure.code());
      return;
    } catch (const boost::system::system_error& failure) {
      fail_next(failure.code());
      return;
    }
    Worker& worker = workers_.back();
    // Workers that start later must not hold this one's pipe open.
    fcntl(worker.pipe.native_source(), F_SETFD, FD_CLOEXEC);
    fcntl(worker.pipe.native_sink(), F_SETFD, FD_CLOEXEC);
    std::error_code error;
    worker.child = bp::child(
        program_, bp::args(batch_.arguments(worker.point)), bp::std_out > worker.pipe,
        bp::std_in < bp::null, io_, error,
        bp::extend::on_exec_setup = ChildSetup{getpid(), batch_.limits.memory_bytes},
        bp::on_exit = [this, &worker](int, const std::error_code&) {
          worker.pid = 0;
          // Starts later: the caller iterates over its children, and starting one changes the list.
          asio::post(io_, [this, &worker] {
            worker.pid = 0;
            worker.exited = true;
            end_if_done(worker);
          });
        });
    // Boost leaves `error` alone where it cannot open a pipe of its own, and gives a child without
    // a process: its id is -1, which kill() takes for every process of the user.
    if (!error && !worker.child.valid())
      error = std::make_error_code(std::errc::too_many_files_open);
    if (error) {
      workers_.pop_back();
      fail_next(error);
      return;
    }
    ++next_;
    worker.pid = worker.child.id();
    read_line(worker);
    if (batch_.limits.time.count() == 0) return;
    worker.deadline.expires_after(batch_.limits.time);
    worker.deadline.async_wait([&worker](const error_code& cancelled) {
      if (cancelled || worker.pid <= 0) return;
      worker.too_late = true;
      end_process(worker);
    });
  }

  // Never a pid of 0 or less: that means a process group, or every process.
  static void end_process(const Worker& worker) {
    if (worker.pid > 0) ::kill(worker.pid, SIGKILL);
  }

  // A process needs file descriptors here. While other processes hold them all, the next point
  // waits until one of these has ended. Else it fails.
  void fail_next(const std::error_code& error) {
    const bool no_descriptor =
        error == std::errc::too_many_files_open || error == std::errc::bad_file_descriptor;
    if (no_descriptor && next_ != ended_) return;
    asio::post(io_, [this, point = next_++, error] {
      WorkerReport report;
      report.failure = fmt::format("cannot start a simulation process: {}", error.message());
      report.kind = FailureKind::error;
      finish(point, report, true);
    });
  }

  void read_line(Worker& worker) {
    asio::async_read_until(worker.pipe, asio::dynamic_buffer(worker.received), '\n',
                           [this, &worker](const error_code& error, std::size_t length) {
                             if (error) {
                               worker.pipe_open = false;
                               end_if_done(worker);
                               return;
                             }
                             take_line(worker, worker.received.substr(0, length));
                             worker.received.erase(0, length);
                             read_line(worker);
                           });
  }

  void take_line(Worker& worker, const std::string& line) const {
    auto message = nlohmann::ordered_json::parse(line, nullptr, false);
    if (!message.is_object()) return;
    if (message.contains("progress"))
      batch_.progress(worker.point, message["progress"].get<double>());
    if (!message.contains("report")) return;
    nlohmann::ordered_json& report = message["report"];
    worker.report.result = std::move(report["result"]);
    worker.report.failure = report["failure"].get<std::string>();
    worker.has_report = true;
    if (worker.report.failure.empty()) return;
    worker.report.kind =
        worker.report.result.is_null() ? FailureKind::error : FailureKind::unverified;
    if (report.contains("out_of_memory")) worker.report.kind = FailureKind::memory_limit;
  }

  void end_if_done(Worker& worker) {
    if (!worker.exited || worker.pipe_open) return;
    worker.deadline.cancel();
    worker.pipe.close();  // the next worker needs its descriptors
    judge(worker);
    const std::size_t point = worker.point;
    const WorkerReport report = std::move(worker.report);
    const bool reports = worker.has_report || signal_ == 0;
    // Cancelled handlers are still called with their worker.
    asio::post(io_, [this, &worker] {
      workers_.remove_if([&](const Worker& w) { return &w == &worker; });
    });
    finish(point, report, reports);
  }

  void finish(std::size_t point, const WorkerReport& report, bool reports) {
    ++ended_;
    // The next point is simulated while this report is written.
    start_next();
    // A point that the signal ended is not done.
    if (reports) batch_.progress(point, 1.0);
    if (reports && !batch_.finished(point, report)) stopped_ = true;
    if (ended_ == next_ && (next_ == points_ || stopped_)) signals_.cancel();
  }

  void judge(Worker& worker) const {
    WorkerReport& report = worker.report;
    if (worker.has_report) {
      if (report.kind == FailureKind::memory_limit && batch_.limits.memory_bytes != 0)
        report.failure = fmt::format("exceeded the memory limit of {}",
                                     format_quantity(Quantity::size, batch_.limits.memory_bytes));
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
    // A wait status: on_exit gets one number, which is either an exit code or a signal.
    const int status = worker.child.native_exit_code();
    if (WIFSIGNALED(status)) {
      const int signal = WTERMSIG(status);
      // Otherwise the user has killed it.
      const char* cause = signal == SIGKILL ? "; the machine was probably out of memory" : "";
      report.failure += fmt::format(" ({}{})", signal_name(signal), cause);
    } else if (WIFEXITED(status)) {
      report.failure += fmt::format(" (exit code {})", WEXITSTATUS(status));
    }
  }

  void stop(int signal) {
    signal_ = signal;
    stopped_ = true;
    for (const Worker& worker : workers_) {
      end_process(worker);
    }
  }

  std::string program_;
  std::size_t points_;
  const WorkerBatch& batch_;
  asio::io_context io_;
  asio::signal_set signals_;
  std::list<Worker> workers_;
  std::size_t next_ = 0;
  std::size_t ended_ = 0;
  bool stopped_ = false;
  int signal_ = 0;
};

// One write, so that the parent reads a whole line or none.
void write_line(const nlohmann::ordered_json& message) {
  const std::string line = message.dump() + "\n";
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t now = write(STDOUT_FILENO, line.data() + written, line.size() - written);
    if (now <= 0) return;
    written += static_cast<std::size_t>(now);
  }
}

}  // namespace

void write_worker_progress(double done) { write_line({{"progress", done}}); }

void write_worker_report(const PointReport& report) {
  nlohmann::ordered_json message;
  message["report"]["result"] = report.result;
  message["report"]["failure"] = report.failure;
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

int run_workers(const std::string& program, std::size_t points, std::size_t at_once,
                const WorkerBatch& batch) {
  return Batch(program, points, batch).run(std::max<std::size_t>(at_once, 1));
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

}  // namespace espalier
