package decide

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"capcli"
	"capcli/forecast/demand"
	"capcli/profile/logs/jobfile"
	"capcli/profile/logs/trace"
	"capcli/scenarios"
	"capcli/scenarios/decide/plan/resample"
	"capcli/scenarios/demo"
	"capcli/scenarios/generate"
	"capcli/scenarios/kinds"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/money/prices"
	"capcli/simulate"
	"capcli/testdata/golden"
)

// tierWorlds are a small cluster like that of the demo and three others, with known kinds of work.
func tierWorlds() map[string][]generate.Class {
	sizes := []generate.Size{{GPUs: 1, Weight: 4}, {GPUs: 2, Weight: 2}, {GPUs: 4, Weight: 1}}
	random := func(name string, gpus float64, median, p95, most capcli.Seconds) generate.Class {
		return generate.Class{Name: name, MeanGPUs: gpus, Sizes: sizes, RunMedian: median, RunP95: p95, RunMax: most, DaySwing: 3, PeakHour: 14, Weekend: 0.5}
	}
	const h = capcli.Hour
	return map[string][]generate.Class{
		"demo": {
			random("training", 5, 2*h, 14*h, capcli.Day),
			{Name: "nightly", Kind: generate.Steady, GPUs: 2, JobGPUs: 1, Every: capcli.Day, BusyShare: 0.3},
		},
		"services": {
			{Name: "serving", Kind: generate.Steady, GPUs: 3, JobGPUs: 1, Every: 4 * h},
			random("pretrain", 3, 12*h, 30*h, 2*capcli.Day),
			random("sweep", 3, h, 3*h, 4*h),
		},
		"notebooks": {
			random("notebook", 3, 2*h, 8*h, capcli.Day),
			random("eval", 4, 2*h, 3*h, 4*h),
		},
		"nothing told": {random("alpha", 4, 3*h, 10*h, capcli.Day), random("finetune", 2, 2*h, 4*h, 6*h)},
	}
}

// tierRequest returns the files of a world and a question about its tiers. bill is the rate of a commitment that covers, in
// place of the fenced one; "" is none.
func tierRequest(t *testing.T, classes []generate.Class, seed capcli.Seed, bill string) (*Request, map[string][]byte) {
	t.Helper()
	file, err := jobfile.FileOf("log.csv")
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	w := generate.Workload{Start: 1_767_571_200, Span: 28 * capcli.Day, Classes: classes}
	if err := file.Write(&log, w.Jobs(seed), nil); err != nil {
		t.Fatal(err)
	}
	term := "1mo,1.80,2026-01-01,contract,true"
	if bill != "" {
		term = "1mo," + bill + ",2026-01-01,contract,false"
	}
	list := "provider,region,machine,gpu,gpus,term,usd_per_hour,date,source,fenced\n" +
		"own,here,box,H100,1,on_demand,4.00,2026-01-01,contract,\nown,here,box,H100,1," + term + "\nown,here,box,H100,1,spot,1.50,2026-01-01,contract,\n"
	q := NewRequest("log.csv", "H100")
	q.Horizon, q.Futures, q.Prices, q.Hold, q.Seed, q.Origins = "4w", 3, "prices.csv", "60%", seed+1, 0
	q.Tiers, q.WaitCost = "kinds.yaml", "0"
	return q, map[string][]byte{"log.csv": log.Bytes(), "prices.csv": []byte(list), "kinds.yaml": []byte("capcli: kinds/v1\nmachine_gpus: 1\nredone: 0.1\n")}
}

// playTiers runs a scenario of the tiers in all futures, without the search, and returns its mean cost; false where it leaves
// work undone.
func playTiers(ctx context.Context, x *scenarios.Scenario, jobs [][]capcli.Job, q *Request) (capcli.USD, bool, error) {
	rates, err := x.Rates(scenarios.Options{})
	if err != nil {
		return 0, false, err
	}
	var list []capcli.USD
	undone := 0.0
	for k := range jobs {
		cfg, err := x.Config(nil, scenarios.Options{Seed: q.Seed, Run: k})
		if err != nil {
			return 0, false, err
		}
		cfg.List = jobs[k]
		res, err := simulate.Run(ctx, cfg)
		if err != nil {
			return 0, false, err
		}
		inv, err := billing.Price(res.Record, rates)
		if err != nil {
			return 0, false, err
		}
		list = append(list, inv.Total.Cost)
		undone += res.Served.UnservedShare() / float64(len(jobs))
	}
	return capcli.MeanUSD(len(list), true, func(i int) capcli.USD { return list[i] }), undone <= 0.005, nil
}

// enumerateTiers returns the least cost of all sizes of the base up to most, with every number of spot machines that was
// tried, open or not, and every patience.
func enumerateTiers(t *testing.T, r *Result, q *Request, files map[string][]byte, waits []string, most int) (best capcli.USD, at string) {
	t.Helper()
	all := map[string][]byte{}
	for _, m := range []map[string][]byte{files, r.Texts} {
		for n, b := range m {
			all[n] = b
		}
	}
	open := opened(all)
	own, err := prices.Parse("prices.csv", files["prices.csv"])
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenarios.ParseWith(own, TiersYAML, r.Texts[TiersYAML])
	if err != nil {
		t.Fatal(err)
	}
	set, err := (&chain{settled: &settled{Request: q}}).source().Read(t.Context(), demand.Sources{Open: open})
	if err != nil {
		t.Fatal(err)
	}
	in, _, _ := open(WorkFile)
	log, err := trace.Open(in, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var past []capcli.Job
	for j, err := range log.Jobs() {
		if err != nil {
			t.Fatal(err)
		}
		j.GPUModel = ""
		past = append(past, j)
	}
	draw, err := resample.NewResampler(past, nil)
	if err != nil {
		t.Fatal(err)
	}
	var jobs [][]capcli.Job
	for k := range set.Futures.Paths {
		list, _, err := draw.Fill(&set.Futures, k, q.Seed)
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, list)
	}
	var mixes [][]string
	for gpus := range most + 1 {
		for _, n := range r.Tiers.Tried {
			for _, lane := range []string{"null", kinds.BaseLane} {
				for _, w := range waits {
					if n == 0 && lane != "null" || gpus == 0 && (lane != "null" || w != waits[0]) {
						continue // as another one
					}
					mixes = append(mixes, []string{
						fmt.Sprintf("capacity.base.gpus=%d", gpus), "capacity.base.partition=" + lane,
						fmt.Sprintf("capacity.spot.nodes=%d", n), "overflow.patience[0].wait=" + w,
					})
				}
			}
		}
	}
	plays, err := capcli.MapParallel(t.Context(), mixes, nil, func(ctx context.Context, changes []string) (capcli.USD, error) {
		x, err := s.With(changes...)
		if err != nil {
			return 0, err
		}
		x.Period = scenarios.Period{Start: set.Futures.Start(), End: set.Futures.End()}
		cost, served, err := playTiers(ctx, x, jobs, q)
		if !served {
			cost = math.MaxInt64
		}
		return cost, err
	})
	if err != nil {
		t.Fatal(err)
	}
	k := slices.Index(plays, slices.Min(plays))
	return plays[k], strings.Join(mixes[k], " ")
}

// demoRequest returns the files of the demo's cluster, with a place and spot, and a question about its tiers.
func demoRequest(t *testing.T, seed capcli.Seed) (*Request, map[string][]byte) {
	t.Helper()
	q, files := tierRequest(t, tierWorlds()["demo"], seed, "")
	world, err := demo.NewWorld(seed)
	if err != nil {
		t.Fatal(err)
	}
	files["log.csv"], q.Futures, q.Hold = world.Files[0].Text, 2, "50%"
	return q, files
}

// TestTiersOfEveryWorld enumerates all tiers in all futures of the demo's cluster and of made worlds: what is found costs at
// most 3% more than the least, no less than the bound, and the answer adds up. The seeds are others than those of the search's
// making.
func TestTiersOfEveryWorld(t *testing.T) {
	golden.SkipLong(t)
	seeds := []capcli.Seed{11}
	if os.Getenv("CAPCLI_LONG") == "1" {
		seeds = []capcli.Seed{11, 21, 22, 23, 24, 25}
	}
	worlds := tierWorlds()
	worlds["the demo's cluster"] = nil
	for _, name := range slices.Sorted(maps.Keys(worlds)) {
		for _, seed := range seeds {
			t.Run(fmt.Sprintf("%s %d", name, seed), func(t *testing.T) {
				q, files := demoRequest(t, seed)
				most := 40
				if worlds[name] != nil {
					q, files = tierRequest(t, worlds[name], seed, "")
					most = 16
				}
				r, err := Decide(t.Context(), q, &World{Open: opened(files)})
				if err != nil {
					t.Fatal(err)
				}
				checkTiers(t, r)
				waits := []string{"0s"}
				if r.Tiers.Kinds.Row(kinds.Waits).Jobs > 0 {
					waits = append(waits, "15m", "30m")
				}
				best, at := enumerateTiers(t, r, q, files, waits, most)
				t.Logf("%s, spot %d, patience %s; %.2f%% over %s with %s", r.Tiers.Cost, r.Tiers.Machines, r.Tiers.Patience, 100*(float64(r.Tiers.Cost)/float64(best)-1), best, at)
				if float64(r.Tiers.Cost) > 1.03*float64(best) || r.Tiers.Cost < best {
					t.Errorf("the tiers cost %s, the least is %s", r.Tiers.Cost, best)
				}
				if b := r.Tiers.Bound.Cost; b > best {
					t.Errorf("the bound %s is over the least %s", b, best)
				}
			})
		}
	}
}

// checkTiers holds the document of the tiers against sums of its own parts, and its sentences against its figures.
func checkTiers(t *testing.T, r *Result) {
	t.Helper()
	text, err := encode(r)
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Tiers *Tiers `json:"tiers"`
	}
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	x := read.Tiers
	if got := x.sentences(); !slices.Equal(got, x.Sentences) {
		t.Errorf("the document's figures say\n%q, it says\n%q", got, x.Sentences)
	}
	var cost capcli.USD
	var useful, held, redone, share float64
	for _, tier := range x.Tiers {
		cost, useful, held, redone, share = cost+tier.Cost, useful+tier.Useful, held+tier.Held, redone+tier.Redone, share+tier.Share
	}
	if d := cost - x.Cost; d < -10 || d > 10 {
		t.Errorf("the tiers cost %s together, the plan %s", cost, x.Cost)
	}
	var byKind, again float64
	for _, k := range x.ByKind {
		again += k.Redone
		for _, h := range k.Held {
			byKind += h
		}
		if k.Class != string(kinds.Waits) && k.WaitMax > 0 {
			t.Errorf("%s waits %s", k.Class, k.WaitMax)
		}
		if k.Class != string(kinds.Spot) && k.Class != kinds.Saved && k.Held["spot"] > 0 {
			t.Errorf("%s runs on spot", k.Class)
		}
	}
	near := func(what string, a, b float64) {
		if math.Abs(a-b) > 1e-6*(1+math.Abs(b)) {
			t.Errorf("%s: %v and %v", what, a, b)
		}
	}
	near("held by tier and by kind", held, byKind)
	if math.Abs(redone-again) > 0.03*redone+1e-6 { // a job that is lost just before the end counts in one of the two
		t.Errorf("redone by tier %v, by kind %v", redone, again)
	}
	near("useful", useful, held-redone)
	near("useful of the plan", x.Useful, useful)
	near("shares", share, 1)
	for _, w := range x.Totals {
		if w.Difference != w.Cost-x.Cost {
			t.Errorf("%s: %s is not %s - %s", w.Name, w.Difference, w.Cost, x.Cost)
		}
	}
	if b := x.Bound; b.Cost > x.Cost {
		t.Errorf("the bound %s is over the cost %s", b.Cost, x.Cost)
	} else {
		t.Logf("gap to the bound %.1f%%", 100*b.Gap)
	}
}

// Where the tiers cannot be planned the decision stands, and a warning says why and what to do.
func TestDecisionWithoutItsTiers(t *testing.T) {
	q, files := tierRequest(t, tierWorlds()["demo"], 3, "")
	files["kinds.yaml"] = append(files["kinds.yaml"], "spot: {price: own/here/nowhere/spot}\n"...)
	r, err := Decide(t.Context(), q, &World{Open: opened(files)})
	if err != nil {
		t.Fatal(err)
	}
	if r.Plan == nil || r.Order == nil && r.Plan.GPUs > 0 || r.Tiers != nil || r.Partial != "" {
		t.Errorf("got plan %v, tiers %v, partial %q", r.Plan, r.Tiers, r.Partial)
	}
	if !slices.ContainsFunc(r.Warnings, func(w string) bool {
		return strings.Contains(w, "there are no tiers: ") && strings.Contains(w, "nowhere") && strings.Contains(w, "without --tiers")
	}) {
		t.Errorf("warnings %q", r.Warnings)
	}
}

// With a commitment that covers, no base is reserved: the bill covers what is on demand, and the tiers still add up.
func TestTiersWithABill(t *testing.T) {
	q, files := tierRequest(t, tierWorlds()["services"], 5, "2.20")
	r, err := Decide(t.Context(), q, &World{Open: opened(files)})
	if err != nil {
		t.Fatal(err)
	}
	checkTiers(t, r)
	if r.Tiers.Tier(tierBill) == nil || r.Tiers.Tier(tierBase) != nil || r.Tiers.Tier(tierSpot) == nil {
		t.Errorf("got %+v", r.Tiers.Tiers)
	}
}

// Without the question for tiers the answer has none, and the jobs keep their classes.
func TestNoTiersUnlessAsked(t *testing.T) {
	q, files := tierRequest(t, tierWorlds()["services"], 5, "")
	q.Tiers = ""
	r, err := Decide(t.Context(), q, &World{Open: opened(files)})
	if err != nil {
		t.Fatal(err)
	}
	if r.Tiers != nil || r.Texts[WorkFile] != nil || r.Texts[tiersFile] != nil {
		t.Errorf("tiers %v", r.Tiers)
	}
}

// Of recorded jobs those that did nothing are in no demand and in no tier, and what waits for input is told with its GPUs:
// 4 GPUs serve, 2 are held idle, 2 train and wait for input half of the time.
func TestTiersOfRecordings(t *testing.T) {
	q, files := tierRequest(t, tierWorlds()["demo"], 5, "")
	var log strings.Builder
	log.WriteString("job_id,submit,run_s,gpus,class,tag:work,tag:input_wait_pct\n")
	for day := range 28 {
		at := capcli.Time(1_767_571_200) + capcli.Time(day)*capcli.Time(capcli.Day)
		fmt.Fprintf(&log, "a%d,%s,86400,4,light,inference,\nb%d,%s,86400,2,mostly_idle,training,\nc%d,%s,86400,2,input_starved,training,50\n", day, at, day, at, day, at)
	}
	files["log.csv"] = []byte(log.String())
	r, err := Decide(t.Context(), q, &World{Open: opened(files)})
	if err != nil {
		t.Fatal(err)
	}
	checkTiers(t, r)
	x := r.Tiers
	want := []string{
		"25% of the GPU time is allocated and idle (mostly_idle): the plan buys nothing for it, which is " + kinds.GPUsText(2*x.Scale) + " GPUs.",
		"12% of the GPU time waits for input (input_starved): mending it is worth " + kinds.GPUsText(x.Scale) + " GPUs before any purchase.",
	}
	for _, text := range want {
		if !slices.Contains(x.Sentences, text) {
			t.Errorf("missing %q in %q", text, x.Sentences)
		}
	}
	if math.Abs(x.Scale-1) > 0.05 {
		t.Errorf("the futures have %v times the demand of the log, which has no trend", x.Scale)
	}
	if r.Log.Demand != 6 || x.Kinds.Row(kinds.Unneeded).Jobs != 28 || x.Kinds.Row(kinds.Always).Mean != 4 {
		t.Errorf("demand %v, kinds %+v", r.Log.Demand, x.Kinds.Kinds)
	}
	if base := x.Tier(tierBase); base == nil || base.First < 4 || base.First > 6 {
		t.Errorf("base %+v of a demand of 6 without a rhythm", base)
	}
}

// What is held serves first and costs nothing: the tiers are what is bought beside it, at most 3% over the least of all
// sizes. Where it ends within the horizon, work goes on elsewhere and nothing is done again but on spot.
func TestTiersWithWhatIsHeld(t *testing.T) {
	golden.SkipLong(t)
	for _, tt := range []struct {
		bill, held string
		least      float64 // mean in use
	}{{"2.20", "2@2026-01-01..2027-01-01", 1.5}, {"", "3@2026-01-01..2026-02-14", 0.8}} {
		t.Run(tt.held, func(t *testing.T) {
			q, files := tierRequest(t, tierWorlds()["services"], 5, tt.bill)
			q.Held = []string{tt.held}
			r, err := Decide(t.Context(), q, &World{Open: opened(files)})
			if err != nil {
				t.Fatal(err)
			}
			checkTiers(t, r)
			held := r.Tiers.Tier(tierHeld)
			if !slices.ContainsFunc(r.Tiers.Totals, func(x TierTotal) bool { return x.Name == heldAlone }) || held == nil || held.Cost != 0 || held.Mean < tt.least {
				t.Errorf("totals %+v, tiers %+v", r.Tiers.Totals, r.Tiers.Tiers)
			}
			for _, k := range r.Tiers.ByKind {
				if k.Class == string(kinds.Always) && k.Redone > 0.1 {
					t.Errorf("%s does %v GPU-hours again", k.Class, k.Redone)
				}
			}
			if tt.bill != "" {
				return
			}
			best, at := enumerateTiers(t, r, q, files, []string{"0s", "15m", "30m"}, 10)
			if t.Logf("%s, least %s with %s", r.Tiers.Cost, best, at); float64(r.Tiers.Cost) > 1.03*float64(best) || r.Tiers.Cost < best || r.Tiers.Bound.Cost > best {
				t.Errorf("the tiers cost %s, the least is %s, the bound %s", r.Tiers.Cost, best, r.Tiers.Bound.Cost)
			}
		})
	}
}
