#include "sims/observe/record/vc_arrivals.h"

#include "sims/observe/record/cut_runs.h"

namespace espalier {

FlitType ArrivingRun::type_of_first() const {
  if (has_type) return type;
  const PacketGrid& grid = message.grid;
  const bool begins = grid.is_boundary(offset);
  const bool ends = grid.packet_end(offset) == offset + 1;
  if (!grid.message_mode) {
    if (begins) return ends ? FlitType::head_tail : FlitType::head;
    return ends ? FlitType::tail : FlitType::body;
  }
  if (offset == 0) return FlitType::sub_head;
  if (!ends) return FlitType::sub_body;
  return offset + 1 == grid.flits ? FlitType::message_tail : FlitType::sub_tail;
}

void VcArrivals::cut(std::uint64_t n) {
  cut_runs(runs_, n, [](ArrivingRun& run) -> FlitRun& { return run.landing; });
}

void VcArrivals::leave(std::uint64_t n) {
  ArrivingRun& run = runs_.front();
  run.landing.start += n * run.landing.rate;
  run.landing.n -= n;
  run.offset += n;
  if (run.landing.n == 0) runs_.pop_front();
}

std::uint64_t VcArrivals::left_in_packet() const {
  const ArrivingRun& run = runs_.front();
  if (run.has_type) return ends_packet(run.type) ? 1 : 2;  // one flit, and at least another
  return run.message.grid.packet_end(run.offset) - run.offset;
}

}  // namespace espalier
