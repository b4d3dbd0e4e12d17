// Value change dump (VCD), IEEE 1364: a text format that every viewer reads. The file has no date,
// so that equal runs give equal files. The format has no texts for values; gtkw_file.h writes them.
#pragma once

#include <string>
#include <vector>

#include "sims/observe/waves/output_file.h"
#include "sims/observe/waves/wave_format.h"

namespace espalier {

class VcdFormat final : public WaveFormat {
 public:
  // Throws std::runtime_error if the file cannot be written.
  explicit VcdFormat(const std::string& path);

  void begin_header(int timescale, std::size_t num_signals) override;
  void open_scope(const std::string& name, const std::string& component) override;
  void declare(SignalId id, const WaveSignal& signal) override;
  void close_scope() override;
  void end_header() override;
  void time(std::uint64_t time) override;
  void value(SignalId id, WaveValue value) override;
  void close() override;

 private:
  // Codes have digits of 94 characters, so five digits hold 32 bits.
  static constexpr unsigned kLongestCode = 5;

  struct Signal {
    char code[kLongestCode];
    unsigned char length = 0;  // of the code
    unsigned char bits = 1;
  };

  void end_initial_values();

  OutputFile file_;
  std::vector<Signal> signals_;
  std::size_t num_times_ = 0;
};

}  // namespace espalier
