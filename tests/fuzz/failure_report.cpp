#include "failure_report.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "shrinker.h"

namespace espalier::fuzz {

namespace {

// A case that cannot even be read or simulated must not become one that is merely different.
FuzzCase shrink_failure(const FailingCase& failing, const Variants& variants,
                        const std::filesystem::path& scratch, std::size_t tries) {
  const Verdict::Kind kind = failing.verdict.kind;
  if (kind == Verdict::Kind::broken) return failing.fuzz_case;
  const StillFails still_fails = [&](const FuzzCase& candidate) {
    return compare_case(candidate, variants, scratch).kind == kind;
  };
  return shrink(failing.fuzz_case, still_fails, tries);
}

std::string command(const std::filesystem::path& folder,
                    const std::vector<std::string>& overrides) {
  std::string text = fmt::format("espalier run {}", (folder / kConfigName).string());
  for (const std::string& setting : overrides) text += " -s " + setting;
  return text;
}

}  // namespace

Verdict compare_case(const FuzzCase& fuzz_case, const Variants& variants,
                     const std::filesystem::path& scratch) {
  write_files(scratch, files_of(fuzz_case, ""));
  return compare((scratch / kConfigName).string(), variants);
}

void report_failure(const FailingCase& failing, const Variants& variants,
                    const std::filesystem::path& scratch, const std::filesystem::path& out,
                    std::size_t shrink_tries) {
  const std::string name = fmt::format("seed{}_case{}", failing.seed, failing.number);
  const std::string origin = fmt::format("Case {} of seed {}", failing.number, failing.seed);
  write_files(out / (name + "_whole"), files_of(failing.fuzz_case, origin + ", as drawn."));

  // Shrinking takes a while, and may be cut short.
  fmt::print("FAILED: {}\n{}\n", origin, failing.verdict.words);
  std::fflush(stdout);
  const FuzzCase small = shrink_failure(failing, variants, scratch, shrink_tries);
  const Verdict verdict = compare_case(small, variants, scratch);
  const std::vector<CaseFile> files = files_of(small, origin + ", shrunk.\n" + verdict.words);
  write_files(out / name, files);

  std::string text = fmt::format("{}, shrunk:\n{}\n", origin, verdict.words);
  for (const CaseFile& file : files) {
    text += fmt::format("--- {}\n{}", (out / name / file.name).string(), file.text);
  }
  text += fmt::format("---\n{}\n{}\n", command(out / name, variants.reference),
                      command(out / name, variants.subject));
  // At once: other processes report too.
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace espalier::fuzz
