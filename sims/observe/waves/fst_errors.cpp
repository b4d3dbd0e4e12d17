#include "sims/observe/waves/fst_errors.h"

#include <cerrno>
#include <cstdio>

namespace espalier {

namespace {
// The writer's calls have no argument that could lead here.
thread_local FstErrors* listener = nullptr;
}  // namespace

FstErrors::FstErrors() : outer_(listener) { listener = this; }
FstErrors::~FstErrors() { listener = outer_; }

// What the writer is compiled to call for fclose.
extern "C" int espalier_fst_fclose(std::FILE* stream);
extern "C" int espalier_fst_fclose(std::FILE* stream) {
  const bool failed_before = std::ferror(stream) != 0;
  errno = 0;
  const int result = std::fclose(stream);
  if (listener != nullptr) {
    // Why an earlier write failed is not kept; a full disk is what happens.
    if (result != 0 && errno != 0) listener->note(errno);
    if (failed_before) listener->note(ENOSPC);
  }
  return result;
}

}  // namespace espalier
