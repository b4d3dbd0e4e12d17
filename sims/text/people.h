// All that the program says to people, who may read it on a terminal.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "sims/text/fitted_text.h"
#include "sims/text/utf8.h"

namespace espalier {

// Prints texts of which parts may come from files of others: a control character, which a terminal
// would obey, is shown as '?'. Lines on stdout end between words where its terminal ends. An error
// of the stream stays in std::ferror(to).
template <class... Values>
void tell(std::FILE* to, fmt::format_string<Values...> text, Values&&... values) {
  std::string shown = printable(fmt::format(text, std::forward<Values>(values)...), "\t\n");
  if (to == stdout) shown = fitted_lines(shown, terminal_width());
  static_cast<void>(std::fwrite(shown.data(), 1, shown.size(), to));
}

// Quotes words for a POSIX shell, into which people copy them.
[[nodiscard]] std::string shell_line(const std::vector<std::string>& words);

}  // namespace espalier
