// The two formats hold the same: one stimulus into both, the FST converted by GTKWave's fst2vcd,
// and all values compared. Skipped by name where fst2vcd, or FST, is missing.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <random>
#include <sstream>
#include <tuple>
#include <vector>

#include "sims/observe/waves/wave_format.h"
#include "sims/observe/waves/wave_recorder.h"
#include "wave_folder.h"

using namespace espalier;
using namespace espalier::wave_test;

namespace {

// Time, name, value in full width.
using Triple = std::tuple<std::uint64_t, std::string, std::string>;

// True where the test has to be left out; ctest reads the word.
bool is_skipped() {
  if (!has_fst()) {
    fmt::print("skipped: this build has no FST\n");
    return true;
  }
  if (std::system("command -v fst2vcd > /dev/null 2>&1") == 0) return false;
  fmt::print("skipped: fst2vcd (gtkwave) is not installed\n");
  return true;
}

// A VCD as another program would read it. Of several values at one time the last counts, and a
// value that a signal has already is none.
class VcdReader {
 public:
  explicit VcdReader(const std::string& text) : in_(text) {
    std::string word;
    while (in_ >> word) read(word);
    take_changes();
  }

  std::string timescale;
  std::vector<Triple> triples;
  std::uint64_t end = 0;
  std::map<std::string, std::size_t> width;  // by name

 private:
  void read(const std::string& word) {
    if (word == "$scope") {
      in_ >> skipped_ >> skipped_;
      scopes_.push_back(skipped_);
      rest();
    } else if (word == "$upscope") {
      scopes_.pop_back();
      rest();
    } else if (word == "$var") {
      read_variable();
    } else if (word == "$timescale") {
      for (const std::string& piece : rest()) timescale += piece;
    } else if (word == "$dumpvars" || word == "$end") {
      // The values inside are values like others.
    } else if (word[0] == '$') {
      rest();
    } else if (word[0] == '#') {
      take_changes();
      end = std::stoull(word.substr(1));
    } else if (word[0] == 'b') {
      in_ >> skipped_;
      note(skipped_, word.substr(1));
    } else {
      note(word.substr(1), word.substr(0, 1));
    }
  }

  std::vector<std::string> rest() {
    std::vector<std::string> words;
    std::string word;
    while (in_ >> word && word != "$end") words.push_back(word);
    return words;
  }

  void read_variable() {
    const std::vector<std::string> words = rest();
    std::string name;
    for (const std::string& scope : scopes_) name += scope + ".";
    // With the range, which is a word of its own or not.
    for (std::size_t w = 3; w < words.size(); ++w) name += words[w];
    names_[words[2]].push_back(name);
    width[name] = std::stoul(words[1]);
  }

  void note(const std::string& code, const std::string& digits) {
    // Signals with equal values all along may share a code.
    for (const std::string& name : names_.at(code)) {
      const std::size_t missing = width.at(name) - digits.size();
      changes_[name] = std::string(missing, digits[0] == 'x' ? 'x' : '0') + digits;
    }
  }

  void take_changes() {
    for (const auto& [name, value] : changes_) {
      std::string& present = values_[name];
      if (present != value) triples.emplace_back(end, name, value);
      present = value;
    }
    changes_.clear();
  }

  std::istringstream in_;
  std::string skipped_;
  std::vector<std::string> scopes_;
  std::map<std::string, std::vector<std::string>> names_;  // by code
  std::map<std::string, std::string> changes_;             // at this time
  std::map<std::string, std::string> values_;
};

// The same for the same seed.
void write_stimulus(const std::string& path, std::uint64_t seed, std::uint64_t clock_hertz) {
  const EnumText op{"op", {"NOP", "REDUCE", "GATHER out", "a\\b {c} \"d\""}};
  const EnumText state{"state", {"asleep", "awake"}};
  std::mt19937_64 random(seed);
  const auto draw = [&](std::uint64_t below) { return random() % below; };
  WaveRecorder waves(path, clock_hertz);
  std::vector<std::pair<SignalId, unsigned>> signals;
  for (std::size_t node = 0; node < 6; ++node) {
    const std::string scope = fmt::format("net.ni_{}.", node);
    const auto add = [&](const std::string& name, unsigned bits, const EnumText* texts = nullptr) {
      signals.emplace_back(waves.add(scope + name, bits, texts), bits);
    };
    add("stalled", 1);
    add("dma.credits", 4);
    add("lockstep", 16);
    add("table_head", 64);
    add("odd", 33);
    add("op", 2, &op);
    add("wide_op", 8, &op);
    add("state", 1, &state);
    add("dma.state", 1, &state);
    waves.describe_scope(fmt::format("net.ni_{}", node), "NetworkInterface");
  }
  // Changes before and after what is recorded, too.
  waves.begin(100);
  Cycle now = 0;
  while (now < 4200) {
    const auto [signal, bits] = signals[draw(signals.size())];
    // Often small, and often the value from before.
    const std::uint64_t value = draw(3) == 0 ? random() : draw(3);
    if (draw(10) == 0) {
      waves.change_to_unknown(now, signal);
    } else {
      waves.change(now, signal, value & (~std::uint64_t{0} >> (64 - bits)));
    }
    if (draw(3) == 0) now += draw(4) == 0 ? draw(30) : 1;
  }
  waves.flush(4000);
  waves.finish(4000);
}

void compare(std::uint64_t seed, std::uint64_t clock_hertz) {
  const WaveFolder folder;
  const std::string vcd = folder.file("a.vcd");
  const std::string fst = folder.file("a.fst");
  fmt::print("seed {} at {} Hz\n", seed, clock_hertz);
  CAPTURE(seed, clock_hertz);
  write_stimulus(vcd, seed, clock_hertz);
  write_stimulus(fst, seed, clock_hertz);
  const std::string converted = folder.file("converted.vcd");
  REQUIRE(std::system(fmt::format("fst2vcd -o {} {}", converted, fst).c_str()) == 0);
  const VcdReader direct(folder.read("a.vcd"));
  const VcdReader back(folder.read("converted.vcd"));
  CHECK(direct.timescale == back.timescale);
  CHECK(direct.width == back.width);
  CHECK(direct.width.size() == 54);
  CHECK(direct.triples.size() > 1000);
  CHECK(direct.end == back.end);
  REQUIRE(direct.triples.size() == back.triples.size());
  for (std::size_t t = 0; t < direct.triples.size(); ++t) {
    if (direct.triples[t] != back.triples[t]) REQUIRE(direct.triples[t] == back.triples[t]);
  }
}

}  // namespace

TEST_CASE("VCD and FST of the same changes hold the same values at the same times") {
  if (is_skipped()) return;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    compare(seed, seed % 2 == 0 ? 1'000'000'000 : 700'000'001);
  }
}

TEST_CASE("Equal changes give equal files") {
  const WaveFolder folder;
  for (const std::string ending : {"vcd", "fst"}) {
    if (ending == "fst" && !has_fst()) continue;
    write_stimulus(folder.file("a." + ending), 3, 1'000'000'000);
    write_stimulus(folder.file("b." + ending), 3, 1'000'000'000);
    CHECK(folder.read("a." + ending) == folder.read("b." + ending));
    CHECK(!folder.read("a." + ending).empty());
  }
}
