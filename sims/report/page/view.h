// Compares the points of a report: their differences, and the best points.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "sims/report/page/config_differences.h"
#include "sims/report/page/report_data.h"

namespace espalier::report {

class ReportView {
 public:
  // `data` must outlive this object.
  explicit ReportView(const ReportData& data);

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
  // Whether the point is verified and no other verified point of its workload is faster. False for
  // the only point of a workload.
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
  void find_columns();
  void find_best();

  const ReportData* data_;
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
