package scenarios

import (
	"slices"
	"testing"

	"capcli/simulate"
	"capcli/simulate/serving/service"
	"capcli/testdata/golden"
)

// agentService returns the service of agent-workflows, with its tasks for a number of workflows.
func agentService(t *testing.T, workflows int64, seed uint64) *service.Spec {
	t.Helper()
	b, _ := Library("agent-workflows")
	s, err := Parse("agent-workflows.yaml", b)
	if err != nil {
		t.Fatal(err)
	}
	v := s.Services[0]
	w := *v.Agents
	w.Workflows, w.Tasks, w.Seed = workflows, 1000, seed
	w.Tasks = service.TasksOf(&w)
	v.Agents = &w
	return &v
}

// playAgents plays the tasks on a number of replicas; 0 finds the fewest that keep the promise.
func playAgents(t *testing.T, v *service.Spec, replicas int) *service.Play {
	t.Helper()
	p, err := v.PlayAgents(t.Context(), v.Agents, replicas)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// From 10 to 1,000 workflows: GPUs grow far less than workflows, because agents wait for tools and for each
// other; without a prefix cache the promise cannot be kept, and tasks take twice as long.
func TestAgentWorkflows(t *testing.T) {
	golden.SkipLong(t)
	t.Parallel()
	for _, seed := range []uint64{1, 2001, 5001} {
		few, some := playAgents(t, agentService(t, 10, seed), 0), playAgents(t, agentService(t, 100, seed), 0)
		many := agentService(t, 1000, seed)
		p := playAgents(t, many, 16)
		t.Logf("seed %d: %d, %d GPUs; 1,000 workflows on 16: %.1f %% within, %.0f calls at once", seed, few.GPUs, some.GPUs, 100*p.Promise.Found, p.CallsMean)
		if few.GPUs != 1 || some.GPUs < 2 || some.GPUs > 4 || !few.Fewest || !some.Fewest {
			t.Errorf("seed %d: %d GPUs for 10 workflows, %d for 100", seed, few.GPUs, some.GPUs)
		}
		if p.Promise.Found < 0.97 || p.CallsMean < 200 || p.CallsMean > 350 || p.Failed != 0 || p.Finished != p.Tasks {
			t.Errorf("seed %d: 1,000 workflows on 16 GPUs: %+v", seed, p)
		}
		if half := playAgents(t, many, 8); half.Promise.Kept || half.TaskMean < 1.3*p.TaskMean {
			t.Errorf("seed %d: half the GPUs keep the promise of %.3f of the calls, a task takes %.0f s", seed, half.Promise.Found, half.TaskMean/1e6)
		}
		many.Agents.Reuses = false
		bare := playAgents(t, many, 16)
		t.Logf("a task takes %.0f s, without a cache %.0f s; %.1f %% within", p.TaskMean/1e6, bare.TaskMean/1e6, 100*bare.Promise.Found)
		if bare.Promise.Kept || bare.TaskMean < 2*p.TaskMean {
			t.Errorf("seed %d: without a cache %.3f of the calls keep the promise, a task takes %.0f s", seed, bare.Promise.Found, bare.TaskMean/1e6)
		}
	}
}

// The tasks of one seed are the same in the scenario and by themselves: as many calls in its first step.
func TestAgentWorkflowsScenario(t *testing.T) {
	x := play(t, "agent-workflows")
	run := x.r.Services[0]
	if run.Requests != 97_192 || run.Backlog != 0 {
		t.Errorf("%d requests, %d unserved", run.Requests, run.Backlog)
	}
	ready := slices.ContainsFunc(run.Steps, func(s simulate.ServiceStep) bool { return s.Ready != 8 })
	if ready {
		t.Error("not 8 replicas in each step")
	}
}
