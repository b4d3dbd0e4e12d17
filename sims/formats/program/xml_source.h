// The text of an XML file, parsed, and where in it everything stands.
#pragma once

#include <cstddef>
#include <pugixml.hpp>
#include <string>
#include <vector>

#include "sims/text/diagnostics.h"

namespace espalier {

class XmlSource {
 public:
  // What is no well-formed XML in UTF-8 is one error in `diagnostics`, and the document is empty.
  XmlSource(const std::string& file_name, const std::string& text, Diagnostics& diagnostics);
  XmlSource(const XmlSource&) = delete;
  XmlSource& operator=(const XmlSource&) = delete;

  [[nodiscard]] pugi::xml_node document() const { return document_; }
  [[nodiscard]] SourceIndex index() const { return index_; }
  // `text`: a name or a value of the document. The file as a whole for any other.
  [[nodiscard]] Place place(const char* text) const;

 private:
  [[nodiscard]] Place place_of_offset(std::size_t offset) const;
  bool parse(Diagnostics& diagnostics);

  SourceIndex index_;
  std::vector<char> buffer_;  // parsed in place: names and values are pointers into it
  std::vector<std::size_t> line_starts_{0};
  pugi::xml_document document_;
};

}  // namespace espalier
