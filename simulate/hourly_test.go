package simulate_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"capcli"
	"capcli/simulate"
)

// TestHourlyUse plays two jobs by hand: 2 GPUs from half past ten to half past
// twelve, and one for ten seconds at twenty past eleven, of which a minute is
// billed.
func TestHourlyUse(t *testing.T) {
	const start = capcli.Time(1798761600 + 10*3600 + 1800)
	jobs := []capcli.Job{
		{ID: "long", Tenant: "a", Submit: start, GPUs: 2, Run: 7200, Deadline: capcli.NoTime},
		{ID: "short", Tenant: "b", Submit: start + 3000, GPUs: 1, Run: 10, Deadline: capcli.NoTime},
	}
	r, err := simulate.Run(context.Background(), simulate.Config{
		Start: capcli.NoTime, Jobs: stream(jobs), Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"), Hourly: true,
		Pools: []simulate.Pool{{Name: "od", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 8, MinBilling: 60}},
	})
	if err != nil {
		t.Fatal(err)
	}
	h := r.Record.Hourly
	if want := capcli.Time(1798761600 + 10*3600); h.First != want || h.Hours != 3 {
		t.Errorf("from %s over %d hours, want from %s over 3", h.First, h.Hours, want)
	}
	const hour = 3600 * capcli.GPUSecond
	if got, want := h.Use[0][0].Used, []capcli.GPUTime{hour, 2 * hour, hour}; !reflect.DeepEqual(got, want) {
		t.Errorf("a held %v, want %v", got, want)
	}
	if got, want := h.Use[0][1], (simulate.HourlyUse{Used: []capcli.GPUTime{0, 10_000}, Rest: []capcli.GPUTime{0, 50_000}}); !reflect.DeepEqual(got, want) {
		t.Errorf("b had %v, want %v", got, want)
	}
}

// TestHourlyChangesNothing has a run with hours and one without, to its end and
// cut short: the months are the same, and the run's own check holds the hours
// against them.
func TestHourlyChangesNothing(t *testing.T) {
	run := func(hourly bool, until capcli.Seconds) *simulate.Result {
		r, err := simulate.Run(context.Background(), simulate.Config{
			Start: -1234, Until: until, Jobs: poisson(2000, 64, 1.2), Policy: mustPolicy(t, "easy"), Placement: mustPlacement(t, "count"), Hourly: hourly,
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
		if fmt.Sprintf("%+v", with.Record.Months) != fmt.Sprintf("%+v", without.Record.Months) {
			t.Errorf("until %d: the months differ", until)
		}
		if without.Record.Hourly != nil || with.Record.Hourly == nil {
			t.Errorf("until %d: hours are kept where nobody asked", until)
		}
	}
}

// BenchmarkHourly is the cost of keeping hours.
func BenchmarkHourly(b *testing.B) {
	for _, hourly := range []bool{false, true} {
		b.Run(fmt.Sprint(hourly), func(b *testing.B) {
			for b.Loop() {
				_, err := simulate.Run(context.Background(), simulate.Config{
					Start: capcli.NoTime, Jobs: poisson(1e5, 512, 0.8), Policy: mustPolicy(b, "fifo"), Placement: mustPlacement(b, "count"), Hourly: hourly,
					Pools: []simulate.Pool{{Name: "all", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: 512}},
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestStaysOfWholeMachines plays three jobs on demand on machines of 8: one of 3 GPUs and one of
// 12, each billed for its own machines, and one of 8 for ten seconds of a billed minute.
func TestStaysOfWholeMachines(t *testing.T) {
	const start = capcli.Time(1798761600)
	jobs := []capcli.Job{
		{ID: "three", Tenant: "a", Submit: start, GPUs: 3, Run: 5400, Deadline: capcli.NoTime},
		{ID: "twelve", Tenant: "a", Submit: start, GPUs: 12, Run: 3600, Deadline: capcli.NoTime, Tags: capcli.NewTags(capcli.Tag{Name: "project", Value: "x"})},
		{ID: "eight", Tenant: "b", Submit: start, GPUs: 8, Run: 10, Deadline: capcli.NoTime},
		{ID: "share", Tenant: "b", Submit: start, GPUs: 1, GPUMilli: 250, Run: 10, Deadline: capcli.NoTime},
	}
	r, err := simulate.Run(context.Background(), simulate.Config{
		Start: capcli.NoTime, Jobs: stream(jobs), Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"), Hourly: true, Timeline: true,
		Pools: []simulate.Pool{{Name: "od", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 1000, MinBilling: 60, MachineGPUs: 8}},
	})
	if err != nil {
		t.Fatal(err)
	}
	const hour = 3600 * capcli.GPUSecond
	a, b := r.Record.Hourly.Use[0][0], r.Record.Hourly.Use[0][1]
	if want := (simulate.HourlyUse{Used: []capcli.GPUTime{15 * hour, 3 * hour / 2}, Spare: []capcli.GPUTime{9 * hour, 5 * hour / 2}}); !reflect.DeepEqual(a, want) {
		t.Errorf("a had %v, want %v", a, want)
	}
	if want := (simulate.HourlyUse{Used: []capcli.GPUTime{82_500}, Rest: []capcli.GPUTime{412_500}, Spare: []capcli.GPUTime{7_750 * 60}}); !reflect.DeepEqual(b, want) {
		t.Errorf("b had %v, want %v", b, want)
	}
	m := r.Record.Months[0]
	spare := 9*hour + 5*hour/2
	if got, want := m.Use[0][0], (simulate.Use{Used: 33 * hour / 2, Billed: 33*hour/2 + spare, Spare: spare}); got != want {
		t.Errorf("the month has %+v for a, want %+v", got, want)
	}
	if got, want := m.Tagged[0][0], (simulate.Use{Used: 12 * hour, Billed: 16 * hour, Spare: 4 * hour}); got != want {
		t.Errorf("the jobs with tags had %+v, want %+v", got, want)
	}
	var sum simulate.Span
	for _, c := range r.Timeline.Cells {
		sum.Add(c.Pools[0])
	}
	if sum != m.Pools[0] {
		t.Errorf("over time the pool had %+v, in the month %+v", sum, m.Pools[0])
	}
}
