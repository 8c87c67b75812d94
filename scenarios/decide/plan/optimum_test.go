package plan_test

import (
	"context"
	"slices"
	"testing"

	"capcli"
	"capcli/scenarios/decide/plan"
)

const hour = capcli.Hour

// curve is demand in whole GPUs by steps that have no dates.
func curve(t testing.TB, step capcli.Step, gpus ...float64) *plan.Curve {
	t.Helper()
	c, err := plan.NewCurve(capcli.NoTime, step, gpus)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func rate(t testing.TB, text string) plan.Prices {
	t.Helper()
	r, err := capcli.ParseUSD(text)
	if err != nil {
		t.Fatal(err)
	}
	return plan.Flat(r)
}

// term is "3h=0.6".
func term(t testing.TB, length, price string) plan.Term {
	t.Helper()
	step, err := capcli.ParseStep(length)
	if err != nil {
		t.Fatal(err)
	}
	return plan.Term{Name: length, Length: step, Rate: rate(t, price)}
}

func repeat(pairs ...float64) []float64 {
	var out []float64
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, slices.Repeat([]float64{pairs[i]}, int(pairs[i+1]))...)
	}
	return out
}

// fitting leaves out the terms that are longer than the demand, or with overrun pays all of them.
func fitting(overrun bool) plan.After {
	if overrun {
		return plan.After{Rule: plan.InFull}
	}
	return plan.After{Rule: plan.Fitting}
}

// TestWorkedExamples holds E4 to E7: costs, for several purchases may tie.
func TestWorkedExamples(t *testing.T) {
	hours, months := capcli.Step{Seconds: hour}, capcli.Step{Months: 1}
	year := []float64{2, 2, 3, 3, 6, 6, 6, 4, 3, 3, 2, 2}
	three := repeat(4, 6, 6, 6, 10, 12, 7, 12)
	block, annual, long := term(t, "3mo", "0.80"), term(t, "12mo", "0.63"), term(t, "36mo", "0.45")
	tests := []struct {
		name    string
		step    capcli.Step
		overrun bool
		demand  []float64
		terms   []plan.Term
		want    capcli.USD
	}{
		{"E4", hours, true, []float64{1, 2, 2, 1}, []plan.Term{term(t, "3h", "0.60")}, 3_600_000},
		{"E5", hours, false, []float64{1, 3, 3, 2, 1}, []plan.Term{term(t, "2h", "0.75"), term(t, "4h", "0.60")}, 6_300_000},
		{"E6", months, false, year, []plan.Term{block, annual}, 29_520_000 * 730},
		{"E6 12-month only", months, false, year, []plan.Term{annual}, 32_680_000 * 730},
		{"E6 3-month only", months, false, year, []plan.Term{block}, 33_600_000 * 730},
		{"E6 all on demand", months, false, year, nil, 42_000_000 * 730},
		{"E7", months, false, three, []plan.Term{block, annual, long}, 135_000_000 * 730},
		{"E7 3-year only", months, false, three, []plan.Term{long}, 149_400_000 * 730},
		{"E7 1-year only", months, false, three, []plan.Term{annual}, 170_760_000 * 730},
		{"E7 all on demand", months, false, three, nil, 264_000_000 * 730},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := plan.Market{OnDemand: rate(t, "1"), Terms: tt.terms, Every: tt.step, After: fitting(tt.overrun)}
			got, err := m.Solve(context.Background(), curve(t, tt.step, tt.demand...))
			if err != nil {
				t.Fatal(err)
			}
			if got.Cost != tt.want {
				t.Errorf("cost %s, want %s: %+v", got.Cost.Decimal(), tt.want.Decimal(), got.Purchases)
			}
		})
	}
}
