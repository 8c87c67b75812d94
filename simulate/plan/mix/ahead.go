package mix

import (
	"context"
	"fmt"

	"capcli"
	"capcli/simulate/plan"
	"capcli/simulate/plan/futures"
	"capcli/simulate/plan/resample"
)

// ahead holds the futures that the runs of a plan play, one each, with jobs drawn from those of the
// past.
type ahead struct {
	set       *futures.Set
	resampler *resample.Resampler
	filled    map[int]resample.Filled // by run
	past      int                     // jobs of the past
}

// runsAhead is the default number of futures played.
const runsAhead = 20

// lookAhead reads the past jobs and makes the futures. It returns the number of runs.
func (p *Planner) lookAhead(ctx context.Context) (int, error) {
	past, err := p.readJobs(ctx, 0)
	if err != nil {
		return 0, err
	}
	x := &ahead{filled: map[int]resample.Filled{}, past: len(past)}
	if x.set, err = p.req.Ahead(past); err != nil {
		return 0, err
	}
	if !x.set.Mean.Dated() {
		return 0, &capcli.InputError{File: x.set.Input, Field: "ds", Text: "expected futures with dates, for jobs are drawn by weekday and time of day, found none"}
	}
	if x.resampler, err = resample.NewResampler(past, nil); err != nil {
		return 0, &capcli.InputError{File: p.req.Case.Source.Name, Text: err.Error()}
	}
	runs, count := p.req.Runs, len(x.set.Futures.Paths)
	switch {
	case runs > count:
		return 0, &capcli.RequestError{Field: "runs", Text: fmt.Sprintf("%d: there are %d futures, and each run plays one", runs, count), Hint: fmt.Sprintf("--runs %d", count)}
	case runs == 0:
		runs = min(runsAhead, count)
	}
	p.ahead, p.chance = x, true
	return runs, nil
}

// AroundPast draws futures around the daily demand of past jobs. They begin on the same weekday as
// the past, in the first whole week after it. input names the source of the jobs.
func AroundPast(input string, past []capcli.Job, source *futures.Source) (*futures.Set, error) {
	d := capcli.Demand{Measure: capcli.LatentDemand, Step: capcli.Step{Days: 1}}
	for i := range past {
		if err := d.Add(&past[i], ""); err != nil {
			return nil, err
		}
	}
	s := d.Series("")
	if len(s.Values) == 0 {
		return nil, &capcli.InputError{File: input, Text: "expected jobs that want GPUs, found none"}
	}
	first := s.Start // same weekday, after the end of the past
	for first < s.Start+capcli.Time(len(s.Values))*capcli.Time(capcli.Day) {
		first += 7 * capcli.Time(capcli.Day)
	}
	return source.Draw(input, capcli.Grid{Origin: first, Step: capcli.Step{Days: 1}}, s.Values)
}

// drawJobs returns the jobs of a run: those read, or those drawn for its future.
func (p *Planner) drawJobs(ctx context.Context, run int) ([]capcli.Job, error) {
	if p.ahead == nil {
		return p.readJobs(ctx, run)
	}
	jobs, filled, err := p.ahead.resampler.Fill(&p.ahead.set.Futures, run, p.req.Case.Seed)
	if err != nil {
		return nil, &capcli.InputError{File: p.ahead.set.Input, Text: fmt.Sprintf("future %d: %v", run, err), Hint: "give a history whose level is nearer to that of the futures"}
	}
	p.ahead.filled[run] = filled
	return jobs, nil
}

// Played says which futures the runs of a plan played.
type Played struct {
	Input string         `json:"input"`
	Count int            `json:"count"`
	Risk  string         `json:"risk"`
	Start capcli.Time    `json:"start"`
	End   capcli.Time    `json:"end"`
	Runs  []PlayedFuture `json:"runs"`
}

// PlayedFuture is one future and the jobs drawn for it.
type PlayedFuture struct {
	Future int            `json:"future"`
	Asked  capcli.GPUTime `json:"asked_gpu_hours"`
	Drawn  capcli.GPUTime `json:"drawn_gpu_hours"`
	Error  float64        `json:"drawn_error"`
	Jobs   int            `json:"jobs"`
	Cost   *capcli.USD    `json:"cost_usd"`               // of the best mix; null where there is none
	Least  capcli.USD     `json:"least_cost_usd"`         // of any mix that was run in full, does the work and holds the limits there; where none holds them, of any that does the work
	Regret *capcli.USD    `json:"regret_usd"`             // of the best mix; null where there is none
	Held   *bool          `json:"all_limits_held"`        // by the best mix; null where there is none
	Mix    int            `json:"least_cost_mix"`         // -1 where no mix was run in full and does the work
	Holds  bool           `json:"least_cost_limits_held"` // by that mix, in this future
}

// played returns the futures that were played, run by run; nil where none were.
func (s *study) played() *Played {
	x := s.ahead
	if x == nil {
		return nil
	}
	f := &x.set.Futures
	out := &Played{Input: x.set.Input, Count: len(f.Paths), Risk: s.req.Risk.String(), Start: f.Start(), End: f.End(), Runs: []PlayedFuture{}}
	for run := range s.problem.Runs {
		filled, err := recall(s.problem.Memory, fmt.Sprint("filled|", s.problem.Jobset, "|", run), func() (resample.Filled, error) {
			if _, drawn := x.filled[run]; !drawn { // a merge of shards has not drawn them yet
				if _, err := s.problem.Jobs(run); err != nil {
					return resample.Filled{}, err
				}
			}
			return x.filled[run], nil
		})
		if err != nil {
			continue
		}
		row := PlayedFuture{Future: run, Asked: filled.Asked, Drawn: filled.Drawn, Error: filled.Error(), Jobs: filled.Jobs, Mix: -1}
		for _, e := range s.found.Entries {
			if e.Fate != Full || run >= len(e.Outcomes) || !e.servesIn(run) {
				continue
			}
			c, holds := e.Outcomes[run].Cost, e.held[run]
			if row.Mix < 0 || holds && !row.Holds || holds == row.Holds && c < row.Least {
				row.Least, row.Mix, row.Holds = c, e.Index, holds
			}
		}
		if b := s.best; b != nil && run < len(b.Outcomes) {
			cost, held := b.Outcomes[run].Cost, b.held[run]
			regret := cost - row.Least
			row.Cost, row.Regret, row.Held = &cost, &regret, &held
		}
		out.Runs = append(out.Runs, row)
	}
	return out
}

// aheadNotes returns notes on the futures and their assumptions.
func (s *study) aheadNotes(played *Played) []string {
	x := s.ahead
	if x == nil {
		return nil
	}
	out := append([]string(nil), x.set.Notes...)
	worst := 0.0
	for _, f := range played.Runs {
		worst = max(worst, f.Error, -f.Error)
	}
	n := int64(x.past)
	out = append(out, fmt.Sprintf("each run plays one of %d futures from %s to %s: jobs* are whole days of the history (%d days, %s %s), matched by weekday, repeated or thinned to the future's GPU-hours, which they miss by at most %.2f%%",
		played.Count, played.Start, played.End, x.resampler.Days(), capcli.Grouped(n), capcli.Plural(n, "job"), 100*worst))
	if b := x.resampler.Borrowed(); len(b) > 0 {
		out = append(out, fmt.Sprintf("the history has no whole %v: jobs of other days stand for it", b))
	}
	out = append(out, "* assumed: jobs to come are like those of the past, a future begins with no jobs in flight, and every future is as likely as any other")
	if s.req.Risk.Kind != plan.Mean {
		out = append(out, fmt.Sprintf("mixes are ranked by the %s of their cost over the futures; ranges, break-even and the sensitivity to prices are about the mean", s.req.Risk.Words()))
	}
	return out
}
