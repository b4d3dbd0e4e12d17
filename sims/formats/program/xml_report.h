// What is wrong with an XML file: not endlessly much, and what is only ignored once per name.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sims/formats/program/xml_source.h"
#include "sims/text/diagnostics.h"

namespace espalier {

class XmlReport {
 public:
  XmlReport(const XmlSource& source, Diagnostics& diagnostics)
      : source_(source), diagnostics_(diagnostics), errors_before_(diagnostics.num_errors()) {}

  // `at`: a name or value of the document.
  void error(const char* at, std::string message, std::string hint = {});
  void warning(const char* at, std::string message, std::string hint = {});
  // Something that means nothing, for end() to say, with how many more there are. The first time
  // its hint is made.
  template <class MakeHint>
  void ignored(const char* at, const std::string& what, const MakeHint& make_hint) {
    Ignored& known = ignored_[what];
    if (known.times++ == 0) known = {source_.place(at), make_hint(), 1};
  }
  void end();

  [[nodiscard]] bool failed() const { return diagnostics_.num_errors() != errors_before_; }
  // There is enough to repair: what follows is not worth reading.
  [[nodiscard]] bool full() const;
  [[nodiscard]] std::uint32_t line(const char* at) const { return source_.place(at).line; }

 private:
  struct Ignored {
    Place first;
    std::string hint;
    std::size_t times = 0;
  };

  const XmlSource& source_;
  Diagnostics& diagnostics_;
  std::size_t errors_before_;
  std::map<std::string, Ignored> ignored_;
};

}  // namespace espalier
