package mix

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/money/billing"
)

// makeSpace makes the axes of a plan: those of the request or, where it names none, the sizes of
// committed pools and the patience. Policies and placements of the request are further axes. It
// fails with *capcli.RequestError where an axis is wrong or the mixes are too many.
func (p *Planner) makeSpace() error {
	space := &p.problem.Space
	for _, text := range p.req.Vary {
		a, err := ParseAxis(text)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(space.Axes, func(b Axis) bool { return b.Path == a.Path }) {
			return axisError(text, "this path is varied twice")
		}
		space.Axes = append(space.Axes, a)
	}
	if len(p.req.Vary) == 0 {
		if err := p.usualAxes(); err != nil {
			return err
		}
	}
	for _, a := range []Axis{{Path: "policy.name", Values: p.req.Policies}, {Path: "placement", Values: p.req.Placements}} {
		if len(a.Values) > 0 {
			space.Axes = append(space.Axes, a)
		}
	}
	if n, err := space.size(); err != nil || n > mixesMost {
		return &capcli.RequestError{Text: fmt.Sprintf("over %s mixes", capcli.Grouped(mixesMost)), Hint: "give fewer values, or wider steps"}
	}
	return nil
}

// poolSteps holds the most sizes tried per pool: entry n-1 applies where n pools vary.
var poolSteps = []int{512, 64, 8}

// usualAxes adds the axes of a request that names none: the size of each committed pool, and the
// patience. Both include the scenario's own values, so that its own mix is tried.
func (p *Planner) usualAxes() error {
	s := p.req.Case.Scenario
	jobs, err := p.problem.Jobs(0)
	if err != nil {
		return err
	}
	replicas, err := p.servicePeak()
	if err != nil {
		return err
	}
	peak := int(min(hourlyPeak(jobs, s.Jobs.KillAtLimit)+replicas, 1_000_000))
	elastic := slices.ContainsFunc(s.Capacity, func(c scenarios.Capacity) bool { return !c.Kind.Committed() })
	var pools []int
	for i := range s.Capacity {
		if c := &s.Capacity[i]; c.Kind.Committed() && c.NodesFile == "" && poolSize(c) > 0 && !slices.Contains(p.offered, c.Name) {
			pools = append(pools, i)
		}
	}
	if len(pools) > len(poolSteps) {
		slices.SortStableFunc(pools, func(a, b int) int { return cmp.Compare(poolSize(&s.Capacity[b]), poolSize(&s.Capacity[a])) })
		pools = pools[:len(poolSteps)]
		slices.Sort(pools)
		p.notes = append(p.notes, fmt.Sprintf("the sizes of the %d largest committed pools were tried; --vary names others", len(poolSteps)))
	}
	for _, i := range pools {
		c, steps := &s.Capacity[i], poolSteps[len(pools)-1]
		path := s.SizePath(i)
		if c.Nodes > 0 {
			p.addSizes(path, c.Nodes, (peak+c.GPUsPerNode-1)/c.GPUsPerNode, c.GPUsPerNode, steps)
		} else {
			p.addSizes(path, c.GPUs, peak, 1, steps)
		}
	}
	if own := s.Overflow.Patience; elastic && len(own) < 2 && s.Overflow.PerGPUHour == 0 && (len(own) == 0 || own[0].MaxRun == 0 && own[0].Class == "") {
		p.addPatience(s)
	}
	return nil
}

func poolSize(c *scenarios.Capacity) int { return max(c.GPUs, c.Nodes*c.GPUsPerNode) }

// addSizes adds an axis of sizes from 0 to most, in units, and the pool's own size. The step is the
// smallest power of two that needs at most the given number of steps.
func (p *Planner) addSizes(path string, own, most, unit, steps int) {
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
	a := Axis{Path: path, Ordered: true}
	for _, k := range counts {
		if strings.HasSuffix(path, ".gpus") {
			k *= unit
		}
		a.Values = append(a.Values, strconv.Itoa(k))
	}
	p.problem.Space.Axes = append(p.problem.Space.Axes, a)
}

// addPatience adds an axis of common patience times, and the scenario's own.
func (p *Planner) addPatience(s *scenarios.Scenario) {
	waits := []capcli.Seconds{0, 15 * capcli.Minute, 30 * capcli.Minute, capcli.Hour, 2 * capcli.Hour, 4 * capcli.Hour}
	if own := s.Overflow.Patience; len(own) == 1 {
		if own[0].Wait < 0 {
			return
		}
		if !slices.Contains(waits, own[0].Wait) {
			waits = append(waits, own[0].Wait)
			slices.Sort(waits)
		}
	}
	a := Axis{Path: "overflow.patience", Ordered: true}
	for _, w := range waits {
		a.Values = append(a.Values, timeText(w))
	}
	p.problem.Space.Axes = append(p.problem.Space.Axes, a)
}

// ownMix returns the number of the scenario's own mix; -1 where no mix of the space equals it.
func (p *Planner) ownMix() int {
	c := p.req.Case
	same, err := mixKey(c.Scenario, c.Rates)
	if err != nil {
		return -1
	}
	at := make([]int, len(p.problem.Space.Axes))
	for a := range at {
		axis := &p.problem.Space.Axes[a]
		at[a] = slices.IndexFunc(axis.Values, func(v string) bool {
			s, err := c.Scenario.With(axis.Path + "=" + v)
			if err != nil {
				return false
			}
			s.Policy.Perfect = s.Policy.Perfect || p.req.Perfect
			rates, err := s.Rates(p.options(0))
			if err != nil {
				return false
			}
			key, err := mixKey(s, rates)
			return err == nil && key == same
		})
		if at[a] < 0 {
			return -1
		}
	}
	return p.problem.Space.index(at)
}

// mixKey identifies a mix by its schedule, its prices and its pools that float: mixes with equal keys are the same.
func mixKey(s *scenarios.Scenario, rates []billing.Rate) (string, error) {
	key, err := s.ScheduleKey()
	if err != nil {
		return "", err
	}
	floats, err := s.FloatingPools(s.Period.Start, s.Period.End)
	return fmt.Sprint(key, rates, floats), err
}

// overrides returns the changes to the scenario that set one value on each axis.
func (s *Space) overrides(values []string) []string {
	var out []string
	for a, v := range values {
		out = append(out, s.Axes[a].Path+"="+v)
	}
	return out
}

// triesOfValue is the most mixes with a value that are tried before the value is accepted untested.
const triesOfValue = 200

// checkValues refuses a value with which no mix is valid, such as a misspelt name: left out
// silently, nobody would notice. Numbers are not checked, for a number may well make no valid mix,
// such as 0 GPUs in the only pool: such mixes are left out and counted.
func (p *Planner) checkValues() error {
	space := &p.problem.Space
	for a := range space.Axes {
		if space.Axes[a].Ordered {
			continue
		}
		for v, text := range space.Axes[a].Values {
			if _, err := strconv.ParseFloat(text, 64); err == nil {
				continue
			}
			if err := p.checkValue(a, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkValue returns the reason why no mix with value v on axis a is valid. It returns nil where a
// mix is valid, and where the mixes are too many to try.
func (p *Planner) checkValue(a, v int) error {
	space := &p.problem.Space
	at := make([]int, len(space.Axes))
	at[a] = v
	var first error
	for range triesOfValue {
		_, err := p.candidate(space.index(at))
		if !isInvalid(err) {
			return nil // valid, or an error that its run reports
		}
		if first == nil {
			first = err
		}
		if !space.nextBeside(at, a) {
			return first
		}
	}
	return nil
}

// nextBeside moves at to the next combination of all axes but the fixed one; false after the last.
func (s *Space) nextBeside(at []int, fixed int) bool {
	for i := range at {
		if i == fixed {
			continue
		}
		if at[i]++; at[i] < len(s.Axes[i].Values) {
			return true
		}
		at[i] = 0
	}
	return false
}

// hoursMost is the most hours that hourlyPeak looks at: fifty years.
const hoursMost = 50 * 366 * 24

// hourlyPeak returns the highest hourly mean of GPU demand, rounded up to whole GPUs: the GPUs that
// the jobs would hold if none ever waited. It looks at the hours from the first submission to the
// last.
func hourlyPeak(jobs []capcli.Job, killAtLimit bool) int64 {
	if len(jobs) == 0 {
		return 0
	}
	first := jobs[0].Submit
	n := int64(jobs[len(jobs)-1].Submit-first)/3600 + 1
	n = min(n, hoursMost)
	part := make([]int64, n)    // thousandths of GPU-seconds in hours that a job holds only in part
	whole := make([]int64, n+1) // change of the rate from this hour on, in thousandths of GPUs, by jobs that hold the whole hour
	for i := range jobs {
		j := &jobs[i]
		from := int64(j.Submit - first)
		to := min(from+int64(runTime(j, killAtLimit)), n*3600)
		if from < 0 || from >= to {
			continue
		}
		a, b := from/3600, to/3600
		if a == b {
			part[a] += j.Milli() * (to - from)
			continue
		}
		part[a] += j.Milli() * ((a+1)*3600 - from)
		if b < n {
			part[b] += j.Milli() * (to - b*3600)
		}
		whole[a+1] += j.Milli()
		whole[b] -= j.Milli()
	}
	var rate, most int64
	for h := range part {
		rate += whole[h]
		most = max(most, rate*3600+part[h])
	}
	return (most + 3_599_999) / 3_600_000
}
