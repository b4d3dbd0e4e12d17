// Networks that a file or the section system.dimensions describes; sims/formats and
// sims/model/build_dimensions.h read them.
#include "hw/topology/families/family.h"

namespace espalier {

namespace {

Family file_like(std::uint32_t place, const char* name, const char* summary,
                 Family::Source source) {
  const FamilyKey file{FamilyKey::Kind::file, "file",
                       "file with the graph of nodes, switches and links, in our YAML or another "
                       "tool's format (docs/topologies.md), relative to this file's folder",
                       true};
  Family row(place, name, summary, {file}, "system.topology.file");
  row.source = source;
  return row;
}

}  // namespace

Family file_family() {
  return file_like(11, "file", "file; a graph in YAML, or the file of another tool",
                   Family::Source::graph_file);
}

Family anynet_family() {
  return file_like(12, "anynet", "file; a graph in BookSim's format", Family::Source::anynet_file);
}

Family dimensions_family() {
  Family row(13, "dimensions", "system.dimensions; each dimension has its own kind of network", {},
             "system.dimensions.size");
  row.source = Family::Source::dimensions;
  return row;
}

Family astra_network_family() {
  return file_like(14, "astra_network",
                   "file; a multi-dimensional system from ASTRA-sim's network.yml",
                   Family::Source::astra_file);
}

}  // namespace espalier
