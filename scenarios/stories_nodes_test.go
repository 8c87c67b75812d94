package scenarios

import (
	"testing"

	"capcli/simulate"
	"capcli/testdata/golden"
)

// A training cluster on bought nodes: a scaler that foresees, with 70 % on spot, against three that react.
// The claim is waits -70 %, on-demand use -40 %, cost -35 %. The mean over the seeds says what it is.
func TestNodesAhead(t *testing.T) {
	golden.SkipLong(t)
	type figures struct{ cost, demand, wait, used, billed float64 }
	mean := map[string]figures{}
	for seed := range storySeeds {
		set := seedSet(seed)
		played := map[string]played{
			"ahead":   play(t, "nodes-ahead", set),
			"waiting": play(t, "nodes-reactive", set),
			"util":    play(t, "nodes-reactive", set, "capacity[0].buy.scaler={kind: util, min: 1, max: 60}"),
			"own":     play(t, "nodes-ahead", set, "capacity[0].buy.scaler=null", "capacity[1].buy.scaler=null"),
		}
		for name, x := range played {
			f := mean[name]
			f.cost += x.inv.Total.Cost.Float() / storySeeds
			f.wait += x.r.Wait.Mean / storySeeds
			for p := range x.r.Record.Pools {
				time := x.inv.ByPool[p].Time
				if x.r.Record.Pools[p].Terms == simulate.OnDemand {
					f.demand += time.Offered.Hours() / storySeeds
				}
				f.used, f.billed = f.used+time.Used.Hours()/storySeeds, f.billed+time.Offered.Hours()/storySeeds
			}
			mean[name] = f
			if x.r.Jobs.Waiting > 0 && x.r.Served.UnservedShare() > 0.001 {
				t.Errorf("seed %d: %s leaves %.4f undone", seed+1, name, x.r.Served.UnservedShare())
			}
		}
	}
	t.Logf("%+v", mean)
	ahead, waiting, util, own := mean["ahead"], mean["waiting"], mean["util"], mean["own"]
	change := func(of func(figures) float64, than figures) float64 { return of(ahead)/of(than) - 1 }
	cost, demand, wait := func(f figures) float64 { return f.cost }, func(f figures) float64 { return f.demand }, func(f figures) float64 { return f.wait }
	checkNear(t, "waits, against orders for what waits", change(wait, waiting), -0.9, 0.02)
	checkNear(t, "on-demand use, against orders for what waits", change(demand, waiting), -0.67, 0.02)
	checkNear(t, "cost, against orders for what waits", change(cost, waiting), -0.26, 0.02)
	checkNear(t, "cost, against 80 % for two minutes", change(cost, util), -0.49, 0.02)
	checkNear(t, "on-demand use, against 80 % for two minutes", change(demand, util), -0.78, 0.02)
	checkNear(t, "cost, if spot cost as much as on demand", ahead.billed*3.673385/waiting.cost-1, 0.12, 0.02)
	checkNear(t, "cost, against spot ordered for what waits", change(cost, own), 0.45, 0.03)
	checkNear(t, "waits of spot ordered for what waits, against those on demand", own.wait/waiting.wait, 1.18, 0.1)
	if ahead.wait > 5 || util.wait > 2 || waiting.wait < 15 {
		t.Errorf("waits of %.1f s ahead, %.1f s by use, %.1f s by what waits", ahead.wait, util.wait, waiting.wait)
	}
	checkNear(t, "used of what is bought, ahead", ahead.used/ahead.billed, 0.743, 0.01)
	checkNear(t, "used of what is bought, waiting", waiting.used/waiting.billed, 0.83, 0.01)
	checkNear(t, "used of what is bought, util", util.used/util.billed, 0.57, 0.01)
}
