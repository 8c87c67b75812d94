package mix

import (
	"context"
	"testing"

	"capcli/scenarios"
	"capcli/scenarios/play"
)

// regions is a small choice of where: personal jobs stay in Europe, open jobs may cross for egress.
const regions = `capcli: scenario/v1
name: regions
period: 2027-06-01 to 2027-06-03
jobs:
  generate:
    classes:
      - {name: personal, jobs_per_day: 12, sizes: [{gpus: 4}], run_median: 2h, run_p95: 5h, run_max: 6h}
      - {name: open, jobs_per_day: 12, sizes: [{gpus: 4}], run_median: 2h, run_p95: 5h, run_max: 6h}
capacity:
  - {name: eu, kind: reserved, gpus: 8, price: 2.00, place: aws/eu-west-1}
  - {name: us, kind: reserved, gpus: 8, price: 1.20, place: aws/us-east-1}
  - {name: eu-burst, kind: on_demand, price: 4.50, place: aws/eu-west-1}
  - {name: us-burst, kind: on_demand, price: 3.50, place: aws/us-east-1}
overflow: {order: [cheapest], patience: 0}
places: {egress: 0.02, bandwidth: 20}
shapes:
  - {name: scans, classes: [personal], data: {home: aws/eu-west-1, gib: 100, only: [aws/eu-*]}}
  - {name: web, classes: [open], data: {home: aws/eu-west-1, gib: 200}}
`

// TestMixOfRegions: the best mix over two regions, with residency and egress, is that of playing every mix,
// and no mix costs less than the bound.
func TestMixOfRegions(t *testing.T) {
	load := func(sets ...string) *play.Case {
		s, err := scenarios.Parse("regions.yaml", []byte(regions), sets...)
		if err != nil {
			t.Fatal(err)
		}
		c, err := play.NewCase(s, play.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	r := NewRequest(load())
	r.Runs, r.Vary = 1, []string{"capacity.eu.gpus=0..16:8", "capacity.us.gpus=0..16:8"}
	p, err := NewPlanner(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	found, err := p.Find(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	res, err := p.Study(context.Background(), found)
	if err != nil {
		t.Fatal(err)
	}
	least, where := int64(1<<62), ""
	for _, eu := range []string{"0", "8", "16"} {
		for _, us := range []string{"0", "8", "16"} {
			runs, err := load("capacity.eu.gpus="+eu, "capacity.us.gpus="+us).Play(context.Background(), 1)
			if err != nil {
				t.Fatal(err)
			}
			if cost := int64(*runs[0].Cost.Total); cost < least {
				least, where = cost, "eu "+eu+", us "+us
			}
			if runs[0].Places.Kept == nil {
				t.Fatalf("eu %s, us %s: residency kept nobody out", eu, us)
			}
		}
	}
	got := "eu " + res.Best.Choices[0].Value + ", us " + res.Best.Choices[1].Value
	t.Logf("best: %s for %d millionths", got, least)
	if got != where || int64(*res.Best.Cost) != least {
		t.Errorf("the plan is %s for %d, the cheapest of all mixes %s for %d", got, int64(*res.Best.Cost), where, least)
	}
	if res.Bound != nil && int64(res.Bound.Cost) > least {
		t.Errorf("the bound %d is above the cheapest mix %d", int64(res.Bound.Cost), least)
	}
}
