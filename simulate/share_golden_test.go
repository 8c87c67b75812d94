package simulate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

// shareAnswer is where pods go.
type shareAnswer struct {
	GPUs  int   `json:"gpus"`
	GPUOf []int `json:"gpu_of"`
}

// gpuNotes notes on which node each job starts.
type gpuNotes struct{ at map[string]int }

func (n *gpuNotes) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Kind == simulate.Start {
		n.at[e.Job.ID] = int(e.Job.Slices()[0].Node)
	}
}

// TestShareGolden puts pods that want thousandths and memory of a GPU on nodes of one GPU each, in order,
// as an independent program does.
func TestShareGolden(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "shared", "golden", "elastic", "share", "cases.json"))
	if os.IsNotExist(err) {
		t.Skip("no reference answers in ../shared/golden/elastic/share")
	} else if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Kind, ID string
		Mem      int64 `json:"gpu_mem_mib"`
		Pods     []struct {
			ID    int
			Milli int
			Mem   int64 `json:"mem_mib"`
		}
		Expect struct {
			First     shareAnswer
			BestMem   shareAnswer `json:"best_mem"`
			BestMilli shareAnswer `json:"best_milli"`
		}
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, c := range cases {
		if c.Kind != "share" {
			continue
		}
		n++
		var jobs []capcli.Job
		for _, p := range c.Pods {
			j := capcli.Job{ID: fmt.Sprint(p.ID), GPUs: 1, Run: 1000, GPUMemMiB: p.Mem, Deadline: capcli.NoTime}
			if p.Milli < 1000 {
				j.GPUMilli = p.Milli
			}
			jobs = append(jobs, j)
		}
		for _, rule := range []struct {
			placement string
			want      shareAnswer
		}{{"first", c.Expect.First}, {"best", c.Expect.BestMilli}, {"best-mem", c.Expect.BestMem}} {
			got := playPods(t, c.Mem, jobs, rule.placement)
			if got.GPUs != rule.want.GPUs || !slices.Equal(got.GPUOf, rule.want.GPUOf) {
				t.Errorf("%s, %s: got %v, want %v", c.ID, rule.placement, got, rule.want)
			}
		}
	}
	if n == 0 {
		t.Error("no case")
	}
}

// playPods plays the pods on as many nodes of one GPU as there are pods.
func playPods(t *testing.T, mem int64, jobs []capcli.Job, place string) shareAnswer {
	t.Helper()
	fifo, err := policy.Catalog.Get("fifo")
	if err != nil {
		t.Fatal(err)
	}
	pl, err := placement.Catalog.Get(place)
	if err != nil {
		t.Fatal(err)
	}
	notes := &gpuNotes{map[string]int{}}
	_, err = simulate.Run(context.Background(), simulate.Config{
		List: jobs, Policy: fifo, Placement: pl(), Observers: []simulate.Observer{notes},
		Pools: []simulate.Pool{{Name: "all", Terms: simulate.Owned, Nodes: len(jobs), GPUsPerNode: 1, GPUMemMiB: mem}},
	})
	if err != nil {
		t.Fatal(err)
	}
	used := map[int]bool{}
	var a shareAnswer
	for i := range jobs {
		at, started := notes.at[jobs[i].ID]
		if !started {
			t.Fatalf("pod %s has not started", jobs[i].ID)
		}
		a.GPUOf = append(a.GPUOf, at)
		used[at] = true
	}
	a.GPUs = len(used)
	return a
}
