package scenarios

import (
	"context"
	"math"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/outcome"
	"capcli/simulate"
	"capcli/testdata/golden"
)

// played is a run of a scenario of the library, priced.
type played struct {
	s   *Scenario
	r   *simulate.Result
	inv *billing.Invoice
}

func play(t *testing.T, name string, overrides ...string) played {
	t.Helper()
	b, ok := Library(name)
	if !ok {
		t.Fatalf("no scenario %s", name)
	}
	return playText(t, name, b, overrides...)
}

func playText(t *testing.T, name string, b []byte, overrides ...string) played {
	t.Helper()
	s, err := Parse(name+".yaml", b, overrides...)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Seed: s.Seed}
	jobs, ok := s.Generated(o)
	switch {
	case ok:
	case len(s.Services)+len(s.Workflows) > 0:
		jobs = func(func(capcli.Job, error) bool) {}
	default:
		t.Fatalf("%s has no generator", name)
	}
	if len(s.Shapes) > 0 {
		jobs = s.AdmitPeriod(jobs, &Intake{})
	}
	c, err := s.Config(jobs, o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := simulate.Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	inv, err := s.Invoice(r.Record, r.Ended, o)
	if err != nil {
		t.Fatal(err)
	}
	return played{s, r, inv}
}

// savings is the effective savings rate.
func (o *played) savings(t *testing.T) float64 {
	t.Helper()
	rate, known := o.inv.Total.SavingsRate()
	if !known {
		t.Fatal(o.inv.WhyNoSavings())
	}
	return rate
}

// near fails when got is not within a band of want.
func checkNear(t *testing.T, what string, got, want, band float64) {
	t.Helper()
	if math.Abs(got-want) > band {
		t.Errorf("%s: got %v, want %v within %v", what, got, want, band)
	}
}

func TestLibrary(t *testing.T) {
	if len(Names()) < 10 {
		t.Errorf("got %v, want all the stories", Names())
	}
	for i, name := range Names() {
		b, _ := Library(name)
		text := string(b)
		if !strings.HasPrefix(text, "# ") || strings.Index(text, "\ncapcli: ") < 100 {
			t.Errorf("%s does not begin with a comment on what it shows", name)
		}
		if i%4 != 0 && !golden.Full() {
			continue
		}
		x := play(t, name)
		if x.s.Name != name || x.s.Description == "" {
			t.Errorf("%s calls itself %q, %q", name, x.s.Name, x.s.Description)
		}
		if x.r.Jobs.Unplaceable > 0 || x.r.Jobs.Finished == 0 && len(x.s.Services)+len(x.s.Workflows) == 0 {
			t.Errorf("%s: %+v", name, x.r.Jobs)
		}
		if len(x.s.Unpriced()) > 0 || len(x.s.Limits) == 0 {
			t.Errorf("%s lacks a price or a limit", name)
		}
		if x.r.Ended != x.s.Period.Length() {
			t.Errorf("%s ends after %s, its period is %s", name, x.r.Ended, x.s.Period.Length())
		}
	}
	if _, ok := Library("../scenarios/default"); ok {
		t.Error("a path is no name")
	}
}

// $2.4 M for six months of 200 GPUs, of which 60 % bought nothing. All is
// exact, for the price has millionths: 200 × 181 × 24 h × $2.762431.
func TestStrandedReservation(t *testing.T) {
	x := play(t, "stranded-reservation")
	for _, c := range []struct {
		what string
		got  capcli.USD
		want string
	}{
		{"cost", x.inv.Total.Cost, "2400000.0528"},
		{"stranded", x.inv.Total.Stranded(), "1440000.03168"},
		{"of it idle", x.inv.Total.Idle, "1440000.03168"},
		{"on demand", x.inv.Total.Equivalent, "1600000.15104"},
	} {
		if c.got.Decimal() != c.want {
			t.Errorf("%s: got %s, want %s", c.what, c.got.Decimal(), c.want)
		}
	}
	use, _ := x.inv.Utilisation()
	checkNear(t, "utilisation", use, 0.4, 0)
	checkNear(t, "savings rate", x.savings(t), -0.5, 1e-6)
	rates, _ := x.s.Rates(Options{})
	checkNear(t, "discount", 1-rates[0].Price.Float()/rates[0].OnDemand.Float(), 0.4, 1e-6)
}

// What the mix saves against all on demand is computed; each tier by itself
// must save its own discount.
func TestThreeTier(t *testing.T) {
	x := play(t, "three-tier")
	checkNear(t, "savings rate", x.savings(t), 0.38, 0.02)
	for i, want := range []float64{1 - 1.285709/3.673385, 0, 1 - 1.928020/3.673385} {
		rate, _ := x.inv.ByPool[i].SavingsRate()
		checkNear(t, x.r.Record.Pools[i].Name, rate, want, 1e-6)
	}
	gpus := 0
	for _, p := range x.r.Record.Pools {
		gpus += p.Capacity()
	}
	checkNear(t, "GPUs at the peak", float64(gpus), 400, 0)
	// Inference swings fourfold around 100 GPUs, so its mean over the day is
	// (160 + 40) / 2.
	checkNear(t, "inference GPU-hours", x.inv.ByPool[1].Time.Used.Hours(), 100*28*24, 0.02*100*28*24)
	if x.r.Jobs.Losses == 0 || x.r.Redone == 0 {
		t.Errorf("no spot node was lost: %+v", x.r.Jobs)
	}
}

func TestBoardDecision(t *testing.T) {
	const gpuDays = 2000 * 1096 // 2028 is a leap year
	for _, c := range []struct {
		name       string
		used       float64 // GPU-days
		cost, list string
		savings    float64
	}{
		{"board-decision", 200*1096 + 1800*92, "126259200.00", "27705600.00", 1 - 126.2592/27.7056},
		{"board-decision-delay", 200*1096 + 1800*92, "126259200.00", "27705600.00", 1 - 126.2592/27.7056},
		{"board-decision-success", 200*1096 + 1800*92 + 1400*1004, "126259200.00", "128908800.00", 1 - 126.2592/128.9088},
		{"board-decision-ondemand", 200*1096 + 1800*92, "27705600.00", "27705600.00", 0},
	} {
		x := play(t, c.name)
		checkNear(t, c.name+" GPU-days used", x.inv.Total.Time.Used.Hours()/24, c.used, 0)
		if got := x.inv.Total.Cost.Decimal(); got != c.cost {
			t.Errorf("%s costs %s, want %s", c.name, got, c.cost)
		}
		if got := x.inv.Total.Equivalent.Decimal(); got != c.list {
			t.Errorf("%s on demand: %s, want %s", c.name, got, c.list)
		}
		checkNear(t, c.name+" savings", x.savings(t), c.savings, 1e-9)
		if use, committed := x.inv.Utilisation(); committed {
			checkNear(t, c.name+" utilisation", use, c.used/gpuDays, 1e-12)
		}
	}
	x := play(t, "board-decision-delay")
	var first capcli.USD
	for _, m := range x.inv.ByMonth[:6] {
		first += m.Line.Cost
	}
	checkNear(t, "the first half-year of the delay, in millions", first.Float()/1e6, 21.2, 0.05)
}

func TestRightsizing(t *testing.T) {
	right, peak := play(t, "rightsizing"), play(t, "rightsizing-peak")
	checkNear(t, "bill of the peak", peak.inv.Total.Cost.Float(), 400*8760*2.314207, 1)
	checkNear(t, "saved", 1-right.inv.Total.Cost.Float()/peak.inv.Total.Cost.Float(), 0.20, 0.02)
	if right.r.Wait.P95 > 0 || peak.r.Wait.P95 > 0 {
		t.Errorf("95 %% should not wait: %s and %s", right.r.Wait.P95, peak.r.Wait.P95)
	}
	if use, _ := peak.inv.Utilisation(); math.Abs(use-0.665) > 0.02 {
		t.Errorf("bought for the peak, %.3f is used; want two thirds", use)
	}
	if use, _ := right.inv.Utilisation(); use < 0.99 {
		t.Errorf("right-sized, %.3f of what is committed is used; want all", use)
	}
}

// Reserving nothing and reserving too much both cost more, and waits fall with
// every GPU reserved.
func TestDefaultShowsTheTrade(t *testing.T) {
	none := play(t, "default", "capacity.base=null", "capacity.on-demand.max_gpus=200")
	base, many := play(t, "default"), play(t, "default", "capacity.base.gpus=64")
	if b := base.inv.Total.Cost; b >= many.inv.Total.Cost || b >= none.inv.Total.Cost {
		t.Errorf("40 reserved GPUs cost %s, none %s, 64 %s: want the middle cheapest", b, none.inv.Total.Cost, many.inv.Total.Cost)
	}
	if base.r.Wait.Mean <= many.r.Wait.Mean {
		t.Errorf("with more GPUs the mean wait goes from %v to %v s, want less", base.r.Wait.Mean, many.r.Wait.Mean)
	}
	if base.inv.ByTier[billing.OnDemand].Cost == 0 || base.r.Wait.P95 == 0 {
		t.Errorf("the default should use on-demand and let some jobs wait: %+v", base.r.Wait)
	}
	for _, c := range base.s.Limits {
		o := outcome.Outcome{Waits: outcome.WaitsOf(&base.r.Wait), Cost: outcome.Cost{Total: &base.inv.Total.Cost}}
		if holds, _ := c.Holds(&o); !holds {
			t.Errorf("the default does not hold its own limit %s", c)
		}
	}
}
