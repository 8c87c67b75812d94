package simulate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/workflow"
)

// dagCase is a case of the golden answers on workflows.
type dagCase struct {
	ID    string
	GPUs  int
	Tasks []struct {
		ID, Run, Submit int64
		GPUs            int
		After           []int64
		Fails           bool
	}

	Expect map[string]struct {
		Start, End, Cancelled map[string]int64
		Makespan              int64
	}
	Bounds *struct {
		CriticalPath int64 `json:"critical_path"`
		Area         int64
		Optimum      *int64
	}
}

func dagCases(t testing.TB) (cases []dagCase) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "shared", "golden", "elastic", "dag", "cases.json"))
	if err != nil {
		t.Skipf("golden answers are not here: %v", err)
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

func (c *dagCase) jobs() (jobs []capcli.Job) {
	for _, k := range c.Tasks {
		j := capcli.Job{ID: fmt.Sprint(k.ID), Submit: capcli.Time(k.Submit), GPUs: k.GPUs, Run: capcli.Seconds(k.Run), Stage: &capcli.Stage{Fails: k.Fails}}
		for _, a := range k.After {
			j.Stage.After = append(j.Stage.After, capcli.After{ID: fmt.Sprint(a)})
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// dagRule is the policy and the settings of an order of the golden answers.
func dagRule(name string) (policy string, set simulate.Settings) {
	switch name {
	case "id":
		return "fifo", simulate.Settings{Skip: true, Choices: map[string]string{"line": "submitted"}}
	case "ready":
		return "fifo", simulate.Settings{Skip: true}
	case "ready_no_skip":
		return "fifo", simulate.Settings{}
	case "shortest":
		return "sjf", simulate.Settings{Skip: true}
	case "critical":
		return "critical", simulate.Settings{}
	}
	panic("unknown order " + name)
}

// TestDAG plays the golden answers on workflows, Graham's anomalies among them: every start, end and
// cancellation, in every order.
func TestDAG(t *testing.T) {
	n := 0
	for _, c := range dagCases(t) {
		for name, want := range c.Expect {
			n++
			pol, set := dagRule(name)
			ends := &deadlineEnds{start: map[string]int64{}, end: map[string]int64{}, dropped: map[string]int64{}}
			stages, err := simulate.NewStages(c.jobs())
			if err != nil {
				t.Fatal(err)
			}
			r, err := simulate.Run(context.Background(), simulate.Config{
				Stages: stages, Start: 0, Policy: mustPolicy(t, pol), Settings: set, Placement: mustPlacement(t, "count"),
				Pools:     []simulate.Pool{{Name: "p", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: c.GPUs}},
				Observers: []simulate.Observer{ends},
			})
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(ends.start) != fmt.Sprint(want.Start) || fmt.Sprint(ends.end) != fmt.Sprint(want.End) || fmt.Sprint(ends.dropped) != fmt.Sprint(want.Cancelled) {
				t.Errorf("%s %s: start %v end %v cancelled %v, want %v %v %v", c.ID, name, ends.start, ends.end, ends.dropped, want.Start, want.End, want.Cancelled)
			}
			last := int64(0)
			for _, end := range ends.end {
				last = max(last, end)
			}
			if j := &r.Jobs; last != want.Makespan || j.Cancelled != int64(len(want.Cancelled)) || j.Read != int64(len(c.Tasks)) || j.Finished+j.Cancelled != j.Read {
				t.Errorf("%s %s: makespan %d with %+v, want %d", c.ID, name, last, *j, want.Makespan)
			}
		}
	}
	t.Logf("%d runs", n)
}

// TestDAGBounds compares the bounds with the golden answers.
func TestDAGBounds(t *testing.T) {
	n := 0
	for _, c := range dagCases(t) {
		if c.Bounds == nil {
			continue
		}
		n++
		jobs := c.jobs()
		g, err := workflow.NewGraph(jobs)
		if err != nil {
			t.Fatal(err)
		}
		b := g.Bounds(jobs, c.GPUs)
		if int64(b.CriticalPath) != c.Bounds.CriticalPath || int64(b.Area) != c.Bounds.Area {
			t.Errorf("%s: bounds %+v, want %+v", c.ID, b, *c.Bounds)
		}
		if c.Bounds.Optimum != nil && (!b.Exact || int64(b.Optimum) != *c.Bounds.Optimum) {
			t.Errorf("%s: optimum %+v, want %d", c.ID, b, *c.Bounds.Optimum)
		}
	}
	t.Logf("bounds of %d cases", n)
}
