// Collects all errors and warnings of an input with their places, to be shown together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "sims/text/file_hashes.h"

namespace espalier {

// Number of a file or of a command-line override; see Diagnostics::add_file.
using SourceIndex = std::uint32_t;

// Line and byte column, both counted from 1. Line 0: the source as a whole.
struct Place {
  SourceIndex source = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

[[nodiscard]] bool operator<(const Place& a, const Place& b);

class Diagnostics {
 public:
  // `text` is split into lines for the excerpts. A text that nobody has written has no places.
  SourceIndex add_file(const std::string& name, const std::string& text, bool is_written = true);
  // For what is no text: its hash, and no source.
  void add_hash(const std::string& name, std::uint64_t hash) { file_hashes_[name] = hash; }
  // Hashes of the texts that were given to add_file, and of add_hash.
  [[nodiscard]] const FileHashes& file_hashes() const { return file_hashes_; }
  // An override as given, "key=value"; shown as "-s key=value". An override that was added before,
  // for another configuration, is the same source, so its errors are reported once.
  SourceIndex add_override(const std::string& assignment);

  void error(const Place& place, std::string message, std::string hint = {});
  void warning(const Place& place, std::string message, std::string hint = {});

  // A copy with the same sources and no messages, for one of several configurations made from them.
  [[nodiscard]] Diagnostics without_messages() const;
  // Adds the messages of `tried`, a former result of without_messages(). `note` names the
  // configuration that was tried.
  void take(const Diagnostics& tried, const std::string& note);

  struct Error {
    Place place;
    std::string text;
    std::string hint;
  };
  [[nodiscard]] std::vector<Error> errors() const;

  [[nodiscard]] std::size_t num_errors() const { return num_errors_; }
  [[nodiscard]] std::size_t num_warnings() const { return messages_.size() - num_errors_; }
  // All messages in the order of their places. One message is
  //   file:line:column: error: what is wrong
  //   the line
  //       ^
  //   hint: what would be right
  // where the column counts characters, as editors do. A long line is cut to the part around the
  // caret, between "...". Messages that differ only in their places are one, with the number of the
  // other places. A note is added as a line "at: ...".
  [[nodiscard]] std::string text() const;

  // The column of an override's value, given the byte offset of a character in "key=value".
  [[nodiscard]] static std::uint32_t override_column(std::size_t offset);

 private:
  struct Source {
    std::string name;
    std::vector<std::string> lines;
    bool is_override = false;
    bool is_written = true;
  };
  struct Message {
    Place place;
    bool is_error = true;
    std::string text;
    std::string hint;
    std::string note;
  };

  void add(Message message);
  [[nodiscard]] SourceIndex source_like(const Source& source, SourceIndex index);
  [[nodiscard]] std::string render(const Message& message) const;
  // The places behind the first one of messages that differ in nothing else.
  [[nodiscard]] static std::string other_places(const std::vector<const Message*>& group);

  std::vector<Source> sources_;
  FileHashes file_hashes_;
  std::vector<Message> messages_;
  // A rule that is tried for every point of a cross product reports once.
  std::set<std::tuple<Place, std::string>> seen_;
  std::size_t num_errors_ = 0;
};

}  // namespace espalier
