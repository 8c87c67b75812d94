package play

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/scenarios"
)

// twoRegions is a scenario of jobs whose personal data must stay in Europe, and of others that may run on
// either side of the ocean.
const twoRegions = `capcli: scenario/v1
name: two regions
period: 2027-06-01 to 2027-06-07
jobs:
  generate:
    classes:
      - {name: personal, tenants: [{name: clinic}], jobs_per_day: 40, sizes: [{gpus: 8}], run_median: 2h, run_p95: 6h, run_max: 8h}
      - {name: open, tenants: [{name: lab}], jobs_per_day: 40, sizes: [{gpus: 8}], run_median: 2h, run_p95: 6h, run_max: 8h}
capacity:
  - {name: eu, kind: on_demand, price: 3.90, place: aws/eu-west-1}
  - {name: us, kind: on_demand, price: 2.90, place: aws/us-east-1}
overflow: {order: [cheapest]}
places: {egress: 0.02, bandwidth: 8, latency: 80}
shapes:
  - {name: scans, classes: [personal], data: {name: scans, home: aws/eu-west-1, gib: 400, only: [aws/eu-*]}}
  - {name: web, classes: [open], data: {home: aws/eu-west-1, gib: %d}}
`

func playText(t *testing.T, text string, seed capcli.Seed, sets ...string) *Run {
	t.Helper()
	s, err := scenarios.Parse("places.yaml", []byte(text), sets...)
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewCase(s, Options{Seed: &seed})
	if err != nil {
		t.Fatal(err)
	}
	runs, err := c.Play(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	return runs[0]
}

// Two regions with residency: personal data never leaves Europe, whatever it costs; other jobs go where all
// is cheapest. With 100 GiB each they cross the ocean, because $2 of egress is less than what a dollar a
// GPU-hour saves; with 1500 GiB only the long ones do.
func TestTwoRegionsWithResidency(t *testing.T) {
	for seed := range capcli.Seed(5) {
		small, large, free := playText(t, fmt.Sprintf(twoRegions, 100), seed+1), playText(t, fmt.Sprintf(twoRegions, 1500), seed+1),
			playText(t, fmt.Sprintf(twoRegions, 100), seed+1, "shapes.scans.data.only=null")
		for name, r := range map[string]*Run{"small": small, "large": large} {
			if b := r.Places.Kept; len(b) != 1 || b[0].Pool != "us" || b[0].Residency == 0 || b[0].Latency != 0 {
				t.Fatalf("seed %d, %s: kept out %+v, want the personal jobs out of us", seed, name, b)
			}
			var moved capcli.USD
			for _, m := range r.Places.Moves {
				if m.From == "aws/eu-west-1" && m.Cost != nil {
					moved += *m.Cost
				}
			}
			if moved != *r.Places.Cost || moved != r.Invoice.Total.Moved {
				t.Errorf("seed %d, %s: moves cost %s, the places say %s, the invoice %s", seed, name, moved, *r.Places.Cost, r.Invoice.Total.Moved)
			}
			for _, tenant := range r.Invoice.ByTenant {
				if tenant.Name == "clinic" && tenant.Moved != 0 {
					t.Errorf("seed %d, %s: the clinic pays %s for moved data", seed, name, tenant.Moved)
				}
			}
		}
		open := small.Places.Places[1]
		if open.Jobs == 0 || open.Transfers < open.Jobs || float64(open.Transfers)*100 != open.In {
			t.Errorf("seed %d: %+v; each job brings its 100 GiB", seed, open)
		}
		if few := large.Places.Places[1]; few.Jobs >= open.Jobs || few.Jobs == 0 {
			t.Errorf("seed %d: with 1500 GiB %d jobs cross the ocean, with 100 GiB %d", seed, few.Jobs, open.Jobs)
		}
		price := float64(*small.Cost.Total)/float64(*free.Cost.Total) - 1
		if t.Logf("seed %d: residency costs %.1f%%; %d of %d open jobs cross with 1500 GiB", seed, 100*price, large.Places.Places[1].Jobs, open.Jobs); price < 0.05 || price > 0.1 {
			t.Errorf("seed %d: residency costs %.1f%%, want 5 to 10", seed, 100*price)
		}
	}
}

// withinSlack is a scenario whose jobs may start up to twelve hours later. The grid is clean from 10:00 to 16:00.
const withinSlack = `capcli: scenario/v1
name: carbon within slack
period: 2027-06-01 to 2027-06-14
jobs:
  generate:
    classes: [{name: batch, jobs_per_day: 60, sizes: [{gpus: 8}], run_median: 90m, run_p95: 4h, run_max: 6h}]
capacity: [{name: cloud, kind: on_demand, price: 3.00, place: aws/us-west-2}]
energy: {watts_held: 700, zones: [{place: aws/us-west-2, zone: X}], intensity: grid.csv}
shift: {by: carbon, most: 12h, policy: lowest-window}
`

// grid is two weeks of a grid that is clean in the middle of the day.
func grid() []byte {
	text := "zone,timestamp_utc,gco2_per_kwh\n"
	start := capcli.Time(1_811_808_000) // 2027-06-01
	for h := range 24 * 20 {
		g := 400
		if d := h % 24; d >= 10 && d < 16 {
			g = 100
		}
		text += fmt.Sprintf("X,%s,%d\n", start+capcli.Time(3600*h), g)
	}
	return []byte(text)
}

// Carbon within slack: what share of the carbon, at what wait. Where capacity is there at once the jobs do
// what was chosen; to be suspended saves more, and no policy saves more than the bound.
func TestCarbonWithinSlack(t *testing.T) {
	for seed := range capcli.Seed(4) {
		saved := map[string]float64{}
		for _, policy := range []string{"none", "lowest-window", "carbon-time", "suspend"} {
			s, err := scenarios.Parse("slack.yaml", []byte(withinSlack), "shift.policy="+policy)
			if err != nil {
				t.Fatal(err)
			}
			n := seed + 1
			c, err := NewCase(s, Options{Seed: &n, Logs: &Logs{Open: openGrid}})
			if err != nil {
				t.Fatal(err)
			}
			runs, err := c.Play(context.Background(), 1)
			if err != nil {
				t.Fatal(err)
			}
			d := runs[0].PutOff
			x := d.Rules[0]
			if x.Saved == nil {
				t.Fatalf("seed %d, %s: %+v of %+v", seed, policy, x, runs[0].Result.Jobs)
			}
			saved[policy] = *x.Saved
			if *x.Done != *x.Chosen || *x.Done < *x.Least || *x.Saved > *x.Bound {
				t.Errorf("seed %d, %s: %d mg, chosen %d, bound %d", seed, policy, *x.Done, *x.Chosen, *x.Least)
			}
			if policy == "suspend" && *x.Done != *x.Least {
				t.Errorf("seed %d: suspend emits %d mg, the bound is %d", seed, *x.Done, *x.Least)
			}
			if runs[0].WaitMean != 0 || d.Longest > 12*capcli.Hour {
				t.Errorf("seed %d, %s: waits of %v s, put off by %s", seed, policy, runs[0].WaitMean, d.Longest)
			}
			mean := 0.0
			if d.Mean != nil {
				mean = *d.Mean / 3600
			}
			t.Logf("seed %d %-14s saves %.1f%% of the carbon, %d jobs later by %.1f h on average", seed, policy, 100**x.Saved, d.Jobs, mean)
		}
		if saved["none"] != 0 || !(saved["suspend"] >= saved["lowest-window"] && saved["lowest-window"] >= saved["carbon-time"]) ||
			saved["lowest-window"] < 0.3 || saved["lowest-window"] > 0.6 {
			t.Errorf("seed %d: saved %v", seed, saved)
		}
	}
}

func openGrid(string) (trace.Input, io.Closer, error) {
	return trace.Input{Name: "grid.csv", R: bytes.NewReader(grid())}, io.NopCloser(nil), nil
}
