package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/play"
	"capcli/simulate"
	"capcli/simulate/billing"
	"capcli/simulate/plan/mix"
)

// space makes the axes of a plan: those that were asked for, or, where none was,
// the sizes of committed pools and the patience, and in any case the policies and
// placements.
func (m *mixPlan) space() error {
	o := &m.o.mix
	for _, text := range o.vary {
		a, err := parseVary(text)
		if err != nil {
			return err
		}
		a.Ordered = ordered(a.Values)
		if slices.ContainsFunc(m.problem.Space.Axes, func(b mix.Axis) bool { return b.Path == a.Path }) {
			return varyError(text, "this path is varied twice")
		}
		m.problem.Space.Axes = append(m.problem.Space.Axes, a)
	}
	if len(o.vary) == 0 {
		if err := m.usualAxes(); err != nil {
			return err
		}
	}
	for _, list := range []struct {
		path   string
		values []string
	}{{"policy.name", o.sim.policies}, {"placement", o.sim.placements}} {
		if len(list.values) > 0 {
			m.problem.Space.Axes = append(m.problem.Space.Axes, mix.Axis{Path: list.path, Values: list.values})
		}
	}
	n, err := m.problem.Space.Size()
	if err != nil || n > spaceMax {
		return &usageError{text: fmt.Sprintf("over %s mixes", grouped(spaceMax)), hint: "give fewer values, or wider steps"}
	}
	return nil
}

// usualAxes are the choices of a plan that names none: how much of each committed
// pool, and how long jobs wait before they go on. They hold the scenario's own
// values, so that its mix is one of those tried.
func (m *mixPlan) usualAxes() error {
	peak, err := m.peak()
	if err != nil {
		return err
	}
	s := m.base.Scenario
	elastic := slices.ContainsFunc(s.Capacity, func(c scenarios.Capacity) bool { return !c.Kind.Committed() })
	var pools []int
	for i := range s.Capacity {
		if c := &s.Capacity[i]; c.Kind.Committed() && c.NodesFile == "" && poolSize(c) > 0 {
			pools = append(pools, i)
		}
	}
	if len(pools) > len(poolSteps) {
		slices.SortStableFunc(pools, func(a, b int) int { return cmp.Compare(poolSize(&s.Capacity[b]), poolSize(&s.Capacity[a])) })
		pools = pools[:len(poolSteps)]
		slices.Sort(pools)
		m.notes = append(m.notes, fmt.Sprintf("the sizes of the %d largest committed pools were tried; --vary names others", len(poolSteps)))
	}
	for _, i := range pools {
		c, steps := &s.Capacity[i], poolSteps[len(pools)-1]
		if c.Nodes > 0 {
			m.addCounts(sizeField(m.base, i), c.Nodes, (peak+c.GPUsPerNode-1)/c.GPUsPerNode, c.GPUsPerNode, steps)
		} else {
			m.addCounts(sizeField(m.base, i), c.GPUs, peak, 1, steps)
		}
	}
	if own := s.Overflow.Patience; elastic && len(own) < 2 && s.Overflow.PerGPUHour == 0 && (len(own) == 0 || own[0].MaxRun == 0) {
		m.addPatience(own)
	}
	return nil
}

// poolSteps are how many sizes are told apart, by the number of pools whose size
// is varied.
var poolSteps = []int{512, 64, 8}

func poolSize(c *scenarios.Capacity) int { return max(c.GPUs, c.Nodes*c.GPUsPerNode) }

// addCounts adds an axis of sizes from none to the most that is wanted, in at
// most so many steps of a power of two.
func (m *mixPlan) addCounts(path string, own, most, unit, steps int) {
	most = max(most, own)
	step := 1
	for most > steps*step {
		step *= 2
	}
	var counts []int
	for k := 0; k < most+step; k += step {
		counts = append(counts, k)
	}
	if !slices.Contains(counts, own) {
		counts = append(counts, own)
		slices.Sort(counts)
	}
	a := mix.Axis{Path: path, Ordered: true}
	for _, k := range counts {
		if strings.HasSuffix(path, ".gpus") {
			k *= unit
		}
		a.Values = append(a.Values, strconv.Itoa(k))
	}
	m.problem.Space.Axes = append(m.problem.Space.Axes, a)
}

// sizeField is the path of the field that says how large pool i is.
func sizeField(p *play.Case, i int) string {
	c := &p.Scenario.Capacity[i]
	counted := c.Nodes == 0
	for _, pool := range []string{c.Name, fmt.Sprintf("[%d]", i)} {
		path := "capacity." + pool
		if pool[0] == '[' {
			path = "capacity" + pool
		}
		if !counted && changes(p, path+".nodes", strconv.Itoa(c.Nodes)) {
			return path + ".nodes"
		}
		if size := max(c.GPUs, c.Nodes*c.GPUsPerNode); changes(p, path+".gpus", strconv.Itoa(size)) {
			return path + ".gpus"
		}
	}
	return ""
}

// changes tells whether a field may be set so.
func changes(p *play.Case, path, value string) bool {
	s := *p.Scenario
	return s.Set(path, value) == nil
}

// addPatience adds the waits that people ask for.
func (m *mixPlan) addPatience(own []simulate.Patience) {
	waits := []capcli.Seconds{0, 15 * capcli.Minute, 30 * capcli.Minute, capcli.Hour, 2 * capcli.Hour, 4 * capcli.Hour}
	if len(own) == 1 {
		if own[0].Wait < 0 {
			return
		}
		if !slices.Contains(waits, own[0].Wait) {
			waits = append(waits, own[0].Wait)
			slices.Sort(waits)
		}
	}
	a := mix.Axis{Path: "overflow.patience", Ordered: true}
	for _, w := range waits {
		a.Values = append(a.Values, durationText(w))
	}
	m.problem.Space.Axes = append(m.problem.Space.Axes, a)
}

// peak is the most GPUs that jobs would hold on average over an hour if none
// ever waited, in the first run.
func (m *mixPlan) peak() (int, error) {
	jobs, err := m.problem.Jobs(0)
	if err != nil {
		return 0, err
	}
	most := mix.HourlyPeak(jobs, m.base.Scenario.Jobs.KillAtLimit)
	return int(min(most, 1_000_000)), nil
}

// own is the number of the scenario's own mix, -1 where it is none of them.
func (m *mixPlan) own() int {
	same, err := mixKey(m.base.Scenario, m.base.Rates)
	if err != nil {
		return -1
	}
	at := make([]int, len(m.problem.Space.Axes))
	for a := range at {
		axis := &m.problem.Space.Axes[a]
		at[a] = slices.IndexFunc(axis.Values, func(v string) bool {
			s := *m.base.Scenario
			if s.Set(axis.Path, v) != nil {
				return false
			}
			s.Policy.Perfect = s.Policy.Perfect || m.o.mix.sim.perfect
			rates, err := s.Rates(m.options(0))
			if err != nil {
				return false
			}
			key, err := mixKey(&s, rates)
			return err == nil && key == same
		})
		if at[a] < 0 {
			return -1
		}
	}
	return m.problem.Space.Index(at)
}

// mixKey is what makes two mixes the same: schedule and prices.
func mixKey(s *scenarios.Scenario, rates []billing.Rate) (string, error) {
	key, err := s.ScheduleKey()
	return fmt.Sprint(key, rates), err
}

// sets are the overrides that make a mix of the scenario.
func sets(axes []mix.Axis, values []string) []string {
	var out []string
	for a, v := range values {
		out = append(out, axes[a].Path+"="+v)
	}
	return out
}
