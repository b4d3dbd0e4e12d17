#include <fcntl.h>
#include <fmt/format.h>
#include <fstapi.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sims/observe/waves/output_file.h"
#include "sims/observe/waves/signal_tree.h"
#include "sims/observe/waves/wave_format.h"

namespace espalier {

// GTKWave's writer does not check whether its writes succeed, and it maps its temporary files. If a
// full disk has left a file shorter than its mapping, an access ends the process with SIGBUS. The
// writer is compiled to call the two functions below instead of fclose and mmap (cmake/fst.cmake).
// They store the first error for the format that wrote last in this thread.
namespace {
thread_local int* fst_error = nullptr;  // an errno; 0: no error

void note_fst_error(int number) {
  if (fst_error != nullptr && *fst_error == 0) *fst_error = number;
}

// Reserves the disk space of a mapping. Returns 0 or an errno.
int reserve(int file, off_t offset, std::size_t bytes) {
  struct stat status {};
  if (fstat(file, &status) != 0) return errno;
  if (status.st_size < offset + static_cast<off_t>(bytes)) return ENOSPC;  // a write has failed
  const int error = posix_fallocate(file, offset, static_cast<off_t>(bytes));
  // Not every file system can reserve space.
  return error == EINVAL || error == EOPNOTSUPP ? 0 : error;
}
}  // namespace

extern "C" int espalier_fst_fclose(std::FILE* stream);
extern "C" int espalier_fst_fclose(std::FILE* stream) {
  const bool failed_before = std::ferror(stream) != 0;
  errno = 0;
  const int result = std::fclose(stream);
  if (result != 0 && errno != 0) note_fst_error(errno);
  // The stream does not keep the reason of an earlier error; usually it is a full disk.
  if (failed_before) note_fst_error(ENOSPC);
  return result;
}

extern "C" void* espalier_fst_mmap(void* at, std::size_t bytes, int protection, int flags, int file,
                                   off_t offset);
extern "C" void* espalier_fst_mmap(void* at, std::size_t bytes, int protection, int flags, int file,
                                   off_t offset) {
  int error = reserve(file, offset, bytes);
  if (error == 0) {
    void* const mapped = mmap(at, bytes, protection, flags, file, offset);
    if (mapped != MAP_FAILED) return mapped;
    error = errno;
  }
  note_fst_error(error);
  // The writer cannot handle a failure, so it continues in anonymous memory until the format asks
  // for the error.
  return mmap(at, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

namespace {

class FstFormat final : public WaveFormat {
 public:
  explicit FstFormat(const std::string& path) : name_(path), hierarchy_(name_.name() + ".hier") {
    // The writer would remove a file of this name before it creates its own.
    std::error_code ignored;
    const auto kind = std::filesystem::status(path, ignored).type();
    if (kind != std::filesystem::file_type::regular &&
        kind != std::filesystem::file_type::not_found) {
      throw std::runtime_error(
          fmt::format("{}: cannot be written: it is not a regular file", path));
    }
    errno = 0;
    writer_ = fstWriterCreate(name_.name().c_str(), 1);
    if (writer_ == nullptr) throw_unwritable(path, errno == 0 ? EIO : errno);
    // No date, so that equal runs give equal files.
    fstWriterSetDate(writer_, "");
    fstWriterSetVersion(writer_, "espalier");
    fstWriterSetPackType(writer_, FST_WR_PT_LZ4);
  }
  ~FstFormat() override {
    if (fst_error == &error_) fst_error = nullptr;
    if (writer_ != nullptr) fstWriterClose(writer_);
    std::error_code ignored;
    if (signals_.empty()) std::filesystem::resize_file(name_.name(), 0, ignored);
  }
  FstFormat(const FstFormat&) = delete;
  FstFormat& operator=(const FstFormat&) = delete;

  void begin_header(int timescale, std::size_t num_signals) override {
    fstWriterSetTimescale(writer_, timescale);
    signals_.resize(num_signals);
  }
  void open_scope(const std::string& name, const std::string& component) override {
    fstWriterSetScope(writer_, FST_ST_VCD_MODULE, name.c_str(),
                      component.empty() ? nullptr : component.c_str());
  }
  void declare(SignalId id, const WaveSignal& signal) override {
    if (signal.texts != nullptr && !signal.texts->texts.empty()) {
      // Refers to the next declared variable.
      fstWriterEmitEnumTableRef(writer_, table(*signal.texts, signal.bits));
    }
    const std::string name =
        signal.bits == 1 ? signal.name : fmt::format("{} [{}:0]", signal.name, signal.bits - 1);
    signals_[id.index()] = {
        fstWriterCreateVar(writer_, FST_VT_VCD_WIRE, FST_VD_IMPLICIT, signal.bits, name.c_str(), 0),
        signal.bits};
  }
  void close_scope() override { fstWriterSetUpscope(writer_); }
  void end_header() override {
    // Fails before the simulation if the folder for temporary files has too little space for the
    // data that the writer keeps of every signal.
    std::uintmax_t needed = 0;
    for (const Signal& signal : signals_) needed += signal.bits + 4 * sizeof(std::uint32_t);
    std::error_code error;
    const auto space = std::filesystem::space(P_tmpdir, error);
    if (!error && space.available < needed) throw_unwritable(P_tmpdir, ENOSPC);
  }
  void time(std::uint64_t time) override {
    fst_error = &error_;
    fstWriterEmitTimeChange(writer_, time);
    if (error_ != 0) throw_unwritable(name_.target(), error_);
  }
  void value(SignalId id, WaveValue value) override {
    static constexpr const char* kUnknown =
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
    const Signal& signal = signals_[id.index()];
    if (!value.known) {
      fstWriterEmitValueChange(writer_, signal.handle, kUnknown);
      return;
    }
    std::array<char, kMostBits> text;
    write_binary(text.data(), value.bits, signal.bits);
    fstWriterEmitValueChange(writer_, signal.handle, text.data());
  }
  void close() override {
    fst_error = &error_;
    const bool seek_failed = fstWriterGetFseekFailed(writer_) != 0;
    fstWriterClose(std::exchange(writer_, nullptr));
    fst_error = nullptr;
    if (error_ == 0 && seek_failed) error_ = EIO;
    if (error_ == 0) error_ = name_.finish();
    if (error_ != 0) throw_unwritable(name_.target(), error_);
  }

 private:
  struct Signal {
    fstHandle handle = 0;
    unsigned bits = 1;
  };

  fstEnumHandle table(const EnumText& texts, unsigned bits) {
    fstEnumHandle& handle = tables_[{texts.name, bits}];
    if (handle != 0) return handle;
    std::vector<std::string> values(texts.texts.size(), std::string(bits, '0'));
    std::vector<const char*> value_pointers;
    std::vector<const char*> text_pointers;
    for (std::size_t v = 0; v < values.size(); ++v) {
      write_binary(values[v].data(), v, bits);
      value_pointers.push_back(values[v].c_str());
      text_pointers.push_back(texts.texts[v].c_str());
    }
    handle = fstWriterCreateEnumTable(writer_, texts.name.c_str(),
                                      static_cast<std::uint32_t>(values.size()), bits,
                                      text_pointers.data(), value_pointers.data());
    return handle;
  }

  UnfinishedFile name_;
  RemovedOnStop hierarchy_;                  // where the writer keeps the names of signals
  int error_ = 0;                            // an errno of the writer's files
  decltype(fstWriterCreate("", 1)) writer_;  // void*, or a distinct type in newer versions
  std::vector<Signal> signals_;
  std::map<std::pair<std::string, unsigned>, fstEnumHandle> tables_;  // by name and bits
};

}  // namespace

bool has_fst() { return true; }

std::unique_ptr<WaveFormat> open_fst(const std::string& path) {
  return std::make_unique<FstFormat>(path);
}

}  // namespace espalier
