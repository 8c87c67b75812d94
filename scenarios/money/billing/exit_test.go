package billing_test

import (
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios/money/billing"
)

// yearly is a commitment to one GPU for 100 days of 24 hours at a dollar, so much
// of its 2,400 dollars paid at the start.
func hundredDays(upfront, hourly capcli.USD) *billing.Commitment {
	return &billing.Commitment{
		ID: "r", Start: day0, End: day0 + 2400*hours, Fees: billing.Fees{Upfront: upfront, Hourly: hourly},
		Product: billing.ReservedCapacity{Units: 1000},
	}
}

// What leaving early costs, worked out by hand: 40 of 100 days are over, 1,440 of
// 2,400 dollars are for the rest.
func TestLeavingEarly(t *testing.T) {
	const at = day0 + 960*hours
	for _, tt := range []struct {
		name           string
		c              *billing.Commitment
		sell           bool
		share          int64
		flat           string
		cash, total    string // at the end; in all
		used, unused   string // the GPU ran for the first 20 of the 40 days
		billedAfterEnd string
	}{
		// Half of the 1,440 yet to be paid, and a hundred.
		{"terminated, nothing ahead", hundredDays(0, 1e6), false, 500_000, "100", "820", "1780", "480", "1300", "820"},
		// All was paid ahead: nothing is left to pay, and nothing comes back.
		{"terminated, all ahead", hundredDays(2400e6, 0), false, 500_000, "0", "0", "2400", "480", "1920", "0"},
		// 1,200 ahead and 0.50 an hour: half of the 720 yet to be paid.
		{"terminated, half ahead", hundredDays(1200e6, 500_000), false, 500_000, "0", "360", "2040", "480", "1560", "360"},
		// The buyer pays 80 % of 1,440 in money and payments taken over.
		{"sold, nothing ahead", hundredDays(0, 1e6), true, 200_000, "0", "288", "1248", "480", "768", "288"},
		{"sold, all ahead", hundredDays(2400e6, 0), true, 200_000, "30", "-1122", "1278", "480", "798", "-1122"},
		{"sold, half ahead", hundredDays(1200e6, 500_000), true, 200_000, "0", "-432", "1248", "480", "768", "-432"},
	} {
		leave := tt.c.Terminate
		if tt.sell {
			leave = tt.c.Resell
		}
		left, err := leave(at, tt.share, usd(t, tt.flat))
		if err != nil {
			t.Fatal(err)
		}
		rec := &billing.UseRecord{From: day0, To: day0 + 2400*hours, Lines: []billing.UseLine{{
			Start: day0, Seconds: 480 * 3600, Units: 1000, Kind: billing.UseReserved, Capacity: "r", Tenant: "a",
		}}}
		p := &billing.Portfolio{Commitments: []billing.Commitment{left}}
		for _, grain := range []billing.Grain{billing.ByHour, billing.ByMonth, billing.InAll} {
			b := billOf(t, rec, p, grain)
			k := b.Commitments[0]
			if want := signed(t, tt.total); left.Exit.Cash != signed(t, tt.cash) || b.Total.Billed != want || b.Total.Effective != want {
				t.Errorf("%s: %s at the end, %s billed, %s charged; want %s and %s", tt.name, left.Exit.Cash.Decimal(), b.Total.Billed.Decimal(), b.Total.Effective.Decimal(), tt.cash, tt.total)
			}
			if k.Used != usd(t, tt.used) || k.Unused != usd(t, tt.unused) || k.Billed != k.Used+k.Unused {
				t.Errorf("%s: used %s, unused %s, billed %s; want %s and %s", tt.name, k.Used.Decimal(), k.Unused.Decimal(), k.Billed.Decimal(), tt.used, tt.unused)
			}
			sum := capcli.USD(0)
			for _, x := range b.Chargeback().Payers {
				sum += x.Total
			}
			if sum != b.Total.Effective {
				t.Errorf("%s: tenants pay %s", tt.name, sum.Decimal())
			}
		}
		if paid, err := left.AmountPaid(at-1, day0+9600*hours); err != nil || paid < signed(t, tt.billedAfterEnd) || paid > signed(t, tt.billedAfterEnd)+1e6 {
			t.Errorf("%s: %s is paid from the end on, %v", tt.name, paid.Decimal(), err)
		}
		if _, err := left.Terminate(at-1, 0, 0); err == nil || !strings.Contains(err.Error(), "left already") {
			t.Errorf("%s: left twice: %v", tt.name, err)
		}
	}
	owned := hundredDays(2400e6, 0)
	owned.Fees.Residual = 1
	for _, bad := range []func() (billing.Commitment, error){
		func() (billing.Commitment, error) { return owned.Resell(at, 0, 0) },
		func() (billing.Commitment, error) { return hundredDays(0, 1e6).Terminate(day0, 0, 0) },
		func() (billing.Commitment, error) { return hundredDays(0, 1e6).Terminate(day0+2400*hours, 0, 0) },
		func() (billing.Commitment, error) { return hundredDays(0, 1e6).Terminate(at, 1_000_001, 0) },
		func() (billing.Commitment, error) { return hundredDays(0, 1e6).Resell(at, -1, 0) },
	} {
		if _, err := bad(); err == nil {
			t.Error("left what cannot be")
		}
	}
}

func signed(t *testing.T, text string) capcli.USD {
	if rest, minus := strings.CutPrefix(text, "-"); minus {
		return -usd(t, rest)
	}
	return usd(t, text)
}

// A promise to spend 1,000 dollars a month at 2 dollars a GPU-hour that lists at 3,
// worked out by hand.
func TestMinimumSpend(t *testing.T) {
	const jan31, feb28 = 31 * 24 * hours, 28 * 24 * hours
	scope := billing.Scope{GPUModel: "H100"}
	promise := func(every int64, minimum string, end capcli.Time) billing.Commitment {
		return billing.Commitment{ID: "deal", Start: day0, End: end, Product: billing.MinimumSpend{
			Minimum: usd(t, minimum), Every: every, Rates: []billing.PlanRate{{Scope: scope, Rate: 2e6}},
		}}
	}
	run := func(model string, from capcli.Time, length capcli.Seconds) billing.UseLine {
		return billing.UseLine{Start: from, Seconds: length, Units: 1000, Price: 3e6, SKU: billing.SKU{GPUModel: model}, Tenant: "a"}
	}
	h := capcli.Seconds(3600)
	for _, tt := range []struct {
		name     string
		c        billing.Commitment
		to       capcli.Time
		lines    []billing.UseLine
		total    string
		used     string
		unused   string
		invoices []string // by month
	}{
		// January: 600 hours are 1,200; February: 100 are 200, so 800 fall short.
		{
			"two months", promise(1, "1000", day0+jan31+feb28), day0 + jan31 + feb28,
			[]billing.UseLine{run("H100", day0, 600*h), run("H100", day0+jan31, 100*h)},
			"2200", "1400", "800",
			[]string{"1200", "1000"},
		},
		// Over the whole term 1,400 is above 1,300.
		{
			"the whole term", promise(0, "1300", day0+jan31+feb28), day0 + jan31 + feb28,
			[]billing.UseLine{run("H100", day0, 600*h), run("H100", day0+jan31, 100*h)},
			"1400", "1400", "0",
			[]string{"1200", "200"},
		},
		// Other models are on demand and do not count.
		{
			"another model", promise(1, "1000", day0+jan31), day0 + jan31,
			[]billing.UseLine{run("A100", day0, 100*h)},
			"1300", "0", "1000",
			[]string{"1300"},
		},
		// The term is not over when the bill is: nothing falls due yet.
		{
			"not yet due", promise(0, "5000", day0+365*24*hours), day0 + jan31,
			[]billing.UseLine{run("H100", day0, 100*h)},
			"200", "200", "0",
			[]string{"200"},
		},
		// A last period of 14 of 28 days counts for half.
		{
			"half a month", promise(1, "1000", day0+jan31+feb28/2), day0 + jan31 + feb28,
			[]billing.UseLine{run("H100", day0, 500*h)},
			"1500", "1000", "500",
			[]string{"1000", "500"},
		},
		// Nobody used anything at all.
		{"nothing used", promise(1, "1000", day0+jan31), day0 + jan31, nil, "1000", "0", "1000", []string{"1000"}},
	} {
		p := &billing.Portfolio{Commitments: []billing.Commitment{tt.c}}
		rec := &billing.UseRecord{From: day0, To: tt.to, Lines: tt.lines}
		for _, grain := range []billing.Grain{billing.ByHour, billing.ByDay, billing.ByMonth, billing.InAll} {
			b := billOf(t, rec, p, grain)
			k := b.Commitments[0]
			if want := usd(t, tt.total); b.Total.Billed != want || b.Total.Effective != want || k.Used != usd(t, tt.used) || k.Unused != usd(t, tt.unused) || k.Billed != k.Used+k.Unused {
				t.Errorf("%s: billed %s, charged %s, used %s, unused %s, bought %s; want %s", tt.name, b.Total.Billed.Decimal(), b.Total.Effective.Decimal(), k.Used.Decimal(), k.Unused.Decimal(), k.Billed.Decimal(), tt.total)
			}
			if grain != billing.ByMonth {
				continue
			}
			months, err := b.Months(p)
			if err != nil || len(months) != len(tt.invoices) {
				t.Fatalf("%s: %d months, %v", tt.name, len(months), err)
			}
			for i, m := range months {
				if m.Billed != usd(t, tt.invoices[i]) {
					t.Errorf("%s: month %d is %s, want %s", tt.name, i+1, m.Billed.Decimal(), tt.invoices[i])
				}
			}
		}
	}
	year := promise(1, "1000", day0+365*24*hours)
	if open, unpaid, err := year.Unexpired(day0); err != nil || open != usd(t, "12000") || unpaid != open {
		t.Errorf("a year of it binds %s, %v", open.Decimal(), err)
	}
}
