#include "sims/observe/waves/gtkw_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "sims/observe/waves/output_file.h"

namespace espalier {

namespace {

namespace fs = std::filesystem;

// GTKWave's flags for a line.
constexpr std::uint64_t kHex = 0x2;
constexpr std::uint64_t kDecimal = 0x4;
constexpr std::uint64_t kBinary = 0x8;
constexpr std::uint64_t kRightJustify = 0x20;
constexpr std::uint64_t kBlank = 0x200;
constexpr std::uint64_t kCollapsed = 0x1000;
constexpr std::uint64_t kFileFilter = 0x2000;
constexpr std::uint64_t kAnalogStep = 0x8000;
constexpr std::uint64_t kAnalogStretch = 0x20000;
constexpr std::uint64_t kAnalogFullScale = 0x80000;
constexpr std::uint64_t kClosed = 0x400000;
constexpr std::uint64_t kGroupBegin = 0x800000;
constexpr std::uint64_t kGroupEnd = 0x1000000;
constexpr std::uint64_t kEnum = 0x100000000;

// A save file names itself and other files. GTKWave takes the relative path from the first name to
// the second, and applies it to the real place of the save file. The folder in the names is
// therefore arbitrary.
constexpr const char* kFolder = "/waves/";

// Size of the window, and a safe estimate of the width that remains for the waves.
constexpr int kWindowWidth = 1400;
constexpr int kWindowHeight = 800;
constexpr int kTreeWidth = 220;
constexpr int kSignalsWidth = 320;
constexpr double kWavesWidth = 760;
// GTKWave counts its zoom in units of this many pixels.
constexpr double kFrameWidth = 200;

constexpr int kAnalogRows = 3;

void write_file(const std::string& path, const std::string& text) {
  OutputFile file(path);
  file.append(text);
  file.close();
}

class Save {
 public:
  explicit Save(const GtkwView& view)
      : view_(view),
        clock_(view.clock_hertz),
        waves_name_(fs::path(view.waves).filename().string()),
        filter_folder_(waves_name_ + ".flt"),
        is_vcd_(fs::path(view.waves).extension() == ".vcd") {}

  std::string write() {
    put_head();
    for (const GtkwGroup& group : view_.groups) put(group);
    std::string path = view_.waves + ".gtkw";
    write_file(path, text_);
    return path;
  }

 private:
  void put_head() {
    text_ +=
        fmt::format("[dumpfile] \"{0}{1}\"\n[savefile] \"{0}{1}.gtkw\"\n", kFolder, waves_name_);
    const std::uint64_t first = clock_.time(view_.first);
    const std::uint64_t end = clock_.time(std::max(view_.first, view_.end));
    text_ += fmt::format("[timestart] {}\n[size] {} {}\n", first, kWindowWidth, kWindowHeight);
    // The zoom: frames per unit of time, as a power of two. Then the primary marker; -1: none.
    const double length = static_cast<double>(std::max<std::uint64_t>(end - first, 1));
    const std::string marker =
        view_.marker ? fmt::format("{}", clock_.time(*view_.marker)) : std::string("-1");
    text_ += fmt::format("*{:.6f} {}\n", std::log2(kWavesWidth / kFrameWidth / length), marker);
    std::set<std::string> scopes;
    for (const GtkwGroup& group : view_.groups) {
      for (const GtkwSignal& signal : group.signals) {
        const std::size_t dot = signal.path.find('.');
        if (dot == std::string::npos || !scopes.insert(signal.path.substr(0, dot)).second) continue;
        text_ += fmt::format("[treeopen] {}.\n", signal.path.substr(0, dot));
      }
    }
    text_ += fmt::format("[sst_width] {}\n[signals_width] {}\n[sst_expanded] 1\n", kTreeWidth,
                         kSignalsWidth);
  }
  void put(const GtkwGroup& group) {
    put_flags(kGroupBegin | kBlank | (group.open ? 0 : kClosed));
    text_ += fmt::format("-{}\n", group.title);
    for (const GtkwSignal& signal : group.signals) put(signal);
    put_flags(kGroupEnd | kBlank | (group.open ? 0 : kClosed | kCollapsed));
    text_ += "-group_end\n";
  }
  void put(const GtkwSignal& signal) {
    const bool is_line = signal.bits == 1;
    const bool is_curve = !is_line && signal.display == GtkwDisplay::analog_step;
    if (!is_line && signal.display == GtkwDisplay::enum_text) {
      put_texts(signal);
    } else if (is_line || signal.display == GtkwDisplay::binary) {
      put_flags(kBinary | kRightJustify);
    } else {
      const std::uint64_t radix = signal.display == GtkwDisplay::hex ? kHex : kDecimal;
      put_flags(radix | kRightJustify | (is_curve ? kAnalogStep | kAnalogFullScale : 0));
    }
    put_name(signal);
    if (!is_curve) return;
    // Empty rows that the curve above extends into.
    put_flags(kAnalogStretch);
    for (int row = 1; row < kAnalogRows; ++row) text_ += "-\n";
  }
  void put_texts(const GtkwSignal& signal) {
    if (signal.texts == nullptr) {
      throw std::invalid_argument(fmt::format("signal {}: has no texts to show", signal.path));
    }
    if (!is_vcd_) return put_flags(kEnum | kBinary | kRightJustify);
    // GTKWave looks up the digits as it would show them, so each width needs a file of its own.
    const std::string name = fmt::format("{}_{}.txt", signal.texts->name, signal.bits);
    if (filters_.insert(name).second) write_filter(name, signal);
    put_flags(kFileFilter | kBinary | kRightJustify);
    text_ += fmt::format("^1 {}{}/{}\n", kFolder, filter_folder_, name);
  }
  void write_filter(const std::string& name, const GtkwSignal& signal) {
    std::string lines;
    std::string value(signal.bits, '0');
    for (std::size_t v = 0; v < signal.texts->texts.size(); ++v) {
      write_binary(value.data(), v, signal.bits);
      lines += fmt::format("{} {}\n", value, signal.texts->texts[v]);
    }
    const fs::path folder = fs::path(view_.waves).parent_path() / filter_folder_;
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw_unwritable(folder.string(), error.value());
    write_file((folder / name).string(), lines);
  }
  void put_flags(std::uint64_t flags) { text_ += fmt::format("@{:x}\n", flags); }
  void put_name(const GtkwSignal& signal) {
    text_ += signal.path;
    if (signal.bits > 1) text_ += fmt::format("[{}:0]", signal.bits - 1);
    text_ += '\n';
  }

  const GtkwView& view_;
  WaveClock clock_;
  std::string waves_name_;
  std::string filter_folder_;
  bool is_vcd_;
  std::string text_;
  std::set<std::string> filters_;  // filter files that are written already
};

}  // namespace

std::string write_gtkw_file(const GtkwView& view) { return Save(view).write(); }

}  // namespace espalier
