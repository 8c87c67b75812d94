#!/bin/bash
# A capcli plan as a Slurm job array: cut into shards, and joined by a job that
# runs after them. What is missing or damaged then is run again, and nothing else.
#
#   plan-array.sh DIR SHARDS PLAN…     as in: plan-array.sh out 64 cluster.yaml --max wait_p95=30m
#
# DIR is on a file system that all nodes share, and takes the shards, the logs
# and plan.json. Called again, with the same words, it goes on with what is there.
#
#   CAPCLI           the program, at the same path on all nodes (capcli)
#   CAPCLI_ROUNDS    how often missing shards are run before it is given up (3)
#   CAPCLI_REQUEUES  how often a shard that runs into its time limit goes on (20)
#   CAPCLI_AT_ONCE   at most so many shards at a time (no limit)
#   SBATCH_PARTITION, SBATCH_ACCOUNT, SBATCH_TIMELIMIT, SBATCH_MEM_PER_CPU, …
#                    what sbatch reads by itself; make shards minutes long
set -euo pipefail
capcli=${CAPCLI:-capcli}

# submit ROUND DIR SHARDS PLAN…: an array of what is missing, and the merge.
submit() {
  local round=$1 dir=$2 shards=$3 missing id
  shift 3
  mkdir -p "$dir/log"
  missing=$("$capcli" plan merge "$dir" --shards "$shards" --missing)
  export CAPCLI_SHARDS=$shards
  local after=()
  if [ -n "$missing" ]; then
    # B:USR1@60: the batch shell, and only it, is told a minute before its time is over.
    id=$(sbatch --parsable --job-name=capcli-plan --array="$missing${CAPCLI_AT_ONCE:+%$CAPCLI_AT_ONCE}" \
      --cpus-per-task="${CAPCLI_CPUS:-1}" --requeue --signal=B:USR1@60 --output="$dir/log/shard-%a-%A.out" --open-mode=append \
      "$script" shard "$dir" "$shards" "$@")
    id=${id%%;*} # on several clusters: ID;CLUSTER
    echo "shards $missing of $shards: job $id"
    after=(--dependency="afterany:$id") # afterok would wait for ever for a shard that failed
  fi
  id=$(sbatch --parsable --job-name=capcli-merge "${after[@]}" --output="$dir/log/merge-%j.out" \
    "$script" merge "$round" "$dir" "$shards" "$@")
  echo "merge: job ${id%%;*}, into $dir/plan.json"
}

# shard DIR SHARDS PLAN…: one task of the array. Which shard it is capcli reads
# from SLURM_ARRAY_TASK_ID; of how many, from CAPCLI_SHARDS.
shard() {
  local dir=$1 ended=0 why=
  export CAPCLI_SHARDS=$2
  shift 2
  # capcli stops between two runs; what it has finished is in the shard's journal.
  trap 'why=USR1; kill -TERM "$child" 2>/dev/null' USR1
  trap 'why=TERM; kill -TERM "$child" 2>/dev/null' TERM
  "$capcli" plan "$@" --out "$dir" &
  child=$!
  wait "$child" || ended=$?
  while kill -0 "$child" 2>/dev/null; do # a trap cuts wait short
    ended=0
    wait "$child" || ended=$?
  done
  if [ "$why" = USR1 ] && [ "$ended" -ne 0 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt "${CAPCLI_REQUEUES:-20}" ]; then
    echo "out of time: back into the queue"
    scontrol requeue "$SLURM_JOB_ID"
  fi
  exit "$ended"
}

# merge ROUND DIR SHARDS PLAN…: all shards into one plan, or another round.
merge() {
  local round=$1 dir=$2 shards=$3 missing
  missing=$("$capcli" plan merge "$dir" --shards "$shards" --missing)
  if [ -z "$missing" ]; then
    "$capcli" plan merge "$dir" -o json >"$dir/plan.json.part"
    mv "$dir/plan.json.part" "$dir/plan.json"
    "$capcli" plan merge "$dir" -o table --columns all
  elif [ "$round" -lt "${CAPCLI_ROUNDS:-3}" ]; then
    echo "shards $missing are missing after round $round"
    submit "$((round + 1))" "${@:2}"
  else
    "$capcli" plan merge "$dir" --shards "$shards" # says what is missing, and why
  fi
}

case ${1:-} in
  shard | merge) # within a job, where $0 is Slurm's copy of this file
    script=${CAPCLI_ARRAY_SCRIPT:?}
    "$@"
    ;;
  '' | -h | --help)
    sed -n '2,/^set /s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
  *)
    [ $# -ge 3 ] || { echo "expected DIR SHARDS PLAN…, found $# words: $0 --help" >&2; exit 2; }
    CAPCLI_ARRAY_SCRIPT=$(readlink -f "$0")
    export CAPCLI_ARRAY_SCRIPT
    script=$CAPCLI_ARRAY_SCRIPT
    submit 1 "$(readlink -m "$1")" "${@:2}"
    ;;
esac
