// Completion for shells and the page for man.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "sims/cli/commands.h"
#include "sims/cli/output.h"
#include "sims/cli/version.h"
#include "sims/config/keys.h"

namespace espalier {

namespace {

// Commands and options for other programs have no group.
std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  std::vector<const CLI::App*> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) commands.push_back(command);
  }
  return commands;
}

std::vector<const CLI::Option*> options_of(const CLI::App& command) {
  std::vector<const CLI::Option*> options;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_group().empty()) options.push_back(option);
  }
  return options;
}

std::vector<std::string> names_of_option(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

// The words that an option accepts: CLI11 writes them as "TEXT:{table,json}".
std::vector<std::string> values_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{');
  const std::size_t end = type.find('}');
  std::vector<std::string> values;
  if (begin == std::string::npos || end == std::string::npos) return values;
  for (std::size_t at = begin + 1; at < end;) {
    const std::size_t comma = std::min(type.find(',', at), end);
    values.push_back(type.substr(at, comma - at));
    at = comma + 1;
  }
  return values;
}

// A command with all words behind which its options stand: "sweep", "run".
struct CommandPath {
  std::vector<std::string> words;
  const CLI::App* command;
};

void add_paths(const CLI::App& app, const std::vector<std::string>& words,
               std::vector<CommandPath>& all) {
  for (const CLI::App* command : commands_of(app)) {
    std::vector<std::string> longer = words;
    longer.push_back(command->get_name());
    all.push_back({longer, command});
    add_paths(*command, longer, all);
  }
}

std::vector<CommandPath> paths_of(const CLI::App& app) {
  std::vector<CommandPath> all;
  add_paths(app, {}, all);
  return all;
}

// The words that may follow the command: its commands, options and listed positional values.
std::string words_behind(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::App* below : commands_of(command)) words.push_back(below->get_name());
  for (const CLI::Option* option : options_of(command)) {
    const auto names = names_of_option(*option);
    words.insert(words.end(), names.begin(), names.end());
    if (!names.empty()) continue;
    const auto values = values_of(*option);
    words.insert(words.end(), values.begin(), values.end());
  }
  return fmt::format("{}", fmt::join(words, " "));
}

// roff reads a line that begins with a dot or an apostrophe as a request.
std::string roff(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    const bool begins_line = escaped.empty() || escaped.back() == '\n';
    if (begins_line && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\' || c == '-') escaped += '\\';
    if (c == '\n') escaped += "\n.br";
    escaped += c;
  }
  return escaped;
}

std::string roff_options(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : options_of(command)) {
    const auto names = names_of_option(*option);
    const auto values = values_of(*option);
    std::string type = option->get_expected_max() == 0 ? "" : option->get_type_name();
    type = type.substr(0, type.find(':'));
    const std::string name =
        names.empty() ? option->get_name(true) : fmt::format("{}", fmt::join(names, ", "));
    const std::string listed = values.empty() ? "" : fmt::format(": {}", fmt::join(values, ", "));
    text += fmt::format(".TP\n\\fB{}\\fR{}\n{}{}\n", roff(name),
                        type.empty() ? "" : " \\fI" + roff(type) + "\\fR",
                        roff(option->get_description()), roff(listed));
  }
  return text;
}

std::string completion_script(const CLI::App& app, const std::string& shell) {
  std::string keys;
  for (const Key& key : espalier::keys()) keys += (keys.empty() ? "" : " ") + key.name + "=";
  std::string text = shell == "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : "";
  text +=
      "_espalier() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  local command= word\n"
      "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
      "    case \"$command $word\" in\n";
  const std::vector<CommandPath> paths = paths_of(app);
  for (const CommandPath& path : paths) {
    const std::vector<std::string> above(path.words.begin(), path.words.end() - 1);
    text += fmt::format("      '{} {}') command='{}';;\n", fmt::join(above, " "), path.words.back(),
                        fmt::join(path.words, " "));
  }
  text +=
      "    esac\n"
      "  done\n"
      "  local words=\n"
      "  case \"$before\" in\n"
      "    -s|--set|--vary)\n"
      "      compopt -o nospace 2>/dev/null\n";
  text += fmt::format("      COMPREPLY=($(compgen -W '{}' -- \"$current\"))\n", keys);
  text +=
      "      return;;\n"
      "  esac\n"
      "  case \"$command|$before\" in\n";
  for (const CommandPath& path : paths) {
    for (const CLI::Option* option : options_of(*path.command)) {
      const auto values = values_of(*option);
      for (const std::string& name : names_of_option(*option)) {
        if (values.empty()) continue;
        text += fmt::format("    '{}|{}') words='{}';;\n", fmt::join(path.words, " "), name,
                            fmt::join(values, " "));
      }
    }
  }
  text +=
      "    *)\n"
      "      case \"$command\" in\n";
  text += fmt::format("        '') words='{}';;\n", words_behind(app));
  for (const CommandPath& path : paths) {
    text += fmt::format("        '{}') words='{}';;\n", fmt::join(path.words, " "),
                        words_behind(*path.command));
  }
  text +=
      "      esac;;\n"
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "}\n"
      "complete -o default -F _espalier espalier\n";
  return text;
}

std::string man_page(const CLI::App& app, const std::string& version) {
  std::string text =
      fmt::format(".TH ESPALIER 1 \"\" \"espalier {}\" \"User Commands\"\n", roff(version));
  // Long names of keys would leave gaps in adjusted lines.
  text += ".ad l\n.nh\n.SH NAME\nespalier \\- simulate collectives on accelerator interconnects\n";
  text += ".SH SYNOPSIS\n.B espalier\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n";
  text += ".SH DESCRIPTION\n" + roff(app.get_description()) + "\n" + roff_options(app);
  text += ".SH COMMANDS\n";
  for (const CommandPath& path : paths_of(app)) {
    text +=
        fmt::format(".SS espalier {}\n{}\n{}", roff(fmt::format("{}", fmt::join(path.words, " "))),
                    roff(path.command->get_description()), roff_options(*path.command));
  }
  return text;
}

}  // namespace

int completion_command(const CLI::App& app, const std::string& shell) {
  return write_text("-", completion_script(app, shell)) ? kGood : kUsageError;
}

int man_command(const CLI::App& app) {
  return write_text("-", man_page(app, kVersion)) ? kGood : kUsageError;
}

}  // namespace espalier
