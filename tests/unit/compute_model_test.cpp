#include <catch2/catch.hpp>

#include "sims/workload/training/compute_model.h"

namespace espalier {
namespace {

// AlexNet's first convolution: 55 x 55 pixels of 96 filters, each of 11 * 11 * 3 = 363 weights.
Layer conv1() { return {"conv1", 227, 227, 11, 11, 3, 96, 4, LayerWeights::own}; }
Layer matrix(std::uint32_t inputs, std::uint32_t outputs) {
  return {"fc", 1, 1, 1, 1, inputs, outputs, 1, LayerWeights::own};
}

ComputeSpec folds() {
  ComputeSpec spec;
  spec.sharing = PeSharing::folds;
  return spec;
}

void check_gemm(const Gemm& gemm, std::uint64_t rows, std::uint64_t columns, std::uint64_t depth) {
  CHECK(gemm.rows == rows);
  CHECK(gemm.columns == columns);
  CHECK(gemm.depth == depth);
}

}  // namespace

TEST_CASE("A fold fills, streams and drains its array in 2R + C + T - 2 cycles") {
  const ComputeSpec spec;
  // SCALE-Sim: one fold of 32 x 32 outputs with 100 products each.
  CHECK(gemm_cycles({32, 32, 100}, spec) == 64 + 32 + 100 - 2);
  CHECK(gemm_cycles({1, 1, 1}, spec) == 95);  // an array that is nearly empty takes no less
  CHECK(gemm_cycles({33, 32, 100}, spec) == 2 * 194);
  CHECK(gemm_cycles({33, 65, 100}, spec) == 2 * 3 * 194);
  ComputeSpec wide = spec;
  wide.rows = 8;
  wide.columns = 128;
  CHECK(gemm_cycles({32, 128, 10}, wide) == 4 * (16 + 128 + 10 - 2));
}

TEST_CASE("The products of a layer are permutations of one another") {
  check_gemm(forward_gemm(conv1()), 3025, 96, 363);
  check_gemm(input_gradient_gemm(conv1()), 3025, 363, 96);
  check_gemm(weight_gradient_gemm(conv1(), 1), 363, 96, 3025);
  check_gemm(weight_gradient_gemm(conv1(), 16), 363, 96, 48400);
  check_gemm(forward_gemm(matrix(9216, 4096)), 1, 4096, 9216);
}

TEST_CASE("A stride that does not end at the border leaves the rest out") {
  Layer layer = conv1();
  layer.ifmap_height = 230;
  layer.ifmap_width = 231;
  CHECK(layer.output_pixels() == 55 * 56);
  layer.ifmap_height = layer.ifmap_width = 11;
  CHECK(layer.output_pixels() == 1);
}

TEST_CASE("Each processing element computes whole samples forward and back") {
  const ComputeSpec spec;
  // 95 x 3 folds of 363 + 94 cycles; 95 x 12 folds of 96 + 94.
  const Cycle forward = 95 * 3 * (363 + 94);
  const Cycle input_gradient = 95 * 12 * (96 + 94);
  for (const auto& [samples, rounds] : {std::pair{1, 1}, {16, 1}, {17, 2}, {64, 4}}) {
    const auto times =
        layer_times({matrix(8, 8), conv1()}, static_cast<std::uint64_t>(samples), spec);
    CAPTURE(samples);
    CHECK(times[1].forward == static_cast<Cycle>(rounds) * forward);
    CHECK(times[1].input_gradient == static_cast<Cycle>(rounds) * input_gradient);
    // 12 x 3 folds on 16 arrays: 3 rounds; the sum over the samples stays in place.
    CHECK(times[1].weight_gradient == 3 * (3025 * static_cast<Cycle>(samples) + 94));
  }
}

TEST_CASE("Folds of the whole mini-batch may be dealt to all processing elements instead") {
  const auto times = layer_times({matrix(8, 8), conv1(), matrix(9216, 4096)}, 16, folds());
  // 3025 * 16 rows are 1513 folds high, 1513 * 3 folds on 16 arrays are 284 rounds.
  CHECK(times[1].forward == 284 * (363 + 94));
  // 16 samples share the rows of one array: 128 folds, 8 rounds.
  CHECK(times[2].forward == 8 * (9216 + 94));
  CHECK(layer_times({matrix(9216, 4096)}, 16, ComputeSpec())[0].forward == 128 * (9216 + 94));
}

TEST_CASE("The first layer needs no input gradient") {
  const auto times = layer_times({conv1(), conv1()}, 16, ComputeSpec());
  CHECK(times[0].input_gradient == 0);
  CHECK(times[1].input_gradient != 0);
  CHECK(times[0].weight_gradient == times[1].weight_gradient);
}

TEST_CASE("Products of activations have two input gradients and no weights") {
  Layer scores{"scores", 32, 1, 1, 1, 64, 32, 1, LayerWeights::none};
  CHECK(scores.parameters() == 0);
  const auto times = layer_times({matrix(8, 8), scores}, 16, ComputeSpec());
  CHECK(times[1].forward == 64 + 94);
  // 32 x 32 by 32 x 64: two folds of 32 + 94; 64 x 32 by 32 x 32: the same.
  CHECK(times[1].input_gradient == 2 * (32 + 94) + 2 * (32 + 94));
  CHECK(times[1].weight_gradient == 0);
  const auto dealt = layer_times({matrix(8, 8), scores}, 16, folds());
  CHECK(dealt[1].forward == 64 + 94);  // 16 folds on 16 arrays
  const auto few = layer_times({matrix(8, 8), scores}, 17, folds());
  CHECK(few[1].forward == 2 * (64 + 94));
}

TEST_CASE("Embedding tables multiply nothing and have all their gradient reduced") {
  const Layer table{"users", 1, 1, 1, 1, 1000, 8, 1, LayerWeights::lookup};
  CHECK(table.parameters() == 8000);
  const auto times = layer_times({matrix(8, 8), table}, 16, ComputeSpec());
  CHECK(times[1].forward + times[1].input_gradient + times[1].weight_gradient == 0);
}

TEST_CASE("Times beyond any simulation are capped, not wrapped") {
  const Layer huge{"huge", 65536, 65536, 1, 1, 1U << 20, 1U << 20, 1, LayerWeights::own};
  ComputeSpec spec;
  spec.pes = spec.rows = spec.columns = 1;
  const auto times = layer_times({huge, huge}, 1U << 20, spec);
  CHECK(times[1].forward == kLongestCompute);
  CHECK(times[1].input_gradient == kLongestCompute);
  CHECK(times[1].weight_gradient == kLongestCompute);
  CHECK(plan_iteration({huge, huge, huge}, 1U << 20, spec).compute() == kLongestCompute);
}

TEST_CASE("Gradients are posted from the last layer to the first, each when it is complete") {
  const std::vector<Layer> layers{conv1(),
                                  {"pool-like", 32, 1, 1, 1, 64, 32, 1, LayerWeights::none},
                                  matrix(64, 32),
                                  {"tied", 1, 1, 1, 1, 64, 32, 1, LayerWeights::shared}};
  const ComputeSpec spec;
  const auto times = layer_times(layers, 16, spec);
  const IterationPlan plan = plan_iteration(layers, 16, spec);
  CHECK(plan.forward == times[0].forward + times[1].forward + times[2].forward + times[3].forward);
  REQUIRE(plan.posts.size() == 2);
  const Cycle tied = times[3].input_gradient + times[3].weight_gradient;
  CHECK(tied != 0);
  CHECK(plan.posts[0].layer == 2);
  CHECK(plan.posts[0].parameters == 64 * 32);
  CHECK(plan.posts[0].at == tied + times[2].input_gradient + times[2].weight_gradient);
  CHECK(plan.posts[1].layer == 0);
  CHECK(plan.posts[1].at == plan.posts[0].at + times[1].input_gradient + times[0].weight_gradient);
  CHECK(plan.posts[1].at == plan.backward);
  CHECK(count_parameters(layers) == 363 * 96 + 64 * 32);
}

}  // namespace espalier
