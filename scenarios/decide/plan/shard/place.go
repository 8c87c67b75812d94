package shard

import (
	"fmt"
	"strconv"

	"capcli"
)

// Environment variables with the number of shards and the number of a task.
const (
	envShards    = "CAPCLI_SHARDS"
	envSlurmTask = "SLURM_ARRAY_TASK_ID"
	envIndex     = "JOB_COMPLETION_INDEX"
)

// PlaceRequest asks which shard a process is to compute. What it is told goes before CAPCLI_SHARDS, and both
// before the variables of a Slurm array or an indexed Kubernetes Job.
type PlaceRequest struct {
	Index, Count int                 // as told; below 0 and 0 are not told
	Getenv       func(string) string // the environment of the process
	Folder       bool                // whether the result goes to a folder
	Stdin        bool                // whether an input is stdin
}

// Place returns the shard, with an Index below 0 for the whole, and the variables it was read from; "" is
// none. It fails with a *capcli.RequestError where the shard or the number of shards is unknown or wrong,
// or where shards cannot share the inputs or the output.
func (r *PlaceRequest) Place() (s Shard, source string, err error) {
	s = Shard{Index: r.Index, Count: r.Count}
	if s.Count == 0 {
		if s.Count, err = r.number(envShards); err != nil {
			return s, "", err
		}
	}
	if s.Index < 0 {
		if s, source, err = r.task(s); err != nil {
			return s, "", err
		}
	}
	switch {
	case s.Index < 0 && r.Count == 0:
		return s, "", nil // no task, or CAPCLI_SHARDS alone
	case s.Index < 0:
		return s, "", &capcli.RequestError{
			Text: fmt.Sprintf("--shards %d needs --shard: the number of the shard", s.Count),
			Hint: fmt.Sprintf("--shard 0 to %d; in a Slurm array or an indexed Job it is read by itself", s.Count-1),
		}
	case s.Count == 0:
		return s, "", &capcli.RequestError{
			Text: fmt.Sprintf("shard %d of how many? --shards is missing", s.Index),
			Hint: "give --shards N, the same for every shard, or set " + envShards,
		}
	}
	if err := s.Check(); err != nil {
		return s, "", &capcli.RequestError{Text: "--shards, --shard: " + err.Error()}
	}
	switch {
	case r.Stdin:
		return s, "", &capcli.RequestError{Text: "a shard cannot read stdin: the other shards and the merge need the same", Hint: "write it to a file first"}
	case !r.Folder:
		return s, "", &capcli.RequestError{Text: "a shard needs --out DIR: the folder for its file", Hint: "the same folder for every shard; then capcli plan merge DIR"}
	}
	return s, source, nil
}

// task completes s from the variables of Slurm or Kubernetes, and returns the name of their
// source. If the result goes to no folder and no number of shards is given, they are ignored: a plan made
// within some array is still a whole plan.
func (r *PlaceRequest) task(s Shard) (Shard, string, error) {
	switch {
	case s.Count == 0 && !r.Folder:
		return s, "", nil
	case r.Getenv(envSlurmTask) != "":
		return r.slurmTask(s)
	case r.Getenv(envIndex) == "":
		return s, "", nil
	}
	index, err := r.number(envIndex)
	if err == nil && s.Count == 0 {
		err = &capcli.RequestError{
			Text: fmt.Sprintf("%s says that this is pod %d, but the number of pods is unknown", envIndex, index),
			Hint: "give --shards N or set " + envShards + ", the same as completions of the Job",
		}
	}
	s.Index = index
	return s, envIndex, err
}

// slurmTask completes s from the environment of a task of a Slurm array. An array over consecutive
// numbers from 0 or 1 is a sweep of that many shards. Any other array, such as a few tasks run
// again, needs the number of shards, and its task numbers are the shard numbers.
func (r *PlaceRequest) slurmTask(s Shard) (Shard, string, error) {
	var id, count, least, most int
	for _, v := range []struct {
		name string
		to   *int
	}{{envSlurmTask, &id}, {"SLURM_ARRAY_TASK_COUNT", &count}, {"SLURM_ARRAY_TASK_MIN", &least}, {"SLURM_ARRAY_TASK_MAX", &most}} {
		var err error
		if *v.to, err = r.number(v.name); err != nil {
			return s, "", err
		}
	}
	whole := count > 0 && least <= 1 && most-least+1 == count
	if s.Count == 0 && !whole {
		return s, "", &capcli.RequestError{
			Text: fmt.Sprintf("this is task %d of an array of %d whose numbers do not run from 0 or 1 without gaps, so the number of shards is unknown", id, count),
			Hint: "give --shards N or set " + envShards + ": of how many shards are these some?",
		}
	}
	source := envSlurmTask
	if s.Count == 0 {
		s.Count, source = count, source+" and SLURM_ARRAY_TASK_COUNT"
	}
	s.Index = id
	if whole && count == s.Count {
		s.Index = id - least
	}
	return s, source, nil
}

// number reads a whole number from the environment; 0 where the variable is not set. It fails on
// anything else.
func (r *PlaceRequest) number(name string) (int, error) {
	text := r.Getenv(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, &capcli.RequestError{Text: fmt.Sprintf("%s: expected a whole number from 0, found %q", name, text)}
	}
	return n, nil
}
