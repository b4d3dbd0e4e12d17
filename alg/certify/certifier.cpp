#include "alg/certify/certifier.h"

#include <fmt/format.h>

#include <array>

#include "alg/certify/certifier_parts.h"

namespace espalier {

const char* to_string(ViolationKind kind) {
  constexpr std::array kNames{"malformed", "postcondition", "read_before_write",
                              "deadlock",  "contention",    "capacity"};
  return kNames.at(static_cast<std::size_t>(kind));
}

namespace certifier {

std::vector<Violation> Findings::list() const {
  std::vector<Violation> result = listed_;
  for (std::size_t k = 0; k < kViolationKinds; ++k) {
    const auto kind = static_cast<ViolationKind>(k);
    const std::size_t rest = full(kind) ? count(kind) - Certificate::kListedPerKind : 0;
    if (open_ended_.at(k)) {
      result.push_back({kind, fmt::format("and at least {} more; the search stopped here", rest)});
    } else if (rest != 0) {
      result.push_back({kind, fmt::format("and {} more", rest)});
    }
  }
  return result;
}

void check_schedule(const Topology& topology, const Schedule& schedule,
                    const CertifierLimits& limits, Certificate& certificate, Findings& findings) {
  certificate.contention_free = check_contention(topology, schedule, findings);
  check_channel_cycles(topology, schedule, limits.vc_classes, findings);
  const OrderedTransfers ordered = order_transfers(schedule, findings);
  if (findings.count(ViolationKind::deadlock) != 0) return;
  const ChunkRuns chunks = group_by_chunk(schedule, ordered);
  check_postcondition(schedule, ordered, chunks, findings);
  check_data_order(schedule, ordered, chunks, findings);
}

namespace {

// Checks one table that all nodes hold. The part of root 0 represents all roots.
void check_symmetric_tables(const Topology& topology, const ScheduleTables& tables,
                            const CertifierLimits& limits, Certificate& certificate,
                            Findings& findings) {
  if (!check_symmetry(topology, tables, findings)) return;
  const ScheduleTables first_root = tables_of_first_root(tables);
  const RaisedTables raised = raise_tables(topology, first_root, findings);
  certificate.judged_transfers = raised.schedule.transfers.size();
  certificate.transfers = certificate.judged_transfers * topology.num_nodes();
  if (findings.count(ViolationKind::malformed) != 0 ||
      !check_dependencies(raised.schedule, findings)) {
    return;
  }
  check_symmetric_order(raised.schedule, findings);
  check_schedule(topology, raised.schedule, limits, certificate, findings);
  certificate.contention_free = check_symmetric_contention(topology, tables, findings);
}

// Judges one round for all of them. Returns false if tables are not periodic or a round has faults:
// then every entry is judged, so that the faults are named.
bool check_one_round(const Topology& topology, const ScheduleTables& tables,
                     const CertifierLimits& limits, Certificate& certificate) {
  const std::optional<RoundProof> proof = fold_rounds(topology, tables);
  if (!proof) return false;
  Findings findings;
  Certificate of_round;
  check_schedule(topology, proof->round.schedule, limits, of_round, findings);
  if (!findings.list().empty()) return false;
  certificate.transfers = proof->transfers;
  certificate.judged_transfers = proof->round.schedule.transfers.size();
  certificate.contention_free = proof->contention_free;
  return true;
}

}  // namespace

}  // namespace certifier

Certificate certify(const Topology& topology, const ScheduleTables& tables,
                    const CertifierLimits& limits) {
  certifier::Findings findings;
  Certificate certificate;
  certifier::check_rows(tables, findings);
  if (findings.count(ViolationKind::malformed) != 0) {
    certificate.violations = findings.list();
    return certificate;
  }
  certifier::check_capacity(tables, limits, certificate, findings);
  certifier::check_shares(tables.op, tables.scope, limits.element_bytes, tables.chunks,
                          topology.num_nodes(), findings);
  if (!tables.repeated.empty() &&
      certifier::check_one_round(topology, tables, limits, certificate)) {
    certificate.violations = findings.list();
    return certificate;
  }
  if (tables.symmetry) {
    certifier::check_symmetric_tables(topology, tables, limits, certificate, findings);
    certificate.violations = findings.list();
    return certificate;
  }
  const certifier::RaisedTables raised = certifier::raise_tables(topology, tables, findings);
  certificate.transfers = certificate.judged_transfers = raised.schedule.transfers.size();
  // Raising has checked every entry already, except for dependencies on later steps.
  if (findings.count(ViolationKind::malformed) == 0 &&
      certifier::check_dependencies(raised.schedule, findings)) {
    certifier::check_issue_order(tables, raised, findings);
    certifier::check_schedule(topology, raised.schedule, limits, certificate, findings);
  }
  certificate.violations = findings.list();
  return certificate;
}

}  // namespace espalier
