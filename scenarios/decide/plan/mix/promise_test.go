package mix

import (
	"testing"

	"capcli"
	"capcli/simulate"
)

// rotating is a policy that no list knows: it declares that it preempts.
type rotating struct{}

func (rotating) Schedule(*simulate.Turn) {}
func (rotating) Preempts()               {}

// TestDeclaredPreemptionEndsThePromise has one mix under two policies: where
// capacity on demand takes ten minutes to come, one that preempts can keep a
// job waiting again, so no start is promised.
func TestDeclaredPreemptionEndsThePromise(t *testing.T) {
	cfg := simulate.Config{Pools: []simulate.Pool{{Name: "od", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 100, Lead: 600}}}
	jobs := []capcli.Job{{ID: "a", Run: 60, GPUs: 8, Deadline: capcli.NoTime}}
	for _, c := range []struct {
		name   string
		policy simulate.Policy
		want   string
	}{
		{"a policy that lets jobs run", waitingLine{}, ""},
		{"a policy that preempts", rotating{}, "jobs that are interrupted wait for on-demand capacity each time"},
	} {
		cfg.Policy = func(simulate.Settings) simulate.Policy { return c.policy }
		if got := promises(&cfg, jobs, nil).fits(&cfg); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// waitingLine starts nothing and takes nothing away.
type waitingLine struct{}

func (waitingLine) Schedule(*simulate.Turn) {}
