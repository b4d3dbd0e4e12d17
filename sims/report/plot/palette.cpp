#include "sims/report/plot/palette.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "alg/algorithm.h"

namespace espalier::report {

namespace {

// Colours that colour-blind readers can tell apart (Okabe and Ito, and three more), each with a
// different mark. The row of an algorithm (AlgorithmRow::look) has the index of its look.
constexpr std::array<Look, kNumLooks> kLooks{{
    {"#d55e00", Mark::circle},
    {"#0072b2", Mark::triangle},
    {"#009e73", Mark::square},
    {"#7b3294", Mark::diamond},
    {"#56b4e9", Mark::down_triangle},
    {"#cc79a7", Mark::pentagon},
    {"#e69f00", Mark::cross},
    {"#666666", Mark::bar},
    {"#8c6d31", Mark::left_triangle},
}};

// WCAG 2.1 requires 3 for graphics.
constexpr double kLeastContrast = 3;
constexpr int kSteps = 64;  // number of shades and tints to try

std::array<double, 3> channels(const std::string& colour) {
  std::array<double, 3> values{};
  for (std::size_t c = 0; c < values.size(); ++c)
    values[c] = static_cast<double>(std::stoul(colour.substr(1 + 2 * c, 2), nullptr, 16));
  return values;
}

// Mixes a colour with grey of a level from 0 to 255; `part` is the share of grey.
std::string mix(const std::string& colour, double level, double part) {
  std::string mixed = "#";
  for (const double value : channels(colour))
    mixed += fmt::format("{:02x}", std::lround(value * (1 - part) + level * part));
  return mixed;
}

double luminance(const std::string& colour) {
  constexpr std::array<double, 3> kWeights{0.2126, 0.7152, 0.0722};
  double sum = 0;
  const auto values = channels(colour);
  for (std::size_t c = 0; c < values.size(); ++c) {
    const double v = values[c] / 255;
    sum += kWeights[c] * (v <= 0.03928 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4));
  }
  return sum;
}

}  // namespace

const Look& look_of_series(std::size_t number) { return kLooks[number % kNumLooks]; }

std::size_t look_of_algorithm(const std::string& name) {
  const Algorithm* algorithm = find_algorithm(name);
  return algorithm == nullptr ? kNumLooks : std::min(algorithm->look, kNumLooks);
}

Mark mark_of_series(std::size_t number) {
  return kLooks[(number + number / kNumLooks) % kNumLooks].mark;
}

std::map<std::string, std::size_t> numbers_of_algorithms(const std::vector<std::string>& names) {
  std::map<std::string, std::size_t> numbers;
  std::set<std::size_t> taken;
  std::size_t next = kNumLooks;
  for (const Algorithm& algorithm : algorithms()) {
    const std::size_t number = algorithm.look < kNumLooks ? algorithm.look : next++;
    if (std::find(names.begin(), names.end(), algorithm.name) == names.end()) continue;
    numbers.emplace(algorithm.name, number);
    taken.insert(number % kNumLooks);
  }
  std::size_t number = 0;
  for (const std::string& name : names) {
    if (numbers.count(name) != 0) continue;
    while (number < kNumLooks && taken.count(number) != 0) ++number;
    if (number >= kNumLooks) number = std::max(number, next);
    numbers.emplace(name, number++);
  }
  return numbers;
}

std::string tint(const std::string& colour, double white) { return mix(colour, 255, white); }

std::string shade(const std::string& colour, double black) { return mix(colour, 0, black); }

double contrast(const std::string& a, const std::string& b) {
  const auto [dark, light] = std::minmax({luminance(a), luminance(b)});
  return (light + 0.05) / (dark + 0.05);
}

std::string colour_on_page(const std::string& colour, const std::string& page) {
  const bool is_light = contrast(page, "#ffffff") < contrast(page, "#000000");
  const double wanted = is_light ? kLeastContrast : 2 * kLeastContrast;
  std::string result = colour;
  for (int step = 1; step <= kSteps && contrast(result, page) < wanted; ++step) {
    const double part = static_cast<double>(step) / kSteps;
    result = is_light ? shade(colour, part) : tint(colour, part);
  }
  return result;
}

}  // namespace espalier::report
