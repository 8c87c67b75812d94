package explain

import (
	"fmt"
	"strings"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/outcome"
	"capcli/simulate"
	"capcli/simulate/policy"
)

// assumed lists the assumptions behind the figures.
func (x *explanation) assumed() []string {
	s := x.base.Scenario
	out := x.assumedPrices(s)
	for i := range s.Capacity {
		out = append(out, assumedSupply(&s.Capacity[i])...)
	}
	if text := x.assumedRestarts(s); text != "" {
		out = append(out, text)
	}
	if x.base.Source.Name == "generated" {
		out = append(out, fmt.Sprintf("the jobs are made up by the scenario's generator, seed %d", uint64(x.base.Seed)))
	} else {
		name := x.base.Source.Name
		if name == "-" {
			name = "stdin"
		}
		out = append(out, fmt.Sprintf("the jobs are those of %s: they arrive at their recorded times, however long they wait here", name))
		if believes(s) {
			out = append(out, "where a job of the log has no limit, the policy believes its true run time")
		}
	}
	return out
}

// believes reports whether the policy plans with estimated run times.
func believes(s *scenarios.Scenario) bool {
	if s.Policy.Perfect {
		return false
	}
	newPolicy, err := policy.Catalog.Get(s.PolicyName())
	return err == nil && newPolicy.Believes(simulate.Settings{})
}

// assumedPrices returns the source of each price.
func (x *explanation) assumedPrices(s *scenarios.Scenario) []string {
	var out []string
	for i := range s.Capacity {
		c := &s.Capacity[i]
		switch {
		case !c.Price.Known || c.Free || c.Price.Quote != nil:
		case len(x.base.Made) > 0:
			out = append(out, fmt.Sprintf("price of %s, %s a GPU-hour: assumed, because there is no scenario", c.Name, c.Price.Rate))
		default:
			out = append(out, fmt.Sprintf("price of %s, %s a GPU-hour: as %s states it", c.Name, c.Price.Rate, s.Name))
		}
	}
	if n := len(s.Commitments); n > 0 {
		out = append(out, fmt.Sprintf("%d %s beside the pools' own terms: as %s states them", n, capcli.Plural(int64(n), "commitment"), s.Name))
	}
	for _, a := range s.Assumptions() { // prices by key, with date and source
		out = append(out, a.Text)
	}
	return out
}

func assumedSupply(c *scenarios.Capacity) []string {
	var out []string
	if h := c.Hazard; h != nil {
		out = append(out, fmt.Sprintf("nodes of %s are reclaimed after %s on average and return after %s: drawn at random, not recorded", c.Name, h.MeanUp, h.MeanDown))
	}
	if f := c.Failures; f != nil {
		out = append(out, fmt.Sprintf("nodes of %s fail after %s on average and are repaired in %s: drawn at random, not recorded", c.Name, f.MTBF, f.Repair))
	}
	if n := len(c.Maintenance) + len(c.Reservations); n > 0 {
		out = append(out, fmt.Sprintf("%d %s of %s for maintenance or reserved: as the scenario states them", n, capcli.Agree(n, "time", "times"), c.Name))
	}
	if t := c.Trace; t != nil {
		out = append(out, fmt.Sprintf("nodes of %s come and go as recorded in %s", c.Name, t.File))
	}
	if !c.Kind.Committed() && c.GPUs == 0 && c.Nodes == 0 {
		out = append(out, fmt.Sprintf("GPUs of %s are available without limit", c.Name))
	}
	return out
}

// assumedRestarts says how much work a preempted job is assumed to lose; "" if no job was
// preempted.
func (x *explanation) assumedRestarts(s *scenarios.Scenario) string {
	if outcome.Mean(x.Runs, "preemptions") == 0 {
		return ""
	}
	if len(s.Preemption.Classes) == 0 {
		return "no checkpoints are stated: a job that loses its node starts again from the beginning"
	}
	var texts []string
	for _, c := range s.Preemption.Classes {
		text := "no checkpoints"
		if c.Interval > 0 {
			text = fmt.Sprintf("a checkpoint each %s of work (%s)", c.Interval, c.Cost)
		}
		if c.Auto {
			text = fmt.Sprintf("checkpoints as often as is best for the losses (%s)", c.Cost)
		}
		if c.Class != "" {
			text = c.Class + ": " + text
		}
		texts = append(texts, fmt.Sprintf("%s, %s to start again", text, c.Restart))
	}
	mode := map[simulate.Mode]string{simulate.Suspend: "kept in memory", simulate.Checkpoint: "taken back to the last checkpoint", simulate.Scratch: "lost"}[s.Preemption.Mode]
	return fmt.Sprintf("work that a policy's preemption stops is %s; %s", mode, strings.Join(texts, "; "))
}
