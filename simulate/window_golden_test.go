package simulate_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"capcli"
	"capcli/simulate"
)

// stays notes the last start, the end and the losses of each job.
type stays struct {
	start, end map[string]capcli.Seconds
	killed     [][2]capcli.Seconds
}

func (s *stays) Observe(e simulate.Event, _ *simulate.Cluster) {
	switch e.Kind {
	case simulate.Start:
		s.start[e.Job.ID] = e.At
	case simulate.Finish:
		s.end[e.Job.ID] = e.At
	case simulate.Preempt:
		id, _ := strconv.Atoi(e.Job.ID)
		s.killed = append(s.killed, [2]capcli.Seconds{capcli.Seconds(id), e.At})
	default:
	}
}

// TestMaintenanceGolden: with windows known beforehand, drained or killing, strict fifo starts and
// ends every job as an independent program does.
func TestMaintenanceGolden(t *testing.T) {
	b, err := os.ReadFile(filepath.FromSlash("../../shared/golden/elastic/checkpoint/cases.json"))
	if err != nil {
		t.Skip("the golden answers are not here")
	}
	var cases []struct {
		Kind, ID string
		Input    json.RawMessage
		Expect   json.RawMessage
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, c := range cases {
		if c.Kind != "maintenance" {
			continue
		}
		var in struct {
			GPUs int
			Jobs []struct {
				ID, GPUs    int
				Submit, Run int64
			}
			Windows []struct {
				Start, End capcli.Seconds
				GPUs       int64
			}
		}
		var want map[string]struct {
			Start, End map[string]capcli.Seconds
			Killed     [][2]capcli.Seconds
		}
		for _, err := range []error{json.Unmarshal(c.Input, &in), json.Unmarshal(c.Expect, &want)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		var jobs []capcli.Job
		for _, j := range in.Jobs {
			jobs = append(jobs, capcli.Job{ID: strconv.Itoa(j.ID), Submit: capcli.Time(j.Submit), GPUs: j.GPUs, Run: capcli.Seconds(j.Run), Deadline: capcli.NoTime})
		}
		slices.SortFunc(jobs, func(a, b capcli.Job) int {
			return cmp.Or(cmp.Compare(a.Submit, b.Submit), cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
		})
		for _, mode := range []string{"drain", "kill"} {
			tried++
			pool := simulate.Pool{Name: "p", Nodes: 1, GPUsPerNode: in.GPUs}
			for _, w := range in.Windows {
				pool.Windows = append(pool.Windows, simulate.Window{Start: w.Start, End: w.End, Milli: 1000 * w.GPUs, Kill: mode == "kill"})
			}
			got := &stays{start: map[string]capcli.Seconds{}, end: map[string]capcli.Seconds{}}
			if _, err := simulate.Run(context.Background(), simulate.Config{
				Start: 0, Jobs: stream(jobs), Pools: []simulate.Pool{pool}, Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"), Observers: []simulate.Observer{got},
			}); err != nil {
				t.Fatal(err)
			}
			w := want[mode]
			if fmt.Sprint(got.start) != fmt.Sprint(w.Start) || fmt.Sprint(got.end) != fmt.Sprint(w.End) || fmt.Sprint(got.killed) != fmt.Sprint(w.Killed) {
				t.Errorf("%s %s\n got %v %v %v\nwant %v %v %v", c.ID, mode, got.start, got.end, got.killed, w.Start, w.End, w.Killed)
			}
		}
	}
	if tried < 20 {
		t.Errorf("only %d cases", tried)
	}
}
