package billing

import (
	"flag"
	"os"
	"strings"
	"testing"

	"capcli/scenarios/money/focus"
)

var update = flag.Bool("update", false, "write the bill that the tests of package focus read")

// ruledBill is a bill with every kind of row, as text in FOCUS: on demand, spot,
// under a plan and a reservation with a part paid at the start, reserved without
// an on-demand price, unused, and what a cancelled reservation costs.
func ruledBill(t *testing.T) string {
	t.Helper()
	lines := []UseLine{
		unit("a", 0, 3, 1000), unit("b", 1, 2, 2500), unit("a", 2, 1, 333), unit("c", 0, 4, 1000), unit("d", 0, 2, 1000), unit("e", 0, 2, 1000),
	}
	lines[0].Seconds, lines[2].Seconds = 3*3600-7, 1234 // no whole hours: quantities do not end
	for i := range lines {
		lines[i].Price, lines[i].SKU = 1_234_567, SKU{Provider: "aws", Family: "p5", Size: "48xlarge", Region: "us-east-1"}
	}
	lines[1].Contracted = 1_100_001
	lines[3].Kind, lines[3].Spot = UseSpot, 400_001
	lines[4] = UseLine{Start: jan, Seconds: 7200, Units: 1000, Kind: UseReserved, Capacity: "hall", Tenant: "d"}
	lines[5].SKU, lines[5].Price = SKU{GPUModel: "H100"}, 2_000_003
	end := jan + 4*3600
	p := &Portfolio{Commitments: []Commitment{
		{ID: "plan", Start: jan, End: end, Scope: Scope{Family: "p5"}, Fees: Fees{Upfront: 2_000_001, Hourly: 500_000}, Product: SavingsPlan{Commit: 1_000_000, Rates: []PlanRate{{Discount: 333_333}}}},
		{ID: "ri", Start: jan, End: end, Scope: Scope{Family: "p5", Size: "48xlarge"}, Fees: Fees{Hourly: 700_001}, Product: ReservedInstance{Units: 1000}},
		{ID: "hall", Start: jan, End: end, Fees: Fees{Upfront: 8_000_001}, Product: ReservedCapacity{Units: 1000}},
		{ID: "odcr", Start: jan, End: jan + 7200, Scope: Scope{GPUModel: "H100"}, Product: CapacityReservation{Units: 2000, Price: 2_000_003, Committed: 86400, WindDown: 5_000_000}},
	}}
	b := billOf(t, p, ByHour, lines...)
	var text strings.Builder
	w := focus.NewWriter(&text, nil)
	b.FocusRows("main", w.Write)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// In every row of a bill price times quantity is cost, to the last digit, and
// what FOCUS 1.2 wants is there.
func TestEveryRowKeepsTheRulesOfFOCUS(t *testing.T) {
	text := ruledBill(t)
	const golden = "../focus/testdata/every-kind-of-row.csv"
	if *update {
		if err := os.WriteFile(golden, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(golden); err != nil || string(have) != text {
		t.Errorf("%s is not this bill (-update writes it): %v", golden, err)
	}
	r, err := focus.NewReader("bill.csv", strings.NewReader(text), focus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	bought, covered := map[string]focus.Amount{}, map[string]focus.Amount{}
	for row, err := range r.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		kinds[row.ChargeCategory+row.PricingCategory+row.CommitmentDiscountStatus+row.CapacityReservationStatus]++
		for _, x := range []struct{ price, cost focus.Number }{{row.ListUnitPrice, row.ListCost}, {row.ContractedUnitPrice, row.ContractedCost}} {
			if got, err := row.PricingQuantity.Times(x.price.Amount); err != nil || got != x.cost.Amount {
				t.Errorf("line %d: %s x %s is %s, the cost %s", row.Line, row.PricingQuantity, x.price, got, x.cost)
			}
		}
		if id := row.CommitmentDiscountID; id != "" {
			sum := covered
			if row.ChargeCategory == focus.Purchase {
				sum = bought
			}
			if id == "plan" && row.ChargeFrequency == "Recurring" { // the one-time row has the whole term's already
				continue
			}
			if sum[id], err = sum[id].Add(row.CommitmentDiscountQuantity.Amount); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(kinds) != 7 {
		t.Errorf("got %d kinds of rows: %v", len(kinds), kinds)
	}
	for _, id := range []string{"plan", "ri", "hall"} {
		if off, err := bought[id].Sub(covered[id]); err != nil || off.Abs().Cmp(focus.NewAmount(1000, 18)) > 0 {
			t.Errorf("%s: bought is %s of it, used and unused %s", id, bought[id], covered[id])
		}
	}
}
