package simulate_test

import (
	"context"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios"
	"capcli/simulate"
	"capcli/simulate/policy"
)

// All that it takes to add a policy with a setting of its own: this init and what
// it names, in one file. The batteries find it in the catalogue, and scenarios
// know its setting.
func init() {
	policy.OwnSettings.Add("batch_every", "batches: time between two batches", 1)
	policy.Catalog.Add("batches", "starts jobs in their order, but at certain times only", func(s simulate.Settings) simulate.Policy {
		return &batches{every: max(1, s.Own["batch_every"])}
	})
}

// batches is first come, first served at multiples of a time.
type batches struct{ every capcli.Seconds }

func (p *batches) Schedule(t *simulate.Turn) {
	if past := t.Now() % p.every; past > 0 {
		t.WakeAt(t.Now() - past + p.every)
		return
	}
	for l := range t.Queue() {
		if !t.Start(l) {
			return
		}
	}
}

func TestAPolicyWithASettingOfItsOwn(t *testing.T) {
	parse := func(set string) (*scenarios.Scenario, error) {
		return scenarios.Parse("s.yaml", []byte("capcli: scenario/v1\npolicy: {name: batches, batch_every: "+set+"}\ncapacity:\n  - {name: owned, kind: owned, gpus: 8, price: 1}\n"))
	}
	if _, err := parse("0s"); err == nil || !strings.Contains(err.Error(), "batch_every") {
		t.Errorf("0s: got %v, want a fault in batch_every", err)
	}
	s, err := parse("5m")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := s.Config(stream([]capcli.Job{
		{ID: "a", Submit: 600_000, Run: 10, GPUs: 1, Deadline: capcli.NoTime},
		{ID: "b", Submit: 600_001, Run: 10, GPUs: 1, Deadline: capcli.NoTime},
	}), scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var told story
	cfg.Observers = append(cfg.Observers, &told)
	if _, err := simulate.Run(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(told.lines, " "), "a@0 b@300"; got != want {
		t.Errorf("started %s, want %s", got, want)
	}
}
