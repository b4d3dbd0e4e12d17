#include "sims/study/workers.h"

#include <catch2/catch.hpp>
#include <csignal>

#include "sims/text/file_hashes.h"

using namespace espalier;
using Catch::Matchers::Contains;

namespace {

WorkerReport report_of_shell(const std::string& script) {
  WorkerReport report;
  WorkerBatch batch;
  batch.input = [&](std::size_t) { return script; };
  batch.progress = [](std::size_t, double) {};
  batch.finished = [&](std::size_t, const WorkerReport& of_worker) {
    report = of_worker;
    return true;
  };
  CHECK(run_workers({"/bin/sh"}, 1, 1, batch) == 0);
  return report;
}

}  // namespace

TEST_CASE("A worker that exits without a report is reported with its exit code") {
  for (const int code : {1, 2, 9, 127}) {
    const WorkerReport report = report_of_shell("exit " + std::to_string(code));
    CHECK(report.kind == FailureKind::crash);
    CHECK(report.failure ==
          "the simulation process ended without a result (exit code " + std::to_string(code) + ")");
  }
}

TEST_CASE("A worker that a signal ends is reported with the signal") {
  CHECK_THAT(report_of_shell("kill -SEGV $$").failure, Contains("(SIGSEGV)"));
  CHECK_THAT(report_of_shell("kill -KILL $$").failure,
             Contains("(SIGKILL; the machine was probably out of memory"));
}

TEST_CASE("A point that is certain to lose is not started, or is stopped when that is known") {
  std::vector<WorkerReport> reports(3);
  WorkerBatch batch;
  batch.input = [](std::size_t i) {
    const std::string progress = "echo '{\"progress\":0.5,\"at_least\":70}'; ";
    return progress +
           (i == 0 ? "echo '{\"report\":{\"result\":{},\"failure\":\"\"}}'" : "exec sleep 100");
  };
  batch.progress = [](std::size_t, double) {};
  batch.loses = [](std::size_t i, Cycle at_least) { return i == 2 || (i == 1 && at_least > 60); };
  batch.finished = [&](std::size_t i, const WorkerReport& report) {
    reports[i] = report;
    return true;
  };
  CHECK(run_workers({"/bin/sh"}, 3, 1, batch) == 0);
  CHECK_FALSE(reports[0].stopped);
  CHECK(reports[0].result.is_object());
  for (std::size_t i = 1; i < 3; ++i) {
    CHECK(reports[i].stopped);
    CHECK(reports[i].kind == FailureKind::none);
    CHECK(reports[i].result.is_null());
  }
}

TEST_CASE("A worker that runs is stopped when another one's report shows that it loses") {
  bool first_has_ended = false;
  WorkerReport second;
  WorkerBatch batch;
  batch.input = [](std::size_t i) { return std::string(i == 0 ? "sleep 0.2" : "exec sleep 100"); };
  batch.progress = [](std::size_t, double) {};
  batch.loses = [&](std::size_t i, Cycle) { return i == 1 && first_has_ended; };
  batch.finished = [&](std::size_t i, const WorkerReport& report) {
    if (i == 0) first_has_ended = true;
    if (i == 1) second = report;
    return true;
  };
  CHECK(run_workers({"/bin/sh"}, 2, 2, batch) == 0);
  CHECK(second.stopped);
}

TEST_CASE("A worker finds the file that changed since its parent read it") {
  const FileHashes before{{"a b.yaml", hash_text("1")}, {"graph", hash_text("2")}};
  CHECK(changed_file(to_words(before), before).empty());
  CHECK(changed_file(to_words(before), {{"graph", hash_text("2")}, {"new", 1}}).empty());
  CHECK(changed_file(to_words(before), {{"a b.yaml", hash_text("3")}}) == "a b.yaml");
}

TEST_CASE("A point that a signal ends does not count as done") {
  std::vector<double> told;
  WorkerBatch batch;
  batch.input = [](std::size_t i) {
    if (i == 1) std::raise(SIGINT);
    return std::string("echo '{\"progress\":0.25}'; exec sleep 100");
  };
  batch.progress = [&](std::size_t, double done) { told.push_back(done); };
  batch.finished = [](std::size_t, const WorkerReport&) { return true; };
  CHECK(run_workers({"/bin/sh"}, 3, 2, batch) == SIGINT);
  for (const double done : told) CHECK(done == 0.25);
}
