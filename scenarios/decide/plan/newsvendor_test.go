package plan_test

import (
	"context"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"capcli"
	"capcli/scenarios/decide/plan"
)

func usd(t testing.TB, text string) capcli.USD {
	t.Helper()
	u, err := capcli.ParseUSD(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestNewsvendor holds E1: unit k is worth it while it is wanted in more than ρ
// of the hours.
func TestNewsvendor(t *testing.T) {
	demand := []float64{2, 4, 4, 6, 8, 3, 5, 1}
	for k, want := range []float64{33, 29.8, 27.6, 26.4, 26.2, 28, 30.8, 34.6, 38.4} {
		if got := plan.OneLevel(demand, float64(k), usd(t, ".6"), usd(t, "1")); math.Abs(got-want) > 1e-9 {
			t.Errorf("C(%d) = %v, want %v", k, got, want)
		}
	}
	tests := []struct {
		rate string
		want float64
	}{{".6", 4}, {".75", 2}, {".749999", 3}, {"1", 0}, {"1.2", 0}, {"0", 8}, {".125", 6}, {".124999", 8}}
	for _, tt := range tests {
		if got := plan.Newsvendor(demand, usd(t, tt.rate), usd(t, "1")); got != tt.want {
			t.Errorf("ρ %s: level %v, want %v", tt.rate, got, tt.want)
		}
	}
	if a, b := plan.OneLevel(demand, 2, usd(t, ".75"), usd(t, "1")), plan.OneLevel(demand, 3, usd(t, ".75"), usd(t, "1")); a != b || a != 30 {
		t.Errorf("at the tie 2 costs %v and 3 costs %v, want 30", a, b)
	}
}

// TestShavedIce holds E2: the published optimum of a two-week window on a grid of
// 100 steps, and the exact quantile, which beats it.
func TestShavedIce(t *testing.T) {
	start, hourly := snowflake(t)
	window := func(from string, hours int) []float64 {
		at, err := time.Parse(time.DateOnly, from)
		if err != nil {
			t.Fatal(err)
		}
		i := int(capcli.TimeOf(at)-start) / 3600
		out := append([]float64(nil), hourly[i:i+hours]...)
		most := 0.0
		for _, v := range out {
			most = max(most, v)
		}
		for j := range out {
			out[j] *= 100 / most
		}
		return out
	}
	reserved, onDemand := usd(t, "1"), usd(t, "2.1")
	over := func(d []float64, level float64) float64 { return plan.OneLevel(d, level, reserved, onDemand) }
	near := func(what string, got, want, digit float64) {
		t.Helper()
		if math.Abs(got-want) > digit {
			t.Errorf("%s: %.8f, want %.8f", what, got, want)
		}
	}
	for _, tt := range []struct {
		hours       int
		level, cost float64
		digit       float64
	}{{335, 77.45372967, 29326.43298, 1e-5}, {336, 77.42568704, 29403.8867, 1e-4}} {
		d := window("2024-01-07", tt.hours)
		k := plan.Newsvendor(d, reserved, onDemand)
		near("level", k, tt.level, 1e-8)
		near("cost", over(d, k), tt.cost, tt.digit)
	}
	d := window("2024-01-07", 335)
	near("the published level", over(d, 77.44353), 29326.44, .005)
	if over(d, 77.44353) <= over(d, plan.Newsvendor(d, reserved, onDemand)) {
		t.Error("the quantile does not beat the published grid")
	}
}

// TestThreeYearsOfOneTerm holds E3.
func TestThreeYearsOfOneTerm(t *testing.T) {
	_, hourly := snowflake(t)
	c, err := plan.NewCurve(capcli.NoTime, capcli.Step{Seconds: hour}, hourly)
	if err != nil {
		t.Fatal(err)
	}
	if c.Sum().Hours() != 45_989_339 {
		t.Fatalf("%v GPU-hours are wanted, want 45989339", c.Sum().Hours())
	}
	for _, tt := range []struct {
		rate                             string
		level                            int64
		ratio, utilisation, coverage, by float64
	}{
		{"0.45", 1831, .607877, .8248, .8630, 1e-4},
		{"0.60", 1533, .752213, 0, 0, 0},
		{"0.63", 1469, .777942, 0, 0, 0},
		{"0.80", 1080, .901868, 0, 0, 0},
	} {
		m := plan.Market{OnDemand: rate(t, "1"), Terms: []plan.Term{term(t, "36mo", tt.rate)}, After: plan.After{Rule: plan.Fitting}}
		got, err := m.Solve(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		level := plan.Newsvendor(hourly, usd(t, tt.rate), usd(t, "1"))
		if len(got.Purchases) != 1 || got.Purchases[0].Milli != 1000*tt.level || level != float64(tt.level) {
			t.Errorf("%s: bought %+v, quantile %v, want %d", tt.rate, got.Purchases, level, tt.level)
		}
		if r := got.Cost.Float() / 45_989_339; math.Abs(r-tt.ratio) > 1e-6 {
			t.Errorf("%s: cost over demand %v, want %v", tt.rate, r, tt.ratio)
		}
		if tt.by == 0 {
			continue
		}
		u, v := float64(got.Used)/float64(got.Committed), float64(got.Used)/float64(got.Wanted)
		if math.Abs(u-tt.utilisation) > tt.by/2 || math.Abs(v-tt.coverage) > tt.by/2 {
			t.Errorf("%s: utilisation %v and coverage %v, want %v and %v", tt.rate, u, v, tt.utilisation, tt.coverage)
		}
	}
}

// TestBaselines holds baselines over the optimum, and one level against trying
// every level.
func TestBaselines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, c := market(t), drawCurve(t)
		best := solved(t, m, c)
		all, err := m.Baselines(context.Background(), c, best)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) != 1+2*len(m.Terms) {
			t.Fatalf("%d baselines of %d terms", len(all), len(m.Terms))
		}
	})
	m := plan.Market{OnDemand: rate(t, "1"), Terms: []plan.Term{term(t, "3h", "0.6")}, Every: capcli.Step{Seconds: hour}, After: plan.After{Rule: plan.Fitting}}
	c := curve(t, capcli.Step{Seconds: hour}, 2, 4, 4, 6, 8, 3, 5, 1)
	best, err := m.Solve(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Baselines(context.Background(), c, best)
	if err != nil {
		t.Fatal(err)
	}
	// Six hours are held: 4 GPUs at 0.6 are 14.4, what is over them 2+4, and the
	// last two hours are 6 on demand.
	if f := got[2]; !f.Flat || f.Milli != 4000 || f.Cost != usd(t, "26.4") {
		t.Errorf("one level: %+v, want 4 GPUs for 26.40", f)
	}
}
