// Collective programs as MSCCL XML documents (MSCCL-IR), the same bytes for the same program.
//
// Both generations of runtimes read them, as far as they agree: reduce_scatter is written as
// 'reducescatter', as the later one has it, and maxBytes is inclusive, as the later one takes it.
// read_msccl_xml() gives the program back but for
// - promises: they are a file of their own (promises_file.h);
// - lines of the file it came from;
// - offsets -1 that tell what a peer does, which are filled in (msccl_peer_fields.h).
#pragma once

#include <string>

#include "alg/program/program.h"

namespace espalier {

// Why there is no document for this program, as a sentence; empty where there is one.
[[nodiscard]] std::string unwritable_as_msccl_xml(const Program& program);
// Precondition: unwritable_as_msccl_xml(program) is empty.
[[nodiscard]] std::string write_msccl_xml(Program program);

}  // namespace espalier
