package billing_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/money/focus"
)

// The invoice of any run, written in FOCUS, sums to it, conserves for each pool,
// and its parts and its spending sum to it too.
func TestARunInFocusSumsToTheInvoice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := drawRecord(t)
		rec.Start = 1798761600
		var rates []billing.Rate
		for range rec.Pools {
			rates = append(rates, billing.Rate{Price: capcli.Rate(rapid.Int64Range(1, 20_000_000).Draw(t, "price")), OnDemand: capcli.Rate(rapid.Int64Range(0, 1).Draw(t, "listed") * 30_000_000)})
		}
		for m := range rec.Months {
			rec.Months[m].Start = rec.Start + capcli.Time(m*28*86400)
		}
		until := rec.Start + capcli.Time(len(rec.Months)*28*86400)
		drawMoves(t, rec, rates)
		inv, err := billing.Price(rec, rates)
		if err != nil {
			t.Skip(err) // an amount that does not fit
		}
		var parts, unallocated, spent capcli.USD
		inv.Parts(rec, func(x billing.Part) {
			if parts += x.Cost; x.Tenant < 0 {
				unallocated += x.Cost
			}
		})
		for _, s := range inv.Spending(rec, until) {
			spent += s.Cost
		}
		if parts != inv.Total.Cost || unallocated != inv.Unallocated || spent != inv.Total.Cost {
			t.Fatalf("parts %d, unallocated %d, spent %d; the invoice is %d, unallocated %d", parts, unallocated, spent, inv.Total.Cost, inv.Unallocated)
		}
		var text strings.Builder
		w := focus.NewWriter(&text, nil)
		inv.FocusRows(rec, until, "main", nil, w.Write)
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		r, err := focus.NewReader("bill.csv", strings.NewReader(text.String()), focus.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c := focus.NewCheck()
		c.Columns(r.Columns())
		for row, err := range r.Rows() {
			if err == nil {
				err = c.Add(row)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.Conclude("", &focus.Report{}); err != nil {
			t.Fatal(err)
		}
		want := focus.AmountOf(inv.Total.Cost)
		if c.Total.Billed != want || c.Total.Effective != want || !c.Conforms() {
			t.Fatalf("FOCUS says %s and %s, the invoice %s; odd %+v", c.Total.Billed, c.Total.Effective, want, c.Odd)
		}
		for _, k := range c.Commitments {
			if k.Verdict != focus.Conserved {
				t.Fatalf("%s: %s", k.ID, k.Why)
			}
		}
	})
}
