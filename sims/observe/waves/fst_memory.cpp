// Huge pages for the FST writer's buffer of 132 MiB. With pages of 4 KiB, the first touch of each
// page takes more time than writing the values.
#include <sys/mman.h>

#include <cstdlib>

namespace espalier {

namespace {
constexpr std::size_t kHugePage = std::size_t{1} << 21;
constexpr std::size_t kLarge = 16 * kHugePage;
}  // namespace

// The writer is compiled to call this instead of malloc. std::free and std::realloc accept the
// result.
extern "C" void* espalier_fst_malloc(std::size_t bytes);
extern "C" void* espalier_fst_malloc(std::size_t bytes) {
  if (bytes < kLarge) return std::malloc(bytes);
  void* memory = nullptr;
  if (posix_memalign(&memory, kHugePage, bytes) != 0) return nullptr;
  // A system without huge pages ignores the advice.
  (void)madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return memory;
}

}  // namespace espalier
