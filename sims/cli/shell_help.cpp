// Completion for shells, which asks the command line's own definition.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "sims/cli/commands.h"
#include "sims/cli/embedded_files.h"
#include "sims/cli/output.h"
#include "sims/config/keys.h"

namespace espalier {

namespace {

// Commands for other programs have no group.
std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

// The words that an option accepts: CLI11 writes them as "TEXT:{table,json}".
std::vector<std::string> values_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{');
  if (begin == std::string::npos) return {};
  return CLI::detail::split(type.substr(begin + 1, type.find('}') - begin - 1), ',');
}

// The command to which the words lead: "sweep", "run".
const CLI::App& command_of(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  for (const std::string& word : words) {
    for (const CLI::App* below : commands_of(*command)) {
      if (below->get_name() == word) {
        command = below;
        break;
      }
    }
  }
  return *command;
}

// The words that may follow: values of the last option or keys, else commands, options and listed
// positional values.
std::vector<std::string> words_behind(const CLI::App& command, const std::string& before) {
  std::vector<std::string> words;
  if (before == "-s" || before == "--set") {
    for (const std::string& key : key_names()) words.push_back(key + "=");
    return words;
  }
  for (const CLI::App* below : commands_of(command)) words.push_back(below->get_name());
  for (const CLI::Option* option :
       command.get_options([](const CLI::Option* shown) { return !shown->get_group().empty(); })) {
    const auto values = values_of(*option);
    if (option->check_name(before) && !values.empty()) return values;
    if (option->get_positional()) words.insert(words.end(), values.begin(), values.end());
    for (const std::string& name : option->get_snames()) words.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  }
  return words;
}

}  // namespace

int complete_command(const CLI::App& app, std::vector<std::string> words) {
  const std::string current = words.empty() ? std::string() : words.back();
  if (!words.empty()) words.pop_back();
  const std::string before = words.empty() ? std::string() : words.back();
  for (const std::string& word : words_behind(command_of(app, words), before)) {
    if (word.compare(0, current.size(), current) == 0) fmt::print("{}\n", word);
  }
  return kGood;
}

int completion_command(const std::string& shell) {
  const std::string bash = shell == "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : "";
  return write_text("-", bash + std::string(completion_file())) ? kGood : kUsageError;
}

}  // namespace espalier
