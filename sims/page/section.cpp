#include "sims/page/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "sims/page/text.h"

namespace espalier::report {

std::string Pictures::add(const std::string& title, nlohmann::ordered_json picture,
                          const std::string& caption) {
  picture["title"] = title;
  pictures_.push_back(std::move(picture));
  return fmt::format("<figure class=\"picture\" id=\"picture-{}\"><h3>{}</h3>\n{}</figure>\n",
                     pictures_.size() - 1, escape(title),
                     caption.empty() ? std::string()
                                     : fmt::format("<figcaption>{}</figcaption>", escape(caption)));
}

std::size_t Pictures::add_map(nlohmann::ordered_json map) {
  const auto found = std::find(maps_.begin(), maps_.end(), map);
  const auto index = static_cast<std::size_t>(found - maps_.begin());
  if (found == maps_.end()) maps_.push_back(std::move(map));
  return index;
}

std::string paragraph_html(const std::string& plain_text) {
  return "<p>" + escape(plain_text) + "</p>\n";
}

std::string figures_html(const std::string& figures) {
  return figures.empty() ? figures : "<div class=\"figures\">\n" + figures + "</div>\n";
}

std::string first_pictures_html(std::size_t count, const std::string& rest) {
  if (count <= kMostPictures) return {};
  return paragraph_html(
      fmt::format("The first {} of {} pictures; {}.", kMostPictures, count, rest));
}

Column run_column() { return {"run", true, link_to_run, true}; }

Column settings_column(const ReportView& view) {
  return {"settings", false, [&](std::size_t i) { return view.describe(i); }};
}

Column field_column(const ReportView& view, const std::string& title, NumberField field) {
  return {title, true, [=, &view](std::size_t i) {
            const auto value = number_of(view.point(i), field);
            return value ? number_text(*value) : std::string();
          }};
}

std::string table_html(const std::string& plain_caption, const std::vector<TableColumn>& columns,
                       const std::vector<TableRow>& rows) {
  const auto side = [&](std::size_t c) { return columns[c].is_number ? " class=\"n\"" : ""; };
  std::string head;
  for (std::size_t c = 0; c < columns.size(); ++c)
    head += fmt::format("<th scope=\"col\"{}>{}</th>", side(c), escape(columns[c].title));
  std::string body;
  for (const TableRow& row : rows) {
    body += "<tr" + row.attributes + ">";
    for (std::size_t c = 0; c < row.cells.size(); ++c)
      body += fmt::format("<td{}>{}</td>", side(c), row.cells[c]);
    body += "</tr>\n";
  }
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table>"
      "<caption>{0}</caption>\n<thead><tr>{1}</tr></thead>\n<tbody>\n{2}</tbody></table></div>\n",
      escape(plain_caption), head, body);
}

std::string row_of_run(std::size_t run) { return fmt::format(" data-run=\"{}\"", run); }

std::string run_table(const std::string& plain_caption, std::vector<Column> columns,
                      const std::vector<std::size_t>& runs,
                      const std::function<std::string(std::size_t)>& attributes) {
  const auto is_left_out = [&](const Column& column) {
    return column.if_any && std::all_of(runs.begin(), runs.end(),
                                        [&](std::size_t run) { return column.text(run).empty(); });
  };
  columns.erase(std::remove_if(columns.begin(), columns.end(), is_left_out), columns.end());
  std::vector<TableRow> rows;
  for (const std::size_t run : runs) {
    TableRow& row = rows.emplace_back(TableRow{{}, attributes(run)});
    for (const Column& column : columns)
      row.cells.push_back(column.is_html ? column.text(run) : escape(column.text(run)));
  }
  return table_html(plain_caption, {columns.begin(), columns.end()}, rows);
}

std::vector<Group> split(const std::vector<std::size_t>& runs,
                         const std::function<std::string(std::size_t)>& title) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> places;
  for (const std::size_t i : runs) {
    const std::string name = title(i);
    const auto [place, is_new] = places.emplace(name, groups.size());
    if (is_new) groups.push_back({name, {}});
    groups[place->second].runs.push_back(i);
  }
  return groups;
}

Shown chosen_by(const ReportView& view, const std::vector<std::size_t>& runs, std::size_t most,
                const std::function<std::string(std::size_t)>& group) {
  const auto time = [&](std::size_t i) {
    return time_ns_of(view.point(i)).value_or(std::numeric_limits<double>::infinity());
  };
  const auto size = [&](std::size_t i) {
    return number_of(view.point(i), field::size_bytes).value_or(0);
  };
  Shown shown;
  const std::vector<Group> groups = split(runs, group);
  for (const Group& each : groups) {
    shown.runs.push_back(*std::min_element(each.runs.begin(), each.runs.end(), [&](auto a, auto b) {
      return size(a) != size(b) ? size(a) > size(b) : time(a) < time(b);
    }));
  }
  std::stable_partition(shown.runs.begin(), shown.runs.end(),
                        [&](std::size_t i) { return view.is_best(i); });
  shown.runs.resize(std::min(shown.runs.size(), most));
  std::sort(shown.runs.begin(), shown.runs.end());
  if (shown.runs.size() == runs.size()) return shown;
  shown.what_is_left_out = fmt::format(
      " {} of {} runs{}.", shown.runs.size(), runs.size(),
      groups.size() == runs.size() ? "" : ": the fastest run with the largest size of each kind");
  return shown;
}

std::function<std::string(std::size_t)> labels_of(const ReportView& view,
                                                  const std::vector<std::size_t>& runs) {
  return [&view, keys = view.telling_keys(runs, {})](std::size_t run) {
    std::string label = name_of_run(run);
    add_word(label, view.describe(run, keys));
    return label;
  };
}

std::string title_of_run(const ReportView& view, std::size_t index, bool named) {
  const ReportPoint& point = view.point(index);
  std::string words;
  add_word(words, text_of(point, field::algorithm).empty() ? text_of(point, field::traffic)
                                                           : text_of(point, field::algorithm));
  add_word(words, text_of(point, field::topology));
  // A file of others may hold any number.
  const auto size = number_of(point, field::size_bytes);
  if (size && *size >= 0 && *size < 1e18)
    add_word(words, bytes_text(static_cast<std::uint64_t>(*size)));
  return named ? fmt::format("{}: {}", name_of_run(index), words) : words;
}

}  // namespace espalier::report
