#!/bin/sh
# Slurm prolog: records the GPUs for as long as a job runs, into a folder of the
# job's own. For clusters where no service may run all the time; where one may,
# contrib/systemd is better, for it also sees the time between jobs.
#
# slurm.conf:  Prolog=/etc/slurm/prolog.d/*   Epilog=/etc/slurm/epilog.d/*
#
# A prolog that fails drains the node: whatever goes wrong here, it ends with 0.
set -u
[ -n "${SLURM_JOB_ID:-}" ] || exit 0
[ -n "${SLURM_JOB_GPUS:-}${CUDA_VISIBLE_DEVICES:-}" ] || exit 0 # no GPU was asked for
state=${CAPCLI_STATE:-/var/lib/capcli}
capcli=${CAPCLI:-/usr/local/bin/capcli}
[ -x "$capcli" ] || exit 0
mkdir -p "$state/jobs" "$state/run" || exit 0
# Of its own session, so that it outlives the prolog.
setsid nice -n 19 "$capcli" profile --out "$state/jobs/$SLURM_JOB_ID" --progress none \
  </dev/null >/dev/null 2>"$state/run/$SLURM_JOB_ID.log" &
echo $! >"$state/run/$SLURM_JOB_ID.pid"
exit 0
