package plan

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"capcli"
	"capcli/cmd/bundle"
	"capcli/cmd/files"
	"capcli/cmd/report"
	"capcli/cmd/shell"
	"capcli/scenarios/decide/plan/shard"
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
	"shards", "shard", "force", "out", "save", "output", "table", "columns", "quiet", "verbose", "no-color", "progress",
}

func addShardFlags(cmd *cobra.Command, o *shardOptions) {
	f := cmd.Flags()
	f.IntVar(&o.shards, "shards", 0, "split the work into `N` shards and compute one, into the folder --out; capcli plan merge joins them")
	f.IntVar(&o.shard, "shard", -1, "number of the shard, from 0: `K` (default in a Slurm array or an indexed Job: the task's own)")
	f.BoolVar(&o.force, "force", false, "compute the shard again even if it is there and whole")
	bundle.Add(cmd, "shards", "split the work into `N` shards and compute one, into the folder --out: 100,shard=3; force computes it again", true, bundle.SameKeys("shard", "force")...)
}

// place decides which shard to compute, if any, and says where it was read. out is the value of --out.
func (o *shardOptions) place(e *shell.Env, out string) (s shard.Shard, cut bool, err error) {
	r := shard.PlaceRequest{Index: o.shard, Count: o.shards, Getenv: e.Getenv, Folder: isFolder(out), Stdin: o.fromStdin()}
	s, source, err := r.Place()
	if source != "" {
		e.Note(fmt.Sprintf("shard %d of %d, from %s", s.Index, s.Count, source))
	}
	return s, err == nil && s.Index >= 0, err
}

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

// head describes the inputs of the shard. Every file that the work depends on must have been opened
// before.
func (o *shardOptions) head(e *shell.Env, work shard.Work) (shard.Head, error) {
	sums, err := o.opened.Sums(&e.Disk)
	if err != nil {
		return shard.Head{}, err
	}
	inputs := capcli.Map(sums, func(x files.Sum) shard.Input { return shard.Input{Name: x.Name, SHA256: x.SHA256} })
	return shard.NewHead(o.at, shell.VersionText(), work.Len(), canonicalArgs(o.cmd, o.args, shardFlags...), inputs), nil
}

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
