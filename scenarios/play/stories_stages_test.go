package play_test

import (
	"context"
	"testing"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
)

// workflowOf plays a scenario of the library and returns its only workflow.
func workflowOf(t *testing.T, name string, seed capcli.Seed, set ...string) *outcome.Workflow {
	t.Helper()
	b, ok := scenarios.Library(name)
	if !ok {
		t.Fatalf("the library has no %s", name)
	}
	s, err := scenarios.Parse(name+".yaml", b, set...)
	if err != nil {
		t.Fatal(err)
	}
	c, err := play.NewCase(s, play.Options{Seed: &seed})
	if err != nil {
		t.Fatal(err)
	}
	runs, err := c.Play(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	return &runs[0].Stages.Workflows[0]
}

const stageSeeds = 8

// TestPipelineStory: eight GPUs for the small cluster make each model earlier, 64 for the large one do not.
func TestPipelineStory(t *testing.T) {
	var small, wait float64
	for seed := range capcli.Seed(stageSeeds) {
		as := workflowOf(t, "pipeline", seed+1)
		more := workflowOf(t, "pipeline", seed+1, "capacity.small.gpus=24")
		large := workflowOf(t, "pipeline", seed+1, "capacity.large.gpus=128")
		small += (as.Length - more.Length) / as.Length / stageSeeds
		if large.Length != as.Length || more.Length >= as.Length {
			t.Errorf("seed %d: %.0f s as it is, %.0f s with 64 more large, %.0f s with 8 more small GPUs", seed+1, as.Length, large.Length, more.Length)
		}
		most := 0
		for k := range as.Stages {
			if as.Stages[k].CriticalWait > as.Stages[most].CriticalWait {
				most = k
			}
		}
		if as.Stages[0].Used < 4*(as.Used-as.Stages[0].Used) || as.Stages[0].CriticalWait != 0 || as.Stages[most].Name != "align" {
			t.Errorf("seed %d: %s waits longest on the critical path, of %+v", seed+1, as.Stages[most].Name, as.Stages)
		}
		wait += as.Stages[most].CriticalWait / as.Length / stageSeeds
		if as.Least > as.Length {
			t.Errorf("seed %d: a run of %.0f s is shorter than its critical path of %.0f s", seed+1, as.Length, as.Least)
		}
	}
	t.Logf("8 GPUs for the small cluster: a run is %.3f shorter; align waits for %.3f of a run", small, wait)
	if small < 0.12 || small > 0.25 {
		t.Errorf("runs are %.3f shorter with 8 more GPUs", small)
	}
}

// TestSweepStory: ending bad trials early makes a sweep faster and cheaper, halving more than the median.
func TestSweepStory(t *testing.T) {
	for seed := range capcli.Seed(stageSeeds) {
		halving := workflowOf(t, "tuning-sweep", seed+1)
		all := workflowOf(t, "tuning-sweep", seed+1, "sweeps[0].stop=null", "sweeps[0].keep=null")
		median := workflowOf(t, "tuning-sweep", seed+1, "sweeps[0].stop=median", "sweeps[0].keep=null")
		h, m := halving.Used.Hours()/all.Used.Hours(), median.Used.Hours()/all.Used.Hours()
		if h < 0.12 || h > 0.18 || m < 0.36 || m > 0.48 || halving.Length > 0.22*all.Length || halving.Finished != 8 {
			t.Errorf("seed %d: halving takes %.3f of the GPU-hours, the median rule %.3f; %.0f s rather than %.0f s", seed+1, h, m, halving.Length, all.Length)
		}
	}
}
