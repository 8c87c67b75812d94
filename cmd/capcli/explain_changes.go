package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/play"
	"capcli/simulate/cause"
	"capcli/simulate/outcome"
)

// change is one thing done otherwise, with all else as it is.
type change struct {
	text   string
	sets   []string
	policy string
	place  string

	after []*play.Run
}

// tryChanges plays each change that applies under the seeds of the plan.
func (x *explanation) tryChanges(ctx context.Context, e *env) error {
	quiet := e.quiet
	e.quiet = true // what there is to say of the jobs is said
	defer func() { e.quiet = quiet }()
	var plans []*play.Case
	var whose []*change
	for _, c := range x.list() {
		p, err := x.make(ctx, e, c)
		if err != nil {
			return fmt.Errorf("cannot try %q: %w", c.text, err)
		}
		plans, whose = append(plans, p), append(whose, c)
	}
	if len(plans) == 0 {
		return nil
	}
	e.quiet = quiet
	results, err := x.o.sim.play(ctx, e, plans)
	if err != nil {
		return err
	}
	for i, c := range whose {
		c.after = results[i]
	}
	x.changes = whose
	was := outcome.MeanUnserved(x.results)
	slices.SortStableFunc(x.changes, func(a, b *change) int {
		lessA, lessB := a.servesLess(&was), b.servesLess(&was)
		if lessA != lessB {
			return map[bool]int{true: 1, false: -1}[lessA]
		}
		return cmp.Or(cmp.Compare(x.gain(b), x.gain(a)), cmp.Compare(x.costChange(a), x.costChange(b)))
	})
	return nil
}

// servesLess tells whether markedly less of the work is done after the change.
func (c *change) servesLess(was *outcome.Unserved) bool {
	is := outcome.MeanUnserved(c.after)
	return is.ServesLess(was)
}

// gain is by how much a change betters the figure.
func (x *explanation) gain(c *change) float64 {
	d := outcome.Mean(x.results, x.metric.Name) - outcome.Mean(c.after, x.metric.Name)
	if x.metric.AtMin {
		return -d
	}
	return d
}

// costChange is what a change costs more.
func (x *explanation) costChange(c *change) float64 {
	return outcome.Mean(c.after, "cost") - outcome.Mean(x.results, "cost")
}

// list are the changes that apply to the plan.
func (x *explanation) list() []*change {
	var out []*change
	s := x.plan.Scenario
	for i := range s.Capacity {
		out = append(out, x.poolChanges(i, &s.Capacity[i])...)
	}
	out = append(out, x.overflowChanges(s)...)
	out = append(out, x.ruleChanges(s)...)
	out = append(out, x.restartChanges(s)...)
	for i, t := range s.Tenants {
		if t.Quota > 0 && x.waitedFor(cause.Quota) {
			more := t.Quota + step(t.Quota)
			out = append(out, &change{
				text: fmt.Sprintf("quota of %s %d -> %d", t.Name, t.Quota, more),
				sets: []string{fmt.Sprintf("tenants[%d].quota=%d", i, more)},
			})
		}
	}
	return out
}

// step is how many more are tried: an eighth, in whole eights where there are
// as many.
func step(n int) int {
	more := max(1, (n+7)/8)
	if more > 4 {
		more = (more + 7) / 8 * 8
	}
	return more
}

// poolChanges are more of a pool, or less, and a pool that never fails.
func (x *explanation) poolChanges(i int, c *scenarios.Capacity) []*change {
	var out []*change
	field, n, size, unit := "gpus", c.GPUs, 1, "GPU"
	switch {
	case c.Nodes > 0:
		field, n, size, unit = "nodes", c.Nodes, c.GPUsPerNode, "node"
	case !c.Kind.Committed():
		field = "max_gpus"
	}
	try := func(text, field, value string) {
		out = append(out, &change{text: text, sets: []string{fmt.Sprintf("capacity[%d].%s=%s", i, field, value)}})
	}
	if n > 0 && c.NodesFile == "" && size > 0 {
		d := step(n)
		try(fmt.Sprintf("%d more %s in %s (%d -> %d)", d, plural(int64(d), unit), c.Name, n, n+d), field, fmt.Sprint(n+d))
		if n > d && c.Kind.Committed() {
			try(fmt.Sprintf("%d fewer %s in %s (%d -> %d)", d, plural(int64(d), unit), c.Name, n, n-d), field, fmt.Sprint(n-d))
		}
	}
	if c.Failures != nil {
		try(fmt.Sprintf("no failures in %s (not to be had: what they cost)", c.Name), "failures", "null")
	}
	if c.Hazard != nil {
		try(fmt.Sprintf("%s never taken away (not to be had: what it costs)", c.Name), "hazard", "null")
	}
	if c.Lead > 0 {
		try(fmt.Sprintf("%s there at once (lead time %s -> 0)", c.Name, c.Lead), "lead_time", "0s")
	}
	return out
}

// overflowChanges are other patience, where there is something to go on to.
func (x *explanation) overflowChanges(s *scenarios.Scenario) []*change {
	if !overflows(s) {
		return nil
	}
	most := capcli.Seconds(0)
	for _, p := range s.Overflow.Patience {
		if p.Wait < 0 {
			most = -1
			break
		}
		most = max(most, p.Wait)
	}
	set := func(text, value string) *change {
		return &change{text: text, sets: []string{"overflow.patience=" + value}}
	}
	switch {
	case most == 0:
		return []*change{set("jobs wait up to 30 min for committed GPUs before they go on (now 0)", "30m")}
	case most < 0:
		return []*change{set("jobs wait at most 1h for committed GPUs before they go on (now some for ever)", "1h")}
	case len(s.Overflow.Patience) > 1:
		return []*change{set(fmt.Sprintf("all jobs wait at most %s before they go on", most/2), seconds(most/2)), set("jobs go on at once", "0s")}
	}
	return []*change{
		set(fmt.Sprintf("jobs wait at most %s before they go on (now %s)", most/2, most), seconds(most/2)),
		set(fmt.Sprintf("jobs wait at most %s before they go on (now %s)", 2*most, most), seconds(2*most)),
		set(fmt.Sprintf("jobs go on at once (now after %s)", most), "0s"),
	}
}

// overflows tells whether some job may use both a committed pool and one that
// is paid by use.
func overflows(s *scenarios.Scenario) bool {
	for i := range s.Capacity {
		for j := range s.Capacity {
			a, b := &s.Capacity[i], &s.Capacity[j]
			if a.Kind.Committed() && !b.Kind.Committed() && (a.Partition == "" || b.Partition == "" || a.Partition == b.Partition) {
				return true
			}
		}
	}
	return false
}

func seconds(s capcli.Seconds) string { return fmt.Sprintf("%ds", int64(s)) }

// ruleChanges are other policies, and another placement where GPUs were free
// but not together.
func (x *explanation) ruleChanges(s *scenarios.Scenario) []*change {
	var out []*change
	for _, p := range []string{"fifo", "easy", "sjf", "fair"} {
		if now := s.PolicyName(); p != now {
			out = append(out, &change{text: fmt.Sprintf("policy %s instead of %s", p, now), policy: p})
		}
	}
	if x.waitedFor(cause.Together) {
		for _, p := range []string{"consolidate", "pack"} {
			if now := s.PlacementName(); p != now && now != "count" {
				out = append(out, &change{text: fmt.Sprintf("placement %s instead of %s", p, now), place: p})
			}
		}
	}
	return out
}

// restartChanges are checkpoints more often, where jobs lost their GPUs.
func (x *explanation) restartChanges(s *scenarios.Scenario) []*change {
	if outcome.Mean(x.results, "preemptions") == 0 {
		return nil
	}
	var out []*change
	for i, c := range s.Preemption.Classes {
		if c.Interval < 4*capcli.Minute {
			continue
		}
		who := cmp.Or(c.Class, "any class")
		out = append(out, &change{
			text: fmt.Sprintf("checkpoint every %s instead of %s (%s)", c.Interval/4, c.Interval, who),
			sets: []string{fmt.Sprintf("preemption.classes[%d].checkpoint_every=%s", i, seconds(c.Interval/4))},
		})
	}
	if len(s.Preemption.Classes) == 0 {
		out = append(out, &change{text: "checkpoint every 30 min (now never)", sets: []string{"preemption.classes=[{checkpoint_every: 30m}]"}})
	}
	return out
}

// waitedFor tells whether jobs waited for a cause, as far as that was asked.
func (x *explanation) waitedFor(c cause.Cause) bool {
	for _, w := range x.waits {
		for _, r := range w.Rows() {
			if r.Cause&c != 0 {
				return true
			}
		}
		_, still := w.Still()
		for _, r := range still {
			if r.Cause&c != 0 {
				return true
			}
		}
	}
	return false
}
