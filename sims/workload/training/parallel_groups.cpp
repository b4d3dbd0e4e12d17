#include "sims/workload/training/parallel_groups.h"

#include <fmt/format.h>

#include <stdexcept>

namespace espalier {

const LogicalGroup& ParallelGroups::of(CommunicationScope scope) const {
  switch (scope) {
    case CommunicationScope::model:
      return model;
    case CommunicationScope::data:
      return data;
    case CommunicationScope::all:
      break;
  }
  return all;
}

std::uint64_t num_npus(const LogicalGroup& group) {
  std::uint64_t npus = 1;
  for (const GroupDimension& d : group) npus *= d.size;
  return npus;
}

ParallelGroups split_groups(const std::vector<DimensionSpec>& dimensions,
                            std::uint64_t model_npus) {
  if (model_npus == 0) throw std::invalid_argument("a model-parallel group needs at least one NPU");
  ParallelGroups groups;
  std::uint64_t missing = model_npus;  // factor from the group's size so far to model_npus
  for (std::uint32_t d = 0; d < dimensions.size(); ++d) {
    const std::uint32_t size = dimensions[d].size;
    groups.all.push_back({d, size});
    if (missing == 1) {
      groups.data.push_back({d, size});
    } else if (missing % size == 0) {
      groups.model.push_back({d, size});
      missing /= size;
    } else if (size % missing == 0) {
      if (dimensions[d].shape == DimensionShape::ring) {
        throw std::invalid_argument(fmt::format(
            "a model-parallel group of {} NPUs would cut the ring of dimension {} into parts of {}",
            model_npus, d + 1, missing));
      }
      const auto part = static_cast<std::uint32_t>(missing);
      groups.model.push_back({d, part});
      groups.data.push_back({d, size / part});
      missing = 1;
    } else {
      throw std::invalid_argument(
          fmt::format("a model-parallel group of {} NPUs needs {} NPUs of dimension {}, which has "
                      "{}; one of the two numbers must divide the other",
                      model_npus, missing, d + 1, size));
    }
  }
  if (missing != 1) {
    throw std::invalid_argument(
        fmt::format("a model-parallel group of {} NPUs is {} times as large as the system; it may "
                    "have at most all NPUs",
                    model_npus, missing));
  }
  return groups;
}

}  // namespace espalier
