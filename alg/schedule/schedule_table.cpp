#include "alg/schedule/schedule_table.h"

namespace espalier {

const char* to_string(TableOp op) {
  switch (op) {
    case TableOp::reduce:
      return "Reduce";
    case TableOp::gather:
      return "Gather";
    case TableOp::nop:
      return "NOP";
  }
  return "?";
}

}  // namespace espalier
