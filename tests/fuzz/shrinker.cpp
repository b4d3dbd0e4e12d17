#include "shrinker.h"

#include <algorithm>
#include <vector>

#include "shrink_steps.h"

namespace espalier::fuzz {

namespace {

using Steps = std::function<std::vector<FuzzCase>(const FuzzCase&)>;

class Shrinker {
 public:
  Shrinker(FuzzCase start, const StillFails& still_fails, std::size_t most_tries)
      : current_(std::move(start)), still_fails_(still_fails), tries_left_(most_tries) {}

  FuzzCase run() {
    bool simpler = true;
    while (simpler && tries_left_ != 0) {
      simpler = take(with_listed_messages);
      simpler |= remove_messages();
      for (const auto& steps : {with_fewer_faults, with_smaller_network, with_simpler_settings,
                                with_simpler_links, with_simpler_messages}) {
        simpler |= take(steps);
      }
    }
    return current_;
  }

 private:
  // Large runs of messages first, then single ones.
  bool remove_messages() {
    bool simpler = false;
    const std::size_t all = current_.point.traffic ? current_.point.traffic->messages.size() : 0;
    for (std::size_t length = all / 2; length > 0; length /= 2) {
      simpler |= take([length](const FuzzCase& from) { return with_fewer_messages(from, length); });
    }
    return simpler;
  }

  // Every step that leaves a failing case. After a success the list is made anew, and goes on where
  // it was: what was tried before that is left to the next round.
  bool take(const Steps& steps) {
    bool simpler = false;
    std::vector<FuzzCase> candidates = steps(current_);
    for (std::size_t c = 0; c < candidates.size() && tries_left_ != 0;) {
      --tries_left_;
      if (!still_fails_(candidates[c])) {
        ++c;
        continue;
      }
      simpler = true;
      current_ = candidates[c];
      candidates = steps(current_);
    }
    return simpler;
  }

  FuzzCase current_;
  const StillFails& still_fails_;
  std::size_t tries_left_;
};

}  // namespace

FuzzCase shrink(FuzzCase fuzz_case, const StillFails& still_fails, std::size_t most_tries) {
  return Shrinker(std::move(fuzz_case), still_fails, most_tries).run();
}

}  // namespace espalier::fuzz
