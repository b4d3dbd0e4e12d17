// Compares the points of a report: their differences, and the best points.
#pragma once

#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "sims/page/config_differences.h"
#include "sims/page/report_data.h"

namespace espalier::report {

// What the reader of a page asks for. An axis is a key of the configuration that differs between
// the runs, or one of kAxisNames.
struct ViewOptions {
  std::string facet = {};  // a picture for each value; designs are compared within a value
  std::string color = {};
  std::string mark = {};
  double tolerance = 0.01;  // part by which areas and times may differ and still count as equal
};
inline constexpr std::array kAxisNames{"algorithm", "topology", "size"};

class ReportView {
 public:
  // `data` must outlive this object.
  explicit ReportView(const ReportData& data, const ViewOptions& options = {});

  // One error for each option that names no axis or an axis with one value; empty if all are good.
  [[nodiscard]] std::vector<std::string> problems() const;
  [[nodiscard]] const ViewOptions& options() const { return options_; }
  // The point's value on an axis, as a text; empty if it has none.
  [[nodiscard]] std::string value_on(std::size_t index, const std::string& axis) const;
  // The point's value on the facets' axis with the axis' name; empty without facets.
  [[nodiscard]] std::string facet_of(std::size_t index) const;
  // The axes that colours and marks stand for. They are equal if colour and mark change together.
  [[nodiscard]] const std::string& colour_axis() const { return colour_axis_; }
  [[nodiscard]] const std::string& mark_axis() const { return mark_axis_; }
  // The name of an axis on the page, and a value with it: "multitree", "latency 150ns".
  [[nodiscard]] std::string axis_words(const std::string& axis, const std::string& value) const;
  [[nodiscard]] bool is_workload(const std::string& key) const;

  [[nodiscard]] const ReportData& data() const { return *data_; }
  [[nodiscard]] const ReportPoint& point(std::size_t index) const { return data_->points[index]; }
  // The points for which `counts` holds, by index.
  template <class Counts>
  [[nodiscard]] std::vector<std::size_t> points_where(const Counts& counts) const {
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < data_->points.size(); ++i) {
      if (counts(point(i))) indices.push_back(i);
    }
    return indices;
  }
  // The differences of all points with a complete configuration; without such points, of the known
  // parts.
  [[nodiscard]] const ConfigDifferences& differences() const { return differences_; }
  // The keys of differences() that have several values. The other keys are only missing in some
  // points.
  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  [[nodiscard]] std::string short_name(const std::string& key) const;
  // See workloads_of.
  [[nodiscard]] const std::string& workload(std::size_t index) const { return workloads_[index]; }
  // Whether the point is verified and no other verified point of its workload is faster by more
  // than the tolerance. False for the only point of a workload.
  [[nodiscard]] bool is_best(std::size_t index) const { return best_[index]; }

  // The keys that tell these points apart; algorithm and flow control come first.
  [[nodiscard]] std::vector<std::string> telling_keys(const std::vector<std::size_t>& indices,
                                                      const std::set<std::string>& without) const;
  // The point's values of these keys, e.g. "multitree, packet, vc_depth_flits 64".
  [[nodiscard]] std::string describe(std::size_t index, const std::vector<std::string>& keys) const;
  // The values that the sweep set, or the values that distinguish the point from all others;
  // without the keys of the workload.
  [[nodiscard]] std::string describe(std::size_t index) const;

 private:
  [[nodiscard]] std::string words_of(const nlohmann::ordered_json& values,
                                     const std::vector<std::string>& keys) const;
  [[nodiscard]] std::vector<std::string> values_on(const std::string& axis) const;
  void find_columns();
  void find_best();
  void find_axes();

  const ReportData* data_;
  ViewOptions options_;
  std::string colour_axis_;
  std::string mark_axis_;
  ConfigDifferences differences_;
  std::vector<std::string> short_names_;
  std::vector<std::string> columns_;
  std::vector<std::string> telling_;
  std::vector<std::string> workloads_;
  std::vector<bool> best_;
};

inline constexpr const char* kAlgorithmKey = "collective.algorithm";
inline constexpr const char* kModeKey = "system.flow_control.mode";
inline constexpr const char* kSizeKey = "collective.size";

}  // namespace espalier::report
