package mix_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/money/billing"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

// phillyOctober are the jobs of October 2017 of a real log, in order.
func phillyOctober(tb testing.TB) []capcli.Job {
	tb.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "..", "..", "shared", "data", "philly", "philly_sia.csv.gz"))
	if errors.Is(err, fs.ErrNotExist) {
		tb.Skip("the log is not here")
	}
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	r, err := trace.Open(trace.Input{Name: f.Name(), R: f}, trace.Options{Format: "philly"})
	if err != nil {
		tb.Fatal(err)
	}
	var jobs []capcli.Job
	for j, err := range trace.Sorted(r.Jobs()) {
		if err != nil {
			tb.Fatal(err)
		}
		if j.Submit >= octoberStart && j.Submit < octoberStart+octoberLength {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

const (
	octoberStart  = 1506816000 // 2017-10-01
	octoberLength = 31 * 86400
)

// mixes is a problem of so many committed GPUs under a patience and a policy,
// with on-demand GPUs without limit.
func mixes(jobs []capcli.Job, gpus, patience, policies []string) *mix.Problem {
	p := &mix.Problem{Runs: 1, Within: 1800}
	p.Space.Axes = []mix.Axis{{Path: "gpus", Values: gpus, Ordered: true}, {Path: "patience", Values: patience, Ordered: true}, {Path: "policy", Values: policies}}
	p.Jobs = func(int) ([]capcli.Job, error) { return jobs, nil }
	p.Candidate = func(i int) (*mix.Candidate, error) {
		v := p.Space.Values(i)
		k, err1 := strconv.Atoi(v[0])
		wait, err2 := capcli.ParseSeconds(v[1])
		policy, err3 := policy.Catalog.Get(v[2])
		placement, err4 := placement.Catalog.Get("count")
		c := &mix.Candidate{
			Index: i, Values: v, Key: fmt.Sprint(v),
			Rates: []billing.Rate{{Price: 2_200_000, OnDemand: 3_900_000}, {Price: 3_900_000}},
		}
		c.Config = func(int) (simulate.Config, error) {
			return simulate.Config{
				Start: octoberStart, Until: octoberLength, Policy: policy, Placement: placement(),
				Pools: []simulate.Pool{
					{Name: "base", Terms: simulate.Reserved, Nodes: 1, GPUsPerNode: k},
					{Name: "od", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 1e6},
				},
				Overflow: simulate.Overflow{Patience: []simulate.Patience{{Wait: wait}}},
			}, nil
		}
		return c, errors.Join(err1, err2, err3, err4)
	}
	return p
}

// BenchmarkPlainRun is one simulation of a month of a real log, which a search
// does a thousand times.
func BenchmarkPlainRun(b *testing.B) {
	jobs := phillyOctober(b)
	for _, policy := range []string{"fifo", "easy", "sjf"} {
		for _, gpus := range []string{"100", "256", "400"} {
			for _, patience := range []string{"0", "30m", "4h"} {
				p := mixes(jobs, []string{gpus}, []string{patience}, []string{policy})
				b.Run(policy+"/"+gpus+"/"+patience, func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if _, err := p.Outcome(context.Background(), 0, 0); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// BenchmarkSearch is the search that is promised: 1,000 mixes under 3 policies.
func BenchmarkSearch(b *testing.B) {
	jobs := phillyOctober(b)
	var gpus []string
	for k := 4; k <= 800; k += 4 {
		gpus = append(gpus, strconv.Itoa(k))
	}
	p := mixes(jobs, gpus, []string{"0", "15m", "30m", "1h", "4h"}, []string{"fifo", "easy", "sjf"})
	for b.Loop() {
		s := &mix.Search{Problem: p, Limits: []mix.Limit{{Metric: "wait_p95", Op: "<=", Value: 1800}}, Hold: 0.95, Confidence: 0.99}
		f, err := s.Run(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(f.Entries))*float64(b.N)/b.Elapsed().Seconds(), "mixes/s")
		b.ReportMetric(float64(f.Simulations), "simulations")
	}
}
