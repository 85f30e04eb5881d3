# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# timeout: 1200
# only: slurm
#
# The job array of `gpuemu sweep --slurm` on a real Slurm: Debian's, one node, daemons of this
# check alone on ports of its own, with files of its own. All tasks together have every run; an
# array that was cancelled leaves no child behind, and goes on when it is submitted again.
. tests/lib/tap.sh

scripts/deps.sh slurm || { tap_not_ok 'Slurm is installed' 'scripts/deps.sh slurm failed'; tap_done; exit; }
make -j"$(nproc)" programs >/dev/null 2>&1 || tap_not_ok 'the programs build' 'make programs'
gpuemu=build/bin/gpuemu
unset GPUEMU_BACKEND GPUEMU_DATADIR
work=$(mktemp -d /tmp/gpuemu-slurm.XXXXXX)
chmod 755 "$work"	# munged looks at the way to its socket
mkdir "$work/spool" "$work/state"
node=$(hostname -s)
cpus=$(nproc)

dd if=/dev/urandom of="$work/key" bs=128 count=1 2>/dev/null
chmod 600 "$work/key"
cat >"$work/slurm.conf" <<EOF
ClusterName=gpuemu
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=26817
SlurmdPort=26818
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
SlurmUser=root
SlurmdUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
KillWait=10
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmdSpoolDir=$work/spool
StateSaveLocation=$work/state
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
JobAcctGatherType=jobacct_gather/none
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
NodeName=$node NodeAddr=127.0.0.1 CPUs=$cpus State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
EOF
export SLURM_CONF=$work/slurm.conf
daemons=()
# shellcheck disable=SC2329
finish() {
	kill "${daemons[@]}" 2>/dev/null
	wait
	rm -rf "$work"
}
trap finish EXIT

munged --foreground --key-file="$work/key" --socket="$work/munge.socket" --pid-file="$work/munge.pid" \
	--seed-file="$work/munge.seed" >"$work/munge.out" 2>&1 &
daemons+=($!)
for ((i = 0; i < 100; i++)); do [ -S "$work/munge.socket" ] && break; sleep 0.1; done
slurmctld -D >"$work/slurmctld.out" 2>&1 &
daemons+=($!)
slurmd -D -N "$node" >"$work/slurmd.out" 2>&1 &
daemons+=($!)
for ((i = 0; i < 300; i++)); do sinfo -h -o %T 2>/dev/null | grep -qx idle && break; sleep 0.2; done
if ! sinfo -h -o %T 2>/dev/null | grep -qx idle; then
	tap_not_ok 'a Slurm of one node is up' "$(tail -n 5 "$work"/*.log "$work"/*.out 2>&1)"
	tap_done
	exit
fi
tap_ok 'a Slurm of one node is up'

# --- all of it --------------------------------------------------------------------------
cat >"$work/one.conf" <<'EOF'
workloads = [ "vecadd size=tiny", "gather size=tiny" ];
keys: { paging: { prefetch = [ "none", "tree", "sequential" ]; }; };
columns = "totals.cycles";
EOF
$gpuemu sweep "$work/one.conf" --out "$work/array" --slurm 3 --jobs 1 >"$work/job.sh"
tap_check 'sbatch takes the script, and its tasks succeed' timeout 200 sbatch --wait --output="$work/task.%a" "$work/job.sh"
tap_check 'three tasks ran' sh -c "test \$(cat $work/task.[123] | grep -c 'the table is') -eq 3"
tap_check 'the table has every run' sh -c "test \$(wc -l <$work/array/sweep.csv) -eq 7 && grep -q '6 done' $work/task.*"
$gpuemu sweep "$work/one.conf" --out "$work/here" >/dev/null 2>&1
tap_check 'and is that of a sweep without Slurm' cmp "$work/array/sweep.csv" "$work/here/sweep.csv"

# --- cancelled --------------------------------------------------------------------------
cat >"$work/long.conf" <<'EOF'
workloads = "lbm size=quick";
keys: { gpu: { seed = [ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 ]; }; };
columns = "totals.cycles";
EOF
$gpuemu sweep "$work/long.conf" --out "$work/long" --slurm 2 --jobs 1 >"$work/long.sh"
id=$(sbatch --parsable --output="$work/long.%a" "$work/long.sh")
for ((i = 0; i < 600; i++)); do
	[ "$(find "$work/long/runs" -name '*.json' 2>/dev/null | wc -l)" -ge 2 ] && break
	sleep 0.1
done
scancel "$id"
for ((i = 0; i < 300; i++)); do [ -z "$(squeue -h)" ] && break; sleep 0.2; done
tap_check 'cancelled: no task is left' test -z "$(squeue -h)"
tap_check 'cancelled: no child is left' sh -c "! pgrep -f '$work/[l]ong/runs'"
kept=$(find "$work/long/runs" -name '*.json' | wc -l)
tap_check "cancelled: $kept runs of 16 are kept" sh -c "test $kept -ge 2 && test $kept -lt 16"
tap_check 'submitted again: it goes on' timeout 300 sbatch --wait --output="$work/again.%a" "$work/long.sh"
tap_check 'submitted again: the table has every run' sh -c "test \$(wc -l <$work/long/sweep.csv) -eq 17"
tap_done
