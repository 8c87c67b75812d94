package focus

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"capcli"
)

// broken counts the commitments whose sums differ.
func broken(c *Check) (n int) {
	for _, k := range c.Commitments {
		if k.Verdict == Broken {
			n++
		}
	}
	return n
}

// checkFOCUS reads a bill from text and sums it.
func checkFOCUS(t *testing.T, name, text string, o Options) (*Check, Report) {
	t.Helper()
	r, err := NewReader(name, strings.NewReader(text), o)
	if err != nil {
		t.Fatal(err)
	}
	c := NewCheck()
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
	return c, r.Report()
}

// exampleBill is one of FOCUS's own example bills.
func exampleBill(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "data", "focus", name+".csv"))
	if err != nil {
		t.Skip("the FOCUS example bills are not here: ", err)
	}
	return string(b)
}

// What the example bills come to was added up by hand from their rows.
func TestFOCUSExampleBills(t *testing.T) {
	tests := []struct {
		name                     string
		loose                    bool
		billed, effective        string
		used, unused, other      string // effective, effective, billed
		commitments              string
		utilisation, coverage, s float64 // -1: not known
	}{
		{"commitment_discount_purchase_scenario_1", false, "8760", "0", "0", "0", "8760", "purchase only", -1, -1, -1},
		{"commitment_discount_usage_scenario_1", false, "0", "1", "1", "0", "0", "usage only", 1, 1, -1},
		{"commitment_discount_usage_scenario_2", false, "0", "1", "0", "1", "0", "usage only", 0, -1, -1},
		{"commitment_discount_usage_scenario_3", false, "0", "1", "0.75", "0.25", "0", "usage only", 0.75, 1, -1},
		{"commitment_discount_usage_scenario_4", false, "0.5", "1.5", "1", "0", "0", "usage only", 1, 0.5, -1},
		{"one_hundred_percent_utilization_without_commitment_discount_flexibility", false, "1.5", "1.5", "1.5", "0", "1.5", "yes", 1, 1, 0.5},
		{"one_hundred_percent_utilization_with_commitment_discount_flexibility_with_1_resource", false, "2.75", "2.75", "0.5", "0", "0.5", "yes", 1, 3 / 5.25, 1 - 2.75/5.25},
		{"one_hundred_percent_utilization_with_commitment_discount_flexibility_with_2_resources", false, "2", "2", "2", "0", "2", "yes", 1, 1, 0.5},
		{"zero_percent_utilization_without_commitment_discount_flexibility", false, "3.5", "3.5", "0", "1.5", "1.5", "yes", 0, 0, 1 - 3.5/2},
		{"saas_spend_agreements_b1", true, "1200", "1200", "0", "0", "1200", "", -1, 0, -1},
		{"virtual_currency_pricing_model_c", true, "53000", "0", "0", "0", "53000", "", -1, -1, -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := checkFOCUS(t, tt.name, exampleBill(t, tt.name), Options{Spreadsheet: tt.loose})
			for _, x := range []struct{ what, got, want string }{
				{"billed", c.Total.Billed.String(), tt.billed},
				{"effective", c.Total.Effective.String(), tt.effective},
				{"used", c.Used.Effective.String(), tt.used},
				{"unused", c.Unused.Effective.String(), tt.unused},
				{"other", c.Other.Billed.String(), tt.other},
			} {
				if x.got != x.want {
					t.Errorf("%s: got %s, want %s", x.what, x.got, x.want)
				}
			}
			verdict, utilisation := "", -1.0
			for _, k := range c.Commitments {
				verdict = string(k.Verdict)
				if k.Utilisation != nil {
					utilisation = *k.Utilisation
				}
			}
			if verdict != tt.commitments || utilisation != tt.utilisation {
				t.Errorf("commitment: got %q, used %v, want %q, used %v", verdict, utilisation, tt.commitments, tt.utilisation)
			}
			if got, _ := c.coverage(); (got != nil) != (tt.coverage >= 0) || got != nil && !isNear(*got, tt.coverage) {
				t.Errorf("coverage: got %v, want %v", got, tt.coverage)
			}
			if got, _ := c.savingsRate(); tt.s != -1 && (got == nil || !isNear(*got, tt.s)) {
				t.Errorf("savings: got %v, want %v", got, tt.s)
			}
		})
	}
}

func isNear(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 }

// Every example bill can be read; where a spreadsheet or a slip wrote it, the
// place is named.
func TestFOCUSEveryExampleIsReadOrRefusedWithItsPlace(t *testing.T) {
	names, err := filepath.Glob(filepath.Join("..", "..", "..", "shared", "data", "focus", "*.csv"))
	if err != nil || len(names) == 0 {
		t.Skip("the FOCUS example bills are not here")
	}
	for _, file := range names {
		name := strings.TrimSuffix(filepath.Base(file), ".csv")
		r, err := NewReader(name, strings.NewReader(exampleBill(t, name)), Options{Spreadsheet: true})
		if err == nil {
			for _, err = range r.Rows() {
				if err != nil {
					break
				}
			}
		}
		var in *capcli.InputError
		switch slip := strings.HasPrefix(name, "commitment_discount_purchase_scenario_2") || strings.HasPrefix(name, "commitment_discount_purchase_scenario_3"); {
		case err == nil && !slip:
		case slip && errors.As(err, &in) && in.Field == "ChargePeriodEnd" && strings.Contains(in.Text, "T30:00:00Z"):
		default:
			t.Errorf("%s: %v", name, err)
		}
	}
}

const hourBill = `BillingCurrency,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,PricingCategory,BilledCost,EffectiveCost,ListCost,CommitmentDiscountId,CommitmentDiscountStatus,Tags
USD,2027-01-01T00:00:00Z,2027-01-01T01:00:00Z,Purchase,Standard,1.00,0,,c1,,
USD,2027-01-01T00:00:00Z,2027-01-01T01:00:00Z,Usage,Committed,0,.75,1.5,c1,Used,"{""team"":""research""}"
USD,2027-01-01T00:00:00Z,2027-01-01T01:00:00Z,Usage,Committed,0,2.5E-1,,c1,Unused,null
`

func TestFOCUSSaysWhereABillDoesNotConserve(t *testing.T) {
	c, rep := checkFOCUS(t, "bill.csv", hourBill, Options{})
	if k := c.Commitments[0]; k.Verdict != Conserved || k.Difference.Sign() != 0 || rep.Version != "1.0" {
		t.Errorf("got %v, off by %s, version %s", k.Verdict, k.Difference, rep.Version)
	}
	if rate, why := c.savingsRate(); rate == nil || !isNear(*rate, 1-1/1.5) {
		t.Errorf("savings rate: got %v %s", rate, why)
	}
	if len(c.Tags) != 1 || c.Tags[0].Key != "team" || c.Tags[0].Name != "research" || c.Tags[0].Effective.String() != "0.75" {
		t.Errorf("tags: got %+v", c.Tags)
	}
	c, _ = checkFOCUS(t, "bill.csv", strings.Replace(hourBill, "2.5E-1", "0.24", 1), Options{})
	if k := c.Commitments[0]; k.Verdict != Broken || k.Difference.String() != "-0.01" || !strings.Contains(k.Why, "0.99 is charged for it and 1.00 was bought") {
		t.Errorf("got %v, off by %s: %s", k.Verdict, k.Difference, k.Why)
	}
	c, _ = checkFOCUS(t, "bill.csv", strings.Replace(hourBill, "2.5E-1", "0.2499999", 1), Options{})
	if k := c.Commitments[0]; k.Verdict != ByRounding {
		t.Errorf("got %v, off by %s", k.Verdict, k.Difference)
	}
	c, _ = checkFOCUS(t, "bill.csv", strings.Replace(hourBill, "1.00,0,,c1", "1.00,1.00,,c1", 1), Options{})
	if c.OddRows != 1 || c.Odd[0].Line != 2 {
		t.Errorf("a purchase with EffectiveCost: got %d odd rows %+v", c.OddRows, c.Odd)
	}
}

// A year bought at once, of which the bill has one day: a 365th is due.
func TestFOCUSInPart(t *testing.T) {
	const bill = `BillingCurrency,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,BilledCost,EffectiveCost,CommitmentDiscountId,CommitmentDiscountStatus
USD,2027-01-01T00:00:00Z,2028-01-01T00:00:00Z,Purchase,8760.00,0,c,
USD,2027-01-01T00:00:00Z,2027-01-02T00:00:00Z,Usage,0,18,c,Used
USD,2027-01-01T00:00:00Z,2027-01-02T00:00:00Z,Usage,0,6,c,Unused
`
	c, _ := checkFOCUS(t, "bill.csv", bill, Options{})
	if k := c.Commitments[0]; k.Verdict != InPart || broken(c) != 0 {
		t.Errorf("got %s: %s", k.Verdict, k.Why)
	}
	c, _ = checkFOCUS(t, "bill.csv", strings.Replace(bill, ",6,", ",5,", 1), Options{})
	if k := c.Commitments[0]; k.Verdict != Broken {
		t.Errorf("a dollar short: got %s: %s", k.Verdict, k.Why)
	}
}

func TestFOCUSRefusesWithThePlace(t *testing.T) {
	tests := []struct {
		name, old, new string
		line           int
		field, text    string
	}{
		{"amount", "1.00,0", "1;00,0", 2, "BilledCost", `"1;00" is not a number`},
		{"amount with commas", "1.00,0", `"$1,000.00",0`, 2, "BilledCost", "is not a number"},
		{"huge", "1.00,0", "1234567890123456789,0", 2, "BilledCost", "too large"},
		{"date", "2027-01-01T00:00:00Z,2027-01-01T01:00:00Z,Usage,Committed,0,.75", "1/1/27,2027-01-01T01:00:00Z,Usage,Committed,0,.75", 3, "ChargePeriodStart", "expected an instant"},
		{"end before start", "01:00:00Z,Purchase", "00:00:00Z,Purchase", 2, "ChargePeriodEnd", "not after its start"},
		{"category", "Purchase", "Purchased", 2, "ChargeCategory", "expected Usage, Purchase"},
		{"no category", "Purchase", "null", 2, "ChargeCategory", "found nothing"},
		{"no cost", "1.00,0", ",0", 2, "BilledCost", "found nothing"},
		{"status", "Unused", "unknown", 4, "CommitmentDiscountStatus", "expected Used, Unused or null"},
		{"mixed currencies", "USD,2027-01-01T00:00:00Z,2027-01-01T01:00:00Z,Usage", "EUR,2027-01-01T00:00:00Z,2027-01-01T01:00:00Z,Usage", 3, "BillingCurrency", `expected USD as before, found "EUR"`},
		{"tags", "{\"\"team\"\":", "{\"\"team\"\"", 3, "Tags", "expected JSON"},
		{"fields", "Unused,null", "Unused", 4, "", "expected 11 fields as in the header, found 10"},
		{"header", "BilledCost,", "Billed,", 1, "", "no column BilledCost"},
		{"twice", "ListCost,", "BilledCost,", 1, "BilledCost", "twice"},
		{"open quote", "null\n", "\"null\n", 4, "", "a quote is not closed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(hourBill, tt.old, tt.new, 1)
			if text == hourBill {
				t.Fatal("the bill is as it was")
			}
			r, err := NewReader("bill.csv", strings.NewReader(text), Options{})
			if err == nil {
				for _, err = range r.Rows() {
				}
			}
			var in *capcli.InputError
			if !errors.As(err, &in) || in.File != "bill.csv" || in.Line != tt.line || in.Field != tt.field || !strings.Contains(in.Text, tt.text) {
				t.Errorf("got %v, want bill.csv: line %d: %s: … %s", err, tt.line, tt.field, tt.text)
			}
		})
	}
}

func TestFOCUSFromASpreadsheet(t *testing.T) {
	text := "BilledCost,EffectiveCost,ChargeCategory,ChargePeriodStart,ChargePeriodEnd\n\"$50,000.00 \",($0.10),Usage,4/1/25,5/1/2025\n"
	_, err := NewReader("b", strings.NewReader(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, rep := checkFOCUS(t, "b", text, Options{Spreadsheet: true})
	if c.Total.Billed.String() != "50000" || c.Total.Effective.String() != "-0.1" || c.Months[0].Name != "2025-04" {
		t.Errorf("got %s, %s, %s", c.Total.Billed, c.Total.Effective, c.Months[0].Name)
	}
	if rep.Currency != "USD" || len(rep.Assumed) != 1 {
		t.Errorf("currency: got %+v", rep)
	}
}

// What is written is read as it was: every column, to the last digit.
func TestFOCUSRoundTrip(t *testing.T) {
	text := rapid.StringMatching(`|[a-zA-Z=+@"',;{}\[\] äß€\n-]{1,20}`).Filter(func(s string) bool {
		return strings.TrimSpace(s) == s && !strings.EqualFold(s, "null")
	})
	amount := rapid.Custom(func(t *rapid.T) Number {
		if rapid.Bool().Draw(t, "null") {
			return Number{}
		}
		a := product64(rapid.Uint64().Draw(t, "x"), rapid.Uint64Max(1<<55).Draw(t, "y")) // below 1e18
		if rapid.Bool().Draw(t, "negative") {
			a = a.Neg()
		}
		return NumberOf(a)
	})
	rapid.Check(t, func(t *rapid.T) {
		var want []Row
		var b strings.Builder
		w := NewWriter(&b, nil)
		for range rapid.IntRange(0, 5).Draw(t, "rows") {
			row := NewRow()
			for i := range columns {
				c := &columns[i]
				switch v := c.cell(&row).(type) {
				case *string:
					if *v = text.Draw(t, c.name); c.values != nil {
						*v = rapid.SampledFrom(append(slices.Clone(c.values), "")).Draw(t, c.name)
					}
				case *Number:
					*v = amount.Draw(t, c.name)
				}
			}
			row.ChargeCategory, row.Tags, row.BillingCurrency = Usage, `{"a":"1,2"}`, "USD"
			row.BilledCost.Known, row.EffectiveCost.Known = true, true
			row.ChargePeriodStart = capcli.Time(rapid.Int64Range(0, 4e9).Draw(t, "start"))
			row.ChargePeriodEnd = row.ChargePeriodStart + capcli.Time(rapid.Int64Range(1, 4e7).Draw(t, "length"))
			want = append(want, row)
			w.Write(&row)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		r, err := NewReader("bill.csv", strings.NewReader(b.String()), Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []Row
		for row, err := range r.Rows() {
			if err != nil {
				t.Fatal(err)
			}
			row.Line = 0
			got = append(got, *row)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %+v\nwant %+v", got, want)
		}
	})
}

func TestFOCUSWriterGuardsTextsAndLeavesNumbers(t *testing.T) {
	var b strings.Builder
	w := NewWriter(&b, func(s string) string {
		if s[0] == '=' {
			return "'" + s
		}
		return s
	})
	row := NewRow()
	row.ServiceName, row.BilledCost = `=HYPERLINK("x")`, NumberOf(AmountOf(-1_500_000))
	w.Write(&row)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.Contains(got, `"'=HYPERLINK(""x"")"`) || !strings.Contains(got, ",-1.50,") {
		t.Errorf("got %s", got)
	}
	if got := strings.Count(strings.SplitN(b.String(), "\n", 2)[0], ",") + 1; got != 57 {
		t.Errorf("got %d columns, FOCUS 1.2 has 57", got)
	}
}

func FuzzFOCUS(f *testing.F) {
	f.Add([]byte(hourBill), false)
	f.Add([]byte("BilledCost,EffectiveCost,ChargeCategory,ChargePeriodStart,ChargePeriodEnd\n\"$50,000.00 \",(0),Usage,4/1/25,5/1/25\n"), true)
	f.Fuzz(func(t *testing.T, b []byte, loose bool) {
		r, err := NewReader("bill.csv", strings.NewReader(string(b)), Options{Spreadsheet: loose})
		if err != nil {
			return
		}
		c := NewCheck()
		var out strings.Builder
		w := NewWriter(&out, nil)
		n := int64(0)
		for row, err := range r.Rows() {
			if err != nil || c.Add(row) != nil {
				return
			}
			n++
			w.Write(row)
		}
		if _, err := c.Conclude("", &Report{}); err != nil {
			return
		}
		if c.Total.Rows != n || r.Report().Rows != n {
			t.Fatalf("%d rows, %d counted, %d reported", n, c.Total.Rows, r.Report().Rows)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		again, err := NewReader("again.csv", strings.NewReader(out.String()), Options{})
		if err != nil {
			t.Fatal(err)
		}
		d := NewCheck()
		for row, err := range again.Rows() {
			if err != nil {
				t.Fatalf("what was written is not read: %v", err)
			}
			if err := d.Add(row); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := d.Conclude("", &Report{}); err != nil || !reflect.DeepEqual(d.Total, c.Total) {
			t.Fatalf("read again: %+v, %v, want %+v", d.Total, err, c.Total)
		}
	})
}
