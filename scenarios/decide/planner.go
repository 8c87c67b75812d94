package decide

import (
	"context"
	"strconv"

	"capcli"
	"capcli/scenarios/decide/plan/futures"
	"capcli/scenarios/decide/plan/market"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/play"
)

// mixPlan is a plan of mixes over the futures: capcli plan mix.
type mixPlan struct {
	scenario, jobs, out string // files
	axes                []string
	waitCost            string
	market              *market.Request // commitments that cover, offered beside the scenario; nil: none
}

func (c *chain) newPlanner(ctx context.Context, p *mixPlan) (*mix.Planner, error) {
	maker := &play.Maker{Logs: &play.Logs{Open: c.open}, Note: func(string) {}}
	ask := play.Question{Scenario: p.scenario, Prices: c.own}
	if c.Seed != 1 {
		ask.Seed = &c.Seed
	}
	kase, err := maker.Case(ctx, &ask)
	if err != nil {
		return nil, err
	}
	q := mix.NewRequest(kase)
	q.Vary, q.Max, q.Min, q.Hold, q.Runs, q.Confidence, q.WaitCost = p.axes, c.limits, c.Min, c.hold, c.played(), 0, p.waitCost
	if q.Risk, err = futures.ParseRisk(c.Risk); err != nil {
		return nil, err
	}
	source := c.source()
	if err := source.Parse(); err != nil {
		return nil, err
	}
	q.Ahead = func([]capcli.Job) (*futures.Set, error) { return source.Read(ctx, c.sources()) }
	if p.market != nil {
		q.Market, q.ByGPU = p.market, c.lot() > 1
	}
	q.Memory, q.Inputs = c.memory, hashOf(c.docs[p.jobs], c.docs[FuturesFile])
	return mix.NewPlanner(ctx, q)
}

// finishPlan finds the best mix of p with its planner, and keeps the plan as the document of a step.
func (c *chain) finishPlan(ctx context.Context, step string, p *mixPlan, planner *mix.Planner) (*mix.Result, error) {
	found, err := planner.Find(ctx)
	if err != nil {
		return nil, err
	}
	r, err := planner.Study(ctx, found)
	if err != nil {
		return nil, err
	}
	text, err := encode(r)
	if err != nil {
		return nil, err
	}
	return r, c.put(step, c.mixCommand(p), &files{Texts: map[string][]byte{p.out: text}}, p.out)
}

func (c *chain) mixCommand(p *mixPlan) string {
	words := []string{"plan", "mix", p.scenario, "--futures", FuturesFile, "--runs", strconv.Itoa(c.played())}
	words = withFlag(withFlag(words, "--max", c.limits), "--min", c.Min)
	if c.Risk != "mean" {
		words = append(words, "--risk", c.Risk)
	}
	search := "confidence=0,hold=" + c.Hold
	if c.WaitCost != mix.WaitCostDefault {
		search += ",wait-cost=" + c.WaitCost
	}
	if p.market != nil && c.lot() > 1 {
		search += ",lot=" + strconv.Itoa(c.lot()) + ",by-gpu"
	}
	words = withFlag(append(words, "--search", search), "--vary", p.axes)
	if p.market != nil {
		words = withFlag(words, "--term", p.market.Terms)
	}
	if c.Seed != 1 {
		words = append(words, "--seed", strconv.FormatUint(uint64(c.Seed), 10))
	}
	return command(append(append(words, c.priceFlags()...), "-o", "json", "--out", p.out)...)
}

// withFlag appends to the words of a command a flag with each of its values.
func withFlag(words []string, flag string, values []string) []string {
	for _, v := range values {
		words = append(words, flag, v)
	}
	return words
}

// bestPlayed returns the point of the least cost, waits priced, of points that holds the limits; where none does, that of
// the least cost that does the work, else of the least cost. Of equals it is the first.
func bestPlayed[P comparable](points []P, found map[P]*mix.Mix, hold float64) P {
	var best P
	rank := 3
	for _, p := range points {
		m := found[p]
		r := 2
		switch {
		case m.Cost == nil:
			continue
		case m.Holds(hold):
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

// neighbours returns a size and its neighbours of the sizes that were tried, which rise.
func neighbours(sizes []int, at int) []int { return sizes[max(0, at-1):min(len(sizes), at+2)] }
