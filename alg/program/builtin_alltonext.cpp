// AllToNext (GC3, section 7.4): rank i's buffer goes to rank i + 1; the last one sends nothing and
// the first one gets nothing.
#include "alg/program/builtin_parts.h"

namespace espalier {

namespace {

ProgramSignature signature_of_next(const BuiltinRequest& request, const char* name,
                                   std::uint32_t chunks) {
  auto signature = signature_for(request, name, CollectiveOp::custom, chunks, false);
  for (std::uint32_t r = 1; r < request.ranks; ++r) {
    for (std::uint32_t k = 0; k < chunks; ++k) signature.promises.push_back({r, k, {{r - 1, k}}});
  }
  return signature;
}

}  // namespace

// Between servers every rank of the one carries a part to its counterpart of the other, so that all
// network links carry it.
Program build_alltonext(const BuiltinRequest& request) {
  const std::uint32_t per_server = request.ranks_per_server;
  const auto signature = signature_of_next(request, "gc3_alltonext", per_server);
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    constexpr std::uint32_t kLeaving = 0;  // chunks of scratch
    constexpr std::uint32_t kArriving = 1;
    for (std::uint32_t r = 0; r + 1 < request.ranks; ++r) {
      const std::uint32_t next = r + 1;
      if (next % per_server != 0) {
        tracer.chunk(r, ProgramBuffer::input, 0, per_server).copy(next, ProgramBuffer::output, 0);
        continue;
      }
      const std::uint32_t first = next - per_server;  // of this server
      for (std::uint32_t g = 0; g < per_server; ++g) {
        ChunkRef part = tracer.chunk(r, ProgramBuffer::input, g);
        if (first + g != r) part = part.copy(first + g, ProgramBuffer::scratch, kLeaving);
        if (g != 0) part = part.copy(next + g, ProgramBuffer::scratch, kArriving);
        part.copy(next, ProgramBuffer::output, g);
      }
    }
  });
}

Program build_alltonext_direct(const BuiltinRequest& request) {
  const auto signature = signature_of_next(request, "gc3_alltonext_direct", 1);
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    for (std::uint32_t r = 0; r + 1 < request.ranks; ++r) {
      tracer.chunk(r, ProgramBuffer::input, 0).copy(r + 1, ProgramBuffer::output, 0);
    }
  });
}

}  // namespace espalier
