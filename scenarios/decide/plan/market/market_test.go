package market

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios/decide/plan"
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

// TestRequestNamesTheField says which field of a request is wrong.
func TestRequestNamesTheField(t *testing.T) {
	for _, tt := range []struct {
		change func(r *Request)
		field  string
		text   string
	}{
		{func(r *Request) { r.OnDemand = "" }, "", "--on-demand is missing"},
		{func(r *Request) { r.OnDemand = "0" }, "on-demand", "a price of 0 must be meant"},
		{func(r *Request) { r.Falls = []string{"2026-06"} }, "on-demand-fall", "wants DATE=SHARE"},
		{func(r *Request) { r.Falls = []string{"2026-06=200%"} }, "on-demand-fall", "more than 100%"},
		{func(r *Request) { r.Changes = []string{"2y -10% from 2026-06"} }, "what-if", "there is no term 2y"},
		{func(r *Request) { r.Terms = []string{"1y=1", "1y=2"} }, "", "two terms are called 1y"},
		{func(r *Request) { r.Terms = []string{"1y=x"} }, "term", `1y: "x" is not an amount`},
		{func(r *Request) { r.Every = "x" }, "every", "x"},
		{func(r *Request) { r.Lot = "0" }, "lot", "over 0"},
		{func(r *Request) { r.Discount = "x" }, "discount", "wants a share"},
	} {
		r := Request{OnDemand: "1", Terms: []string{"1y=0.5"}}
		if _, err := r.Parse(); err != nil {
			t.Fatal(err)
		}
		tt.change(&r)
		_, err := r.Parse()
		var wrong *capcli.RequestError
		if !errors.As(err, &wrong) || wrong.Field != tt.field || !strings.Contains(wrong.Text, tt.text) {
			t.Errorf("%v: field %q and text with %q", err, tt.field, tt.text)
		}
	}
}

// TestInstants writes and reads instants of curves with and without dates, and what is
// held on them.
func TestInstants(t *testing.T) {
	day := capcli.Step{Days: 1}
	dated, _ := plan.NewCurve(capcli.Time(capcli.Day), day, []float64{1, 1})
	undated, _ := plan.NewCurve(capcli.NoTime, day, []float64{1, 1})
	r := Request{OnDemand: "1", Every: "1d"}
	s, err := r.Parse()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		curve *plan.Curve
		held  string
		want  string // the end of what is held
	}{
		{dated, "8@..1970-01-03", `"1970-01-03T00:00:00Z"`},
		{dated, "8@..36h", `"1970-01-03T12:00:00Z"`},
		{undated, "8@..1", "1"},
		{undated, "8@..36h", "1.5"},
		{undated, "8", "2"},
	} {
		var err error
		if s.held, err = parseHoldings([]string{tt.held}); err != nil {
			t.Fatal(err)
		}
		f, err := s.Frame(tt.curve)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(f.HeldDocument()[0].End)
		var again Instant
		if err != nil || string(text) != tt.want || json.Unmarshal(text, &again) != nil || again != f.HeldDocument()[0].End {
			t.Errorf("%s ends %s (%v), want %s", tt.held, text, err, tt.want)
		}
	}
	for _, bad := range []string{"8@2..1", "8@-1d..0", "x@..1", "8@1"} {
		var err error
		if s.held, err = parseHoldings([]string{bad}); err == nil {
			_, err = s.Frame(undated)
		}
		if err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}
