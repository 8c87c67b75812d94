package play

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/validate"
)

// pastMost is the most jobs of a log that are held against its past beside another question: the
// first ones.
const pastMost = 300_000

// OwnPast says how far the policy of the case is from the recorded waits of its log. Where pools of
// the scenario belong to partitions or are of GPU models, the jobs of each partition and of each model
// are replayed by themselves, on their own highest use. It returns nil for
// generated jobs and for a log without starts.
func (c *Case) OwnPast(ctx context.Context) (*validate.OwnPast, error) {
	if !c.FromLog() {
		return nil, nil //nolint:nilnil // made-up jobs have no past
	}
	reading, err := c.Source.Read(0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = reading.Close() }()
	parts := map[pastPart]*validate.Collector{}
	pools := c.Scenario.Capacity
	byPartition := slices.ContainsFunc(pools, func(p scenarios.Capacity) bool { return p.Partition != "" })
	byModel := slices.ContainsFunc(pools, func(p scenarios.Capacity) bool { return p.GPUModel != "" })
	started, withGPUs := 0, false
	for j, err := range capcli.WatchJobs(ctx, reading.Jobs, func(int64) {}) {
		if err != nil {
			return nil, c.Fault(err)
		}
		if !j.Start.IsKnown() {
			continue
		}
		if started++; started > pastMost {
			break
		}
		of := pastPart{cpuOnly: j.GPUs == 0}
		if withGPUs = withGPUs || !of.cpuOnly; byPartition {
			of.partition = j.Partition
		}
		if byModel {
			of.model = j.GPUModel
		}
		if parts[of] == nil {
			parts[of] = &validate.Collector{}
		}
		parts[of].Add(&j)
	}
	if started == 0 {
		return nil, nil //nolint:nilnil // a log without starts says nothing of its waits
	}
	cfg, err := c.Scenario.Config(func(func(capcli.Job, error) bool) {}, scenarios.Options{Seed: c.Seed, Open: c.Open})
	if err != nil {
		return nil, err
	}
	past, err := validate.HoldAgainst(ctx, c.pastsOf(parts, withGPUs), validate.Rules{Policy: cfg.Policy, Settings: cfg.Settings})
	if _, drops := errors.AsType[*capcli.RequestError](err); drops { // a policy that does not start every job has no waits to compare
		return nil, nil //nolint:nilnil // as for a log without starts
	}
	if past != nil {
		past.Policy = c.Scenario.PolicyName()
	}
	return past, err
}

// pastPart is a part of a log that is replayed by itself.
type pastPart struct {
	partition, model string
	cpuOnly          bool // its jobs want no GPU
}

// pastsOf returns the pasts of the parts of a log, in order. Where jobs want GPUs, those that want none are
// left out: they wait for other things.
func (c *Case) pastsOf(parts map[pastPart]*validate.Collector, withGPUs bool) []*validate.Past {
	var pasts []*validate.Past
	if withGPUs {
		maps.DeleteFunc(parts, func(of pastPart, _ *validate.Collector) bool { return of.cpuOnly })
	}
	for _, of := range slices.SortedFunc(maps.Keys(parts), func(a, b pastPart) int {
		return cmp.Or(cmp.Compare(a.partition, b.partition), cmp.Compare(a.model, b.model))
	}) {
		past := parts[of].History()
		past.Fleet = c.fleet(of, len(parts) == 1)
		pasts = append(pasts, past)
	}
	return pasts
}

// fleet returns the GPUs of the scenario that jobs of a part of the log have today: of committed pools
// without dates, all of them where the log is one part, else those of its partition and model. It is 0
// where the jobs want none.
func (c *Case) fleet(of pastPart, only bool) int64 {
	if of.cpuOnly {
		return 0
	}
	var sum int64
	for i := range c.Scenario.Capacity {
		p := &c.Scenario.Capacity[i]
		own := only || p.Partition == of.partition && strings.EqualFold(p.GPUModel, of.model)
		if own && p.Kind.Committed() && !p.From.Given && !p.Until.Given && p.NodesFile == "" {
			sum += int64(p.GPUs + p.Nodes*p.GPUsPerNode)
		}
	}
	return sum
}

// PastHeadline says in one sentence how far simulated waits of the case are from those that its log
// records, where past is what OwnPast returned, or why that cannot be said.
func (c *Case) PastHeadline(past *validate.OwnPast) string {
	switch {
	case past != nil:
		return past.Headline()
	case !c.FromLog():
		return "How far simulated waits are from real ones is not known: the jobs are made up."
	}
	return "How far simulated waits are from those of the log is not known: it records no starts that the policy could be held against."
}

// HoldAgainstPast adds to the first run of each case how far its policy is from the recorded waits
// of its log.
func HoldAgainstPast(ctx context.Context, cases []*Case, results [][]*Run) error {
	for i, c := range cases {
		if results[i][0].Recorded.Jobs == 0 {
			continue
		}
		past, err := c.OwnPast(ctx)
		if err != nil {
			return err
		}
		results[i][0].OwnPast = past
	}
	return nil
}
