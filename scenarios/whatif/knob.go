// Package whatif answers what-if questions about a scenario: which of its numbers can be changed, and
// what becomes of the run with other values. Its answers are those of capcli simulate with --set.
//
//	knobs := whatif.Knobs(scenario)
//	request := whatif.Request{Changes: []whatif.Change{{"capacity.base.gpus", "48"}}}
//	request.Apply(&question)
//	c, err := maker.Case(ctx, &question)
//	answer, err := request.Answer(ctx, c)
package whatif

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/scenarios"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

// Knob is a number or a choice of a scenario that a question may change.
type Knob struct {
	Path    string   `json:"path"`  // of the field, as --set takes it; policy and placement have flags of their own
	Label   string   `json:"label"` // for people: "base: reserved GPUs"
	Kind    Kind     `json:"kind"`
	Tier    string   `json:"tier,omitempty"` // of a pool: owned, reserved, on_demand or spot
	Unit    string   `json:"unit,omitempty"` // gpus, nodes or usd_per_gpu_hour
	Value   string   `json:"value"`          // of the scenario; "" is without limit
	Min     float64  `json:"min"`            // of a number; further values are allowed if the scenario takes them
	Max     float64  `json:"max"`
	Step    float64  `json:"step"`
	Choices []string `json:"choices,omitempty"`
}

// Kind says what the values of a Knob are.
type Kind string

// The kinds of knobs.
const (
	Number Kind = "number"
	Choice Kind = "choice"
)

// Paths of knobs. The first three have flags of their own.
const (
	PolicyPath    = "policy"
	PlacementPath = "placement"
	SeedPath      = "seed"
	patiencePath  = "overflow.patience"
	ScalePath     = "jobs.generate.scale"
)

// Knobs returns what can be changed in s, in the order of its pools: their sizes, then the patience,
// the policy, the placement and the prices.
func Knobs(s *scenarios.Scenario) []Knob {
	var out, prices []Knob
	elastic := false
	for i := range s.Capacity {
		c := &s.Capacity[i]
		elastic = elastic || !c.Kind.Committed()
		base := poolPath(s, i)
		if k, ok := sizeKnob(s, c, base); ok {
			out = append(out, k)
		}
		if k, ok := priceKnob(s, c, base); ok {
			prices = append(prices, k)
		}
	}
	if elastic {
		out = append(out, patienceKnob(s))
	}
	out = append(out, speedKnobs(s)...)
	out = append(out, Knob{Path: PolicyPath, Label: "policy", Kind: Choice, Value: s.PolicyName(), Choices: policy.Catalog.Names()},
		Knob{Path: PlacementPath, Label: "placement", Kind: Choice, Value: s.PlacementName(), Choices: placement.Catalog.Names()})
	return append(out, prices...)
}

// poolPath returns the path of pool i: by its name, or by its place if the name is no step of a path.
func poolPath(s *scenarios.Scenario, i int) string {
	name := s.Capacity[i].Name
	if !strings.ContainsAny(name, ".[]= \"'") {
		if _, err := s.With("capacity." + name + ".kind=" + s.Capacity[i].KindName()); err == nil {
			return "capacity." + name
		}
	}
	return s.PoolPath(i)
}

var tierWords = map[simulate.Terms]string{simulate.Owned: "owned", simulate.Reserved: "reserved", simulate.OnDemand: "on-demand", simulate.Spot: "spot"}

// sizeKnob returns the knob of a pool's size: of the field among gpus, max_gpus and nodes that the
// pool takes. It reports false for a pool whose nodes are in a file.
func sizeKnob(s *scenarios.Scenario, c *scenarios.Capacity, base string) (Knob, bool) {
	if c.NodesFile != "" {
		return Knob{}, false
	}
	k := Knob{Label: fmt.Sprintf("%s: %s GPUs", c.Name, tierWords[c.Kind]), Kind: Number, Tier: c.Kind.String(), Unit: "gpus", Step: 1}
	size := c.GPUs
	if c.Nodes > 0 {
		size = c.Nodes * max(1, c.GPUsPerNode)
	}
	fields := []string{"gpus", "max_gpus"}
	if c.Nodes > 0 {
		fields = []string{"nodes", "gpus", "max_gpus"}
	}
	for _, field := range fields {
		now := size
		if field == "nodes" {
			now = c.Nodes
		}
		k.Path = base + "." + field
		if _, err := s.With(fmt.Sprintf("%s=%d", k.Path, max(1, now))); err != nil {
			continue
		}
		switch {
		case field == "nodes":
			k.Unit, k.Label = "nodes", fmt.Sprintf("%s: %s nodes of %d GPUs", c.Name, tierWords[c.Kind], c.GPUsPerNode)
		case c.Nodes > 0:
			k.Step = float64(c.GPUsPerNode)
		}
		if k.Max = roomy(now, k.Step); now > 0 {
			k.Value = strconv.Itoa(now)
		}
		return k, true
	}
	return Knob{}, false
}

// roomy returns the largest value of a slider for a size: the next of 1, 2, 5 times a power of ten
// above twice the size, and a multiple of step. An unlimited pool has as much as 1000 GPUs.
func roomy(size int, step float64) float64 {
	if size == 0 {
		return 1000
	}
	top := 10.0
	for i := 0; top < 2*float64(size); i++ {
		top *= []float64{2, 2.5, 2}[i%3]
	}
	return float64(int(top/step)) * step
}

// priceKnob returns the knob of a pool's price. It reports false if the price is unknown, changes over
// time, or comes from what the machines cost.
func priceKnob(s *scenarios.Scenario, c *scenarios.Capacity, base string) (Knob, bool) {
	p := &c.Price
	if !p.Known || p.Rate <= 0 || len(p.History) > 0 || len(c.PricePath) > 0 || c.Machine != nil {
		return Knob{}, false
	}
	k := Knob{
		Path: base + ".price", Label: c.Name + ": price of a GPU-hour", Kind: Number, Tier: c.Kind.String(), Unit: "usd_per_gpu_hour",
		Value: strings.TrimPrefix(p.Rate.Decimal(), "$"), Step: 0.01,
	}
	if _, err := s.With(k.Path + "=" + k.Value); err != nil {
		return Knob{}, false
	}
	top := 1.0
	for i := 0; top < 2*p.Rate.Float(); i++ {
		top *= []float64{2, 2.5, 2}[i%3]
	}
	k.Min, k.Max = 0.01, top
	return k, true
}

// waits are the choices of the patience.
var waits = []string{"0s", "5m", "15m", "30m", "1h", "2h", "4h", "8h", "1d", "2d", "7d", "never"}

// patienceKnob returns the knob of the patience. Its value is "by job" if it depends on the job.
func patienceKnob(s *scenarios.Scenario) Knob {
	k := Knob{Path: patiencePath, Label: "patience: wait for committed GPUs", Kind: Choice, Choices: waits}
	p := s.Overflow.Patience
	switch {
	case len(p) == 0:
		k.Value = waits[0]
	case len(p) > 1 || p[0].MaxRun > 0 || p[0].Class != "" || s.Overflow.PerGPUHour > 0:
		k.Value = byJob
	case p[0].Wait == scenarios.Never:
		k.Value = "never"
	default:
		k.Value = waitText(p[0].Wait)
	}
	if !slices.Contains(waits, k.Value) {
		k.Choices = append([]string{k.Value}, waits...)
	}
	return k
}

// byJob is the value of a patience that depends on the job.
const byJob = "by job"

// waitText returns the choice with the length s, or s in seconds.
func waitText(s capcli.Seconds) string {
	for _, w := range waits {
		if v, err := capcli.ParseSeconds(w); err == nil && v == s {
			return w
		}
	}
	return fmt.Sprintf("%ds", s)
}
