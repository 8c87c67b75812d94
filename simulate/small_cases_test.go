package simulate_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"capcli"
	"capcli/simulate"
)

// smallCase is one case of random.json or small.json.
type smallCase struct {
	Name, Policy string
	Procs        int
	BatchAgrees  *bool `json:"batch_agrees"`
	Jobs         []struct {
		ID         json.RawMessage
		Submit     int64
		Run        int64
		Requested  int64
		Procs      int
		Start      int64
		StartBatch *int64 `json:"start_batch"`
	}
}

// names of the golden files, and ours.
var policyNames = map[string]string{
	"fcfs": "fifo", "sjf": "sjf", "easy": "easy", "easysjbf": "easy-sjbf", "easy-sjbf": "easy-sjbf", "cons": "conservative", "conservative": "conservative",
}

func TestSmallCases(t *testing.T) {
	for _, file := range []string{"random.json", "small.json"} {
		b, err := os.ReadFile(filepath.Join(goldenDir, file))
		if err != nil {
			t.Skipf("golden answers are not here: %v", err)
		}
		var cases []smallCase
		if err := json.Unmarshal(b, &cases); err != nil {
			t.Fatal(err)
		}
		left := map[string]int{}
		for _, c := range cases {
			name, ok := policyNames[c.Policy]
			if !ok || (c.BatchAgrees != nil && !*c.BatchAgrees) {
				left[c.Policy]++
				continue
			}
			t.Run(fmt.Sprintf("%s/%s/%s", file, c.Name, c.Policy), func(t *testing.T) { c.check(t, name) })
		}
		t.Logf("%s: %d cases, left out (no batch answer): %v", file, len(cases), left)
	}
}

func (c *smallCase) check(t *testing.T, policy string) {
	jobs := make([]capcli.Job, len(c.Jobs))
	for i, j := range c.Jobs {
		jobs[i] = capcli.Job{
			ID: string(j.ID), Submit: capcli.Time(j.Submit), Run: capcli.Seconds(j.Run), Limit: capcli.Seconds(j.Requested),
			GPUs: j.Procs, Deadline: capcli.NoTime,
		}
	}
	slices.SortStableFunc(jobs, func(a, b capcli.Job) int { return cmp.Compare(a.Submit, b.Submit) })
	got := starts{}
	_, err := simulate.Run(context.Background(), simulate.Config{
		Jobs: stream(jobs), Policy: mustPolicy(t, policy), Placement: mustPlacement(t, "count"),
		Pools:     []simulate.Pool{{Name: "all", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: c.Procs}},
		Observers: []simulate.Observer{got},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range c.Jobs {
		want := j.Start
		if j.StartBatch != nil {
			want = *j.StartBatch
		}
		if g := got[string(j.ID)]; int64(g) != want {
			t.Errorf("job %s starts at %d, want %d", j.ID, g, want)
		}
	}
}
