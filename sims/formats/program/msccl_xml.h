// Collective programs as MSCCL XML documents (MSCCL-IR), in both generations of the format.
#pragma once

#include <optional>
#include <string>

#include "alg/program/program.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// Reads a document strictly. `file_name` is for messages. Returns nullopt if there are errors; all
// of them are reported, up to a limit.
//
// Refused, because the document is not a program: broken XML; elements out of place (`<op>` among
// them); attributes that are missing, given twice or without a valid value; unsupported
// collectives; gpu and tb elements that are missing or repeated; steps out of order; more blocks,
// steps and chunks than runtimes take; peers and channels that do not exist; chunk counts that do
// not fit the collective; half a dependency; nops without a dependency behind them. Left to
// certify_program(), which names the line: ranges of chunks, sends and receives without a peer,
// waits, owners and pairing of connections, deadlocks, races, and the contents of the output.
// Ignored with a warning: unknown attributes and elements, text.
//
// A document with 'outofplace' is of the later generation. In the earlier one maxBytes is exclusive
// and 2^27 by default; Program::max_bytes is inclusive. Espalier adds the attribute 'root', the
// root of a broadcast or reduce.
[[nodiscard]] std::optional<Program> read_msccl_xml(const std::string& file_name,
                                                    const std::string& text,
                                                    Diagnostics& diagnostics);

// Why the program cannot be written as a document, as a sentence; empty if it can.
[[nodiscard]] std::string unwritable_as_msccl_xml(const Program& program);

// Writes a document, the same bytes for the same program. Precondition:
// unwritable_as_msccl_xml(program) is empty.
//
// Both generations of runtimes read the document, as far as they agree: reduce_scatter is written
// as 'reducescatter' and maxBytes is inclusive, as in the later one. read_msccl_xml() restores the
// program except for its promises (promises_file.h), the lines of its file, and offsets -1
// (fill_peer_fields).
[[nodiscard]] std::string write_msccl_xml(Program program);

// A send (s, rrs) may name the peer's target, a receive (r, rcs) the peer's source. Fills in these
// places if the program leaves them open (offset -1): from the peer's step, else from the step's
// own place. Precondition: peers are ranks of the program.
void fill_peer_fields(Program& program);

}  // namespace espalier
