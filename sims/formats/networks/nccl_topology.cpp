// The <system> that NCCL writes to NCCL_TOPO_DUMP_FILE and reads from NCCL_TOPO_FILE.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <pugixml.hpp>

#include "sims/formats/networks/network_formats.h"
#include "sims/formats/program/xml_document.h"

namespace espalier {

namespace {

constexpr std::size_t kDeepestPci = 64;

// NCCL's rates for one NVLink (its src/graph/topo.h), by the least compute capability; 86 is only
// itself.
struct NvlinkRate {
  std::int64_t sm;
  std::uint64_t tenths;
};
constexpr std::array<NvlinkRate, 6> kNvlinkRates{
    {{100, 401}, {90, 206}, {80, 200}, {70, 200}, {60, 180}, {0, 200}}};

std::uint64_t nvlink_tenths(std::int64_t sm) {
  if (sm == 86) return 120;
  return std::find_if(kNvlinkRates.begin(), kNvlinkRates.end(),
                      [&](const NvlinkRate& rate) { return sm >= rate.sm; })
      ->tenths;
}

// RCCL's rates of one xGMI link.
std::uint64_t xgmi_tenths(const std::string& gcn) {
  if (gcn.rfind("gfx94", 0) == 0 || gcn.rfind("gfx95", 0) == 0) return 480;
  return gcn == "gfx90a" || gcn == "910" ? 360 : 240;
}

// NCCL counts 6 bits of a transfer below Gen 3 and 7.5 from Gen 3 on. Nothing: unknown.
std::uint64_t pci_tenths(pugi::xml_node pci) {
  const double transfers = std::strtod(pci.attribute("link_speed").value(), nullptr);
  const std::uint64_t width = pci.attribute("link_width").as_uint();
  if (!(transfers >= 1 && transfers <= 1024) || width < 1 || width > 64) return 0;
  const auto per_lane = static_cast<std::uint64_t>(transfers < 8 ? transfers * 6 : transfers * 7.5);
  return std::max<std::uint64_t>(1, per_lane * width / 8);
}

std::string giga(std::uint64_t tenths) {
  return fmt::format("{:g} GB/s", static_cast<double>(tenths) / 10);
}

class NcclReader {
 public:
  NcclReader(const XmlSource& source, DrawnNetwork& drawn, Diagnostics& diagnostics)
      : source_(source), report_(source, diagnostics), drawn_(drawn) {}

  void read(pugi::xml_node system) {
    std::vector<std::size_t> cpus;
    for (const pugi::xml_node cpu : system.children("cpu")) {
      const std::size_t vertex =
          drawn_.add(fmt::format("cpu_{}", cpu.attribute("numaid").value()), "CPU", false);
      const std::uint64_t tenths = between_cpus(cpu);
      for (const std::size_t other : cpus) {
        add_host(
            other, vertex, tenths, cpu,
            fmt::format("{} between CPUs ({})", giga(tenths), cpu.attribute("vendor").value()));
      }
      cpus.push_back(vertex);
      if (cpus.size() > kMostCpus) return report_.error(cpu.name(), "more than 256 CPUs");
      walk(cpu, vertex, vertex, 0);
    }
    if (!gpus_.empty() && nvlinks_.empty()) {
      drawn_.notes.push_back(
          "the file has no nvlink or xgmi elements, so GPUs have PCIe only: NCCL looks for NVLinks "
          "when it runs; give the file that it writes to NCCL_TOPO_DUMP_FILE, or add <gpu "
          "dev=\"0\" sm=\"80\"><nvlink target=\"busid\" count=\"12\" tclass=\"0x068000\"/></gpu> "
          "to each GPU");
    }
    join();
    report_.end();
  }

 private:
  struct Nvlink {
    std::size_t gpu;
    std::size_t cpu;
    pugi::xml_node element;
    std::uint64_t tenths;
    std::string assumption;
  };

  static constexpr std::size_t kMostCpus = 256;

  [[nodiscard]] static std::uint64_t between_cpus(pugi::xml_node cpu) {
    const std::string vendor = cpu.attribute("vendor").value();
    if (std::strcmp(cpu.attribute("arch").value(), "ppc64") == 0) return 320;
    if (vendor == "AuthenticAMD") return 160;
    if (vendor != "GenuineIntel") return 60;
    // Broadwell, Skylake, Sapphire Rapids, Emerald Rapids.
    const int model = cpu.attribute("modelid").as_int();
    return model >= 207 ? 400 : model >= 143 ? 220 : model >= 85 ? 100 : 60;
  }

  void add_host(std::size_t a, std::size_t b, std::uint64_t tenths, pugi::xml_node at,
                const std::string& assumed) {
    const bool has_cpu = drawn_.vertices[a].kind == "CPU";
    const auto kind = has_cpu ? DrawnLink::Kind::cpu : DrawnLink::Kind::pcie;
    drawn_.links.push_back(
        {a, b, tenths * kTenth, 0, 1, source_.place(at.name()), false, kind, assumed});
  }

  void walk(pugi::xml_node parent, std::size_t above, std::size_t cpu, std::size_t depth) {
    if (depth > kDeepestPci) {
      return report_.error(parent.name(),
                           fmt::format("pci elements are nested more than {} deep", kDeepestPci));
    }
    for (const pugi::xml_node child : parent.children()) {
      const std::string name = child.name();
      if (name == "nic" && above == cpu)
        add_host(above, drawn_.add("nic", "NIC", false), 120, child, "");
      if (name != "pci" || report_.full()) continue;
      const std::string type = child.attribute("class").value();
      const std::string busid = child.attribute("busid").value();
      if (busid.empty()) {
        report_.error(child.name(), "pci: attribute 'busid' is missing");
        continue;
      }
      const pugi::xml_node gpu = child.child("gpu");
      const bool is_gpu = gpu || type.rfind("0x03", 0) == 0 || type.rfind("0x12", 0) == 0;
      const std::string kind = is_gpu                         ? "GPU"
                               : type.rfind("0x0680", 0) == 0 ? "NVSwitch"
                               : type.rfind("0x06", 0) == 0   ? "PCIe switch"
                               : type.rfind("0x02", 0) == 0   ? "NIC"
                                                              : "device";
      const std::string own = is_gpu ? fmt::format("gpu_{}", gpu ? gpu.attribute("dev").value()
                                                                 : std::to_string(gpus_.size()))
                                     : kind + "_" + busid;
      const std::size_t vertex = drawn_.add(own, kind, is_gpu);
      if (is_gpu) gpus_.push_back(vertex);
      if (!by_busid_.emplace(busid, vertex).second) {
        report_.error(child.attribute("busid").value(),
                      fmt::format("the busid '{}' is given twice", busid));
      }
      const std::uint64_t tenths = pci_tenths(child);
      add_host(above, vertex, tenths != 0 ? tenths : 120, child,
               tenths != 0 ? "" : "PCIe Gen 3 x16, 12 GB/s");
      if (gpu) read_gpu(gpu, vertex, cpu);
      if (!is_gpu) walk(child, vertex, cpu, depth + 1);
    }
  }

  void read_gpu(pugi::xml_node gpu, std::size_t vertex, std::size_t cpu) {
    const std::string gcn = gpu.attribute("gcn").value();
    for (const pugi::xml_node link : gpu.children()) {
      const bool is_xgmi = std::strcmp(link.name(), "xgmi") == 0;
      if (!is_xgmi && std::strcmp(link.name(), "nvlink") != 0) continue;
      const bool is_amd = is_xgmi || !gcn.empty();
      const std::int64_t sm = gpu.attribute("sm").as_int();
      const std::uint64_t tenths = is_amd ? xgmi_tenths(gcn) : nvlink_tenths(sm);
      nvlinks_.push_back({vertex, cpu, link, tenths,
                          is_amd ? fmt::format("xGMI {}, from gcn {}", giga(tenths), gcn)
                                 : fmt::format("NVLink {}, from sm {}", giga(tenths), sm)});
    }
  }

  // Both GPUs list the links between them; a switch lists none.
  void join() {
    std::map<std::pair<std::size_t, std::size_t>, std::uint32_t> ways;
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> joined;  // link, by its vertices
    std::size_t lost = 0;
    for (const Nvlink& nvlink : nvlinks_) {
      XmlElement element(nvlink.element, {"target", "count", "tclass"}, nullptr, nullptr, report_);
      const auto count = element.integer_or("count", {1, 64}, 1);
      if (!count) continue;
      const std::string target = element.text("target");
      const std::string type = element.text("tclass");
      auto found = by_busid_.find(target);
      if (found == by_busid_.end() && (type == "0x068000" || type.empty())) {
        found = by_busid_.emplace(target, drawn_.add("nvs_" + target, "NVSwitch", false)).first;
      }
      const bool to_cpu = found == by_busid_.end() && type == "0x068001";
      if ((found == by_busid_.end() && !to_cpu) || (!to_cpu && found->second == nvlink.gpu)) {
        ++lost;
        continue;
      }
      const std::size_t other = to_cpu ? nvlink.cpu : found->second;
      const std::uint32_t there = ways[{nvlink.gpu, other}] += static_cast<std::uint32_t>(*count);
      const auto [link, is_new] =
          joined.emplace(std::minmax(nvlink.gpu, other), drawn_.links.size());
      if (is_new) {
        drawn_.links.push_back({nvlink.gpu, other, nvlink.tenths * kTenth, 0, 0,
                                source_.place(nvlink.element.name()), false,
                                DrawnLink::Kind::network, nvlink.assumption});
      }
      std::uint32_t& links = drawn_.links[link->second].count;
      links = std::max(links, there);
    }
    if (lost == 0) return;
    drawn_.notes.push_back(fmt::format(
        "{} nvlink or xgmi elements are left out, whose target is the GPU itself or not in the "
        "file",
        lost));
  }

  const XmlSource& source_;
  XmlReport report_;
  DrawnNetwork& drawn_;
  std::vector<std::size_t> gpus_;
  std::map<std::string, std::size_t> by_busid_;
  std::vector<Nvlink> nvlinks_;
};

// The fastest NICs, at most one for each GPU, and as many GPUs for each.
void read_nics(pugi::xml_node system, NcclServer& server) {
  for (const pugi::xpath_node& found : system.select_nodes(".//net")) {
    const double speed = found.node().attribute("speed").as_double() / 8000;  // Mb/s
    if (!(speed > 0 && speed < 1e6) || speed < server.nic_rate) continue;
    if (speed > server.nic_rate) server.nics = 0;
    ++server.nics;
    server.nic_rate = speed;
    const std::uint64_t tenths = pci_tenths(found.node().parent().parent());
    server.nic_pcie = tenths == 0 ? 12 : static_cast<double>(tenths) / 10;
  }
  server.nics = std::min(server.nics, server.gpus);
  while (server.nics > 1 && server.gpus % server.nics != 0) --server.nics;
}

}  // namespace

std::optional<NcclServer> read_nccl_server(const std::string& file_name, const std::string& text,
                                           Diagnostics& diagnostics) {
  const std::size_t errors_before = diagnostics.num_errors();
  const XmlSource source(file_name, text, diagnostics);
  DrawnNetwork drawn;
  const pugi::xml_node system = source.document().child("system");
  NcclReader(source, drawn, diagnostics).read(system);
  if (diagnostics.num_errors() != errors_before) return std::nullopt;
  NcclServer server;
  server.place = {source.index(), 1, 1};
  const auto refuse = [&](const char* what, const std::string& hint) {
    diagnostics.error(server.place, what, hint);
    return std::nullopt;
  };
  std::map<std::size_t, std::uint64_t> rates;  // of the NVLinks of GPUs
  for (std::size_t v = 0; v < drawn.vertices.size(); ++v) {
    if (drawn.vertices[v].is_node) rates[v] = 0;
  }
  server.gpus = rates.size();
  const std::string network =
      fmt::format("the file as the network: system.topology: {{type: file, file: {}}}", file_name);
  if (server.gpus == 0) return refuse("the file has no GPUs", network);
  for (const pugi::xpath_node& found : system.select_nodes(".//gpu")) {
    const std::uint64_t sm = found.node().attribute("sm").as_uint();
    if (*found.node().attribute("gcn").value() != 0) {
      return refuse("these are AMD's GPUs, on which RCCL chooses by tables that are not known here",
                    network);
    }
    if (server.sm != 0 && sm != server.sm) return refuse("the GPUs are not alike", network);
    server.sm = sm;
  }
  for (const DrawnLink& link : drawn.links) {
    if (link.kind != DrawnLink::Kind::network) continue;
    if (drawn.vertices[link.b].kind != "NVSwitch") {
      return refuse(
          "NVLinks or xGMI join these GPUs directly, and in a machine for NCCL's choice a switch "
          "joins them",
          network);
    }
    rates[link.a] += link.count * link.bytes_per_second;
  }
  for (const auto& [gpu, rate] : rates) {
    if (rate != rates.begin()->second) return refuse("GPUs have unequal NVLinks", network);
  }
  server.nvlinks = static_cast<double>(rates.begin()->second) / 1e9;
  server.is_amd_host =
      std::strcmp(system.child("cpu").attribute("vendor").value(), "AuthenticAMD") == 0;
  read_nics(system, server);
  return server;
}

void read_nccl_topology(const std::string& file_name, const std::string& text, DrawnNetwork& drawn,
                        Diagnostics& diagnostics) {
  const XmlSource source(file_name, text, diagnostics);
  drawn.source = source.index();
  if (const pugi::xml_node system = source.document().child("system")) {
    NcclReader(source, drawn, diagnostics).read(system);
  }
}

}  // namespace espalier
