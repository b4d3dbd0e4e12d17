// The values of one axis, listed or from a range.
#include <catch2/catch.hpp>
#include <ctime>
#include <nlohmann/json.hpp>

#include "sims/study/axis_values.h"
#include "sims/text/yaml_loader.h"

using namespace espalier;
using Catch::Matchers::Contains;
using Values = std::vector<std::string>;

namespace {

struct SweptAxis {
  Values values;
  std::string errors;
};

// `text`: the axis' mapping, without its key.
SweptAxis axis_of(const std::string& key, const std::string& text, bool may_repeat = false) {
  Diagnostics diagnostics;
  const SourceIndex source = diagnostics.add_file("sweep.yaml", text);
  const auto node = load_yaml(text, source, diagnostics);
  REQUIRE(node);
  const StrictMap map(*node, "axis", {"values", "from", "to", "step", "factor"}, diagnostics);
  SweptAxis axis;
  for (const ConfigNode& value :
       read_axis_values(map, "axis", *find_key(key), may_repeat, diagnostics))
    axis.values.push_back(text_of(json_of(value)));
  axis.errors = diagnostics.text();
  return axis;
}

}  // namespace

TEST_CASE("Steps and factors count decimals exactly, and meet their end") {
  const std::string rate = "traffic.injection_rate";
  CHECK(axis_of(rate, "{from: 0.1, to: 0.7, step: 0.1}").values ==
        Values{"0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7"});
  CHECK(axis_of(rate, "{from: 0.1, to: 0.121, factor: 1.1}").values ==
        Values{"0.1", "0.11", "0.121"});
  CHECK(axis_of("collective.size", "{from: 1kB, to: 1331B, factor: 1.1}").values ==
        Values{"1kB", "1100B", "1210B", "1331B"});
  CHECK(axis_of("collective.size", "{from: 1kB, to: 1400B, factor: 1.1}").values ==
        Values{"1kB", "1100B", "1210B", "1331B"});
  CHECK(axis_of("collective.size", "{from: 8B, to: 27B, factor: 1.5}").values ==
        Values{"8B", "12B", "18B", "27B"});
  CHECK(axis_of("system.router.vcs", "{from: 1, to: 9, factor: 1000000000}").values == Values{"1"});
  CHECK(axis_of("simulation.seed", "{from: 1, to: 18446744073709551615, factor: 1000000000}")
            .values == Values{"1", "1000000000", "1000000000000000000"});
}

TEST_CASE("A factor that gives a fraction of a unit is refused with the exact value") {
  const SweptAxis axis = axis_of("collective.size", "{from: 1kB, to: 16kB, factor: 1.1}");
  CHECK(axis.values.empty());
  CHECK_THAT(axis.errors, Contains("1464.1 is not a whole number of the key's units"));
  for (const std::string factor : {"1", "0.5", "0", "-2", "2000000000"}) {
    CAPTURE(factor);
    CHECK_THAT(axis_of("collective.size", "{from: 1kB, to: 16kB, factor: " + factor + "}").errors,
               Contains("axis.factor: "));
  }
}

TEST_CASE("A word cannot be an end of a range") {
  for (const std::string text : {"{from: auto, to: 4, step: 1}", "{from: 1, to: auto, step: 1}"}) {
    const SweptAxis axis = axis_of("system.ni.ports", text);
    CHECK(axis.values.empty());
    CHECK_THAT(axis.errors, Contains("'auto' is not a number"));
  }
  CHECK(axis_of("system.ni.ports", "{values: [auto, 1]}").values == Values{"auto", "1"});
}

TEST_CASE("A value may be listed once, in whatever form, unless repeats are allowed") {
  CHECK_THAT(axis_of("collective.size", "{values: [1KiB, 2KiB, 1024B]}").errors,
             Contains("1024B is in the list twice"));
  CHECK_THAT(axis_of("system.topology.dims", "{values: [[2, 2], [2, 4], [2, 2]]}").errors,
             Contains("[2, 2] is in the list twice"));
  CHECK(axis_of("collective.size", "{values: [1KiB, 1024B]}", true).values ==
        Values{"1KiB", "1024B"});
}

TEST_CASE("An axis of many values is read in a time of their number, not its square") {
  std::string text = "{values: [0";
  for (int i = 1; i < 100'000; ++i) text += ", " + std::to_string(i);
  const std::clock_t begin = std::clock();
  CHECK(axis_of("simulation.seed", text + "]}").values.size() == 100'000);
  // Each against each takes a quarter of a minute and more, this a fraction of a second.
  CHECK(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC < 8);
}

TEST_CASE("Lists of mappings are values like others, each once and in no order") {
  const std::string late = "faults.late_nis";
  CHECK(axis_of(late, "{values: [none, [{node: 5, cycles: 2000}]]}").values ==
        Values{"none", "[{node: 5, cycles: 2000}]"});
  CHECK_THAT(axis_of(late, "{values: [[{node: 5, cycles: 9}], [{cycles: 9, node: 5}]]}").errors,
             Contains("is in the list twice"));
  CHECK_THAT(axis_of(late, "{values: [[{node: 5}]]}").errors,
             Contains("missing key 'faults.late_nis.cycles'"));
  CHECK_THAT(axis_of(late, "{from: 1, to: 2, step: 1}").errors, Contains("are not numbers"));
  CHECK(axis_of("faults.dma_jitter.max_cycles", "{from: 0, to: 20, step: 10}").values ==
        Values{"0", "10", "20"});
}
