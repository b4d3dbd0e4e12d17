// The option of `run` that makes a timeline, and what it asks for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sims/observe/timeline/timeline_session.h"
#include "sims/point/config.h"

namespace CLI {
class App;
}

namespace espalier {

// `file`: empty where there is to be none.
void add_timeline_option(CLI::App& app, std::string& file);

// What is wrong with the option for runs of these points; empty where nothing is.
[[nodiscard]] std::string timeline_mistake(const std::string& file,
                                           const std::vector<const RunPoint*>& points);

// Precondition: no mistake, a file. Throws as TimelineSession.
[[nodiscard]] std::unique_ptr<TimelineSession> timeline_session(const std::string& file,
                                                                const RunPoint& point);

}  // namespace espalier
