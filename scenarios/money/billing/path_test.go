package billing_test

import (
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/simulate"
)

// A path is priced only where the record is cut at its steps; steps outside of
// the run ask for nothing.
func TestPricePaths(t *testing.T) {
	const start, cut = capcli.Time(1798761600), capcli.Time(1798761600 + 10*86400)
	part := func(at capcli.Time, hours capcli.GPUTime) simulate.Month {
		return simulate.Month{
			Start: at, Since: at,
			Pools: []simulate.Span{{Offered: hours * gpuHour, Used: hours * gpuHour}},
			Use:   [][]simulate.Use{{{Used: hours * gpuHour, Billed: hours * gpuHour}}},
		}
	}
	rec := &simulate.Record{
		Start: start, Pools: []simulate.Pool{{Name: "od", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 1}}, Tenants: []string{"a"},
		Months: []simulate.Month{part(start, 240), part(cut, 12)}, Cuts: []capcli.Time{cut},
	}
	step := func(at capcli.Time, dollars capcli.USD) billing.Step {
		return billing.Step{From: at, Price: dollars * capcli.Dollar}
	}
	for _, x := range []struct {
		name string
		path []billing.Step
		want string
	}{
		{"none", nil, "252.00"},
		{"a step", []billing.Step{step(cut, 3)}, "276.00"},
		{"steps before and after the run", []billing.Step{step(5, 7), step(start, 2), step(cut, 3)}, "516.00"},
	} {
		inv, err := billing.Price(rec, []billing.Rate{{Price: capcli.Dollar, Path: x.path}})
		if err != nil || inv.Total.Cost.Decimal() != x.want || inv.Total.Equivalent != inv.Total.Cost {
			t.Errorf("%s: got %+v, %v; want %s", x.name, inv, err, x.want)
		}
	}
	inv, err := billing.Price(rec, []billing.Rate{{Price: capcli.Dollar, OnDemand: 2 * capcli.Dollar, OnDemandPath: []billing.Step{step(cut, 5)}}})
	if err != nil || inv.Total.Cost.Decimal() != "252.00" || inv.Total.Equivalent.Decimal() != "540.00" {
		t.Errorf("got %+v, %v", inv, err)
	}
	for _, x := range []struct {
		path []billing.Step
		want string
	}{
		{[]billing.Step{step(cut+1, 3)}, "the run's record is not cut there"},
		{[]billing.Step{step(cut, 3), step(cut, 4)}, "not in order"},
		{[]billing.Step{step(cut, -3)}, "may not be negative"},
	} {
		if _, err := billing.Price(rec, []billing.Rate{{Price: capcli.Dollar, Path: x.path}}); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("got %v, want …%s…", err, x.want)
		}
	}
	if got := billing.Cuts([]billing.Rate{{Path: []billing.Step{step(9, 1)}, OnDemandPath: []billing.Step{step(4, 1), step(9, 2)}}}); len(got) != 2 || got[0] != 4 || got[1] != 9 {
		t.Errorf("cuts are %v, want 4 and 9", got)
	}
}
