package eta

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"capcli"
)

// TestForward plays small queues forward by hand.
func TestForward(t *testing.T) {
	for _, c := range []struct {
		name     string
		capacity int64
		running  []Running
		waiting  []Waiting
		want     capcli.Time
	}{
		{"an empty machine", 4, nil, []Waiting{{4, 10}}, 100},
		{"an end frees what it needs", 4, []Running{{3, 160}}, []Waiting{{4, 10}}, 160},
		{"it fills a hole: it ends before the first in line may start", 4, []Running{{3, 160}}, []Waiting{{4, 10}, {1, 60}}, 100},
		{"it would delay the first in line", 4, []Running{{3, 160}}, []Waiting{{4, 10}, {1, 61}}, 170},
		{"it uses what the first in line leaves", 5, []Running{{3, 160}}, []Waiting{{4, 10}, {1, 1000}}, 100},
		{"two ends of one second count together", 4, []Running{{2, 160}, {2, 160}}, []Waiting{{4, 10}}, 160},
		{"those ahead go first", 1, []Running{{1, 110}}, []Waiting{{1, 10}, {1, 20}, {1, 5}}, 140},
		{"it never fits", 2, nil, []Waiting{{4, 10}}, 100},
	} {
		var p Player
		if got := p.Forward(c.capacity, 100, c.running, c.waiting); got != c.want {
			t.Errorf("%s: starts at %d, want %d", c.name, got, c.want)
		}
	}
}

// TestForwardBudget plays a deep queue with a budget: the answer stays near the exact one.
func TestForwardBudget(t *testing.T) {
	var waiting []Waiting
	for i := range 3000 {
		waiting = append(waiting, Waiting{int64(1 + i%7), capcli.Seconds(100 + i%900)})
	}
	running := []Running{{64, 500}}
	exact := (&Player{}).Forward(64, 0, running, waiting)
	near := (&Player{Budget: 20_000}).Forward(64, 0, running, waiting)
	if math.Abs(float64(near-exact)) > 0.1*float64(exact) {
		t.Errorf("with a budget it starts at %d, exactly at %d", near, exact)
	}
}

func TestBelievedEnd(t *testing.T) {
	for _, c := range []struct {
		now, start    capcli.Time
		belief, limit capcli.Seconds
		want          capcli.Time
	}{
		{100, 90, 20, 100, 110}, // not over yet
		{100, 70, 20, 100, 110}, // over: twice
		{100, 10, 20, 100, 110}, // over three times: at most the limit
		{100, 0, 20, 90, 101},   // past its limit
		{100, 60, 30, 0, 120},   // no limit
	} {
		if got := BelievedEnd(c.now, c.start, c.belief, c.limit); got != c.want {
			t.Errorf("BelievedEnd(%d, %d, %d, %d) = %d, want %d", c.now, c.start, c.belief, c.limit, got, c.want)
		}
	}
}

// queueLog is the log of one machine in order of submission, with an EASY-like queue: jobs of two
// tenants that come in bursts.
func queueLog(n int) []Job {
	rng := capcli.Seed(7).Stream("test")
	var jobs []Job
	var free [8]capcli.Time // when each unit is free
	now := capcli.Time(0)
	for i := range n {
		now += capcli.Time(rng.IntN(900))
		if i%50 == 0 {
			now += 4000
		}
		units := 1 + rng.IntN(4)
		slices.Sort(free[:])
		start := max(now, free[units-1])
		run := capcli.Time(60 + rng.IntN(3000))
		for k := range units {
			free[k] = start + run
		}
		jobs = append(jobs, Job{
			ID: fmt.Sprint(i + 1), Tenant: []string{"a", "b"}[i%2], Queued: now, Start: start, End: start + run,
			Units: int64(units), Limit: capcli.Seconds(2 * run),
		})
	}
	return jobs
}

// TestPredictKnowsNothingLater changes what happens after a moment and expects the same estimates
// before it.
func TestPredictKnowsNothingLater(t *testing.T) {
	jobs := queueLog(600)
	at := jobs[400].Queued
	var early []Job
	for _, j := range jobs[:401] {
		if j.Start.IsKnown() && j.Start >= at {
			j.Start, j.End = j.Start+5000, capcli.NoTime
		} else if j.End > at {
			j.End += 7777
		}
		early = append(early, j)
	}
	a, err := Predict(t.Context(), NewLog(jobs, 0), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Predict(t.Context(), NewLog(early, 0), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range early {
		if a.Estimates[i] != b.Estimates[i] {
			t.Fatalf("job %d: %+v, and %+v where what comes later differs", i, a.Estimates[i], b.Estimates[i])
		}
	}
}

// TestEstimatesAreOrdered expects of each estimate that its range holds it and that it is no number
// that cannot be a wait.
func TestEstimatesAreOrdered(t *testing.T) {
	l := NewLog(queueLog(3000), 8)
	f, err := Predict(t.Context(), l, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range f.Estimates {
		if !(0 <= e.Lo && e.Lo <= e.Wait && e.Wait <= e.Hi && 0 <= e.OverHour && e.OverHour <= 1) {
			t.Fatalf("job %d: %+v", i, e)
		}
	}
	s := l.Rate("own", f.Estimates)
	if c := *s.Waited.Cover; c < 0.70 || c > 0.90 {
		t.Errorf("ranges hold %.2f of the jobs that waited, want 0.80", c)
	}
}
