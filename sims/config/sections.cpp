#include "sims/config/sections.h"

#include <fmt/format.h>

#include <algorithm>

namespace espalier {

namespace {

class SectionChoice {
 public:
  SectionChoice(const GivenKeys& given, ConfigNeed need, Diagnostics& diagnostics)
      : given_(given), need_(need), diagnostics_(diagnostics) {}

  Sections choose() {
    const bool collective = given_.has_section("collective");
    const bool traffic = given_.has_section("traffic");
    sections_.collective = collective;
    sections_.traffic = traffic && !collective;
    sections_.workload = given_.has_section("workload") && !sections_.traffic;
    sections_.training =
        given_.has_section("training") && !sections_.traffic && !sections_.workload;
    sections_.coordination = given_.has_section("coordination") && sections_.training;
    if (given_.has_section("coordination") && !given_.has_section("training")) {
      diagnostics_.error(given_.place_of_section("coordination"),
                         "'coordination' without 'training'",
                         "training: {network: resnet50} says what hosts coordinate");
    }
    sections_.control = given_.has_section("control");
    sections_.tenants = given_.has_section("tenants");
    sections_.jitter = given_.has_section("faults.dma_jitter");
    if (sections_.control && traffic) {
      diagnostics_.error(
          std::max(given_.place_of_section("control"), given_.place_of_section("traffic")),
          "both 'control' and 'traffic' are given",
          "control messages run beside a collective, or alone");
      sections_.control = false;
    }
    check_tenants_section();
    if (given_.has_section("workload")) {
      check_workload_section(collective);
    } else if (given_.has_section("training") && !collective) {
      refuse_lone_training(traffic);
    } else if (collective && traffic) {
      diagnostics_.error(
          std::max(given_.place_of_section("collective"), given_.place_of_section("traffic")),
          "both 'collective' and 'traffic' are given", "a run has one of the two");
    } else if (need_ == ConfigNeed::collective && !collective) {
      diagnostics_.error(traffic ? given_.place_of_section("traffic") : Place{0, 1, 1},
                         "missing section 'collective'",
                         "collective: {op: all_reduce, algorithm: multitree, size: 16MiB}");
    } else if (need_ == ConfigNeed::workload && !collective && !traffic && !sections_.control) {
      diagnostics_.error({0, 1, 1}, "neither 'collective' nor 'traffic' is given",
                         "collective: {op: all_reduce, algorithm: multitree, size: 16MiB}");
    }
    const GivenKey* lockstep = given_.find("system.ni.lockstep");
    const bool has_no_steps = sections_.traffic || (sections_.control && !sections_.collective);
    if (has_no_steps && lockstep != nullptr && lockstep->values.size() > 1) {
      diagnostics_.error(
          lockstep->place,
          fmt::format("system.ni.lockstep: a list has no meaning with '{}'{}",
                      sections_.traffic ? "traffic" : "control", sections_.traffic ? "" : " alone"),
          fmt::format("{} no timesteps to keep in step",
                      sections_.traffic ? "traffic has" : "control messages have"));
    }
    return sections_;
  }

 private:
  void check_tenants_section() {
    for (const char* other : {"traffic", "control", "workload"}) {
      if (!sections_.tenants || !given_.has_section(other)) continue;
      diagnostics_.error(
          std::max(given_.place_of_section("tenants"), given_.place_of_section(other)),
          fmt::format("both 'tenants' and '{}' are given", other),
          "other tenants' traffic runs beside a collective or training");
    }
  }

  void check_workload_section(bool with_collective) {
    const Place place = given_.place_of_section("workload");
    for (const char* other : {"training", "traffic", "control"}) {
      if (!given_.has_section(other)) continue;
      diagnostics_.error(std::max(given_.place_of_section(other), place),
                         fmt::format("both 'workload' and '{}' are given", other),
                         "a run has one of the two");
    }
    if (!with_collective) {
      diagnostics_.error(place, "'workload' without 'collective'",
                         "collective: {algorithm: themis} says how its collectives are planned");
    }
  }

  void refuse_lone_training(bool with_traffic) {
    const Place place = given_.place_of_section("training");
    if (with_traffic) {
      diagnostics_.error(std::max(given_.place_of_section("traffic"), place),
                         "both 'training' and 'traffic' are given", "a run has one of the two");
    } else {
      diagnostics_.error(place, "'training' without 'collective'",
                         "collective: {algorithm: multitree} says how gradients are all-reduced");
    }
  }

  const GivenKeys& given_;
  ConfigNeed need_;
  Diagnostics& diagnostics_;
  Sections sections_;
};

}  // namespace

void Sections::add_to(RunPoint& point) const {
  if (collective) point.collective.emplace();
  if (traffic) point.traffic.emplace();
  if (training) point.training.emplace();
  if (coordination) point.coordination.emplace();
  if (workload) point.workload.emplace();
  if (control) point.control.emplace();
  if (tenants) point.tenants.emplace();
  if (jitter) point.faults.dma_jitter.emplace();
}

Sections choose_sections(const GivenKeys& given, ConfigNeed need, Diagnostics& diagnostics) {
  return SectionChoice(given, need, diagnostics).choose();
}

}  // namespace espalier
