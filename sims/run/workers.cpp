#include "sims/run/workers.h"

#include <fmt/format.h>

#include <atomic>
#include <boost/process.hpp>
#include <iostream>
#include <thread>

namespace espalier {

namespace {

PointReport run_worker(const std::string& program, const std::vector<std::string>& arguments,
                       const std::function<void(double)>& progress) {
  namespace bp = boost::process;
  PointReport report;
  report.failure = "the simulation process ended without a result";
  bp::ipstream output;
  std::error_code error;
  bp::child worker(program, bp::args(arguments), bp::std_out > output, bp::std_in < bp::null,
                   error);
  if (error) {
    report.failure = fmt::format("cannot start a simulation process: {}", error.message());
    return report;
  }
  std::string line;
  while (std::getline(output, line)) {
    const auto message = nlohmann::ordered_json::parse(line, nullptr, false);
    if (message.is_discarded()) continue;
    if (message.contains("progress")) progress(message["progress"].get<double>());
    if (message.contains("report")) {
      report.result = message["report"]["result"];
      report.failure = message["report"]["failure"].get<std::string>();
      // The last line. A worker started at the same time may hold the pipe open for longer.
      break;
    }
  }
  worker.wait(error);
  if (report.result.is_null() && worker.native_exit_code() != 0) {
    report.failure += fmt::format(" (wait status {})", worker.native_exit_code());
  }
  return report;
}

}  // namespace

void write_worker_progress(double done) {
  std::cout << nlohmann::ordered_json{{"progress", done}}.dump() << std::endl;
}

void write_worker_report(const PointReport& report) {
  nlohmann::ordered_json message;
  message["report"]["result"] = report.result;
  message["report"]["failure"] = report.failure;
  std::cout << message.dump() << std::endl;
}

std::vector<PointReport> run_workers(const std::string& program, std::size_t points,
                                     std::size_t at_once, const WorkerBatch& batch) {
  std::vector<PointReport> reports(points);
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stopped{false};
  const auto work = [&] {
    for (std::size_t i = next++; i < points && !stopped; i = next++) {
      reports[i] =
          run_worker(program, batch.arguments(i), [&](double done) { batch.progress(i, done); });
      batch.progress(i, 1.0);
      if (batch.finished && !batch.finished(i, reports[i])) stopped = true;
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < std::min(at_once, points); ++t) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  return reports;
}

}  // namespace espalier
