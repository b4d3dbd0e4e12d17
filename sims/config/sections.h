// Which sections an input has, and which of them may stand beside which.
#pragma once

#include "sims/config/given_keys.h"
#include "sims/config/reader.h"
#include "sims/point/config.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// Those that a run is made of: of two that exclude each other only one is set, with an error.
struct Sections {
  bool collective = false;
  bool traffic = false;
  bool training = false;
  bool coordination = false;
  bool workload = false;
  bool control = false;
  bool tenants = false;
  bool jitter = false;  // faults.dma_jitter

  // Makes those of the point that it has none of.
  void add_to(RunPoint& point) const;
};

[[nodiscard]] Sections choose_sections(const GivenKeys& given, ConfigNeed need,
                                       Diagnostics& diagnostics);

}  // namespace espalier
