package simulate_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

// offsets is a Delayer with a drawn answer for each job. It checks that no job begins too early.
type offsets struct {
	t     *rapid.T
	pools []simulate.Pool
	of    map[string]simulate.Delay
	asked map[string]bool
}

func (o *offsets) Delay(l *simulate.Live, now capcli.Time) simulate.Delay {
	if o.asked[l.ID] {
		o.t.Fatalf("%s is asked for twice", l.ID)
	}
	o.asked[l.ID] = true
	return o.of[l.ID]
}

func (o *offsets) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Kind != simulate.Start {
		return
	}
	d := o.of[e.Job.ID]
	if len(d.Parts) == 0 || e.At >= e.Job.Submitted+d.Parts[0].From {
		return
	}
	if !d.CommittedFirst {
		o.t.Fatalf("%s starts at %d, %d s before it may", e.Job.ID, e.At, e.Job.Submitted+d.Parts[0].From-e.At)
	}
	if first := e.Job.Reach().Ranks()[0]; !slices.Contains(first, e.Pool) {
		o.t.Fatalf("%s starts at %d in a pool of overflow, before its start", e.Job.ID, e.At)
	}
}

// delayed draws a Delayer for a world.
func delayed(t *rapid.T, w *world) {
	of := map[string]simulate.Delay{}
	for _, j := range w.jobs {
		var d simulate.Delay
		at := capcli.Seconds(0)
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			at += capcli.Seconds(rapid.SampledFrom([]int{0, 1, 10, 40}).Draw(t, "gap"))
			if n := len(d.Parts); n > 0 && d.Parts[n-1].To == at {
				at++
			}
			to := at + capcli.Seconds(rapid.IntRange(1, 20).Draw(t, "part"))
			d.Parts = append(d.Parts, simulate.Part{From: at, To: to})
			at = to
		}
		d.CommittedFirst = len(d.Parts) == 1 && rapid.Bool().Draw(t, "committed first")
		of[j.ID] = d
	}
	inner := w.change
	w.change = func(c *simulate.Config) {
		if inner != nil {
			inner(c)
		}
		o := &offsets{t: t, pools: c.Pools, of: of, asked: map[string]bool{}}
		if c.Overflow.QueueMax == 0 {
			c.Observers = append(c.Observers, o)
		}
		c.Delayer = o
	}
}

// TestConformDelayed holds every policy with every placement to the laws with starts that are put off,
// jobs that pause, and interruptions of all kinds.
func TestConformDelayed(t *testing.T) {
	limitDraws(t, 4)
	for _, pol := range policy.Catalog.All() {
		for _, pl := range placement.Catalog.All() {
			t.Run(pol.Name+"/"+pl.Name, rapid.MakeCheck(func(rt *rapid.T) {
				w := drawWorld(rt)
				if rapid.Bool().Draw(rt, "interrupted") {
					interrupted(rt, &w)
				}
				delayed(rt, &w)
				r, a := w.play(t, pol.Value, pl.Value(), w.jobs)
				w.checkEnd(rt, r, a)
				w.checkAgain(rt, t, pol.Value, pl.Value(), r, a)
			}))
		}
	}
}

// A job that is put off waits from its start on, and one that pauses runs in its parts.
func TestDelays(t *testing.T) {
	job := func(id string, run capcli.Seconds) capcli.Job {
		return capcli.Job{ID: id, Run: run, GPUs: 1, Deadline: capcli.NoTime}
	}
	of := map[string]simulate.Delay{
		"late":   {Parts: []simulate.Part{{From: 50, To: 60}}},
		"pauses": {Parts: []simulate.Part{{From: 0, To: 10}, {From: 20, To: 25}, {From: 40, To: 45}}},
	}
	log := &startStop{}
	r, err := simulate.Run(t.Context(), simulate.Config{
		Pools: []simulate.Pool{{Name: "p", Nodes: 1, GPUsPerNode: 2}}, List: []capcli.Job{job("late", 10), job("pauses", 20)},
		Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"), Delayer: fixedDelays(of), Observers: []simulate.Observer{log},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"0 start pauses", "10 preempt pauses", "20 start pauses", "25 preempt pauses", "40 start pauses", "45 finish pauses", "50 start late", "60 finish late"}
	if !slices.Equal(log.lines, want) {
		t.Errorf("got %q, want %q", log.lines, want)
	}
	if d := *r.Delays; d != (simulate.Delays{Jobs: 1, Time: 50, Longest: 50, Pauses: 2, Paused: 25}) {
		t.Errorf("delays %+v", d)
	}
	if r.Wait.Max != 0 || r.MeanQueueTime != 0 || r.MeanJCT != (45+60)/2.0 {
		t.Errorf("nobody waited for capacity: wait %v, queue time %v, mean time to the end %v", r.Wait.Max, r.MeanQueueTime, r.MeanJCT)
	}
}

type fixedDelays map[string]simulate.Delay

func (f fixedDelays) Delay(l *simulate.Live, _ capcli.Time) simulate.Delay { return f[l.ID] }

// startStop notes what happens to jobs after their arrival.
type startStop struct{ lines []string }

func (w *startStop) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Job != nil && e.Kind != simulate.Arrive {
		w.lines = append(w.lines, fmt.Sprint(int64(e.At), " ", e.Kind, " ", e.Job.ID))
	}
}
