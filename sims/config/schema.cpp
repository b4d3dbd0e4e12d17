#include "sims/config/schema.h"

#include <fmt/format.h>

#include "sims/config/keys.h"
#include "sims/text/units.h"

namespace espalier {

namespace {

std::string units_line(const char* what, Quantity quantity) {
  std::string line = fmt::format("  {:<11}", what);
  for (const Unit& unit : units_of(quantity)) line += " " + unit.name;
  return line + "\n";
}

RunPoint point_with_every_section() {
  RunPoint point;
  point.collective.emplace();
  point.traffic.emplace();
  point.training.emplace();
  point.coordination.emplace();
  point.workload.emplace();
  point.control.emplace();
  point.tenants.emplace();
  point.faults.dma_jitter.emplace();
  return point;
}

std::string key_text(const Key& key, const std::string& name, std::size_t depth) {
  static const RunPoint defaults = point_with_every_section();
  const std::string indent(2 * depth, ' ');
  // Paths to files have no default.
  const bool has_default =
      !key.required && (key.shape.type != ValueType::text || !key.shape.zero_word.empty());
  const std::string value = has_default ? "default " + format_value(key.get(defaults), key.shape)
                                        : std::string(key.required ? "required" : "optional");
  std::string text = fmt::format("{}{}: {}; {}{}\n", indent, name, describe(key.shape), value,
                                 key.listable ? "; or a list" : "");
  text += fmt::format("{}    {}\n", indent, key.description);
  if (key.applies) text += fmt::format("{}    only where {}\n", indent, key.applies_when);
  return text;
}

void write_schema_section(const std::string& section, std::size_t depth, std::string& out) {
  for (const std::string& name : names_in_section(section)) {
    const std::string full = join_key(section, name);
    if (const Key* key = find_key(full)) {
      out += key_text(*key, name, depth);
    } else {
      out += fmt::format("{}{}:\n", std::string(2 * depth, ' '), name);
      write_schema_section(full, depth + 1, out);
    }
  }
}

}  // namespace

std::string schema_text() {
  std::string out =
      "A configuration is one YAML document. Numbers with a unit are written with it:\n";
  out += units_line("time", Quantity::time);
  out += units_line("bandwidth", Quantity::rate);
  out += units_line("frequency", Quantity::frequency);
  out += units_line("size", Quantity::size);
  out += units_line("length", Quantity::length);
  out +=
      "kB, MB, GB are powers of 1000, KiB, MiB, GiB of 1024. Booleans are true and false.\n"
      "A file has 'collective' or 'traffic', not both; 'training' stands beside 'collective' and\n"
      "says what is all-reduced, with 'coordination' of the hosts beside it, or 'workload' with\n"
      "collectives of its own; 'control' stands beside 'collective' or alone, 'tenants' beside it "
      "on\n"
      "a data_center. Lists run every "
      "combination.\n"
      "On the command line a key is its dotted name: -s system.link.latency=100ns\n\n";
  write_schema_section("", 0, out);
  return out;
}

}  // namespace espalier
