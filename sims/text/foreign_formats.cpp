#include "sims/text/foreign_formats.h"

#include <algorithm>
#include <cctype>

#include "sims/text/utf8.h"

namespace espalier {

namespace {

constexpr std::size_t kLooked = 4096;  // bytes from the beginning in which words are looked for

struct Look {
  std::string_view whole;
  std::string_view begin;  // without a byte order mark and blanks

  [[nodiscard]] bool has(std::string_view word) const {
    return whole.find(word) != std::string_view::npos;
  }
  [[nodiscard]] bool starts(std::string_view word) const {
    return begin.substr(0, word.size()) == word;
  }
  [[nodiscard]] bool bytes(std::string_view magic) const {
    return whole.substr(0, magic.size()) == magic;
  }
  [[nodiscard]] bool is_json() const { return starts("{"); }
};

struct Foreign {
  const char* what;  // "is ..."
  bool (*is_it)(const Look&);
};

using namespace std::string_view_literals;

// Protobuf messages, each behind its length: Chakra's GlobalMetadata with a version or a schema,
// or without fields and then a node, whose first fields are id and name.
bool is_chakra(const Look& look) {
  std::size_t at = 0;
  std::size_t length = 0;
  for (unsigned shift = 0; at < look.whole.size() && shift < 28; shift += 7) {
    const auto byte = static_cast<unsigned char>(look.whole[at++]);
    length |= std::size_t{byte & 0x7fU} << shift;
    if (byte < 0x80) break;
  }
  const std::string_view message = look.whole.substr(at);
  if (length == 0) return look.bytes("\0"sv) && message.size() > 2 && message[1] == '\x08';
  if (length < 4 || message.size() < std::min(length, kLooked - 8)) return false;
  if (message[0] == '\x12') return message.substr(2, 8).find("schema") != std::string_view::npos;
  return message[0] == '\n' && message[1] >= 3 && message[1] <= 16 &&
         std::isdigit(static_cast<unsigned char>(message[2])) != 0 && message[3] == '.';
}

// The first row that fits counts.
constexpr Foreign kForeign[] = {
    {"is compressed (gzip or zstd): unpack it first",
     [](const Look& l) { return l.bytes("\x1f\x8b"sv) || l.bytes("\x28\xb5\x2f\xfd"sv); }},
    {"is an archive of NumPy arrays (.npz): write the network as a graph (docs/topologies.md)",
     [](const Look& l) { return l.bytes("PK\3\4"sv) && l.has(".npy"); }},
    {"is a zip archive: unpack it first", [](const Look& l) { return l.bytes("PK\3\4"sv); }},
    {"is a NumPy array (.npy): write the network as a graph (docs/topologies.md)",
     [](const Look& l) { return l.bytes("\x93NUMPY"sv); }},
    {"is a pickle of Python: write its graph with networkx.write_graphml or write_edgelist",
     [](const Look& l) {
       return l.whole.size() > 2 && l.whole[0] == '\x80' && l.whole[1] >= 2 && l.whole[1] <= 5;
     }},
    {"is a Chakra execution trace (protobuf): name the traces of all ranks by workload.file "
     "(docs/training.md)",
     is_chakra},
    {"is a waveform (VCD or FST), which is written and never read",
     [](const Look& l) {
       return l.starts("$date") || l.starts("$version") || l.starts("$timescale") ||
              l.bytes("\0\0\0\0\0\0\0\1\x49"sv);
     }},
    {"is a model in ONNX, which no command reads: list its layers as SCALE-Sim does "
     "(docs/training.md)",
     [](const Look& l) {
       return l.bytes("\x08"sv) && l.whole.size() > 3 && l.whole[2] == '\x12' && l.has("onnx");
     }},
    {"is a timeline of Kineto, Chrome or Perfetto, which no command reads: describe the "
     "collectives in section collective or training",
     [](const Look& l) { return l.is_json() && l.has("\"traceEvents\""); }},
    {"is an execution trace of PyTorch: convert it with Chakra's tools, and name the traces of all "
     "ranks by workload.file in a configuration",
     [](const Look& l) {
       return l.is_json() && (l.has("\"workload_graph\"") ||
                              (l.has("\"schema\"") && (l.has("\"pid\"") || l.has("chakra"))));
     }},
    {"chooses ASTRA-sim's algorithms and names no network: give its network.yml",
     [](const Look& l) { return l.is_json() && l.has("-implementation\""); }},
    {"lists NCCL's rings and trees (<graphs>), not links: give the topology, which NCCL writes to "
     "NCCL_TOPO_DUMP_FILE",
     [](const Look& l) { return xml_root(l.begin) == "graphs"; }},
    {"is a workload of AICB: name it by workload.file in a configuration",
     [](const Look& l) { return l.has("comm_type,comm_group,"); }},
    {"is a workload of ASTRA-sim or SimAI: name it by workload.file in a configuration",
     [](const Look& l) {
       const auto word = l.begin.substr(0, std::min(l.begin.find_first_of(" \t\r\n"), kLooked));
       return word == "DATA" || word == "MODEL" || word == "MICRO" || l.starts("HYBRID_") ||
              l.has("model_parallel_NPU_group:");
     }},
    {"is a configuration of BookSim: write the network as system.topology (espalier list "
     "topologies); of BookSim's files only networks of type anynet are read",
     [](const Look& l) {
       return l.has(";") && l.has("topology") && (l.has("vc_buf_size") || l.has("num_vcs")) &&
              l.has("=");
     }},
    {"is text in UTF-16: write it in UTF-8",
     [](const Look& l) { return l.bytes("\xff\xfe"sv) || l.bytes("\xfe\xff"sv); }},
    {"is a graph of Graphviz (DOT) or in GML: write it with networkx.write_graphml or "
     "write_edgelist",
     [](const Look& l) {
       const auto word = l.begin.substr(0, l.begin.find_first_of(" \t\r\n{"));
       const bool is_dot = word == "graph" || word == "digraph" || word == "strict";
       return (is_dot && l.has("{")) ||
              ((l.starts("graph") || l.starts("Creator")) && l.has("[") && l.has("node"));
     }},
    {"is a topology of hwloc, which has no network: give the topology that NCCL writes to "
     "NCCL_TOPO_DUMP_FILE",
     [](const Look& l) {
       return xml_root(l.begin) == "topology" && l.has("<object type=\"Machine\"");
     }},
    {"is a program, an archive, a database or a picture, which no command reads",
     [](const Look& l) {
       constexpr std::size_t kTarMark = 257;
       constexpr std::string_view kMagics[] = {
           "\177ELF"sv, "BZh"sv,     "\3757zXZ"sv,     "7z\274\257"sv, "SQLite format 3"sv,
           "GIF8"sv,    "\211PNG"sv, "\377\330\377"sv, "\211HDF"sv};
       return std::any_of(std::begin(kMagics), std::end(kMagics),
                          [&](std::string_view magic) { return l.bytes(magic); }) ||
              (l.whole.size() > kTarMark && l.whole.substr(kTarMark, 5) == "ustar");
     }},
    {"is a configuration of gem5: write the network as system.topology (espalier list topologies)",
     [](const Look& l) { return l.starts("[root]") && l.has("type=Root"); }},
};

}  // namespace

std::string foreign_format(std::string_view text) {
  Look look{text.substr(0, kLooked), text.substr(0, kLooked)};
  if (look.bytes(kByteOrderMark)) look.begin.remove_prefix(kByteOrderMark.size());
  look.begin.remove_prefix(std::min(look.begin.find_first_not_of(" \t\r\n"), look.begin.size()));
  for (const Foreign& format : kForeign) {
    if (format.is_it(look)) return format.what;
  }
  return {};
}

std::string xml_root(std::string_view text) {
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    text.remove_prefix(kByteOrderMark.size());
  }
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (text.size() < 2 || text[0] != '<') return {};
    if (text[1] != '!' && text[1] != '?') break;
    const std::string_view end = text.substr(0, 4) == "<!--" ? "-->" : ">";
    const std::size_t at = text.find(end);
    if (at == std::string_view::npos) return {};
    text.remove_prefix(at + end.size());
  }
  return std::string(text.substr(1, text.find_first_of(" \t\r\n/>", 1) - 1));
}

}  // namespace espalier
