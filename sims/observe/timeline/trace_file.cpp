#include "sims/observe/timeline/trace_file.h"

namespace espalier {

void TraceFile::begin(const TraceClock& clock) {
  clock_ = clock;
  file_.append("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

void TraceFile::close() {
  file_.append("\n]}\n");
  file_.close();
}

void TraceFile::write(const TraceArgs& event) {
  file_.append(has_events_ ? ",\n" : "\n");
  file_.append(event.dump());
  has_events_ = true;
}

std::uint32_t TraceFile::add_process(const std::string& name) {
  const std::uint32_t process = ++processes_;
  write({{"name", "process_name"}, {"ph", "M"}, {"pid", process}, {"args", {{"name", name}}}});
  write({{"name", "process_sort_index"},
         {"ph", "M"},
         {"pid", process},
         {"args", {{"sort_index", process}}}});
  return process;
}

TraceTrack TraceFile::add_track(std::uint32_t process, const std::string& name) {
  const TraceTrack track{process, ++threads_};
  for (const auto& [what, args] :
       {std::pair("thread_name", TraceArgs{{"name", name}}),
        std::pair("thread_sort_index", TraceArgs{{"sort_index", track.thread}})}) {
    write({{"name", what},
           {"ph", "M"},
           {"pid", track.process},
           {"tid", track.thread},
           {"args", args}});
  }
  return track;
}

TraceArgs TraceFile::event(const char* phase, const std::string& name, TraceTrack track,
                           Tick at) const {
  return {{"name", name},
          {"ph", phase},
          {"pid", track.process},
          {"tid", track.thread},
          {"ts", clock_->at(at)}};
}

void TraceFile::slice(TraceTrack track, const std::string& name, Tick begin, Tick end,
                      const TraceArgs& args) {
  TraceArgs slice = event("X", name, track, begin);
  slice["dur"] = clock_->between(begin, end);
  if (!args.empty()) slice["args"] = args;
  write(slice);
}

void TraceFile::arrow(const char* phase, TraceTrack track, std::uint64_t number, Tick at) {
  TraceArgs arrow = event(phase, "message", track, at);
  arrow["cat"] = "message";
  arrow["id"] = number;
  if (*phase == 'f') arrow["bp"] = "e";  // to the slice around it, not to the next one
  write(arrow);
}

void TraceFile::arrow_begins(TraceTrack track, std::uint64_t number, Tick at) {
  arrow("s", track, number, at);
}

void TraceFile::arrow_ends(TraceTrack track, std::uint64_t number, Tick at) {
  arrow("f", track, number, at);
}

void TraceFile::counter(std::uint32_t process, const std::string& name, Tick at, const char* unit,
                        const TraceArgs& value) {
  write({{"name", name},
         {"ph", "C"},
         {"pid", process},
         {"ts", clock_->at(at)},
         {"args", {{unit, value}}}});
}

}  // namespace espalier
