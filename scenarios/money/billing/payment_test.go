package billing_test

import (
	"testing"

	"capcli"
	"capcli/scenarios/money/billing"
)

// TestPaymentsOfAYear is FOCUS's commitment of one dollar an hour for a year,
// paid in three ways: 8,760 dollars up front, half up front and 365.00 a month
// (8,760 x 0.5 / 12), or by the hour. The year of use costs the same in each.
func TestPaymentsOfAYear(t *testing.T) {
	const year = 365 * 24 * hours
	x := billing.SKU{Provider: "aws", Family: "p5", Size: "x"}
	for _, tt := range []struct {
		name             string
		fees             billing.Fees
		january, june    string
		lockin, unpaid   string // at the end of June
		unexpiredAtStart string
	}{
		{"all", billing.Fees{Upfront: usd(t, "8760")}, "8760", "0", "4416", "0", "8760"},
		{"partial", billing.Fees{Upfront: usd(t, "4380"), Monthly: usd(t, "365")}, "4745", "365", "4416", "2190", "8760"},
		{"none", billing.Fees{Hourly: usd(t, "1")}, "744", "720", "4416", "4416", "8760"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := billing.Commitment{
				ID: "p", Start: day0, End: day0 + year, Fees: tt.fees,
				Product: billing.SavingsPlan{Commit: usd(t, "1"), Rates: []billing.PlanRate{size("x", usd(t, ".75"))}},
			}
			line := useOn(x, 1, 0, capcli.Seconds(year), usd(t, "1.5"))
			rec := &billing.UseRecord{From: day0, To: day0 + year, Lines: []billing.UseLine{line}}
			b := billOf(t, rec, &billing.Portfolio{Commitments: []billing.Commitment{c}}, billing.ByMonth)
			got := map[string]capcli.USD{}
			var used, unused, billed capcli.USD
			for _, r := range b.Rows {
				if r.Category == billing.Purchase {
					got[r.Start.Std().Format("Jan")] += r.BilledCost
					billed += r.BilledCost
				}
				if r.Status == billing.Used {
					used += r.EffectiveCost
				}
				if r.Status == billing.Unused {
					unused += r.EffectiveCost
				}
			}
			if got["Jan"] != usd(t, tt.january) || got["Jun"] != usd(t, tt.june) {
				t.Errorf("paid %s in January and %s in June, want %s and %s", got["Jan"], got["Jun"], tt.january, tt.june)
			}
			if used != usd(t, "6570") || unused != usd(t, "2190") || billed != usd(t, "8760") {
				t.Errorf("used %s, unused %s, paid %s; want 6570, 2190, 8760", used, unused, billed)
			}
			july := day0 + 181*24*hours
			if e, n, err := c.Unexpired(july - 1); err != nil || (e-usd(t, tt.lockin)).Float() > 0.001 || (n-usd(t, tt.unpaid)).Float() > 0.001 {
				t.Errorf("before July %s is unexpired, %s unpaid (%v); want %s and %s", e, n, err, tt.lockin, tt.unpaid)
			}
			if e, _, _ := c.Unexpired(day0); e != usd(t, tt.unexpiredAtStart) {
				t.Errorf("at its start %s is unexpired, want %s", e, tt.unexpiredAtStart)
			}
		})
	}
}

// TestListValueOfAReservedInstance is AWS's: upfront plus hourly fees.
func TestListValueOfAReservedInstance(t *testing.T) {
	c := billing.Commitment{ID: "ri", Start: day0, End: day0 + 365*24*hours, Fees: billing.Fees{Upfront: usd(t, "60"), Hourly: usd(t, ".007")}, Product: billing.ReservedInstance{Units: 1000}}
	if got, err := c.Total(); err != nil || got != usd(t, "121.32") {
		t.Errorf("its value is %s (%v), want 121.32", got.Decimal(), err)
	}
}
