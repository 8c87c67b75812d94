package mix

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"capcli/scenarios/decide/plan"

	"capcli"
)

// Goal says which mixes a search must keep.
type Goal uint8

const (
	// frontier keeps every mix that no other beats in both cost and wait.
	frontier Goal = iota
	// cheapest keeps the cheapest mix that holds the limits.
	cheapest
)

// String returns the goal in a word.
func (g Goal) String() string { return [...]string{"frontier", "cheapest"}[g] }

// Search looks for the best mix of a problem under limits.
type Search struct {
	Problem *Problem
	Limits  []Limit
	// Hold is the share of runs in which the limits must hold, over 0 to 1.
	Hold float64
	// Confidence that no mix is dropped wrongly before it has had all its runs, 0.99 say, over all
	// such decisions together. 0 drops mixes by bounds alone, which are never wrong.
	Confidence float64
	Goal       Goal
	// Risk is the figure of the costs over the runs that the search minimises; it is the cost of a
	// mix. With a risk other than the mean, mixes are dropped by bounds alone.
	Risk plan.Risk
	// Stride above 1 first tries every Stride-th value of each ordered axis, then refines around
	// the best: fewer mixes are tried, and bounds say what the untried ones can save. It is a power
	// of two.
	Stride int
	// Include lists the numbers of mixes to try first, whatever the stride.
	Include []int
	// Evaluate returns the outcomes of mixes; nil simulates them.
	Evaluate Evaluate
	// Progress, if not nil, is called with the number of mixes that are done and the number of all
	// mixes. With a Stride fewer than all are tried.
	Progress func(done, of int)
	// Better, if not nil, is called with the best mix so far whenever there is a better one.
	Better func(text string)
}

// Found is the result of a search.
type Found struct {
	Entries []*Entry // every mix that was tried, by number
	Size    int      // mixes in the space
	Invalid int      // combinations tried that make no valid scenario, left out
	// Simulations is the number of simulations done, each for all mixes of one key.
	Simulations int
	Runs        int // runs of each mix that was not dropped
	// Mixes that were not tried: Closed counts those whose lower bound proves that they are no
	// cheaper than the best or break a limit, Open those that may be cheaper, by Loss at most.
	// Unweighed means that they were too many to bound.
	Closed, Open int
	Loss         capcli.USD
	Unweighed    bool
	// Partial means that the search was stopped: Runs is the number of runs that its mixes had had
	// by then.
	Partial bool

	limits []Limit
	hold   float64
}

// errNoMix means that a space has no mix that can be run.
var errNoMix = errors.New("no mix to try")

// search is a Search in progress.
type search struct {
	*Search
	Found    // all but Entries
	ctx      context.Context
	bounds   *bounds
	tried    map[int]*Entry // by number; nil for a mix that is invalid
	finished []*Entry       // the mixes that were run in full
	firstBad error          // the first invalid mix
	told     *Entry         // what Better was called with last
	toldRuns int            // its runs then
	err      error
}

// newSearch returns a search that has tried nothing.
func (s *Search) newSearch(ctx context.Context) (*search, error) {
	size, err := s.Problem.Space.size()
	x := &search{Search: s, ctx: ctx, bounds: newBounds(s.Problem), tried: map[int]*Entry{}}
	x.bounds.allowed = undoneMost(s.Limits)
	x.Found = Found{Size: size, Runs: s.Problem.Runs, limits: s.Limits, hold: s.Hold}
	return x, err
}

// batchKeys is how many different simulations a batch has. It does not depend on the number of
// cores, so that every machine drops the same mixes.
const batchKeys = 64

// Run searches. The same problem gives the same answer on any number of cores. Where ctx ends, Run
// returns its error and what it has found so far: nil where not one run has finished.
func (s *Search) Run(ctx context.Context) (*Found, error) {
	x, err := s.newSearch(ctx)
	if err != nil {
		return nil, err
	}
	if s.Problem.Runs < 1 {
		return nil, fmt.Errorf("expected at least one run of each mix, found %d", s.Problem.Runs)
	}
	if s.Hold <= 0 || s.Hold > 1 || s.Confidence < 0 || s.Confidence >= 1 {
		return nil, fmt.Errorf("expected a share of runs over 0 up to 1 and a confidence from 0 to under 1, found %v and %v", s.Hold, s.Confidence)
	}
	x.visit(s.Include)
	if s.Stride > 1 {
		x.refine()
	} else {
		x.visit(everyOne(x.Size))
	}
	if x.err == nil {
		x.close()
	}
	if x.err == nil {
		x.lookAround()
		x.nearestOfNone()
	}
	switch {
	case x.err != nil && ctx.Err() != nil:
		return x.partial(), x.err
	case x.err != nil:
		return nil, x.err
	}
	return x.foundMixes()
}

// partial returns what a stopped search has found: of the mixes that were not dropped, those with
// the most runs.
func (s *search) partial() *Found {
	runs := 0
	for _, e := range s.tried {
		if e != nil && e.Fate == Full {
			runs = max(runs, len(e.Outcomes))
		}
	}
	if runs == 0 {
		return nil
	}
	for i, e := range s.tried {
		if e != nil && e.Fate == Full && len(e.Outcomes) < runs {
			delete(s.tried, i)
		}
	}
	f, err := s.foundMixes()
	if err == nil {
		err = s.settle(context.WithoutCancel(s.ctx), f.runInFull())
	}
	if err != nil {
		return nil
	}
	f.Runs, f.Partial = runs, true
	return f
}

func everyOne(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func (s *search) foundMixes() (*Found, error) {
	f := s.Found
	for _, e := range s.tried {
		if e != nil {
			f.Entries = append(f.Entries, e)
		}
	}
	slices.SortFunc(f.Entries, func(a, b *Entry) int { return cmp.Compare(a.Index, b.Index) })
	if len(f.Entries) == 0 {
		if s.firstBad != nil {
			return nil, s.firstBad
		}
		return nil, errNoMix
	}
	return &f, nil
}

// invalidError means that a combination of values is no valid mix. Such a mix is left out and
// counted; the search fails only where all are invalid.
type invalidError struct{ Err error }

func (e *invalidError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong with the mix.
func (e *invalidError) Unwrap() error { return e.Err }

// visit tries the given mixes that were not tried before.
func (s *search) visit(numbers []int) {
	var fresh []*Entry
	for _, i := range numbers {
		if _, done := s.tried[i]; done {
			continue
		}
		e := s.entryOf(i)
		if s.err != nil {
			return
		}
		if s.tried[i] = e; e != nil {
			fresh = append(fresh, e)
		}
	}
	slices.SortFunc(fresh, byFloor)
	for len(fresh) > 0 && s.err == nil {
		var batch []*Entry
		batch, fresh = s.next(fresh)
		s.run(batch)
		if s.Progress != nil {
			s.Progress(len(s.tried)-len(fresh), s.Size)
		}
	}
}

// entryOf returns what is known of mix i before it is run. It returns nil where the mix is invalid,
// which it counts, and where the search fails.
func (s *search) entryOf(i int) *Entry {
	c, err := s.Problem.Candidate(i)
	if bad, ok := errors.AsType[*invalidError](err); ok {
		s.Invalid++
		if s.firstBad == nil {
			s.firstBad = bad.Err
		}
		return nil
	}
	var e *Entry
	if err == nil {
		e, err = s.entry(c)
	}
	s.err = err
	return e
}

// entry returns what is known of a candidate before it is run: its floors.
func (s *search) entry(c *Candidate) (*Entry, error) {
	defer s.Problem.Effort.timed(onBounds)()
	e := s.newEntry(c)
	e.allowed = s.bounds.allowed
	for run := range s.Problem.Runs {
		f, err := s.bounds.floorOf(c, run)
		if err != nil {
			return nil, err
		}
		e.Floors = append(e.Floors, f)
	}
	return e, nil
}

// next takes the entries of the next batch, least floor first, and drops those that their floor
// rules out.
func (s *search) next(fresh []*Entry) (batch, rest []*Entry) {
	keys := map[string]bool{}
	for i, e := range fresh {
		if rival, out := s.ruledOut(e); out {
			e.Fate, e.Rival = ByBound, rival
			continue
		}
		if !keys[e.Key] && len(keys) == batchKeys {
			return batch, fresh[i:]
		}
		keys[e.Key] = true
		batch = append(batch, e)
	}
	return batch, nil
}

// ruledOut reports whether the floor of e rules it out, for certain, and by which rival; -1 is a
// limit. A floor rules e out where it breaks a limit on cost in too many runs, or leaves too much
// work undone in some run. It also does where a mix that was run in full costs less and holds the
// limits; if the goal is the frontier, that mix must have a p95 wait of 0 too.
func (s *search) ruledOut(e *Entry) (rival int, out bool) {
	if s.overLimit(e) || s.starved(e) {
		return -1, true
	}
	floor := e.floor()
	for _, r := range s.finished {
		if r.CostWithWaits() < floor && r.holds(s.Hold) && (s.Goal == cheapest || r.Wait() == 0) {
			return r.Index, true
		}
	}
	return -1, false
}

// starved reports whether e has too little capacity for the work that must be done: on the mean, or in too many
// runs.
func (s *search) starved(e *Entry) bool { return e.isStarved(undoneMost(s.Limits), s.Hold) }

// isStarved reports whether e leaves more than a share of the work undone on the mean, or in so many runs that
// fewer than the share hold are left.
func (e *Entry) isStarved(most, hold float64) bool {
	if e.leastUndone() > most+1e-12 {
		return true
	}
	may, all := int64(0), int64(0)
	for i := range e.Floors {
		if all += e.weight(i); e.Floors[i].Undone <= most {
			may += e.weight(i)
		}
	}
	return float64(may) < hold*float64(all)
}

// overLimit reports whether the floor of e breaks a limit on cost in too many runs, whatever the
// other mixes do.
func (s *search) overLimit(e *Entry) bool {
	for i := range s.Limits {
		l := &s.Limits[i]
		if !l.onCost() {
			continue
		}
		broken := 0
		for _, f := range e.Floors {
			if f.Cost.Float() > l.Value {
				broken++
			}
		}
		if may := 1 - float64(broken)/float64(len(e.Floors)); may < min(s.Hold, 0.5) {
			return true
		}
	}
	return false
}

// runTo simulates entries up to n runs each, and returns those that have a price in each run and
// have not lost to another mix.
func (s *search) runTo(entries []*Entry, n int) []*Entry {
	evaluate := s.Evaluate
	if evaluate == nil {
		evaluate = s.Problem.evaluate
	}
	for len(entries) > 0 && len(entries[0].Outcomes) < n {
		run := len(entries[0].Outcomes)
		candidates := make([]*Candidate, len(entries))
		for i, e := range entries {
			candidates[i] = e.Candidate
			e.lost = s.lossOf(e)
		}
		out, err := evaluate(s.ctx, run, candidates)
		if err != nil {
			if s.err = err; s.ctx.Err() != nil {
				noteDone(entries, out, s.Limits)
			}
			return nil
		}
		var priced []*Entry
		for i, e := range entries {
			if e.take(out[i], s.Limits) {
				priced = append(priced, e)
			}
		}
		entries = priced
		s.Simulations += len(groupByKey(candidates))
	}
	return entries
}

// noteDone notes the outcomes that had finished when the run was stopped.
func noteDone(entries []*Entry, out []Outcome, limits []Limit) {
	for i := range out {
		if out[i].Run == notRun {
			continue
		}
		entries[i].take(out[i], limits)
	}
}

// Counts counts mixes by their fate: tried = full + bound + race + fault.
type Counts struct {
	Tried   int `json:"tried"`
	Full    int `json:"run_in_full"`
	ByBound int `json:"dropped_by_bound"`
	Starved int `json:"dropped_for_work_undone,omitempty"` // of ByBound: no schedule can do the work with their capacity
	ByRace  int `json:"dropped_by_race"`
	ByFault int `json:"without_a_price,omitempty"`
}

// Counts counts the mixes that were tried.
func (f *Found) Counts() Counts {
	c := Counts{Tried: len(f.Entries)}
	for _, e := range f.Entries {
		switch e.Fate {
		case Full:
			c.Full++
		case ByBound:
			if c.ByBound++; e.isStarved(undoneMost(f.limits), f.hold) {
				c.Starved++
			}
		case ByRace:
			c.ByRace++
		case ByFault:
			c.ByFault++
		}
	}
	return c
}
