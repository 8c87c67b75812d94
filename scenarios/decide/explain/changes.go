package explain

import (
	"cmp"
	"fmt"
	"slices"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
	"capcli/simulate/cause"
	"capcli/simulate/policy"
)

// Variation is a single change of the case. The zero value changes nothing.
type Variation struct {
	Text      string   `json:"change"`
	Sets      []string `json:"set,omitempty"` // overrides of the scenario, path=value
	Policy    string   `json:"policy,omitempty"`
	Placement string   `json:"placement,omitempty"`
}

// Change is a variation and its effect on the figure.
type Change struct {
	Variation
	Before     *float64    `json:"before"`
	After      *float64    `json:"after"`
	Difference *float64    `json:"difference"`
	Cost       *capcli.USD `json:"cost_difference_usd"`
	Better     *bool       `json:"better"` // the figure improves and no less work is done

	BeforeOver bool    `json:"before_is_at_least,omitempty"` // before is a lower bound: the figure falls among jobs that never started
	AfterOver  bool    `json:"after_is_at_least,omitempty"`
	Undone     float64 `json:"unserved_share"`
	UndoneWas  float64 `json:"unserved_share_before"`
	Unplaced   float64 `json:"unplaceable_jobs"`
	ServesLess bool    `json:"serves_less"` // less work is done, so a lower cost is no saving
}

// trial is a variation that was played.
type trial struct {
	Variation
	after []*play.Run
}

// tryChanges plays each applicable change under the seeds of the case. Changes that improve the
// figure come first; changes that serve less work come last.
func (x *explanation) tryChanges() error {
	variations := x.variations()
	if len(variations) == 0 {
		return nil
	}
	var cases []*play.Case
	for _, v := range variations {
		c, err := x.Make(v)
		if err != nil {
			return fmt.Errorf("cannot try %q: %w", v.Text, err)
		}
		cases = append(cases, c)
	}
	results, err := x.Play(cases)
	if err != nil {
		return err
	}
	for i, v := range variations {
		x.trials = append(x.trials, &trial{v, results[i]})
	}
	was := outcome.MeanUnserved(x.Runs)
	slices.SortStableFunc(x.trials, func(a, b *trial) int {
		lessA, lessB := a.servesLess(&was), b.servesLess(&was)
		if lessA != lessB {
			return map[bool]int{true: 1, false: -1}[lessA]
		}
		return cmp.Or(cmp.Compare(x.gain(b), x.gain(a)), cmp.Compare(x.costChange(a), x.costChange(b)))
	})
	return nil
}

// servesLess reports whether markedly less work is done after the change.
func (t *trial) servesLess(was *outcome.Unserved) bool {
	is := outcome.MeanUnserved(t.after)
	return is.ServesLess(was)
}

// compare returns the figure before and after a change.
func (x *explanation) compare(t *trial) Change {
	out := Change{Variation: t.Variation, Before: x.mean(x.Runs), After: x.mean(t.after)}
	out.BeforeOver, out.AfterOver = x.isOver(x.Runs), x.isOver(t.after)
	was, is := outcome.MeanUnserved(x.Runs), outcome.MeanUnserved(t.after)
	out.Undone, out.UndoneWas, out.Unplaced, out.ServesLess = is.Share, was.Share, is.Unplaceable, is.ServesLess(&was)
	if out.Before != nil && out.After != nil {
		d, better := *out.After-*out.Before, x.gain(t) > 0 && !out.ServesLess
		out.Difference, out.Better = &d, &better
	}
	if x.Runs[0].Priced() {
		var cost capcli.USD
		for i, r := range t.after {
			cost += r.Invoice.Total.Cost - x.Runs[i].Invoice.Total.Cost
		}
		cost /= capcli.USD(len(t.after))
		out.Cost = &cost
	}
	return out
}

// gain returns by how much a change improves the figure.
func (x *explanation) gain(t *trial) float64 {
	d := outcome.Mean(x.Runs, x.Metric.Name) - outcome.Mean(t.after, x.Metric.Name)
	if x.Metric.AtMin {
		return -d
	}
	return d
}

// costChange returns the extra cost of a change, in dollars.
func (x *explanation) costChange(t *trial) float64 {
	return outcome.Mean(t.after, "cost") - outcome.Mean(x.Runs, "cost")
}

// variations returns the changes that apply to the case.
func (x *explanation) variations() []Variation {
	var out []Variation
	s := x.base.Scenario
	for i := range s.Capacity {
		out = append(out, x.poolChanges(i, &s.Capacity[i])...)
	}
	out = append(out, x.overflowChanges(s)...)
	out = append(out, x.ruleChanges(s)...)
	out = append(out, x.restartChanges(s)...)
	for i := range s.Speed {
		if v := &s.Speed[i]; !v.Off {
			out = append(out, Variation{Text: "without " + v.Title(), Sets: []string{fmt.Sprintf("speed[%d].off=true", i)}})
		}
	}
	for i, t := range s.Tenants {
		if t.Quota > 0 && x.waitedFor(cause.Quota) {
			more := t.Quota + step(t.Quota)
			out = append(out, Variation{
				Text: fmt.Sprintf("quota of %s %d -> %d", t.Name, t.Quota, more),
				Sets: []string{fmt.Sprintf("tenants[%d].quota=%d", i, more)},
			})
		}
	}
	return out
}

// step returns how many GPUs or nodes a change adds to n: an eighth of it, rounded up; above four,
// a multiple of eight.
func step(n int) int {
	more := max(1, (n+7)/8)
	if more > 4 {
		more = (more + 7) / 8 * 8
	}
	return more
}

// poolChanges returns the changes of one pool: more or less of it, no failures, and no
// lead time.
func (x *explanation) poolChanges(i int, c *scenarios.Capacity) []Variation {
	var out []Variation
	field, n, size, unit := "gpus", c.GPUs, 1, "GPU"
	switch {
	case c.Nodes > 0:
		field, n, size, unit = "nodes", c.Nodes, c.GPUsPerNode, "node"
	case !c.Kind.Committed():
		field = "max_gpus"
	}
	try := func(text, field, value string) {
		out = append(out, Variation{Text: text, Sets: []string{fmt.Sprintf("%s.%s=%s", x.base.Scenario.PoolPath(i), field, value)}})
	}
	if n > 0 && c.NodesFile == "" && size > 0 {
		d := step(n)
		try(fmt.Sprintf("%d more %s in %s (%d -> %d)", d, capcli.Plural(int64(d), unit), c.Name, n, n+d), field, fmt.Sprint(n+d))
		if n > d && c.Kind.Committed() {
			try(fmt.Sprintf("%d fewer %s in %s (%d -> %d)", d, capcli.Plural(int64(d), unit), c.Name, n, n-d), field, fmt.Sprint(n-d))
		}
	}
	if c.Failures != nil {
		try(fmt.Sprintf("no failures in %s (hypothetical, shows their cost)", c.Name), "failures", "null")
	}
	if c.Hazard != nil {
		try(fmt.Sprintf("%s never reclaimed (hypothetical, shows the cost)", c.Name), "hazard", "null")
	}
	if b := c.Buy; b != nil {
		if l := &b.Lead; l.Fixed > 0 || l.Median > 0 || len(l.List) > 0 {
			try(fmt.Sprintf("nodes of %s come at once (hypothetical, shows what lead times cost)", c.Name), "buy.lead_time", "0s")
		}
		if b.Shortage != nil {
			try(fmt.Sprintf("no shortage in %s (hypothetical, shows its cost)", c.Name), "buy.shortage", "null")
		}
		if b.Scaler == nil && b.Warm < c.Nodes {
			try(fmt.Sprintf("a node more of %s kept warm (%d -> %d)", c.Name, b.Warm, b.Warm+1), "buy.warm", fmt.Sprint(b.Warm+1))
		}
	}
	if c.Lead > 0 {
		try(fmt.Sprintf("%s delivered at once (lead time %s -> 0)", c.Name, c.Lead), "lead_time", "0s")
	}
	return out
}

// overflowChanges returns other patience times, if jobs can overflow to another pool.
func (x *explanation) overflowChanges(s *scenarios.Scenario) []Variation {
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
	set := func(text, value string) Variation {
		return Variation{Text: text, Sets: []string{"overflow.patience=" + value}}
	}
	switch {
	case most == 0:
		return []Variation{set("jobs wait up to 30 min for committed GPUs before they overflow (now 0)", "30m")}
	case most < 0:
		return []Variation{set("jobs wait at most 1h for committed GPUs before they overflow (now some for ever)", "1h")}
	case len(s.Overflow.Patience) > 1:
		return []Variation{set(fmt.Sprintf("all jobs wait at most %s before they overflow", most/2), seconds(most/2)), set("jobs overflow at once", "0s")}
	}
	return []Variation{
		set(fmt.Sprintf("jobs wait at most %s before they overflow (now %s)", most/2, most), seconds(most/2)),
		set(fmt.Sprintf("jobs wait at most %s before they overflow (now %s)", 2*most, most), seconds(2*most)),
		set(fmt.Sprintf("jobs overflow at once (now after %s)", most), "0s"),
	}
}

// overflows reports whether some job may use both a committed pool and one that is paid while held.
func overflows(s *scenarios.Scenario) bool {
	for i := range s.Capacity {
		for j := range s.Capacity {
			a, b := &s.Capacity[i], &s.Capacity[j]
			if a.Kind.Committed() && !a.Floats && !b.Kind.Committed() && (a.Partition == "" || b.Partition == "" || a.Partition == b.Partition) {
				return true
			}
		}
	}
	return false
}

func seconds(s capcli.Seconds) string { return fmt.Sprintf("%ds", int64(s)) }

// ruleChanges returns other policies, and other placements if jobs waited while free GPUs were
// scattered.
func (x *explanation) ruleChanges(s *scenarios.Scenario) []Variation {
	var out []Variation
	for _, p := range policy.Common() {
		if now := s.PolicyName(); p != now {
			out = append(out, Variation{Text: fmt.Sprintf("policy %s instead of %s", p, now), Policy: p})
		}
	}
	if x.waitedFor(cause.Together) {
		for _, p := range []string{"consolidate", "pack"} {
			if now := s.PlacementName(); p != now && now != "count" {
				out = append(out, Variation{Text: fmt.Sprintf("placement %s instead of %s", p, now), Placement: p})
			}
		}
	}
	return out
}

// restartChanges returns more frequent checkpoints, if jobs were preempted.
func (x *explanation) restartChanges(s *scenarios.Scenario) []Variation {
	if outcome.Mean(x.Runs, "preemptions") == 0 {
		return nil
	}
	var out []Variation
	for i, c := range s.Preemption.Classes {
		if c.Interval < 4*capcli.Minute {
			continue
		}
		who := cmp.Or(c.Class, "any class")
		out = append(out, Variation{
			Text: fmt.Sprintf("checkpoint every %s instead of %s (%s)", c.Interval/4, c.Interval, who),
			Sets: []string{fmt.Sprintf("preemption.classes[%d].checkpoint_every=%s", i, seconds(c.Interval/4))},
		})
	}
	if len(s.Preemption.Classes) == 0 {
		out = append(out, Variation{Text: "checkpoint every 30 min (now never)", Sets: []string{"preemption.classes=[{checkpoint_every: 30m}]"}})
	}
	return out
}

// waitedFor reports whether any job waited for a cause; false if no waits were recorded.
func (x *explanation) waitedFor(c cause.Cause) bool {
	for _, w := range x.waits {
		for _, r := range w.Rows() {
			if r.Cause&c != 0 {
				return true
			}
		}
		_, still := w.Unfinished()
		for _, r := range still {
			if r.Cause&c != 0 {
				return true
			}
		}
	}
	return false
}
