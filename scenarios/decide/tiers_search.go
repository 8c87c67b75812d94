package decide

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/kinds"
)

// tierPoint is a mix of the tiers.
type tierPoint struct {
	gpus  int    // of the base
	nodes int    // machines on spot
	open  bool   // the base takes jobs that may run on spot too
	wait  string // patience of the jobs that may wait
}

// tierSearch is the search of the tiers over the futures.
type tierSearch struct {
	*chain
	planner *mix.Planner
	found   map[tierPoint]*mix.Mix
	sizes   []int // of the base, rising
	nodes   []int // rising, 0 first; one value where there is no spot pool
	waits   []string
	scale   float64 // mean demand of the futures over that of the log
}

// changes returns the changes to the scenario that make the mix.
func (s *tierSearch) changes(p tierPoint) []string {
	var out []string
	if s.place != nil {
		lane := kinds.BaseLane
		if p.open {
			lane = "null"
		}
		out = append(out, "capacity.base.gpus="+strconv.Itoa(p.gpus), "capacity.base.partition="+lane)
	}
	if s.hasSpot() {
		out = append(out, "capacity.spot.nodes="+strconv.Itoa(p.nodes))
	}
	return append(out, "overflow.patience[0].wait="+p.wait)
}

// hasSpot reports whether the scenario of the tiers has a spot pool.
func (c *chain) hasSpot() bool { return scenarios.SpotPrice(c.own, c.offer, c.rules) != "" }

// normalise returns p without choices that change nothing: without a base nothing waits for it, and without spot GPUs the
// base takes all jobs.
func (p tierPoint) normalise() tierPoint {
	if p.gpus == 0 {
		p.open, p.wait = true, "0s"
	}
	p.open = p.open || p.nodes == 0
	return p
}

// run searches the tiers, writes the plan and answers.
func (s *tierSearch) run(ctx context.Context) error {
	s.scale = 1
	if mean := s.described.Demand.MeanGPUs; mean > 0 {
		s.scale = s.bought.Futures.Mean / mean
	}
	s.nodes = s.spotSizes()
	var err error
	if s.planner, err = s.newPlanner(ctx, s.tierPlan(s.axes([]int{0}, s.nodes))); err != nil {
		return err
	}
	if err := s.explore(ctx); err != nil {
		return err
	}
	best := s.bestPoint(func(tierPoint) bool { return true })
	sizes := neighbours(s.sizes, slices.Index(s.sizes, best.gpus))
	nodes := slices.Compact(slices.Sorted(slices.Values([]int{0, best.nodes})))
	p, drawn := s.tierPlan(s.axes(sizes, nodes)), s.planner
	if s.planner, err = s.newPlanner(ctx, p); err != nil {
		return err
	}
	s.planner.TakeJobs(drawn)
	r, err := s.finishPlan(ctx, "tiers", p, s.planner)
	if err != nil {
		return err
	}
	return s.answer(ctx, best, r)
}

// axes returns the axes of a plan over sizes of the base and machines on spot.
func (s *tierSearch) axes(sizes, nodes []int) []string {
	var out []string
	if s.place != nil {
		out = append(out, "capacity.base.gpus="+joined(sizes), "capacity.base.partition=null,"+kinds.BaseLane)
	}
	if s.hasSpot() {
		out = append(out, "capacity.spot.nodes="+joined(nodes))
	}
	return append(out, "overflow.patience[0].wait="+strings.Join(s.waits, ","))
}

// spotSizes returns the numbers of machines on spot to try: none, those that the work for them keeps busy on average, and
// a quarter more than it ever wants at once in the log, at the level of the futures. What the rules state is the most.
func (s *tierSearch) spotSizes() []int {
	if !s.hasSpot() || s.byKind.SpotShare() == 0 {
		return []int{0}
	}
	lot := float64(s.rules.MachineGPUs)
	most := int(math.Ceil(1.25 * s.scale * s.spotPeak / lot))
	if m := s.rules.Spot.MaxGPUs; m > 0 {
		most = min(most, m/s.rules.MachineGPUs)
	}
	mean := int(math.Ceil(s.scale * (s.byKind.Row(kinds.Spot).Mean + s.byKind.Row(kinds.Waits).SavesMean(s.byKind)) / lot))
	return slices.Compact([]int{0, min(mean, most), most})
}

// explore finds the sizes of the plan. It tries every patience at sizes of the base spread around the mean of the futures,
// with all spot GPUs and without, then the middles around the best and the other choices there, as long as that changes.
func (s *tierSearch) explore(ctx context.Context) error {
	var first []int
	if s.sizes = []int{0}; s.place != nil {
		mean := s.bought.Futures.Mean
		for _, g := range []float64{0, 0.25 * mean, 0.5 * mean, 0.75 * mean, mean, 1.25 * mean, slices.Max(s.bought.Futures.Levels)} {
			first = append(first, int(g/float64(s.lot())+0.5)*s.lot())
		}
		s.sizes = slices.Compact(slices.Sorted(slices.Values(first)))
	}
	var fresh []tierPoint
	for _, gpus := range s.sizes {
		for _, w := range s.waits {
			fresh = append(fresh, tierPoint{gpus, 0, true, w}, tierPoint{gpus, s.nodes[len(s.nodes)-1], false, w})
		}
	}
	for range rounds {
		tried, err := s.try(ctx, fresh)
		if err != nil || !tried {
			return err
		}
		best := s.bestPoint(func(tierPoint) bool { return true })
		fresh = s.nextPoints(best)
		if off := s.bestPoint(func(p tierPoint) bool { return p.nodes == 0 }); off != best {
			fresh = append(fresh, s.nextPoints(off)...)
		}
	}
	return nil
}

// nextPoints returns the points to try next: other sizes of the base with the choices of p, and p's size and its neighbours
// with all other choices.
func (s *tierSearch) nextPoints(p tierPoint) []tierPoint {
	var out []tierPoint
	if s.place != nil {
		for _, gpus := range s.middles(p.gpus) {
			for _, w := range s.waits {
				out = append(out, tierPoint{gpus, p.nodes, p.open, w})
			}
		}
	}
	for _, gpus := range neighbours(s.sizes, slices.Index(s.sizes, p.gpus)) {
		for _, n := range s.nodes {
			for _, open := range []bool{true, false} {
				for _, w := range s.waits {
					if gpus == p.gpus || open == p.open && n == p.nodes {
						out = append(out, tierPoint{gpus, n, open, w})
					}
				}
			}
		}
	}
	return out
}

// middles returns the middles between a size and its neighbours, and a larger size where it is the largest: none nearer
// than one machine, or a hundredth of the mean of the futures.
func (s *tierSearch) middles(gpus int) []int {
	var out []int
	at, lot := slices.Index(s.sizes, gpus), s.lot()
	near := max(lot, int(s.bought.Futures.Mean/100))
	for _, k := range []int{at - 1, at + 1} {
		if k < 0 || k >= len(s.sizes) {
			continue
		}
		if mid := (gpus + s.sizes[k]) / 2 / lot * lot; max(gpus-s.sizes[k], s.sizes[k]-gpus) > near && !slices.Contains(s.sizes, mid) {
			out = append(out, mid)
		}
	}
	if at == len(s.sizes)-1 {
		out = append(out, (gpus+gpus/4)/lot*lot+lot)
	}
	return out
}

// try runs points that were not tried before. It reports whether there were some.
func (s *tierSearch) try(ctx context.Context, points []tierPoint) (bool, error) {
	var fresh []tierPoint
	var changes [][]string
	for _, p := range points {
		p = p.normalise()
		if s.found[p] != nil || slices.Contains(fresh, p) {
			continue
		}
		fresh, changes = append(fresh, p), append(changes, s.changes(p))
		if !slices.Contains(s.sizes, p.gpus) {
			s.sizes = append(s.sizes, p.gpus)
		}
	}
	slices.Sort(s.sizes)
	if len(fresh) == 0 {
		return false, nil
	}
	mixes, err := s.planner.Assess(ctx, changes)
	for i, m := range mixes {
		s.found[fresh[i]] = m
	}
	return true, err
}

// compareTiers is a total order of points: by size, machines on spot, openness and patience.
func (s *tierSearch) compareTiers(a, b tierPoint) int {
	return cmp.Or(a.gpus-b.gpus, a.nodes-b.nodes, capcli.Bit(b.open)-capcli.Bit(a.open), slices.Index(s.waits, a.wait)-slices.Index(s.waits, b.wait))
}

// bestPoint returns the best of some of the points found: see bestPlayed.
func (s *tierSearch) bestPoint(some func(tierPoint) bool) tierPoint {
	points := slices.SortedFunc(maps.Keys(s.found), s.compareTiers)
	return bestPlayed(slices.DeleteFunc(points, func(p tierPoint) bool { return !some(p) }), s.found, s.hold)
}

func (s *tierSearch) answer(ctx context.Context, best tierPoint, r *mix.Result) error {
	m := s.found[best]
	if m == nil || m.Cost == nil {
		return &capcli.ResultError{Kind: capcli.NoPlan, Text: "no tiers can be priced"}
	}
	classes, err := s.planner.ByClass(ctx, s.changes(best))
	if err != nil {
		return err
	}
	t := &Tiers{
		Holds: m.Holds(s.hold), Kinds: s.byKind, Scale: s.scale, Futures: s.played(), GPU: s.GPU, Length: s.out.Length, Start: s.out.Start, Changes: s.changes(best), Patience: best.wait,
		Machines: best.nodes, Tried: s.nodes, MachineOf: s.rules.MachineGPUs, BaseOpen: best.open && best.nodes > 0 && best.gpus > 0, Bound: r.Bound, Assumed: s.tierAssumptions(),
	}
	t.addRows(s, best, m)
	t.addKinds(classes)
	if err := t.addTotals(s, best); err != nil {
		return err
	}
	if t.Losses, err = s.tryLosses(ctx, best); err != nil {
		return err
	}
	if err := t.addUntold(s); err != nil {
		return err
	}
	t.Sentences = t.sentences()
	s.out.Tiers = t
	return nil
}

// tierAssumptions says what the tiers stand on.
func (s *tierSearch) tierAssumptions() []string {
	t := &s.rules.Spot
	out := []string{
		"jobs to come are of the kinds of those of the log, in the same proportions of each day, and whoever runs the cluster can send each to its tier: by queue, partition or tag",
	}
	if len(s.nodes) > 1 {
		out = append(out, fmt.Sprintf("a machine on spot is taken away once in %s on average (%s), each by itself, and can be had again after %s; jobs without checkpoints begin anew, those with them go back at most %s; spot GPUs keep their price",
			t.MeanUp, t.SourceText(), t.MeanDown, s.rules.Checkpoint.Every))
	} else if s.byKind.SpotShare() > 0 {
		out = append(out, "no spot price of this machine is known, so spot was not tried: state one (spot: {price: 1.20} in the file of kinds)")
	}
	if len(s.rules.Held) > 0 {
		out = append(out, "what is held serves first, whatever the kind of work, and is paid for whatever is decided: the tiers are what to get beside it, and no cost has it; where it ends, work goes on elsewhere without loss")
	}
	return out
}
