package billing

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/scenarios/money/focus"
)

const jan = capcli.Time(1798761600) // 2027-01-01

func plan10(commit capcli.Rate) Commitment {
	return Commitment{
		ID: "sp", Start: jan, End: jan + 365*86400, Fees: Fees{Hourly: commit},
		Product: SavingsPlan{Commit: commit, Rates: []PlanRate{{Discount: 500_000}}},
	}
}

func billOf(t interface{ Fatal(...any) }, p *Portfolio, grain Grain, lines ...UseLine) *Bill {
	rec := &UseRecord{Lines: lines}
	rec.span()
	h, err := rec.Hours(false)
	if err != nil {
		t.Fatal(err)
	}
	b, err := h.Bill(p, grain)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func unit(tenant string, hour, hours int64, units int64) UseLine {
	return UseLine{Start: jan + capcli.Time(hour*3600), Seconds: capcli.Seconds(hours * 3600), Units: units, Tenant: tenant, Price: 10 * capcli.Dollar}
}

// A plan of $10 an hour covers two units at half price; by hand: hour 0 a and b
// use one each ($5 each), hour 1 only a uses one ($5 used, $5 unused), hour 2
// nobody ($10 unused).
func TestChargebackByHand(t *testing.T) {
	p := &Portfolio{Commitments: []Commitment{plan10(10 * capcli.Dollar)}}
	b := billOf(t, p, ByHour, unit("a", 0, 2, 1000), unit("b", 0, 1, 1000), unit("b", 3, 1, 1000))
	c := b.Chargeback()
	// Hour 1's $5 unused is a's; hour 2's $10 is shared by what each used of the plan
	// in all (a $10, b $10); hour 3's $5 is b's.
	want := []Payer{
		{Name: "a", Direct: 10e6, Share: 10e6, Total: 20e6, Cash: 20e6, Equivalent: 20e6, Used: 7_200_000},
		{Name: "b", Direct: 10e6, Share: 10e6, Total: 20e6, Cash: 20e6, Equivalent: 20e6, Used: 7_200_000},
	}
	for i, w := range want {
		if c.Payers[i] != w {
			t.Errorf("got %+v\nwant %+v", c.Payers[i], w)
		}
	}
	if b.UnusedCost() != 20e6 || b.UsedTime() != 14_400_000 {
		t.Errorf("unused %s, used %d", b.UnusedCost(), b.UsedTime())
	}
	months, err := b.Months(p)
	if err != nil || len(months) != 1 || months[0].Billed != b.Total.Billed || months[0].Effective != b.Total.Effective || months[0].Unexpired != (8760-4)*10e6 || months[0].Unused != 20e6 {
		t.Errorf("got %+v, %v", months, err)
	}
}

// Whatever is used and bought: tenants sum to the invoice, months sum to it, and
// what is written in FOCUS says the same and conserves where the window is the term.
func TestChargebackAndFocusSumToTheInvoice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hours := rapid.Int64Range(1, 60).Draw(t, "hours")
		var lines []UseLine
		for range rapid.IntRange(1, 6).Draw(t, "lines") {
			at := rapid.Int64Range(0, hours-1).Draw(t, "at")
			l := unit(rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "tenant"), at, rapid.Int64Range(1, hours-at).Draw(t, "length"), rapid.Int64Range(1, 5000).Draw(t, "units"))
			l.Price = capcli.Rate(rapid.Int64Range(10, 50_000_000).Draw(t, "price")) // below, a plan rate is 0
			l.SKU.Family = rapid.SampledFrom([]string{"p5", "m5"}).Draw(t, "family")
			lines = append(lines, l)
		}
		p := &Portfolio{}
		rec := &UseRecord{Lines: lines}
		rec.span()
		if rapid.Bool().Draw(t, "plan") {
			c := plan10(capcli.Rate(rapid.Int64Range(1, 30_000_000).Draw(t, "commit")))
			c.Start, c.End = rec.From, rec.To
			p.Commitments = append(p.Commitments, c)
		}
		if rapid.Bool().Draw(t, "instances") {
			p.Commitments = append(p.Commitments, Commitment{
				ID: "ri", Start: rec.From, End: rec.To, Scope: Scope{Family: "p5"},
				Fees:    Fees{Upfront: capcli.USD(rapid.Int64Range(0, 1e9).Draw(t, "upfront")), Hourly: capcli.Rate(rapid.Int64Range(1, 1e7).Draw(t, "hourly"))},
				Product: AzureReservation{Units: Units(rapid.Int64Range(1, 3000).Draw(t, "units"))},
			})
		}
		grain := rapid.SampledFrom([]Grain{ByHour, ByDay, ByMonth, InAll}).Draw(t, "grain")
		b := billOf(t, p, grain, lines...)
		c := b.Chargeback()
		sum, cash := c.Unallocated, c.UnpaidCash
		for _, x := range c.Payers {
			sum, cash = sum+x.Total, cash+x.Cash
			if x.Total != x.Direct+x.Share {
				t.Fatalf("%+v", x)
			}
		}
		if sum != b.Total.Effective || cash != b.Total.Billed {
			t.Fatalf("tenants pay %s and %s, the invoice is %s and %s", sum.Decimal(), cash.Decimal(), b.Total.Effective.Decimal(), b.Total.Billed.Decimal())
		}
		charges, paid := c.Unallocated, c.UnpaidCash
		for _, x := range c.Charges {
			charges, paid = charges+x.Effective, paid+x.Cash
		}
		if charges != b.Total.Effective || paid != b.Total.Billed {
			t.Fatalf("charges sum to %s and %s", charges.Decimal(), paid.Decimal())
		}
		focusSays(t, b, p)
	})
}

func focusSays(t *rapid.T, b *Bill, p *Portfolio) {
	var text strings.Builder
	w := focus.NewWriter(&text, nil)
	b.FocusRows("main", w.Write)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	r, err := focus.NewReader("bill.csv", strings.NewReader(text.String()), focus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	check := focus.NewCheck()
	check.Columns(r.Columns())
	for row, err := range r.Rows() {
		if err == nil {
			err = check.Add(row)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	result, err := check.Conclude("", &focus.Report{})
	if err != nil {
		t.Fatal(err)
	}
	if check.Total.Billed != focus.AmountOf(b.Total.Billed) || check.Total.Effective != focus.AmountOf(b.Total.Effective) || !check.Conforms() {
		t.Fatalf("FOCUS says %s and %s, the bill %s and %s; odd %+v", check.Total.Billed, check.Total.Effective, b.Total.Billed.Decimal(), b.Total.Effective.Decimal(), check.Odd)
	}
	for _, k := range check.Commitments {
		if k.Verdict != focus.Conserved {
			t.Fatalf("%s does not conserve: %s", k.ID, k.Why)
		}
	}
	if rate := result.Savings; rate != nil {
		// List costs of rows are exact there and millionths here.
		if want, ok := b.SavingsRate(); ok && math.Abs(*rate-want) > 1e-12+(1+math.Abs(want))*float64(check.Total.Rows)/float64(b.Equivalent) {
			t.Fatalf("savings rate %v, the bill says %v", *rate, want)
		}
	}
}

// E10 of the golden answers: 1 $/h on demand, one year, payments at the start of
// each month.
func TestPresentValue(t *testing.T) {
	year := func(up, hourly capcli.USD) *Commitment {
		return &Commitment{Start: jan, End: jan + 365*86400, Fees: Fees{Upfront: up, Hourly: hourly}}
	}
	tests := []struct {
		name string
		c    *Commitment
		rate float64
		want string
	}{
		{"none", year(0, 630_000), 0, "5518.80"},
		{"partial", year(2628e6, 300_000), 0, "5256.00"},
		{"all", year(5080_800_000, 0), 0, "5080.80"},
		{"none", year(0, 630_000), 0.1, "5284.89"},
		{"partial", year(2628e6, 300_000), 0.1, "5144.62"},
		{"all", year(5080_800_000, 0), 0.1, "5080.80"},
		{"none", year(0, 630_000), 0.2, "5083.35"},
		{"partial", year(2628e6, 300_000), 0.2, "5048.65"},
		{"all", year(5080_800_000, 0), 0.2, "5080.80"},
	}
	for _, tt := range tests {
		v, err := tt.c.PresentValue(tt.rate)
		if got := capcli.USD(v*100+0.5) * 10_000; err != nil || got.Decimal() != tt.want {
			t.Errorf("%s at %v: got %s, %v, want %s", tt.name, tt.rate, got.Decimal(), err, tt.want)
		}
	}
}
