// The built-in networks against published numbers; sources in docs/training.md.
#include "sims/workload/training/layer.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "sims/formats/layers_file.h"
#include "sims/workload/training/compute_model.h"

namespace espalier {
namespace {

std::vector<Layer> layers_of(const std::string& name) {
  TrainingConfig config;
  config.network = name;
  Diagnostics diagnostics;
  auto layers = load_layers(config, {}, diagnostics);
  INFO(diagnostics.text());
  REQUIRE(layers);
  return *layers;
}

// Multiply-accumulates of one sample, forward.
std::uint64_t macs_of(const std::vector<Layer>& layers) {
  std::uint64_t macs = 0;
  for (const Layer& layer : layers) {
    if (layer.weights == LayerWeights::lookup) continue;
    macs += layer.output_pixels() * layer.filters * layer.filter_volume();
  }
  return macs;
}

}  // namespace

TEST_CASE("Every built-in network has its published number of weights") {
  // ResNet-50's convolutions less those of conv5: three blocks of 512, 512 and 2048 filters and a
  // shortcut.
  constexpr std::uint64_t kResNet50 = 25'557'032 - 53'120 - 1'000;  // less batch norm, fc's bias
  constexpr std::uint64_t kConv5 =
      (1024 + 2048 + 2048) * 512 + 3 * 9 * 512 * 512 + 3 * 512 * 2048 + 1024 * 2048;
  const std::map<std::string, std::uint64_t> weights{
      {"alexnet", 60'965'224 - 10'568},  // less its biases
      {"alphago_zero",
       17 * 9 * 256 + 38 * 9 * 256 * 256 + 2 * 256 + 722 * 362 + 256 + 361 * 256 + 256},
      {"faster_rcnn", kResNet50 - kConv5 - 2048 * 1000 + 9 * 1024 * 512 + 512 * (18 + 36)},
      {"gnmt", 3 * 32'000 * 1'024 + 4'096 * (2 * 2'048 + 3'072 + 6 * 2'048 + 8 * 3'072) +
                   2 * 1'024 * 1'024},
      {"googlenet", 6'998'552 - 8'280},  // less its biases
      {"ncf", (138'493 + 26'744) * (8 + 32) + 64 * 32 + 32 * 16 + 16 * 8 + 16},
      {"resnet152", 60'192'808 - 151'424 - 1'000},  // less batch norm, fc's bias
      {"resnet50", kResNet50},
      {"transformer", 37'000 * 512 + 6 * (4 * 512 * 512 + 2 * 512 * 2'048) +
                          6 * (8 * 512 * 512 + 2 * 512 * 2'048)},
  };
  REQUIRE(built_in_networks().size() == weights.size());
  for (const BuiltInNetwork& network : built_in_networks()) {
    CAPTURE(network.name);
    CHECK(count_parameters(layers_of(network.name)) == weights.at(network.name));
  }
}

TEST_CASE("Convolutional networks multiply as often as published") {
  CHECK(macs_of(layers_of("alexnet")) == 724'406'816);
  CHECK(macs_of(layers_of("resnet50")) == Approx(3.8e9).epsilon(0.02));  // CVPR 2016, Table 1
  CHECK(macs_of(layers_of("resnet152")) == Approx(11.3e9).epsilon(0.02));
  CHECK(macs_of(layers_of("googlenet")) == Approx(1.5e9).epsilon(0.06));  // CVPR 2015, section 6
}

TEST_CASE("GNMT has the size that Shazeer et al. give") {
  // ICLR 2017 (arXiv 1701.06538), Table 2: 278 M parameters, 214 M operations per time step.
  const auto layers = layers_of("gnmt");
  CHECK(static_cast<double>(count_parameters(layers)) == Approx(278e6).epsilon(0.015));
  CHECK(static_cast<double>(macs_of(layers)) / 25 == Approx(214e6).epsilon(0.015));
}

TEST_CASE("A layer's channels are those of the layers before it") {
  const auto resnet = layers_of("resnet50");
  REQUIRE(resnet.size() == 54);  // 53 convolutions, 4 of them shortcuts, and a matrix
  for (std::size_t l = 1; l + 1 < resnet.size(); ++l) {
    const Layer& layer = resnet[l];
    const Layer& before = resnet[l - 1];
    CAPTURE(layer.name);
    const bool in_block =
        layer.name.find("_b") != std::string::npos || layer.name.find("_c") != std::string::npos;
    if (in_block && layer.name.find("shortcut") == std::string::npos) {
      CHECK(layer.channels == before.filters);
    }
  }
  // What an Inception module puts side by side, the next one reads.
  const auto googlenet = layers_of("googlenet");
  REQUIRE(googlenet.size() == 3 + 9 * 6 + 1);
  for (std::size_t m = 0; m < 9; ++m) {
    const Layer* module = &googlenet[3 + 6 * m];
    const std::uint32_t given =
        module[0].filters + module[2].filters + module[4].filters + module[5].filters;
    CAPTURE(module->name);
    CHECK(module[6].channels == given);
    CHECK(module[2].channels == module[1].filters);
    CHECK(module[4].channels == module[3].filters);
  }
}

}  // namespace espalier
