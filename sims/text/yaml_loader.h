// Strict YAML: input that the library would silently misread is an error with its place.
#pragma once

#include <optional>
#include <string>

#include "sims/text/config_node.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// Reads the one document in `text`. Refused: duplicate keys, anchors, aliases, merge keys, tags,
// several documents, tabs as indentation, keys that are not plain names, deep nesting, text that is
// not UTF-8. Returns no value if the syntax is broken. With duplicate or otherwise unusable keys,
// the rest of the tree is still returned, so that its errors are reported too.
[[nodiscard]] std::optional<ConfigNode> load_yaml(const std::string& text, SourceIndex source,
                                                  Diagnostics& diagnostics);

// The same for a file that must hold a mapping: an empty file is an error, and so is anything else,
// with the text `expected`.
[[nodiscard]] std::optional<ConfigNode> load_yaml_map(const std::string& text, SourceIndex source,
                                                      const char* expected, const char* example,
                                                      Diagnostics& diagnostics);

// Reads the value of an override, which starts at byte `offset` of "key=value".
[[nodiscard]] std::optional<ConfigNode> load_override_value(const std::string& value,
                                                            SourceIndex source, std::size_t offset,
                                                            Diagnostics& diagnostics);

}  // namespace espalier
