package mix_test

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"capcli"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/money/billing"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
	"capcli/testdata/golden"
)

// starburstPoint is a policy's place in the trade-off: GPU-hours bought on
// demand, and the mean time from submission to end, in hours.
type starburstPoint struct{ cloud, jct float64 }

// starburstRows reads what Starburst's simulator did with the jobs of Philly
// under one of its waiting policies: the jobs, and where that puts the policy.
func starburstRows(t *testing.T, name string) ([]capcli.Job, starburstPoint) {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "..", "..", "shared", "golden", "dl", name+".csv.gz"))
	if err != nil {
		t.Skipf("golden answers are not here: %v", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(z).ReadAll() // idx, arrival_h, start_h, runtime_h, num_gpus, state
	if err != nil {
		t.Fatal(err)
	}
	var jobs []capcli.Job
	var at starburstPoint
	for _, r := range rows[1:] {
		var v [4]float64
		for i := range v {
			if v[i], err = strconv.ParseFloat(r[i+1], 64); err != nil {
				t.Fatal(err)
			}
		}
		arrival, start, run, gpus := v[0], v[1], v[2], v[3]
		at.jct += (start - arrival + run) / float64(len(rows)-1)
		if r[5] != "LOCAL" {
			at.cloud += gpus * run
		}
		jobs = append(jobs, capcli.Job{
			ID: r[0], GPUs: int(gpus), Submit: capcli.Time(math.Round(arrival * 3600)), Run: capcli.Seconds(math.Round(run * 3600)), Deadline: capcli.NoTime,
		})
	}
	return jobs, at
}

// starburstProblem is Starburst's world, 64 nodes of 8 GPUs that are there anyway
// and a cloud that sells the rest for a dollar the GPU-hour: how a job waits for
// the 64 before it goes, and who goes first, is what is to be chosen.
func starburstProblem(jobs []capcli.Job, policies, perGPUHour, queues []string) *mix.Problem {
	p := &mix.Problem{Runs: 1, Within: capcli.Hour}
	p.Space.Axes = []mix.Axis{
		{Path: "policy", Values: policies},
		{Path: "overflow.patience_per_gpu_hour", Values: perGPUHour, Ordered: true},
		{Path: "overflow.queue_max", Values: queues, Ordered: true},
	}
	p.Jobs = func(int) ([]capcli.Job, error) { return jobs, nil }
	p.Candidate = func(i int) (*mix.Candidate, error) {
		v := p.Space.Values(i)
		name, skip := v[0], false
		if v[0] == "fifo-skip" {
			name, skip = "fifo", true
		}
		policy, err := policy.Catalog.Get(name)
		if err != nil {
			return nil, err
		}
		first, err := placement.Catalog.Get("first")
		if err != nil {
			return nil, err
		}
		var rule simulate.Patience
		if rule.PerHour, err = strconv.ParseFloat(v[1], 64); err != nil {
			// "1h": the same wait for all
			if rule.Wait, err = capcli.ParseSeconds(v[1]); err != nil {
				return nil, err
			}
		}
		queue, err := strconv.Atoi(v[2])
		if err != nil {
			return nil, err
		}
		c := &mix.Candidate{Index: i, Values: v, Key: fmt.Sprint(v), Rates: []billing.Rate{{}, {Price: 1_000_000}}}
		c.Config = func(int) (simulate.Config, error) {
			return simulate.Config{
				Pools: []simulate.Pool{
					{Name: "base", Terms: simulate.Owned, Nodes: 64, GPUsPerNode: 8},
					{Name: "cloud", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 1_000_000, Rank: 1},
				},
				Policy: policy, Settings: simulate.Settings{Skip: skip}, Placement: first(),
				Overflow: simulate.Overflow{Patience: []simulate.Patience{rule}, QueueMax: queue},
			}, nil
		}
		return c, nil
	}
	return p
}

// Starburst's waiting policies on its Philly input: what each buys in the cloud
// and how long jobs take come out as in its own simulator (in whole seconds,
// where its hours are compared as floats; see TestStarburst of package simulate),
// and so does the trade-off, in which a wait in proportion to a job's cost saves
// half of the cloud for two hundredths of the time. The search finds a mix that
// buys less than that policy and takes no longer.
func TestStarburstFrontierGolden(t *testing.T) {
	if golden.Short() {
		t.Skip("a search over weeks of 24,134 jobs")
	}
	theirs := map[string]starburstPoint{}
	var jobs []capcli.Job
	for _, c := range []struct {
		name, policy, patience, queue string
		cloud                         float64 // tolerance of the cloud's GPU-hours
	}{
		{"starburst-fifo-zero-n64", "fifo", "0", "0", 0.03},
		{"starburst-fifo-constant1-n64", "fifo", "1h", "0", 0.03},
		{"starburst-fifo-lincost0.076-loop-q30-n64", "fifo-skip", "0.076", "30", 0.05},
	} {
		var want starburstPoint
		jobs, want = starburstRows(t, c.name)
		theirs[c.name] = want
		o, err := starburstProblem(jobs, []string{c.policy}, []string{c.patience}, []string{c.queue}).Outcome(context.Background(), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%-42s cloud %.2f GPU-h, theirs %.2f (tolerance %g %%); JCT %.4f h, theirs %.4f (tolerance 0.5 %%)",
			c.name, o.Cost.Float(), want.cloud, 100*c.cloud, o.JCTMean/3600, want.jct)
		if math.Abs(o.Cost.Float()/want.cloud-1) > c.cloud {
			t.Errorf("%s: %.2f GPU-hours in the cloud, want %.2f", c.name, o.Cost.Float(), want.cloud)
		}
		if math.Abs(o.JCTMean/3600/want.jct-1) > 0.005 {
			t.Errorf("%s: mean JCT %.4f h, want %.4f", c.name, o.JCTMean/3600, want.jct)
		}
	}
	// The frontier is that of no wait and of the wait by cost; a constant wait costs
	// more than the latter and takes longer.
	zero, linear := theirs["starburst-fifo-zero-n64"], theirs["starburst-fifo-lincost0.076-loop-q30-n64"]
	if constant := theirs["starburst-fifo-constant1-n64"]; constant.cloud < linear.cloud || constant.jct < linear.jct {
		t.Errorf("their constant wait %v is not behind %v", constant, linear)
	}
	s := mix.Search{
		Problem: starburstProblem(jobs, []string{"easy", "fifo-skip"}, []string{"0", "0.02", "0.04", "0.076"}, []string{"30", "60"}),
		Limits:  []mix.Limit{{Metric: "jct_mean", Op: "<=", Value: 3600 * linear.jct, Text: "jct_mean"}}, Hold: 1,
	}
	found, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	best := found.BestEntry()
	if best == nil {
		t.Fatal("no mix is as fast as theirs")
	}
	cost, _ := best.Mean("cost")
	jct, _ := best.Mean("jct_mean")
	t.Logf("of %d mixes the best is %v: cloud %.2f GPU-h (theirs %.2f), JCT %.4f h (theirs %.4f)", found.Size, best.Values, cost, linear.cloud, jct/3600, linear.jct)
	if cost > linear.cloud || jct/3600 > linear.jct {
		t.Errorf("%v: %.2f GPU-hours and %.4f h are not on or below %v", best.Values, cost, jct/3600, linear)
	}
	// Their frontier between the two policies is at best the line that joins them,
	// which treating some jobs by the one and some by the other would give.
	below := 0
	for _, e := range found.Entries {
		cost, _ := e.Mean("cost")
		jct, _ := e.Mean("jct_mean")
		if x := (jct/3600 - zero.jct) / (linear.jct - zero.jct); e.Fate == mix.Full && x >= 0 && x <= 1 && cost <= zero.cloud+x*(linear.cloud-zero.cloud) {
			below++
		}
	}
	t.Logf("%d mixes are on or below the line between their two", below)
	if below < 2 {
		t.Errorf("only %d mixes are below the line between their policies", below)
	}
}
