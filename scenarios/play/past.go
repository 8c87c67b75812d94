package play

import (
	"context"
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
// the scenario belong to partitions, each partition is replayed by itself. It returns nil for
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
	parts := map[string]*validate.Collector{}
	apart := slices.ContainsFunc(c.Scenario.Capacity, func(p scenarios.Capacity) bool { return p.Partition != "" })
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
		name := ""
		if apart {
			name = j.Partition
		}
		if parts[name] == nil {
			parts[name] = &validate.Collector{}
		}
		parts[name].Add(&j)
	}
	if started == 0 {
		return nil, nil //nolint:nilnil // a log without starts says nothing of its waits
	}
	cfg, err := c.Scenario.Config(func(func(capcli.Job, error) bool) {}, scenarios.Options{Seed: c.Seed, Open: c.Open})
	if err != nil {
		return nil, err
	}
	var pasts []*validate.Past
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		pasts = append(pasts, parts[name].History())
	}
	return validate.HoldAgainst(ctx, pasts, validate.Rules{Policy: cfg.Policy, Settings: cfg.Settings})
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
