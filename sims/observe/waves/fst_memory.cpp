// The buffer of the FST writer, 132 MiB of which most runs use a few: touched for the first time in
// pages of 4 KiB, it costs more than what is written there. In huge pages, where the system has
// them for those who ask, this is a five-hundredth of the faults.
#include <sys/mman.h>

#include <cstdlib>

namespace espalier {

namespace {
constexpr std::size_t kHugePage = std::size_t{1} << 21;
constexpr std::size_t kLarge = 16 * kHugePage;
}  // namespace

// What the writer is compiled to call for malloc; std::free and std::realloc know what it returns.
extern "C" void* espalier_fst_malloc(std::size_t bytes);
extern "C" void* espalier_fst_malloc(std::size_t bytes) {
  if (bytes < kLarge) return std::malloc(bytes);
  void* memory = nullptr;
  if (posix_memalign(&memory, kHugePage, bytes) != 0) return nullptr;
  // A wish: without huge pages all goes on as before.
  (void)madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return memory;
}

}  // namespace espalier
