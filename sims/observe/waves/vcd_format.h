// Value change dump, IEEE 1364: text that every viewer reads. It carries no date, so that equal
// runs give equal files. The format has no texts for values; gtkw_file.h writes them.
#pragma once

#include <string>
#include <vector>

#include "sims/observe/waves/output_file.h"
#include "sims/observe/waves/wave_format.h"

namespace espalier {

class VcdFormat final : public WaveFormat {
 public:
  // Throws std::runtime_error where the file cannot be written.
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
  // Codes use 94 characters: five of them hold 32 bits.
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
