package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"

	"capcli"
	"capcli/scenarios/play"
	"capcli/simulate"
	"capcli/simulate/cause"
	"capcli/simulate/outcome"
)

// explanation is one figure of one plan on its way to an explanation.
type explanation struct {
	o       *explainOptions
	subject string
	metric  *outcome.Metric
	name    string // of the scenario, as simulate takes it
	policy  string
	place   string
	maker   *play.Maker
	saved   *savedPlan // the runs of the folder; nil for a scenario
	plan    *play.Case
	results []*play.Run
	waits   []*cause.Waits
	changes []*change
	lock    sync.Mutex
	asKept  bool // the runs of the folder, with no flag that changes them
}

// runsPlayed is how many runs of a folder are played again where --runs does
// not say.
const runsPlayed = 20

// open finds what is to be played: a folder of runs, or a scenario.
func (x *explanation) open(e *env, name string) error {
	o := &x.o.sim
	x.policy, x.place = orOne(o.policies)[0], orOne(o.placements)[0]
	info, err := e.disk.stat(name)
	if err != nil || !info.IsDir() {
		x.name = name
		return nil
	}
	plans, err := readRuns(e, name)
	if err != nil {
		return err
	}
	if len(plans) != 1 {
		return &capcli.InputError{File: filepath.Join(name, resultFile), Text: fmt.Sprintf("expected the runs of one plan, found those of %d", len(plans))}
	}
	x.saved = &plans[0]
	in, err := readInputs(e, name)
	if err != nil {
		return err
	}
	if in == nil {
		return &lackError{
			text: fmt.Sprintf("%s does not say what its runs were made from (%s is not there), so they cannot be played again", name, inputsFile),
			hint: "make the folder again: capcli simulate … --out; or explain the scenario itself: capcli explain plan.yaml --trace jobs.parquet " + x.metric.Name,
		}
	}
	return x.fromFolder(e, name, in)
}

// fromFolder plays what a folder says, but for the flags that were given.
func (x *explanation) fromFolder(e *env, folder string, in *play.Inputs) error {
	o := &x.o.sim
	x.asKept = len(o.sets) == 0 && o.trace == "" && !o.seeded && !o.perfect && x.policy == "" && x.place == ""
	kept := in.Scenario
	here := filepath.Join(folder, filepath.FromSlash(kept.Here))
	if _, err := e.disk.stat(kept.File); err != nil || e.there(here) {
		kept.File = here
	}
	o.kept = &kept
	o.sets = append(slices.Clone(in.Sets), o.sets...)
	x.policy, x.place = cmp.Or(x.policy, in.Policy), cmp.Or(x.place, in.Placement)
	o.perfect = o.perfect || in.Perfect
	if !o.seeded {
		o.seed, o.seeded = in.Seed, true
	}
	if !x.o.replayed {
		o.runs = min(in.Runs, runsPlayed)
	}
	if o.trace != "" {
		return nil
	}
	for _, f := range in.Files {
		if f.File == in.Scenario.File { // its text is kept
			continue
		}
		path, err := in.Find(e.opener(), folder, f.File)
		if gone, ok := errors.AsType[*play.MissingInputError](err); ok {
			return &lackError{text: gone.Error(), hint: "bring it back to its place, or say where it is: --trace FILE"}
		}
		if err != nil {
			return err
		}
		if in.Trace != nil && f.File == in.Trace.File {
			o.trace = path
		}
	}
	if in.Trace == nil {
		return nil
	}
	if in.Trace.File == "-" {
		return &lackError{
			text: fmt.Sprintf("the jobs of %s came from stdin, which is gone", folder),
			hint: "give them again: --trace FILE, or - for stdin",
		}
	}
	if o.trace == "" {
		o.trace = in.Trace.File
	}
	if !x.readGiven() {
		t := in.Trace
		o.read = traceOptions{format: t.Format, tz: t.TZ, dst: t.DST, maps: t.Map, columns: t.Columns, allowCut: t.AllowCut}
	}
	return nil
}

// readGiven tells whether the call says how to read the trace.
func (x *explanation) readGiven() bool {
	r := &x.o.sim.read
	return r.format != "" || r.tz != "" || r.dst != "" || r.columns != "" || r.allowCut || len(r.maps) > 0
}

// lackError says what is missing to answer, and what to do about it.
type lackError struct{ text, hint string }

func (e *lackError) Error() string { return e.text }
func (e *lackError) Unwrap() error { return fs.ErrNotExist }

// make makes the plan, changed.
func (x *explanation) make(ctx context.Context, e *env, c *change) (*play.Case, error) {
	o := x.o.sim
	o.sets = append(slices.Clone(o.sets), c.sets...)
	p, err := o.plan(ctx, e, x.name, cmp.Or(c.policy, x.policy), cmp.Or(c.place, x.place), x.maker)
	if err == nil {
		p.Quiet = x.plan != nil
	}
	return p, err
}

// play plays the plan, then once more to be told why jobs waited, then each
// change.
func (x *explanation) play(ctx context.Context, e *env) error {
	p, err := x.make(ctx, e, &change{})
	if err != nil {
		return err
	}
	o := &x.o.sim
	all, err := o.play(ctx, e, []*play.Case{p})
	if err != nil {
		return err
	}
	x.plan, x.results = p, all[0]
	if err := nothingRan([]*play.Case{p}, all); err != nil {
		return err
	}
	x.same()
	if err := x.watch(ctx, e); err != nil {
		return err
	}
	if x.o.causes || x.mean(x.results) == nil {
		return nil
	}
	return x.tryChanges(ctx, e)
}

// same holds the runs that were played against those of the folder.
func (x *explanation) same() {
	if !x.asKept {
		return
	}
	for i, r := range x.results[:min(len(x.results), len(x.saved.runs))] {
		was, is := x.saved.runs[i], &r.Outcome
		before, after := waitText(was.WaitP95, was.WaitP95From), waitText(is.WaitP95, is.WaitP95From)
		if was.Seed == is.Seed && (before != after || was.Jobs != is.Jobs || was.Ended != is.Ended) {
			x.plan.Notes = append(x.plan.Notes, fmt.Sprintf(
				"played again, run %d is not as it was kept (wait p95 %s then, %s now; %s jobs then, %s now): the folder was made by another version or from other jobs; what follows is of the runs as played now",
				i, before, after, grouped(was.Jobs.Read), grouped(is.Jobs.Read)))
			return
		}
	}
}

// waitText is a wait, or a lower bound of it, in words.
func waitText(exact, from *capcli.Seconds) string {
	switch {
	case exact != nil:
		return exact.String()
	case from != nil:
		return "over " + from.String()
	}
	return "n/a"
}

// there tells whether something is at a path.
func (e *env) there(path string) bool {
	_, err := e.disk.stat(path)
	return err == nil
}

// watch plays the runs with a recorder each.
func (x *explanation) watch(ctx context.Context, e *env) error {
	if !x.aboutWaits() {
		return nil
	}
	p, err := x.make(ctx, e, &change{})
	if err != nil {
		return err
	}
	x.waits = make([]*cause.Waits, len(x.results))
	p.Prepare = func(run int, cfg *simulate.Config) error {
		w := &cause.Waits{Over: x.least(run)}
		cfg.Observers = append(cfg.Observers, w)
		x.lock.Lock()
		defer x.lock.Unlock()
		x.waits[run] = w
		return nil
	}
	_, err = x.o.sim.play(ctx, e, []*play.Case{p})
	return err
}

// aboutWaits tells whether the figure is one of waits.
func (x *explanation) aboutWaits() bool {
	return slices.Contains([]string{
		"wait_mean", "wait_p50", "wait_p95", "wait_p99", "wait_max", "jct_mean", "bounded_slowdown_mean", "makespan",
		"queue_max", "queue_mean", "waiting", "deadline_misses", "blocked_gpu_hours", "stranded_usd", "stranded_gpu_hours",
	}, x.metric.Name)
}

// least is the wait of the jobs that are looked at: those at or above the
// figure where it is a quantile, or that waited at all where that is nothing;
// and all jobs where it is no quantile.
func (x *explanation) least(run int) capcli.Seconds {
	w := &x.results[run].Result.Wait
	switch x.metric.Name {
	case "wait_p50":
		return max(w.P50, 1)
	case "wait_p95":
		return max(w.P95, 1)
	case "wait_p99":
		return max(w.P99, 1)
	case "wait_max":
		return max(w.Max, 1)
	}
	return 0
}
