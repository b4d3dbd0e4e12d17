#include "sims/system/authors_ni.h"

#include "sims/model/build_program.h"
#include "sims/point/config.h"

namespace espalier {

std::optional<AuthorsRules> authors_rules(const RunPoint& point, const ScheduleTables& tables) {
  const NiRules rules = point.system.ni.rules;
  if (rules == NiRules::linked) return std::nullopt;
  const Timestep second_half = posts_halves(tables.algorithm) ? tables.num_steps / 2 + 1 : 0;
  return AuthorsRules{takes_any_port(rules), second_half};
}

const SimulationHooks& LatePost::hooked(const SimulationHooks& hooks) {
  if (left_ == 0) return hooks;
  hooks_ = hooks;
  hooks_.delivered = [this, &hooks](const Operation& operation, Cycle now) {
    if (hooks.delivered) hooks.delivered(operation, now);
    if (!operation.is_background() && left_ != 0 && --left_ == 0) post(now + 1);
  };
  return hooks_;
}

void LatePost::post(Cycle at) {
  for (const LoadedNi& loaded : nis_) {
    loaded.engine->post(at);
    loaded.ni->wake_engine(at);
  }
}

}  // namespace espalier
