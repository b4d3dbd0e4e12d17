// Collective programs and their certificates for people.
#pragma once

#include <string>

#include "alg/program/program.h"
#include "alg/program/program_certifier.h"

namespace espalier {

// Every rank, block and step, a line each.
[[nodiscard]] std::string program_text(const Program& program);
// What the certifier found: numbers first, then a line for each violation.
[[nodiscard]] std::string certificate_text(const Program& program,
                                           const ProgramCertificate& certificate);

}  // namespace espalier
