package simulate_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"capcli"
	"capcli/simulate"

	"pgregory.net/rapid"
)

// wheres notes where and when jobs start.
type wheres struct {
	pools []simulate.Pool
	lines []string
}

func (w *wheres) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Kind == simulate.Start {
		w.lines = append(w.lines, fmt.Sprintf("%s@%d:%s", e.Job.ID, e.At, w.pools[e.Job.Slices()[0].Pool].Name))
	}
}

// playFirst plays jobs under fifo on 8 committed GPUs, and on at most so many on demand once their
// patience of 100 s has ended. It returns who starts when and where, sorted.
func playFirst(t *testing.T, jobs []capcli.Job, most int) []string {
	t.Helper()
	w := &wheres{pools: []simulate.Pool{
		{Name: "base", Terms: simulate.Reserved, Nodes: 1, GPUsPerNode: 8},
		{Name: "od", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: most},
	}}
	_, err := simulate.Run(context.Background(), simulate.Config{
		List: jobs, Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"), Pools: w.pools,
		Overflow:  simulate.Overflow{Patience: []simulate.Patience{{Wait: 100}}, CommittedFirst: true},
		Observers: []simulate.Observer{w},
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(w.lines)
	return w.lines
}

func jobAt(id string, submit, run, gpus int) capcli.Job {
	return capcli.Job{ID: id, Submit: capcli.Time(submit), Run: capcli.Seconds(run), Limit: capcli.Seconds(run), GPUs: gpus, Deadline: capcli.NoTime}
}

// TestCommittedFirst tells the stories of the second in which patience ends and GPUs come free, and of
// jobs that are too large for what is committed.
func TestCommittedFirst(t *testing.T) {
	tests := []struct {
		name string
		jobs []capcli.Job
		most int
		want string
	}{
		{"the place comes free for the first in line", []capcli.Job{jobAt("a", 0, 100, 8), jobAt("b", 0, 50, 4)}, 100, "a@0:base b@100:base"},
		{"and for one who comes first then", []capcli.Job{jobAt("a", 0, 100, 8), jobAt("b", 0, 50, 4), jobAt("c", 0, 50, 4)}, 100, "a@0:base b@100:base c@100:base"},
		{"it is full again", []capcli.Job{jobAt("a", 0, 100, 8), jobAt("b", 0, 50, 8), jobAt("c", 0, 50, 4)}, 100, "a@0:base b@100:base c@100:od"},
		{"the first in line leaves", []capcli.Job{jobAt("a", 0, 500, 4), jobAt("b", 1, 50, 8), jobAt("c", 1, 50, 4)}, 100, "a@0:base b@101:od c@101:base"},
		{"too large to wait", []capcli.Job{jobAt("a", 0, 100, 16), jobAt("b", 0, 50, 8)}, 100, "a@0:od b@0:base"},
		{"too large, and on demand is full", []capcli.Job{jobAt("a", 0, 100, 16), jobAt("b", 1, 50, 16)}, 20, "a@0:od b@100:od"},
	}
	for _, tt := range tests {
		if got := strings.Join(playFirst(t, tt.jobs, tt.most), " "); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestFIFOBySecond plays drawn jobs under fifo with on-demand capacity without limit beside the rule,
// written plainly: at each second ends free their GPUs, jobs arrive, and while the first in line fits the
// place it starts there, or on demand where it is too large for the place or its patience has ended; then
// whoever's patience has ended goes on demand.
func TestFIFOBySecond(t *testing.T) {
	met := 0
	rapid.Check(t, func(rt *rapid.T) {
		var jobs []capcli.Job
		at := 0
		for i := range rapid.IntRange(2, 25).Draw(rt, "jobs") {
			at += 10 * rapid.IntRange(0, 4).Draw(rt, "gap")
			jobs = append(jobs, jobAt(fmt.Sprint(i), at, 10*rapid.IntRange(1, 30).Draw(rt, "run"), rapid.SampledFrom([]int{1, 2, 4, 8, 9}).Draw(rt, "gpus")))
		}
		want, ties := fifoBySecond(jobs)
		met += ties
		slices.Sort(want)
		if got := playFirst(t, jobs, 1000); !slices.Equal(got, want) {
			rt.Fatalf("got  %v\nwant %v", got, want)
		}
	})
	if met == 0 {
		t.Error("no patience ended in the second in which the place came free")
	}
}

// fifoBySecond is the rule of TestFIFOBySecond, second by second. ties are the jobs that started in the
// place in the second in which their patience ended.
func fifoBySecond(jobs []capcli.Job) (out []string, ties int) {
	free, left := 8, len(jobs)
	ends := map[int]int{}
	started := make([]bool, len(jobs))
	for now := 0; left > 0; now++ {
		free += ends[now]
		start := func(i int, where string) {
			started[i] = true
			left--
			out = append(out, fmt.Sprintf("%s@%d:%s", jobs[i].ID, now, where))
			if where == "base" {
				free -= jobs[i].GPUs
				ends[now+int(jobs[i].Run)] += jobs[i].GPUs
			}
		}
		blocked := false
		for i := range jobs {
			j := &jobs[i]
			waited := now - int(j.Submit)
			ripe := j.GPUs > 8 || waited >= 100
			switch {
			case started[i] || waited < 0:
			case !blocked && j.GPUs <= free:
				if start(i, "base"); waited == 100 {
					ties++
				}
			case ripe:
				start(i, "od")
			default:
				blocked = true
			}
		}
	}
	return out, ties
}
