package plan

import (
	"math/rand/v2"
	"testing"

	"capcli"
)

// drawFutures returns futures of hours, in whole thousandths of a GPU, from the middle of a month on.
func drawFutures(r *rand.Rand, paths, steps int) *Futures {
	f := &Futures{Grid: capcli.Grid{Origin: capcli.Time(1_800_014_400), Step: capcli.Step{Seconds: capcli.Hour}}}
	for range paths {
		level := r.IntN(40_000)
		path := make([]float64, steps)
		for i := range path {
			path[i] = float64(level/2+r.IntN(level+1)) / 1000
		}
		f.Paths = append(f.Paths, path)
	}
	return f
}

// A Meter prices as a Field does that is laid out for the same prices, terms and demand, to the last digit.
func TestMeterPricesAsAField(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for round := range 60 {
		f := drawFutures(r, 1+r.IntN(4), 24*(40+r.IntN(120)))
		meter, err := NewMeter(f)
		if err != nil {
			t.Fatal(err)
		}
		lot := int64(1000 << r.IntN(4))
		months := 1 + r.IntN(6)
		m := &Market{OnDemand: Flat(capcli.Rate(1 + r.IntN(5_000_000))), Lot: lot, Every: capcli.Step{Months: 1}, Terms: []Term{
			{Name: "a", Length: capcli.Step{Months: months}, Rate: Flat(capcli.Rate(r.IntN(3_000_000)))},
			{Name: "b", Length: capcli.Step{Months: 1}, Rate: Flat(capcli.Rate(r.IntN(3_000_000)))},
		}}
		bill := Bill{OnDemand: m.OnDemand.At(0), Lot: lot, Demand: int64(500 + 100*r.IntN(12))}
		if r.IntN(2) == 0 {
			from := capcli.Day * capcli.Seconds(r.IntN(20)-10)
			bill.Held = []Held{{from, from + capcli.Day*capcli.Seconds(11+r.IntN(60)), int64(r.IntN(20_000))}}
		}
		scaled := &Futures{Grid: f.Grid}
		for _, path := range f.Paths {
			var row []float64
			for _, v := range path {
				row = append(row, float64((int64(v*1000+0.5)*bill.Demand+500)/1000)/1000)
			}
			scaled.Paths = append(scaled.Paths, row)
		}
		field, err := NewField(scaled, m, bill.Held...)
		if err != nil {
			t.Fatal(err)
		}
		list := append(field.Renewed(0, lot*int64(r.IntN(8))), field.Renewed(1, lot*int64(r.IntN(3)))...)
		want, err := field.Reprice("", "", list)
		if err != nil {
			t.Fatal(err)
		}
		bill.Bought = want.Purchases
		got, err := meter.Read(&bill)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if got[i].InFuture != want.Outcomes[i] {
				t.Fatalf("round %d, future %d, demand %d:\n%+v\nwant\n%+v", round, i, bill.Demand, got[i].InFuture, want.Outcomes[i])
			}
		}
		own := meter.Renewed(lot, months, m.Terms[0].Rate.At(0))
		for i, p := range field.Renewed(0, lot) {
			if o := own[i]; o.From != p.From || o.To != p.To {
				t.Errorf("%d months, renewal %d: %d to %d, want %d to %d", months, i, o.From, o.To, p.From, p.To)
			}
		}
	}
}

// Two hours, counted by hand: 8 GPUs are covered at $1 of 10 and then 4 wanted, on demand costs $3.
func TestMeterByHand(t *testing.T) {
	m := &Meter{Origin: 0, Step: capcli.Hour, Milli: [][]int32{{10_000, 4_000}}}
	got, err := m.Read(&Bill{Bought: []Purchase{{To: 2 * capcli.Hour, Milli: 8000, Rate: 1_000_000}}, OnDemand: 3_000_000, Demand: 1000})
	if err != nil {
		t.Fatal(err)
	}
	x := got[0]
	if x.Cost != 22_000_000 || x.Committed != 16_000_000 || x.OnDemand != 6_000_000 || x.Unused != 4_000_000 || x.Above != capcli.Hour {
		t.Errorf("%+v", x)
	}
	if _, err := m.Read(&Bill{Bought: []Purchase{{From: 60, To: capcli.Hour}}}); err == nil {
		t.Error("a purchase that starts within an hour is priced")
	}
}
