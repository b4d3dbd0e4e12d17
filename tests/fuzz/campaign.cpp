#include "campaign.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "case_generator.h"
#include "failure_report.h"
#include "sims/process/work_folder.h"

namespace espalier::fuzz {

namespace {

using Clock = std::chrono::steady_clock;

// What the processes of a campaign share.
struct Board {
  std::atomic<std::uint64_t> next{0};  // case that nobody has taken yet
  std::atomic<std::uint64_t> done{0};
  std::atomic<std::uint64_t> failed{0};
  std::atomic<std::uint64_t> messages{0};
  std::atomic<std::uint64_t> flit_hops{0};
};

class SharedBoard {
 public:
  SharedBoard()
      : memory_(mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                     0)) {
    if (memory_ == MAP_FAILED) {
      throw std::system_error(errno, std::generic_category(), "no shared memory");
    }
    new (memory_) Board;
  }
  ~SharedBoard() { munmap(memory_, sizeof(Board)); }
  SharedBoard(const SharedBoard&) = delete;
  SharedBoard& operator=(const SharedBoard&) = delete;

  Board* operator->() { return static_cast<Board*>(memory_); }

 private:
  void* memory_;
};

class Campaign {
 public:
  explicit Campaign(const CampaignOptions& options) : options_(options) {}

  bool run() {
    std::vector<pid_t> workers;
    for (unsigned j = 0; j < options_.jobs; ++j) workers.push_back(start_worker());
    const bool good = wait_for(workers);
    say_progress("\n");
    fmt::print("{} cases of seed {}: {} messages, {} flit hops; {} failed\n", board_->done.load(),
               options_.seed, board_->messages.load(), board_->flit_hops.load(),
               board_->failed.load());
    return good && board_->failed == 0;
  }

 private:
  pid_t start_worker() {
    std::fflush(nullptr);  // a child must not print what is waiting in our buffers
    const pid_t child = fork();
    if (child < 0) throw std::system_error(errno, std::generic_category(), "no process");
    if (child != 0) return child;
    int code = 0;
    try {
      work();
    } catch (const std::exception& error) {
      fmt::print(stderr, "fidelity_fuzz: {}\n", error.what());
      code = 1;
    }
    std::fflush(nullptr);
    _exit(code);
  }

  void work() {
    const WorkFolder scratch;
    while (!ended()) {
      const std::uint64_t index = board_->next++;
      if (index >= options_.cases) return;
      run_case(options_.first + index, scratch.path());
      ++board_->done;
    }
  }

  [[nodiscard]] bool ended() {
    const std::chrono::duration<double> elapsed = Clock::now() - begin_;
    const bool time_over = options_.minutes > 0 && elapsed.count() > 60 * options_.minutes;
    return time_over || board_->failed >= options_.failures;
  }

  void run_case(std::uint64_t number, const std::filesystem::path& scratch) {
    const FuzzCase fuzz_case = draw_case(options_.seed, number);
    const Verdict verdict = compare_case(fuzz_case, options_.variants, scratch);
    board_->messages += verdict.messages;
    board_->flit_hops += verdict.flit_hops;
    if (verdict.kind == Verdict::Kind::same) return;
    ++board_->failed;
    const FailingCase failing{options_.seed, number, fuzz_case, verdict};
    report_failure(failing, options_.variants, scratch, options_.out, options_.shrink_tries);
  }

  bool wait_for(std::vector<pid_t> workers) {
    bool good = true;
    while (!workers.empty()) {
      int status = 0;
      const pid_t ended = waitpid(workers.back(), &status, WNOHANG);
      if (ended == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        say_progress("");
        continue;
      }
      good &= ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
      workers.pop_back();
    }
    return good;
  }

  void say_progress(const char* end) {
    if (isatty(STDERR_FILENO) != 1) return;
    const std::chrono::duration<double> elapsed = Clock::now() - begin_;
    fmt::print(stderr, "\r\x1b[K{} of {} cases, {} failed, {:.0f} s{}", board_->done.load(),
               options_.cases, board_->failed.load(), elapsed.count(), end);
    std::fflush(stderr);
  }

  const CampaignOptions& options_;
  SharedBoard board_;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace

bool run_campaign(const CampaignOptions& options) { return Campaign(options).run(); }

}  // namespace espalier::fuzz
