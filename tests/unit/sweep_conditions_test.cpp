// What `when`, `only` and `except` say of a point.
#include <catch2/catch.hpp>

#include "sims/config/reader.h"
#include "sims/study/sweep.h"
#include "sims/text/yaml_loader.h"

using namespace espalier;
using Catch::Matchers::Contains;

namespace {

constexpr const char* kPoint =
    "system: {topology: {type: mesh, dims: [2, 4]}, router: {vcs: 4}, ni: {ports: auto}, "
    "flow_control: {payload_bytes: 64}}\n"
    "collective: {algorithm: ring, size: 4KiB}\n";

ConfigNode node_of(const std::string& text, Diagnostics& diagnostics) {
  const auto node = load_yaml(text, diagnostics.add_file("sweep.yaml", text), diagnostics);
  REQUIRE(node);
  return *node;
}

bool is_so(const std::string& condition) {
  Diagnostics diagnostics;
  const RunPoint point = draft_run_point(node_of(kPoint, diagnostics));
  const Condition read = read_condition(node_of(condition, diagnostics), "only", diagnostics);
  INFO(diagnostics.text());
  REQUIRE(diagnostics.num_errors() == 0);
  return holds(read, point);
}

std::string error_of(const std::string& condition) {
  Diagnostics diagnostics;
  static_cast<void>(read_condition(node_of(condition, diagnostics), "only", diagnostics));
  return diagnostics.text();
}

}  // namespace

TEST_CASE("All of a mapping must hold, and any of a list") {
  CHECK(is_so("{collective.algorithm: ring, system.router.vcs: 4}"));
  CHECK_FALSE(is_so("{collective.algorithm: ring, system.router.vcs: 2}"));
  CHECK(is_so("[{system.router.vcs: 2}, {collective.algorithm: ring}]"));
  CHECK(is_so("{system.router.vcs: [2, 4]}"));
  CHECK_FALSE(is_so("{system.router.vcs: [2, 8]}"));
  CHECK(is_so("{system.topology.dims: [2, 4]}"));
  CHECK(is_so("{system.topology.dims: [[2, 2], [2, 4]]}"));
}

TEST_CASE("Values and keys compare by their order, whatever their unit") {
  CHECK(is_so("{collective.size: '>= 4KiB'}"));
  CHECK(is_so("{collective.size: '<4097B'}"));
  CHECK_FALSE(is_so("{collective.size: '> 4096B'}"));
  CHECK(is_so("{collective.size: '!= 4kB'}"));
  CHECK(is_so("{collective.size: '> system.flow_control.payload_bytes'}"));
  CHECK_FALSE(is_so("{system.router.vcs: '>= system.flow_control.payload_bytes'}"));
}

TEST_CASE("A word has no order, and a condition on a key without effect is false") {
  CHECK(is_so("{system.ni.ports: auto}"));
  CHECK_FALSE(is_so("{system.ni.ports: '< 4'}"));
  CHECK_FALSE(is_so("{system.ni.ports: '>= 1'}"));
  CHECK_FALSE(is_so("{traffic.injection_rate: '<= 1'}"));
  CHECK_FALSE(is_so("{collective.tree_order: '!= root'}"));
}

TEST_CASE("Conditions that cannot be evaluated are refused") {
  CHECK_THAT(error_of("{collective.algorithm: '> ring'}"), Contains("have no order"));
  CHECK_THAT(error_of("{collective.size: '> collective.algorithm'}"),
             Contains("cannot be compared"));
  CHECK_THAT(error_of("{system.router.vsc: 4}"), Contains("did you mean 'system.router.vcs'?"));
  CHECK_THAT(error_of("[]"), Contains("the list is empty"));
  CHECK_THAT(error_of("4"), Contains("expected a mapping"));
}
