package decide

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/futures"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/play"
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
	if s.planner, err = c.plan(ctx, []int{c.round(c.bought.Futures.Mean)}, s.waits); err != nil {
		return err
	}
	if err := s.explore(ctx); err != nil {
		return err
	}
	drawn := s.planner
	if s.planner, err = c.plan(ctx, s.sizes, s.waits); err != nil {
		return err
	}
	s.planner.TakeJobs(drawn)
	found, err := s.planner.Find(ctx)
	if err != nil {
		return err
	}
	r, err := s.planner.Study(ctx, found)
	if err != nil {
		return err
	}
	text, err := encode(r)
	if err != nil {
		return err
	}
	if err := c.put("plan", c.planCommand(s.sizes, s.waits), &files{Texts: map[string][]byte{PlanFile: text}}, PlanFile); err != nil {
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

// plan returns the planner for some sizes and values of patience: that of planCommand.
func (c *chain) plan(ctx context.Context, sizes []int, waits []string) (*mix.Planner, error) {
	maker := &play.Maker{Logs: &play.Logs{Open: c.open}, Note: func(string) {}}
	ask := play.Question{Scenario: ScenarioFile, Seed: c.seed(), Prices: c.own}
	kase, err := maker.Case(ctx, &ask)
	if err != nil {
		return nil, err
	}
	q := mix.NewRequest(kase)
	q.Vary = []string{"capacity.base.gpus=" + joined(sizes), "overflow.patience=" + strings.Join(waits, ",")}
	q.Max, q.Min, q.Hold, q.Runs, q.Confidence, q.WaitCost = c.limits, c.Min, c.hold, c.played(), 0, c.WaitCost
	if q.Risk, err = futures.ParseRisk(c.Risk); err != nil {
		return nil, err
	}
	source := c.source()
	if err := source.Parse(); err != nil {
		return nil, err
	}
	q.Ahead = func([]capcli.Job) (*futures.Set, error) { return source.Read(ctx, c.sources()) }
	if c.stacks() {
		ask := c.marketFor(c.offer)
		ask.OnDemand = "" // it is that of the scenario
		q.Market, q.ByGPU = &ask, c.lot() > 1
	}
	q.Memory, q.Inputs = c.memory, hashOf(c.docs[c.jobsFile()], c.docs[FuturesFile])
	return mix.NewPlanner(ctx, q)
}

func (c *chain) seed() *capcli.Seed {
	if c.Seed == 1 {
		return nil
	}
	return &c.Seed
}

func joined(sizes []int) string {
	var out []string
	for _, n := range sizes {
		out = append(out, strconv.Itoa(n))
	}
	return strings.Join(out, ",")
}

// mostPlayed is the most futures whose jobs are played.
const mostPlayed = 20

// played returns the number of futures whose jobs are played.
func (c *chain) played() int { return min(c.Futures, mostPlayed) }

// planCommand is the command of the plan.
func (c *chain) planCommand(sizes []int, waits []string) string {
	words := []string{"plan", "mix", ScenarioFile, "--futures", FuturesFile, "--runs", strconv.Itoa(c.played())}
	axes := []string{"capacity.base.gpus=" + joined(sizes), "overflow.patience=" + strings.Join(waits, ",")}
	return command(c.mixWords(words, axes, c.stacks(), PlanFile)...)
}

// mixWords appends to the words of a plan of mixes its limits, its search over axes and its prices. covers says whether
// commitments that cover are offered beside the scenario.
func (c *chain) mixWords(words, axes []string, covers bool, out string) []string {
	for _, l := range c.limits {
		words = append(words, "--max", l)
	}
	for _, l := range c.Min {
		words = append(words, "--min", l)
	}
	if c.Risk != "mean" {
		words = append(words, "--risk", c.Risk)
	}
	search := "confidence=0,hold=" + c.Hold
	if c.WaitCost != mix.WaitCostDefault {
		search += ",wait-cost=" + c.WaitCost
	}
	if covers && c.lot() > 1 {
		search += ",lot=" + strconv.Itoa(c.lot()) + ",by-gpu"
	}
	words = append(words, "--search", search)
	for _, axis := range axes {
		words = append(words, "--vary", axis)
	}
	if covers {
		for _, t := range c.marketFor(c.offer).Terms {
			words = append(words, "--term", t)
		}
	}
	if c.Seed != 1 {
		words = append(words, "--seed", strconv.FormatUint(uint64(c.Seed), 10))
	}
	return append(append(words, c.priceFlags()...), "-o", "json", "--out", out)
}

// explore finds the sizes of the plan. It tries every patience at sizes spread around
// the mean of the futures, then at the middles around the best, as long as that changes. Where what covers is offered
// too, that is done for the best size beside it and for the best without it.
func (s *search) explore(ctx context.Context) error {
	first := []float64{0, slices.Max(s.bought.Futures.Levels)}
	for _, share := range []float64{0.25, 0.5, 0.75, 1, 1.25} {
		first = append(first, share*s.bought.Futures.Mean)
	}
	var fresh []int
	for _, g := range first {
		fresh = append(fresh, s.round(g))
	}
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
	s.sizes = slices.Concat(s.beside(s.bestOf(s.found).gpus), s.beside(s.bestOf(s.alone).gpus), []int{0})
	slices.Sort(s.sizes)
	s.sizes = slices.Compact(s.sizes)
	return nil
}

// fewLots is the most lots, at the highest mean of a future, of which every size is tried where bills are bought beside:
// the cost of the two together has several lows.
const fewLots = 16

// beside returns a size and its neighbours of the sizes that were tried.
func (s *search) beside(n int) []int {
	i := slices.Index(s.sizes, n)
	return slices.Clone(s.sizes[max(0, i-1):min(len(s.sizes), i+2)])
}

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

// bestOf returns the point of the least cost, waits priced, that holds the limits; where none does, that of the
// least cost that does the work, else of the least cost.
func (s *search) bestOf(found map[point]*mix.Mix) point {
	var best point
	rank := 3
	keys := slices.SortedFunc(maps.Keys(found), func(a, b point) int {
		if a.gpus != b.gpus {
			return a.gpus - b.gpus
		}
		return slices.Index(s.waits, a.patience) - slices.Index(s.waits, b.patience)
	})
	for _, p := range keys {
		m := found[p]
		r := 2
		switch {
		case m.Cost == nil:
			continue
		case m.Holds(s.hold):
			r = 0
		case m.Entry.Serves():
			r = 1
		}
		if r < rank || r == rank && m.Entry.CostWithWaits() < found[best].Entry.CostWithWaits() {
			best, rank = p, r
		}
	}
	return best
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

// costs returns the cost of a mix in each future.
func costs(m *mix.Mix) []capcli.USD {
	out := make([]capcli.USD, len(m.Entry.Outcomes))
	for i := range out {
		out[i] = m.Entry.Outcomes[i].Cost
	}
	return out
}

// worst5 is the mean of the worst 5 % of the futures.
var worst5 = plan.Risk{Kind: plan.CVaR, Level: 950_000}
