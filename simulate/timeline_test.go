package simulate_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"capcli"
	"capcli/simulate"

	"pgregory.net/rapid"
)

// secondBook counts a run second by second: waiting jobs, the GPUs they want, and GPUs in use by terms.
type secondBook struct {
	until           capcli.Seconds
	waiting, wanted map[capcli.Seconds]int64
	used            [4]map[capcli.Seconds]int64
	demand          map[capcli.Seconds]int64
	waits, runs     map[string]capcli.Seconds // since when a job waits or runs
	c               *simulate.Cluster
}

func newSecondBook(until capcli.Seconds) *secondBook {
	b := &secondBook{until: until, waiting: map[capcli.Seconds]int64{}, wanted: map[capcli.Seconds]int64{}, demand: map[capcli.Seconds]int64{}, waits: map[string]capcli.Seconds{}, runs: map[string]capcli.Seconds{}}
	for k := range b.used {
		b.used[k] = map[capcli.Seconds]int64{}
	}
	return b
}

func fillSeconds(to map[capcli.Seconds]int64, from, until capcli.Seconds, milli int64) {
	for at := from; at < until; at++ {
		to[at] += milli
	}
}

func (b *secondBook) Observe(e simulate.Event, c *simulate.Cluster) {
	if e.Job == nil {
		return
	}
	b.c = c
	id, milli := e.Job.ID, e.Job.Milli()
	waited := func(to capcli.Seconds) {
		fillSeconds(b.waiting, b.waits[id], to, 1)
		fillSeconds(b.wanted, b.waits[id], to, milli)
		delete(b.waits, id)
	}
	switch e.Kind {
	case simulate.Arrive:
		fillSeconds(b.demand, e.At, e.At+e.Job.Run, milli)
		if !e.Job.Refused() {
			b.waits[id] = e.At
		}
	case simulate.Start:
		waited(e.Job.Since)
		b.runs[id] = e.Job.Since
	case simulate.Finish, simulate.Preempt:
		fillSeconds(b.used[c.Pool(e.Pool).Terms], b.runs[id], e.At, milli)
		delete(b.runs, id)
		if e.Kind == simulate.Preempt {
			b.waits[id] = e.At
		}
	default:
	}
}

func (b *secondBook) Close(l *simulate.Live) {
	if from, waits := b.waits[l.ID]; waits {
		fillSeconds(b.waiting, from, b.until, 1)
		fillSeconds(b.wanted, from, b.until, l.Milli())
	} else {
		fillSeconds(b.used[b.c.Pool(l.Pool()).Terms], b.runs[l.ID], b.until, l.Milli())
	}
}

// sums returns the sums of values over steps of a width, and the largest value of each.
func sums(values map[capcli.Seconds]int64, width, end capcli.Seconds) (sum, most []int64) {
	n := int((end + width - 1) / width)
	sum, most = make([]int64, n), make([]int64, n)
	for at, v := range values {
		if at < end {
			sum[at/width] += v
			most[at/width] = max(most[at/width], v)
		}
	}
	return sum, most
}

// TestTimelineCountsEverySecond holds each step of a timeline against a count of each second, for
// random jobs, periods, lead times and node losses.
func TestTimelineCountsEverySecond(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tb, t := t, rt
		n := rapid.IntRange(1, 25).Draw(t, "jobs")
		var jobs []capcli.Job
		at := capcli.Time(rapid.Int64Range(-5000, 5000).Draw(t, "start"))
		for i := range n {
			at += capcli.Time(rapid.IntRange(0, 300).Draw(t, "gap"))
			jobs = append(jobs, capcli.Job{
				ID: fmt.Sprint(i), Tenant: "a", Submit: at, GPUs: rapid.IntRange(1, 9).Draw(t, "gpus"),
				Run: capcli.Seconds(rapid.IntRange(0, 4000).Draw(t, "run")), Deadline: capcli.NoTime,
			})
		}
		until := capcli.Seconds(rapid.SampledFrom([]int{0, 0, 500, 3000, 100_000}).Draw(t, "until"))
		end := until
		if until == 0 {
			end = 200_000
		}
		book := newSecondBook(end)
		terms := simulate.Terms(rapid.IntRange(2, 3).Draw(t, "terms"))
		r, err := simulate.Run(context.Background(), simulate.Config{
			Start: jobs[0].Submit, Until: until, Jobs: stream(jobs), Policy: mustPolicy(tb, "fifo"), Placement: mustPlacement(tb, "count"), Timeline: true,
			Overflow:  simulate.Overflow{Patience: []simulate.Patience{{Wait: capcli.Seconds(rapid.IntRange(0, 400).Draw(t, "patience"))}}},
			Observers: []simulate.Observer{book},
			Pools: []simulate.Pool{
				{Name: "own", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: 4},
				{Name: "extra", Terms: terms, Nodes: 1, GPUsPerNode: 8, Rank: 1, Lead: capcli.Seconds(rapid.IntRange(0, 90).Draw(t, "lead"))},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		tl := r.Timeline
		if tl.Length != r.Ended || len(tl.Demand) > 400 || capcli.Seconds(len(tl.Demand))*tl.Step < tl.Length {
			t.Fatalf("%d steps of %d s for a run of %d s", len(tl.Demand), tl.Step, r.Ended)
		}
		check := func(what string, got []int64, values map[capcli.Seconds]int64) {
			want, _ := sums(values, tl.Step, r.Ended)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: got %v, want %v", what, got, want)
			}
		}
		check("waiting", tl.Wait, book.waiting)
		check("queue", integers(tl.Queue), book.wanted)
		if n := len(tl.Demand); n > 0 && until == 0 { // a job that can never run may end within the last step, after the end
			want, _ := sums(book.demand, tl.Step, r.Ended)
			if !reflect.DeepEqual(integers(tl.Demand)[:n-1], want[:n-1]) {
				t.Fatalf("demand: got %v, want %v", tl.Demand, want)
			}
		} else {
			check("demand", integers(tl.Demand), book.demand)
		}
		_, peaks := sums(book.waiting, tl.Step, r.Ended)
		if !reflect.DeepEqual(tl.Peak, peaks) {
			t.Fatalf("peak: got %v, want %v", tl.Peak, peaks)
		}
		for k := range tl.Spans {
			used := make([]int64, len(tl.Spans[k]))
			for i := range used {
				used[i] = int64(tl.Spans[k][i].Used)
			}
			check(simulate.Terms(k).String(), used, book.used[k])
		}
	})
}

func integers(list []capcli.GPUTime) []int64 {
	out := make([]int64, len(list))
	for i, v := range list {
		out[i] = int64(v)
	}
	return out
}

// TestTimelineHours has one job that runs over the end of summer time in Berlin: three hours of
// 25 October 2026 are from 01:30 to 03:30 on the clock, for the hour from 2 comes twice.
func TestTimelineHours(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	start := capcli.TimeOf(time.Date(2026, 10, 25, 1, 30, 0, 0, berlin))
	r, err := simulate.Run(context.Background(), simulate.Config{
		Start: start, List: []capcli.Job{{ID: "a", Submit: start, GPUs: 2, Run: 3 * capcli.Hour, Deadline: capcli.NoTime}},
		Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"), Timeline: true, Zone: berlin,
		Pools: []simulate.Pool{{Name: "own", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: 4}},
	})
	if err != nil {
		t.Fatal(err)
	}
	const sunday, gpuHour = 6, 3600 * capcli.GPUSecond
	want := map[int]simulate.HourUse{1: {Used: gpuHour, Time: 1800}, 2: {Used: 4 * gpuHour, Time: 7200}, 3: {Used: gpuHour, Time: 1800}}
	for d := range r.Timeline.Hours {
		for h, got := range r.Timeline.Hours[d] {
			if d == sunday && got != want[h] || d != sunday && got != (simulate.HourUse{}) {
				t.Errorf("day %d, hour %d: %+v, want %+v", d, h, got, want[h])
			}
		}
	}
}

// TestTimelineChangesNothing has a run with a timeline and one without.
func TestTimelineChangesNothing(t *testing.T) {
	run := func(on bool, until capcli.Seconds) *simulate.Result {
		r, err := simulate.Run(context.Background(), simulate.Config{
			Start: -1234, Until: until, Jobs: poisson(2000, 64, 1.2), Policy: mustPolicy(t, "easy"), Placement: mustPlacement(t, "count"), Timeline: on,
			Overflow: simulate.Overflow{Patience: []simulate.Patience{{Wait: 600}}},
			Pools: []simulate.Pool{
				{Name: "own", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: 48},
				{Name: "od", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 64, MinBilling: 900, Rank: 1},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, until := range []capcli.Seconds{0, 40_000} {
		with, without := run(true, until), run(false, until)
		if with.Timeline == nil || without.Timeline != nil {
			t.Fatalf("timeline: %v and %v", with.Timeline, without.Timeline)
		}
		with.Timeline = nil
		if !reflect.DeepEqual(with, without) {
			t.Errorf("until %d: the timeline changed the run", until)
		}
	}
}

// BenchmarkTimeline is the cost of a timeline.
func BenchmarkTimeline(b *testing.B) {
	for _, on := range []bool{false, true} {
		b.Run(fmt.Sprint(on), func(b *testing.B) {
			for b.Loop() {
				_, err := simulate.Run(context.Background(), simulate.Config{
					Start: capcli.NoTime, Jobs: poisson(100_000, 512, 0.9), Policy: mustPolicy(b, "easy"), Placement: mustPlacement(b, "count"), Timeline: on,
					Pools: []simulate.Pool{{Name: "all", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: 480}, {Name: "spot", Terms: simulate.Spot, Nodes: 1, GPUsPerNode: 64}},
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
