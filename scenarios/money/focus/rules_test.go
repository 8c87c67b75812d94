package focus

import (
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// ruled reads a bill and holds it against the rules.
func ruled(t *testing.T, text string) *Check {
	t.Helper()
	r, err := NewReader("bill.csv", strings.NewReader(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := NewCheck()
	c.Columns(r.Columns())
	for row, err := range r.Rows() {
		if err == nil {
			err = c.Add(row)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Conclude("", &Report{}); err != nil {
		t.Fatal(err)
	}
	return c
}

// Each value that FOCUS 1.2 wants is missed where it is gone, and each that
// contradicts another is found: one broken bill each.
func TestFOCUSRulesFindEachBreach(t *testing.T) {
	b, err := os.ReadFile("testdata/every-kind-of-row.csv")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	if c := ruled(t, text); !c.Conforms() || len(c.Missing) > 0 || broken(c) > 0 {
		t.Fatalf("odd %+v, missing %v", c.Odd, c.Missing)
	}
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
	usage := map[string]string{"ChargeCategory": Usage, "PricingCategory": Standard, "ConsumedUnit": "Hours"}
	used := map[string]string{"ChargeCategory": Usage, "CommitmentDiscountStatus": Used}
	unused := map[string]string{"ChargeCategory": Usage, "CommitmentDiscountStatus": Unused}
	purchase := map[string]string{"ChargeCategory": Purchase}
	type breach struct {
		row         map[string]string
		column, now string
		says        string // "" is the column's name
	}
	var tests []breach
	for _, row := range []map[string]string{usage, used, unused, purchase} {
		for _, c := range slices.Concat(always, priced, []string{"BillingAccountType", "ListCost", "ContractedCost", "PricingCurrencyEffectiveCost", "PricingUnit"}) {
			tests = append(tests, breach{row, c, "", c + " is null"})
		}
		tests = append(tests, breach{row, "ListCost", "9999", "ListCost is 9999"}, breach{row, "ContractedCost", "0.000099", "ContractedCost is 0.000099"})
	}
	for _, row := range []map[string]string{used, unused, purchase} {
		tests = append(tests, breach{row, "CommitmentDiscountQuantity", "", ""}, breach{row, "CommitmentDiscountQuantity", "-1", ""})
		for _, c := range ofCommitment {
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
		found := slices.ContainsFunc(c.Odd, func(o Oddity) bool { return strings.Contains(o.Text, want) })
		if !found || c.Conforms() {
			t.Errorf("%s of line %d (%v) is %q instead of %q: found %+v", tt.column, row+1, tt.row, tt.now, kept, c.Odd)
		}
	}
	for _, n := range mandatory {
		if k := byName[n]; k.need || n == "ChargeClass" {
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
