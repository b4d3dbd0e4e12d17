#include <catch2/catch.hpp>

#include "config_test_support.h"

namespace espalier {

using namespace config_test;

TEST_CASE("An override wins over the file and over a preset, and the last one wins") {
  const std::string text =
      "system: {preset: isca21, topology: {type: torus, dims: [4, 4]}, router: {vcs: 2}}\n" +
      kGoodCollective;
  CHECK(only_point(text).system.router.vcs == 2);
  CHECK(only_point(text, {"system.router.vcs=8"}).system.router.vcs == 8);
  CHECK(only_point(text, {"system.router.vcs=8", "system.router.vcs=3"}).system.router.vcs == 3);
  CHECK(only_point(text, {"system.ni.reduction.block_bytes=64"}).system.ni.reduction.block_bytes ==
        64);
  CHECK(only_point(text, {"system.preset=default"}).system.ni.reduction.mode ==
        ReductionMode::streaming);
}

TEST_CASE("Overrides take lists, units and words as a file does") {
  const ConfigResult result =
      read_run_config_text("o.yaml", kGoodSystem + kGoodCollective, "",
                           {"collective.size=[1MiB, 2MiB]", "collective.algorithm=[ring,multitree]",
                            "system.topology.dims=[2, 4]", "system.link.latency=100ns",
                            "simulation.check=false", "system.ni.ports=auto"});
  INFO(result.diagnostics);
  REQUIRE(result.ok);
  CHECK(result.points.size() == 4);
  CHECK(result.points[0].collective->algorithm == "ring");
  CHECK(result.points[1].collective->size == 2 * 1024 * 1024);
  CHECK(result.points[0].system.topology.numbers("dims") == std::vector<std::uint64_t>{2, 4});
  CHECK(result.points[0].system.link.latency_ps == 100'000);
  CHECK_FALSE(result.points[0].simulation.check);
  CHECK(result.topology->num_nodes() == 8);
}

TEST_CASE("Overrides supply what the file lacks, a section included") {
  const RunPoint point =
      only_point(kGoodSystem, {"collective.algorithm=ring", "collective.size=1KiB"});
  CHECK(point.collective->size == 1024);
  CHECK(only_point(kGoodSystem, {"traffic.seed=9"}).traffic->seed == 9);
}

TEST_CASE("An error in an override is shown in the override") {
  struct BadOverride {
    std::string marked;  // '@' before the character the caret points at
    const char* message;
    const char* hint;
  };
  const std::vector<BadOverride> cases{
      {"system.link.latency=@5", "'5' has no unit", "for example 150ns"},
      {"@system.link.latncy=5ns", "unknown key 'system.link.latncy'",
       "did you mean 'system.link.latency'?"},
      {"@system.link=5ns", "'system.link' is a section, not a key", "its keys: latency"},
      {"@nonsense=1", "unknown key 'nonsense'", "espalier schema"},
      {"@=1", "unknown key ''", "espalier schema"},
      {"@", "unknown key ''", "espalier schema"},
      {"system.router.vcs@", "no value is given", "system.router.vcs=VALUE"},
      {"system.router.vcs=@", "has no value", "integer, 1 to 32"},
      {"system.router.vcs=@010", "leading zero", "write 10"},
      {"system.router.vcs= @99", "99 is out of range", "1 to 32"},
      {"system.router.vcs=@[1, 2]", "expected one value, found a list",
       "axes: [{key: system.router.vcs, values: [...]}]"},
      {"collective.size=[1MiB, @2]", "'2' has no unit", "for example 16MiB"},
      {"collective.size=@[1MiB", "not valid YAML", "closing ']' is missing"},
      {"simulation.check=@yes", "'yes' is not true or false", "write true"},
      {"system.flow_control.payload_bytes=@250", "250 is not a multiple of the 16 B",
       "for example 256"},
      {"traffic.seed=@1", "both 'collective' and 'traffic' are given", "one of the two"},
      {"collective.algorithm=@multitre", "'multitre' is not a valid name for this key",
       "did you mean 'multitree'?"},
      {"system.router.vcs=@&a 4", "anchors are not supported", ""},
      {"collective.size=[1MiB,@\n2]", "an override must be a single line", ""},
      {"system.router.vcs=4 @\xff", "not UTF-8", ""},
  };
  for (const BadOverride& bad : cases) {
    const std::size_t at = bad.marked.find('@');
    const std::string assignment = bad.marked.substr(0, at) + bad.marked.substr(at + 1);
    const ConfigResult result =
        read_run_config_text("o.yaml", kGoodSystem + kGoodCollective, "", {assignment});
    INFO(assignment);
    INFO(result.diagnostics);
    CHECK_FALSE(result.ok);
    const auto all = parse_diagnostics(result.diagnostics);
    REQUIRE(all.size() == 1);
    CHECK(all[0].message.find(bad.message) != std::string::npos);
    CHECK(all[0].hint.find(bad.hint) != std::string::npos);
    CHECK(all[0].where.rfind("-s ", 0) == 0);
    CHECK(all[0].excerpt.rfind("-s ", 0) == 0);
    CHECK(all[0].caret_column == 3 + at + 1);
  }
}

TEST_CASE("Errors of file and overrides are reported together, the file's first") {
  const ConfigResult result = read_run_config_text(
      "o.yaml",
      "system: {topology: {type: torus, dims: [4, 4]}, router: {vcs: 99}}\n" + kGoodCollective, "",
      {"system.router.vcs=4", "simulation.chekc=true", "system.link.latency=1"});
  INFO(result.diagnostics);
  const auto all = parse_diagnostics(result.diagnostics);
  REQUIRE(all.size() == 3);
  CHECK(all[0].where == "o.yaml");
  CHECK(all[1].where == "-s simulation.chekc=true");
  CHECK(all[1].hint == "did you mean 'simulation.check'?");
  CHECK(all[2].where == "-s system.link.latency=1");
}

}  // namespace espalier
