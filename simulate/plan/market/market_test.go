package market

import (
	"strings"
	"testing"

	"capcli"
	"capcli/simulate/plan"
)

// TestParseTerm reads the ways in which a term is written.
func TestParseTerm(t *testing.T) {
	tests := []struct {
		text    string
		name    string
		length  capcli.Step
		rate    string
		upfront int64
		max     int64
		wrong   string
	}{
		{text: "12mo=0.61", name: "12mo", length: capcli.Step{Months: 12}, rate: "0.61"},
		{text: "all=1y@$0.58,upfront=all", name: "all", length: capcli.Step{Months: 12}, rate: "0.58", upfront: plan.Whole},
		{text: "36h=2,max=8,upfront=12.5%", name: "36h", length: capcli.Step{Seconds: 36 * 3600}, rate: "2.00", upfront: 125_000, max: 8000},
		{text: "x=2w@free", name: "x", length: capcli.Step{Days: 14}, rate: "0.00"},
		{text: "=1", wrong: "LENGTH=PRICE"},
		{text: "1y", wrong: "LENGTH=PRICE"},
		{text: "a=b@1", wrong: `"b" is no length`},
		{text: "1y=1,upfront=2", wrong: "upfront wants"},
		{text: "1y=1,max=x", wrong: "number of GPUs"},
		{text: "1y=1,2", wrong: "later ones with their dates"},
	}
	for _, tt := range tests {
		got, err := (&Sketch{}).parseTerm(tt.text)
		if tt.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), tt.wrong) {
				t.Errorf("%s: %v, want %q", tt.text, err, tt.wrong)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if got.Name != tt.name || got.Length != tt.length || got.Upfront != tt.upfront || got.Max != tt.max || got.rates[0].rate.Decimal() != tt.rate {
			t.Errorf("%s: %+v", tt.text, got)
		}
	}
}
