package simulate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

// inOrderOf is a Chooser that offers the ways in the order of the file.
type inOrderOf struct{}

func (inOrderOf) Choose(c *simulate.Cluster, l *simulate.Live, pools []int, dst []simulate.Choice) []simulate.Choice {
	return l.Ways(pools, dst)
}

func (inOrderOf) Uniform() {}

// halves is 8 GPUs for some time, or 4 for double and a half, or 2 for seven times it.
var halves = &capcli.Shape{Name: "halves", Ways: []capcli.Way{{GPUs: 8, Num: 1, Den: 1}, {GPUs: 4, Num: 5, Den: 2}, {GPUs: 2, Num: 7, Den: 1}}}

// shapedRun runs jobs on eight GPUs.
func shapedRun(t *testing.T, cfg simulate.Config) *simulate.Result {
	t.Helper()
	pack, _ := placement.Catalog.Get("pack")
	cfg.Placement = pack()
	if cfg.Policy == nil {
		cfg.Policy, _ = policy.Catalog.Get("fifo")
	}
	if cfg.Pools == nil {
		cfg.Pools = []simulate.Pool{{Name: "a", Nodes: 1, GPUsPerNode: 8}}
	}
	r, err := simulate.Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestWays plays two jobs that ask for all GPUs: without a chooser they run one after the other; with one
// that takes what fits, the second runs beside a fixed job.
func TestWays(t *testing.T) {
	jobs := []capcli.Job{
		{ID: "fixed", GPUs: 4, Run: 100, Submit: 0},
		{ID: "shaped", GPUs: 8, Run: 100, Submit: 0, Shape: halves},
	}
	for _, c := range []struct {
		chooser simulate.Chooser
		makes   capcli.Seconds
		used    capcli.GPUTime
	}{
		{nil, 200, 1000 * (400 + 800)},
		{inOrderOf{}, 250, 1000 * (400 + 4*250)},
	} {
		r := shapedRun(t, simulate.Config{List: jobs, Chooser: c.chooser})
		if r.Makespan != c.makes || r.Record.Months[0].Pools[0].Used != c.used || r.Goodput != c.used {
			t.Errorf("chooser %T: makespan %d, used %d, goodput %d; want %d and %d", c.chooser, r.Makespan, r.Record.Months[0].Pools[0].Used, r.Goodput, c.makes, c.used)
		}
		if r.Served.Possible != 1000*(400+800) || r.Served.Done != r.Served.Possible {
			t.Errorf("chooser %T: %d of %d possible work done", c.chooser, r.Served.Done, r.Served.Possible)
		}
	}
}

// inText returns a result as text.
func inText(t *testing.T, r *simulate.Result) []byte {
	t.Helper()
	r.Remarks = nil // a policy says where no job has ways
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestOwnWay compares jobs whose shape is the way that they ask for with jobs without a shape.
func TestOwnWay(t *testing.T) {
	var plain, shaped []capcli.Job
	ways := map[int]*capcli.Shape{}
	for i := range 200 {
		j := capcli.Job{ID: fmt.Sprint(i), GPUs: 1 << (i * 7 % 4), Run: capcli.Seconds(10 + i*37%500), Submit: capcli.Time(i * 20), Tenant: fmt.Sprint(i % 3)}
		plain = append(plain, j)
		if ways[j.GPUs] == nil {
			ways[j.GPUs] = &capcli.Shape{Ways: []capcli.Way{{GPUs: j.GPUs, Num: 3, Den: 3}}}
		}
		j.Shape = ways[j.GPUs]
		shaped = append(shaped, j)
	}
	for _, pol := range policy.Catalog.All() {
		for _, chooser := range []simulate.Chooser{nil, inOrderOf{}} {
			var out [2][]byte
			for i, list := range [][]capcli.Job{plain, shaped} {
				r := shapedRun(t, simulate.Config{List: list, Chooser: chooser, Policy: pol.Value, Pools: []simulate.Pool{{Name: "a", Nodes: 3, GPUsPerNode: 8}}})
				r.Ways = nil
				out[i] = inText(t, r)
			}
			if !bytes.Equal(out[0], out[1]) {
				t.Errorf("%s: a shape of the job's own way changes the run: %s", pol.Name, firstDifference(out[0], out[1]))
			}
		}
	}
}

// firstDifference returns a part of both texts around the first byte in which they differ.
func firstDifference(a, b []byte) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	around := func(s []byte) []byte { return s[max(0, i-60):min(len(s), i+60)] }
	return fmt.Sprintf("%s | %s", around(a), around(b))
}
