#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "config_test_support.h"
#include "sims/config/resolved.h"
#include "tests/support/resolved_yaml.h"

namespace espalier {

using namespace config_test;

namespace {

const std::string kTraining = "training: {network: ncf}\n";
const std::string kRing = "collective: {algorithm: ring}\n";
const std::string kLayers =
    "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, "
    "Strides,\n";

}  // namespace

TEST_CASE("A training iteration has MultiTree's defaults") {
  const RunPoint point = only_point(kGoodSystem + kRing + kTraining);
  REQUIRE(point.training);
  CHECK(point.training->mini_batch == 16);
  CHECK(point.training->overlap == Overlap::none);
  CHECK(point.training->compute.pes == 16);
  CHECK(point.training->compute.rows == 32);
  CHECK(point.training->compute.columns == 32);
  CHECK(point.training->compute.sharing == PeSharing::samples);
  CHECK(point.training->layers.size() == 8);
  CHECK(point.collective->size == 4 * 6'612'184);
}

TEST_CASE("The all-reduce is as large as the gradients") {
  const RunPoint point =
      only_point(kGoodSystem + "collective: {algorithm: ring, element: 2B}\n" + kTraining);
  CHECK(point.collective->size == 2 * 6'612'184);
}

TEST_CASE("Networks, overlap and algorithms run every combination, the network outermost") {
  const ConfigResult result = read_run_config_text(
      "t.yaml", kGoodSystem +
                    "collective: {algorithm: [ring, multitree]}\n"
                    "training: {network: [ncf, alexnet], overlap: [none, layerwise]}\n");
  INFO(result.diagnostics);
  REQUIRE(result.points.size() == 8);
  CHECK(result.points[0].training->network == "ncf");
  CHECK(result.points[1].collective->algorithm == "multitree");
  CHECK(result.points[2].training->overlap == Overlap::layerwise);
  CHECK(result.points[4].training->network == "alexnet");
  CHECK(result.points[0].training->layers.size() == 8);
  CHECK(result.points[4].training->layers.size() == 11);
  CHECK(result.points[4].collective->size == 4 * 60'954'656);
}

TEST_CASE("Training without an algorithm all-reduces by auto") {
  for (const char* collective : {"", "collective: {element: 2B}\n"}) {
    const ConfigResult result =
        read_run_config_text("t.yaml", kGoodSystem + collective + "training: {network: ncf}\n");
    INFO(result.diagnostics);
    REQUIRE(result.points.size() == 1);
    CHECK(result.points[0].collective->algorithm == "auto");
    CHECK(result.points[0].collective->size != 0);
  }
}

TEST_CASE("A network may come from a file beside the configuration") {
  const TemporaryFolder folder("training_file");
  folder.write("small.csv", kLayers + "a, 6, 6, 3, 3, 2, 5, 1,\nb, 1, 1, 1, 1, 80, 10, 1,\n");
  const std::string path =
      folder.write("t.yaml", kGoodSystem + kRing + "training: {file: small.csv, mini_batch: 3}\n");
  const ConfigResult result = read_run_config(path);
  INFO(result.diagnostics);
  REQUIRE(result.ok);
  const RunPoint& point = result.points.front();
  CHECK(point.training->layers.size() == 2);
  CHECK(point.collective->size == 4 * (90 + 800));
  CHECK(resolved_json(point)["training"]["file"] == "small.csv");
  CHECK_FALSE(resolved_json(point)["training"].contains("network"));
}

TEST_CASE("Mistakes in a layer file are shown in that file") {
  const TemporaryFolder folder("training_bad_file");
  folder.write("small.csv", kLayers + "a, 6, 6, 3, 3, 2, 5, 0,\n");
  const std::string path =
      folder.write("t.yaml", kGoodSystem + kRing + "training: {file: small.csv}\n");
  const ConfigResult result = read_run_config(path);
  CHECK_FALSE(result.ok);
  const auto all = parse_diagnostics(result.diagnostics);
  REQUIRE(all.size() == 1);
  CHECK(all[0].where == folder.path() + "/small.csv");
  CHECK(all[0].line == 2);
  CHECK(all[0].column == 22);
}

TEST_CASE("A training point resolves to a configuration that reads back to it") {
  for (const char* settings :
       {"{network: transformer}",
        "{network: ncf, overlap: layerwise, mini_batch: 5, compute: {pes: 2, "
        "rows: 8, columns: 128, sharing: folds}}"}) {
    const RunPoint point = only_point(kGoodSystem + kRing + "training: " + settings + "\n");
    const std::string yaml = resolved_yaml(point);
    INFO(yaml);
    CHECK(yaml.find("size:") == std::string::npos);
    const RunPoint again = only_point(yaml);
    CHECK(resolved_yaml(again) == yaml);
    CHECK(config_hash(again) == config_hash(point));
    CHECK(again.training->network == point.training->network);
    CHECK(again.training->overlap == point.training->overlap);
    CHECK(again.training->mini_batch == point.training->mini_batch);
    CHECK(again.training->compute.pes == point.training->compute.pes);
    CHECK(again.training->compute.rows == point.training->compute.rows);
    CHECK(again.training->compute.columns == point.training->compute.columns);
    CHECK(again.training->compute.sharing == point.training->compute.sharing);
    CHECK(again.collective->size == point.collective->size);
  }
  CHECK_FALSE(resolved_json(only_point(kGoodSystem + kGoodCollective)).contains("training"));
}

TEST_CASE("Contradictions around training are refused at their place") {
  struct BadCase {
    std::string input;
    const char* message;
    const char* hint;
  };
  const std::vector<BadCase> cases{
      {kGoodSystem + kRing + "@training: {mini_batch: 4}\n", "missing key 'training.network'",
       "one of alexnet"},
      {kGoodSystem + kRing + "training: {network: @resnet, overlap: none}\n",
       "'resnet' is not a valid name", "did you mean 'resnet50'?"},
      {kGoodSystem + kRing + "training: {network: @net.csv}\n", "'net.csv' is not a valid name",
       "a file is given by training.file: net.csv"},
      {kGoodSystem + kRing + "training: {network: ncf, overlap: @layer_wise}\n",
       "'layer_wise' is not a valid name", "layerwise"},
      {kGoodSystem + kRing + "training: {network: @ncf, file: a.csv}\n",
       "training.network contradicts 'training.file'", "remove one of the two"},
      {kGoodSystem + kRing + "training: {file: @none.csv}\n", "'none.csv' cannot be read",
       "relative to the configuration's folder"},
      {kGoodSystem + kTraining + "collective: {algorithm: ring, size: @1MiB}\n",
       "collective.size contradicts 'training'", "remove one of the two"},
      {kGoodSystem + kTraining + "collective: {algorithm: ring, op: @all_gather}\n",
       "all-reduces its gradients", "all_reduce"},
      {kGoodSystem + kTraining + "collective: {algorithm: ring, op: [all_reduce, @all_gather]}\n",
       "all-reduces its gradients", "all_reduce"},
      {kGoodSystem + kTraining + "@traffic: {pattern: uniform}\n",
       "both 'training' and 'traffic' are given", "one of the two"},
      {kGoodSystem + kRing + "training: {network: ncf, mini_batch: @0}\n",
       "training.mini_batch: 0 is out of range", "integer, 1 to"},
      {kGoodSystem + kRing + "training: {network: ncf, compute: {@pe: 4}}\n",
       "unknown key 'pe' in 'training.compute'", "did you mean 'pes'?"},
      {kGoodSystem + kRing + "training: {network: ncf, compute: {rows: @[8, 16]}}\n",
       "expected one value, found a list", "axes: [{key: training.compute.rows"},
      {kGoodSystem +
           "collective: {algorithm: ring, element: 64KiB}\ntraining: {network: @alexnet}\n",
       "the gradients of 60954656 parameters exceed the largest collective, 1024GiB", ""},
  };
  for (const BadCase& bad : cases) {
    const Marked marked = unmark(bad.input);
    const ConfigResult result = read_run_config_text("bad.yaml", marked.text);
    INFO(bad.input);
    INFO(result.diagnostics);
    CHECK_FALSE(result.ok);
    const auto all = parse_diagnostics(result.diagnostics);
    const Printed* found = find_at(all, marked, bad.message);
    REQUIRE(found != nullptr);
    CHECK(found->hint.find(bad.hint) != std::string::npos);
    CHECK(all.size() == 1);
  }
}

}  // namespace espalier
