// Which runs a report compares (workloads, facets, ties), and the data for the page's script.
#include "sims/page/view.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "alg/algorithm.h"
#include "sims/page/page.h"
#include "sims/page/section.h"

using namespace espalier::report;
namespace field = espalier::field;
using Json = nlohmann::ordered_json;

namespace {

struct Run {
  std::string algorithm;
  std::string latency;
  int depth = 0;
  double area = 0;
  double ns = 0;
};

ReportData data_of(const std::vector<Run>& runs) {
  ReportData data;
  ReportSource source;
  source.path = "results.json";
  data.sources.push_back(source);
  for (const Run& run : runs) {
    ReportPoint point;
    point.state = ReportPoint::State::verified;
    point.config_is_complete = true;
    point.config = Json{{"collective.algorithm", run.algorithm},
                        {"system.link.latency", run.latency},
                        {"system.router.vc_depth_flits", run.depth},
                        {"system.router.clock", "1GHz"}};
    point.result = Json{{"algorithm", run.algorithm},
                        {"op", "all_reduce"},
                        {"topology", "torus"},
                        {"size_bytes", 1024},
                        {"nodes", 4},
                        {"time_ns", run.ns},
                        {"bandwidth_GBps", 1024 / run.ns},
                        {"area", {{"system_mm2", run.area}}}};
    data.points.push_back(point);
  }
  return data;
}

std::string page_of(const ReportData& data, const ViewOptions& options = {}) {
  return report_html(ReportView(data, options), "", "1.0.0");
}

// What the page's script draws.
Json drawn_on(const std::string& page) {
  const std::string begin = "id=\"data\">";
  const std::size_t at = page.find(begin) + begin.size();
  return Json::parse(page.substr(at, page.find("</script>", at) - at));
}

std::size_t count_pictures(const std::string& page, const std::string& kind) {
  const Json pictures = drawn_on(page).at("pictures");
  return static_cast<std::size_t>(
      std::count_if(pictures.begin(), pictures.end(),
                    [&](const Json& picture) { return picture.at("kind") == kind; }));
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t times = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    ++times;
  return times;
}

}  // namespace

TEST_CASE("Link latency is a workload, so the fastest run of each latency is marked") {
  const ReportData data = data_of({{"ring", "50ns", 80, 10, 100},
                                   {"ring", "50ns", 160, 20, 80},
                                   {"ring", "150ns", 80, 10, 300},
                                   {"ring", "150ns", 160, 20, 200}});
  const ReportView view(data);
  CHECK(view.workload(0) != view.workload(2));
  CHECK(view.is_best(1));
  CHECK(view.is_best(3));
  CHECK_FALSE(view.is_best(0));
}

TEST_CASE("A sweep's file decides whether an axis is workload or design") {
  ReportData data = data_of({{"ring", "50ns", 80, 10, 100}, {"ring", "150ns", 160, 20, 300}});
  data.is_workload_axis = {{"system.link.latency", false}, {"system.router.vc_depth_flits", true}};
  const ReportView view(data);
  CHECK_FALSE(view.is_workload("system.link.latency"));
  CHECK(view.is_workload("system.router.vc_depth_flits"));
  CHECK(view.workload(0) != view.workload(1));
}

TEST_CASE("A facet draws one front for each of its values") {
  const ReportData data = data_of({{"ring", "50ns", 80, 10, 100},
                                   {"multitree", "50ns", 80, 20, 80},
                                   {"ring", "50ns", 160, 20, 90},
                                   {"multitree", "50ns", 160, 30, 70}});
  CHECK(count_pictures(page_of(data), "xy") == 1);
  CHECK(count_pictures(page_of(data, {"system.router.vc_depth_flits"}), "xy") == 2);
  CHECK(count_pictures(page_of(data, {"algorithm"}), "xy") == 2);
}

TEST_CASE(
    "An option that names no axis, or a constant one, gets an error with the axes that differ") {
  const ReportData data = data_of({{"ring", "50ns", 80, 10, 100}, {"ring", "50ns", 160, 20, 80}});
  const auto problems =
      ReportView(data, {"nothing", "algorithm", "system.router.vc_depth_flits"}).problems();
  REQUIRE(problems.size() == 2);
  CHECK(problems[0].find("--facet: no run has the key 'nothing'") != std::string::npos);
  CHECK(problems[1].find("--color: 'algorithm' is ring in all runs") != std::string::npos);
  for (const std::string& problem : problems)
    CHECK(problem.find("\n  system.router.vc_depth_flits") != std::string::npos);
  CHECK(ReportView(data, {}).problems().empty());
}

TEST_CASE(
    "Times within the tolerance are equally fast, and the summary names the smallest design") {
  const ReportData data = data_of({{"ring", "50ns", 80, 30, 100},
                                   {"ring", "50ns", 160, 20, 100.05},
                                   {"ring", "50ns", 320, 25, 102}});
  const ReportView view(data);
  CHECK(view.is_best(0));
  CHECK(view.is_best(1));
  CHECK_FALSE(view.is_best(2));
  CHECK_FALSE(ReportView(data, {"", "", "", 0}).is_best(1));
  const std::string page = page_of(data);
  CHECK(page.find("run <a href=\"#run-2\">2</a>, vc_depth_flits 160") != std::string::npos);
  CHECK(page.find("(2 designs within 0.05 %, this is the smallest in area)") != std::string::npos);
}

TEST_CASE("The title of a sweep is the title of its page, unless sweeps disagree") {
  ReportData data = data_of({{"ring", "50ns", 80, 30, 100}});
  CHECK(page_of(data).find("<h1>Espalier results</h1>") != std::string::npos);
  data.sources[0].title = "VC depth";
  CHECK(page_of(data).find("<h1>VC depth</h1>") != std::string::npos);
  CHECK(report_html(ReportView(data), "Mine", "1.0.0").find("<h1>Mine</h1>") != std::string::npos);
  data.sources.push_back(data.sources[0]);
  data.sources[1].title = "Something else";
  CHECK(page_of(data).find("<h1>Espalier results</h1>") != std::string::npos);
}

TEST_CASE("A system that cannot run at its clock is marked in the summary and on the front") {
  ReportData data = data_of({{"ring", "50ns", 80, 10, 100}, {"ring", "50ns", 160, 20, 80}});
  const std::string words = "Clock not met: ni.adders at 45 nm allows at most 265 MHz";
  const std::string key = "; set system.ni.reduction.latency_cycles: auto";
  CHECK(page_of(data).find(words) == std::string::npos);
  const auto slow_down = [&](ReportPoint& point) {
    point.result["area"]["max_clock_GHz"] = 0.266;
    point.result["area"]["clock_met"] = false;
    point.result["area"]["clock_limited_by"] = "ni.adders";
    point.result["area"]["node_nm"] = 45;
  };
  slow_down(data.points[0]);
  CHECK(count(page_of(data), words + " in 1 of 2 runs" + key) == 1);
  CHECK(count(page_of(data), ">clock not met<") == 0);  // the fastest run meets it
  ReportData fastest = data_of({{"ring", "50ns", 80, 10, 100}, {"ring", "50ns", 160, 20, 80}});
  slow_down(fastest.points[1]);
  CHECK(count(page_of(fastest), ">clock not met<") == 1);
  slow_down(fastest.points[0]);  // now all miss it, and one sentence says so
  CHECK(count(page_of(fastest), words + key) == 1);
  CHECK(count(page_of(fastest), ">clock not met<") == 0);
}

TEST_CASE("Energies are stacked by block, and what they leave out is named") {
  ReportData data = data_of({{"ring", "50ns", 80, 10, 100}, {"ring", "50ns", 160, 20, 80}});
  CHECK(page_of(data).find("no verified result has a priced energy") != std::string::npos);
  for (ReportPoint& point : data.points)
    point.result["energy"] =
        Json{{"priced_uJ", 12.5},
             {"priced_pJ_per_byte", 8.5},
             {"left_out", {"links", "leakage"}},
             {"uJ", {{"buffers", 8.0}, {"crossbars", 4.5}, {"links", nullptr}}}};
  const std::string page = page_of(data);
  CHECK(page.find("Left out: links, leakage.") != std::string::npos);
  const Json bars = drawn_on(page).at("pictures").at(1);
  CHECK(bars.at("parts").at(1) == "crossbars");
  CHECK(bars.at("bars").at(0).at("values").at(1) == 4.5);
  CHECK(bars.at("bars").at(0).at("values").at(10) == 0.0);  // links have no price
}

TEST_CASE("Bars are labelled by whatever tells their runs apart, workloads included") {
  ReportData data = data_of({{"ring", "50ns", 80, 10, 100}, {"ring", "150ns", 80, 10, 180}});
  for (ReportPoint& point : data.points)
    point.result["energy"] = Json{{"priced_uJ", 12.5}, {"uJ", {{"buffers", 8.0}}}};
  std::vector<std::string> labels;
  const Json drawn = drawn_on(page_of(data));
  for (const Json& picture : drawn.at("pictures")) {
    if (picture.at("title") != "Energy by blocks") continue;
    for (const Json& bar : picture.at("bars")) labels.push_back(bar.at("label"));
  }
  CHECK(labels == std::vector<std::string>{"run 1, latency 50 ns", "run 2, latency 150 ns"});
}

TEST_CASE("The best run of a workload is among the runs that pictures show") {
  const ReportData data = data_of({{"direct", "50ns", 80, 10, 300},
                                   {"ring", "50ns", 80, 10, 200},
                                   {"forest", "50ns", 80, 10, 100}});
  const ReportView view(data, {});
  const auto algorithm = [&](std::size_t i) { return text_of(view.point(i), field::algorithm); };
  CHECK(chosen_by(view, {0, 1, 2}, 1, algorithm).runs == std::vector<std::size_t>{2});
  CHECK(chosen_by(view, {0, 1, 2}, 2, algorithm).runs == std::vector<std::size_t>{0, 2});
}

TEST_CASE("The summary names the fastest runs of workloads, but not of the loads of a curve") {
  std::vector<Run> runs;
  for (int latency = 1; latency <= 30; ++latency) {
    runs.push_back({"ring", std::to_string(latency) + "ns", 80, 10, 100});
    runs.push_back({"multitree", std::to_string(latency) + "ns", 80, 10, 80});
  }
  ReportData data = data_of(runs);
  const std::string page = page_of(data);
  // A narrow screen shows the time, whatever the number of settings.
  const std::size_t table = page.find("Results by settings that differ");
  CHECK(page.find(">time, \u00b5s</th>", table) < page.find(">algorithm</th>", table));
  for (std::size_t i = 0; i < data.points.size(); ++i)
    data.points[i].config["traffic.injection_rate"] = 0.01 * static_cast<double>(1 + i / 2);
  CHECK(page.find("Fastest, where") != std::string::npos);
  CHECK(page_of(data).find("Fastest, where") == std::string::npos);
}

TEST_CASE("A training has a bar of computing and of exposed communication") {
  ReportData data = data_of({{"ring", "50ns", 80, 10, 100}});
  data.points[0].result["training"] = Json{{"iteration_ns", 4000.0}, {"exposed_ns", 1000.0}};
  data.points[0].result["size_bytes"] = 263346944;
  const std::string page = page_of(data);
  const Json bar = drawn_on(page).at("pictures").at(0).at("bars").at(0);
  CHECK(bar.at("values") == Json{3.0, 1.0});
  CHECK(page.find("25.0 %") != std::string::npos);
  CHECK(page.find("263.3 MB") != std::string::npos);
}

TEST_CASE("An algorithm has one number for its colour and mark, whichever runs stand beside it") {
  const ReportData one =
      data_of({{"ring", "50ns", 80, 10, 100}, {"multitree", "50ns", 80, 20, 80}});
  const ReportData other = data_of({{"multitree", "50ns", 80, 20, 80},
                                    {"2d_ring", "50ns", 80, 20, 90},
                                    {"themis", "50ns", 80, 20, 90},
                                    {"ring", "50ns", 80, 10, 100}});
  const Json a = drawn_on(page_of(one)).at("looks");
  const Json b = drawn_on(page_of(other)).at("looks");
  CHECK(a.at("ring") == b.at("ring"));
  CHECK(a.at("multitree") == b.at("multitree"));
  CHECK(a.at("multitree") == espalier::find_algorithm("multitree")->look);
  std::set<std::size_t> numbers;
  for (const Json& number : b) numbers.insert(number.get<std::size_t>());
  CHECK(numbers.size() == 4);
}

TEST_CASE("The script is told each run's numbers, and its settings that differ") {
  const Json drawn = drawn_on(
      page_of(data_of({{"ring", "50ns", 80, 10, 100}, {"multitree", "50ns", 160, 20, 80}})));
  CHECK(drawn.at("keys") == Json{"algorithm", "vc_depth_flits"});
  CHECK(drawn.at("points").at(1).at("settings") == Json{"multitree", 160});
  CHECK(drawn.at("points").at(1).at("title") == "run 2: multitree, torus, 1 KiB");
  const Json& metrics = drawn.at("metrics");
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    if (metrics.at(m).at("id") == "area")
      CHECK(drawn.at("points").at(1).at("values").at(m) == 20.0);
    if (metrics.at(m).at("id") == "compared")
      CHECK(drawn.at("points").at(1).at("values").at(m) == 0.08);
  }
}

TEST_CASE("A front says which runs are on it, and which are dominated") {
  const Json drawn = drawn_on(page_of(data_of({{"ring", "50ns", 80, 30, 100},
                                               {"ring", "50ns", 160, 20, 100.05},
                                               {"ring", "50ns", 320, 20, 200},
                                               {"ring", "50ns", 640, 10, 400}})));
  const Json& front = drawn.at("pictures").at(0);
  CHECK(front.at("front") == Json{{3, 0}, {1, 0}});
  CHECK(front.at("dominated") == Json{0, 2});
}

TEST_CASE("No text of a result ends the data of the page's script") {
  ReportData data = data_of({{"</script><!--<script>", "50ns", 80, 10, 100}});
  const std::string page = page_of(data);
  CHECK(drawn_on(page).at("points").at(0).at("colour") == "</script><!--<script>");
  CHECK(page.find("</script><!--") == std::string::npos);
  data.points[0].result["algorithm"] = "not UTF-8: \xff";
  CHECK(drawn_on(page_of(data)).at("points").at(0).at("colour") == "not UTF-8: \xEF\xBF\xBD");
}
