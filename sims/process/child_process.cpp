#include "sims/process/child_process.h"

#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/io.hpp>
#include <boost/process/search_path.hpp>
#include <boost/process/start_dir.hpp>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

namespace espalier {

namespace {

namespace bp = boost::process;

// An unnamed file for a child's output. Unlike a pipe it is never full, and a grandchild that keeps
// it open does not block the reader.
class Capture {
 public:
  Capture() : file_(std::tmpfile(), &std::fclose) {
    if (!file_) throw std::system_error(errno, std::generic_category(), "temporary file");
  }

  [[nodiscard]] FILE* file() const { return file_.get(); }
  [[nodiscard]] std::string text() const {
    std::rewind(file_.get());
    std::string result;
    char piece[4096];
    while (const std::size_t bytes = std::fread(piece, 1, sizeof piece, file_.get()))
      result.append(piece, bytes);
    return result;
  }

 private:
  std::unique_ptr<FILE, int (*)(FILE*)> file_;
};

}  // namespace

std::string find_program(const std::string& name) { return bp::search_path(name).string(); }

ChildOutcome run_child(const std::string& program, const std::vector<std::string>& arguments,
                       const std::string& folder) {
  const Capture out;
  const Capture err;
  ChildOutcome outcome;
  std::error_code error;
  bp::child child(program, bp::args(arguments), bp::start_dir(folder),
                  bp::std_in<bp::null, bp::std_out> out.file(), bp::std_err > err.file(), error);
  if (error) {
    outcome.problem = error.message();
    return outcome;
  }
  child.wait(error);
  outcome.exit_code = child.exit_code();
  outcome.out = out.text();
  outcome.err = err.text();
  return outcome;
}

}  // namespace espalier
