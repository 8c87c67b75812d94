package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/simulate"
)

// starts writes down when jobs start.
type starts map[string]capcli.Seconds

func (s starts) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Kind == simulate.Start {
		s[e.Job.ID] = e.At
	}
}

// TestFitGivesTheLogBack: a log that strict FIFO made on pools of its own, each
// partition with one GPU model, fits a scenario under which FIFO gives the same
// waits to the second: pools of the largest use start each job exactly when
// larger ones do.
func TestFitGivesTheLogBack(t *testing.T) {
	const first = 1767225600 // 2026-01-01
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(t, "partitions")
		text := "capcli: scenario/v1\ncapacity:\n"
		sizes := make([]int, n)
		for i := range n {
			sizes[i] = rapid.IntRange(2, 12).Draw(t, "size")
			text += fmt.Sprintf("  - {name: p%d, kind: owned, gpus: %d, price: 1, partition: p%d, gpu_model: M%d}\n", i, sizes[i], i, i)
		}
		var log []capcli.Job
		for k := range rapid.IntRange(1, 60).Draw(t, "jobs") {
			i := rapid.IntRange(0, n-1).Draw(t, "partition")
			log = append(log, capcli.Job{
				ID: fmt.Sprint("j", k), Tenant: fmt.Sprint("t", k%3), Partition: fmt.Sprint("p", i), GPUModel: fmt.Sprint("M", i),
				GPUs: rapid.IntRange(1, sizes[i]).Draw(t, "gpus"), Run: capcli.Seconds(rapid.IntRange(1, 90_000).Draw(t, "run")),
				Submit: first + capcli.Time(rapid.IntRange(0, 400_000).Draw(t, "at")), Deadline: capcli.NoTime,
			})
		}
		slices.SortStableFunc(log, func(a, b capcli.Job) int { return int(a.Submit - b.Submit) })
		then := starts{}
		was := replay(t, text, log, then)
		for i := range log {
			log[i].Start = log[0].Submit + capcli.Time(then[log[i].ID])
			log[i].End = log[i].Start + capcli.Time(log[i].Run)
		}
		var survey LogSurvey
		for i := range log {
			survey.Add(&log[i])
		}
		made, err := survey.Fit(FitOptions{Log: "log.csv"})
		if err != nil {
			t.Fatal(err)
		}
		is := replay(t, string(made.Text), log, starts{}, "period=null", "policy=fifo")
		if is.Wait != was.Wait || is.Jobs.Finished != int64(len(log)) {
			t.Fatalf("waits of the log %+v, simulated %+v\n%s", was.Wait, is.Wait, made.Text)
		}
	})
}

func replay(t *rapid.T, text string, log []capcli.Job, then starts, sets ...string) *simulate.Result {
	s, err := Parse("fit.yaml", []byte(text), sets...)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := s.Config(nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	cfg.List = log
	cfg.Observers = append(cfg.Observers, then)
	r, err := simulate.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFitStory works out by hand what a small log suggests.
func TestFitStory(t *testing.T) {
	const at = 1767225600 // 2026-01-01
	job := func(id, partition, model string, gpus int, submit, start, run capcli.Time) capcli.Job {
		j := capcli.Job{
			ID: id, Tenant: "lab, one", Partition: partition, GPUModel: model, GPUs: gpus, Run: capcli.Seconds(run),
			Submit: at + submit, Start: capcli.NoTime, End: capcli.NoTime, Deadline: capcli.NoTime,
		}
		if start >= 0 {
			j.Start, j.End = at+start, at+start+run
		}
		return j
	}
	tests := []struct {
		name  string
		jobs  []capcli.Job
		o     FitOptions
		gpus  int64
		pools int
		want  []string // in the text or the notes
	}{
		{
			"two partitions, of which one knows its model",
			[]capcli.Job{
				job("a", "big", "h100", 8, 0, 0, 100), job("b", "big", "", 4, 0, 50, 100), job("c", "my queue", "", 2, 90000, 90000, 10),
			},
			FitOptions{Log: "jobs.csv"},
			14, 2,
			[]string{
				"period: 2026-01-01 to 2026-01-02", "name: big-h100\n", "gpus: 12 ", `partition: "my queue"`, "gpus: 2 ", "/1y", `- name: "lab, one"`,
				"fill in the price of my queue", "name: jobs\n",
			},
		},
		{
			"what ends is free for what begins",
			[]capcli.Job{job("a", "", "A100", 4, 0, 0, 100), job("b", "", "A100", 4, 0, 100, 100)},
			FitOptions{Log: "l"},
			4, 1,
			[]string{"name: a100\n", "kind: on_demand, gpu_model: A100"},
		},
		{
			"no starts: four fifths busy",
			[]capcli.Job{job("a", "", "", 1, 0, -1, 1000), job("b", "", "", 20, 0, -1, 1000)},
			FitOptions{Log: "l", GPUModel: "V100"},
			32, 1,
			[]string{"Sizes are assumed", "gpu_model: V100"},
		},
		{
			"shared partitions",
			[]capcli.Job{job("a", "x", "A100", 4, 0, 0, 100), job("b", "y", "A100", 4, 0, 100, 100)},
			FitOptions{Log: "l", Shared: true},
			4, 1, nil,
		},
	}
	for _, tt := range tests {
		var s LogSurvey
		for i := range tt.jobs {
			s.Add(&tt.jobs[i])
		}
		made, err := s.Fit(tt.o)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if made.GPUs != tt.gpus || made.Pools != tt.pools {
			t.Errorf("%s: got %d GPUs in %d pools, want %d in %d\n%s", tt.name, made.GPUs, made.Pools, tt.gpus, tt.pools, made.Text)
		}
		all := string(made.Text) + strings.Join(made.Notes, "\n")
		for _, part := range tt.want {
			if !strings.Contains(all, part) {
				t.Errorf("%s: want %q in\n%s", tt.name, part, all)
			}
		}
	}
	var none LogSurvey
	if _, err := none.Fit(FitOptions{}); err == nil {
		t.Error("a log without jobs gave a scenario")
	}
}

// TestPeriodLeavesStragglersOut: a log of what ran in January has three jobs from
// the autumn before, which say nothing of a period; a log that only begins slowly
// keeps its first day.
func TestPeriodLeavesStragglersOut(t *testing.T) {
	const first, day = 1767225600, 86400 // 2026-01-01
	add := func(s *LogSurvey, at capcli.Time, n int) {
		for range n {
			s.Add(&capcli.Job{GPUs: 1, Run: 60, Submit: at, Start: capcli.NoTime, End: capcli.NoTime})
		}
	}
	var with, slow LogSurvey
	for d := range capcli.Time(30) {
		add(&with, first+d*day, 20)
		add(&slow, first+d*day, int(d)+1)
	}
	add(&with, first-80*day, 1)
	add(&with, first-40*day, 1)
	add(&with, first-9*day, 1)
	if got := with.Period().String(); got != "2026-01-01 to 2026-01-30" {
		t.Errorf("with stragglers: %s", got)
	}
	if got := slow.Period().String(); got != "2026-01-01 to 2026-01-30" {
		t.Errorf("a slow start: %s", got)
	}
	made, err := with.Fit(FitOptions{Log: "l"})
	if err != nil || !strings.Contains(strings.Join(made.Notes, "\n"), "3 jobs submitted before, from 2025-10-13 on") {
		t.Errorf("notes %q, %v", made.Notes, err)
	}
}
