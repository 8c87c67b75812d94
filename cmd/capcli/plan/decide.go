package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"capcli/cmd/report/page"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/profile/bucket"
	"capcli/profile/logs/trace"
	"capcli/profile/store"
	"capcli/scenarios/decide"
	"capcli/scenarios/money/prices"
)

// decideOptions are the flags of capcli decide.
type decideOptions struct {
	ask    decide.Request
	output shell.OutputOptions
	dir    string
	cache  string
}

func newDecide(e *shell.Env) *cobra.Command {
	o := decideOptions{ask: *decide.NewRequest("", "")}
	cmd := &cobra.Command{
		Use:   "decide --trace INPUT --gpu MODEL",
		Short: "One question, one answer: how many GPUs to commit to, at what cost and risk",
		Long: "Runs the chain import, describe, forecast with futures, plan for the futures, plan for the jobs of each future,\n" +
			"and says what to buy. Each step is a command of its own. A later question about the log uses the cache.",
		Example: "  capcli decide --trace sacct.psv.gz --gpu H100 --horizon 1y --prices ours.csv --budget 4M --out decision\n" +
			"  capcli decide --trace jobs.parquet --trace gpu-profile --trace chat.yaml --trace focus.csv.gz --gpu H100",
		Args: shell.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDecide(cmd.Context(), e, &o) },
	}
	f := cmd.Flags()
	f.Var(shell.LogsFlag{LogFlag: shell.LogFlag{Name: &o.ask.Trace, More: &o.ask.More}}, "trace", "what there is (repeat): job log, folder of capcli profile, service, requests, bill: `INPUT`")
	f.StringVar(&o.ask.GPU, "gpu", "", "plan for the jobs that want this `MODEL`, or name none")
	f.StringVar(&o.ask.Horizon, "horizon", o.ask.Horizon, "how far ahead: `TIME`, 1y, 26w, or a date")
	f.StringArrayVar(&o.ask.Max, "max", nil, "limit from above, `METRIC=VALUE` (repeat; default wait_p95="+decide.WaitDefault+")")
	f.StringArrayVar(&o.ask.Min, "min", nil, "limit from below, `METRIC=VALUE`: availability=0.95 (repeat)")
	f.StringVar(&o.ask.Budget, "budget", "", "most that the horizon may cost, `$`: 4M")
	f.StringVar(&o.ask.Hold, "hold", o.ask.Hold, "`SHARE` of the futures in which all limits must hold")
	f.StringVar(&o.ask.Risk, "risk", o.ask.Risk, "what of the cost to make least: `WHAT`, mean, q80 or cvar95 (mean of the worst 5%)")
	f.StringArrayVar(&o.ask.Events, "events", nil, "launches, campaigns, holidays: `FILE` (repeat; capcli forecast events init)")
	f.StringVar(&o.ask.AsIf, "as-if", "", "which part of the log counts, where tenants left or the level moved or fell away: `WAY`")
	f.IntVar(&o.ask.Futures, "paths", o.ask.Futures, "futures to plan for: `N`")
	f.Uint64Var((*uint64)(&o.ask.Seed), "seed", uint64(o.ask.Seed), "seed of all chance: a whole `NUMBER` from 0")
	f.StringVar(&o.ask.Seller, "provider", "", "plan with the prices of this `NAME` (default: the cheapest with a price for 1y)")
	f.StringArrayVar(&o.ask.Held, "held", nil, "GPUs committed already, which serve first: `64@2026-01-01..2027-01-01` (repeat)")
	f.StringVar(&o.ask.Tiers, "tiers", "", "plan a reserved base, on demand and spot by kind of work: `FILE` of kinds, or rules")
	f.IntVar(&o.ask.Origins, "backtest", o.ask.Origins, "try the question on `N` earlier dates of the log, and say what the answers would have cost; 0 does not")
	f.StringVar(&o.ask.WaitCost, "wait-cost", o.ask.WaitCost, "an hour that a job waits for fenced GPUs counts this `$`")
	f.StringVar(&o.dir, "out", "", "write the documents of all steps into this `DIR`")
	f.StringVar(&o.cache, "cache", "", "keep what was computed in this `DIR`, or none (default: capcli in the user's cache folder)")
	shell.AddPricesFlag(cmd, &o.ask.Prices)
	shell.AddFormatFlag(cmd, &o.ask.Read)
	shell.AddReadFlag(cmd, &o.ask.Read, shell.JoinedKey(cmd, &o.ask.Joined))
	shell.AddFormFlags(cmd, &o.output)
	shell.Complete(cmd, "gpu", func() []string { return prices.Catalogue().Models() })
	shell.Complete(cmd, "as-if", decide.WayNames)
	shell.Complete(cmd, "risk", func() []string { return []string{"mean", "q80", "cvar95"} })
	shell.CompleteSign(cmd, "max", "=")
	shell.CompleteSign(cmd, "min", "=")
	return cmd
}

func runDecide(ctx context.Context, e *shell.Env, o *decideOptions) error {
	if err := o.ask.Check(); err != nil {
		return err
	}
	for _, name := range o.ask.Files() {
		if *name != "" && !filepath.IsAbs(*name) && !bucket.IsName(*name) && o.dir != "" {
			*name = shell.SeenFrom(o.dir, *name)
		}
	}
	r, err := decide.Decide(ctx, &o.ask, o.world(e))
	if r == nil {
		return err
	}
	if o.dir != "" && len(r.Steps) > 0 {
		if failed := shell.WriteForEditors(e, filepath.Join(o.dir, decide.ScenarioFile)); failed != nil {
			return failed
		}
	}
	if failed := shell.Emit(e, o.output, tables.Decision(r)); failed != nil {
		return failed
	}
	if err == nil {
		e.Say("next: " + r.Next(filepath.ToSlash(o.dir)))
	}
	return err
}

// world gives the chain its files, its cache and its signs of life.
func (o *decideOptions) world(e *shell.Env) *decide.World {
	w := &decide.World{Version: shell.VersionText(), Build: buildText(e), Note: e.Note, Paper: page.Maker(shell.VersionText()), Head: shell.EditorHead}
	w.Open = func(name string) (trace.Input, io.Closer, error) {
		in, done, err := shell.OpenInput(e, o.inFolder(name))
		in.Name = name
		return in, done, err
	}
	s := e.Sources()
	w.IsFolder = func(name string) bool { return s.IsFolder(o.inFolder(name)) }
	w.Folder = func(name string) (store.Folder, error) {
		f, err := s.Folder(o.inFolder(name))
		f.Name = name
		return f, err
	}
	if o.dir != "" {
		w.Documents = &diskFolder{e: e, path: o.dir, lasting: true}
	}
	if path := cmp.Or(o.cache, userCache(e)); path != "" && path != "none" {
		w.Cache = &diskFolder{e: e, path: path}
	}
	var last *shell.Progress
	w.Step = func(number, of int, name string) {
		e.Say(fmt.Sprintf("step %d of %d: %s", number, of, name))
	}
	w.Progress = func(unit string) (at, end func(int64)) {
		last = shell.NewProgress(e, unit)
		return func(n int64) { last.Report(n, 0) }, last.End
	}
	return w
}

// inFolder returns the path of a file that is seen from the folder of the documents.
func (o *decideOptions) inFolder(name string) string {
	if o.dir == "" || filepath.IsAbs(name) || bucket.IsName(name) {
		return name
	}
	return filepath.Join(o.dir, filepath.FromSlash(name))
}

// diskFolder keeps the files of a decision in a folder, which it makes where it is missing.
type diskFolder struct {
	e       *shell.Env
	path    string
	lasting bool // the files are results: each is safely on the disk before it has its name
}

// Read returns a file.
func (f *diskFolder) Read(name string) ([]byte, error) {
	file, err := f.e.Disk.Open(filepath.Join(f.path, name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(file)
}

// Write writes a file as a whole. A file of a cache is not forced to the disk: one that a crash cuts
// short is damaged, and is made anew.
func (f *diskFolder) Write(name string, text []byte) error {
	path := filepath.Join(f.path, name)
	if err := f.e.Disk.Mkdir(filepath.Dir(path)); err != nil {
		return err
	}
	if f.lasting {
		return shell.WriteWhole(f.e, path, text)
	}
	parts := path + ".part"
	file, err := f.e.Disk.Create(parts, 0o600)
	if errors.Is(err, fs.ErrExist) { // of a run that was killed
		_ = f.e.Disk.Remove(parts)
		file, err = f.e.Disk.Create(parts, 0o600)
	}
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err := errors.Join(err, file.Close()); err != nil {
		_ = f.e.Disk.Remove(parts)
		return err
	}
	return f.e.Disk.Rename(parts, path)
}

// userCache returns the folder for what decisions keep; "" where the user has none.
func userCache(e *shell.Env) string {
	for _, at := range [][2]string{{"XDG_CACHE_HOME", ""}, {"LOCALAPPDATA", ""}, {"HOME", ".cache"}} {
		if base := e.Getenv(at[0]); filepath.IsAbs(base) {
			return filepath.Join(base, at[1], "capcli", "decide")
		}
	}
	return ""
}

// buildText identifies the program: its version, and what its file says of the build, so that what
// another build kept is not used.
func buildText(e *shell.Env) string {
	text := shell.VersionText()
	if e.Program == nil {
		return text
	}
	path, err := e.Program()
	if err != nil {
		return text
	}
	info, err := e.Disk.Stat(path)
	if err != nil {
		return text
	}
	return fmt.Sprintf("%s %d %d", text, info.Size(), info.ModTime().UnixNano())
}
