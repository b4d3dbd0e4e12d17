#include "sims/report/page/read_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sims/report/page/read_points.h"
#include "sims/text/read_file.h"
#include "sims/text/strict_json.h"

namespace espalier::report {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// In the file that is being read.
struct FileError : std::runtime_error {
  FileError(const std::string& file, const std::string& what)
      : std::runtime_error(fmt::format("{}: error: {}", file, what)) {}
};

std::string read_text(const fs::path& path) {
  FileText file = read_file_text(path.string());
  if (!file.text) throw FileError(path.string(), "the file " + file.problem);
  if (file.text->find_first_not_of(" \t\r\n") == std::string::npos)
    throw FileError(path.string(), "the file is empty");
  return std::move(*file.text);
}

// What `read` makes of the file; its errors with the file's name.
template <class Read>
void read_json(const fs::path& path, const Read& read) {
  const std::string text = read_text(path);
  try {
    const Json root = parse_strict_json(text);
    read(JsonCursor(root));
  } catch (const JsonError& error) {
    throw FileError(path.string(), error.what());
  }
}

std::string folder_of(const fs::path& file) {
  const fs::path parent = file.parent_path();
  return parent.empty() ? "." : parent.string();
}

class Reader {
 public:
  Reader(ReportData& data, const std::string& version) : data_(data), version_(version) {}

  void read(const std::string& path) {
    if (fs::is_directory(path)) {
      read_sweep(path);
    } else if (fs::path(path).extension() == ".jsonl") {
      read_list(path);
    } else {
      begin(path, ReportSource::Kind::results);
      read_json(path, [&](const JsonCursor& root) {
        add(read_results_document(root, version_, data_.sources.back()));
      });
    }
  }

 private:
  void begin(const std::string& path, ReportSource::Kind kind) {
    ReportSource source;
    source.path = path;
    source.kind = kind;
    source.folder = kind == ReportSource::Kind::sweep ? path : folder_of(path);
    data_.sources.push_back(source);
  }

  void add(std::vector<ReportPoint> points) {
    for (ReportPoint& point : points) {
      point.source = data_.sources.size() - 1;
      data_.points.push_back(std::move(point));
    }
  }

  void read_sweep(const std::string& path) {
    const fs::path manifest_file = fs::path(path) / "manifest.json";
    if (!fs::exists(manifest_file)) {
      throw FileError(path, "is no folder of a sweep: it has no manifest.json");
    }
    begin(path, ReportSource::Kind::sweep);
    std::vector<ReportPoint> planned;
    read_json(manifest_file, [&](const JsonCursor& root) {
      planned = read_manifest(root, version_, data_.sources.back());
    });
    for (ReportPoint& point : planned) {
      const fs::path done = fs::path(path) / "points" / (point.id + ".json");
      const fs::path failed = fs::path(path) / "points" / (point.id + ".failed.json");
      if (fs::exists(done)) {
        read_json(done, [&](const JsonCursor& root) { fill_point(root, point); });
      } else if (fs::exists(failed)) {
        read_json(failed, [&](const JsonCursor& root) { fill_point(root, point); });
      }
    }
    add(std::move(planned));
  }

  void read_list(const std::string& path) {
    begin(path, ReportSource::Kind::list);
    const std::string text = read_text(path);
    std::vector<ReportPoint> points;
    std::size_t number = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string line = text.substr(at, end - at);
      at = end + 1;
      ++number;
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      try {
        const Json root = parse_strict_json(line);
        fill_point(JsonCursor(root), points.emplace_back());
      } catch (const JsonError& error) {
        throw FileError(fmt::format("{}:{}", path, number), error.what());
      }
    }
    add(std::move(points));
  }

  ReportData& data_;
  const std::string& version_;
};

}  // namespace

ReadResult read_report(const std::vector<std::string>& paths, const std::string& version) {
  ReadResult result;
  Reader reader(result.data, version);
  for (const std::string& path : paths) {
    try {
      reader.read(path);
    } catch (const FileError& error) {
      result.errors.push_back(error.what());
    } catch (const fs::filesystem_error& error) {
      result.errors.push_back(fmt::format("{}: error: {}", path, error.code().message()));
    }
  }
  return result;
}

}  // namespace espalier::report
