// The table of families (CONTRIBUTING.md, "Adding a topology").
#include "hw/topology/families/family.h"

namespace espalier {

Family torus_family();
Family mesh_family();
Family fully_connected_family();
Family switch_family();
Family dgx2_family();
Family fat_tree_family();
Family bigraph_family();
Family dragonfly_family();
Family gpu_cluster_family();
Family data_center_family();
Family file_family();
Family anynet_family();
Family dimensions_family();
Family astra_network_family();

const std::vector<Family>& families() {
  static const std::vector<Family> all{
      torus_family(),       mesh_family(),         fully_connected_family(),
      switch_family(),      dgx2_family(),         fat_tree_family(),
      bigraph_family(),     dragonfly_family(),    gpu_cluster_family(),
      data_center_family(), file_family(),         anynet_family(),
      dimensions_family(),  astra_network_family()};
  return all;
}

}  // namespace espalier
