#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs a script that submits jobs on a Slurm cluster of one node: starts the cluster in a folder of its own, runs the
# script in the current folder, waits until no job is left, and stops the cluster. Needs root and Slurm's and
# Munge's daemons.
#
#   run_cluster.sh FOLDER SCRIPT
#
# The node has GPUS (environment, default 2) that are only counted, and as many cores. Exit status: that of the script;
# 3 where something is missing or the cluster does not start; 4 where jobs are left after SECONDS_TO_WAIT (default 60),
# which are then cancelled.
set -uo pipefail

folder=$(realpath -m "$1")
script=$2
gpus=${GPUS:-2}
mkdir -p "$folder"/{state,spool,munge}

fail() {
  echo "run_cluster.sh: $1" >&2
  exit 3
}

[[ $(id -u) == 0 ]] || fail "needs root"
for program in munged slurmctld slurmd sbatch squeue scancel; do
  command -v "$program" >/dev/null || fail "$program is not installed"
done

free_port() {
  local port
  while port=$((20000 + RANDOM)); (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
  echo "$port"
}

# The daemons stay in the foreground, so that they are ours to end.
started=()
stop_cluster() {
  for process in "${started[@]}"; do
    kill "$process" 2>/dev/null
  done
  wait
}
trap stop_cluster EXIT

node=$(hostname -s)
export SLURM_CONF=$folder/slurm.conf
cat >"$SLURM_CONF" <<END
ClusterName=test
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
MailProg=/bin/true
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,defer_batch,bf_interval=1
ReturnToService=2
GresTypes=gpu
NodeName=$node NodeAddr=127.0.0.1 CPUs=$gpus Gres=gpu:$gpus State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE OverSubscribe=FORCE:8 State=UP
END
# Any file stands for a GPU.
: >"$folder/gres.conf"
for ((gpu = 0; gpu < gpus; ++gpu)); do
  touch "$folder/gpu$gpu"
  echo "Name=gpu File=$folder/gpu$gpu" >>"$folder/gres.conf"
done

chmod 711 "$folder/munge"
head -c 1024 /dev/urandom >"$folder/munge/key"
chmod 400 "$folder/munge/key"
munged --foreground --force --key-file "$folder/munge/key" --socket "$folder/munge/socket" \
  --pid-file "$folder/munge/pid" --log-file "$folder/munge/log" \
  --seed-file "$folder/munge/seed" >"$folder/munged.out" 2>&1 &
started+=($!)
for ((i = 0; i < 50; ++i)); do
  [[ -S $folder/munge/socket ]] && break
  sleep 0.1
done
slurmctld -D -c -f "$SLURM_CONF" >"$folder/slurmctld.log" 2>&1 &
started+=($!)
slurmd -D -c -N "$node" -f "$SLURM_CONF" >"$folder/slurmd.log" 2>&1 &
started+=($!)

idle=no
for ((i = 0; i < 100; ++i)); do
  if [[ $(sinfo --noheader --format=%T 2>/dev/null) == idle ]]; then
    idle=yes
    break
  fi
  sleep 0.2
done
if [[ $idle == no ]]; then
  tail -n 5 "$folder"/{munged.out,slurmctld.log,slurmd.log} >&2
  fail "the cluster does not start"
fi

bash "$script"
status=$?

for ((i = 0; i < 5 * ${SECONDS_TO_WAIT:-60}; ++i)); do
  if [[ -z $(squeue --noheader) ]]; then
    exit "$status"
  fi
  sleep 0.2
done
squeue >&2
scancel --user=root
exit 4
