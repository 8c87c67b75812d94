package billing

import (
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"capcli"
)

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
	w := WriteFOCUS(&text, nil)
	b.FocusRows("main", w.Write)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// ruled reads a bill and holds it against the rules.
func ruled(t *testing.T, text string) *FocusCheck {
	t.Helper()
	r, err := ReadFOCUS("bill.csv", strings.NewReader(text), FocusOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := NewFocusCheck()
	c.Columns(r.Columns())
	for row, err := range r.Rows() {
		if err == nil {
			err = c.Add(row)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Result("", &FocusReport{}); err != nil {
		t.Fatal(err)
	}
	return c
}

// In every row of a bill price times quantity is cost, to the last digit, and
// what FOCUS 1.2 wants is there.
func TestEveryRowKeepsTheRulesOfFOCUS(t *testing.T) {
	text := ruledBill(t)
	if c := ruled(t, text); !c.Conforms() || len(c.Missing) > 0 || broken(c) > 0 {
		t.Fatalf("odd %+v, missing %v", c.Oddities, c.Missing)
	}
	r, err := ReadFOCUS("bill.csv", strings.NewReader(text), FocusOptions{})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	bought, covered := map[string]Amount{}, map[string]Amount{}
	for row, err := range r.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		kinds[row.ChargeCategory+row.PricingCategory+row.CommitmentDiscountStatus+row.CapacityReservationStatus]++
		for _, x := range []struct{ price, cost Number }{{row.ListUnitPrice, row.ListCost}, {row.ContractedUnitPrice, row.ContractedCost}} {
			if got, err := row.PricingQuantity.Times(x.price.Amount); err != nil || got != x.cost.Amount {
				t.Errorf("line %d: %s x %s is %s, the cost %s", row.Line, row.PricingQuantity, x.price, got, x.cost)
			}
		}
		if id := row.CommitmentDiscountID; id != "" {
			sum := covered
			if row.ChargeCategory == focusPurchaseCharge {
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
		if off, err := bought[id].Sub(covered[id]); err != nil || off.Abs().Cmp(product64(1000, 1)) > 0 {
			t.Errorf("%s: bought is %s of it, used and unused %s", id, bought[id], covered[id])
		}
	}
}

// Each value that FOCUS 1.2 wants is missed where it is gone, and each that
// contradicts another is found: one broken bill each.
func TestFOCUSRulesFindEachBreach(t *testing.T) {
	text := ruledBill(t)
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) int { return slices.Index(rows[0], name) }
	first := func(want map[string]string) int {
		for i, r := range rows[1:] {
			ok := true
			for k, v := range want {
				ok = ok && r[at(k)] == v
			}
			if ok {
				return i + 1
			}
		}
		t.Fatalf("the bill has no row with %v", want)
		return 0
	}
	usage := map[string]string{"ChargeCategory": focusUsage, "PricingCategory": focusStandard, "ConsumedUnit": "Hours"}
	used := map[string]string{"ChargeCategory": focusUsage, "CommitmentDiscountStatus": focusUsed}
	unused := map[string]string{"ChargeCategory": focusUsage, "CommitmentDiscountStatus": focusUnused}
	purchase := map[string]string{"ChargeCategory": focusPurchaseCharge}
	type breach struct {
		row         map[string]string
		column, now string
		says        string // "" is the column's name
	}
	var tests []breach
	for _, row := range []map[string]string{usage, used, unused, purchase} {
		for _, c := range slices.Concat(focusAlways, focusPriced, []string{"BillingAccountType", "ListCost", "ContractedCost", "PricingCurrencyEffectiveCost", "PricingUnit"}) {
			tests = append(tests, breach{row, c, "", c + " is null"})
		}
		tests = append(tests, breach{row, "ListCost", "9999", "ListCost is 9999"}, breach{row, "ContractedCost", "0.000099", "ContractedCost is 0.000099"})
	}
	for _, row := range []map[string]string{used, unused, purchase} {
		tests = append(tests, breach{row, "CommitmentDiscountQuantity", "", ""}, breach{row, "CommitmentDiscountQuantity", "-1", ""})
		for _, c := range focusOfCommitment {
			tests = append(tests, breach{row, c, "", ""})
		}
	}
	tests = append(tests,
		breach{usage, "CommitmentDiscountQuantity", "1", "CommitmentDiscountQuantity has a value"},
		breach{unused, "ConsumedQuantity", "1", ""},
		breach{purchase, "ChargeFrequency", "Usage-Based", ""},
		breach{purchase, "PricingCurrencyEffectiveCost", "1", ""},
		breach{usage, "PricingCurrencyEffectiveCost", "77", ""},
		breach{usage, "PricingCurrencyListUnitPrice", "77", ""},
		breach{usage, "PricingCurrencyContractedUnitPrice", "77", ""},
		breach{usage, "ListUnitPrice", "-1", "a unit price is negative"},
		breach{usage, "BillingAccountId", "", "BillingAccountType has a value"},
		breach{usage, "SkuId", "another", "SkuPriceId"},
	)
	for _, tt := range tests {
		row := first(tt.row)
		kept := rows[row][at(tt.column)]
		rows[row][at(tt.column)] = tt.now
		var b strings.Builder
		if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
			t.Fatal(err)
		}
		rows[row][at(tt.column)] = kept
		want := tt.says
		if want == "" {
			want = tt.column
		}
		c := ruled(t, b.String())
		found := slices.ContainsFunc(c.Oddities, func(o FocusOddity) bool { return strings.Contains(o.Text, want) })
		if !found || c.Conforms() {
			t.Errorf("%s of line %d (%v) is %q instead of %q: found %+v", tt.column, row+1, tt.row, tt.now, kept, c.Oddities)
		}
	}
	for _, n := range focusMandatory {
		if k := focusByName[n]; k.need || n == "ChargeClass" {
			continue // without it the bill is not read, or it is always null
		}
		cut := at(n)
		var b strings.Builder
		for _, r := range rows {
			fmt.Fprintln(&b, strings.Join(slices.Delete(quotedCells(r), cut, cut+1), ","))
		}
		if c := ruled(t, b.String()); c.Conforms() || !slices.Equal(c.Missing, []string{n}) {
			t.Errorf("a bill without the column %s: missing %v", n, c.Missing)
		}
	}
}

func quotedCells(row []string) []string {
	var out []string
	for _, c := range row {
		out = append(out, `"`+strings.ReplaceAll(c, `"`, `""`)+`"`)
	}
	return out
}

// The product of amounts is that of whole numbers, cut at the eighteenth place.
func TestAmountTimes(t *testing.T) {
	for _, tt := range [][3]string{
		{"0.333333333333", "1.234567", "0.411522333332921811"},
		{"-2.5", "4", "-10"},
		{"2.5", "-0.000001", "-0.0000025"},
		{"123456789.123456789", "987654.321", "121932631234567.900112635269"},
		{"0", "7", "0"},
		{"0.000000000000000001", "0.5", "0"},
	} {
		a, _, _ := parseAmount(tt[0])
		b, _, _ := parseAmount(tt[1])
		got, err := a.Times(b)
		other, err2 := b.Times(a)
		if err != nil || err2 != nil || got != other {
			t.Errorf("%s x %s: %s, %s, %v, %v", tt[0], tt[1], got, other, err, err2)
		}
		if want, _, _ := parseAmount(tt[2]); got != want {
			t.Errorf("%s x %s: got %s, want %s", tt[0], tt[1], got, want)
		}
	}
	big, _, _ := parseAmount("4000000000")
	if _, err := big.Times(big); !errors.Is(err, capcli.ErrOverflow) {
		t.Errorf("got %v, want an overflow", err)
	}
}
