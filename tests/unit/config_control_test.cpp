// The section `control`: what it means, where it may stand, and what is refused.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "config_test_support.h"
#include "sims/config/resolved.h"
#include "sims/point/fidelity.h"
#include "tests/support/resolved_yaml.h"

namespace espalier {

using namespace config_test;
using Catch::Matchers::Contains;

namespace {

std::string system_with(const std::string& body) {
  return "system:\n  topology: {type: torus, dims: [4, 4]}\n" + body;
}

TEST_CASE("Without the section there are no control messages, with it they have defaults") {
  CHECK_FALSE(only_point(kGoodSystem + kGoodCollective).control);
  const RunPoint point = only_point(kGoodSystem + kGoodCollective + "control: {seed: 1}\n");
  REQUIRE(point.control);
  CHECK(point.collective);
  CHECK(point.control->pattern == ControlPattern::uniform);
  CHECK(point.control->injection_rate == 0.01);
  CHECK(point.control->message_bytes == 16);
  CHECK(point.control->duration_cycles == 0);
  CHECK(point.control->vcs == ControlVcs::own);
  CHECK(point.control->vc_depth_flits == 0);
}

TEST_CASE("Every key of control messages is read, and resolved to itself") {
  const std::string text = kGoodSystem + kGoodCollective +
                           "control: {pattern: neighbor, injection_rate: 0.25, message: 64B, "
                           "duration_cycles: 5000, seed: 9, vcs: own, vc_depth_flits: 8}\n";
  const RunPoint point = only_point(text);
  CHECK(point.control->pattern == ControlPattern::neighbor);
  CHECK(point.control->injection_rate == 0.25);
  CHECK(point.control->message_bytes == 64);
  CHECK(point.control->duration_cycles == 5000);
  CHECK(point.control->seed == 9);
  CHECK(point.control->vc_depth_flits == 8);
  CHECK(resolved_yaml(only_point(resolved_yaml(point))) == resolved_yaml(point));
  CHECK(resolved_json(point).at("control").at("vc_depth_flits") == 8);
}

TEST_CASE("A list of VC kinds runs each of them, last of all lists") {
  const ConfigResult result = read_run_config_text(
      "good.yaml", kGoodSystem + "collective: {algorithm: multitree, size: [1MiB, 2MiB]}\n" +
                       "control: {vcs: [own, shared]}\n");
  REQUIRE(result.ok);
  REQUIRE(result.points.size() == 4);
  CHECK(result.points[0].control->vcs == ControlVcs::own);
  CHECK(result.points[1].control->vcs == ControlVcs::shared);
  CHECK(result.points[1].collective->size == 1 << 20);
  CHECK(result.points[2].collective->size == 2 << 20);
}

TEST_CASE("Control messages run flit by flit unless trains are asked for, which is refused") {
  CHECK(chosen_fidelity(only_point(kGoodSystem + kGoodCollective)) == Fidelity::train);
  CHECK(chosen_fidelity(only_point(kGoodSystem + kGoodCollective + "control: {seed: 1}\n")) ==
        Fidelity::cycle);
}

TEST_CASE("Control messages may run alone, on an idle network, for a time") {
  const RunPoint point = only_point(kGoodSystem + "control: {duration_cycles: 1000}\n");
  CHECK_FALSE(point.collective);
  CHECK_FALSE(point.traffic);
  CHECK(point.control->duration_cycles == 1000);
}

struct BadControl {
  const char* what;
  std::string input;
  const char* message;
  const char* hint;
};

TEST_CASE("Mistakes about control messages are reported at their place with the allowed values") {
  const std::string control = "control: {seed: 1}\n";
  const std::vector<BadControl> cases{
      {"beside traffic", kGoodSystem + "traffic: {pattern: uniform}\n@control: {seed: 1}\n",
       "both 'control' and 'traffic' are given", "with a collective"},
      {"alone without end", kGoodSystem + "@control: {seed: 1}\n",
       "control.duration_cycles: without a collective control messages need a duration",
       "for example"},
      {"alone with the collective's end", kGoodSystem + "control: {duration_cycles: @collective}\n",
       "need a duration", "for example"},
      {"too few VCs for a torus", system_with("  router: {vcs: @3}\n") + kGoodCollective + control,
       "control messages with their own VCs need 4 VCs on this network", "at least 4"},
      {"one VC shared on a torus",
       system_with("  router: {vcs: @1}\n") + kGoodCollective + "control: {vcs: shared}\n",
       "control messages with shared VCs need 2 VCs on this network", "at least 2"},
      {"one VC on a BiGraph",
       "system: {topology: {type: bigraph, nodes_per_switch: 2, switches: 4}, router: {vcs: "
       "@1}}\n" +
           kGoodCollective + control,
       "control messages with their own VCs need 2 VCs on this network: one of each VC class",
       "at least 2"},
      {"one VC shared on a dragonfly",
       "system: {topology: {type: dragonfly, nodes_per_switch: 1, group_size: 2, groups: 3}, "
       "router: {vcs: @1}}\n" +
           kGoodCollective + "control: {vcs: shared}\n",
       "control messages with shared VCs need 2 VCs on this network: one of each VC class",
       "at least 2"},
      {"wormhole gradients that hold the switch",
       system_with("  router: {switching: @wormhole}\n") + kGoodCollective + control,
       "would also block control messages",
       "write system.router.hold: flit, or system.router.switching: vct"},
      {"trains", kGoodSystem + kGoodCollective + control + "simulation: {fidelity: @train}\n",
       "train is not exact with control", "cycle, or auto"},
      {"misspelt", kGoodSystem + kGoodCollective + "control: {@patern: uniform}\n",
       "unknown key 'patern' in 'control'", "did you mean 'pattern'?"},
      {"empty", kGoodSystem + kGoodCollective + "@control:\n", "'control' is empty",
       "its keys: pattern"},
      {"a pattern of traffic", kGoodSystem + kGoodCollective + "control: {pattern: @transpose}\n",
       "control.pattern", "uniform"},
      {"a rate of nothing", kGoodSystem + kGoodCollective + "control: {injection_rate: @0}\n",
       "out of range", "0.000001 to 1"},
      {"a long message", kGoodSystem + kGoodCollective + "control: {message: @1MiB}\n",
       "out of range", "64KiB"},
      {"a VC without a slot", kGoodSystem + kGoodCollective + "control: {vc_depth_flits: @0}\n",
       "out of range", ""},
      {"a list of rates",
       kGoodSystem + kGoodCollective + "control: {injection_rate: @[0.1, 0.2]}\n",
       "expected one value, found a list", "axes: [{key: control.injection_rate"},
      {"a list of steps without steps",
       system_with("  ni: {lockstep: @[off, full]}\n") + "control: {duration_cycles: 10}\n",
       "found a list, but the key has no effect with 'control' alone", "no timesteps"},
  };
  for (const BadControl& bad : cases) {
    const Marked input = unmark(bad.input);
    const ConfigResult result = read_run_config_text("bad.yaml", input.text);
    INFO(bad.what << "\n" << result.diagnostics);
    CHECK_FALSE(result.ok);
    const auto printed = parse_diagnostics(result.diagnostics);
    const Printed* found = find_at(printed, input, bad.message);
    REQUIRE(found != nullptr);
    CHECK_THAT(found->hint, Contains(bad.hint));
  }
}

TEST_CASE("control.vc_depth_flits without own VCs has no effect, and a warning says so") {
  const ConfigResult result = read_run_config_text(
      "odd.yaml", kGoodSystem + kGoodCollective + "control: {vcs: shared, vc_depth_flits: 8}\n");
  CHECK(result.ok);
  CHECK(result.num_warnings == 1);
  CHECK_THAT(result.diagnostics, Contains("control.vc_depth_flits has no effect"));
}

TEST_CASE("A schedule needs a collective: control messages alone have none") {
  const ConfigResult result =
      read_run_config_text("alone.yaml", kGoodSystem + "control: {duration_cycles: 10}\n", "", {},
                           ConfigNeed::collective);
  CHECK_FALSE(result.ok);
  CHECK_THAT(result.diagnostics, Contains("missing section 'collective'"));
}

}  // namespace
}  // namespace espalier
