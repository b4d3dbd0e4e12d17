#include "sims/report/figure/figure_table.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace espalier;
using Catch::Matchers::Contains;
using Json = nlohmann::ordered_json;

namespace {

// One panel of two series with the given results, in the series' order.
struct Sample {
  Figure figure;
  std::vector<Json> results;
  Diagnostics diagnostics;

  Sample() {
    diagnostics.add_file("fig.yaml", "x\ny\nn\n");
    figure.name = "fig";
    Panel& panel = figure.panels.emplace_back();
    panel.title = "a";
    panel.series = {"R", "M"};
    panel.x.field = {"size", {0, 1, 1}};
    panel.y.parts = {{{"time", {0, 2, 1}}, ""}};
  }
  Panel& panel() { return figure.panels[0]; }
  void add(std::size_t series, Json result) {
    panel().points.push_back({series, {}});
    results.push_back(std::move(result));
  }
  std::vector<FigureRow> rows() {
    const auto result_of = [&](std::size_t, std::size_t i) {
      return results[i].is_null() ? nullptr : &results[i];
    };
    return figure_rows(figure, result_of, diagnostics);
  }
};

Json result(double size, double time) { return {{"size", size}, {"time", time}}; }

}  // namespace

TEST_CASE("Lines are drawn in ascending x") {
  Sample sample;
  sample.add(0, result(8, 1));
  sample.add(0, result(4, 2));
  const auto rows = sample.rows();
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].x == 4.0);
  CHECK(rows[0].y == 2.0);
  CHECK(rows[1].x == 8.0);
}

TEST_CASE("Values relative to a series are divided by its value at the same x") {
  Sample sample;
  sample.panel().normalization = Normalization{"R", std::nullopt, false, {0, 3, 1}};
  sample.add(0, result(4, 10));
  sample.add(0, result(8, 40));
  sample.add(1, result(4, 5));
  sample.add(1, result(8, 10));
  auto rows = sample.rows();
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].y == 1.0);
  CHECK(rows[2].y == 0.5);
  CHECK(rows[3].y == 0.25);
  sample.panel().normalization->inverse = true;
  CHECK(sample.rows()[3].y == 4.0);
  sample.panel().normalization->x = "4";
  sample.panel().normalization->inverse = false;
  CHECK(sample.rows()[1].y == 4.0);
  sample.panel().y.factor = 100;
  CHECK(sample.rows()[1].y == 400.0);
}

TEST_CASE("Parts of a bar stand on each other and are relative to the whole reference bar") {
  Sample sample;
  sample.panel().kind = FigureKind::bars;
  sample.panel().x.field.name = "name";
  sample.panel().y.parts = {{{"p", {}}, "below"}, {{"q", {}}, "above"}};
  sample.panel().normalization = Normalization{"R", std::nullopt, false, {0, 3, 1}};
  sample.add(0, {{"name", "z, z"}, {"p", 1}, {"q", 3}});
  sample.add(1, {{"name", "z, z"}, {"p", 1}, {"q", 1}});
  const auto rows = sample.rows();
  REQUIRE(rows.size() == 4);
  CHECK(rows[1].y_from == 0.25);
  CHECK(rows[1].y == 0.75);
  CHECK(rows[3].y_from == 0.25);
  CHECK(rows[3].y == 0.25);
  CHECK_THAT(figure_csv(sample.figure, rows),
             Contains("panel,series,part,x,y,y_from,name,p,q\n"
                      "a,R,below,\"z, z\",0.25,0.0,\"z, z\",1,3\n"
                      "a,R,above,\"z, z\",0.75,0.25,\"z, z\",1,3\n"));
}

TEST_CASE("A point that failed is not drawn, nor what would be relative to it") {
  Sample sample;
  sample.panel().normalization = Normalization{"R", std::nullopt, false, {0, 3, 1}};
  sample.add(0, Json());
  sample.add(0, result(8, 2));
  sample.add(1, result(4, 1));
  sample.add(1, result(8, 1));
  const auto rows = sample.rows();
  REQUIRE(rows.size() == 2);
  CHECK(rows[1].y == 0.5);
  CHECK(sample.diagnostics.num_errors() == 0);
}

TEST_CASE("A reference point that nobody simulated is an error with its place") {
  Sample sample;
  sample.panel().normalization = Normalization{"R", "16", false, {0, 3, 1}};
  sample.add(0, result(4, 1));
  CHECK(sample.rows().empty());
  CHECK_THAT(sample.diagnostics.text(),
             Contains("fig.yaml:3:1: error: panel 'a': series 'R' has no point at size = 16"));
}

TEST_CASE("Two points of a series at one x are an error: a line would run back and forth") {
  Sample sample;
  sample.add(0, result(4, 1));
  sample.add(0, result(4, 2));
  static_cast<void>(sample.rows());
  CHECK_THAT(sample.diagnostics.text(),
             Contains("fig.yaml:1:1: error:") && Contains("series 'R': two points at size = 4"));
}

TEST_CASE("A missing reference value leaves the cell empty") {
  Sample sample;
  sample.panel().normalization = Normalization{"R", std::nullopt, false, {0, 3, 1}};
  sample.add(0, result(4, 0));
  const auto rows = sample.rows();
  REQUIRE(rows.size() == 1);
  CHECK_FALSE(std::isfinite(rows[0].y));
  CHECK_THAT(figure_csv(sample.figure, rows), Contains("a,R,4.0,,4.0,0.0\n"));
}

TEST_CASE("A field that the results lack is reported with the nearest name") {
  Sample sample;
  sample.panel().x.field.name = "siz";
  check_fields(sample.panel(), {{"size", 4}, {"time", "soon"}}, sample.diagnostics);
  CHECK_THAT(sample.diagnostics.text(),
             Contains("fig.yaml:1:1: error: the results have no field 'siz'") &&
                 Contains("did you mean 'size'?") &&
                 Contains("fig.yaml:2:1: error: the field 'time' is not a number"));
}

TEST_CASE("Points of a series with the same x are drawn as their mean where a figure says so") {
  Sample sample;
  sample.panel().y.combine = Combination::mean;
  sample.add(0, result(8, 1));
  sample.add(0, result(8, 3));
  sample.add(0, result(4, 5));
  sample.add(0, result(4, 7));
  sample.add(1, result(8, 10));
  sample.add(1, result(8, 20));
  const auto rows = sample.rows();
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].x == 4.0);
  CHECK(rows[0].y == 6.0);
  CHECK(rows[1].y == 2.0);
  CHECK(rows[2].series == 1);
  CHECK(rows[2].y == 15.0);
  CHECK(sample.diagnostics.num_errors() == 0);
}

TEST_CASE("A mean of which a point failed is not drawn") {
  Sample sample;
  sample.panel().y.combine = Combination::mean;
  sample.add(0, result(4, 5));
  sample.add(0, result(4, 7));
  sample.add(0, result(8, 1));
  sample.add(0, nullptr);
  const auto rows = sample.rows();
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].x == 4.0);
  CHECK(rows[0].y == 6.0);
}

TEST_CASE("The least of a series' points with the same x is drawn with its result") {
  Sample sample;
  sample.panel().y.combine = Combination::min;
  sample.add(0, result(8, 3));
  sample.add(0, result(8, 1));
  sample.add(0, result(8, 2));
  sample.add(0, result(4, 5));
  sample.add(1, result(8, 10));
  const auto rows = sample.rows();
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].y == 5.0);
  CHECK(rows[1].y == 1.0);
  CHECK(rows[1].result->at("time") == 1.0);
  CHECK(rows[2].y == 10.0);
  CHECK(sample.diagnostics.num_errors() == 0);
}

TEST_CASE(
    "The entries of a list are drawn in the middle of their steps, each series its own list") {
  Sample sample;
  Panel& panel = sample.panel();
  panel.x.field.name = "period";
  panel.x.along_list = true;
  panel.x.factor = 0.5;
  panel.y.parts[0].field.name = "first";
  panel.series_fields = {std::nullopt, FieldRef{"second", {0, 2, 1}}};
  const Json one{{"period", 20}, {"first", {1.0, 0.5}}, {"second", {0.25}}};
  sample.add(0, one);
  sample.add(1, one);
  const auto rows = sample.rows();
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].x == 5.0);
  CHECK(rows[0].y == 1.0);
  CHECK(rows[1].x == 15.0);
  CHECK(rows[1].y == 0.5);
  CHECK(rows[2].series == 1);
  CHECK(rows[2].y == 0.25);
}

TEST_CASE("A value that is not a list of numbers is an error at its place") {
  Sample sample;
  Panel& panel = sample.panel();
  panel.x.field.name = "period";
  panel.x.along_list = true;
  check_fields(panel, {{"period", 20}, {"time", 3}}, sample.diagnostics);
  CHECK_THAT(sample.diagnostics.text(), Contains("fig.yaml:2:1"));
  CHECK_THAT(sample.diagnostics.text(), Contains("'time' is not a list of numbers"));
  Diagnostics of_names;
  of_names.add_file("fig.yaml", "x\ny\n");
  check_fields(panel, {{"period", 20}, {"time", {1, "a"}}}, of_names);
  CHECK_THAT(of_names.text(), Contains("not a list of numbers"));
}
