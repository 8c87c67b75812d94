package mix

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"

	"capcli"
	"capcli/scenarios/money/billing"
)

// Bought is a committed pool of the best mix: what somebody who follows the plan orders.
type Bought struct {
	Pool  string `json:"pool"`
	GPUs  int64  `json:"gpus"`
	Terms string `json:"terms"` // owned, reserved, or the name of the product
	Term  string `json:"term"`  // length of the commitment; "" is not said
	Model string `json:"gpu_model"`
}

// purchases returns the committed pools of the best mix, places or not, in the order of the scenario. A pool whose
// nodes are in a file has its GPUs from the run.
func (s *study) purchases() ([]Bought, error) {
	cfg, err := s.best.Config(0)
	if err != nil {
		return nil, err
	}
	out := []Bought{}
	for i := range s.out.Chosen.Capacity {
		c := &s.out.Chosen.Capacity[i]
		if !c.Kind.Committed() {
			continue
		}
		b := Bought{Pool: c.Name, Terms: c.KindName(), Term: c.Term, Model: c.GPUModel}
		if c.Floats {
			b.GPUs = int64(poolSize(c))
		}
		for k := range cfg.Pools {
			if cfg.Pools[k].Name == c.Name {
				b.GPUs += int64(cfg.Pools[k].Capacity())
			}
		}
		out = append(out, b)
	}
	return out, nil
}

// Sized is the best mix with another number of committed GPUs: the same rules, and all committed
// pools in proportion where there are several. Where no mix holds the limits it is the nearest mix
// in place of the best. Amounts are for a year at the rate of the runs.
type Sized struct {
	GPUs     int64          `json:"committed_gpus"` // of all committed pools, the most at once
	Mix      int            `json:"mix"`
	Choices  []Choice       `json:"choices"`
	Best     bool           `json:"best"`
	Holds    bool           `json:"holds_limits"` // in the share of the runs that the plan asks for
	Broken   []string       `json:"limits_broken"`
	Cost     capcli.USD     `json:"cost_per_year_usd"`
	Range    []capcli.USD   `json:"cost_per_year_range_usd"` // of 90 % of the runs, or all of fewer than 40
	Wait     *float64       `json:"wait_p95_s"`
	WaitIn   []float64      `json:"wait_p95_range_s"`
	Held     float64        `json:"held_share"`
	Unserved *float64       `json:"unserved_share"`
	Length   capcli.Seconds `json:"length_s"`
}

// sizesAsked is the number of steps from none to the largest number of committed GPUs at which the
// best mix is simulated, where the search did not.
const sizesAsked = 8

// sized returns the best mix with other numbers of committed GPUs, in the order of that number. The
// search has run some of them in full; some more are simulated, unless it was stopped. The result is
// empty where the number is no choice of the plan.
func (s *study) sized(ctx context.Context) ([]Sized, error) {
	out := []Sized{}
	ref := s.best
	if ref == nil {
		ref = s.found.nearestMix()
	}
	axes := s.sizeAxes()
	if ref == nil || len(axes) == 0 {
		return out, nil
	}
	by := map[int64]*Entry{}
	if err := s.sortSizes(by, s.found.Entries, ref, axes); err != nil {
		return nil, err
	}
	if !s.found.Partial {
		more, err := s.sizesBetween(ref, axes, by)
		if err != nil {
			return nil, err
		}
		entries, err := s.Search.runAll(ctx, s.problem, more)
		if err != nil {
			return nil, err
		}
		if err := s.sortSizes(by, entries, ref, axes); err != nil {
			return nil, err
		}
	}
	s.out.Standing = s.standing(by)
	for gpus, e := range by {
		out = append(out, s.sizedMix(gpus, e))
	}
	slices.SortFunc(out, func(a, b Sized) int { return cmp.Compare(a.GPUs, b.GPUs) })
	return out, nil
}

// sortSizes puts those of entries that have the rules of ref into by, under their number of GPUs. Of
// several with one number it keeps ref, or else the first by compareSized.
func (s *study) sortSizes(by map[int64]*Entry, entries []*Entry, ref *Entry, axes []int) error {
	for _, e := range entries {
		if e.Fate != Full || e.Unpriced || e.fault() != "" || !sameRules(e, ref, axes) {
			continue
		}
		gpus, err := committedGPUs(e)
		if err != nil {
			return err
		}
		if old := by[gpus]; e == ref || old == nil || old != ref && compareSized(e, old, s.Search.Hold) < 0 {
			by[gpus] = e
		}
	}
	return nil
}

// sizeAxes returns the indices of the axes that set the size of a committed pool to whole numbers.
func (s *study) sizeAxes() []int {
	var out []int
	for a, axis := range s.problem.Space.Axes {
		whole := !slices.ContainsFunc(axis.Values, func(v string) bool { _, err := strconv.Atoi(v); return err != nil })
		if whole && sizesPool(axis.Path) && committedAxis(s.req.Case.Scenario, axis.Path) {
			out = append(out, a)
		}
	}
	return out
}

// sameRules reports whether two mixes differ in no axis but those of axes.
func sameRules(a, b *Entry, axes []int) bool {
	for i := range a.Values {
		if a.Values[i] != b.Values[i] && !slices.Contains(axes, i) {
			return false
		}
	}
	return true
}

// committedGPUs returns the most committed GPUs of a mix at once.
func committedGPUs(e *Entry) (int64, error) {
	cfg, err := e.Config(0)
	if err != nil {
		return 0, err
	}
	end := cfg.Until
	if len(e.Outcomes) > 0 {
		end = e.Outcomes[0].Length
	}
	_, gpus := commitments(cfg.Pools, e.Rates, max(end, 1))
	return gpus, nil
}

// sizesBetween returns mixes with the rules of ref and numbers of GPUs in even steps, except near
// numbers that are in known.
func (s *study) sizesBetween(ref *Entry, axes []int, known map[int64]*Entry) ([]*Candidate, error) {
	most := make([]int, len(s.problem.Space.Axes)) // the pools in proportion to ref, one of them at its largest
	scale := math.Inf(1)
	for _, a := range axes {
		most[a] = largest(s.problem.Space.Axes[a].Values)
		if own, _ := strconv.Atoi(ref.Values[a]); own > 0 {
			scale = min(scale, float64(most[a])/float64(own))
		}
	}
	for _, a := range axes {
		if own, _ := strconv.Atoi(ref.Values[a]); !math.IsInf(scale, 1) {
			most[a] = int(scale * float64(own))
		}
	}
	var out []*Candidate
	seen := map[int]bool{}
	for k := range sizesAsked + 1 {
		at := s.problem.Space.places(ref.Index)
		for _, a := range axes {
			at[a] = nearestValue(s.problem.Space.Axes[a].Values, float64(most[a])*float64(k)/sizesAsked)
		}
		i := s.problem.Space.index(at)
		c, err := s.problem.Candidate(i)
		if err != nil {
			continue // a mix that makes no valid scenario is no row
		}
		gpus, err := committedGPUs(&Entry{Candidate: c})
		if err != nil {
			return nil, err
		}
		if !seen[i] && !c.Unpriced && !isNear(known, gpus, most, axes) {
			seen[i], out = true, append(out, c)
		}
	}
	return out, nil
}

// isNear reports whether known has a number of GPUs within half a step of gpus.
func isNear(known map[int64]*Entry, gpus int64, most []int, axes []int) bool {
	if known[gpus] != nil {
		return true
	}
	var all int64
	for _, a := range axes {
		all += int64(most[a])
	}
	for k := range known {
		if 2*sizesAsked*max(k-gpus, gpus-k) < all {
			return true
		}
	}
	return false
}

// largest returns the largest of whole numbers.
func largest(values []string) int {
	most := 0
	for _, v := range values {
		n, _ := strconv.Atoi(v)
		most = max(most, n)
	}
	return most
}

// nearestValue returns the index of the whole number that is nearest to v, the first of equals.
func nearestValue(values []string, v float64) int {
	best, least := 0, math.Inf(1)
	for i, text := range values {
		n, _ := strconv.Atoi(text)
		if d := math.Abs(float64(n) - v); d < least {
			best, least = i, d
		}
	}
	return best
}

// sizedMix returns the figures of a mix with a number of GPUs.
func (s *study) sizedMix(gpus int64, e *Entry) Sized {
	m := s.mix(e)
	out := Sized{
		GPUs: gpus, Mix: m.Mix, Choices: m.Choices, Best: e == s.best, Holds: e.holds(s.Search.Hold), Broken: []string{}, Range: []capcli.USD{},
		Wait: m.WaitP95, WaitIn: m.WaitRange, Held: e.HeldShare(), Unserved: m.Unserved, Length: m.Length,
	}
	out.Cost, _ = billing.PerYear(e.Cost(), m.Length)
	for _, v := range m.CostRange {
		year, _ := billing.PerYear(v, m.Length)
		out.Range = append(out.Range, year)
	}
	for i, d := range m.Distances {
		if l := &s.Search.Limits[i]; d.Held < s.Search.Hold-1e-9 || l.OnMean && !l.holdsOnMean(e) {
			out.Broken = append(out.Broken, d.Limit)
		}
	}
	return out
}

// compareSized orders mixes with one number of GPUs: those that hold the limits by byChoice, then
// the others by the share of the runs in which they hold them, then by byChoice.
func compareSized(a, b *Entry, hold float64) int {
	if x, y := a.holds(hold), b.holds(hold); x != y {
		if x {
			return -1
		}
		return 1
	} else if !x {
		if c := cmp.Compare(b.HeldShare(), a.HeldShare()); c != 0 {
			return c
		}
	}
	return byChoice(a, b)
}
