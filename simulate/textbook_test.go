package simulate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"capcli"
	"capcli/simulate"
)

// textbook is a worked example of the golden folder.
type textbook struct {
	ID      string
	Cluster struct {
		Procs, Nodes int
		Capacity     float64
		Slice        int64
	}
	Jobs   []bookJob
	Expect map[string]json.RawMessage
	Tree   map[string]json.RawMessage
	Usage  map[string]float64
}

type bookJob struct {
	ID                     string
	Submit, Run, Requested int64
	Procs, Nodes, Priority int
	Demand                 float64
}

func textbookCase(t *testing.T, id string) textbook {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(goldenDir, "textbook.json"))
	if err != nil {
		t.Skipf("golden answers are not here: %v", err)
	}
	var cases []textbook
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(cases, func(c textbook) bool { return c.ID == id })
	if i < 0 {
		t.Skipf("no case %s", id)
	}
	return cases[i]
}

func (c *textbook) expect(t *testing.T, key string, v any) {
	t.Helper()
	if err := json.Unmarshal(c.Expect[key], v); err != nil {
		t.Fatal(key, err)
	}
}

func (c *textbook) jobs() (out []capcli.Job) {
	for _, j := range c.Jobs {
		out = append(out, capcli.Job{
			ID: j.ID, Submit: capcli.Time(j.Submit), Run: capcli.Seconds(j.Run), Limit: capcli.Seconds(j.Requested),
			GPUs: max(j.Procs, j.Nodes), Priority: j.Priority, Deadline: capcli.NoTime,
		})
	}
	return out
}

// segments tells a run: when each job had its GPUs, joined where it kept them.
type segments struct {
	list  [][3]any // job, from, to
	since map[string]capcli.Seconds
	lost  capcli.Seconds
}

func (s *segments) Observe(e simulate.Event, _ *simulate.Cluster) {
	switch e.Kind {
	case simulate.Start:
		s.since[e.Job.ID] = e.At
	case simulate.Finish, simulate.Preempt:
		s.lost = max(s.lost, e.Job.Lost)
		s.list = append(s.list, [3]any{e.Job.ID, s.since[e.Job.ID], e.At})
	default:
	}
}

func tellSegments(t *testing.T, cfg simulate.Config, procs int, jobs []capcli.Job) *segments {
	t.Helper()
	s := &segments{since: map[string]capcli.Seconds{}}
	cfg.Pools, cfg.Jobs, cfg.Observers = nodes(1, procs), stream(jobs), []simulate.Observer{s}
	if cfg.Placement == nil {
		cfg.Placement = mustPlacement(t, "count")
	}
	if _, err := simulate.Run(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTextbookSRTF(t *testing.T) {
	c := textbookCase(t, "srtf-osc")
	var want [][3]any
	c.expect(t, "segments", &want)
	got := tellSegments(t, simulate.Config{Policy: mustPolicy(t, "srtf")}, c.Cluster.Procs, c.jobs())
	if g, w := fmt.Sprint(got.list), strings.ReplaceAll(fmt.Sprint(want), ".0", ""); !sameStory(g, w) {
		t.Errorf("got %s, want %s", g, w)
	}
}

// sameStory compares two stories that print lengths of time differently.
func sameStory(got, want string) bool {
	return strings.ReplaceAll(got, " s", "") == want
}

// A quantum in which nobody else waits is joined with the next, as the books
// draw it.
func TestTextbookTimeSlices(t *testing.T) {
	c := textbookCase(t, "rr-osc")
	var want [][3]any
	c.expect(t, "segments", &want)
	got := tellSegments(t, simulate.Config{Policy: mustPolicy(t, "gang"), Settings: simulate.Settings{Quantum: 4}}, c.Cluster.Procs, c.jobs())
	if g, w := fmt.Sprint(got.list), fmt.Sprint(want); !sameStory(g, w) {
		t.Errorf("rr-osc: got %s, want %s", g, w)
	}
	for _, id := range []string{"gang-two-full", "gang-local-backfill"} {
		c := textbookCase(t, id)
		var ends map[string]capcli.Seconds
		c.expect(t, "finish", &ends)
		got := tellSegments(t, simulate.Config{
			Policy: mustPolicy(t, "gang"), Settings: simulate.Settings{Quantum: capcli.Seconds(c.Cluster.Slice)},
		}, c.Cluster.Nodes, c.jobs())
		last := map[string]capcli.Seconds{}
		for _, s := range got.list {
			last[s[0].(string)] = s[2].(capcli.Seconds)
		}
		if !maps.Equal(last, ends) {
			t.Errorf("%s: jobs end at %v, want %v", id, last, ends)
		}
	}
}

func TestTextbookPreemption(t *testing.T) {
	c := textbookCase(t, "preempt-variants")
	for _, v := range []struct {
		name, policy string
		restarts     simulate.Restarts
	}{
		{"none", "priority", simulate.Restarts{}},
		{"suspend", "priority-preempt", simulate.Restarts{Mode: simulate.Suspend}},
		{"requeue", "priority-preempt", simulate.Restarts{Mode: simulate.Scratch}},
		{"checkpoint_every_30", "priority-preempt", simulate.Restarts{Mode: simulate.Checkpoint, Classes: []simulate.RestartClass{{Interval: 30}}}},
	} {
		t.Run(v.name, func(t *testing.T) {
			var want struct {
				High   [2]capcli.Seconds
				Low    [2]capcli.Seconds
				LowEnd capcli.Seconds `json:"low_end"`
				Lost   capcli.Seconds
			}
			c.expect(t, v.name, &want)
			s := tellSegments(t, simulate.Config{Policy: mustPolicy(t, v.policy), Restarts: v.restarts}, c.Cluster.Procs, c.jobs())
			ends := map[string][2]capcli.Seconds{}
			for _, g := range s.list {
				ends[g[0].(string)] = [2]capcli.Seconds{g[1].(capcli.Seconds), g[2].(capcli.Seconds)}
			}
			if ends["high"] != want.High {
				t.Errorf("high ran over %v, want %v", ends["high"], want.High)
			}
			if low := max(want.LowEnd, want.Low[1]); ends["low"][1] != low || s.lost != want.Lost {
				t.Errorf("low ended at %v with %v lost, want %v with %v", ends["low"][1], s.lost, low, want.Lost)
			}
		})
	}
}

// Demands in GPUs as jobs of a tenth of one, all there at once: what each
// tenant got is the max-min fair share, to a tenth.
func TestTextbookMaxMin(t *testing.T) {
	c := textbookCase(t, "maxmin-keshav")
	var want []float64
	c.expect(t, "alloc", &want)
	for _, policy := range []string{"fair", "drf"} {
		var jobs []capcli.Job
		for _, d := range c.Jobs {
			for range int(math.Round(d.Demand * 10)) {
				jobs = append(jobs, capcli.Job{ID: d.ID, Tenant: d.ID, GPUs: 1, GPUMilli: 100, Run: 100, Deadline: capcli.NoTime})
			}
		}
		s := tellSegments(t, simulate.Config{Policy: mustPolicy(t, policy), Placement: mustPlacement(t, "best")}, int(c.Cluster.Capacity), jobs)
		got := make([]float64, len(want))
		for _, seg := range s.list {
			if seg[1].(capcli.Seconds) == 0 {
				got[slices.IndexFunc(c.Jobs, func(j bookJob) bool {
					return j.ID == seg[0]
				})] += 0.1
			}
		}
		for i := range want {
			if math.Abs(got[i]-want[i]) > 0.05 {
				t.Errorf("%s gives %s %.1f, want %.1f", policy, c.Jobs[i].ID, got[i], want[i])
			}
		}
	}
}

// The example of section 4.1 of Ghodsi et al., NSDI 2011: 9 CPUs and 18 GB,
// tasks of (1 CPU, 4 GB) and (3 CPUs, 1 GB); three of the first run and two of
// the second. Here CPUs are GPUs.
func TestDRFPaper(t *testing.T) {
	var jobs []capcli.Job
	for i := range 12 {
		j := capcli.Job{ID: "a", Tenant: "a", GPUs: 1, MemMiB: 4 * 1024, Run: 100, Deadline: capcli.NoTime}
		if i%2 == 1 {
			j = capcli.Job{ID: "b", Tenant: "b", GPUs: 3, MemMiB: 1024, Run: 100, Deadline: capcli.NoTime}
		}
		jobs = append(jobs, j)
	}
	s := &segments{since: map[string]capcli.Seconds{}}
	_, err := simulate.Run(context.Background(), simulate.Config{
		Jobs: stream(jobs), Policy: mustPolicy(t, "drf"), Placement: mustPlacement(t, "first"), Observers: []simulate.Observer{s},
		Pools: []simulate.Pool{{Name: "all", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: 9, MemMiB: 18 * 1024}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[any]int{}
	for _, seg := range s.list {
		if seg[2].(capcli.Seconds) == 100 {
			got[seg[0]]++
		}
	}
	if got["a"] != 3 || got["b"] != 2 {
		t.Errorf("a runs %d tasks and b %d, want 3 and 2", got["a"], got["b"])
	}
}
