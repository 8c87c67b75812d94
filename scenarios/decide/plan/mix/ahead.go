package mix

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/futures"
	"capcli/scenarios/decide/plan/resample"
	"capcli/scenarios/play"
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

// AddFutures makes the jobs of cases the futures of the request, with these weights, "3:1"; "" counts all alike. It
// fails with *capcli.RequestError where the weights are no whole numbers, or not as many as the cases.
func (r *Request) AddFutures(cases []*play.Case, text string) error {
	const hint = "--trace quiet.csv --trace busy.csv --search weights=3:1"
	var weights []int64
	if text != "" {
		for part := range strings.SplitSeq(text, ":") {
			w, err := strconv.ParseInt(strings.TrimSpace(part), 10, 32)
			if err != nil {
				return &capcli.RequestError{Field: "weights", Text: fmt.Sprintf(": wants whole numbers with a colon between them, found %q", text), Hint: hint}
			}
			weights = append(weights, w)
		}
		if len(weights) != len(cases) {
			return &capcli.RequestError{Field: "weights", Text: fmt.Sprintf(": has %d weights for %d job logs", len(weights), len(cases)), Hint: hint}
		}
	}
	for i, c := range cases {
		f := Future{Name: c.Source.Name, Weight: 1, Jobs: func(ctx context.Context) ([]capcli.Job, error) {
			jobs, _, err := c.Jobs(ctx, 0, r.note)
			return jobs, err
		}}
		if len(weights) > 0 {
			f.Weight = weights[i]
		}
		r.Futures = append(r.Futures, f)
	}
	return nil
}

// readFutures checks the job logs that may come. It returns the number of runs and their weights in the least
// whole numbers, nil where all are alike.
func (p *Planner) readFutures() (runs int, weights []int64, err error) {
	list := p.req.Futures
	if p.req.Runs > 0 && p.req.Runs != len(list) {
		return 0, nil, &capcli.RequestError{Field: "runs", Text: fmt.Sprintf("%d: each of the %d job logs is one run", p.req.Runs, len(list)), Hint: "leave --runs out"}
	}
	alike := true
	for i := range list {
		if w := list[i].Weight; w <= 0 || w > 1_000_000 {
			return 0, nil, &capcli.RequestError{Field: "weights", Text: fmt.Sprintf("%s: wants a whole number from 1 to 1,000,000, found %d", list[i].Name, w), Hint: "--search weights=3:1"}
		}
		alike = alike && list[i].Weight == list[0].Weight
		weights = append(weights, list[i].Weight)
	}
	if p.chance = len(list) > 1; alike {
		weights = nil
	}
	return len(list), weights, nil
}

// TakeJobs makes p play the jobs that o has drawn. Both must play the same futures with the jobs of the same log.
func (p *Planner) TakeJobs(o *Planner) { p.ahead, p.jobs, p.held = o.ahead, o.jobs, o.held }

// drawJobs returns the jobs of a run: those read, or those drawn for its future.
func (p *Planner) drawJobs(ctx context.Context, run int) ([]capcli.Job, error) {
	if list := p.req.Futures; len(list) > 0 {
		return list[run].Jobs(ctx)
	}
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
	Day    capcli.GPUTime `json:"largest_day_difference_gpu_hours"` // most that a day's drawn GPU time differs from its forecast
	Jobs   int            `json:"jobs"`
	Flight int            `json:"in_flight_jobs"`  // of the jobs, those that ran at the end of the history and go on
	Cost   *capcli.USD    `json:"cost_usd"`        // of the best mix; null where there is none
	Least  capcli.USD     `json:"least_cost_usd"`  // of any mix that was run in full and holds the limits in this future
	Regret *capcli.USD    `json:"regret_usd"`      // of the best mix; null where there is none
	Held   *bool          `json:"all_limits_held"` // by the best mix; null where there is none
	Mix    int            `json:"least_cost_mix"`  // -1 where no mix was run in full and holds them
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
		row := PlayedFuture{Future: run, Asked: filled.Asked, Drawn: filled.Drawn, Error: filled.Error(), Day: filled.Worst, Jobs: filled.Jobs, Flight: filled.InFlight, Mix: -1}
		for _, e := range s.found.Entries {
			if e.Fate != Full || run >= len(e.Outcomes) || !e.held[run] {
				continue
			}
			if c := e.Outcomes[run].Cost; row.Mix < 0 || c < row.Least {
				row.Least, row.Mix = c, e.Index
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
	out = append(out, fmt.Sprintf("each run plays one of %d futures from %s to %s: jobs* run as blocks of the history did (%d days, %s %s), matched by weekday, thinned or laid over one another until each day holds the future's GPU-hours within its largest job; in all they miss them by at most %.2f%%",
		played.Count, played.Start, played.End, x.resampler.Days(), capcli.Grouped(n), capcli.Plural(n, "job"), 100*worst))
	if b := x.resampler.Borrowed(); len(b) > 0 {
		out = append(out, fmt.Sprintf("the history has no whole %v: jobs of other days stand for it", b))
	}
	out = append(out, "* assumed: jobs to come are like those of the past, a future begins with the jobs that run at the end of the history, a job that outlasts the future is counted up to its end, and every future is as likely as any other")
	if s.req.Risk.Kind != plan.Mean {
		out = append(out, fmt.Sprintf("mixes are ranked by the %s of their cost over the futures; ranges, break-even and the sensitivity to prices are about the mean", s.req.Risk.Words()))
	}
	return out
}

// PlayedLog is a job log that was played as one of the runs.
type PlayedLog struct {
	Name   string      `json:"log"`
	Weight float64     `json:"weight"` // its share
	Jobs   int         `json:"jobs"`
	Cost   *capcli.USD `json:"cost_usd"`        // of the best mix; null where there is none
	Held   *bool       `json:"all_limits_held"` // by the best mix; null where there is none
}

// playedLogs returns the job logs of the request; nil where it has none.
func (s *study) playedLogs() []PlayedLog {
	var out []PlayedLog
	all := int64(0)
	for i := range s.req.Futures {
		all += s.req.Futures[i].Weight
	}
	for run := range s.req.Futures {
		f := &s.req.Futures[run]
		row := PlayedLog{Name: f.Name, Weight: float64(f.Weight) / float64(all)}
		if jobs, err := s.problem.Jobs(run); err == nil {
			row.Jobs = len(jobs)
		}
		if b := s.best; b != nil && run < len(b.Outcomes) {
			row.Cost, row.Held = &b.Outcomes[run].Cost, &b.held[run]
		}
		out = append(out, row)
	}
	return out
}
