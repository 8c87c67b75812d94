#!/bin/sh
# Slurm prolog: records a job's own GPUs on this node for as long as the job runs, into a folder of the
# job's own. For clusters where no service may run all the time; where one may, contrib/systemd is better,
# for it also sees the time between jobs.
#
# slurm.conf:  Prolog=/etc/slurm/prolog.d/*   Epilog=/etc/slurm/epilog.d/*
#
# CAPCLI_ARGS has further arguments of capcli profile. A prolog that fails drains the node: whatever goes
# wrong here, it ends with 0.
set -u
[ -n "${SLURM_JOB_ID:-}" ] || exit 0
gpus=${SLURM_JOB_GPUS:-${CUDA_VISIBLE_DEVICES:-}}
[ -n "$gpus" ] || exit 0 # no GPU was asked for
state=${CAPCLI_STATE:-/var/lib/capcli}
capcli=${CAPCLI:-/usr/local/bin/capcli}
[ -x "$capcli" ] || exit 0
mkdir -p "$state/jobs" "$state/run" || exit 0
# Once for a job on a node: a prolog may run again, when the job was put back or has several steps.
old=$(cat "$state/run/$SLURM_JOB_ID.pid" 2>/dev/null) &&
  case $(tr '\0' ' ' 2>/dev/null <"/proc/$old/cmdline") in *"profile --out $state/jobs/$SLURM_JOB_ID "*) exit 0 ;; esac
# Of its own session, so that it outlives the prolog. CAPCLI_ARGS is split into words.
# shellcheck disable=SC2086
setsid nice -n 19 "$capcli" profile --out "$state/jobs/$SLURM_JOB_ID" --gpu "$gpus" --progress none ${CAPCLI_ARGS:-} \
  </dev/null >/dev/null 2>>"$state/run/$SLURM_JOB_ID.log" &
echo $! >"$state/run/$SLURM_JOB_ID.pid"
# When a prolog ends, slurmd kills its process group: it ends when the recorder has left the group.
i=0
while [ $i -lt 50 ]; do
  case $(tr '\0' ' ' 2>/dev/null <"/proc/$!/cmdline") in "$capcli profile "*) break ;; esac
  sleep 0.1
  i=$((i + 1))
done
exit 0
