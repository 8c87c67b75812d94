package policy_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/placement"
)

// phillyMonth returns the jobs of October 2017 of Philly with speeds on three GPU models: the n-th job has
// those of the (n mod 26)-th job type of the published table at its width, or at 8 GPUs if it is wider. With
// elastic a job may also run on half and on twice as many GPUs, and so on up to 64, at the speeds of the
// table; beyond 8 GPUs a doubling gives what the last one gave.
func phillyMonth(t testing.TB, elastic bool) []capcli.Job {
	speeds := gavelSpeeds(t)
	var types []string
	for name, s := range speeds {
		if s["V100"][8] > 0 {
			types = append(types, name)
		}
	}
	slices.Sort(types)
	shapes := map[string]*capcli.Shape{}
	shapeOf := func(name string, asked int) *capcli.Shape {
		key := fmt.Sprint(name, " ", asked)
		if s := shapes[key]; s != nil {
			return s
		}
		base := speedAt(speeds[name]["V100"], asked)
		s := &capcli.Shape{Name: key}
		for _, m := range gavelModels {
			widths := []int{asked}
			if elastic {
				widths = nil
				for n := 1; n <= 64; n *= 2 {
					widths = append(widths, n)
				}
				if !slices.Contains(widths, asked) {
					widths = append(widths, asked)
				}
			}
			for _, n := range widths {
				if v := speedAt(speeds[name][m], n); v > 0 {
					s.Ways = append(s.Ways, capcli.Way{Model: m, GPUs: n, Num: int64(math.Round(base * 1e9)), Den: int64(math.Round(v * 1e9))})
				}
			}
		}
		shapes[key] = s
		return s
	}
	var jobs []capcli.Job
	for n, r := range readTable(t, "data/philly/philly_sia.csv.gz") {
		at, err := time.Parse(time.DateTime, r["timestamp"])
		if err != nil || at.Year() != 2017 || at.Month() != time.October {
			continue
		}
		gpus := int(number(t, r["num_gpus"]))
		run := capcli.Seconds(number(t, r["duration"]))
		if gpus < 1 || run < 1 {
			continue
		}
		jobs = append(jobs, capcli.Job{
			ID: fmt.Sprint(n), Submit: capcli.Time(at.Unix()), GPUs: gpus, Run: run, Limit: run, Deadline: capcli.NoTime, Shape: shapeOf(types[n%len(types)], gpus),
		})
	}
	slices.SortStableFunc(jobs, func(a, b capcli.Job) int { return int(a.Submit - b.Submit) })
	return jobs
}

// speedAt returns the speed at a width: of the widest entry that is not wider, times what each doubling of
// the table's last step gave.
func speedAt(row map[int]float64, n int) float64 {
	w := 1
	for w*2 <= min(n, 8) && row[w*2] > 0 {
		w *= 2
	}
	v := row[w]
	for gain := row[8] / row[4]; w == 8 && n >= 16; n /= 2 {
		v *= gain
	}
	return v
}

// playMonth plays the month and returns the mean completion time in seconds.
func playMonth(t testing.TB, name string, jobs []capcli.Job, nodes int, choices map[string]string) float64 {
	var pools []simulate.Pool
	for _, m := range gavelModels {
		pools = append(pools, simulate.Pool{Name: m, GPUModel: m, Nodes: nodes, GPUsPerNode: 8})
	}
	place, err := placement.Catalog.Get("consolidate")
	if err != nil {
		t.Fatal(err)
	}
	o := &ends{map[int64]capcli.Seconds{}}
	r, err := simulate.Run(context.Background(), simulate.Config{
		Pools: pools, Jobs: streamOf(jobs), Policy: mustPolicy(t, name), Placement: place(), Observers: []simulate.Observer{o},
		Settings: simulate.Settings{Choices: choices},
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Jobs.Finished != r.Jobs.Read-r.Jobs.Unplaceable {
		t.Fatalf("%s: %d of %d jobs finished", name, r.Jobs.Finished, r.Jobs.Read)
	}
	sum := 0.0
	for _, d := range o.took {
		sum += float64(d)
	}
	return sum / float64(len(o.took))
}

// BenchmarkMonth plays a month of Philly with policies that choose models or widths.
func BenchmarkMonth(b *testing.B) {
	for _, c := range []struct {
		policy, agnostic string
		elastic          bool
	}{{"gavel", "false", false}, {"gavel", "true", false}, {"goodput", "", true}, {"elastic", "", true}} {
		for _, nodes := range []int{100, 60} {
			b.Run(fmt.Sprint(c.policy, " ", c.agnostic, "/", 24*nodes, " GPUs"), func(b *testing.B) {
				jobs := phillyMonth(b, c.elastic)
				b.ResetTimer()
				for range b.N {
					b.ReportMetric(playMonth(b, c.policy, jobs, nodes, map[string]string{"agnostic": c.agnostic}), "s/job")
				}
			})
		}
	}
}
