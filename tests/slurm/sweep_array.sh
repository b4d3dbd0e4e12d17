#!/usr/bin/env bash
# The script of docs/sweeps.md on a real Slurm of one node: a sweep as a job array, submitted, cancelled midway, submitted again,
# gathered, and equal to a run without Slurm, byte for byte. Needs root and the packages slurm-wlm and munge; exit code 77 (skipped) without.
# tests/slurm/sweep_array.sh ESPALIER
set -euo pipefail
espalier=$(realpath "$1")
page=$(realpath "$(dirname "$0")")/../../docs/sweeps.md

skip() { echo "skipped: $1"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "not root"
PATH=$PATH:/usr/sbin:/sbin
for program in munged slurmctld slurmd sbatch scancel squeue sinfo; do
  command -v $program >/dev/null || skip "no $program (packages slurm-wlm, munge)"
done

work=$(mktemp -d /tmp/espalier-slurm-XXXXXX)
daemons=()
clean_up() {
  scancel --full --signal=KILL --user=root 2>/dev/null || true
  # The last one first: the node, the controller, the keys.
  for ((d = ${#daemons[@]} - 1; d >= 0; --d)); do
    kill "${daemons[d]}" 2>/dev/null && tail --pid="${daemons[d]}" -f /dev/null || true
  done
  rm -rf "$work"
}
trap clean_up EXIT
fail() {
  echo "failed: $1" >&2
  tail -n 20 "$work"/*.log "$work"/sweep/out/*.log >&2 2>/dev/null || true
  exit 1
}
# wait_for SECONDS COMMAND...
wait_for() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ $SECONDS -lt $end ] || return 1
    sleep 0.2
  done
}

# Keys of our own: munged serves slurm's daemons and nobody else.
chmod 755 "$work"
mkdir -m 755 "$work/munge"
mkdir -m 700 "$work/key"
dd if=/dev/urandom of="$work/key/munge.key" bs=1024 count=1 status=none
chmod 400 "$work/key/munge.key"
munged --foreground --force --key-file="$work/key/munge.key" --socket="$work/munge/socket" --pid-file="$work/munge/pid" \
  --seed-file="$work/munge/seed" --log-file="$work/munge/log" >"$work/munged.log" 2>&1 &
daemons+=($!)
wait_for 20 test -S "$work/munge/socket" || fail "munged does not start"

# Ports that nothing else has, as far as a script can tell.
port=$((20000 + RANDOM % 20000))
host=$(hostname -s)
mkdir "$work/state" "$work/spool"
cat >"$work/slurm.conf" <<CONF
ClusterName=espalier
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
CredType=cred/munge
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,batch_sched_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
KillWait=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=test Nodes=$host Default=YES MaxTime=10:00 State=UP
CONF
# No process is put into a cgroup; but slurmd looks for their filesystem, which a chroot need not have, unless it is told
# which kind there is.
echo "CgroupPlugin=cgroup/v1" >"$work/cgroup.conf"
export SLURM_CONF=$work/slurm.conf
slurmctld -D -f "$work/slurm.conf" >"$work/slurmctld.out.log" 2>&1 &
daemons+=($!)
slurmd -D -f "$work/slurm.conf" -N "$host" >"$work/slurmd.out.log" 2>&1 &
daemons+=($!)
is_idle() { [ "$(sinfo -h -o %T 2>/dev/null)" = idle ]; }
wait_for 60 is_idle || fail "the node does not come up"

mkdir "$work/sweep"
cd "$work/sweep"
# Some seconds for two processors.
cat >small.yaml <<SWEEP
title: Forty points
config: {system: {topology: {type: torus, dims: [8, 8]}}, traffic: {warmup_cycles: 0, measure_cycles: 10000, drain_cycles: 0}, simulation: {fidelity: cycle}}
axes: [{key: traffic.injection_rate, from: 0.05, to: 0.2, step: 0.05}]
seeds: 10
SWEEP
count_points() { find out/points -name '*.json' 2>/dev/null | wc -l; }
has_some() { [ "$(count_points)" -ge 3 ]; }
no_jobs() { [ -z "$(squeue -h -o %i)" ]; }

PATH=$(dirname "$espalier"):$PATH
sed -n '/^#!.bin.bash$/,/^```$/p' "$page" | grep -v '^```$' >sweep.sbatch
bash sweep.sbatch small.yaml -o out || fail "submit"
wait_for 60 has_some || fail "no point is finished"
scancel --name=sweep.sbatch
scancel --name=wrap
wait_for 60 no_jobs || fail "jobs stay after scancel"
cancelled=$(count_points)
echo "cancelled after $cancelled of 40 points"
[ "$cancelled" -lt 40 ] || fail "it was over before it could be cancelled"
[ -z "$(find out/points -type f ! -name '*.json')" ] || fail "unfinished files are left"

bash sweep.sbatch small.yaml -o out || fail "submit again"
wait_for 120 no_jobs || fail "jobs do not end"
wait_for 10 test -f out/results.csv || fail "nothing was gathered"
[ "$(count_points)" -eq 40 ] || fail "$(count_points) of 40 points"

"$espalier" sweep run small.yaml -o local >/dev/null
"$espalier" sweep gather small.yaml -o local >/dev/null
cmp out/results.csv local/results.csv || fail "the tables differ"
cmp out/results.jsonl local/results.jsonl || fail "the results differ"
echo "40 points by Slurm, $cancelled of them before the array was cancelled: equal to a local run"
