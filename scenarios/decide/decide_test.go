package decide

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strings"
	"testing"

	"capcli"
	"capcli/forecast/demand"
	"capcli/profile/logs/trace"
	"capcli/scenarios"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/resample"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/money/prices"
	"capcli/simulate"
	"capcli/testdata/golden"
)

// made is a small world: a log of some weeks and prices.
type made struct {
	seed   capcli.Seed
	days   int
	models []string // of the jobs, in turn; nil names none
	until  int      // no job comes after this day; 0 is the last
	rate   string   // of the commitment
	fenced bool     // the commitment is a place
	bill   string   // rate of one for a month that covers; "" is none
}

func (m made) files() map[string][]byte {
	var b bytes.Buffer
	b.WriteString("job_id,submit,run_s,gpus,gpu_model\n")
	rng := m.seed.Stream("log")
	n := 0
	for day := range m.days {
		if m.until > 0 && day >= m.until && day < m.days-1 {
			continue
		}
		for range 6 + rng.IntN(5) {
			model := ""
			if len(m.models) > 0 {
				model = m.models[n%len(m.models)]
			}
			at := capcli.Time(1_767_571_200) + capcli.Time(day)*capcli.Time(capcli.Day) + capcli.Time(rng.IntN(20*3600))
			fmt.Fprintf(&b, "%d,%s,%d,%d,%s\n", n, at, 3600+rng.IntN(8*3600), 1<<rng.IntN(3), model)
			n++
		}
	}
	rate := m.rate
	if rate == "" {
		rate = "2.40"
	}
	list := fmt.Sprintf("provider,region,machine,gpu,gpus,term,usd_per_hour,date,source,fenced\n"+
		"own,here,box,H100,1,on_demand,4.00,2026-01-01,contract,\nown,here,box,H100,1,3mo,%s,2026-01-01,contract,%t\n", rate, m.fenced)
	if m.bill != "" {
		list += fmt.Sprintf("own,here,box,H100,1,1mo,%s,2026-01-01,contract,false\n", m.bill)
	}
	return map[string][]byte{"log.csv": b.Bytes(), "prices.csv": []byte(list)}
}

// opened opens files of a map.
func opened(files map[string][]byte) trace.Opener {
	return func(name string) (trace.Input, io.Closer, error) {
		b, ok := files[name]
		if !ok {
			return trace.Input{}, nil, fs.ErrNotExist
		}
		return trace.Input{Name: name, R: bytes.NewReader(b), At: bytes.NewReader(b), Size: int64(len(b))}, io.NopCloser(nil), nil
	}
}

func (m made) request() *Request {
	q := NewRequest("log.csv", "H100")
	q.Horizon, q.Futures, q.Prices, q.Hold, q.Seed = "13w", 4, "prices.csv", "75%", m.seed
	return q
}

// enumerate computes the least cost over all sizes up to most and all values of patience, by simulating
// and pricing each in every future, without the search. bill is the rate of commitments that cover, 0 none: all their sizes up to most, for all
// the time, are tried too and paid by hand, $4 less for each GPU-hour on demand that they cover.
func enumerate(t *testing.T, r *Result, q *Request, files map[string][]byte, waits []string, most int, bill float64, limit capcli.Seconds, risk plan.Risk, hold float64) (best capcli.USD, at point) {
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
	s, err := scenarios.ParseWith(own, ScenarioFile, r.Texts[ScenarioFile])
	if err != nil {
		t.Fatal(err)
	}
	c := &chain{settled: &settled{Request: q}}
	set, err := c.source().Read(t.Context(), demand.Sources{Open: open})
	if err != nil {
		t.Fatal(err)
	}
	in, _, _ := open(JobsFile)
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
	for n := range most + 1 {
		for _, w := range waits {
			x, err := s.With(point{n, w}.changes()...)
			if err != nil {
				t.Fatal(err)
			}
			x.Period = scenarios.Period{Start: set.Futures.Start(), End: set.Futures.End()}
			rates, err := x.Rates(scenarios.Options{})
			if err != nil {
				t.Fatal(err)
			}
			costs := make([][]capcli.USD, 1)
			if bill > 0 {
				costs = make([][]capcli.USD, most+1)
			}
			held, served := 0, true
			for k := range jobs {
				cfg, err := x.Config(nil, scenarios.Options{Seed: q.Seed, Run: k})
				if err != nil {
					t.Fatal(err)
				}
				cfg.List, cfg.Hourly = jobs[k], bill > 0
				res, err := simulate.Run(t.Context(), cfg)
				if err != nil {
					t.Fatal(err)
				}
				inv, err := billing.Price(res.Record, rates)
				if err != nil {
					t.Fatal(err)
				}
				for n := range costs {
					cost := inv.Total.Cost.Float() + bill*float64(n)*capcli.Seconds(set.Futures.End()-set.Futures.Start()).Hours()
					if n > 0 {
						hours, err := billing.HoursOfPool(res.Record, len(res.Record.Pools)-1)
						if err != nil {
							t.Fatal(err)
						}
						for _, v := range hours.Billed {
							cost -= 4 * math.Min(float64(v)/3_600_000, float64(n))
						}
					}
					costs[n] = append(costs[n], capcli.USDOf(cost))
				}
				fits := res.Served.UnservedShare() <= 0.005
				served = served && fits
				if fits && (limit < 0 || res.Wait.P95 <= limit) {
					held++
				}
			}
			for _, list := range costs {
				if cost := risk.USD(list, true); served && float64(held)/float64(len(jobs)) >= hold && (best == 0 || cost < best) {
					best, at = cost, point{n, w}
				}
			}
		}
	}
	return best, at
}

// TestEverySmallWorld enumerates all mixes with fenced GPUs in all futures of small worlds: no mix is
// cheaper than the recommendation, and its cost is the same to the millionth.
func TestEverySmallWorld(t *testing.T) {
	for seed := range capcli.Seed(golden.Draws(4)) {
		m := made{seed: seed + 2, days: 35, fenced: true}
		files, q := m.files(), m.request()
		risk := plan.Risk{}
		if seed%2 == 1 {
			q.Risk, risk = "cvar50", plan.Risk{Kind: plan.CVaR, Level: 500_000}
		}
		q.WaitCost = "0"
		q.Max = []string{"wait_p95=" + []string{"5m", "30m", "90m", "3h", "0s"}[seed]}
		r, err := Decide(t.Context(), q, &World{Open: opened(files)})
		if err != nil {
			t.Fatalf("seed %d: %v", m.seed, err)
		}
		s, err := q.settle()
		if err != nil {
			t.Fatal(err)
		}
		waits := (&chain{settled: s}).waits()
		best, at := enumerate(t, r, q, files, waits, 20, 0, s.wait, risk, s.hold)
		if got := *r.Mix.Best.Cost; got != best {
			t.Errorf("seed %d: the recommendation is %d GPUs with patience %s at %s, the best of all is %v at %s", m.seed, r.Plan.GPUs, r.Plan.Patience, got, at, best)
		}
		if r.Plan.As == asBill {
			t.Errorf("seed %d: the answer is a bill, and only places can be had", m.seed)
		}
	}
}

// TestBillByHand pays the recommendation hour by hour in each future of small worlds: the mean is what it
// says, and no other level that is bought now and again whenever it ends costs less.
func TestBillByHand(t *testing.T) {
	for seed := range capcli.Seed(golden.Draws(4)) {
		m := made{seed: seed + 2, days: 35, rate: []string{"2.40", "1.10", "3.80", "3.20"}[seed]}
		files, q := m.files(), m.request()
		r, err := Decide(t.Context(), q, &World{Open: opened(files)})
		if err != nil {
			t.Fatalf("seed %d: %v", m.seed, err)
		}
		all := map[string][]byte{}
		for n, b := range r.Texts {
			all[n] = b
		}
		c := &chain{settled: &settled{Request: q}}
		set, err := c.source().Read(t.Context(), demand.Sources{Open: opened(all)})
		if err != nil {
			t.Fatal(err)
		}
		f := &set.Futures
		pay := func(covered func(at capcli.Time) float64, fixed float64) float64 {
			sum := fixed
			for _, path := range f.Paths {
				for i, v := range path {
					hours := capcli.Seconds(f.Grid.At(i+1) - f.Grid.At(i)).Hours()
					sum += 4 * max(0, v-covered(f.Grid.At(i))) * hours / float64(len(f.Paths))
				}
			}
			return sum
		}
		fixed := 0.0
		for _, p := range r.Plan.Commitments {
			fixed += p.Rate.Float() * p.GPUs * capcli.Seconds(min(p.End.Time, f.End())-p.Start.Time).Hours()
		}
		want := pay(func(at capcli.Time) float64 {
			sum := 0.0
			for _, p := range r.Plan.Commitments {
				if p.Start.Time <= at && at < p.End.Time {
					sum += p.GPUs
				}
			}
			return sum
		}, fixed)
		if got := r.Plan.Cost.Float(); math.Abs(got-want) > 1e-5*want { // levels are rounded to a thousandth of a GPU
			t.Errorf("seed %d: the plan costs %g, by hand %g", m.seed, got, want)
		}
		rate := r.Prices[0].Rate.Float()
		length := capcli.Seconds(f.End() - f.Start()).Hours()
		for k := range 30 {
			if cost := pay(func(capcli.Time) float64 { return float64(k) }, rate*float64(k)*length); cost < want*(1-1e-5) {
				t.Errorf("seed %d: %d GPUs throughout cost %g, the plan %g", m.seed, k, cost, want)
			}
		}
	}
}

// TestWorstOrders asks what could place the worst order, and demands a refusal or a warning.
func TestWorstOrders(t *testing.T) {
	golden.SkipLong(t)
	tests := []struct {
		name   string
		world  made
		change func(q *Request)
		err    string // part of the error; "" is none
		says   string // part of the answer or of the warnings
	}{
		{"a log too short", made{days: 10}, nil, "expected jobs over at least 14 days", ""},
		{"another GPU", made{days: 30, models: []string{"A100", "V100"}}, nil, `found only jobs that want "A100" (`, ""},
		{"some other GPUs", made{days: 40, models: []string{"A100", "NVIDIA H100 80GB HBM3"}}, nil, "", "want other GPUs than H100 and are left out"},
		{"no price", made{days: 40}, func(q *Request) { q.GPU, q.Prices = "H900", "" }, `"H900" has no price on demand; the catalogue has`, ""},
		{"a commitment that cannot pay", made{days: 40, rate: "4.50"}, nil, "", "Commit to nothing"},
		{"a horizon shorter than the commitment", made{days: 40}, func(q *Request) { q.Horizon = "4w" }, "", "The order would bind until "},
		{"another seller", made{days: 40}, func(q *Request) { q.Seller = "elsewhere" }, `unknown provider of H100 "elsewhere"`, ""},
		{"a demand that ends", made{days: 60, until: 45}, nil, "choose with --as-if", "Nothing is ordered before you choose"},
		{"a demand that ends, as if it did", made{days: 60, until: 45}, func(q *Request) { q.AsIf = "end-now" }, "expected jobs over at least 6 days", ""},
		{"no such way", made{days: 40}, func(q *Request) { q.AsIf = "level-then" }, "wants one of level-now, level-before, end-now, whole, found", ""},
		{"far beyond the log", made{days: 40}, func(q *Request) { q.Horizon = "1y" }, "", "its far end is a guess"},
		{"a budget that leaves work", made{days: 40}, func(q *Request) { q.Budget = "20k" }, "No plan holds the limits", "The budget does not pay for the work: "},
		{"limits that cannot be", made{days: 40}, func(q *Request) { q.Min = []string{"availability=1"}; q.Max = []string{"cost=1k"} }, "holds the limits", "No plan holds the limits"},
		{"two limits on cost", made{days: 40}, func(q *Request) { q.Budget, q.Max = "4M", []string{"cost=3M"} }, "both limit the cost", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q := tt.world.request()
			if tt.change != nil {
				tt.change(q)
			}
			r, err := Decide(t.Context(), q, &World{Open: opened(tt.world.files())})
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Fatalf("error %v, want %q", err, tt.err)
			}
			if tt.says == "" {
				return
			}
			if r == nil {
				t.Fatal("no result")
			}
			if all := r.Answer + "\n" + strings.Join(append(r.Warnings, r.Notes...), "\n"); !strings.Contains(all, tt.says) {
				t.Errorf("it does not say %q:\n%s", tt.says, all)
			}
			if bad, ok := errors.AsType[*capcli.ResultError](err); err != nil && (!ok || !errors.Is(bad, capcli.NoPlan)) {
				t.Errorf("%v is not NoPlan", err)
			}
		})
	}
}

// TestTenantThatLeft plans for who is there: of two tenants that hold 16 GPUs each, one leaves on day 80 of
// 120, and nothing is bought for it.
func TestTenantThatLeft(t *testing.T) {
	files := made{days: 30}.files()
	var b bytes.Buffer
	b.WriteString("job_id,submit,run_s,gpus,tenant\n")
	for day := range 120 {
		for k, tenant := range []string{"stays", "leaves"} {
			if tenant == "leaves" && day >= 80 {
				continue
			}
			fmt.Fprintf(&b, "%d-%d,%s,%d,16,%s\n", day, k, capcli.Time(1_767_571_200)+capcli.Time(day)*capcli.Time(capcli.Day), 86_400, tenant)
		}
	}
	files["log.csv"] = b.Bytes()
	r, err := Decide(t.Context(), made{}.request(), &World{Open: opened(files)})
	if err != nil {
		t.Fatal(err)
	}
	if r.Plan.GPUs < 15 || r.Plan.GPUs > 17 {
		t.Errorf("%d GPUs are bought for the 16 of the tenant that is there: %s", r.Plan.GPUs, r.Answer)
	}
	if !strings.HasPrefix(r.Answer, "What counts of the log is all tenants but leaves, from 2026-01-05 to 2026-05-04 (--as-if level-now): tenant \"leaves\" left on") {
		t.Errorf("the first line does not say who left: %s", r.Answer)
	}
	q := made{}.request()
	q.AsIf = "level-before"
	if r, err = Decide(t.Context(), q, &World{Open: opened(files)}); err != nil {
		t.Fatal(err)
	}
	if r.Plan.GPUs < 31 || r.Plan.GPUs > 33 || r.AsIf != "level-before" {
		t.Errorf("as if it came back %d GPUs are bought for the 32 of both: %s", r.Plan.GPUs, r.Answer)
	}
}
