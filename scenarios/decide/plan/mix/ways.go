package mix

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"capcli"
	"capcli/simulate"
)

// need is what a job with several ways needs at least, whatever way it runs in.
type need struct {
	area       capcli.GPUTime // least GPU time of a way, in the units of some worths
	fast, slow capcli.Seconds // shortest and longest run time of a way
	wide       int64          // most GPUs of a way, in thousandths
	some       bool           // it has a way
}

// worths weigh GPUs of different models against each other: in a bound, a GPU of a model counts as Num / Den
// units. A bound holds for any weights, because in any way a job takes its least number of units. Nil weighs all
// models alike. Jobs run on no other models than these.
type worths []worth

type worth struct {
	model    string // "" is a pool that serves any model
	num, den int64
}

// hasWays reports whether a job may run in several ways.
func hasWays(j *capcli.Job) bool { return j.Shape != nil && len(j.Shape.Ways) > 0 }

// takesInstance reports whether a job takes a part of a GPU whose size depends on the model of the pool.
func takesInstance(j *capcli.Job) bool { return j.Shape != nil && j.Shape.Needs.Profile != "" }

// needOf returns what a job needs at least on GPUs of these worths.
func needOf(j *capcli.Job, killAtLimit bool, v worths) need {
	var n need
	if !hasWays(j) {
		run := runTime(j, killAtLimit)
		if n.take(j.GPUModel, j.Milli(), run, v); isQuicker(j) {
			num, den := quickest(j.Shape)
			n.take(j.GPUModel, j.Milli(), min(run, max(1, capcli.Seconds(portion(int64(j.Run), num, den)))), v)
		}
		return n
	}
	num, den := quickest(j.Shape)
	for i := range j.Shape.Ways {
		w := &j.Shape.Ways[i]
		milli := int64(w.GPUs) * 1000
		if j.GPUMilli > 0 {
			if w.GPUs != j.GPUs { // a share of a GPU is not spread over others
				continue
			}
			milli = j.Milli()
		}
		run := w.RunTime(j.Run)
		if run >= capcli.MaxSeconds {
			continue
		}
		run = capcli.Seconds(portion(int64(run), num, den))
		if killAtLimit && j.Limit > 0 {
			run = min(run, j.Limit)
		}
		model := w.Model
		model = cmp.Or(model, j.GPUModel)
		n.take(model, milli, max(1, run), v)
	}
	return n
}

// take adds a way of a job on a model to what it needs.
func (n *need) take(model string, milli int64, run capcli.Seconds, v worths) {
	area, serves := v.leastUnits(capcli.GPUTime(milli*int64(run)), model)
	if !serves {
		return
	}
	if !n.some {
		*n = need{area, run, run, milli, true}
		return
	}
	n.area, n.fast, n.slow, n.wide = min(n.area, area), min(n.fast, run), max(n.slow, run), max(n.wide, milli)
}

// leastUnits returns the least units of a GPU time on the models that a wanted one may be; false where none is.
func (v worths) leastUnits(t capcli.GPUTime, wanted string) (capcli.GPUTime, bool) {
	if v == nil {
		return t, true
	}
	least, found := capcli.GPUTime(0), false
	for i := range v {
		if w := &v[i]; modelServes(w.model, wanted) {
			if units := capcli.GPUTime(portion(int64(t), w.num, w.den)); !found || units < least {
				least, found = units, true
			}
		}
	}
	return least, found
}

// portion returns a·b/c rounded down, for a, b ≥ 0 and c > 0, and the largest number where it does not fit.
func portion(a, b, c int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi >= uint64(c) {
		return 1<<63 - 1
	}
	q, _ := bits.Div64(hi, lo, uint64(c))
	return int64(min(q, 1<<63-1))
}

// quickest returns the least factor on the run time that the place of a job can have: below 1 only where its
// table of slowdowns has such a factor.
func quickest(s *capcli.Shape) (num, den int64) {
	num, den = 1, 1
	for _, x := range s.Near.Slowdown {
		if x.Num < x.Den && x.Num*den < num*x.Den {
			num, den = x.Num, x.Den
		}
	}
	return num, den
}

// isQuicker reports whether the place of a job can make it faster than it says.
func isQuicker(j *capcli.Job) bool {
	if j.Shape == nil {
		return false
	}
	num, den := quickest(j.Shape)
	return num < den
}

// leastWork returns a GPU time that a job takes at least for the part of its work that has the given GPU time as
// asked. It is 0 for a job that may be cancelled, because another job fails or a sweep is over, and for one that
// takes an instance of a GPU.
func leastWork(j *capcli.Job, killAtLimit bool, asked capcli.GPUTime) capcli.GPUTime {
	if j.Stage != nil && (len(j.Stage.After) > 0 || j.Stage.Sweep != nil) || takesInstance(j) {
		return 0
	}
	n := needOf(j, killAtLimit, nil)
	all := capcli.GPUTime(j.Milli() * int64(runTime(j, killAtLimit)))
	if !n.some || n.area >= all || all <= 0 {
		return asked
	}
	return capcli.GPUTime(portion(int64(asked), int64(n.area), int64(all)))
}

// mostPossible returns the most work of a job, as asked, that a run can count as possible.
func (b *bounds) mostPossible(j *capcli.Job, length capcli.Seconds) capcli.GPUTime {
	milli := j.Milli()
	if hasWays(j) {
		milli = max(milli, needOf(j, false, nil).wide)
	}
	tries := int64(1)
	if j.Stage != nil {
		tries += int64(j.Stage.Retries)
	}
	return capcli.GPUTime(portion(milli*int64(length), tries, 1))
}

// hasModel reports whether jobs of a shape have a way on GPUs of a model.
func hasModel(s *capcli.Shape, model string) bool {
	return slices.ContainsFunc(s.Ways, func(w capcli.Way) bool { return modelServes(model, w.Model) })
}

// window returns the window of a job with ways that starts from earliest to latest.
func (n *need) window(earliest, latest capcli.Seconds) window {
	return window{Earliest: earliest, Latest: latest, Run: n.fast, Slow: n.slow, Milli: n.wide, Area: n.area}
}

// choosing says who picks among the ways of jobs.
type choosing uint8

const (
	asks    choosing = iota // nobody: jobs run as they ask for
	takes                   // a chooser that takes any way that fits
	holdsOn                 // a chooser or a policy that may wait for a better way
)

// choosingOf returns who picks among the ways of jobs in a run.
func choosingOf(cfg *simulate.Config) choosing {
	if cfg.Policy != nil {
		if _, resizes := cfg.Policy(cfg.Settings).(simulate.Resizer); resizes {
			return holdsOn
		}
	}
	if cfg.Chooser == nil {
		return asks
	}
	if _, uniform := cfg.Chooser.(simulate.UniformChooser); uniform {
		return takes
	}
	return holdsOn
}

// form is what the windows of a job need of it, beside its times.
type form struct {
	need
	model string // models on which it surely starts where there is room, "A|B"; "" is any
	why   string // why it may wait although there is room; "" where it does not
}

func formOf(cfg *simulate.Config, j *capcli.Job, by choosing, v worths) form {
	f := form{why: whyPicky(cfg, j, by)}
	if f.why != "" {
		return f
	}
	f.need = needOf(j, cfg.KillAtLimit, v)
	if v != nil && !f.some {
		return f
	}
	var serves bool
	if f.model, serves = startModels(j, by); !serves || !f.some {
		f.why = "some jobs have no way that is as wide as they ask for"
	}
	return f
}

// whyPicky returns why a job may have to wait for capacity that suits it even where GPUs of its model are free; ""
// where it never does.
func whyPicky(cfg *simulate.Config, j *capcli.Job, by choosing) string {
	switch {
	case j.Stage != nil && len(j.Stage.After) > 0:
		return "some jobs wait for other jobs"
	case j.Stage != nil && j.Stage.Sweep != nil:
		return "the trials of a sweep wait for each other"
	case cfg.Delayer != nil && j.Data != nil:
		return "some starts are put off for a lower price or less carbon"
	case j.Data != nil && (len(j.Data.Only) > 0 || len(j.Data.Not) > 0 || j.Data.Within > 0 || j.Data.Home != ""):
		return "some jobs may only run in some places, or wait for their data"
	case j.GPUMemMiB > 0:
		return "some jobs need a part of a GPU's memory"
	case j.Shape == nil:
		return ""
	case j.Shape.Needs != (capcli.Needs{}):
		return "some jobs need GPUs of a kind that may be full"
	case j.Shape.Near.Mode == capcli.Required || j.Shape.Near.Apart != "" || j.Shape.Near.Beside != "" || j.Shape.Near.SliceGPUs > 0:
		return "some jobs need GPUs that are near to each other, or apart"
	case by == holdsOn && len(j.Shape.Ways) > 0:
		return "jobs may wait for a better width or model than the one that is free"
	}
	return ""
}

// startModels returns the models on which a job starts where there is room, "A|B"; "" is any. It reports false where
// it has no such way.
func startModels(j *capcli.Job, by choosing) (string, bool) {
	if !hasWays(j) {
		return j.GPUModel, true
	}
	var models []string
	for i := range j.Shape.Ways {
		w := &j.Shape.Ways[i]
		switch {
		case by == asks && w.GPUs != j.GPUs, j.GPUMilli > 0 && w.GPUs != j.GPUs:
		case w.Model == "":
			return j.GPUModel, true
		case by != asks || modelServes(w.Model, j.GPUModel):
			models = append(models, w.Model)
		}
	}
	return strings.Join(models, "|"), len(models) > 0
}

// unitsPerGPU is how many units a GPU of the dearest model counts for. The number of committed units is taken
// as whole, so they must be small.
const unitsPerGPU = 100

// weights returns the worths by which to bound the cost of mixes: for each kind of price, every model by its
// lowest price, so that a unit costs the same on all of them. A job then counts for the cheapest of its ways.
func (m *menu) weights() []worths {
	var out []worths
	for _, kind := range []bool{true, false} {
		v, top := make(worths, 0, len(m.items)), capcli.Rate(0)
		for _, x := range m.items {
			if i := slices.IndexFunc(v, func(w worth) bool { return strings.EqualFold(w.model, x.model) }); i < 0 {
				v = append(v, worth{model: x.model, num: -1})
			}
		}
		for i := range v {
			v[i].num = int64(m.priceOf(v[i].model, kind))
			top = max(top, capcli.Rate(v[i].num))
		}
		if top == 0 || slices.ContainsFunc(v, func(w worth) bool { return w.num == 0 }) {
			continue
		}
		for i := range v {
			v[i].num, v[i].den = v[i].num*unitsPerGPU, int64(top)
		}
		out = append(out, v)
	}
	return out
}

// weightsFor returns the weights for a run, or none where no job has ways or the units are too many to be counted.
func (m *menu) weightsFor(p *Problem, run int) []worths {
	jobs, err := p.Jobs(run)
	if err != nil || !slices.ContainsFunc(jobs, func(j capcli.Job) bool { return hasWays(&j) }) {
		return nil
	}
	units := 0.0
	for i := range jobs {
		if n := needOf(&jobs[i], false, nil); n.some {
			units += float64(n.wide) * float64(n.slow)
		}
	}
	if units*unitsPerGPU > 1<<60 {
		return nil
	}
	return m.weights()
}

// key identifies the worths; "" for nil.
func (v worths) key() string {
	if v == nil {
		return ""
	}
	return fmt.Sprint("|worths", []worth(v))
}

// priceOf returns the lowest price of a model, of committed pools or of the others; where it has none of the
// kind, the lowest of any.
func (m *menu) priceOf(model string, committed bool) capcli.Rate {
	least, other := capcli.Rate(-1), capcli.Rate(-1)
	for _, x := range m.items {
		if !strings.EqualFold(x.model, model) {
			continue
		}
		if to := &least; x.committed == committed {
			if *to < 0 || x.price < *to {
				*to = x.price
			}
		} else if other < 0 || x.price < other {
			other = x.price
		}
	}
	if least < 0 {
		return other
	}
	return least
}

// inUnits returns the menu with prices of a unit.
func (m *menu) inUnits(v worths) *menu {
	out := &menu{items: m.items, none: true}
	for _, x := range m.items {
		w := v[slices.IndexFunc(v, func(w worth) bool { return strings.EqualFold(w.model, x.model) })]
		t := tier{capcli.Rate(portion(int64(x.price), w.den, w.num)), portion(x.gpus, w.num, w.den) + 1}
		out.add(x.committed, t)
	}
	slices.SortFunc(out.tiers, compareTiers)
	return out
}

// leastInUnits is leastUnder in units of worths. It is rounded down by the price of a unit, since committed units
// need not be whole.
func (m *menu) leastInUnits(s *smooth, time capcli.Seconds) capcli.USD {
	cost, _ := m.leastUnder(s, nil, time)
	if !m.none {
		cost -= capcli.Cost(m.committed, capcli.GPUTime(time)*capcli.GPUSecond)
	}
	return max(0, cost)
}
