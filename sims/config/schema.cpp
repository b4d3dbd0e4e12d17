// The text of `espalier schema`.
#include <fmt/format.h>

#include "sims/config/keys.h"
#include "sims/point/config.h"
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
      "A configuration is one YAML document. A number with a unit is written with the unit:\n";
  out += units_line("time", Quantity::time);
  out += units_line("bandwidth", Quantity::rate);
  out += units_line("frequency", Quantity::frequency);
  out += units_line("size", Quantity::size);
  out += units_line("length", Quantity::length);
  out +=
      "kB, MB and GB are powers of 1000; KiB, MiB and GiB are powers of 1024. Booleans are true "
      "and false.\nA file has either 'collective' or 'traffic'. Besides 'collective' it may have\n "
      " training      one training iteration, which all-reduces its gradients\n  coordination  "
      "with 'training': hosts agree which tensors are all-reduced next\n  workload      instead of "
      "'training': iterations with their own collectives\n  control       short control messages; "
      "also without a collective\n  tenants       traffic of other tenants on a data_center\nIf a "
      "key that takes a list has one, each value is run; several lists run every combination.\nOn "
      "the command line a key is given by its dotted name: -s system.link.latency=100ns\n\n";
  write_schema_section("", 0, out);
  return out;
}

}  // namespace espalier
