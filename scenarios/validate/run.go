package validate

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"capcli"
	"capcli/profile/logs/trace"
)

// Validate replays the log of the request and says how far the simulated waits are from the recorded
// ones. note gets remarks on the log; progress gets the number of jobs read.
func Validate(ctx context.Context, req Request, open trace.Opener, note func(string), progress func(done int64)) (*Result, error) {
	if err := req.Check(); err != nil {
		return nil, err
	}
	v := &validation{req: req}
	remark := func(text string) { v.r.Notes = append(v.r.Notes, text); note(text) }
	var err error
	if v.past, v.log, v.r.CapacityFrom, err = req.read(ctx, open, remark, progress); err != nil {
		return nil, err
	}
	if v.rules, err = req.rules(); err != nil {
		return nil, err
	}
	v.describe()
	for _, step := range []func(context.Context) error{v.replay, v.hindsight, v.judgeLater, v.fit} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	v.remarks(remark)
	v.conclude()
	return &v.r, nil
}

// validation is one answer in the making.
type validation struct {
	req    Request
	past   *Past
	log    *Log
	rules  Rules
	from   capcli.Time // jobs queued from here on are measured
	starts []capcli.Time
	r      Result
}

// describe says what is replayed.
func (v *validation) describe() {
	r, l := &v.r, v.log
	r.Schema, r.Input, r.Policy, r.Perfect = Schema, v.req.Log, cmp.Or(v.req.Policy, defaultPolicy), v.req.Perfect
	r.Unit, r.Scale, r.Capacity, r.HighestUse = v.past.Unit, v.past.Scale, l.Capacity, l.HighestUse()
	r.Jobs, r.TooLarge, r.WithoutStart, r.WithoutUnits, r.Eligible = len(l.Jobs), len(l.TooLarge), v.past.WithoutStart, v.past.WithoutUnits, v.past.Eligible
	r.First, r.From, r.Running, r.TooLargeJobs = v.past.First, l.begin(), l.Seeded, []string{}
	for i := range l.TooLarge[:min(20, len(l.TooLarge))] {
		r.TooLargeJobs = append(r.TooLargeJobs, l.TooLarge[i].ID)
	}
}

// replay makes the plain comparison.
func (v *validation) replay(ctx context.Context) (err error) {
	both, err := capcli.MapParallel(ctx, []Rules{v.rules, v.rules.Perfect()}, nil, func(ctx context.Context, rules Rules) ([]capcli.Time, error) {
		return v.log.Replay(ctx, rules)
	})
	if err != nil {
		return err
	}
	v.starts = both[0]
	v.r.WarmUp = v.log.warmUp(v.req.WarmUp, v.starts)
	v.from = v.log.begin() + capcli.Time(v.r.WarmUp)
	v.r.Fidelity = v.log.Measure(v.starts, v.from)
	if v.r.Fidelity.Jobs == 0 {
		return &capcli.RequestError{Field: "warm-up", Text: fmt.Sprintf("of %s leaves no job to measure", v.r.WarmUp), Hint: "give a shorter one, or 0"}
	}
	v.r.LimitsRuns = v.log.Measure(both[1], v.from)
	v.r.Groups = v.log.GroupsBy(v.starts, v.from, v.past.Scale)
	v.r.Floor, err = v.log.JitterFloor(ctx, v.rules, v.starts, v.from)
	return err
}

// warmUp returns the warm-up that was asked for, or chooses one for a replay.
func (l *Log) warmUp(asked capcli.Seconds, starts []capcli.Time) capcli.Seconds {
	switch {
	case asked != AutoWarmUp:
		return asked
	case l.Cut != 0: // the replay begins with the recorded state
		return 0
	case capcli.Seconds(l.Jobs[len(l.Jobs)-1].Queued-l.Jobs[0].Queued) < 4*week:
		return 0
	}
	for i := range l.Jobs {
		if starts[i] > l.Jobs[i].Queued {
			return week
		}
	}
	return 0
}

// hindsight says what of the recorded waits is no matter of capacity.
func (v *validation) hindsight(ctx context.Context) error {
	l, r := v.log, &v.r
	recorded, simulated := l.FitTime(l.starts()), l.FitTime(v.starts)
	r.WouldFit = WouldFit{share(recorded, l.waits(l.starts())), share(simulated, l.waits(v.starts))}
	overtaken := l.Overtaken()
	free, origin := l.WithoutHolds(overtaken)
	one, two := free.NoStarts(1), free.NoStarts(2)
	r.Overtaken, r.NoStarts, r.NoStartsOne = []Held{}, v.pauses(two), v.pauses(one)
	by := make([]int, len(l.Jobs))
	for _, o := range overtaken {
		j := &l.Jobs[o.Job]
		by[o.Job] = o.By
		r.Overtaken = append(r.Overtaken, Held{j.ID, j.Tenant, o.By, j.Wait(), o.Until, v.sinceFirst(o.Until)})
	}
	for i := range l.Jobs {
		j := &l.Jobs[i]
		r.rows = append(r.rows, JobRow{j.ID, v.sinceFirst(j.Queued), v.sinceFirst(j.Start), v.sinceFirst(v.starts[i]), recorded[i], by[i]})
	}
	type world struct {
		name      string
		free      bool
		stretches []Stretch
	}
	worlds := []world{{"no_starts", false, l.NoStarts(1)}, {"overtaken", true, nil}, {"overtaken, no_starts", true, one}, {"overtaken, no_starts of two tenants", true, two}}
	all, err := capcli.MapParallel(ctx, worlds, nil, func(ctx context.Context, w world) (Explanation, error) {
		if !w.free {
			starts, err := l.Replay(ctx, v.rules, w.stretches...)
			return Explanation{w.name, l.Measure(starts, v.from)}, err
		}
		starts, err := free.Replay(ctx, v.rules, w.stretches...)
		back := make([]capcli.Time, len(starts))
		for i, k := range origin[:len(starts)] {
			back[k] = starts[i]
		}
		return Explanation{w.name, l.Measure(back, v.from)}, err
	})
	r.Explanations = all
	return err
}

// waits returns the sum of the waits until these starts, from the begin of the replay on.
func (l *Log) waits(starts []capcli.Time) capcli.Seconds {
	var sum capcli.Seconds
	for i := range l.Jobs {
		sum += max(0, capcli.Seconds(starts[i]-max(l.begin(), l.Jobs[i].Queued)))
	}
	return sum
}

// share returns the sum of parts as a share of all; nil where all is 0.
func share(parts []capcli.Seconds, all capcli.Seconds) *float64 {
	if all == 0 {
		return nil
	}
	var sum capcli.Seconds
	for _, p := range parts {
		sum += p
	}
	s := float64(sum) / float64(all)
	return &s
}

// sinceFirst is the time from the first submission.
func (v *validation) sinceFirst(t capcli.Time) capcli.Seconds {
	return capcli.Seconds(t - v.past.First)
}

func (v *validation) pauses(stretches []Stretch) []Pause {
	out := make([]Pause, len(stretches))
	for i, s := range stretches {
		out[i] = Pause{s.From, s.To, v.sinceFirst(s.From), v.sinceFirst(s.To)}
	}
	return out
}

// judgeLater compares the later half of the jobs, from the state that the log records at its begin.
func (v *validation) judgeLater(ctx context.Context) (err error) {
	v.r.Later, err = v.log.laterPart(ctx, v.rules, v.log.middle())
	return err
}

// middle is the queue time of the middle job of those that do not run at the begin.
func (l *Log) middle() capcli.Time {
	if l.Seeded == len(l.Jobs) {
		return l.begin()
	}
	return max(l.begin(), l.Jobs[(l.Seeded+len(l.Jobs))/2].Queued)
}

func (l *Log) laterPart(ctx context.Context, rules Rules, cut capcli.Time) (Part, error) {
	part := l.PartFrom(cut)
	p := Part{From: cut, Running: part.Seeded}
	for i := part.Seeded; i < len(part.Jobs) && part.Jobs[i].Queued < cut; i++ {
		p.Waiting++
	}
	starts, err := part.Replay(ctx, rules)
	if err != nil {
		return p, err
	}
	p.Fidelity = part.Measure(starts, cut)
	p.Floor, err = part.JitterFloor(ctx, rules, starts, cut)
	return p, err
}

// remarks notes what the reader of the figures must know.
func (v *validation) remarks(note func(string)) {
	r := &v.r
	if r.CapacityFrom == "highest use" {
		note(fmt.Sprintf("the capacity is the highest use of the log, %s: there may have been more; give it with --capacity", unitText(r.Capacity, v.past)))
	} else if r.HighestUse > r.Capacity {
		note(fmt.Sprintf("the log has %s in use at once, more than the capacity: some of its jobs, or the capacity, are not what they seem", unitText(r.HighestUse, v.past)))
	}
	if r.TooLarge > 0 {
		note(fmt.Sprintf("%s %s larger than the capacity left out", capcli.Grouped(int64(r.TooLarge)), capcli.Plural(int64(r.TooLarge), "job")))
	}
	if r.WithoutStart > 0 {
		note(fmt.Sprintf("%s %s without a recorded start left out", capcli.Grouped(int64(r.WithoutStart)), capcli.Plural(int64(r.WithoutStart), "job")))
	}
	if r.WithoutUnits > 0 {
		note(fmt.Sprintf("%s %s left out that hold none of what is counted, %s", capcli.Grouped(int64(r.WithoutUnits)), capcli.Plural(int64(r.WithoutUnits), "job"), v.past.Unit))
	}
	shared := func(chosen string, list []NamedJobs, what, flag string) {
		if chosen == "" && len(list) > 1 {
			note(fmt.Sprintf("all %d %s share one pool here; --%s takes one, the largest is %s with %s jobs", len(list), what, flag, capcli.Quoted(list[0].Name), capcli.Grouped(int64(list[0].Jobs))))
		}
	}
	shared(v.req.Partition, v.past.Partitions, "partitions", "partition")
	shared(v.req.GPUModel, v.past.Models, "GPU models", "gpu-model")
	if v.req.From != "" {
		note(fmt.Sprintf("the replay begins at %s with the %s jobs that ran then; jobs that waited then are first in line and not measured", r.From, capcli.Grouped(int64(r.Running))))
	}
	if r.WarmUp > 0 {
		note(fmt.Sprintf("jobs queued in the first %s are not measured: the log does not say what ran before it", r.WarmUp))
		longest := slices.MaxFunc(v.log.Jobs, func(a, b Job) int { return cmp.Compare(a.Run(), b.Run()) })
		if longest.Run() > day && v.req.WarmUp == AutoWarmUp {
			note(fmt.Sprintf("jobs run up to %s: --warm-up 14d leaves out more of the empty start", longest.Run()))
		}
	}
}
