// What becomes of waveforms that cannot be written.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "sims/observe/waves/wave_format.h"
#include "sims/observe/waves/wave_recorder.h"
#include "wave_folder.h"

using namespace espalier;
using namespace espalier::wave_test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

constexpr std::uint64_t kWaveClock = 1'000'000'000;

// Some hundred kilobytes in either format. Throws where they cannot be written.
void write_noise(const std::string& path) {
  WaveRecorder waves(path, kWaveClock);
  const SignalId noise = waves.add("net.noise", 64);
  waves.begin();
  std::mt19937_64 random(5);
  for (Cycle cycle = 0; cycle < 30000; ++cycle) waves.change(cycle, noise, random());
  finish(waves, 30000);
}

// So many signals that what the FST writer keeps of each one exceeds a small limit of a file.
void write_many_signals(const std::string& path) {
  WaveRecorder waves(path, kWaveClock);
  std::vector<SignalId> signals;
  for (int s = 0; s < 20'000; ++s) signals.push_back(waves.add("net.s" + std::to_string(s), 64));
  waves.begin();
  for (const SignalId signal : signals) waves.change(0, signal, 1);
  finish(waves, 10);
}

// The message of the error, empty where there is none, in a process whose files may not grow
// further than that many bytes.
using WriteWaves = void (*)(const std::string& path);
std::string error_with_limit(const std::string& path, rlim_t bytes, const std::string& report,
                             WriteWaves write = write_noise) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      write(path);
    } catch (const std::runtime_error& error) {
      std::ofstream(report) << error.what();
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status)) return "the process was ended by a signal";
  std::ifstream in(report);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("Waveforms have a format that their file's ending names") {
  for (const char* path : {"run.lxt", "run", "vcd", "run.vcd.gz", ""}) {
    CAPTURE(path);
    CHECK_THROWS_AS(WaveRecorder(path, kWaveClock), std::invalid_argument);
  }
  CHECK_THROWS_WITH(WaveRecorder("run.lxt", kWaveClock),
                    "run.lxt: the name of a waveform file must end in .vcd or .fst");
}

TEST_CASE("Waveforms in a missing folder are refused before the run") {
  const std::string vcd = "/nonexistent/run.vcd";
  CHECK_THROWS_WITH(WaveRecorder(vcd, kWaveClock),
                    vcd + ": cannot be written: No such file or directory");
  if (!has_fst()) return;
  const std::string fst = "/nonexistent/run.fst";
  CHECK_THROWS_WITH(WaveRecorder(fst, kWaveClock),
                    fst + ": cannot be written: No such file or directory");
}

TEST_CASE("A folder is not overwritten by waveforms, and a device not removed") {
  const WaveFolder folder;
  for (const char* name : {"run.vcd", "run.fst"}) {
    if (std::string(name) == "run.fst" && !has_fst()) continue;
    std::filesystem::create_directory(folder.file(name));
    CHECK_THROWS_AS(WaveRecorder(folder.file(name), kWaveClock), std::runtime_error);
    CHECK(std::filesystem::is_directory(folder.file(name)));
  }
  if (!has_fst()) return;
  std::filesystem::create_symlink("/dev/null", folder.file("device.fst"));
  CHECK_THROWS_AS(WaveRecorder(folder.file("device.fst"), kWaveClock), std::runtime_error);
}

TEST_CASE("A build without FST names the packages to install") {
  if (has_fst()) return;
  CHECK_THROWS_WITH(WaveRecorder("run.fst", kWaveClock), Contains("verilator") && Contains(".vcd"));
}

TEST_CASE("A full disk is an error of the waveform, with path and reason") {
  const WaveFolder folder;
  SECTION("VCD, on a device that is always full") {
    const std::string path = folder.file("full.vcd");
    std::filesystem::create_symlink("/dev/full", path);
    CHECK_THROWS_WITH(write_noise(path), path + ": cannot be written: No space left on device");
  }
  for (const char* name : {"limited.vcd", "limited.fst"}) {
    if (std::string(name) == "limited.fst" && !has_fst()) continue;
    const std::string path = folder.file(name);
    const std::string report = folder.file("error.txt");
    CHECK_THAT(error_with_limit(path, 100'000, report), StartsWith(path + ": cannot be written: "));
    std::filesystem::remove(report);
    CHECK(error_with_limit(path, 100'000'000, report).empty());
  }
}

TEST_CASE("A disk without room for the FST writer's temporary files ends no process by a signal") {
  if (!has_fst()) return;
  const WaveFolder folder;
  const std::string path = folder.file("many.fst");
  const std::string report = folder.file("error.txt");
  CHECK_THAT(error_with_limit(path, 100'000, report, write_many_signals),
             StartsWith(path + ": cannot be written: "));
  std::filesystem::remove(report);
  CHECK(error_with_limit(path, 100'000'000, report, write_many_signals).empty());
}

TEST_CASE("An abandoned waveform keeps the changes written before") {
  const WaveFolder folder;
  for (const char* name : {"left.vcd", "left.fst"}) {
    if (std::string(name) == "left.fst" && !has_fst()) continue;
    {
      WaveRecorder waves(folder.file(name), kWaveClock);
      const SignalId a = waves.add("a", 1);
      waves.begin();
      for (Cycle cycle = 0; cycle < 100; ++cycle) waves.change(cycle, a, cycle % 2);
      waves.flush(100);
    }
    CHECK(std::filesystem::file_size(folder.file(name)) > 200);
    CHECK(!std::filesystem::exists(folder.file(std::string(name) + ".hier")));
  }
}
