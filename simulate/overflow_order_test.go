package simulate_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/policy"

	"pgregory.net/rapid"
)

// TestRipeJobsDoNotOvertakeOnCommittedCapacity tells stories in which on-demand
// capacity is full when a small job's patience ends: it may go on there later,
// but on committed capacity it keeps its place.
func TestRipeJobsDoNotOvertakeOnCommittedCapacity(t *testing.T) {
	job := func(id string, submit, run, gpus int) capcli.Job {
		return capcli.Job{
			ID: id, Submit: capcli.Time(submit), Run: capcli.Seconds(run), Limit: capcli.Seconds(run), GPUs: gpus, Deadline: capcli.NoTime,
		}
	}
	jobs := []capcli.Job{job("a", 0, 100, 7), job("full", 0, 1000, 4), job("head", 2, 10, 8), job("small", 11, 500, 1)}
	for policy, want := range map[string]string{
		"fifo":         "a@0 full@10 head@100 small@110",
		"easy":         "a@0 full@10 head@100 small@110",
		"conservative": "a@0 full@10 head@100 small@110",
	} {
		t.Run(policy, func(t *testing.T) {
			var s story
			_, err := simulate.Run(context.Background(), simulate.Config{
				Jobs: stream(jobs), Policy: mustPolicy(t, policy), Placement: mustPlacement(t, "count"),
				Pools: []simulate.Pool{
					{Name: "base", Terms: simulate.Reserved, Nodes: 1, GPUsPerNode: 8},
					{Name: "od", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 4},
				},
				Overflow:  simulate.Overflow{Patience: []simulate.Patience{{Wait: 10}}},
				Observers: []simulate.Observer{&s},
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(s.lines, " "); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// TestFreedRoomGoesByTheQueue tells the story of three jobs too large for what
// is committed, and one that came later: when on-demand room comes free in the
// second in which the patience of the last ends, the first in the line has it.
func TestFreedRoomGoesByTheQueue(t *testing.T) {
	var jobs []capcli.Job
	for i, submit := range []int{0, 0, 0, 1000} {
		jobs = append(jobs, capcli.Job{
			ID: fmt.Sprint("a", i+1), Submit: capcli.Time(submit), Run: 1000, Limit: 1000, GPUs: 8, Deadline: capcli.NoTime,
		})
	}
	for _, policy := range policy.Catalog.Names() {
		for _, skip := range []bool{false, true} {
			var s story
			_, err := simulate.Run(context.Background(), simulate.Config{
				List: jobs, Policy: mustPolicy(t, policy), Settings: simulate.Settings{Skip: skip}, Placement: mustPlacement(t, "count"),
				Pools: []simulate.Pool{
					{Name: "base", Terms: simulate.Reserved, Nodes: 1, GPUsPerNode: 4},
					{Name: "od", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 8},
				},
				Overflow:  simulate.Overflow{Patience: []simulate.Patience{{Wait: 300}}},
				Observers: []simulate.Observer{&s},
			})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := strings.Join(s.lines, " "), "a1@300 a2@1300 a3@2300 a4@3300"; got != want {
				t.Errorf("%s, skip %v: got %s, want %s", policy, skip, got, want)
			}
		}
	}
}

// TestEqualJobsDoNotOvertake is the law of the story in drawn worlds: of two
// jobs of one size and one patience the one that came first starts first.
func TestEqualJobsDoNotOvertake(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var jobs []capcli.Job
		at := 0
		for i := range rapid.IntRange(2, 40).Draw(rt, "jobs") {
			at += rapid.SampledFrom([]int{0, 1, 5, 10}).Draw(rt, "gap")
			jobs = append(jobs, capcli.Job{
				ID: fmt.Sprint(i), Submit: capcli.Time(at), Run: capcli.Seconds(5 * rapid.IntRange(1, 8).Draw(rt, "run")),
				GPUs: rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(rt, "gpus"), Deadline: capcli.NoTime,
			})
		}
		began := starts{}
		_, err := simulate.Run(context.Background(), simulate.Config{
			List: jobs, Policy: mustPolicy(t, "fifo"), Settings: simulate.Settings{Skip: rapid.Bool().Draw(rt, "skip")}, Placement: mustPlacement(t, "count"),
			Pools: []simulate.Pool{
				{Name: "base", Terms: simulate.Reserved, Nodes: 1, GPUsPerNode: rapid.IntRange(1, 8).Draw(rt, "reserved")},
				{Name: "od", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 8},
			},
			Overflow: simulate.Overflow{Patience: []simulate.Patience{
				{Wait: capcli.Seconds(rapid.SampledFrom([]int{0, 5, 10, 30}).Draw(rt, "patience"))},
			}},
			Observers: []simulate.Observer{began},
		})
		if err != nil {
			rt.Fatal(err)
		}
		last := map[int]capcli.Job{}
		for _, j := range jobs {
			if before, ok := last[j.GPUs]; ok && began[before.ID] > began[j.ID] {
				rt.Fatalf("job %s started at %d, after job %s of its size, which came later and started at %d", before.ID, began[before.ID], j.ID, began[j.ID])
			}
			last[j.GPUs] = j
		}
	})
}
