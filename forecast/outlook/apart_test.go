package outlook

import (
	"math"
	"slices"
	"strings"
	"testing"

	"capcli"
	"capcli/forecast/demand"
	"capcli/forecast/roadmap"
	"capcli/profile/logs/trace"
)

// Futures without an event are those of a forecast that does not know it, bit by bit, with what follows it left out too:
// each event draws from a stream of its own. Without a name they are those of the forecast.
func TestFuturesApart(t *testing.T) {
	var text strings.Builder
	text.WriteString("ds,y\n")
	rng := capcli.Seed(4).Stream("apart")
	for i := range 60 {
		text.WriteString((capcli.Time(1_767_571_200) + capcli.Time(i)*capcli.Time(capcli.Day)).String() + "," + strings.Repeat("1", 1+rng.IntN(2)) + "\n")
	}
	const from = capcli.Time(1_767_571_200) + 64*capcli.Time(capcli.Day)
	events := []roadmap.Event{
		{Name: "launch", Shape: roadmap.Step, Start: from, End: capcli.NoTime, Size: 7, SizeSD: 3, Chance: 0.6, Delay: 2 * capcli.Day},
		{Name: "test", Shape: roadmap.Pulse, Start: from, End: from + 5*capcli.Time(capcli.Day), Size: 0.5, Relative: true},
		{Name: "gone", Shape: roadmap.Ramp, Start: from, End: from + 3*capcli.Time(capcli.Day), Size: -9},
		{Name: "run", Shape: roadmap.Pulse, Start: from, End: from + 4*capcli.Time(capcli.Day), Size: 20, Chance: 0.5, LengthSD: capcli.Day},
		{Name: "run: success", Shape: roadmap.Pulse, Start: from + 6*capcli.Time(capcli.Day), End: from + 9*capcli.Time(capcli.Day), Size: 30, Chance: 0.25, Parent: "run"},
	}
	forecast := func(without ...string) *Result {
		hs, err := demand.ReadInput(t.Context(), demand.Request{}, demand.Sources{}, trace.Input{Name: "usage.csv", R: strings.NewReader(text.String())})
		if err != nil {
			t.Fatal(err)
		}
		plan := &roadmap.Plan{}
		for _, e := range events {
			if !slices.Contains(without, e.Name) {
				plan.List = append(plan.List, roadmap.Entry{Name: e.Name, Kind: string(e.Shape), Event: e})
			}
		}
		r, err := Forecast(t.Context(), hs, Request{Model: "mixture", Horizon: "20", Paths: 40, Seed: 9, Events: plan, Apart: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	a := forecast().FuturesApart()
	if a == nil {
		t.Fatal("the events are not apart")
	}
	cut := 0
	for _, without := range [][]string{nil, {"launch"}, {"test"}, {"gone"}, {"run", "run: success"}, {"launch", "gone"}} {
		want := forecast(without...).Series[0].Futures
		got := a.Futures(without[:min(len(without), 2)]...)
		if len(without) == 2 && without[0] == "run" {
			got = a.Futures("run")
		}
		for k := range want {
			for i := range want[k] {
				if math.Float64bits(got[k][i]) != math.Float64bits(want[k][i]) {
					t.Fatalf("without %v: step %d of future %d is %v, and a forecast without it has %v", without, i, k, got[k][i], want[k][i])
				}
				if got[k][i] == 0 {
					cut++
				}
			}
		}
	}
	if cut == 0 {
		t.Error("no step is at the floor, so nothing was tried there")
	}
}
