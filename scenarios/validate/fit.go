package validate

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sort"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/policy"
)

// Fit is the choice of policy and settings on the earlier half of the jobs, judged on the later half.
// Both halves are replayed on their own; nothing of the later one is used for the choice.
type Fit struct {
	Cut    capcli.Time `json:"cut"`   // begin of the later half
	Tried  int         `json:"tried"` // choices compared
	Asked  Choice      `json:"asked"` // what the request asks for
	Chosen Choice      `json:"chosen"`
	Best   []Choice    `json:"best"`      // on the earlier half, best first
	Short  bool        `json:"too_short"` // the earlier half is too short to choose on
	Holds  bool        `json:"holds"`     // the choice is also the better one on the later half
}

// Choice is one set of rules and settings.
type Choice struct {
	Policy     string         `json:"policy"`
	Perfect    bool           `json:"perfect_estimates"` // true run times in place of limits
	Skip       bool           `json:"skip"`              // a job that does not fit is passed over
	TenantCaps bool           `json:"tenant_caps"`       // a tenant holds no more at once than it did on the earlier half
	Delay      capcli.Seconds `json:"start_delay_s"`     // no job starts sooner after it is queued
	Capacity   int64          `json:"capacity"`
	Score      float64        `json:"score"` // on the earlier half: qdist + mae_log10
	Earlier    Fidelity       `json:"earlier"`
	Later      Fidelity       `json:"later"`

	rules  Rules
	folds  [2]float64 // the score on each half of the earlier half
	starts []capcli.Time
}

const (
	fitMost  = 30_000 // most jobs of the earlier half that are replayed: the last
	fitShown = 10

	delayMost = hour     // longest delay of all starts that is tried
	fitLeast  = 2 * week // of the earlier half; what is nearer in a shorter time may be so by one outage
)

// fit chooses policy and settings if the request asks for it.
func (v *validation) fit(ctx context.Context) error {
	if !v.req.Fit {
		return nil
	}
	if len(v.log.Jobs) < 200 {
		return &capcli.RequestError{Field: "fit", Text: "wants 200 jobs or more: an earlier half to choose on and a later one to judge", Hint: "leave fit out"}
	}
	f := &fitting{log: v.log, cut: v.log.middle(), from: v.from, least: v.r.Floor.Distance + v.r.Floor.Error}
	if f.earlier = v.log.earlierPart(f.cut); len(f.earlier.Jobs) == 0 {
		return &capcli.RequestError{Field: "fit", Text: "wants jobs queued at different times, found all of the earlier half at one", Hint: "leave fit out"}
	}
	if countBefore(f.earlier, max(f.from, f.earlier.begin())) > len(f.earlier.Jobs)-50 {
		return &capcli.RequestError{Field: "fit", Text: "wants 50 jobs or more to measure on the earlier half", Hint: "give a shorter warm-up, or leave fit out"}
	}
	asked := Choice{Policy: v.r.Policy, Perfect: v.req.Perfect, Capacity: v.log.Capacity, rules: v.rules}
	if err := f.search(ctx, asked); err != nil {
		return err
	}
	chosen := f.choose()
	fit := &Fit{Cut: f.cut, Short: capcli.Seconds(f.cut-f.log.begin()) < fitLeast, Tried: len(f.tried), Asked: f.tried[0], Chosen: chosen}
	for _, c := range []*Choice{&fit.Asked, &fit.Chosen} {
		if err := f.judge(ctx, c); err != nil {
			return err
		}
	}
	fit.Holds = scoreOf(&fit.Chosen.Later) <= scoreOf(&fit.Asked.Later)
	slices.SortStableFunc(f.tried, func(a, b Choice) int { return cmp.Compare(a.Score, b.Score) })
	fit.Best = f.tried[:min(fitShown, len(f.tried))]
	v.r.Fit = fit
	return nil
}

// earlierPart is the part of the log before cut: the last jobs of it where there are many.
func (l *Log) earlierPart(cut capcli.Time) *Log {
	part := l
	if n := len(l.Jobs) / 2; n > fitMost {
		part = l.PartFrom(l.Jobs[n-fitMost].Queued)
	}
	out := &Log{Capacity: l.Capacity, Steps: l.Steps, Cut: part.Cut, Seeded: part.Seeded}
	for i := range part.Jobs {
		if part.Jobs[i].Queued < cut {
			out.Jobs = append(out.Jobs, part.Jobs[i])
		}
	}
	return out
}

// fitting is a search for the rules nearest to the recorded past.
type fitting struct {
	log, earlier *Log
	cut, from    capcli.Time
	tried        []Choice // the first is what the request asks for
	least        float64  // by which a choice must be nearer: what jitter alone would cause
}

// search tries policies with their settings; then on the best of these caps of tenants, a delay of all
// starts, and other capacities.
func (f *fitting) search(ctx context.Context, asked Choice) error {
	if err := f.try(ctx, append([]Choice{asked}, policyChoices(f.log.Capacity)...)); err != nil {
		return err
	}
	for _, more := range []func(Choice) []Choice{f.caps, f.delays, f.sizes} {
		if err := f.try(ctx, more(f.choose())); err != nil {
			return err
		}
	}
	return nil
}

// delays returns the choice with some delays: quantiles of the recorded waits of jobs that the replay
// starts at once.
func (f *fitting) delays(best Choice) []Choice {
	var waits []capcli.Seconds
	for i := range f.earlier.Jobs {
		if j := &f.earlier.Jobs[i]; best.starts[i] <= j.Queued && j.Queued >= f.earlier.begin() {
			waits = append(waits, j.Wait())
		}
	}
	if len(waits) == 0 {
		return nil
	}
	slices.Sort(waits)
	var out []Choice
	for _, percent := range []int{25, 50, 75} {
		c := best
		if c.Delay = waits[capcli.NearestRank(percent, len(waits))-1]; c.Delay > 0 && c.Delay <= delayMost {
			c.rules.Delay = c.Delay
			out = append(out, c)
		}
	}
	return out
}

// caps returns the choice with caps of tenants. They are learnt on the first half of the earlier half,
// and so are not told from the starts on which they are scored.
func (f *fitting) caps(best Choice) []Choice {
	c := best
	c.TenantCaps = true
	learn := *f.earlier
	learn.Jobs = learn.Jobs[:len(learn.Jobs)/2]
	c.rules.Tenants = f.log.tenantCaps(&learn)
	return []Choice{c}
}

// sizes returns the choice with capacities near the given one.
func (f *fitting) sizes(best Choice) []Choice {
	if len(f.log.Steps) > 0 {
		return nil
	}
	var out []Choice
	largest := slices.MaxFunc(f.log.Jobs, func(a, b Job) int { return cmp.Compare(a.Units, b.Units) }).Units
	for _, percent := range []int64{90, 95, 98, 102, 105, 110} {
		c := best
		if c.Capacity = f.log.Capacity * percent / 100; c.Capacity >= largest && c.Capacity != f.log.Capacity {
			out = append(out, c)
		}
	}
	return out
}

// policyChoices are the policies that take nothing away, with and without true run times and passing
// over.
func policyChoices(capacity int64) []Choice {
	var out []Choice
	for _, name := range policy.Catalog.Names() {
		p, err := policy.Catalog.Get(name)
		if err != nil || p.Preempts(simulate.Settings{}) {
			continue
		}
		for _, s := range []simulate.Settings{{}, {Perfect: true}, {Skip: true}} {
			if s.Perfect && !p.Believes(s) {
				continue
			}
			out = append(out, Choice{Policy: name, Perfect: s.Perfect, Skip: s.Skip, Capacity: capacity, rules: Rules{Policy: p, Settings: s}})
		}
	}
	return out
}

// try replays the choices on the earlier half. A choice that changes no start is left out.
func (f *fitting) try(ctx context.Context, choices []Choice) error {
	done, err := capcli.MapParallel(ctx, choices, nil, func(ctx context.Context, c Choice) (Choice, error) {
		l := *f.earlier
		l.Capacity = c.Capacity
		starts, err := l.Replay(ctx, c.rules)
		if _, unfit := errors.AsType[*capcli.RequestError](err); unfit { // it starts not every job
			return c, nil
		} else if err != nil {
			return c, err
		}
		c.starts = starts
		first := max(f.from, l.begin())
		middle := l.Jobs[min(len(l.Jobs)-1, (len(l.Jobs)+countBefore(&l, first))/2)].Queued
		recorded, simulated := endAt(l.starts(), f.cut), endAt(starts, f.cut)
		c.Earlier = l.compare(recorded, simulated, first, f.cut)
		a, b := l.compare(recorded, simulated, first, middle), l.compare(recorded, simulated, middle, f.cut)
		c.Score, c.folds = scoreOf(&c.Earlier), [2]float64{scoreOf(&a), scoreOf(&b)}
		if c.TenantCaps { // only the second fold is free of what the caps are learnt from
			c.Score, c.folds[0] = c.folds[1], 0
		}
		return c, nil
	})
	for _, c := range done {
		same := c.starts == nil || slices.ContainsFunc(f.tried, func(o Choice) bool { return slices.Equal(o.starts, c.starts) })
		if !same {
			f.tried = append(f.tried, c)
		}
	}
	return err
}

// endAt returns the starts, where a job that had not started at cut counts as started then: what comes
// later is not known there.
func endAt(starts []capcli.Time, cut capcli.Time) []capcli.Time {
	out := slices.Clone(starts)
	for i := range out {
		out[i] = min(out[i], cut)
	}
	return out
}

// countBefore is the number of jobs queued before an instant.
func countBefore(l *Log, from capcli.Time) int {
	n := 0
	for i := range l.Jobs {
		if l.Jobs[i].Queued < from {
			n++
		}
	}
	return n
}

// scoreOf is what the search makes small: a wrong distribution, and wrong jobs.
func scoreOf(f *Fidelity) float64 { return f.Distance + f.Error }

// choose returns the best choice tried. One that is nearer than what the request asks for by no more
// than jitter would cause, or not on both halves of the earlier half, may be so by chance, and is not
// chosen, nor is any where the earlier half is shorter than two weeks. A choice with caps of tenants is compared on the second of these halves alone.
func (f *fitting) choose() Choice {
	asked := &f.tried[0]
	best := asked
	if capcli.Seconds(f.cut-f.log.begin()) < fitLeast {
		return *asked
	}
	for i := range f.tried {
		c := &f.tried[i]
		of, than, first := c.Score, best.Score, asked.Score
		if c.TenantCaps || best.TenantCaps {
			of, than, first = c.folds[1], best.folds[1], asked.folds[1]
		}
		if of < min(than, first-f.least) && c.folds[0] <= asked.folds[0] && c.folds[1] <= asked.folds[1] {
			best = c
		}
	}
	return *best
}

// judge measures a choice on the later half.
func (f *fitting) judge(ctx context.Context, c *Choice) error {
	part := f.log.PartFrom(f.cut)
	part.Capacity = c.Capacity
	if c.TenantCaps {
		c.rules.Tenants = f.log.tenantCaps(f.earlier)
	}
	starts, err := part.Replay(ctx, c.rules)
	if err == nil {
		c.Later = part.Measure(starts, f.cut)
	}
	return err
}

// tenantCaps returns the tenants of a part of the log that seem to have a quota: the most that each
// held at once there, and no less than its largest job of all. A tenant seems to have one if half or
// more of the time that its jobs waited though they would have fitted, they would have gone beyond it.
func (l *Log) tenantCaps(part *Log) []simulate.Tenant {
	type usage struct {
		log               Log
		fits              []capcli.Seconds
		waited, explained capcli.Seconds
	}
	of := map[string]*usage{}
	fits := part.FitTime(part.starts())
	for i := range part.Jobs {
		j := &part.Jobs[i]
		if of[j.Tenant] == nil {
			of[j.Tenant] = &usage{}
		}
		u := of[j.Tenant]
		u.log.Jobs, u.fits = append(u.log.Jobs, *j), append(u.fits, fits[i])
	}
	largest := map[string]int64{}
	for i := range l.Jobs {
		largest[l.Jobs[i].Tenant] = max(largest[l.Jobs[i].Tenant], l.Jobs[i].Units)
	}
	var out []simulate.Tenant
	for name, u := range of {
		levels, most := u.log.heldLevels(u.log.starts()), u.log.HighestUse()
		for i := range u.log.Jobs {
			j := &u.log.Jobs[i]
			if u.fits[i] < hour {
				continue
			}
			u.waited += u.fits[i]
			if heldAt(levels, j.Queued+capcli.Time(j.Wait()/2))+j.Units > most {
				u.explained += u.fits[i]
			}
		}
		if u.waited > 0 && 2*u.explained >= u.waited {
			out = append(out, simulate.Tenant{Name: name, Quota: int(min(math.MaxInt32, max(most, largest[name])))})
		}
	}
	slices.SortFunc(out, func(a, b simulate.Tenant) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func heldAt(levels []level, at capcli.Time) int64 {
	k := sort.Search(len(levels), func(k int) bool { return levels[k].from > at })
	if k == 0 {
		return 0
	}
	return levels[k-1].units
}
