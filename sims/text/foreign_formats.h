// Formats of other tools that no command reads, so that an error names the file's format.
#pragma once

#include <string>
#include <string_view>

namespace espalier {

// To be appended to a file's name: "is a gzip archive: unpack it first". Empty for other texts.
[[nodiscard]] std::string foreign_format(std::string_view text);

// The name of the first element of an XML document, behind comments and declarations. Empty if the
// text does not begin as XML.
[[nodiscard]] std::string xml_root(std::string_view text);

}  // namespace espalier
