package decide

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/mix"
)

// point is a mix of the search: committed GPUs, and how long jobs wait for them before they go on
// demand.
type point struct {
	gpus     int
	patience string
}

// changes returns the changes to the scenario that make the mix.
func (p point) changes() []string {
	return []string{"capacity.base.gpus=" + strconv.Itoa(p.gpus), "overflow.patience=" + p.patience}
}

// search is the search of a mix over the futures.
type search struct {
	*chain
	planner *mix.Planner
	found   map[point]*mix.Mix
	alone   map[point]*mix.Mix // of found, without what covers; found itself where nothing that covers is offered
	sizes   []int              // in order
	waits   []string
}

// searchPlaces finds the best size of the fenced GPUs that can be had, and how long jobs wait for them,
// with the jobs of all futures.
func (c *chain) searchPlaces(ctx context.Context) error {
	s := &search{chain: c, found: map[point]*mix.Mix{}, waits: c.waits()}
	if s.alone = s.found; c.stacks() {
		s.alone = map[point]*mix.Mix{}
	}
	var err error
	if s.planner, err = c.newPlanner(ctx, s.plan([]int{c.round(c.bought.Futures.Mean)})); err != nil {
		return err
	}
	if err := s.explore(ctx); err != nil {
		return err
	}
	drawn, p := s.planner, s.plan(s.sizes)
	if s.planner, err = c.newPlanner(ctx, p); err != nil {
		return err
	}
	s.planner.TakeJobs(drawn)
	r, err := c.finishPlan(ctx, "plan", p, s.planner)
	if err != nil {
		return err
	}
	return s.answer(ctx, r)
}

// round returns a number of GPUs in whole lots, the nearest.
func (c *chain) round(gpus float64) int {
	lot := c.lot()
	return max(0, int(gpus/float64(lot)+0.5)*lot)
}

// waits returns the values of patience to try: none, half an hour and two hours, and the limit on the
// p95 wait where it is shorter than these. They depend as little on the limit as possible, so that
// another limit is answered by the same simulations.
func (c *chain) waits() []string {
	out := []string{"0s"}
	if c.wait > 0 && c.wait < 30*capcli.Minute {
		out = append(out, secondsText(c.wait))
	}
	return append(out, "30m", "2h")
}

// secondsText writes a length of time as scenarios read it, in the largest unit that it is a whole
// number of.
func secondsText(s capcli.Seconds) string {
	for _, u := range []struct {
		length capcli.Seconds
		unit   string
	}{{capcli.Day, "d"}, {capcli.Hour, "h"}, {capcli.Minute, "m"}} {
		if s%u.length == 0 {
			return fmt.Sprintf("%d%s", s/u.length, u.unit)
		}
	}
	return fmt.Sprintf("%ds", s)
}

// plan returns the plan for some sizes and the values of patience.
func (s *search) plan(sizes []int) *mixPlan {
	p := &mixPlan{
		scenario: ScenarioFile, jobs: s.jobsFile(), out: planFile, waitCost: s.WaitCost,
		axes: []string{"capacity.base.gpus=" + joined(sizes), "overflow.patience=" + strings.Join(s.waits, ",")},
	}
	if s.stacks() {
		ask := s.marketFor(s.offer)
		ask.OnDemand = "" // it is that of the scenario
		p.market = &ask
	}
	return p
}

func joined(sizes []int) string {
	out := capcli.Map(sizes, strconv.Itoa)
	return strings.Join(out, ",")
}

// mostPlayed is the most futures whose jobs are played.
const mostPlayed = 20

// played returns the number of futures whose jobs are played.
func (c *chain) played() int { return min(c.Futures, mostPlayed) }

// explore finds the sizes of the plan. It tries every patience at sizes spread around
// the mean of the futures, then at the middles around the best, as long as that changes. Where what covers is offered
// too, that is done for the best size beside it and for the best without it.
func (s *search) explore(ctx context.Context) error {
	first := []float64{0, slices.Max(s.bought.Futures.Levels)}
	for _, share := range []float64{0.25, 0.5, 0.75, 1, 1.25} {
		first = append(first, share*s.bought.Futures.Mean)
	}
	fresh := capcli.Map(first, s.round)
	for n := 0; s.stacks() && first[1] <= float64(fewLots*s.lot()) && n <= s.round(2*first[1])+s.lot(); n += s.lot() {
		fresh = append(fresh, n)
	}
	for range rounds {
		if err := s.try(ctx, fresh, s.waits); err != nil {
			return err
		}
		fresh = s.middles(s.bestOf(s.found))
		if c := s.bestOf(s.alone); s.stacks() {
			fresh = append(fresh, s.middles(c)...)
		}
		if len(fresh) == 0 {
			break
		}
	}
	beside := func(p point) []int { return neighbours(s.sizes, slices.Index(s.sizes, p.gpus)) }
	s.sizes = slices.Concat(beside(s.bestOf(s.found)), beside(s.bestOf(s.alone)), []int{0})
	slices.Sort(s.sizes)
	s.sizes = slices.Compact(s.sizes)
	return nil
}

// fewLots is the most lots, at the highest mean of a future, of which every size is tried where bills are bought beside:
// the cost of the two together has several lows.
const fewLots = 16

// rounds is the most rounds of refinement.
const rounds = 8

// try runs sizes with some values of patience, but for what was tried before.
func (s *search) try(ctx context.Context, sizes []int, waits []string) error {
	var points []point
	var changes [][]string
	slices.Sort(sizes)
	for _, n := range slices.Compact(sizes) {
		if !slices.Contains(s.sizes, n) {
			s.sizes = append(s.sizes, n)
		}
		for _, w := range waits {
			if p := (point{n, w}); s.found[p] == nil {
				points, changes = append(points, p), append(changes, p.changes())
			}
		}
	}
	slices.Sort(s.sizes)
	mixes, err := s.planner.Assess(ctx, changes)
	for i, m := range mixes {
		s.found[points[i]] = m
		s.alone[points[i]] = s.planner.WithoutBills(m)
	}
	return err
}

// bestOf returns the best of the points found: see bestPlayed.
func (s *search) bestOf(found map[point]*mix.Mix) point {
	return bestPlayed(slices.SortedFunc(maps.Keys(found), func(a, b point) int {
		return cmp.Or(a.gpus-b.gpus, slices.Index(s.waits, a.patience)-slices.Index(s.waits, b.patience))
	}), found, s.hold)
}

// middles returns the sizes to try next around a point: the middles between it and its neighbours,
// and a larger one where it is the largest. It returns none that are within a fiftieth of the point,
// of the mean demand of the futures, or one lot.
func (s *search) middles(p point) []int {
	var out []int
	i := slices.Index(s.sizes, p.gpus)
	near := max(s.lot(), p.gpus/50, int(s.bought.Futures.Mean/50))
	for _, k := range []int{i - 1, i + 1} {
		if k < 0 || k >= len(s.sizes) {
			continue
		}
		gap := max(p.gpus-s.sizes[k], s.sizes[k]-p.gpus)
		if mid := s.round(float64(p.gpus+s.sizes[k]) / 2); gap > near && !slices.Contains(s.sizes, mid) {
			out = append(out, mid)
		}
	}
	if i == len(s.sizes)-1 {
		if more := s.round(1.25*float64(p.gpus)) + s.lot(); !slices.Contains(s.sizes, more) {
			out = append(out, more)
		}
	}
	return out
}

func costs(m *mix.Mix) []capcli.USD {
	out := make([]capcli.USD, len(m.Entry.Outcomes))
	for i := range out {
		out[i] = m.Entry.Outcomes[i].Cost
	}
	return out
}

// worst5 is the mean of the worst 5 % of the futures.
var worst5 = plan.Risk{Kind: plan.CVaR, Level: 950_000}
