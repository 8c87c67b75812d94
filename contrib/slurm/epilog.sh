#!/bin/sh
# Slurm epilog: ends what prolog.sh began, and keeps a page on what the job did.
set -u
[ -n "${SLURM_JOB_ID:-}" ] || exit 0
state=${CAPCLI_STATE:-/var/lib/capcli}
capcli=${CAPCLI:-/usr/local/bin/capcli}
pidfile="$state/run/$SLURM_JOB_ID.pid"
[ -f "$pidfile" ] || exit 0
pid=$(cat "$pidfile")
# Only our own: a number may be another program's by now.
case $(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline") in
*"profile --out $state/jobs/$SLURM_JOB_ID "*)
  kill -TERM "$pid" 2>/dev/null
  i=0
  while kill -0 "$pid" 2>/dev/null && [ $i -lt 50 ]; do
    sleep 0.1
    i=$((i + 1))
  done
  ;;
esac
rm -f "$pidfile"
"$capcli" profile summary "$state/jobs/$SLURM_JOB_ID" -o table \
  >"$state/jobs/$SLURM_JOB_ID/summary.txt" 2>>"$state/run/$SLURM_JOB_ID.log" || :
exit 0
