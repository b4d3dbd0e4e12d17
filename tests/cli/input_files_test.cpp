// Every command that reads a file refuses what is not a file, says why, and names it.
#include <sys/stat.h>

#include <catch2/catch.hpp>

#include <filesystem>

#include "cli_test_support.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::Outcome;

namespace {

namespace fs = std::filesystem;

const std::string kSmallMesh = "system: {topology: {type: mesh, dims: [2, 2]}}\n";
const std::string kRing = "collective: {op: all_reduce, algorithm: ring, size: 4KiB}\n";

// A kind of input: `extension` of its files, and how a command comes to read one. `config` is a
// configuration in which FILE stands for the file; empty: the command line names the file itself.
struct Reader {
  const char* kind;
  const char* extension;
  std::string config;
  std::vector<std::string> command;  // FILE: the configuration, or else the file
};

std::vector<Reader> readers() {
  const std::string program = "collective: {op: custom, algorithm: program, size: 4KiB, program: ";
  return {
      {"configuration", ".yaml", "", {"check", "FILE"}},
      {"configuration of a sweep",
       ".yaml",
       "title: a sweep\nconfig: FILE\naxes: {collective.size: [1KiB]}\n",
       {"sweep", "plan", "FILE"}},
      {"schedule", ".json", "", {"check", "FILE"}},
      {"MSCCL document", ".xml", "", {"check", "FILE"}},
      {"chunk trace", ".trace", "", {"check", "FILE"}},
      {"program of a configuration",
       ".xml",
       kSmallMesh + program + "{file: FILE}}\n",
       {"check", "FILE"}},
      {"promises",
       ".txt",
       kSmallMesh + program +
           "{file: " ESPALIER_SOURCE_DIR
           "/tests/program/xml/valid/custom_to_next.xml, promises: FILE}}\n",
       {"check", "FILE"}},
      {"graph",
       ".yaml",
       "system: {topology: {type: file, file: FILE}}\n" + kRing,
       {"check", "FILE"}},
      {"anynet",
       ".txt",
       "system: {topology: {type: anynet, file: FILE}}\n" + kRing,
       {"check", "FILE"}},
      {"ASTRA-sim network",
       ".yml",
       "system: {topology: {type: astra_network, file: FILE}}\n" + kRing,
       {"check", "FILE"}},
      {"messages", ".csv", kSmallMesh + "traffic: {pattern: file, file: FILE}\n", {"run", "FILE"}},
      {"layers",
       ".csv",
       kSmallMesh + "collective: {op: all_reduce, algorithm: ring}\ntraining: {file: FILE}\n",
       {"run", "FILE"}},
      {"rank order",
       ".yaml",
       kSmallMesh + "collective: {op: all_reduce, algorithm: ring, size: 4KiB, rank_order: FILE}\n",
       {"check", "FILE"}},
      {"latencies", ".csv", "", {"reorder", "MESH", "--latency", "FILE"}},
      {"results", ".json", "", {"report", "FILE", "-o", "report.html"}},
      {"gathered results", ".jsonl", "", {"report", "FILE", "-o", "report.html"}},
      {"sweep", ".yaml", "", {"sweep", "plan", "FILE"}},
  };
}

class InputFiles {
 public:
  [[nodiscard]] std::string folder(const std::string& extension) const {
    const std::string path = files_.file("folder" + extension);
    fs::create_directory(path);
    return path;
  }
  [[nodiscard]] std::string device(const std::string& extension) const {
    const std::string path = files_.file("device" + extension);
    fs::create_symlink("/dev/zero", path);
    return path;
  }
  [[nodiscard]] std::string huge(const std::string& extension) const {
    const std::string path = files_.write("huge" + extension, "");
    fs::resize_file(path, (std::uintmax_t{1} << 30) + 1);  // sparse
    return path;
  }
  [[nodiscard]] std::string missing(const std::string& extension) const {
    return files_.file("missing" + extension);
  }

  [[nodiscard]] Outcome read(const Reader& reader, const std::string& file) const {
    std::string named = file;
    if (!reader.config.empty()) {
      std::string config = reader.config;
      config.replace(config.find("FILE"), 4, fs::path(file).filename().string());
      named = files_.write("config.yaml", config);
    }
    std::vector<std::string> command = reader.command;
    for (std::string& argument : command) {
      if (argument == "FILE") argument = named;
      if (argument == "MESH") argument = files_.write("mesh.yaml", kSmallMesh + kRing);
    }
    return test::espalier(command, files_.path().string());
  }

 private:
  test::TemporaryFolder files_;
};

void refused(const Outcome& outcome, const std::string& file, const std::string& what) {
  CAPTURE(file, outcome.err);
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err,
             Contains("error") && Contains(fs::path(file).filename().string()) && Contains(what));
}

}  // namespace

TEST_CASE("Every reader reports the reason why a file cannot be read") {
  for (const Reader& reader : readers()) {
    DYNAMIC_SECTION(reader.kind) {
      const InputFiles files;
      const std::string extension = reader.extension;
      const std::string missing = files.missing(extension);
      refused(files.read(reader, missing), missing, "cannot be read: No such file or directory");
      const std::string device = files.device(extension);
      refused(files.read(reader, device), device, "is a device");
      const std::string huge = files.huge(extension);
      refused(files.read(reader, huge), huge, "is too large; allowed are at most 1GiB");
      // `report` takes a folder for a sweep.
      if (reader.command.front() == "report") continue;
      const std::string folder = files.folder(extension);
      refused(files.read(reader, folder), folder, "is a folder");
    }
  }
}

TEST_CASE("A layer's name that is not UTF-8 has a place, and nothing is simulated") {
  const test::TemporaryFolder folder;
  folder.write("layers.csv",
               "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, "
               "Num Filter, Strides\nconv\xff, 8, 8, 3, 3, 4, 4, 1\n");
  const std::string config =
      folder.write("c.yaml", kSmallMesh +
                                 "collective: {op: all_reduce, algorithm: ring}\n"
                                 "training: {file: layers.csv}\n");
  const Outcome outcome = test::espalier({"run", config, "--json", "-"});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("layers.csv:2:5: error: this is not UTF-8 text"));
  CHECK(outcome.out.empty());
}

TEST_CASE("A word of the command line that is not UTF-8 is refused before any simulation") {
  const test::TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", test::kSmallConfig);
  const std::string word = folder.file("p\xf6");
  const std::vector<std::vector<std::string>> commands{{"run", config, "--json", word},
                                                       {"run", config, "--choices", word},
                                                       {"sweep", "run", config, "-o", word},
                                                       {"report", config, "-o", word},
                                                       {"list", word}};
  for (const auto& command : commands) {
    const Outcome outcome = test::espalier(command);
    CAPTURE(command, outcome.err);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err, Contains("p?: error: this word is not UTF-8"));
    CHECK(outcome.out.empty());
  }
}

TEST_CASE("Control characters of files reach no terminal") {
  const test::TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", test::kSmallConfig);
  const Outcome exported = test::espalier({"schedule", config, "-f", "json"});
  test::Json schedule = test::Json::parse(exported.out);
  schedule["algorithm"] = "x\x1b]0;title\x07\xc2\x9b";
  const std::string file = folder.write("schedule.json", schedule.dump());
  for (const char* command : {"run", "check", "explain"}) {
    const Outcome outcome = test::espalier({command, file});
    CAPTURE(command, outcome.out, outcome.err);
    CHECK(outcome.exit_code == 0);
    CHECK_THAT(outcome.out, Contains("x?]0;title??"));
    for (const char* control : {"\x1b", "\x07", "\xc2\x9b"})
      CHECK_THAT(outcome.out + outcome.err, !Contains(control));
  }
  const Outcome unknown = test::espalier({"list", "\x1b[31m"});
  CHECK(unknown.exit_code == 2);
  CHECK_THAT(unknown.err, !Contains("\x1b"));
}

TEST_CASE("A pipe that a configuration names is refused, because workers read it again") {
  const test::TemporaryFolder folder;
  REQUIRE(mkfifo(folder.file("pipe").c_str(), 0600) == 0);
  const std::string config = folder.write("c.yaml",
                                          "system: {topology: {type: file, file: pipe}}\n"
                                          "collective: {algorithm: ring, size: 4KiB}\n");
  const Outcome outcome = test::espalier({"run", config});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("is a pipe, which can be read only once"));
}

TEST_CASE("A pipe is read as a file is") {
  const std::string command = "printf '%s' '" + std::string(test::kSmallConfig) + "' | '" +
                              ESPALIER_PROGRAM + "' check /dev/stdin";
  const Outcome outcome = test::run_program("/bin/sh", {"-c", command});
  CAPTURE(outcome.err);
  CHECK(outcome.exit_code == 0);
}
