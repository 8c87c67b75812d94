package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"capcli/testdata/golden"
)

// elasticCases reads the reference answers of a topic of elastic jobs.
func elasticCases(t *testing.T, topic string, cases any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "golden", "elastic", topic, "cases.json"))
	if err != nil {
		t.Skipf("golden answers are not here: %v", err)
	}
	if err := json.Unmarshal(text, cases); err != nil {
		t.Fatal(err)
	}
}

// outcomesOf replays a jobs file on a scenario and returns columns of what became of the jobs.
func outcomesOf(t *testing.T, scenario, jobs, placement string, columns ...string) []map[string]string {
	t.Helper()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	out := filepath.Join(dir, "out.csv")
	capcliRun(t, 0, "simulate", file("s.yaml", "capcli: scenario/v1\n"+scenario), "--trace", file("jobs.csv", jobs), "--placement", placement, "--jobs-out", out, "-q")
	var values []map[string]string
	for _, c := range columns {
		values = append(values, textsOf(t, out, "job_id", c))
	}
	return values
}

// TestWorkflowsByTheCommand plays the reference's workflows from files: every start, end and cancellation, in every
// order. The jobs stand in the file as in the case, and once more with later submissions first. The order by number,
// which no submission gives, is one of priorities; equally critical jobs go by submission here and by number there, so
// that order is held where both are the same.
func TestWorkflowsByTheCommand(t *testing.T) {
	var cases []struct {
		ID    string
		GPUs  int
		Tasks []struct {
			ID, Run, Submit int64
			GPUs            int
			After           []int64
			Fails           bool
		}
		Expect map[string]struct{ Start, End, Cancelled map[string]int64 }
	}
	elasticCases(t, "dag", &cases)
	rules := map[string]string{
		"id": "{name: priority, skip: true}", "ready": "{name: fifo, skip: true}", "ready_no_skip": "{name: fifo, skip: false}",
		"shortest": "{name: sjf, skip: true}", "critical": "{name: critical}",
	}
	for i, c := range cases {
		if golden.Short() && i%4 != 0 {
			continue
		}
		type row struct {
			submit int64
			line   string
		}
		var rows []row
		for _, k := range c.Tasks {
			after, state := "", "COMPLETED"
			if len(k.After) > 0 {
				after = "afterok"
				for _, id := range k.After {
					after += ":" + strconv.FormatInt(id, 10)
				}
			}
			if k.Fails {
				state = "FAILED"
			}
			rows = append(rows, row{k.Submit, fmt.Sprintf("%d,%d,%d,%d,%s,%s,%d\n", k.ID, k.Submit, k.GPUs, k.Run, after, state, -k.ID)})
		}
		turned := slices.Clone(rows)
		slices.SortStableFunc(turned, func(a, b row) int { return cmp.Compare(b.submit, a.submit) })
		first := c.Tasks[0].Submit
		for _, k := range c.Tasks {
			first = min(first, k.Submit)
		}
		for name, want := range c.Expect {
			if name == "critical" && !slices.IsSortedFunc(rows, func(a, b row) int { return cmp.Compare(a.submit, b.submit) }) {
				continue
			}
			for _, lines := range [][]row{rows, turned} {
				text := "job_id,submit,gpus,run_s,after,state,priority\n"
				for _, r := range lines {
					text += r.line
				}
				got := outcomesOf(t, fmt.Sprintf("policy: %s\ncapacity: [{kind: owned, gpus: %d, price: 2}]\n", rules[name], c.GPUs), text, "count", "start_s", "end_s")
				ran := map[string]int64{}
				for id, at := range want.Start {
					if _, never := want.Cancelled[id]; !never {
						ran[id] = at
					}
				}
				for i, what := range []map[string]int64{ran, want.End} {
					for id, at := range what {
						if got[i][id] != strconv.FormatInt(at-first, 10) {
							t.Errorf("%s, %s: job %s: %s %s, want %d", c.ID, name, id, []string{"start", "end"}[i], got[i][id], at-first)
						}
					}
				}
				maps.DeleteFunc(got[0], func(_, at string) bool { return at == "" })
				if len(got[0]) != len(ran) {
					t.Errorf("%s, %s: %d jobs started, want %d", c.ID, name, len(got[0]), len(ran))
				}
			}
		}
	}
}

// TestSharesByTheCommand puts the reference's pods, which want thousandths and memory of a GPU, on nodes of one GPU.
func TestSharesByTheCommand(t *testing.T) {
	type answer struct {
		GPUOf []int `json:"gpu_of"`
	}
	var cases []struct {
		Kind, ID string
		Mem      int64 `json:"gpu_mem_mib"`
		Pods     []struct {
			ID, Milli int
			Mem       int64 `json:"mem_mib"`
		}
		Expect struct {
			First     answer
			BestMem   answer `json:"best_mem"`
			BestMilli answer `json:"best_milli"`
		}
	}
	elasticCases(t, "share", &cases)
	gb := func(mib int64) string { return strconv.FormatFloat(float64(mib)/1024, 'f', -1, 64) }
	for _, c := range cases {
		if c.Kind != "share" {
			continue
		}
		jobs := "job_id,submit,gpus,run_s,gpu_mem_gb\n"
		for _, p := range c.Pods {
			jobs += fmt.Sprintf("%d,0,%s,1000,%s\n", p.ID, strconv.FormatFloat(float64(p.Milli)/1000, 'f', -1, 64), gb(p.Mem))
		}
		scenario := fmt.Sprintf("capacity: [{name: n, kind: owned, nodes: %d, gpus_per_node: 1, gpu_mem_gb: %s, price: 2}]\n", len(c.Pods), gb(c.Mem))
		for place, want := range map[string]answer{"first": c.Expect.First, "best": c.Expect.BestMilli, "best-mem": c.Expect.BestMem} {
			got := outcomesOf(t, scenario, jobs, place, "nodes")[0]
			for i, p := range c.Pods {
				if at := fmt.Sprintf("n/%d", want.GPUOf[i]); got[strconv.Itoa(p.ID)] != at {
					t.Errorf("%s, %s: pod %d on %s, want %s", c.ID, place, p.ID, got[strconv.Itoa(p.ID)], at)
				}
			}
		}
	}
}
