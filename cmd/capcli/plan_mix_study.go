package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/play"
	"capcli/simulate/plan/mix"
)

// mixResult is a plan of a scenario that is found, and what was asked about it.
type mixResult struct {
	*mixPlan
	best     *mix.Entry
	bound    *mix.Bound
	marginal []marginalGPU
	rival    *mix.Entry // what the break-even prices are against
	ties     []mix.Tie
	tornado  []swing
	owed     []owedContract
}

// marginalGPU is what the k-th GPU of a pool is worth.
type marginalGPU struct {
	pool   string
	gpus   int
	needed float64 // share of the time in which that many would be held if nobody waited
	entry  *mix.Entry
	saved  capcli.USD // by the GPUs since the row before, in the mean
	first  bool       // no row before
}

// swing is what one change does to the best mix.
type swing struct {
	what   string
	cost   capcli.USD
	wait   float64
	held   float64
	undone float64 // mean share of the work that is left undone
	exact  bool    // by pricing alone
}

// study answers what is asked about the best mix.
func (r *mixResult) study(ctx context.Context) error {
	var err error
	if r.bound, err = r.search.Bound(ctx, r.found, r.best); err != nil {
		return err
	}
	if err := r.owe(); err != nil {
		return err
	}
	if err := r.weigh(ctx); err != nil {
		return err
	}
	if r.rival = r.runnerUp(); r.rival != nil {
		if !r.best.Discounted && !r.rival.Discounted {
			r.ties = mix.Ties(r.best, r.rival)
		}
	}
	return r.swings(ctx)
}

// runnerUp is the cheapest mix other than the best that holds the limits too and
// is not just as large: of another schedule, under the same prices.
func (r *mixResult) runnerUp() *mix.Entry {
	var next *mix.Entry
	for _, e := range r.found.Entries {
		if e == r.best || e.Fate != mix.Full || e.Key == r.best.Key || !e.Holds(r.search.Hold) {
			continue
		}
		if next == nil || e.Cost() < next.Cost() {
			next = e
		}
	}
	return next
}

// scenarioOf is the scenario of the best mix with more changes.
func (r *mixResult) scenarioOf(more ...string) (*scenarios.Scenario, error) {
	all := append([]string(nil), r.o.mix.sim.sets...)
	all = append(all, sets(r.problem.Space.Axes, r.best.Values)...)
	return scenarios.ParseWith(r.prices, r.file, r.text, append(all, more...)...)
}

// changed is the best mix with a change; nil where it cannot be.
func (r *mixResult) changed(more ...string) (*mix.Candidate, error) {
	s, err := r.scenarioOf(more...)
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // a mix that cannot be is no row
	}
	return r.candidateOf(s, r.best.Index, r.best.Values)
}

// weigh finds the worth of the k-th GPU of each committed pool around the best
// mix, over the same runs.
func (r *mixResult) weigh(ctx context.Context) error {
	s, err := r.scenarioOf()
	if err != nil {
		return err
	}
	needed, length, err := r.problem.Needed(r.best.Candidate, 0)
	if err != nil {
		return err
	}
	p := &play.Case{Scenario: s}
	for i := range s.Capacity {
		c := &s.Capacity[i]
		path := ""
		if c.Kind.Committed() && c.NodesFile == "" {
			path = sizeField(p, i)
		}
		if path == "" {
			continue
		}
		rows, err := r.around(c, path)
		if err != nil {
			return err
		}
		var candidates []*mix.Candidate
		for _, row := range rows {
			candidates = append(candidates, row.entry.Candidate)
		}
		entries, err := r.search.Try(ctx, r.problem, candidates)
		if err != nil {
			return err
		}
		first := true
		for k := range rows {
			if rows[k].entry = entries[k]; entries[k].Fault() != "" {
				first = true
				continue
			}
			rows[k].first = first
			if !first {
				rows[k].saved = entries[k-1].Cost() - entries[k].Cost()
			}
			rows[k].needed = float64(needed(int64(rows[k].gpus))) / math.Max(1, float64(length))
			r.marginal, first = append(r.marginal, rows[k]), false
		}
	}
	return nil
}

// around are the sizes of a pool next to the best: three either way, by one GPU
// or node, or by a twentieth of a large pool.
func (r *mixResult) around(c *scenarios.Capacity, path string) ([]marginalGPU, error) {
	size, unit := c.GPUs, 1
	if c.Nodes > 0 {
		size, unit = c.Nodes, c.GPUsPerNode
	}
	step := max(1, size/20)
	var rows []marginalGPU
	for k := size - 3*step; k <= size+3*step; k += step {
		value := k
		if strings.HasSuffix(path, ".gpus") {
			value *= unit
		}
		change := path + "=" + strconv.Itoa(value)
		if k < 0 {
			continue
		}
		candidate, err := r.changed(change)
		if err != nil {
			return nil, err
		}
		if candidate != nil {
			rows = append(rows, marginalGPU{pool: c.Name, gpus: k * unit, entry: &mix.Entry{Candidate: candidate}})
		}
	}
	return rows, nil
}

// swings is the best mix when one thing is otherwise: demand, each price, spot
// losses, delays.
func (r *mixResult) swings(ctx context.Context) error {
	for _, share := range []float64{0.9, 1.1} {
		p := *r.problem
		p.Jobs = func(run int) ([]capcli.Job, error) {
			jobs, err := r.problem.Jobs(run)
			if err != nil {
				return nil, err
			}
			return mix.Scaled(jobs, share, r.problem.Seed.Child(run)), nil
		}
		if err := r.swing(ctx, &p, fmt.Sprintf("demand %+.0f%%", 100*(share-1)), r.best.Candidate); err != nil {
			return err
		}
	}
	r.priceSwings()
	s, err := r.scenarioOf()
	if err != nil {
		return err
	}
	for _, change := range supplySwings(s) {
		candidate, err := r.changed(change.sets...)
		if err != nil {
			return err
		}
		if candidate == nil {
			continue
		}
		if err := r.swing(ctx, r.problem, change.what, candidate); err != nil {
			return err
		}
	}
	return nil
}

func (r *mixResult) swing(ctx context.Context, p *mix.Problem, what string, c *mix.Candidate) error {
	entries, err := r.search.Try(ctx, p, []*mix.Candidate{c})
	if err != nil {
		return err
	}
	e := entries[0]
	if e.Fault() != "" {
		r.notes = append(r.notes, fmt.Sprintf("%s: the mix cannot be priced then: %s", what, e.Fault()))
		return nil
	}
	r.tornado = append(r.tornado, swing{what: what, cost: e.Cost(), wait: e.Wait(), held: e.Held(), undone: shareUndone(e)})
	return nil
}

// shareUndone is the mean share of the work that a mix leaves undone.
func shareUndone(e *mix.Entry) float64 {
	v, _ := e.Mean("unserved_share")
	return v
}

// priceSwings needs no run: with the schedule fixed the cost is linear in a price.
func (r *mixResult) priceSwings() {
	if r.best.Discounted {
		return // which use is covered would change too
	}
	for i, pool := range r.best.Outcomes[0].Pools {
		var part capcli.USD
		for k := range r.best.Outcomes {
			part += r.best.Outcomes[k].Pools[i].Cost
		}
		part /= capcli.USD(len(r.best.Outcomes))
		if part == 0 {
			continue
		}
		for _, sign := range []capcli.USD{-1, 1} {
			r.tornado = append(r.tornado, swing{
				what: fmt.Sprintf("price of %s %+d%%", pool.Name, 10*sign), cost: r.best.Cost() + sign*part/10,
				wait: r.best.Wait(), held: math.NaN(), undone: shareUndone(r.best), exact: true,
			})
		}
	}
}

// supplySwing is a change of what capacity does.
type supplySwing struct {
	what string
	sets []string
}

// supplySwings are half and twice as many losses of spot nodes, and half and
// twice the lead times.
func supplySwings(s *scenarios.Scenario) []supplySwing {
	var out []supplySwing
	for _, x := range []struct {
		times float64
		word  string
	}{{0.5, "half"}, {2, "twice"}} {
		var kills, delays []string
		for i := range s.Capacity {
			c := &s.Capacity[i]
			if c.Hazard != nil {
				up := capcli.Seconds(float64(c.Hazard.MeanUp) / x.times)
				kills = append(kills, fmt.Sprintf("capacity[%d].hazard.mean_up=%s", i, durationText(max(60, up))))
			}
			if c.Lead > 0 {
				delays = append(delays, fmt.Sprintf("capacity[%d].lead_time=%s", i, durationText(capcli.Seconds(float64(c.Lead)*x.times))))
			}
		}
		if len(kills) > 0 {
			out = append(out, supplySwing{x.word + " the spot losses", kills})
		}
		if len(delays) > 0 {
			out = append(out, supplySwing{x.word + " the lead times", delays})
		}
	}
	return out
}
