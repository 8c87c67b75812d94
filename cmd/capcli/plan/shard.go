package plan

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"capcli"
	"capcli/cmd/bundle"
	"capcli/cmd/files"
	"capcli/cmd/report"
	"capcli/cmd/shell"
	"capcli/simulate/plan/shard"
)

// shardOptions are the flags that cut a sweep into shards, and the shard that settle chose.
type shardOptions struct {
	shards, shard int
	force         bool

	// The command line, set by begin, and the files opened since.
	cmd    *cobra.Command
	args   []string
	opened *files.Opened
	// The shards to merge instead of computing one; nil when not merging.
	merge *shard.Set
	// The shard to compute, and whether the sweep is cut into shards; set by settle.
	at  shard.Shard
	cut bool
}

// begin records the command line before any file is read.
func (o *shardOptions) begin(e *shell.Env, cmd *cobra.Command, args []string) {
	o.cmd, o.args, o.opened = cmd, args, e.WatchOpened()
}

// settle decides, before any file is read, which shard to compute, if any. out is the value of
// --out.
func (o *shardOptions) settle(e *shell.Env, out string) (err error) {
	if o.merge != nil {
		o.at, o.cut = o.merge.Head().ShardOf(), true
		return nil
	}
	o.at, o.cut, err = o.place(e, out)
	return err
}

// shardFlags are the flags that do not change the result of a sweep. The flags for the form and
// place of the output belong to them.
var shardFlags = []string{
	"shards", "shard", "force", "out", "save", "output", "table", "columns", "wide", "excel", "quiet", "verbose", "no-color", "progress",
}

func addShardFlags(cmd *cobra.Command, o *shardOptions) {
	f := cmd.Flags()
	f.IntVar(&o.shards, "shards", 0, "split the work into `N` shards and compute one, into the folder --out; capcli plan merge joins them")
	f.IntVar(&o.shard, "shard", -1, "number of the shard, from 0: `K` (default in a Slurm array or an indexed Job: the task's own)")
	f.BoolVar(&o.force, "force", false, "compute the shard again even if it is there and whole")
	bundle.Add(cmd, "shards", "split the work into `N` shards and compute one, into the folder --out: 100,shard=3; force computes it again", true, bundle.SameKeys("shard", "force")...)
}

// Environment variables with the number of shards and the number of a task.
const (
	envShards    = "CAPCLI_SHARDS"
	envSlurmTask = "SLURM_ARRAY_TASK_ID"
	envIndex     = "JOB_COMPLETION_INDEX"
)

// place decides which shard to compute, if any. A flag takes precedence over CAPCLI_SHARDS, and
// both over the variables of a Slurm array or an indexed Kubernetes Job. out is the value of --out.
func (o *shardOptions) place(e *shell.Env, out string) (s shard.Shard, cut bool, err error) {
	s, source := shard.Shard{Index: o.shard, Count: o.shards}, ""
	if s.Count == 0 {
		if s.Count, err = envNumber(e, envShards); err != nil {
			return s, false, err
		}
	}
	if s.Index < 0 {
		if s, source, err = taskShard(e, s, isFolder(out)); err != nil {
			return s, false, err
		}
	}
	switch {
	case s.Index < 0 && o.shards == 0:
		return s, false, nil // no task, or CAPCLI_SHARDS alone
	case s.Index < 0:
		return s, false, &shell.UsageError{
			Text: fmt.Sprintf("--shards %d needs --shard: the number of the shard", s.Count),
			Hint: fmt.Sprintf("--shard 0 to %d; in a Slurm array or an indexed Job it is read by itself", s.Count-1),
		}
	case s.Count == 0:
		return s, false, &shell.UsageError{
			Text: fmt.Sprintf("shard %d of how many? --shards is missing", s.Index),
			Hint: "give --shards N, the same for every shard, or set " + envShards,
		}
	}
	if err := s.Check(); err != nil {
		return s, false, &shell.UsageError{Text: "--shards, --shard: " + err.Error()}
	}
	if o.fromStdin() {
		return s, false, &shell.UsageError{Text: "a shard cannot read stdin: the other shards and the merge need the same", Hint: "write it to a file first"}
	}
	if !isFolder(out) {
		return s, false, &shell.UsageError{Text: "a shard needs --out DIR: the folder for its file", Hint: "the same folder for every shard; then capcli plan merge DIR"}
	}
	if source != "" {
		e.Note(fmt.Sprintf("shard %d of %d, from %s", s.Index, s.Count, source))
	}
	return s, true, nil
}

// fromStdin reports whether the command reads stdin.
func (o *shardOptions) fromStdin() bool {
	if o.cmd == nil {
		return false
	}
	trace := o.cmd.Flags().Lookup("trace")
	return slices.Contains(o.args, "-") || trace != nil && trace.Value.String() == "-"
}

// isFolder reports whether out, the value of --out, names a folder: it has no ending, or one that
// is no form of output.
func isFolder(out string) bool {
	if out == "" || out == "-" {
		return false
	}
	ending := filepath.Ext(out)
	if ending == "" {
		return true
	}
	_, err := report.Forms.Get(ending[1:])
	return err != nil
}

// taskShard completes s from the variables of Slurm or Kubernetes, and returns the name of their
// source. If --out is no folder and no number of shards is given, they are ignored: a plan made
// within some array is still a whole plan.
func taskShard(e *shell.Env, s shard.Shard, folder bool) (shard.Shard, string, error) {
	switch {
	case s.Count == 0 && !folder:
		return s, "", nil
	case e.Getenv(envSlurmTask) != "":
		return slurmShard(e, s)
	case e.Getenv(envIndex) == "":
		return s, "", nil
	}
	index, err := envNumber(e, envIndex)
	if err == nil && s.Count == 0 {
		err = &shell.UsageError{
			Text: fmt.Sprintf("%s says that this is pod %d, but the number of pods is unknown", envIndex, index),
			Hint: "give --shards N or set " + envShards + ", the same as completions of the Job",
		}
	}
	s.Index = index
	return s, envIndex, err
}

// slurmShard completes s from the environment of a task of a Slurm array. An array over consecutive
// numbers from 0 or 1 is a sweep of that many shards. Any other array, such as a few tasks run
// again, needs the number of shards, and its task numbers are the shard numbers.
func slurmShard(e *shell.Env, s shard.Shard) (shard.Shard, string, error) {
	var id, count, least, most int
	for _, v := range []struct {
		name string
		to   *int
	}{{envSlurmTask, &id}, {"SLURM_ARRAY_TASK_COUNT", &count}, {"SLURM_ARRAY_TASK_MIN", &least}, {"SLURM_ARRAY_TASK_MAX", &most}} {
		var err error
		if *v.to, err = envNumber(e, v.name); err != nil {
			return s, "", err
		}
	}
	whole := count > 0 && least <= 1 && most-least+1 == count
	if s.Count == 0 && !whole {
		return s, "", &shell.UsageError{
			Text: fmt.Sprintf("this is task %d of an array of %d whose numbers do not run from 0 or 1 without gaps, so the number of shards is unknown", id, count),
			Hint: "give --shards N or set " + envShards + ": of how many shards are these some?",
		}
	}
	source := envSlurmTask
	if s.Count == 0 {
		s.Count, source = count, source+" and SLURM_ARRAY_TASK_COUNT"
	}
	if s.Index = id; whole && count == s.Count {
		s.Index = id - least
	}
	return s, source, nil
}

// envNumber reads a whole number from the environment; 0 where the variable is not set. It fails on
// anything else.
func envNumber(e *shell.Env, name string) (int, error) {
	text := e.Getenv(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, &shell.UsageError{Text: fmt.Sprintf("%s: expected a whole number from 0, found %q", name, text)}
	}
	return n, nil
}

// head describes the inputs of the shard. Every file that the work depends on must have been opened
// before.
func (o *shardOptions) head(e *shell.Env, work shard.Work) (shard.Head, error) {
	sums, err := o.opened.Sums(&e.Disk)
	if err != nil {
		return shard.Head{}, err
	}
	var inputs []shard.Input
	for _, x := range sums {
		inputs = append(inputs, shard.Input{Name: x.Name, SHA256: x.SHA256})
	}
	return shard.NewHead(o.at, shell.VersionText(), work.Len(), canonicalArgs(o.cmd, o.args, shardFlags...), inputs), nil
}

// outcomes returns the outcomes of all pieces of work from the shards to merge.
func (o *shardOptions) outcomes(e *shell.Env, work shard.Work) ([]json.RawMessage, error) {
	head, err := o.head(e, work)
	if err != nil {
		return nil, err
	}
	return o.merge.Outcomes(&head)
}

// compute computes one shard of the work and writes it to the folder out.
func (o *shardOptions) compute(ctx context.Context, e *shell.Env, out string, work shard.Work) error {
	head, err := o.head(e, work)
	if err != nil {
		return err
	}
	if err := e.Disk.Mkdir(out); err != nil {
		return &files.WriteError{Path: out, Err: err}
	}
	to := e.ShardFolder(out)
	a := &shard.Attempt{Head: head, Dir: out, Folder: to, Force: o.force, Note: e.Note}
	switch n, err := a.Run(ctx, work); {
	case err != nil:
		return err
	case n >= 0:
		e.Say(fmt.Sprintf("wrote %s: %s %s of %s", to.Path(o.at.Name()), capcli.Grouped(int64(n)), capcli.Plural(int64(n), "run"), capcli.Grouped(int64(head.Pieces))))
	}
	return nil
}

// canonicalArgs writes the command line of cmd in one canonical form: the given flags by name, then
// the arguments. leaveOut names flags that do not change a figure. Parsed by cmd, the result
// requests the same again.
func canonicalArgs(cmd *cobra.Command, args []string, leaveOut ...string) []string {
	var out []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(leaveOut, f.Name) {
			return
		}
		for _, v := range flagValues(f) {
			out = append(out, "--"+f.Name+"="+v)
		}
	})
	return append(append(out, "--"), args...)
}

// flagValues returns the arguments that would set f to its current value.
func flagValues(f *pflag.Flag) []string {
	list, ok := f.Value.(pflag.SliceValue)
	keys, bundled := f.Value.(*bundle.Bundle)
	switch {
	case bundled && keys.String() == "":
		return nil // its keys are flags of their own
	case !ok:
		return []string{f.Value.String()}
	case f.Value.Type() == "stringArray":
		return list.GetSlice()
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(list.GetSlice()) // a strings.Builder never fails
	w.Flush()
	return []string{strings.TrimSuffix(b.String(), "\n")}
}
