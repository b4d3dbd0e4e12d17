#include "sims/observe/timeline/perfetto_file.h"

namespace espalier {

void PerfettoFile::begin(const PerfettoClock& clock) {
  clock_ = clock;
  file_.append("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

void PerfettoFile::close() {
  file_.append("\n]}\n");
  file_.close();
}

void PerfettoFile::write(const PerfettoArgs& event) {
  file_.append(has_events_ ? ",\n" : "\n");
  file_.append(event.dump());
  has_events_ = true;
}

std::uint32_t PerfettoFile::add_process(const std::string& name) {
  const std::uint32_t process = ++processes_;
  write({{"name", "process_name"}, {"ph", "M"}, {"pid", process}, {"args", {{"name", name}}}});
  write({{"name", "process_sort_index"},
         {"ph", "M"},
         {"pid", process},
         {"args", {{"sort_index", process}}}});
  return process;
}

PerfettoTrack PerfettoFile::add_track(std::uint32_t process, const std::string& name) {
  const PerfettoTrack track{process, ++threads_};
  for (const auto& [what, args] :
       {std::pair("thread_name", PerfettoArgs{{"name", name}}),
        std::pair("thread_sort_index", PerfettoArgs{{"sort_index", track.thread}})}) {
    write({{"name", what},
           {"ph", "M"},
           {"pid", track.process},
           {"tid", track.thread},
           {"args", args}});
  }
  return track;
}

PerfettoArgs PerfettoFile::event(const char* phase, const std::string& name, PerfettoTrack track,
                                 Tick at) const {
  return {{"name", name},
          {"ph", phase},
          {"pid", track.process},
          {"tid", track.thread},
          {"ts", clock_->at(at)}};
}

void PerfettoFile::slice(PerfettoTrack track, const std::string& name, Tick begin, Tick end,
                         const PerfettoArgs& args) {
  PerfettoArgs slice = event("X", name, track, begin);
  slice["dur"] = clock_->between(begin, end);
  if (!args.empty()) slice["args"] = args;
  write(slice);
}

void PerfettoFile::arrow(ArrowEnd end, PerfettoTrack track, std::uint64_t number, Tick at) {
  PerfettoArgs arrow = event(end == ArrowEnd::tail ? "s" : "f", "message", track, at);
  arrow["cat"] = "message";
  arrow["id"] = number;
  // The arrow ends at the slice around the tick, not at the next slice.
  if (end == ArrowEnd::head) arrow["bp"] = "e";
  write(arrow);
}

void PerfettoFile::counter(std::uint32_t process, const std::string& name, Tick at,
                           const char* unit, const PerfettoArgs& value) {
  write({{"name", name},
         {"ph", "C"},
         {"pid", process},
         {"ts", clock_->at(at)},
         {"args", {{unit, value}}}});
}

}  // namespace espalier
