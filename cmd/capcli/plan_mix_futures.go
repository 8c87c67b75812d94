package main

import (
	"context"
	"fmt"
	"slices"

	"capcli"
	"capcli/cmd/report"
	planning "capcli/simulate/plan"
	"capcli/simulate/plan/futures"
	"capcli/simulate/plan/mix"
)

// mixFutures are the futures that the runs of a plan of a scenario play, one each,
// with jobs that are drawn from those of the past.
type mixFutures struct {
	set       *futures.Set
	risk      planning.Risk
	resampler *planning.Resampler
	filled    map[int]planning.Filled
	past      int // jobs
}

// runsAhead is how many futures are played where --runs says nothing.
const runsAhead = 20

// lookAhead reads the futures and the past. It gives the number of runs.
func (m *mixPlan) lookAhead(ctx context.Context, runs int) (int, error) {
	o := &m.o.futures
	risk, err := futures.ParseRisk(o.risk)
	if err != nil {
		return 0, err
	}
	source, err := o.source(&m.o.curve)
	if err != nil {
		return 0, err
	}
	if err := source.Parse(); err != nil {
		return 0, err
	}
	past, err := m.readJobs(ctx, 0)
	if err != nil {
		return 0, err
	}
	x := &mixFutures{risk: risk, filled: map[int]planning.Filled{}, past: len(past)}
	if o.file != "" {
		x.set, err = source.Read(ctx, m.e.sources())
	} else {
		x.set, err = aroundPast(m.base.Source.Name, past, &source)
	}
	if err != nil {
		return 0, err
	}
	if !x.set.Mean.Dated() {
		return 0, &capcli.InputError{File: x.set.Input, Field: "ds", Text: "expected futures with dates, for jobs are drawn by weekday and time of day, found none"}
	}
	if x.resampler, err = planning.NewResampler(past, nil); err != nil {
		return 0, &capcli.InputError{File: m.base.Source.Name, Text: err.Error()}
	}
	count := len(x.set.Futures.Paths)
	switch {
	case runs > count:
		return 0, &usageError{text: fmt.Sprintf("--runs %d: there are %d futures, and each run plays one", runs, count), hint: fmt.Sprintf("--runs %d", count)}
	case runs == 0:
		runs = min(runsAhead, count)
	}
	m.ahead, m.chance = x, true
	return runs, nil
}

// aroundPast draws futures around the past: its demand by day, as it was, on the
// weeks that follow it.
func aroundPast(file string, past []capcli.Job, source *futures.Source) (*futures.Set, error) {
	d := capcli.Demand{Measure: capcli.LatentDemand, Step: capcli.Step{Days: 1}}
	for i := range past {
		if err := d.Add(&past[i], ""); err != nil {
			return nil, err
		}
	}
	s := d.Series("")
	if len(s.Values) == 0 {
		return nil, &capcli.InputError{File: file, Text: "expected jobs that want GPUs, found none"}
	}
	first := s.Start // the same weekdays, after the last of the past
	for first < s.Start+capcli.Time(len(s.Values))*capcli.Time(capcli.Day) {
		first += 7 * capcli.Time(capcli.Day)
	}
	return source.Draw(file, capcli.Grid{Origin: first, Step: capcli.Step{Days: 1}}, s.Values)
}

// drawJobs are the jobs of a run: read, or drawn to fill its future.
func (m *mixPlan) drawJobs(ctx context.Context, run int) ([]capcli.Job, error) {
	if m.ahead == nil {
		return m.readJobs(ctx, run)
	}
	jobs, filled, err := m.ahead.resampler.Fill(&m.ahead.set.Futures, run, m.base.Seed)
	if err != nil {
		return nil, &capcli.InputError{File: m.ahead.set.Input, Text: fmt.Sprintf("future %d: %v", run, err), Hint: "give a history whose level is nearer to that of the futures"}
	}
	m.ahead.filled[run] = filled
	return jobs, nil
}

// futureNotes say what the futures rest on.
func (r *mixResult) futureNotes() []string {
	x := r.ahead
	if x == nil {
		return nil
	}
	out := slices.Clone(x.set.Notes)
	worst := 0.0
	for _, f := range r.played() {
		worst = max(worst, f.Error, -f.Error)
	}
	out = append(out, fmt.Sprintf("each run plays one of %d futures from %s to %s: jobs* are whole days of the history (%d days, %s), matched by weekday, repeated or thinned to the future's GPU-hours, which they miss by at most %.2f%%",
		len(x.set.Futures.Paths), x.set.Futures.Start(), x.set.Futures.End(), x.resampler.Days(), jobCount(int64(x.past)), 100*worst))
	if b := x.resampler.Borrowed(); len(b) > 0 {
		out = append(out, fmt.Sprintf("the history has no whole %v: jobs of other days stand for it", b))
	}
	out = append(out, "* assumed: jobs to come are like those of the past, a future begins with no jobs in flight, and every future is as likely as any other")
	if x.risk.Kind != planning.Mean {
		out = append(out, fmt.Sprintf("mixes are ranked by the %s of their cost over the futures; ranges, break-even and the sensitivity to prices are about the mean", riskWords(x.risk)))
	}
	return out
}

// mixFuturesJSON is what the runs of a plan played.
type mixFuturesJSON struct {
	Input string      `json:"input"`
	Count int         `json:"count"`
	Risk  string      `json:"risk"`
	Start capcli.Time `json:"start"`
	End   capcli.Time `json:"end"`
	Runs  []playedRow `json:"runs"`
}

// playedRow is one future as it was played.
type playedRow struct {
	Future int            `json:"future"`
	Asked  capcli.GPUTime `json:"asked_gpu_hours"`
	Drawn  capcli.GPUTime `json:"drawn_gpu_hours"`
	Error  float64        `json:"drawn_error"`
	Jobs   int            `json:"jobs"`
	Cost   *capcli.USD    `json:"cost_usd"`        // of the best mix
	Least  capcli.USD     `json:"least_cost_usd"`  // of any mix that was run in full and does the work
	Regret *capcli.USD    `json:"regret_usd"`      // of the best mix
	Held   *bool          `json:"all_limits_held"` // by the best mix
	Mix    int            `json:"least_cost_mix"`
}

// played are the futures, run by run.
func (r *mixResult) played() []playedRow {
	out := []playedRow{}
	for run := range r.problem.Runs {
		f, ok := r.ahead.filled[run]
		if !ok {
			if _, err := r.problem.Jobs(run); err != nil { // in a merge nothing was played
				continue
			}
			f = r.ahead.filled[run]
		}
		row := playedRow{Future: run, Asked: f.Asked, Drawn: f.Drawn, Error: f.Error(), Jobs: f.Jobs, Mix: -1}
		for _, e := range r.found.Entries {
			if e.Fate != mix.Full || run >= len(e.Outcomes) || !e.ServesIn(run) {
				continue
			}
			if c := e.Outcomes[run].Cost; row.Mix < 0 || c < row.Least {
				row.Least, row.Mix = c, e.Index
			}
		}
		if r.best != nil && run < len(r.best.Outcomes) {
			cost, held := r.best.Outcomes[run].Cost, r.best.HeldIn()[run]
			regret := cost - row.Least
			row.Cost, row.Regret, row.Held = &cost, &regret, &held
		}
		out = append(out, row)
	}
	return out
}

func (r *mixResult) futuresJSON() *mixFuturesJSON {
	if r.ahead == nil {
		return nil
	}
	f := &r.ahead.set.Futures
	return &mixFuturesJSON{r.ahead.set.Input, len(f.Paths), r.ahead.risk.String(), f.Start(), f.End(), r.played()}
}

func (r *mixResult) futureTable() report.Table {
	t := report.Table{Name: "futures", Title: "The best mix in each future, against the cheapest that was tried", Aside: true, Columns: []report.Column{
		{Name: "future"},
		{Name: "asked_gpu_hours", Head: "asked GPUh"},
		{Name: "drawn_gpu_hours", Head: "drawn GPUh"},
		{Name: "jobs"},
		{Name: "cost_usd", Head: "cost"},
		{Name: "regret_usd", Head: "regret"},
		{Name: "all_limits_held", Head: "limits held"},
		{Name: "least_cost_mix", Head: "cheapest mix"},
	}}
	for _, p := range r.played() {
		row := []any{p.Future, p.Asked, p.Drawn, p.Jobs, nil, nil, nil, p.Mix}
		if p.Cost != nil {
			row[4], row[5], row[6] = *p.Cost, *p.Regret, *p.Held
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
