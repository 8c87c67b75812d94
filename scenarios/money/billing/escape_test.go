package billing_test

import (
	"errors"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios/money/billing"
)

func TestRebalance(t *testing.T) {
	const quarter, year = 90 * 24 * hours, 360 * 24 * hours
	c := billing.Commitment{
		ID: "r", Start: day0, End: day0 + year, Owner: "me", Scope: billing.Scope{Provider: "azure"}, Fees: billing.Fees{Upfront: usd(t, "36000")},
		Product: billing.AzureReservation{Units: 4000}, Escape: billing.Escape{Every: capcli.Seconds(quarter), Refund: 880, Limit: usd(t, "50000")},
	}
	p := &billing.Portfolio{Commitments: []billing.Commitment{c}}
	half := c
	half.ID, half.Start, half.Fees, half.Product = "r2", day0+quarter, billing.Fees{Upfront: usd(t, "27000")}, billing.AzureReservation{Units: 2000}
	// A quarter is used up: 27,000 is unexpired, 88 % of it comes back.
	next, refund, err := p.Rebalance("r", day0+quarter, &half, nil)
	if err != nil || refund.Amount != usd(t, "23760") {
		t.Fatalf("refund %s (%v), want 23760", refund.Amount.Decimal(), err)
	}
	b := billOf(t, &billing.UseRecord{From: day0, To: day0 + year}, next, billing.InAll)
	if want := usd(t, "39240"); b.Total.Billed != want || b.Total.Effective != want { // 36000 - 23760 + 27000
		t.Errorf("the year costs %s, paid %s; want %s", b.Total.Effective, b.Total.Billed, want)
	}
	for _, tt := range []struct {
		name string
		at   capcli.Time
		past []billing.Refund
		want string
	}{
		{"between quarters", day0 + quarter + hours, nil, "the next such date is"},
		{"before it began", day0, nil, "no commitment r runs"},
		{"over the limit of twelve months", day0 + quarter, []billing.Refund{{At: day0, Owner: "me", Provider: "azure", Amount: usd(t, "30000")}}, "the limit is $50,000.00"},
	} {
		var escape *billing.EscapeError
		if _, _, err := p.Rebalance("r", tt.at, nil, tt.past); !errors.As(err, &escape) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want an error with %q", tt.name, err, tt.want)
		}
	}
	old := []billing.Refund{{At: day0 - year, Owner: "me", Provider: "azure", Amount: usd(t, "40000")}, {At: day0, Owner: "other", Provider: "azure", Amount: usd(t, "40000")}}
	if _, _, err := p.Rebalance("r", day0+quarter, nil, old); err != nil {
		t.Errorf("refunds of others and of over a year ago count: %v", err)
	}
}

func TestWhatIsWrongWithAPortfolio(t *testing.T) {
	good := func() billing.Commitment {
		return billing.Commitment{ID: "a", Start: day0, End: day0 + 10*hours, Fees: billing.Fees{Hourly: 1}, Product: billing.ReservedInstance{Units: 1000}}
	}
	with := func(f func(c *billing.Commitment)) []billing.Commitment {
		c := good()
		f(&c)
		return []billing.Commitment{c}
	}
	again := good()
	again.Start += 9 * hours
	again.End += 9 * hours
	renewed := good()
	renewed.Start, renewed.End = renewed.End, renewed.End+hours
	tests := []struct {
		name    string
		commits []billing.Commitment
		want    string // "" is nothing
	}{
		{"nothing", nil, ""},
		{"renewed", []billing.Commitment{good(), renewed}, ""},
		{"overlapping", []billing.Commitment{good(), again}, "commitments 1 and 2 are both a and overlap: 2027-01-01T00:00:00Z to 2027-01-01T10:00:00Z and 2027-01-01T09:00:00Z to 2027-01-01T19:00:00Z"},
		{"no id", with(func(c *billing.Commitment) { c.ID = "" }), "commitment number 1: it has no ID"},
		{"ends before it begins", with(func(c *billing.Commitment) { c.End = day0 }), "not after its start"},
		{"in euros", with(func(c *billing.Commitment) { c.Currency = "EUR" }), "commitment a is in EUR and the portfolio in USD"},
		{"no units", with(func(c *billing.Commitment) { c.Product = billing.ReservedInstance{} }), "number of units"},
		{"no product", with(func(c *billing.Commitment) { c.Product = nil }), "it has no product"},
		{"negative fee", with(func(c *billing.Commitment) { c.Fees.Hourly = -1 }), "a fee is negative"},
		{"overflow", with(func(c *billing.Commitment) { c.Fees = billing.Fees{Upfront: 1<<63 - 1, Hourly: 1 << 40} }), "overflow"},
		{"plan without rates", with(func(c *billing.Commitment) { c.Product = billing.SavingsPlan{Commit: 1} }), "no plan rate"},
		{"gpus without a reservation", with(func(c *billing.Commitment) {
			c.Scope.GPUModel, c.Product = "H100", billing.CommittedUse{Units: 1000}
		}), "comes with a reservation"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := (&billing.Portfolio{Commitments: tt.commits}).Check()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	p := &billing.Portfolio{Commitments: []billing.Commitment{good()}}
	if err := p.CheckWindow(day0+10*hours, day0+20*hours); err == nil || !strings.Contains(err.Error(), "commitment a ended on 2027-01-01T10:00:00Z") {
		t.Errorf("an expired commitment: %v", err)
	}
	if err := p.CheckWindow(day0, day0+hours); err != nil {
		t.Errorf("a current commitment: %v", err)
	}
}

func TestWhatIsWrongWithUse(t *testing.T) {
	good := useOn(billing.SKU{Size: "x"}, 1, 0, 60, 1_000_000)
	with := func(f func(l *billing.UseLine)) *billing.UseRecord {
		l := good
		f(&l)
		return &billing.UseRecord{From: day0, To: day0 + hours, Lines: []billing.UseLine{l}}
	}
	for _, tt := range []struct {
		name string
		rec  *billing.UseRecord
		want string
	}{
		{"before the window", with(func(l *billing.UseLine) { l.Start-- }), "not within the window"},
		{"after the window", with(func(l *billing.UseLine) { l.Seconds = 3601 }), "not within the window"},
		{"negative length", with(func(l *billing.UseLine) { l.Seconds = -1 }), "it lasts -1 s"},
		{"negative price", with(func(l *billing.UseLine) { l.Price = -1 }), "a price is negative"},
		{"spot without a price", with(func(l *billing.UseLine) { l.Kind = billing.UseSpot }), "no spot price"},
		{"reserved without a name", with(func(l *billing.UseLine) { l.Kind = billing.UseReserved }), "must name the commitment"},
		{"nothing at all", &billing.UseRecord{}, "no use and no window"},
	} {
		if _, err := tt.rec.Hours(false); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	rec := with(func(l *billing.UseLine) { l.Kind, l.Capacity = billing.UseReserved, "gone" })
	h, err := rec.Hours(false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Bill(&billing.Portfolio{}, billing.ByMonth); err == nil || !strings.Contains(err.Error(), "no commitment of that name") {
		t.Errorf("use of a pool that is not there: %v", err)
	}
	rec = &billing.UseRecord{Currency: "EUR", Lines: []billing.UseLine{good}}
	if h, err = rec.Hours(false); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Bill(&billing.Portfolio{}, billing.ByMonth); err == nil || !strings.Contains(err.Error(), "the use is in EUR and the portfolio in USD") {
		t.Errorf("mixed currencies: %v", err)
	}
}

// TestSpotPriceSeries is a run of three hours over two steps of price, the
// second above the on-demand price.
func TestSpotPriceSeries(t *testing.T) {
	sku := billing.SKU{Provider: "aws", GPUModel: "H100"}
	l := useOn(sku, 2, 1800, 3*3600, 4_000_000)
	l.Kind = billing.UseSpot
	rec := &billing.UseRecord{From: day0, To: day0 + 4*hours, Lines: []billing.UseLine{l}, SpotPrices: []billing.SpotPrice{
		{SKU: sku, At: day0 + 2*hours, Price: 9_000_000}, {SKU: sku, At: day0 - hours, Price: 1_500_000},
	}}
	b := billOf(t, rec, &billing.Portfolio{}, billing.ByMonth)
	// 1.5 h at 1.50 and 1.5 h at the on-demand 4.00, two units.
	if want := usd(t, "16.5"); b.Total.Billed != want || b.Total.List != usd(t, "24") {
		t.Errorf("billed %s of %s, want 16.50 of 24", b.Total.Billed, b.Total.List)
	}
}
