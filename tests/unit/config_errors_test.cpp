// One case for each kind of mistake in a configuration: '@' marks where the message must point.
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "config_test_support.h"

namespace espalier {

using namespace config_test;

namespace {

struct BadCase {
  const char* what;
  std::string input;
  const char* message;
  const char* hint;  // "": no hint is asked for
};

std::string with_system(const std::string& body) {
  return "system:\n  topology: {type: torus, dims: [4, 4]}\n" + body + kGoodCollective;
}
std::string with_collective(const std::string& body) { return kGoodSystem + body; }
std::string with_simulation(const std::string& body) {
  return kGoodSystem + kGoodCollective + body;
}

const std::vector<BadCase>& syntax_cases() {
  static const std::vector<BadCase> cases{
      {"empty file", "@", "the file is empty", "a minimal file"},
      {"comments only", "@# nothing\n", "the file is empty", "a minimal file"},
      {"a lone null", "@~\n", "the file is empty", "a minimal file"},
      {"a list for a file", "@- a\n- b\n",
       "expected a configuration, which is a mapping of sections", "a minimal file"},
      {"a word for a file", "@system\n", "expected a configuration, which is a mapping of sections",
       "a minimal file"},
      {"duplicate section", kGoodSystem + kGoodCollective + "@system: {}\n",
       "'system' is given twice", "the first is in line 1"},
      {"duplicate key", with_system("  router: {vcs: 4, @vcs: 8}\n"), "'vcs' is given twice",
       "the first is in line 3"},
      {"duplicate key, once quoted", with_system("  router: {vcs: 4, @\"vcs\": 8}\n"),
       "'vcs' is given twice", "the first is in line 3"},
      {"anchor", with_system("  link: @&l {latency: 150ns}\n"), "YAML anchors are not supported",
       "write the value out"},
      {"alias", with_system("  link: @*l\n"),
       "not valid YAML: the referenced anchor is not defined", ""},
      {"merge key", with_system("  link: {@<<: {latency: 150ns}}\n"),
       "YAML merge keys are not supported", "write the keys out"},
      {"tag", with_system("  router: {vcs: @!!int 4}\n"), "YAML tags are not supported", "remove"},
      {"second document", kGoodSystem + kGoodCollective + "@---\nsystem: {}\n",
       "a second YAML document starts here", "one document"},
      {"tab as indentation", "system:\n@\ttopology: {type: torus, dims: [4, 4]}\n",
       "a tab cannot indent YAML", "indent with spaces"},
      {"tab after spaces", "system:\n  @\ttopology: {type: torus, dims: [4, 4]}\n",
       "a tab cannot indent YAML", "indent with spaces"},
      {"NUL byte", "system: @" + std::string(1, '\0') + "\n", "a control character (0x00)",
       "saved as UTF-8"},
      {"escape character", "system: @\x1b[2J\n", "a control character (0x1b)", "remove it"},
      {"end-of-transmission character", "system: {}\n@\x04\ncollective: {}\n",
       "a control character (0x04)", "remove it"},
      {"character that turns the order of letters", "# a @\u202e comment\nsystem: {}\n",
       "a control character (0x202e)", "remove it"},
      {"lone carriage return", "system: {}@\rcollective: {}\n",
       "a carriage return (0x0d) without a line feed", "end each line with LF or CRLF"},
      {"not UTF-8", "# caf\xc3\xa9\n# caf@\xe9\n", "this is not UTF-8 text",
       "save the file as UTF-8"},
      {"UTF-16", std::string("@\xff\xfes\0y\0s\0", 9), "this is not UTF-8 text",
       "save the file as UTF-8"},
      {"two colons in a line", "system: topology@: {type: torus}\n", "not valid YAML", "braces"},
      {"open brace", "system: {topology: {type: torus}\n@", "not valid YAML",
       "closing '}' is missing"},
      {"key that is a list", with_system("  @[a, b]: 4\n"), "a key must be a plain name", ""},
      {"key that is a mapping", with_system("  @{a: b}: 4\n"), "a key must be a plain name", ""},
      {"deep nesting", std::string(32, '[') + "@[" + std::string(33, ']') + "\n",
       "the text is nested more than 32 levels deep", ""},
      {"column counts characters, not bytes", "# x\nsystem: {\"\xc3\xa4\xe2\x82\xac\": 1, @b: 2}\n",
       "unknown key 'b' in 'system'", ""},
  };
  return cases;
}

const std::vector<BadCase>& key_cases() {
  static const std::vector<BadCase> cases{
      {"mistyped section", kGoodSystem + kGoodCollective + "@simulatoin: {check: true}\n",
       "unknown key 'simulatoin'", "did you mean 'simulation'?"},
      {"mistyped key", with_system("  link: {@latncy: 150ns}\n"),
       "unknown key 'latncy' in 'system.link'", "did you mean 'latency'?"},
      {"key in upper case", with_system("  link: {@Latency: 150ns}\n"), "unknown key 'Latency'",
       "did you mean 'latency'?"},
      {"key in the wrong section", with_system("  @vcs: 4\n"), "unknown key 'vcs' in 'system'",
       "did you mean 'system.router.vcs'?"},
      {"dotted key in a file", kGoodSystem + kGoodCollective + "@system.link.latency: 5ns\n",
       "unknown key 'system.link.latency'", "'system.link.latency' is written as nested sections"},
      {"key unlike any", with_system("  link: {@colour: red}\n"), "unknown key 'colour'",
       "valid names: latency, bandwidth, credit_latency"},
      {"empty key", with_system("  link: {@\"\": red}\n"), "unknown key ''", "valid names"},
      {"empty section", kGoodCollective + "@system:\n", "'system' is empty",
       "its keys: preset, topology"},
      {"value for a section", with_system("  link: @150ns\n"),
       "'system.link' is a section; expected its keys", "its keys: latency"},
      {"list for a section", with_system("  link: @[150ns]\n"),
       "'system.link' is a section; expected its keys", "its keys: latency"},
      {"section for a key", with_system("  router: {vcs: @{a: 1}}\n"),
       "system.router.vcs: expected a value, found a section", "integer, 1 to 32"},
      {"no value", with_system("  router:\n    @vcs:\n    flit_bytes: 16\n"),
       "system.router.vcs: has no value", "integer, 1 to 32"},
      {"null for a value", with_system("  router: {@vcs: null}\n"),
       "system.router.vcs: has no value", "integer, 1 to 32"},
      {"no system", "@" + kGoodCollective, "missing section 'system'", "system: {topology:"},
      {"no topology", kGoodCollective + "@system: {router: {vcs: 4}}\n",
       "missing section 'system.topology'", "topology: {type: torus"},
      {"no topology type", kGoodCollective + "system:\n  @topology: {dims: [4, 4]}\n",
       "missing key 'system.topology.type'",
       "one of torus, mesh, grid, fully_connected, switch, dgx2"},
      {"no dims", kGoodCollective + "system: {@topology: {type: mesh}}\n",
       "missing key 'system.topology.dims'", "list of 1 to 3 integers"},
      {"no file", kGoodCollective + "system: {@topology: {type: file}}\n",
       "missing key 'system.topology.file'", "path"},
      {"no anynet file", kGoodCollective + "system: {@topology: {type: anynet}}\n",
       "missing key 'system.topology.file'", "path"},
      {"no nodes", "system: {@topology: {type: switch}}\ntraffic: {}\n",
       "missing key 'system.topology.nodes'", "integer, 2 to 65536"},
      {"no spines",
       "system: {@topology: {type: fat_tree, nodes_per_switch: 2, switches: 2}}\ntraffic: {}\n",
       "missing key 'system.topology.spines'", "integer, 1 to 65536"},
      {"no groups",
       "system: {@topology: {type: dragonfly, nodes_per_switch: 2, group_size: 2}}\ntraffic: {}\n",
       "missing key 'system.topology.groups'", "integer, 2 to 65536"},
      {"no servers", "system: {@topology: {type: gpu_cluster, gpus_per_server: 2}}\ntraffic: {}\n",
       "missing key 'system.topology.servers'", "integer, 1 to 65536"},
      {"no size", kGoodSystem + "@collective: {algorithm: ring}\n", "missing key 'collective.size'",
       "size, 1B"},
      {"no workload", "@" + kGoodSystem, "neither 'collective' nor 'traffic' is given",
       "collective: {op"},
      {"two workloads", kGoodSystem + kGoodCollective + "@traffic: {pattern: uniform}\n",
       "both 'collective' and 'traffic' are given", "one of the two"},
  };
  return cases;
}

const std::vector<BadCase>& value_cases() {
  static const std::vector<BadCase> cases{
      {"octal-looking integer", with_system("  router: {vcs: @010}\n"), "'010' has a leading zero",
       "write 10"},
      {"exponent", with_simulation("simulation: {watchdog_cycles: @1e6}\n"),
       "'1e6' is not an integer: no exponents", "write 1000000"},
      {"digit separators", with_simulation("simulation: {watchdog_cycles: @1_000}\n"),
       "'1_000' is not an integer: no digit separators", "write 1000"},
      {"hexadecimal", with_simulation("simulation: {seed: @0x10}\n"), "'0x10' is not an integer",
       "integer"},
      {"decimal for an integer", with_system("  router: {vcs: @4.0}\n"), "'4.0' is not an integer",
       "integer, 1 to 32"},
      {"plus sign", with_system("  router: {vcs: @+4}\n"), "'+4' is not an integer",
       "integer, 1 to 32"},
      {"quoted integer", with_system("  router: {vcs: @\"4\"}\n"),
       "expected a value without quotes, found the text '4'", "remove the quotes"},
      {"negative integer", with_system("  router: {vcs: @-4}\n"), "-4 is out of range",
       "integer, 1 to 32"},
      {"too small", with_system("  router: {vcs: @0}\n"), "0 is out of range", "integer, 1 to 32"},
      {"too large", with_system("  router: {vcs: @33}\n"), "33 is out of range",
       "integer, 1 to 32"},
      {"larger than 64 bits", with_simulation("simulation: {seed: @18446744073709551616}\n"),
       "18446744073709551616 is out of range", "0 to 2^64 - 1"},
      {"infinite integer", with_system("  router: {vcs: @.inf}\n"), "'.inf' is not an integer",
       "1 to 32"},
      {"zero latency of the timing contract", with_system("  ni: {delivery_cycles: @0}\n"),
       "system.ni.delivery_cycles: 0 is out of range", "integer, 1 to"},
      {"unit on a key in bytes", with_system("  flow_control: {sub_message_bytes: @4KiB}\n"),
       "the unit is in the key's name", "write 4096"},
      {"yes for true", with_simulation("simulation: {check: @yes}\n"), "'yes' is not true or false",
       "write true"},
      {"on for true", with_simulation("simulation: {check: @on}\n"), "'on' is not true or false",
       "write true"},
      {"no for false", with_simulation("simulation: {check: @no}\n"), "'no' is not true or false",
       "write false"},
      {"off for false", with_simulation("simulation: {check: @off}\n"),
       "'off' is not true or false", "write false"},
      {"capital True", with_simulation("simulation: {check: @True}\n"),
       "'True' is not true or false", "write true"},
      {"1 for true", with_simulation("simulation: {check: @1}\n"), "'1' is not true or false",
       "write true"},
      {"quoted boolean", with_simulation("simulation: {check: @'true'}\n"),
       "expected a value without quotes, found the text 'true'", "remove the quotes"},
      {"not a number", with_simulation("simulation: {stall_probability: @.nan}\n"),
       "'.nan' is not a plain decimal number", "0 to 1 (excluded)"},
      {"infinite fraction", with_simulation("simulation: {stall_probability: @.inf}\n"),
       "'.inf' is not a plain decimal number", "0 to 1 (excluded)"},
      {"negative fraction", with_simulation("simulation: {stall_probability: @-0.1}\n"),
       "-0.1 is out of range", "0 to 1 (excluded)"},
      {"excluded bound of a fraction", with_simulation("simulation: {stall_probability: @1}\n"),
       "1 is out of range", "0 to 1 (excluded)"},
      {"rate of zero", kGoodSystem + "traffic: {injection_rate: @0.0}\n", "0.0 is out of range",
       "0 (excluded) to 64"},
      {"exponent in a fraction", with_simulation("simulation: {stall_probability: @1e-3}\n"),
       "'1e-3' is not a plain decimal number", "decimal number"},
      {"time without a unit", with_system("  link: {latency: @150}\n"), "'150' has no unit",
       "for example 150ns"},
      {"bandwidth without per second", with_system("  link: {bandwidth: @16GB}\n"),
       "'GB' is not a unit of bandwidth", "GB/s"},
      {"frequency in lower case", with_system("  router: {clock: @1ghz}\n"),
       "'ghz' is not a unit of frequency", "did you mean 1GHz?"},
      {"size without a unit", with_collective("collective: {algorithm: ring, size: @1024}\n"),
       "'1024' has no unit", "for example 16MiB"},
      {"zero latency", with_system("  link: {latency: @0ns}\n"), "0ns is out of range",
       "time, 1ps to 1s"},
      {"fraction of a byte", with_collective("collective: {algorithm: ring, size: @0.3KiB}\n"),
       "not a whole number of bytes", ""},
      {"size of zero", with_collective("collective: {algorithm: ring, size: @0B}\n"),
       "0B is out of range", "size, 1B to"},
      {"wrong word instead of a number", with_system("  ni: {ports: @automatic}\n"),
       "'automatic' is not an integer", "or auto"},
      {"wrong word instead of a rate", with_system("  ni: {dma: {bandwidth: @port}}\n"),
       "'port' is not a number with a unit", "or the word 'ports'"},
      {"unknown algorithm", with_collective("collective: {algorithm: @multitre, size: 1MiB}\n"),
       "'multitre' is not a valid name for this key", "did you mean 'multitree'?"},
      {"unknown algorithm in a list",
       with_collective("collective: {algorithm: [ring, @treemulti], size: 1MiB}\n"),
       "'treemulti' is not a valid name for this key", "valid names: ring"},
      {"unknown lockstep mode", with_system("  ni: {lockstep: @estimated}\n"),
       "'estimated' is not a valid name for this key", "did you mean 'estimate'?"},
      {"fidelity that does not exist", with_simulation("simulation: {fidelity: @exact}\n"),
       "'exact' is not a valid name for this key", "cycle"},
      {"unknown preset", with_system("  preset: @isca2021\n"),
       "'isca2021' is not a valid name for this key", "did you mean 'isca21'?"},
      {"list where one value is due", with_system("  router: {vcs: @[4, 8]}\n"),
       "system.router.vcs: expected one value, found a list",
       "axes: [{key: system.router.vcs, values: [...]}]"},
      {"empty list", with_collective("collective: {algorithm: @[], size: 1MiB}\n"),
       "the list is empty", "one of ring"},
      {"value twice in a list",
       with_collective("collective: {algorithm: ring, size: [1MiB, @1024KiB]}\n"),
       "1024KiB is in the list twice", ""},
      {"list in a list", with_collective("collective: {algorithm: ring, size: [1MiB, @[2MiB]]}\n"),
       "expected one value, found a list", "size, 1B"},
      {"dims without brackets", kGoodCollective + "system: {topology: {type: torus, dims: @8}}\n",
       "expected a list of sizes", "write [8]"},
      {"dims with an x", kGoodCollective + "system: {topology: {type: torus, dims: @8x8}}\n",
       "expected a list of sizes", "for example [8, 8]"},
      {"no dimension", kGoodCollective + "system: {topology: {type: torus, dims: @[]}}\n",
       "has 0 dimensions", "1 to 3"},
      {"four dimensions",
       kGoodCollective + "system: {topology: {type: mesh, dims: @[2, 2, 2, 2]}}\n",
       "has 4 dimensions", "1 to 3"},
      {"dimension of zero", kGoodCollective + "system: {topology: {type: torus, dims: [4, @0]}}\n",
       "0 is out of range", "integer, 1 to"},
      {"dimension that is a word",
       kGoodCollective + "system: {topology: {type: torus, dims: [4, @four]}}\n",
       "'four' is not an integer", "integer, 1 to"},
      {"rates of two of three dimensions",
       kGoodCollective +
           "system: {topology: {type: torus, dims: [4, 4, 4], bandwidth: @[16GB/s, 8GB/s]}}\n",
       "system.topology.bandwidth has 2 entries, and the grid has 3 dimensions",
       "one entry for each dimension"},
      {"a dimension's rate that no flit carries in a cycle",
       kGoodCollective + "system: {router: {flit_bytes: 16}, topology: {type: torus, dims: [4, 4], "
                         "bandwidth: [link, @40GB/s]}}\n",
       "40GB/s is more than 16 B x 1GHz", "system.router.flit_bytes: 64"},
      {"wrap of one of two dimensions",
       kGoodCollective + "system: {topology: {type: grid, dims: [4, 4], wrap: @[true]}}\n",
       "system.topology.wrap has 1 entries", "one entry for each dimension"},
      {"wrap of a torus",
       kGoodCollective + "system: {topology: {type: torus, dims: [4, 4], wrap: @[true, true]}}\n",
       "it is used only where system.topology.type is grid", ""},
      {"grid without wrap", kGoodCollective + "system: {@topology: {type: grid, dims: [4, 4]}}\n",
       "missing key 'system.topology.wrap'", "true or false"},
      {"three links in a ring of two nodes",
       kGoodCollective + "system: {topology: {type: torus, dims: [4, 2], links: @[1, 3]}}\n",
       "a ring of two nodes has 1 link or an even number", "2 links"},
      {"twist of a line",
       kGoodCollective +
           "system: {topology: {type: grid, dims: [4, 8], wrap: [true, false], twist: @[4]}}\n",
       "do not both wrap around", ""},
      {"twist by a whole dimension",
       kGoodCollective + "system: {topology: {type: torus, dims: [4, 8], twist: @[8]}}\n",
       "x leads 8 places further in y", "fewer places"},
      {"twists of three dimensions in two",
       kGoodCollective + "system: {topology: {type: torus, dims: [4, 8], twist: @[4, 4, 0]}}\n",
       "3 entries for 2 dimensions", "[x in y]"},
      {"control character in a path",
       kGoodCollective + "system: {topology: {type: file, file: @\"a\\0b\"}}\n",
       "contains a control character", ""},
  };
  return cases;
}

const std::vector<BadCase>& cross_cases() {
  static const std::vector<BadCase> cases{
      {"the authors' NI for a program",
       "system: {topology: {type: mesh, dims: [4, 4]}, ni: {rules: @authors, lockstep: nop}}\n"
       "collective: {algorithm: line, size: 1MiB}\n",
       "system.ni.rules: authors: line is a program", "system.ni.rules: linked"},
      {"the authors' NI for a traffic pattern",
       "system: {topology: {type: torus, dims: [4, 4]}, ni: {rules: @authors_linked}}\n"
       "traffic: {pattern: uniform, message: 64B}\n",
       "system.ni.rules: authors_linked: messages of a traffic pattern have no timesteps",
       "system.ni.rules: linked"},
      {"the authors' hosts for gradients",
       "system: {topology: {type: torus, dims: [4, 4]}, ni: {rules: @authors, lockstep: nop}}\n"
       "collective: {algorithm: 2d_ring}\n"
       "training: {network: resnet50}\n",
       "its hosts post 2D-RING in two halves, but those of section training", "linked"},
      {"the authors' NI for auto",
       "system: {topology: {type: torus, dims: [4, 4]}, ni: {rules: @authors, lockstep: nop}}\n"
       "collective: {algorithm: auto, size: 1MiB}\n",
       "auto compares algorithms for NIs whose ports are bound to links",
       "system.ni.rules: linked"},
      {"the authors' order of planned entries",
       "system: {topology: {type: torus, dims: [4, 4]}, ni: {rules: @authors, lockstep: nop}}\n"
       "collective: {algorithm: forest, size: 1MiB}\n",
       "system.ni.rules: authors: forest plans the order of the entries",
       "system.ni.rules: linked"},
      {"the authors' order of rows that repeat",
       with_system("  ni: {table_repeat: true, rules: @authors, lockstep: nop}\n"),
       "a row that repeats (system.ni.table_repeat) gives its entries one after the other",
       "system.ni.rules: linked"},
      {"lockstep of a counter with the authors' rules",
       with_system("  ni: {rules: authors, lockstep: @drain}\n"),
       "system.ni.lockstep: drain, but system.ni.rules is authors", "nop, or off"},
      {"default lockstep with the authors' rules", with_system("  ni: {rules: @authors}\n"),
       "system.ni.lockstep: estimate, but system.ni.rules is authors", "nop, or off"},
      {"lockstep by NOPs without the authors' rules", with_system("  ni: {lockstep: @nop}\n"),
       "only NIs of MultiTree's authors count NOPs alone", "system.ni.rules: authors"},
      {"Verilog that decides for the head only",
       with_system("  ni: {rules: authors, lockstep: off}\n") +
           "simulation: {rtl: @[ni_control]}\n",
       "decides for the head of the table only, and system.ni.rules is authors",
       "remove ni_control"},
      {"Verilog that keeps messages in table order",
       with_system("  ni: {rules: authors_linked, lockstep: off}\n") +
           "simulation: {rtl: @[dependency_state]}\n",
       "decides for the head of the table only, and system.ni.rules is authors_linked",
       "remove ni_control"},
      {"more turnaround than the Verilog counts",
       with_system("  ni: {turnaround_cycles: @5}\n") + "simulation: {rtl: [dependency_state]}\n",
       "dependency_state.v has 4 cycles of turnaround here, but this point needs 5",
       "leave out dependency_state"},
      {"more ports of an NI than the Verilog has",
       with_system("  ni: {ports: @17}\n") + "simulation: {rtl: [ni_control]}\n",
       "ni_control.v has 16 entries in a cycle here, but this point needs 17",
       "leave out ni_control"},
      {"more VCs than the Verilog has",
       with_system("  router: {vcs: @20}\n") + "simulation: {rtl: [output_hold]}\n",
       "output_hold.v has 16 VCs here, but this point needs 20", "leave out output_hold"},
      {"more ports than the Verilog has",
       kGoodCollective +
           "system: {topology: {type: @switch, nodes: 20}}\nsimulation: {rtl: [output_hold]}\n",
       "output_hold.v has 16 ports of a router here, but this point needs 20",
       "leave out output_hold"},
      {"more ports of a node of many dimensions than the Verilog has",
       "system: {preset: themis_3d_fc_ring_sw, topology: {type: @dimensions}}\n"
       "simulation: {rtl: [output_hold]}\ncollective: {algorithm: baseline, size: 1MB}\n",
       "output_hold.v has 16 ports of a router here, but this point needs 24",
       "leave out output_hold"},
      {"torus of one node", kGoodCollective + "system: {topology: {type: torus, dims: @[1, 1]}}\n",
       "a network needs at least 2 nodes", "for example [4, 4]"},
      {"torus of too many nodes",
       kGoodCollective + "system: {topology: {type: torus, dims: @[65536, 65536, 65536]}}\n",
       "at most 65536", ""},
      {"dims for a file",
       kGoodCollective + "system: {topology: {type: file, file: x, dims: @[4, 4]}}\n",
       "system.topology.dims contradicts 'system.topology.type'", "remove one of the two"},
      {"spines for a BiGraph",
       "system: {topology: {type: bigraph, nodes_per_switch: 2, switches: 4, spines: @2}}\n"
       "traffic: {}\n",
       "system.topology.spines contradicts 'system.topology.type': it is used only where "
       "system.topology.type is fat_tree",
       "remove one of the two"},
      {"switches for a dragonfly",
       "system: {topology: {type: dragonfly, nodes_per_switch: 1, group_size: 2, groups: 2, "
       "switches: @4}}\ntraffic: {}\n",
       "used only where system.topology.type is fat_tree or bigraph", "remove one of the two"},
      {"nodes for a fat-tree",
       "system: {topology: {type: fat_tree, nodes_per_switch: 2, switches: 2, spines: 2, nodes: "
       "@4}}\ntraffic: {}\n",
       "system.topology.nodes contradicts 'system.topology.type'", "remove one of the two"},
      {"a network of one node", "system: {topology: {type: switch, nodes: @1}}\ntraffic: {}\n",
       "system.topology.nodes: 1 is out of range", "integer, 2 to 65536"},
      {"a BiGraph with an odd number of switches",
       "system: {topology: {type: bigraph, nodes_per_switch: 4, switches: @7}}\ntraffic: {}\n",
       "a BiGraph needs an even number of switches, half of them on either side; found 7",
       "for example 8"},
      {"a BiGraph of one side",
       "system: {topology: {type: bigraph, nodes_per_switch: 4, switches: @1}}\ntraffic: {}\n",
       "system.topology.switches: 1 is out of range", "integer, 2 to"},
      {"a dragonfly of one group",
       "system: {topology: {type: dragonfly, nodes_per_switch: 1, group_size: 2, groups: @1}}\n"
       "traffic: {}\n",
       "system.topology.groups: 1 is out of range", "integer, 2 to"},
      {"a fat-tree of too many nodes",
       "system: {topology: {type: fat_tree, nodes_per_switch: 4096, switches: @17, spines: 1}}\n"
       "traffic: {}\n",
       "fat_tree 4096x17x1 has 69632 nodes; allowed are at most 65536", ""},
      {"a dragonfly of too many nodes",
       "system: {topology: {type: dragonfly, nodes_per_switch: 65536, group_size: 65536, groups: "
       "@65536}}\ntraffic: {}\n",
       "has 281474976710656 nodes; allowed are at most 65536", ""},
      {"a fully connected network of too many links",
       "system: {topology: {type: fully_connected, nodes: @1025}}\ntraffic: {}\n",
       "fully_connected 1025 has 1049600 links; allowed are at most 1048576", ""},
      {"a switch of too many ports",
       "system: {topology: {type: switch, nodes: @4097}}\ntraffic: {}\n",
       "switch 4097 has 4097 ports at one router; allowed are at most 4096", ""},
      {"a spine of too many ports",
       "system: {topology: {type: fat_tree, nodes_per_switch: 1, switches: @5000, spines: 2}}\n"
       "traffic: {}\n",
       "has 5000 ports at one router; allowed are at most 4096", ""},
      {"NIC links for a fat-tree",
       "system: {topology: {type: fat_tree, nodes_per_switch: 2, switches: 2, spines: 2, "
       "nic_link: {bandwidth: @1GB/s}}}\ntraffic: {}\n",
       "system.topology.nic_link.bandwidth contradicts 'system.topology.type': it is used only "
       "where system.topology.type is gpu_cluster",
       "remove one of the two"},
      {"NIC groups that do not divide a server",
       "system: {topology: {type: gpu_cluster, servers: 2, gpus_per_server: @8, "
       "gpus_per_nic_group: 3}}\ntraffic: {}\n",
       "system.topology.gpus_per_server: 8 is not a multiple of the 3 GPUs that share NICs",
       "for example 9"},
      {"a cluster of one GPU",
       "system: {topology: {type: gpu_cluster, servers: 1, gpus_per_server: @1}}\ntraffic: {}\n",
       "a network needs at least 2 nodes; gpu_cluster 1x1 has 1", "for example 8"},
      {"a fabric of too many ports",
       "system: {topology: {type: gpu_cluster, servers: 2100, gpus_per_server: @8}}\ntraffic: {}\n",
       "gpu_cluster 2100x8 has 16800 ports at one router; allowed are at most 16384", ""},
      {"a NIC link faster than the clock",
       "system: {router: {flit_bytes: 16}, topology: {type: gpu_cluster, servers: 2, "
       "gpus_per_server: 2, nic_link: {bandwidth: @17GB/s}}}\ntraffic: {}\n",
       "a link carries at most one flit per router cycle", "set system.router.flit_bytes: 32"},
      {"file for a torus",
       kGoodCollective + "system: {topology: {type: torus, dims: [4, 4], file: @x}}\n",
       "system.topology.file contradicts 'system.topology.type'", "remove one of the two"},
      {"graph file that does not exist",
       kGoodCollective + "system: {topology: {type: file, file: @no/such.yaml}}\n",
       "'no/such.yaml' cannot be read: No such file", "relative to the configuration's folder"},
      {"link faster than a flit per cycle",
       with_system("  router: {flit_bytes: 16}\n  link: {bandwidth: @33GB/s}\n"),
       "at most one flit per router cycle: 33GB/s is more than 16 B x 1GHz = 16GB/s",
       "set system.router.flit_bytes: 64"},
      {"link so fast that payload and sub-message must grow too",
       with_system("  router: {flit_bytes: 16}\n  flow_control: {payload_bytes: 192}\n  link: "
                   "{bandwidth: @100GB/s}\n"),
       "100GB/s is more than 16 B x 1GHz = 16GB/s",
       "set system.router.flit_bytes: 128, system.flow_control.payload_bytes: 256"},
      {"clock too slow for the default link",
       with_system("  router: {clock: 500MHz, flit_bytes: @16}\n"),
       "at most one flit per router cycle: 16GB/s is more than 16 B x 500MHz = 8GB/s",
       "set system.router.flit_bytes: 32"},
      {"bandwidth with no common tick", with_system("  link: {bandwidth: @15999999999B/s}\n"),
       "ticks per cycle", "for example 16GB/s"},
      {"packet longer than a flit can count",
       with_system("  router: {vc_depth_flits: 1048576}\n"
                   "  flow_control: {mode: packet, payload_bytes: @1048576}\n"),
       "a packet has 65537 flits; allowed are at most 65535", "at most 1048544"},
      {"payload that is no whole number of flits",
       with_system("  flow_control: {payload_bytes: @250}\n"),
       "250 is not a multiple of the 16 B of a flit", "for example 256"},
      {"flit that does not divide the payload", with_system("  router: {flit_bytes: @24}\n"),
       "256 is not a multiple of the 24 B of a flit", "for example 264"},
      {"sub-message that is no whole number of sub-packets",
       with_system("  flow_control: {sub_message_bytes: @4000}\n"),
       "4000 is not a multiple of the 256 B payload", "for example 4096"},
      {"VC that holds no packet", with_system("  router: {vc_depth_flits: @16}\n"),
       "room for a whole packet of 17 flits, but a VC holds 16", "at least 17"},
      {"size that is no whole number of elements",
       with_collective("collective: {algorithm: multitree, size: [1MiB, @1026B]}\n"),
       "1026B is not a multiple of the element size, 4B", "for example 1028B"},
      {"an algorithm whose ranks get different bits",
       with_collective("collective: {algorithm: @window, size: 1KiB, bitwise_identical: true}\n"),
       "window adds in another order on every rank", "swing_latency"},
      {"too many segments of a program",
       with_collective("collective: {algorithm: @window, size: 1KiB, segments: 1000}\n"),
       "window runs with at most 256 segments; found 1000", ""},
      {"DMA of a fraction of a byte per cycle",
       with_system("  ni: {dma: {bandwidth: @1500MB/s}}\n"),
       "1500MB/s is not a whole number of bytes per cycle at 1GHz", "for example 2GB/s"},
      {"watchdog shorter than a link", with_simulation("simulation: {watchdog_cycles: @150}\n"),
       "150 cycles are too few", "more than 150"},
      {"a single VC for traffic on a torus",
       "system: {topology: {type: torus, dims: [4, 4]}, router: {vcs: @1}}\ntraffic: {}\n",
       "need 2 VCs", "at least 2"},
      {"a single VC for traffic on a dragonfly",
       "system: {topology: {type: dragonfly, nodes_per_switch: 1, group_size: 2, groups: 3}, "
       "router: {vcs: @1}}\ntraffic: {}\n",
       "packets across a dragonfly need 2 VCs, one for local links before the global link",
       "at least 2"},
      {"wormhole packets that hold the switch of a dragonfly",
       "system: {topology: {type: dragonfly, nodes_per_switch: 1, group_size: 2, groups: 3}, "
       "router: {switching: @wormhole}}\ntraffic: {}\n",
       "packets across a dragonfly can deadlock", "router.hold: flit"},
      {"wormhole packets that hold the switch of a torus",
       "system: {topology: {type: torus, dims: [4, 4]}, router: {switching: @wormhole}}\n"
       "traffic: {}\n",
       "packets around a torus can deadlock", "router.hold: flit"},
      {"transposed traffic on a network that is not square",
       "system: {topology: {type: mesh, dims: [4, 2]}}\ntraffic: {pattern: @transpose}\n",
       "transpose needs a square", "uniform and neighbor"},
      {"bit complement without a power of two of nodes",
       "system: {topology: {type: mesh, dims: [3, 2]}}\ntraffic: {pattern: @bit_complement}\n",
       "bit_complement needs a number of nodes that is a power of two", "uniform and neighbor"},
      {"no file for traffic from one", kGoodSystem + "@traffic: {pattern: file}\n",
       "missing key 'traffic.file'", "a file's path"},
      {"file for another traffic pattern",
       kGoodSystem + "traffic: {pattern: uniform, file: @messages.csv}\n",
       "traffic.file contradicts 'traffic.pattern'", "remove one of the two"},
      {"file of messages that does not exist",
       kGoodSystem + "traffic: {pattern: file, file: @no/such.csv}\n",
       "'no/such.csv' cannot be read: No such file", "relative to the configuration's folder"},
      {"trains with a switch held for single flits",
       with_system("  router: {hold: flit}\n") + "simulation: {fidelity: @train}\n",
       "train is not exact with system.router.hold: flit", "simulation.fidelity: cycle"},
      {"trains of wormhole packets",
       with_system("  router: {switching: wormhole}\n") + "simulation: {fidelity: @train}\n",
       "train is not exact with system.router.switching: wormhole", "simulation.fidelity: cycle"},
      {"trains under monitors", with_simulation("simulation: {monitors: true, fidelity: @train}\n"),
       "train is not exact with simulation.monitors", "simulation.fidelity: cycle"},
      {"trains with stalled flits",
       with_simulation("simulation: {stall_probability: 0.1, fidelity: @train}\n"),
       "train is not exact with simulation.stall_probability", "simulation.fidelity: cycle"},
      {"lockstep list with traffic",
       "system: {topology: {type: torus, dims: [4, 4]}, ni: {lockstep: @[off, drain]}}\ntraffic: "
       "{}\n",
       "found a list, but the key has no effect with 'traffic'", "no timesteps"},
      {"algorithm that does not fit the topology",
       "system: {topology: {type: torus, dims: [4]}}\n"
       "collective: {algorithm: @2d_ring, size: 1MiB}\n",
       "2d_ring does not run on this topology", "allowed: "},
      {"algorithm that does not compute the operation",
       "system: {topology: {type: torus, dims: [4]}}\n"
       "collective: {op: @all_gather, algorithm: dbtree, size: 1MiB}\n",
       "collective.op: dbtree computes all_reduce, not all_gather",
       "allowed: ring, bidirectional_ring, hierarchical_ring, multitree"},
      {"a root that is no rank",
       "system: {topology: {type: torus, dims: [4]}}\n"
       "collective: {op: broadcast, algorithm: forest, size: 1MiB, root: @4}\n",
       "collective.root: there is no rank 4; ranks are 0 to 3", "collective.root: 0"},
      {"a root that is no rank of the group",
       "system: {topology: {type: torus, dims: [4]}}\n"
       "collective: {op: reduce, algorithm: forest, size: 1MiB, ranks: [3, 1], root: @2}\n",
       "collective.root: there is no rank 2; ranks are 0 to 1", "collective.root: 0"},
      {"one of several groups with a node twice",
       "system: {topology: {type: torus, dims: [4]}}\n"
       "collective: {algorithm: ring, size: 1MiB, groups: [[0, 1], @[2, 2]]}\n",
       "collective.groups: node 2 is listed twice", "[[0, 1], [2, 3]]"},
      {"several groups of which one has half an element",
       "system: {topology: {type: torus, dims: [4]}}\n"
       "collective: {algorithm: ring, size: 1MiB, groups: [[0, 1], {ranks: [2, 3], size: @6B}]}\n",
       "collective.groups: 6 bytes are no whole elements of 4 bytes", "8B"},
      {"several groups that broadcast",
       "system: {topology: {type: torus, dims: [4]}}\n"
       "collective: {op: broadcast, algorithm: forest, size: 1MiB, groups: @[[0, 1], [2, 3]]}\n",
       "collective.groups: several groups compute no broadcast", "all_gather"},
      {"one group in a list of several",
       "system: {topology: {type: torus, dims: [4]}}\n"
       "collective: {algorithm: ring, size: 1MiB, groups: @[[0, 1]]}\n",
       "collective.groups: one group is named by collective.ranks", "[0, 1]"},
      {"several groups beside one",
       "system: {topology: {type: torus, dims: [4]}}\n"
       "collective: {algorithm: ring, size: 1MiB, ranks: [0, 1], groups: @[[0, 1], [2, 3]]}\n",
       "collective.groups contradicts 'collective.ranks'", "remove one"},
      {"a group with a node that does not exist",
       "system: {topology: {type: torus, dims: [4]}}\n"
       "collective: {algorithm: ring, size: 1MiB, ranks: @[0, 4]}\n",
       "collective.ranks: there is no node 4; the network has nodes 0 to 3", "[0, 1]"},
      {"a group with a node twice",
       "system: {topology: {type: torus, dims: [4]}}\n"
       "collective: {algorithm: ring, size: 1MiB, ranks: @[2, 2]}\n",
       "collective.ranks: node 2 is listed twice", "[0, 1]"},
      {"a group of one node",
       "system: {topology: {type: torus, dims: [4]}}\n"
       "collective: {algorithm: ring, size: 1MiB, ranks: @[2]}\n",
       "collective.ranks: one node is no group", "[0, 1]"},
      {"a group with a rank order",
       "system: {topology: {type: torus, dims: [4]}}\n"
       "collective: {algorithm: ring, size: 1MiB, ranks: @[2, 0], rank_order: random}\n",
       "the list is the order of the ranks", "[0, 1]"},
      {"an algorithm that does not run in a group",
       "system: {topology: {type: torus, dims: [4, 4]}}\n"
       "collective: {algorithm: @2d_ring, size: 1MiB, ranks: [0, 1, 2, 3]}\n",
       "2d_ring does not run on this topology", "allowed: ring"},
      {"counts of a file that does not exist",
       "system: {topology: {type: torus, dims: [4]}}\n"
       "collective: {op: all_to_allv, algorithm: direct, size: 1MiB, counts: @no/such.csv}\n",
       "'no/such.csv' cannot be read: No such file", "zipf, or a path"},
      {"parts of several groups",
       "system: {topology: {type: torus, dims: [4]}}\n"
       "collective: {op: all_gatherv, algorithm: ring, size: 1MiB, groups: @[[0, 1], [2, 3]]}\n",
       "several groups compute no all_gatherv", "all_gather and all_to_all"},
      {"no segment at all",
       "system: {topology: {type: torus, dims: [4]}}\n"
       "collective: {algorithm: dbtree, size: 1MiB, segments: @0}\n",
       "collective.segments", "auto"},
  };
  return cases;
}

void check_case(const BadCase& bad) {
  INFO(bad.what);
  const Marked marked = unmark(bad.input);
  const ConfigResult result = read_run_config_text("bad.yaml", marked.text);
  INFO(result.diagnostics);
  INFO("expected at " << marked.line << ":" << marked.column << ": " << bad.message);
  CHECK_FALSE(result.ok);
  CHECK(result.points.empty());
  const auto all = parse_diagnostics(result.diagnostics);
  const Printed* found = find_at(all, marked, bad.message);
  REQUIRE(found != nullptr);
  CHECK(found->where == "bad.yaml");
  CHECK(found->severity == "error");
  CHECK(found->caret_column == marked.column);
  CHECK(found->hint.find(bad.hint) != std::string::npos);
  const bool printable = std::none_of(marked.excerpt.begin(), marked.excerpt.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == '\xff' || c == '\xe9';
  });
  const bool reordered = marked.excerpt.find("\u202e") != std::string::npos;
  if (printable && !reordered) CHECK(found->excerpt == marked.excerpt);
}

}  // namespace

TEST_CASE("Broken or unusual YAML is refused at its place") {
  for (const BadCase& bad : syntax_cases()) check_case(bad);
}

TEST_CASE("Unknown, empty and missing keys are refused at their place") {
  for (const BadCase& bad : key_cases()) check_case(bad);
}

TEST_CASE("Values of the wrong form or range are refused at their place") {
  for (const BadCase& bad : value_cases()) check_case(bad);
}

TEST_CASE("Contradictions between keys are refused at the place of the first key") {
  for (const BadCase& bad : cross_cases()) check_case(bad);
}

TEST_CASE("A single mistake gives a single message") {
  const auto count = [](const std::string& input) {
    const ConfigResult result = read_run_config_text("bad.yaml", unmark(input).text);
    return parse_diagnostics(result.diagnostics).size();
  };
  for (const auto* cases : {&syntax_cases(), &key_cases(), &value_cases(), &cross_cases()}) {
    for (const BadCase& bad : *cases) {
      const std::string what = bad.what;
      // These inputs are wrong in more than one way.
      const bool several =
          what == "column counts characters, not bytes" || what == "dims for a file";
      INFO(what);
      INFO(read_run_config_text("bad.yaml", unmark(bad.input).text).diagnostics);
      if (!several) CHECK(count(bad.input) == 1);
    }
  }
}

TEST_CASE("Nesting far deeper than the library's own limit is refused like any other") {
  for (const char* opening : {"[", "{a: ", "- ", "? "}) {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += opening;
    const ConfigResult result = read_run_config_text("deep.yaml", text);
    CHECK_FALSE(result.ok);
    CHECK(result.diagnostics.find("the text is nested more than 32 levels deep") !=
          std::string::npos);
  }
}

TEST_CASE("All errors of a file are reported in one run, in file order") {
  const std::string text =
      "system:\n"
      "  topology: {type: torus, dims: [4, 0]}\n"
      "  link: {latency: 150, bandwith: 16GB/s}\n"
      "  router: {vcs: 040, vc_depth_flits: 10}\n"
      "  ni: {lockstep: estimat}\n"
      "collective: {algorithm: ringg, size: 1026B}\n"
      "simulation: {check: yes}\n";
  const ConfigResult result = read_run_config_text("many.yaml", text);
  INFO(result.diagnostics);
  CHECK_FALSE(result.ok);
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (const Printed& printed : parse_diagnostics(result.diagnostics)) {
    places.emplace_back(printed.line, printed.column);
  }
  const std::vector<std::pair<std::size_t, std::size_t>> expected{
      {2, 37}, {3, 19}, {3, 24}, {4, 17}, {4, 38}, {5, 18}, {6, 25}, {6, 38}, {7, 21}};
  CHECK(places == expected);
}

TEST_CASE("Warnings leave the result usable") {
  struct WarningCase {
    std::string input;
    const char* message;
    const char* hint;
  };
  const std::vector<WarningCase> cases{
      {with_system("  router: {vc_depth_flits: @318}\n"), "318 flits do not cover the credit loop",
       "319 flits or more cover it"},
      {with_system(
           "  link: {latency: 151ns}\n  router: {vc_depth_flits: @318, pipeline_cycles: 2}\n"),
       "318 flits do not cover the credit loop", "320 flits or more cover it"},
      {with_system("  link: {latency: @1.5ns}\n"),
       "1500ps is not a whole number of cycles at 1GHz: rounded "
       "up to 2 cycles",
       ""},
      {with_system("  link: {credit_latency: @10.1ns}\n"), "rounded up to 11 cycles", ""},
      {with_system("  flow_control: {mode: packet, sub_message_bytes: @8192}\n"),
       "system.flow_control.sub_message_bytes has no effect", ""},
      {with_system("  flow_control: {mode: message, pad_last_packet: @true}\n"),
       "system.flow_control.pad_last_packet has no effect", ""},
  };
  for (const WarningCase& warned : cases) {
    const Marked marked = unmark(warned.input);
    const ConfigResult result = read_run_config_text("w.yaml", marked.text);
    INFO(marked.text);
    INFO(result.diagnostics);
    CHECK(result.ok);
    CHECK(result.num_warnings == 1);
    CHECK(result.points.size() == 1);
    const auto all = parse_diagnostics(result.diagnostics);
    const Printed* found = find_at(all, marked, warned.message);
    REQUIRE(found != nullptr);
    CHECK(found->severity == "warning");
    CHECK(found->caret_column == marked.column);
    CHECK(found->hint.find(warned.hint) != std::string::npos);
  }
}

TEST_CASE("A depth that just covers the credit loop does not warn") {
  const auto warnings = [](const std::string& body) {
    const ConfigResult result = read_run_config_text("w.yaml", with_system(body));
    INFO(result.diagnostics);
    REQUIRE(result.ok);
    return result.num_warnings;
  };
  CHECK(warnings("  router: {vc_depth_flits: 318, pipeline_cycles: 2}\n") == 0);
  CHECK(warnings("  router: {vc_depth_flits: 319}\n") == 0);  // a pipeline of 3 cycles
  CHECK(warnings("  link: {latency: 1us}\n") == 0);           // the depth is not given
  // Half the rate: half as many flits are on their way, 152 + 16.
  CHECK(warnings("  link: {bandwidth: 8GB/s}\n  router: {vc_depth_flits: 168}\n") == 0);
  CHECK(warnings("  link: {bandwidth: 8GB/s}\n  router: {vc_depth_flits: 167}\n") == 1);
  // Wormhole asks for one flit, not a packet: 303.
  CHECK(warnings("  router: {switching: wormhole, vc_depth_flits: 303}\n") == 0);
  CHECK(warnings("  router: {switching: wormhole, vc_depth_flits: 302}\n") == 1);
  CHECK(warnings("  link: {credit_latency: 50ns}\n  router: {vc_depth_flits: 219}\n") == 0);
  CHECK(warnings("  link: {credit_latency: 50ns}\n  router: {vc_depth_flits: 218}\n") == 1);
}

TEST_CASE("Files that cannot be read are reported by name") {
  const ConfigResult missing = read_run_config("no/such/file.yaml");
  CHECK_FALSE(missing.ok);
  CHECK(missing.diagnostics.find(
            "no/such/file.yaml: error: the file cannot be read: No such file") == 0);
  const std::string folder = std::filesystem::temp_directory_path().string();
  const ConfigResult directory = read_run_config(folder);
  CHECK_FALSE(directory.ok);
  CHECK(directory.diagnostics == folder + ": error: the file is a folder\n");
}

TEST_CASE("A schedule needs a collective, an area estimate needs neither workload") {
  const std::string traffic = kGoodSystem + "traffic: {pattern: uniform}\n";
  const auto read = [](const std::string& text, ConfigNeed need) {
    return read_run_config_text("n.yaml", text, "", {}, need);
  };
  CHECK(read(kGoodSystem + kGoodCollective, ConfigNeed::collective).ok);
  CHECK(read(kGoodSystem, ConfigNeed::system).ok);
  CHECK(read(traffic, ConfigNeed::system).ok);
  const ConfigResult refused = read(traffic, ConfigNeed::collective);
  CHECK_FALSE(refused.ok);
  CHECK(refused.diagnostics.find("n.yaml:2:1: error: missing section 'collective'") == 0);
  CHECK_FALSE(read(kGoodSystem, ConfigNeed::collective).ok);
}

TEST_CASE("Stalls that can outlast the watchdog are a warning, with the watchdog that is enough") {
  const auto warned = [](const std::string& probability) {
    const ConfigResult result = read_run_config_text(
        "stalls.yaml", with_simulation("simulation: {stall_probability: " + probability + "}\n"),
        "");
    CAPTURE(result.diagnostics);
    CHECK(result.ok);
    CHECK(result.num_warnings == 1);
    return result.diagnostics;
  };
  const std::string once = warned("0.999999");
  CHECK_THAT(once,
             Catch::Matchers::Contains("stalls can last longer than the watchdog's 100000 cycles"));
  CHECK_THAT(once, Catch::Matchers::Contains("simulation.watchdog_cycles: at least 50000000"));
  CHECK_THAT(warned("0.9999999999999999"), Catch::Matchers::Contains("use a smaller probability"));
}

}  // namespace espalier
