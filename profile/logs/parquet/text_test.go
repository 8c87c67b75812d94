package parquet_test

import (
	"bytes"
	"io"
	"testing"

	"capcli"
	"capcli/profile/logs/parquet"
	"capcli/profile/logs/trace"
	"capcli/scenarios/money/focus"
)

// A bill in Parquet is the same bill: instants, numbers, texts and nulls.
func TestBillInParquet(t *testing.T) {
	var b bytes.Buffer
	w, err := parquet.NewTable(&b, []parquet.Column{
		{Name: "ChargePeriodStart", Kind: parquet.Instant},
		{Name: "ChargePeriodEnd", Kind: parquet.Instant},
		{Name: "ChargeCategory", Kind: parquet.Text},
		{Name: "BilledCost", Kind: parquet.Float64},
		{Name: "EffectiveCost", Kind: parquet.Float64},
		{Name: "CommitmentDiscountId", Kind: parquet.Text},
		{Name: "CommitmentDiscountStatus", Kind: parquet.Text, Nullable: true},
		{Name: "ServiceName", Kind: parquet.Text},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		category          string
		billed, effective float64
		status            string
	}{{"Purchase", 1, 0, ""}, {"Usage", 0, 0.1, "Used"}, {"Usage", 0, 0.9, "Unused"}} {
		w.Time(0, 1798761600)
		w.Time(1, 1798765200)
		w.Text(2, row.category)
		w.Float(3, row.billed)
		w.Float(4, row.effective)
		w.Text(5, "c1")
		if row.status == "" {
			w.Null(6)
		} else {
			w.Text(6, row.status)
		}
		w.Text(7, "a, \"b\"")
		if err := w.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()
	for name, in := range map[string]trace.Input{
		"file": {Name: "b.parquet", R: bytes.NewReader(whole), At: bytes.NewReader(whole), Size: int64(len(whole))},
		"pipe": {Name: "stdin", R: io.MultiReader(bytes.NewReader(whole))},
	} {
		text, err := parquet.TextOf(&in)
		if err != nil {
			t.Fatal(name, err)
		}
		r, err := focus.NewReader("b.parquet", text, focus.Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		c := focus.NewCheck()
		for row, err := range r.Rows() {
			if err == nil {
				err = c.Add(row)
			}
			if err != nil {
				t.Fatal(name, err)
			}
			if row.ChargePeriodStart != capcli.Time(1798761600) || row.ServiceName != "a, \"b\"" {
				t.Errorf("%s: got %+v", name, row)
			}
		}
		if _, err := c.Conclude("", &focus.Report{}); err != nil || len(c.Commitments) != 1 || c.Commitments[0].Verdict != focus.Conserved {
			t.Errorf("%s: got %+v, %v", name, c.Commitments, err)
		}
	}
}
