package play

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"capcli"
	"capcli/scenarios"
	"capcli/simulate/validate"
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
	type part struct{ partition, model string }
	parts := map[part]*validate.Collector{}
	pools := c.Scenario.Capacity
	byPartition := slices.ContainsFunc(pools, func(p scenarios.Capacity) bool { return p.Partition != "" })
	byModel := slices.ContainsFunc(pools, func(p scenarios.Capacity) bool { return p.GPUModel != "" })
	started := 0
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
		var of part
		if byPartition {
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
	var pasts []*validate.Past
	for _, of := range slices.SortedFunc(maps.Keys(parts), func(a, b part) int {
		return cmp.Or(cmp.Compare(a.partition, b.partition), cmp.Compare(a.model, b.model))
	}) {
		pasts = append(pasts, parts[of].History())
	}
	past, err := validate.HoldAgainst(ctx, pasts, validate.Rules{Policy: cfg.Policy, Settings: cfg.Settings})
	if _, drops := errors.AsType[*capcli.RequestError](err); drops { // a policy that does not start every job has no waits to compare
		return nil, nil //nolint:nilnil // as for a log without starts
	}
	return past, err
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
