// Families of networks: the keys that describe a network, and how the network is built from them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hw/link_spec.h"
#include "hw/topology/topology.h"

namespace espalier {

// Limits of every network.
inline constexpr std::size_t kMostNodes = 65536;
inline constexpr std::size_t kMostLinks = std::size_t{1} << 20;
inline constexpr std::size_t kMostPorts = 4096;  // of a router, except in files
inline constexpr std::uint64_t kLargestCount = 65536;

// A key of system.topology, as plain data. Families may share a key; where they describe it
// differently, the schema has both descriptions.
struct FamilyKey {
  enum class Kind : std::uint8_t {
    count,      // `min` to kLargestCount
    sides,      // of a grid: one to three counts
    number,     // any
    flag,       // 0 or 1
    word,       // one of `words`, kept as its number
    latency,    // of links; 0: as system.link
    bandwidth,  // of links; 0: as system.link
    file        // a path, which TopologyConfig keeps
  };
  enum class Entries : std::uint8_t {
    one,
    each_dimension,  // a list, in which 0 stands for the preset; empty: all have it
    several          // a list, which may be empty
  };
  Kind kind = Kind::count;
  std::string name;
  std::string doc;
  bool required = false;
  std::uint64_t preset = 1;
  std::uint64_t min = 1;
  std::vector<std::string> words = {};
  Entries entries = Entries::one;
};

struct NetworkSpec;

// The size of a network, computed before anything is built. The types are wide enough for any
// counts that the keys allow.
struct NetworkSize {
  std::string name;  // "fat_tree 8x8x8"
  std::uint64_t nodes = 0;
  std::uint64_t links = 0;       // at most
  std::uint64_t most_ports = 0;  // of a single router
};

struct NetworkProblem {
  std::string what;
  std::string hint;
  std::string key = {};  // where the error is shown; empty: at the family's size_key
};

// Nodes that share a server.
struct ServerShape {
  std::uint32_t nodes = 1;
  std::uint32_t nics = 0;  // 0: a server has no network interface cards
};

// A row of the table, which CMake makes of the functions `Family <name>_family()` in this folder.
struct Family {
  // What describes the network: the family's keys, or a file or a section that sims reads.
  enum class Source : std::uint8_t { keys, graph_file, anynet_file, dimensions, astra_file };

  // A family with other sources than its keys has no size_of and no build_by.
  Family(std::uint32_t in_lists, std::string word, std::string text,
         std::vector<FamilyKey> own_keys, std::string size_at,
         NetworkSize (*size_of)(const NetworkSpec&) = nullptr,
         Topology (*build_by)(const NetworkSpec&, LinkSpec) = nullptr)
      : place(in_lists),
        name(std::move(word)),
        summary(std::move(text)),
        keys(std::move(own_keys)),
        size_key(std::move(size_at)),
        size(size_of),
        build(build_by) {}

  std::uint32_t place;  // among all families, where they are listed
  std::string name;     // the word for system.topology.type
  std::string summary;  // for `espalier list topologies`
  std::vector<FamilyKey> keys;
  std::string size_key;  // errors about the network's size are shown at this key
  NetworkSize (*size)(const NetworkSpec&);
  Topology (*build)(const NetworkSpec&, LinkSpec link);
  // What is wrong with values that are valid each by itself. May be absent, as all below.
  std::optional<NetworkProblem> (*problem)(const NetworkSpec&) = nullptr;
  ServerShape (*server)(const NetworkSpec&) = nullptr;
  RackShape (*racks)(const NetworkSpec&, LinkSpec link) = nullptr;
  // With `racks`: a key that gives a network two of them, and the key of their uplinks' bandwidth.
  std::string two_racks;
  std::string uplink_key;
  std::string small_hint = "for example [4, 4]";  // where a network has fewer than two nodes
  std::size_t most_ports = kMostPorts;
  Source source = Source::keys;

  [[nodiscard]] bool is_dimensional() const {
    return source == Source::dimensions || source == Source::astra_file;
  }
};

// By place.
[[nodiscard]] const std::vector<Family>& families();

// A network in words: its family, and values of keys. A key that is not set has its preset.
struct NetworkSpec {
  std::string type = families().front().name;

  // Throws std::invalid_argument if no family has the name `type`.
  [[nodiscard]] const Family& family() const;
  // A single number is a list of one. Keys of other families are ignored. This and the following
  // throw std::logic_error if no family has the key.
  void set(const std::string& key, std::vector<std::uint64_t> value) {
    static_cast<void>(numbers(key));
    values_[key] = std::move(value);
  }
  [[nodiscard]] std::vector<std::uint64_t> numbers(const std::string& key) const;
  [[nodiscard]] std::uint64_t number(const std::string& key) const { return numbers(key).at(0); }
  [[nodiscard]] std::uint32_t count(const std::string& key) const {
    return static_cast<std::uint32_t>(number(key));
  }
  // `link`, but for the latency and bandwidth that the keys `name`.latency and .bandwidth give.
  [[nodiscard]] LinkSpec link(const std::string& name, LinkSpec link) const;

 private:
  std::map<std::string, std::vector<std::uint64_t>> values_;
};

// The name of the first family with this source.
[[nodiscard]] std::string family_of(Family::Source source);
// The names of the families for which `is_so` returns true.
[[nodiscard]] std::vector<std::string> families_where(bool (*is_so)(const Family&));

// Nothing if the network can be built. Precondition: the family has a builder, and each value is in
// its key's range.
[[nodiscard]] std::optional<NetworkProblem> problem_of(const NetworkSpec& spec);
// Throws std::invalid_argument if the family has no builder, a value is out of its key's range, or
// there is a problem.
[[nodiscard]] Topology make_network(const NetworkSpec& spec, LinkSpec link);

// The same network with the links in the family's order and the family's shape, if the graph is a
// grid, a fully connected network or a fat tree: names, rates and nodes' numbers stay, switches may
// be renumbered. Links of a dimension or of a level must be alike, and nodes of a fat tree or of a
// twisted grid in the family's order. NetworkShape::recognised says which vertex is which.
[[nodiscard]] std::optional<Topology> recognised_family(const Topology& graph);

}  // namespace espalier
