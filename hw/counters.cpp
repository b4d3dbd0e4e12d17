#include "hw/counters.h"

#include <stdexcept>
#include <string>

namespace espalier {

const std::vector<CounterRow>& counter_rows() {
  static const std::vector<CounterRow> rows{
      {"link_conflicts", "packets", true,
       "contention: packets that came to a router while a packet of another input port held their "
       "link, counted at every link"},
  };
  return rows;
}

CounterId counter(std::string_view name) {
  const std::vector<CounterRow>& rows = counter_rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (name == rows[i].name) return CounterId(i);
  }
  throw std::logic_error("hw/counters.cpp has no row for the counter " + std::string(name));
}

Counters::Counters() : counts_(counter_rows().size()) {}

Counters& Counters::operator+=(const Counters& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  return *this;
}

void Counters::scale(std::uint64_t npus) {
  for (std::uint64_t& count : counts_) count *= npus;
}

}  // namespace espalier
