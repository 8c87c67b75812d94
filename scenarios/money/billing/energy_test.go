package billing

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/scenarios/money/focus"
	"capcli/simulate"
)

const gpuHour = capcli.GPUTime(3_600_000)

// By hand: 8 GPUs held an hour at 700 W, 2 idle at 90 W, PUE 1.25, 400 g/kWh, 10
// cents a kilowatt-hour, $100 a tonne: held 7 kWh, idle 0.225 kWh.
func TestFootprintByHand(t *testing.T) {
	e := &Energy{Held: 700_000, Idle: 90_000, PUE: 1250, Price: 100_000, CarbonPrice: 100e6, Intensity: Intensity{Flat: 400_000}, Budget: 3 * 1000 * Gram}
	m := e.Meter()
	m.AddHeld(jan, "", "a", 6*gpuHour)
	m.AddHeld(jan+1800, "", "b", 2*gpuHour)
	m.AddIdle(jan, "", 2*gpuHour)
	f, err := m.Footprints()
	if err != nil {
		t.Fatal(err)
	}
	want := Footprint{Held: 8 * gpuHour, Idle: 2 * gpuHour, Energy: 7_225_000, Carbon: 2890 * Gram, PowerCost: 722_500, CarbonCost: 289_000}
	if f.Footprint != want || f.Months[0].Footprint != want {
		t.Errorf("got %+v\nwant %+v", f.Footprint, want)
	}
	a := FootprintTenant{
		"a",
		Footprint{},
		Footprint{Held: 6 * gpuHour, Energy: 5_250_000, Carbon: 2100 * Gram, PowerCost: 525_000, CarbonCost: 210_000},
		Footprint{Idle: 1.5 * 3_600_000, Energy: 168_750, Carbon: 67_500, PowerCost: 16_875, CarbonCost: 6750},
	}
	a.Footprint = a.Direct
	a.add(&a.Share)
	if f.Tenants[0] != a {
		t.Errorf("got %+v\nwant %+v", f.Tenants[0], a)
	}
	if f.At80 == nil || *f.At80 != jan || f.At100 != nil || f.At120 != nil {
		t.Errorf("2.89 of 3 kg: got alerts %v", f.Alerts())
	}
	b, err := json.Marshal([]any{f.Energy, f.Carbon})
	if err != nil || string(b) != "[7.225,2.89]" {
		t.Errorf("got %s, %v", b, err)
	}
}

func TestIntensityAt(t *testing.T) {
	num := func(text string) focus.Amount {
		a, _, err := focus.ParseAmount(text)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	x, err := IntensityOf([]Sample{
		{parseTime("2024-01-01T00:00:00Z", t), num("594.78")}, {parseTime("2024-01-01T01:00:00Z", t), num("601.4844")}, {parseTime("2024-02-29T00:00:00Z", t), num("100")}, {parseTime("2024-12-31T23:00:00Z", t), num("50")},
	})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		at    string
		want  Carbon
		moved bool
	}{
		{"2024-01-01T00:30:00Z", 594_780, false},
		{"2024-01-01T01:00:00Z", 601_484, false},
		{"2024-01-09T01:00:00Z", 601_484, false},
		{"2027-01-01T00:00:00Z", 594_780, true},
		{"2020-12-31T23:59:59Z", 50_000, true},
		{"2028-02-29T00:00:00Z", 100_000, true},
	}
	for _, tt := range tests {
		if got, moved, ok := x.At(parseTime(tt.at, t)); got != tt.want || moved != tt.moved || !ok {
			t.Errorf("%s: got %d %v %v, want %d %v", tt.at, got, moved, ok, tt.want, tt.moved)
		}
	}
	short, err := IntensityOf([]Sample{{jan, num("1")}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, ok := short.At(jan + 86400); ok {
		t.Error("a series of one hour knows the next day")
	}
	if _, err := IntensityOf([]Sample{{jan, num("-1")}}); err == nil {
		t.Error("a negative intensity is taken")
	}
}

// Tenants, months and what nobody bears sum to the total, in every unit.
func TestFootprintsConserve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := &Energy{
			Held: rapid.Int64Range(0, 2_000_000).Draw(t, "held"), Idle: rapid.Int64Range(0, 500_000).Draw(t, "idle"), PUE: rapid.Int64Range(1000, 2500).Draw(t, "pue"),
			Models: []ModelPower{{"H100", 700_001, 77_777}},
			Price:  capcli.Rate(rapid.Int64Range(0, 900_000).Draw(t, "price")), CarbonPrice: capcli.USD(rapid.Int64Range(0, 1e9).Draw(t, "carbon price")),
			Intensity: Intensity{Flat: Carbon(rapid.Int64Range(0, 1_200_000).Draw(t, "grid"))},
		}
		m := e.Meter()
		for range rapid.IntRange(1, 20).Draw(t, "cells") {
			hour := jan + capcli.Time(rapid.Int64Range(0, 2000).Draw(t, "hour")*3600)
			time, model := capcli.GPUTime(rapid.Int64Range(1, 1e9).Draw(t, "time")), rapid.SampledFrom([]string{"", "H100"}).Draw(t, "model")
			if tenant := rapid.SampledFrom([]string{"idle", "a", "b", ""}).Draw(t, "tenant"); tenant == "idle" {
				m.AddIdle(hour, model, time)
			} else {
				m.AddHeld(hour, model, tenant, time)
			}
		}
		f, err := m.Footprints()
		if err != nil {
			t.Fatal(err)
		}
		tenants, months := f.Unallocated, Footprint{}
		for i := range f.Tenants {
			tenants.add(&f.Tenants[i].Footprint)
		}
		for i := range f.Months {
			months.add(&f.Months[i].Footprint)
		}
		if tenants != f.Footprint || months != f.Footprint {
			t.Fatalf("total %+v\ntenants %+v\nmonths %+v", f.Footprint, tenants, months)
		}
	})
}

// A run's idle time is in the footprint to the thousandth of a GPU-second, and in
// the hours in which it was idle: 4 GPUs for three hours, of which a held all in the
// second.
func TestFootprintOfRecord(t *testing.T) {
	rec := &simulate.Record{
		Start: jan, Tenants: []string{"a"}, Pools: []simulate.Pool{{Name: "own", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: 4}},
		Months: []simulate.Month{{Start: jan, Pools: []simulate.Span{{Offered: 12 * gpuHour, Used: 4 * gpuHour, Idle: 7 * gpuHour, Blocked: gpuHour / 2, Down: gpuHour / 2}}}},
		Hourly: &simulate.Hourly{First: jan, Use: [][]simulate.HourlyUse{{{Used: []capcli.GPUTime{0, 4 * gpuHour}}}}},
	}
	e := &Energy{Held: 1_000_000, Idle: 100_000}
	e.Intensity, _ = IntensityOf([]Sample{{jan, focus.NewAmount(10, 0)}, {jan + 3600, focus.NewAmount(1000, 0)}, {jan + 7200, focus.NewAmount(10, 0)}})
	f, err := e.OfRecord(rec, jan+3*3600)
	if err != nil {
		t.Fatal(err)
	}
	// Held 4 kWh at 1000 g; idle 7.5 GPU-hours, 0.75 kWh, all of it at 10 g.
	want := Footprint{Held: 4 * gpuHour, Idle: 7*gpuHour + gpuHour/2, Energy: 4_750_000, Carbon: 4_007_500}
	if f.Footprint != want {
		t.Errorf("got %+v\nwant %+v", f.Footprint, want)
	}
	if got := fmt.Sprint(f.Tenants[0].Share.Idle, f.Unallocated); got != fmt.Sprint(want.Idle, Footprint{}) {
		t.Errorf("got %s", got)
	}
}

// The carbon of a place is that of the first entry that it lies in; other places have the common one.
func TestCarbonByPlace(t *testing.T) {
	e := &Energy{
		Held: 1_000_000, Intensity: Intensity{Flat: 400 * Gram},
		Places: []PlaceIntensity{{"aws/eu-north-1", Intensity{Flat: 20 * Gram}}, {"aws/*", Intensity{Flat: 300 * Gram}}},
	}
	m := e.Meter()
	for _, p := range []simulate.Place{{Provider: "aws", Region: "eu-north-1", Zone: "a"}, {Provider: "aws", Region: "us-east-1"}, {Provider: "gcp", Region: "us-east1"}, {}} {
		m.addHeld(0, &simulate.Pool{Place: p}, "a", capcli.GPUTime(capcli.Hour)*capcli.GPUSecond)
	}
	f, err := m.Footprints()
	if err != nil {
		t.Fatal(err)
	}
	if want := (20 + 300 + 400 + 400) * Gram; f.Carbon != want || f.Energy != 4_000_000 {
		t.Errorf("carbon %d mg of %d mWh, want %d", f.Carbon, f.Energy, want)
	}
	e.CarbonPrice = 100 * capcli.Dollar
	if c, cost, err := e.CarbonOf("", 20*Gram); err != nil || c != 20*Gram || cost != 2000 {
		t.Errorf("a GPU-hour emits %d mg for %s (%v), want 20 g for 0.002", c, cost, err)
	}
}
