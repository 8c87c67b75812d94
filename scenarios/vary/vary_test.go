package vary

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/whatif"
)

// smallWorld returns a world of two futures of three hours with one GPU of two bought.
func smallWorld(t testing.TB) *World {
	t.Helper()
	m := &plan.Meter{Step: capcli.Hour, Milli: [][]int32{{1000, 2000, 3000}, {0, 1000, 1000}}}
	pack, err := Pack(m)
	if err != nil {
		t.Fatal(err)
	}
	return &World{
		Schema: Schema, Step: capcli.Hour, Steps: 3, Count: 2, Demand: pack, Lot: 1000, Terms: []Term{{"1y", 12, 1_000_000}, {"3y", 36, 500_000}},
		Bought: []Purchase{{0, 0, 1000 * capcli.Hour, 1000, 1_000_000}}, OnDemand: Price{"a/b/c/on_demand", 4_000_000},
		Limits: []string{"wait_p95 <= 30m", "cost <= $12"}, Hold: 1,
		Fenced: &Price{"a/b/c/block", 2_000_000}, Places: []Place{{GPUs: 2, Patience: "30m", Cost: 16_000_000, OnDemand: 4_000_000, WaitP95: 600, Held: 1}, {GPUs: 1, Patience: "2h", Cost: 10_000_000, OnDemand: 4_000_000, WaitP95: 7200}},
	}
}

func ask(t *testing.T, w *World, pairs ...string) (*Answer, error) {
	t.Helper()
	e, err := w.Engine()
	if err != nil {
		t.Fatal(err)
	}
	var q whatif.Request
	for _, p := range pairs {
		path, value, _ := strings.Cut(p, "=")
		q.Changes = append(q.Changes, whatif.Change{Path: path, Value: value})
	}
	return e.Answer(q)
}

// What is asked of the small world, counted by hand: the futures cost 3 + 3*4 = 15 and 3.
func TestAnswersByHand(t *testing.T) {
	tests := []struct {
		name, changes string
		cost          float64
		limits        string // which of the limits hold, y or n
		fenced        string // part of its text
		note          string
	}{
		{"as decided", "", 9, "yn", "$16.00: 2 GPUs", "NOT HOLD: together they do in 1 of 2 futures"},
		{"two GPUs", "commitment.gpus=2", 8, "yy", "", "in all 2 futures"},
		{"a part of a machine", "commitment.gpus=1.6", 8, "yy", "", "2 are priced"},
		{"none", "commitment.gpus=0", 16, "yn", "", ""},
		{"twice the demand", "demand.percent=200", 3 + 4*(1+3+5+0+1+1)/2.0, "yn", "", ""},
		{"another price", "commitment.price=2", 12, "yn", "", ""},
		{"a listed term", "commitment.months=36", 7.5, "yn", "", "36 months are bought at the listed $0.50"},
		{"a term that is not listed", "commitment.months=6", 9, "yn", "", "priced as 1y"},
		{"half on spot", "spot.share_percent=50 spot.price=2", 3 + 1.5*3, "yy", "$15.00: 2 GPUs", ""},
		{"on demand cheaper", "on_demand.price=1", 4.5, "yy", "$13.00: 2 GPUs", ""},
		{"fenced cheaper", "fenced.price=1", 9, "yn", "$10.00: 2 GPUs", ""},
		{"a longer wait and more money", "limit.wait_p95_minutes=120 limit.budget_usd=20", 9, "yy", "$10.00: 1 GPUs", "mean cost"},
		{"a budget of nothing", "limit.budget_usd=1", 9, "yn", "none is within", "DO NOT HOLD"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := ask(t, smallWorld(t), strings.Fields(tt.changes)...)
			if err != nil {
				t.Fatal(err)
			}
			holds := map[string]bool{}
			for _, l := range a.Limits {
				holds[l.Limit[:4]] = l.Holds
				if l.Holds == strings.Contains(l.Text, "NOT") {
					t.Errorf("%+v", l)
				}
			}
			want := map[string]bool{"wait": tt.limits[0] == 'y', "cost": tt.limits[1] == 'y'}
			if got := a.Figures.Cost.Float(); got != tt.cost || holds["wait"] != want["wait"] || holds["cost"] != want["cost"] {
				t.Errorf("cost %g, limits %v, want %g, %v", got, holds, tt.cost, want)
			}
			if text := a.Heads[len(a.Heads)-1].Text; !strings.Contains(text, tt.fenced) {
				t.Errorf("fenced: %q, want %q", text, tt.fenced)
			}
			if text := strings.Join(a.Notes, "\n"); !strings.Contains(text, tt.note) {
				t.Errorf("%q, want %q", text, tt.note)
			}
		})
	}
}

func TestRefuses(t *testing.T) {
	for _, changes := range []string{"commitment.gpus=-1", "commitment.gpus=many", "commitment.months=0", "commitment.months=1.5", "demand.percent=NaN", "spot.share_percent=101", "spot.share_percent=5", "no.path=1", "commitment.gpus=1e18"} {
		if _, err := ask(t, smallWorld(t), changes); err == nil {
			t.Errorf("%s is answered", changes)
		}
	}
	if got := (&Engine{}).Call(t.Context(), "knobs", "{}"); !strings.Contains(got, "wants panel") {
		t.Error(got)
	}
}

// The demand of the futures comes back from a pack.
func TestPack(t *testing.T) {
	w := smallWorld(t)
	m, err := w.Meter()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(m.Milli[0], []int32{1000, 2000, 3000}) || !slices.Equal(m.Milli[1], []int32{0, 1000, 1000}) {
		t.Error(m.Milli)
	}
	w.Demand = w.Demand[:len(w.Demand)-2]
	if _, err := w.Meter(); err == nil {
		t.Error("a cut pack is read")
	}
	if _, err := Pack(&plan.Meter{Milli: slices.Repeat([][]int32{make([]int32, 50_000)}, 81)}); err == nil {
		t.Error("81 futures of 50,000 hours are packed")
	}
}

// A year of 100 futures is answered at once. The time is told, and no part of the test's pass or fail.
func TestYearOfFutures(t *testing.T) {
	m := &plan.Meter{Step: capcli.Hour}
	rng := capcli.Seed(1).Stream("levels")
	for range 100 {
		row := make([]int32, 8760)
		for i := range row {
			row[i] = int32(100_000 + rng.IntN(100_000))
		}
		m.Milli = append(m.Milli, row)
	}
	w := smallWorld(t)
	w.Steps, w.Count = 8760, 100
	var err error
	if w.Demand, err = Pack(m); err != nil {
		t.Fatal(err)
	}
	e, err := w.Engine()
	if err != nil {
		t.Fatal(err)
	}
	for _, ask := range []func(whatif.Request) (*Answer, error){e.Answer, e.AddCheapest} {
		begun := time.Now()
		a, err := ask(whatif.Request{Changes: []whatif.Change{{Path: demandPath, Value: "110"}}})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d kB, %s: %s", len(w.Demand)/1000, time.Since(begun), a.Heads[0].Text)
	}
}

func FuzzOpen(f *testing.F) {
	text, err := json.Marshal(smallWorld(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text), `{"changes":[{"path":"commitment.gpus","value":"2"}]}`)
	f.Add(`{"schema":"capcli/vary/v1","futures":1,"steps":1,"step_s":3600,"lot_milli":1}`, `{}`)
	f.Fuzz(func(t *testing.T, world, request string) {
		if _, e := Open(world); e != nil {
			e.Call(t.Context(), "panel", request)
			e.Groups()
		}
	})
}
