#include "sims/formats/program/xml_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace espalier {

namespace {

const char* what_is_wrong(pugi::xml_parse_status status) {
  switch (status) {
    case pugi::status_no_document_element:
      return "there is no element in it";
    case pugi::status_end_element_mismatch:
      return "an element is not closed, or closed by another one's tag";
    case pugi::status_bad_attribute:
      return "an attribute is name=\"value\"";
    case pugi::status_bad_comment:
      return "a comment is not closed";
    case pugi::status_bad_start_element:
      return "a tag is broken";
    case pugi::status_bad_end_element:
      return "a closing tag is broken";
    case pugi::status_unrecognized_tag:
      return "'<' begins no tag here";
    default:
      return "it is broken here";
  }
}

}  // namespace

XmlSource::XmlSource(const std::string& file_name, const std::string& text,
                     Diagnostics& diagnostics)
    : index_(diagnostics.add_file(file_name, text)), buffer_(text.begin(), text.end()) {
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
    line_starts_.push_back(at + 1);
  }
  if (!parse(diagnostics)) document_.reset();
}

bool XmlSource::parse(Diagnostics& diagnostics) {
  const std::string_view text(buffer_.data(), buffer_.size());
  // The parser takes it for the end.
  const std::size_t zero = text.find('\0');
  if (zero != std::string_view::npos || text.substr(0, 2) == "\xff\xfe" ||
      text.substr(0, 2) == "\xfe\xff") {
    diagnostics.error(place_of_offset(zero < text.size() ? zero : 0),
                      "this is no XML document in UTF-8: it holds bytes that are no text");
    return false;
  }
  const pugi::xml_parse_result result = document_.load_buffer_inplace(
      buffer_.data(), buffer_.size(), pugi::parse_default, pugi::encoding_utf8);
  if (result) return true;
  const auto offset = static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0));
  diagnostics.error(place_of_offset(offset),
                    fmt::format("this is no well-formed XML: {}", what_is_wrong(result.status)));
  return false;
}

Place XmlSource::place_of_offset(std::size_t offset) const {
  offset = std::min(offset, buffer_.size());
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const std::size_t start = *std::prev(next);
  return {index_, static_cast<std::uint32_t>(next - line_starts_.begin()),
          static_cast<std::uint32_t>(offset - start + 1)};
}

Place XmlSource::place(const char* text) const {
  // As numbers: a text outside the buffer must be comparable too.
  const auto at = reinterpret_cast<std::uintptr_t>(text);
  const auto begin = reinterpret_cast<std::uintptr_t>(buffer_.data());
  if (at < begin || at >= begin + buffer_.size()) return {index_, 0, 0};
  return place_of_offset(at - begin);
}

}  // namespace espalier
