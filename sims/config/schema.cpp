// The text of `espalier schema`.
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

std::string key_text(const Key& key, const std::string& name, std::size_t depth) {
  static const RunPoint defaults = [] {
    RunPoint point;
    for (const Section& section : optional_sections()) section.add_to(point);
    return point;
  }();
  const std::string indent(2 * depth, ' ');
  // A path has no default.
  const bool has_default =
      !key.required && (key.shape.type != ValueType::text || !key.shape.zero_word.empty());
  const std::string value = has_default ? "default " + format_value(key.get(defaults), key.shape)
                                        : std::string(key.required ? "required" : "optional");
  std::string text = fmt::format("{}{}: {}; {}{}\n", indent, name, describe(key.shape), value,
                                 key.listable ? "; or a list" : "");
  text += fmt::format("{}    {}\n", indent, key.description);
  if (!key.conditions.empty()) {
    text += fmt::format("{}    only where {}\n", indent, key.applies_when());
  }
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
      "A file has 'collective' or 'traffic', not both. Beside 'collective' it may have\n"
      "  training      one iteration, whose gradients are all-reduced\n"
      "  coordination  beside 'training': the hosts agree on what is all-reduced when\n"
      "  workload      in place of 'training': iterations with collectives of their own\n"
      "  control       short messages; also alone\n"
      "  tenants       other tenants' traffic on a data_center\n"
      "A key that takes a list runs each value; several lists run every combination.\n"
      "On the command line a key is its dotted name: -s system.link.latency=100ns\n\n";
  write_schema_section("", 0, out);
  return out;
}

}  // namespace espalier
