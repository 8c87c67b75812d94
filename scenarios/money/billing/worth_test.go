package billing_test

import (
	"testing"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/simulate"
)

// Work that is left costs what the jobs that left it would pay on demand.
func TestWorth(t *testing.T) {
	const hour = capcli.GPUTime(3600) * capcli.GPUSecond
	rec := &simulate.Record{Pools: []simulate.Pool{
		{Name: "base", Terms: simulate.Reserved, GPUModel: "A"},
		{Name: "cloud", Terms: simulate.OnDemand, GPUModel: "A"},
		{Name: "spot", Terms: simulate.Spot, GPUModel: "B", Partition: "x"},
		{Name: "plain", Terms: simulate.Owned, GPUModel: "C"},
	}}
	inv, err := billing.Price(rec, []billing.Rate{
		{Price: 2 * capcli.Dollar, OnDemand: 5 * capcli.Dollar},
		{Price: 3 * capcli.Dollar, Path: []billing.Step{{From: -1, Price: 4 * capcli.Dollar}}},
		{Price: 1 * capcli.Dollar, OnDemand: 7 * capcli.Dollar},
		{Price: 1 * capcli.Dollar},
	})
	if err != nil {
		t.Fatal(err)
	}
	class := func(model string, unserved, refused int64, pools ...int) simulate.ServedClass {
		c := simulate.ServedClass{GPUModel: model, Pools: pools}
		c.Possible, c.Refused = hour*capcli.GPUTime(unserved), hour*capcli.GPUTime(refused)
		return c
	}
	for _, c := range []struct {
		name string
		left []simulate.ServedClass
		want billing.Worth
		not  bool
	}{
		{name: "the on-demand pool that they may use, at the price of then", left: []simulate.ServedClass{class("A", 10, 30, 0, 1)}, want: billing.Worth{Unserved: 40 * capcli.Dollar, LeftOver: 120 * capcli.Dollar}},
		{name: "else the list price of a pool that they may use", left: []simulate.ServedClass{class("A", 10, 0, 0)}, want: billing.Worth{Unserved: 50 * capcli.Dollar}},
		{name: "else of a pool of the model", left: []simulate.ServedClass{class("b", 1, 2)}, want: billing.Worth{Unserved: 7 * capcli.Dollar, LeftOver: 14 * capcli.Dollar}},
		{name: "classes add up", left: []simulate.ServedClass{class("A", 1, 0, 1), class("", 1, 0)}, want: billing.Worth{Unserved: 8 * capcli.Dollar}},
		{name: "no price is known", left: []simulate.ServedClass{class("A", 1, 0, 1), class("C", 1, 0, 3)}, not: true},
		{name: "nothing is left, so none is wanted", left: []simulate.ServedClass{class("C", 0, 0, 3)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, ok := inv.Worth(rec, c.left, 0); got != c.want || ok == c.not {
				t.Errorf("got %+v (%v), want %+v (%v)", got, ok, c.want, !c.not)
			}
		})
	}
}

func TestPerYear(t *testing.T) {
	for _, c := range []struct {
		amount capcli.USD
		over   capcli.Seconds
		want   capcli.USD
		ok     bool
	}{
		{48 * capcli.Dollar, 2 * capcli.Day, 8766 * capcli.Dollar, true},
		{-48 * capcli.Dollar, 2 * capcli.Day, -8766 * capcli.Dollar, true},
		{100, billing.Year, 100, true},
		{1, 2 * billing.Year, 1, true}, // a half is rounded up
		{1, 0, 0, false},
		{1 << 62, 1, 0, false},
	} {
		if got, ok := billing.PerYear(c.amount, c.over); got != c.want || ok != c.ok {
			t.Errorf("%d over %d s: got %d (%v), want %d (%v)", c.amount, c.over, got, ok, c.want, c.ok)
		}
	}
}
