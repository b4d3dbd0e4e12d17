// In builds without protobuf.
#include "sims/formats/chakra_records.h"

namespace espalier {

struct TraceReader::Messages {};

bool reads_traces() { return false; }

TraceReader::TraceReader(const std::string& /*path*/) : hash_(0), problem_(kNoTraces) {}

TraceReader::~TraceReader() = default;

bool TraceReader::next(TraceNode& /*node*/) { return false; }

}  // namespace espalier
