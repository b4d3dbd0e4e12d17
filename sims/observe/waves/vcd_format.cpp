#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "sims/observe/waves/output_file.h"
#include "sims/observe/waves/wave_format.h"

namespace espalier {

namespace {

class VcdFormat final : public WaveFormat {
 public:
  explicit VcdFormat(const std::string& path) : file_(path) {}

  void begin_header(int timescale, std::size_t num_signals) override {
    file_.append("$version espalier $end\n");
    file_.append(fmt::format("$timescale 1 {} $end\n", timescale == -9 ? "ns" : "ps"));
    signals_.resize(num_signals);
  }
  void open_scope(const std::string& name, const std::string& /*component*/) override {
    file_.append(fmt::format("$scope module {} $end\n", name));
  }
  void declare(SignalId id, const WaveSignal& signal) override {
    // A code is a number whose digits are the printable characters from ! to ~.
    constexpr SignalId::value_type kDigits = '~' - '!' + 1;
    Signal& mine = signals_[id.index()];
    mine.bits = static_cast<unsigned char>(signal.bits);
    SignalId::value_type rest = id.value();
    do {
      mine.code[mine.length++] = static_cast<char>('!' + rest % kDigits);
      rest /= kDigits;
    } while (rest != 0);
    const std::string range = signal.bits == 1 ? "" : fmt::format(" [{}:0]", signal.bits - 1);
    file_.append(fmt::format("$var wire {} {} {}{} $end\n", signal.bits,
                             std::string_view(mine.code, mine.length), signal.name, range));
  }
  void close_scope() override { file_.append("$upscope $end\n"); }
  void end_header() override { file_.append("$enddefinitions $end\n"); }
  void time(std::uint64_t time) override {
    ++num_times_;
    end_initial_values();
    file_.append(fmt::format(FMT_STRING("#{}\n"), time));
    if (num_times_ == 1) file_.append("$dumpvars\n");
  }
  void value(SignalId id, WaveValue value) override {
    constexpr std::size_t kLongestLine = 1 + 64 + 1 + kLongestCode + 1;
    const Signal& signal = signals_[id.index()];
    char* const line = file_.room(kLongestLine);
    char* end = line;
    if (signal.bits != 1) *end++ = 'b';
    if (!value.known) {
      *end++ = 'x';
    } else {
      // Readers extend values with zeros on the left, so leading zeros are left out.
      const unsigned digits = significant_bits(value.bits);
      write_binary(end, value.bits, digits);
      end += digits;
    }
    if (signal.bits != 1) *end++ = ' ';
    std::memcpy(end, signal.code, kLongestCode);
    end += signal.length;
    *end++ = '\n';
    file_.used(static_cast<std::size_t>(end - line));
  }
  void close() override {
    ++num_times_;
    end_initial_values();
    file_.close();
  }

 private:
  // Codes have digits of 94 characters, so five digits hold 32 bits.
  static constexpr unsigned kLongestCode = 5;

  struct Signal {
    char code[kLongestCode];
    unsigned char length = 0;  // of the code
    unsigned char bits = 1;
  };

  void end_initial_values() {
    if (num_times_ == 2) file_.append("$end\n");
  }

  OutputFile file_;
  std::vector<Signal> signals_;
  std::size_t num_times_ = 0;
};
}  // namespace

std::unique_ptr<WaveFormat> open_vcd(const std::string& path) {
  return std::make_unique<VcdFormat>(path);
}

}  // namespace espalier
