package billing_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/simulate"
)

const gpuHour = 3600 * capcli.GPUSecond

func usd(t *testing.T, text string) capcli.USD {
	t.Helper()
	u, err := capcli.ParseUSD(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func price(t *testing.T, rec *simulate.Record, rates ...billing.Rate) *billing.Invoice {
	t.Helper()
	inv, err := billing.Price(rec, rates)
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

func isNear(got, want, by float64) bool { return math.Abs(got-want) <= by }

// usesHeld is tenants' use of a pool with no minimum billing time, in GPU-hours.
func usesHeld(hours ...capcli.GPUTime) []simulate.Use {
	var out []simulate.Use
	for _, h := range hours {
		out = append(out, simulate.Use{Used: h * gpuHour, Billed: h * gpuHour})
	}
	return out
}

func span(used, idle, blocked, down capcli.GPUTime) simulate.Span {
	return simulate.Span{
		Offered: (used + idle + blocked + down) * gpuHour,
		Used:    used * gpuHour, Idle: idle * gpuHour, Blocked: blocked * gpuHour, Down: down * gpuHour,
	}
}

// A year of 64 reserved GPUs at $2.20 and on-demand ones at $3.90. By hand:
// 64 x 8760 h = 560,640 h, x 2.20 = 1,233,408; 118,400 h x 3.90 = 461,760; in
// all 1,695,168. Nobody held 2,804 + 12,310 + 23,570 = 38,684 h, x 2.20 =
// 85,104.80. 640,356 h used x 3.90 = 2,497,388.40, which 1,695,168 is 67.88 % of.
func TestAYearOf64Reserved(t *testing.T) {
	rec := &simulate.Record{
		Pools: []simulate.Pool{
			{Name: "base", Terms: simulate.Reserved, Nodes: 8, GPUsPerNode: 8},
			{Name: "flex", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 64},
		},
		Tenants: []string{"research", "product"},
		Months: []simulate.Month{{
			Pools: []simulate.Span{span(521_956, 23_570, 12_310, 2_804), span(118_400, 0, 0, 0)},
			Use:   [][]simulate.Use{usesHeld(391_467, 130_489), usesHeld(18_400, 100_000)},
		}},
	}
	inv := price(t, rec, billing.Rate{Price: usd(t, "2.20"), OnDemand: usd(t, "3.90")}, billing.Rate{Price: usd(t, "3.90")})
	for _, tt := range []struct {
		name      string
		got, want capcli.USD
	}{
		{"total", inv.Total.Cost, usd(t, "1,695,168.00")},
		{"committed", inv.ByTier[billing.Committed].Cost, usd(t, "1,233,408.00")},
		{"on demand", inv.ByTier[billing.OnDemand].Cost, usd(t, "461,760.00")},
		{"spot", inv.ByTier[billing.Spot].Cost, 0},
		{"reserved", inv.ByTerms[simulate.Reserved].Cost, usd(t, "1,233,408.00")},
		{"flex", inv.ByPool[1].Cost, usd(t, "461,760.00")},
		{"stranded", inv.Total.Stranded(), usd(t, "85,104.80")},
		{"idle", inv.Total.Idle, usd(t, "51,854.00")},
		{"blocked", inv.Total.Blocked, usd(t, "27,082.00")},
		{"down", inv.Total.Down, usd(t, "6,168.80")},
		{"equivalent", inv.Total.Equivalent, usd(t, "2,497,388.40")},
		// research used three quarters of base: 391,467 x 2.20 + 18,400 x 3.90, and 3/4 of 85,104.80
		{"research direct", inv.ByTenant[0].Direct, usd(t, "932,987.40")},
		{"research share", inv.ByTenant[0].Share, usd(t, "63,828.60")},
		{"research", inv.ByTenant[0].Total, usd(t, "996,816.00")},
		{"product", inv.ByTenant[1].Total, usd(t, "698,352.00")},
		{"research on committed", inv.ByTenant[0].ByTier[billing.Committed], usd(t, "925,056.00")},
		{"unallocated", inv.Unallocated, 0},
	} {
		if tt.got != tt.want {
			t.Errorf("%s costs %s, want %s", tt.name, tt.got.Decimal(), tt.want.Decimal())
		}
	}
	if unit, ok := inv.Total.UnitCost(); !ok || unit != 2_647_227 { // 1,695,168 / 640,356
		t.Errorf("unit cost %s, %v; want 2.647227", unit.Decimal(), ok)
	}
	third := billing.Line{Cost: 2 * capcli.Dollar, Time: simulate.Span{Used: 3 * gpuHour}}
	if unit, ok := third.UnitCost(); !ok || unit != 666_667 { // rounded half up
		t.Errorf("unit cost %s, %v; want 0.666667", unit.Decimal(), ok)
	}
	if esr, ok := inv.Total.SavingsRate(); !ok || !isNear(esr, 0.3212237, 1e-7) || inv.WhyNoSavings() != "" {
		t.Errorf("effective savings rate %v, %v, %q; want 0.3212", esr, ok, inv.WhyNoSavings())
	}
	if u, ok := inv.Utilisation(); !ok || !isNear(u, 521_956.0/560_640, 1e-12) {
		t.Errorf("utilisation %v, %v; want 0.931", u, ok)
	}
	if c, ok := inv.Coverage(); !ok || !isNear(c, 521_956.0/640_356, 1e-12) {
		t.Errorf("coverage %v, %v; want 0.8151", c, ok)
	}
	// With two rates the glossary's identity holds in each tier: ESR = coverage
	// x (1 - rho / utilisation) of what is covered.
	if esr, _ := inv.ByTier[billing.Committed].SavingsRate(); !isNear(esr, 1-(2.20/3.90)/(521_956.0/560_640), 1e-12) {
		t.Errorf("savings rate of the committed tier %v", esr)
	}
}

// 200 GPUs for 4,000 h at $3.00 are $2.4 M. Held 40 % of the time they strand
// $1.44 M; another price needs no other run.
func TestStrandedReservationUnderTwoPrices(t *testing.T) {
	rec := &simulate.Record{
		Pools:   []simulate.Pool{{Name: "a100", Terms: simulate.Reserved, Nodes: 25, GPUsPerNode: 8}},
		Tenants: []string{"research"},
		Months:  []simulate.Month{{Pools: []simulate.Span{span(320_000, 480_000, 0, 0)}, Use: [][]simulate.Use{usesHeld(320_000)}}},
	}
	inv := price(t, rec, billing.Rate{Price: usd(t, "3.00"), OnDemand: usd(t, "5.00")})
	if got, want := inv.Total.Cost, usd(t, "2,400,000"); got != want {
		t.Errorf("cost %s, want %s", got, want)
	}
	if got, want := inv.Total.Stranded(), usd(t, "1,440,000"); got != want {
		t.Errorf("stranded %s, want %s", got, want)
	}
	if esr, ok := inv.Total.SavingsRate(); !ok || !isNear(esr, -0.5, 1e-12) {
		t.Errorf("effective savings rate %v, %v; want -0.5: all on demand would be $1.6 M", esr, ok)
	}
	if got := price(t, rec, billing.Rate{Price: usd(t, "1.50")}).Total.Cost; got != usd(t, "1,200,000") {
		t.Errorf("at half the price %s", got)
	}
}

// No commitments: what is paid is what on demand costs.
func TestNothingCommittedSavesNothing(t *testing.T) {
	rec := &simulate.Record{
		Pools:   []simulate.Pool{{Name: "flex", Terms: simulate.OnDemand}},
		Tenants: []string{"a", "b"},
		Months: []simulate.Month{{
			Pools: []simulate.Span{{Offered: 4 * gpuHour, Used: 3 * gpuHour, Idle: gpuHour}},
			// b held a GPU for no more than 30 minutes and is billed for 90
			Use: [][]simulate.Use{{{Used: 5 * gpuHour / 2, Billed: 5 * gpuHour / 2}, {Used: gpuHour / 2, Billed: 3 * gpuHour / 2}}},
		}},
	}
	inv := price(t, rec, billing.Rate{Price: usd(t, "4")})
	if inv.Total.Cost != usd(t, "16") || inv.Total.Equivalent != inv.Total.Cost {
		t.Errorf("cost %s, on-demand equivalent %s; want 16.00 both", inv.Total.Cost, inv.Total.Equivalent)
	}
	if esr, ok := inv.Total.SavingsRate(); !ok || esr != 0 {
		t.Errorf("effective savings rate %v, %v; want 0", esr, ok)
	}
	if a, b := inv.ByTenant[0].Total, inv.ByTenant[1].Total; a != usd(t, "10") || b != usd(t, "6") {
		t.Errorf("a pays %s and b %s; want 10 and 6", a, b)
	}
	if inv.Total.Stranded() != 0 {
		t.Errorf("%s stranded on demand", inv.Total.Stranded())
	}
	if _, ok := inv.Utilisation(); ok {
		t.Error("utilisation of no commitment is known")
	}
}

func TestSavingsThatAreNotKnown(t *testing.T) {
	pools := []simulate.Pool{{Name: "own", Terms: simulate.Owned}, {Name: "spot", Terms: simulate.Spot}}
	used := []simulate.Month{{Pools: []simulate.Span{span(1, 1, 0, 0), span(1, 0, 0, 0)}, Use: [][]simulate.Use{usesHeld(1), usesHeld(1)}}}
	unused := []simulate.Month{{Pools: []simulate.Span{span(0, 2, 0, 0), span(0, 0, 0, 0)}, Use: [][]simulate.Use{nil, nil}}}
	for _, tt := range []struct {
		name   string
		months []simulate.Month
		want   string
	}{
		{"no price", used, "no on-demand price is known for own, spot"},
		{"no use", unused, "no GPU time was billed"},
	} {
		rec := &simulate.Record{Pools: pools, Tenants: []string{"a"}, Months: tt.months}
		inv := price(t, rec, billing.Rate{}, billing.Rate{Price: capcli.Dollar})
		if _, ok := inv.Total.SavingsRate(); ok || inv.WhyNoSavings() != tt.want {
			t.Errorf("%s: rate known is %v, why %q; want %q", tt.name, ok, inv.WhyNoSavings(), tt.want)
		}
	}
}

// Who bears a reservation that stood empty: first who used the pool that month,
// then who used it at all, then who used anything, and else nobody.
func TestWhoBearsWhatNobodyHeld(t *testing.T) {
	month := func(base, other simulate.Span, use ...[]simulate.Use) simulate.Month {
		return simulate.Month{Pools: []simulate.Span{base, other}, Use: use}
	}
	full := month(span(1, 9, 0, 0), span(4, 0, 0, 0), usesHeld(1, 0), usesHeld(1, 3))
	empty := month(span(0, 10, 0, 0), span(4, 0, 0, 0), nil, usesHeld(1, 3))
	nothing := month(span(0, 10, 0, 0), simulate.Span{}, nil, nil)
	for _, tt := range []struct {
		name        string
		months      []simulate.Month
		a, b, nobod string
	}{
		{"its users of the month", []simulate.Month{full}, "9", "0", "0"},
		{"its users of the run", []simulate.Month{full, empty}, "19", "0", "0"},
		{"users of other pools", []simulate.Month{empty}, "2.5", "7.5", "0"},
		{"nobody", []simulate.Month{nothing}, "0", "0", "10"},
	} {
		rec := &simulate.Record{
			Pools:   []simulate.Pool{{Name: "base", Terms: simulate.Reserved}, {Name: "spot", Terms: simulate.Spot}},
			Tenants: []string{"a", "b"}, Months: tt.months,
		}
		inv := price(t, rec, billing.Rate{Price: capcli.Dollar}, billing.Rate{Price: capcli.Dollar})
		a, b := inv.ByTenant[0].Share, inv.ByTenant[1].Share
		if a != usd(t, tt.a) || b != usd(t, tt.b) || inv.Unallocated != usd(t, tt.nobod) {
			t.Errorf("%s: a bears %s, b %s, nobody %s; want %s, %s, %s", tt.name, a, b, inv.Unallocated, tt.a, tt.b, tt.nobod)
		}
	}
}

func TestPriceRefuses(t *testing.T) {
	rec := &simulate.Record{
		Pools:   []simulate.Pool{{Name: "base", Terms: simulate.Reserved}, {Name: "more", Terms: simulate.Owned}},
		Tenants: []string{"a"},
		Months:  []simulate.Month{{Pools: []simulate.Span{span(0, 6_000_000, 0, 0), span(0, 6_000_000, 0, 0)}, Use: [][]simulate.Use{nil, nil}}},
	}
	million := usd(t, "1000000")
	for _, tt := range []struct {
		name     string
		rates    []billing.Rate
		overflow bool
		want     string
	}{
		{"too few", []billing.Rate{{}}, false, "got 1 rates for 2 pools"},
		{"negative", []billing.Rate{{Price: -1}, {}}, false, "base: a price may not be negative"},
		{"a cell overflows", []billing.Rate{{Price: 2 * million}, {}}, true, "price pool base in the month"},
		{"the sum overflows", []billing.Rate{{Price: million}, {Price: million}}, true, "price pool more in the month"},
		{"just fits", []billing.Rate{{Price: million}, {Price: million / 2}}, false, ""},
	} {
		_, err := billing.Price(rec, tt.rates)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: error %v, want one with %q", tt.name, err, tt.want)
		case errors.Is(err, capcli.ErrOverflow) != tt.overflow:
			t.Errorf("%s: is an overflow is %v, want %v", tt.name, !tt.overflow, tt.overflow)
		}
	}
	if _, err := billing.JobCost([]simulate.Hold{{Pool: 0, Billed: 10_000_000 * gpuHour}}, []billing.Rate{{Price: million}}); !errors.Is(err, capcli.ErrOverflow) {
		t.Errorf("job cost gives %v, want an overflow", err)
	}
}
