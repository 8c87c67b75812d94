package simulate_test

import (
	"context"
	"testing"

	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"

	"capcli"
)

// A record cut at any instants is the same record when its parts are put
// together again, and a job's holds are parted where the record is.
func TestCutsPartTheRecord(t *testing.T) {
	newPolicy, err := policy.Catalog.Get("fifo")
	if err != nil {
		t.Fatal(err)
	}
	newPlacement, err := placement.Catalog.Get("count")
	if err != nil {
		t.Fatal(err)
	}
	const start = capcli.Time(1798761600) // 2027-01-01
	cuts := []capcli.Time{start + 40*86400, start - 5, start + 10*86400 + 7, start + 10*86400 + 7, start, start + 400*86400}
	play := func(cuts []capcli.Time, o simulate.Observer) *simulate.Record {
		var jobs []capcli.Job
		for i := range 40 {
			jobs = append(jobs, capcli.Job{
				ID: string(rune('a' + i)), Tenant: string(rune('A' + i%3)), GPUs: 1 + i%4,
				Submit: start + capcli.Time(i*100_001), Run: capcli.Seconds(3600 + 50_021*i),
			})
		}
		r, err := simulate.Run(context.Background(), simulate.Config{
			Start: start, Until: 60 * 86400, List: jobs, Policy: newPolicy, Placement: newPlacement(), Cuts: cuts, Observers: []simulate.Observer{o},
			Pools: []simulate.Pool{
				{Name: "base", Terms: simulate.Reserved, Nodes: 1, GPUsPerNode: 6},
				{Name: "od", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 50, MinBilling: 86400, Rank: 1},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return r.Record
	}
	whole := play(nil, &holdSum{})
	sums := &holdSum{since: map[capcli.Time]capcli.GPUTime{}}
	parts := play(cuts, sums)
	if len(whole.Months) != 3 || len(parts.Months) != 5 || len(parts.Cuts) != 3 {
		t.Fatalf("got %d months whole, %d in parts, cuts %v", len(whole.Months), len(parts.Months), parts.Cuts)
	}
	for p := range whole.Pools {
		var a, b simulate.Span
		used := map[int]simulate.Use{}
		for _, m := range whole.Months {
			a.Add(m.Pools[p])
			for i, u := range m.Use[p] {
				used[i] = simulate.Use{Used: used[i].Used + u.Used, Billed: used[i].Billed + u.Billed, Lost: used[i].Lost + u.Lost}
			}
		}
		for _, m := range parts.Months {
			b.Add(m.Pools[p])
			for i, u := range m.Use[p] {
				used[i] = simulate.Use{Used: used[i].Used - u.Used, Billed: used[i].Billed - u.Billed, Lost: used[i].Lost - u.Lost}
			}
		}
		if a != b {
			t.Errorf("pool %d: whole %+v, in parts %+v", p, a, b)
		}
		for i, u := range used {
			if u != (simulate.Use{}) {
				t.Errorf("pool %d, tenant %d: differs by %+v", p, i, u)
			}
		}
	}
	for i, m := range parts.Months[1:] {
		if m.Start <= parts.Months[i].Start || m.Since > m.Start {
			t.Errorf("part from %s after one from %s, since %s", m.Start, parts.Months[i].Start, m.Since)
		}
	}
	if len(sums.since) != 3 {
		t.Errorf("holds are parted at %v, want the start and two cuts", sums.since)
	}
}

// holdSum sums the holds of finished jobs by part.
type holdSum struct {
	since map[capcli.Time]capcli.GPUTime
}

func (h *holdSum) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Kind == simulate.Finish && h.since != nil {
		for _, x := range e.Job.Holds() {
			h.since[x.Since] += x.Used
		}
	}
}
