// Collective programs from MSCCL XML documents (MSCCL-IR), strictly.
//
// Refused here, because no program comes of it: what is no well-formed XML, elements out of place
// (`<op>` among them), attributes that are missing, given twice or no value, collectives that
// Espalier has none of, gpu and tb elements that are missing or repeated, steps out of order, more
// blocks, steps and chunks than runtimes take, peers and channels that do not exist, chunk counts
// that do not fit the collective, half a dependency, a nop run that no dependency follows.
// Refused by certify_program(), which names the line, because it is a matter of what the program
// does: ranges of chunks, sends and receives without a peer, waits, owners and pairing of
// connections, deadlocks, races, and what the output holds.
// Ignored with a warning: unknown attributes and elements, text.
//
// Of the two generations of the format, a document with 'outofplace' is of the later one. The
// earlier one's maxBytes is exclusive and 2^27 where it is not given; Program::max_bytes is
// inclusive. An attribute of our own, 'root', may tell the root of a broadcast or reduce.
#pragma once

#include <optional>
#include <string>

#include "alg/program/program.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// `file_name` is for messages. Nothing where there are errors: all of the file, if not too many.
[[nodiscard]] std::optional<Program> read_msccl_xml(const std::string& file_name,
                                                    const std::string& text,
                                                    Diagnostics& diagnostics);

}  // namespace espalier
