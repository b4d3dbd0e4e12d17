// The page as one self-contained HTML file.
#pragma once

#include <string>
#include <vector>

#include "sims/report/page/section.h"

namespace espalier::report {

// `title` is plain text, `version` the tool's. Sections without content are named together with the
// reason.
[[nodiscard]] std::string page_html(const std::string& title, const std::string& version,
                                    const std::vector<Section>& sections);

}  // namespace espalier::report
