package decide

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"capcli"
	"capcli/forecast/demand"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/vary"
	"capcli/scenarios/whatif"
)

// carried returns the decision about a small world, its world for a page, and its documents.
func carried(t *testing.T, m made, change func(*Request)) (*Result, *vary.World, map[string][]byte) {
	t.Helper()
	q := m.request()
	if change != nil {
		change(q)
	}
	r, err := Decide(t.Context(), q, &World{Open: opened(m.files())})
	if _, none := errors.AsType[*capcli.ResultError](err); err != nil && !none {
		t.Fatal(err)
	}
	docs := map[string][]byte{}
	for name, text := range r.Texts {
		docs["out/"+name] = text
	}
	if docs["out/"+DecisionFile], err = encode(r); err != nil {
		t.Fatal(err)
	}
	w, err := OpenWorld(t.Context(), opened(docs), "out/"+DecisionFile)
	if err != nil {
		t.Fatal(err)
	}
	return r, w, docs
}

func answered(t *testing.T, w *vary.World, pairs ...string) *vary.Answer {
	t.Helper()
	return asked(t, w, (*vary.Engine).Answer, pairs...)
}

func asked(t *testing.T, w *vary.World, how func(*vary.Engine, whatif.Request) (*vary.Answer, error), pairs ...string) *vary.Answer {
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
	a, err := how(e, q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// At the numbers of the decision the page has the figures of the decision, and at its other sizes those that the
// decision lists, to the last digit.
func TestWorldHasTheFiguresOfTheDecision(t *testing.T) {
	tests := map[string]struct {
		world  made
		change func(*Request)
	}{
		"bought":    {made{seed: 2, days: 35}, nil},
		"held":      {made{seed: 3, days: 35, rate: "1.10"}, func(q *Request) { q.Held = []string{"3@2026-01-01..2026-03-05"} }},
		"nothing":   {made{seed: 4, days: 40, rate: "4.50"}, nil},
		"budget":    {made{seed: 2, days: 40}, func(q *Request) { q.Budget = "20k" }},
		"a year":    {made{seed: 5, days: 40}, func(q *Request) { q.Horizon = "1y" }},
		"fenced":    {made{seed: 3, days: 35, fenced: true}, nil},
		"few weeks": {made{seed: 2, days: 40}, func(q *Request) { q.Horizon = "4w" }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r, w, _ := carried(t, tt.world, tt.change)
			a := answered(t, w)
			if !reflect.DeepEqual(w.Decided, &a.Figures) {
				t.Errorf("the world carries %+v, the engine says %+v", w.Decided, a.Figures)
			}
			want := r.Plan
			if want == nil {
				want = r.Nearest
			}
			if r.Bound != nil {
				if h := a.Heads[len(a.Heads)-1]; h.Name != "fenced" || h.Value == nil || *h.Value != r.Mix.Best.Cost.Float() {
					t.Errorf("fenced: %+v, the cheapest that was played costs %s", h, r.Mix.Best.Cost)
				}
				return
			}
			f := &a.Figures
			got := Choice{Cost: f.Cost, PerYear: f.PerYear, Range: f.Range, Worst: f.Worst, Committed: f.Committed, OnDemand: f.OnDemand, Stranded: f.Stranded, Covered: f.Covered, Used: f.Used, Held: f.Held}
			plain := Choice{Cost: want.Cost, PerYear: want.PerYear, Range: want.Range, Worst: want.Worst, Committed: want.Committed, OnDemand: want.OnDemand, Stranded: want.Stranded, Covered: want.Covered, Used: want.Used, Held: want.Held}
			if !reflect.DeepEqual(got, plain) {
				t.Errorf("the page says\n%+v\nthe decision\n%+v", got, plain)
			}
			if holds := !strings.Contains(a.Notes[0], "NOT"); holds != want.Holds {
				t.Errorf("%s; the decision holds: %t", a.Notes[0], want.Holds)
			}
			for _, s := range r.Sizes {
				f := answered(t, w, fmt.Sprintf("commitment.gpus=%g", s.GPUs)).Figures
				if f.Cost != s.Cost || f.Range != s.Range {
					t.Errorf("%g GPUs cost %s (%s), the decision says %s (%s)", s.GPUs, f.Cost, f.Range, s.Cost, s.Range)
				}
			}
		})
	}
}

// With other numbers the page says what a plan says that is laid out afresh for them.
func TestWorldPricesAsAFreshPlan(t *testing.T) {
	_, w, docs := carried(t, made{seed: 2, days: 35}, func(q *Request) { q.Horizon = "26w" })
	c := &chain{settled: &settled{Request: &Request{Seed: 2}}}
	source := c.source()
	source.File = "out/" + FuturesFile
	set, err := source.Read(t.Context(), demand.Sources{Open: opened(docs)})
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{"commitment.months", "commitment.gpus", "commitment.price", "on_demand.price", "demand.percent", "spot.share_percent", "spot.price"}
	for _, x := range []struct {
		months, gpus   int
		rate, onDemand float64
		demand         int64
		spot, spotRate float64
	}{
		{3, 7, 2.4, 4, 100, 0, 1}, {3, 12, 1.995, 3.21, 100, 0, 1}, {1, 9, 2.4, 4, 117, 0, 1}, {6, 4, 3.3, 5, 80, 30, 1.25}, {2, 0, 2, 4, 250, 100, 0.5},
	} {
		scaled := plan.Futures{Grid: set.Futures.Grid}
		for _, path := range set.Futures.Paths {
			var row []float64
			for _, v := range path {
				row = append(row, math.Floor(math.Round(1000*v)*float64(x.demand)/100+0.5)/1000)
			}
			scaled.Paths = append(scaled.Paths, row)
		}
		blend := capcli.USDOf(x.onDemand*(1-x.spot/100) + x.spotRate*x.spot/100)
		m := &plan.Market{OnDemand: plan.Flat(blend), Lot: 1000, Every: capcli.Step{Months: 1}, Terms: []plan.Term{{Name: "t", Length: capcli.Step{Months: x.months}, Rate: plan.Flat(capcli.USDOf(x.rate))}}}
		field, err := plan.NewField(&scaled, m)
		if err != nil {
			t.Fatal(err)
		}
		want, err := field.Reprice("", "", field.Renewed(0, int64(1000*x.gpus)))
		if err != nil {
			t.Fatal(err)
		}
		values := []any{x.months, x.gpus, x.rate, x.onDemand, x.demand, x.spot, x.spotRate}
		var sets []string
		for i, path := range paths {
			sets = append(sets, fmt.Sprintf("%s=%v", path, values[i]))
		}
		got := answered(t, w, sets...)
		if f := vary.Summarise(want.Outcomes, capcli.Seconds(set.Futures.End()-set.Futures.Start()), nil); f.Cost != got.Figures.Cost || f.Stranded != got.Figures.Stranded || f.Worst != got.Figures.Worst {
			t.Errorf("%v:\n%+v, a plan afresh says\n%+v", sets, got.Figures, f)
		}
		h := asked(t, w, (*vary.Engine).AddCheapest, sets...).Heads[0]
		sets[1] = fmt.Sprintf("commitment.gpus=%v", *h.Value)
		least := answered(t, w, sets...).Figures.Cost
		for gpus := range 40 {
			sets[1] = fmt.Sprintf("commitment.gpus=%d", gpus)
			if c := answered(t, w, sets...).Figures.Cost; c < least {
				t.Errorf("%v costs %s, less than the cheapest of %g GPUs, %s", sets, c, *h.Value, least)
			}
		}
	}
}

// The documents of another decision are refused, and so is a file that is no decision.
func TestOpenWorldRefuses(t *testing.T) {
	_, _, docs := carried(t, made{seed: 2, days: 35}, nil)
	_, _, other := carried(t, made{seed: 3, days: 35}, nil)
	for name, change := range map[string]func(map[string][]byte){
		"others' futures": func(d map[string][]byte) { d["out/"+FuturesFile] = other["out/"+FuturesFile] },
		"no futures":      func(d map[string][]byte) { delete(d, "out/"+FuturesFile) },
		"no purchases":    func(d map[string][]byte) { delete(d, "out/"+PurchasesFile) },
		"no decision":     func(d map[string][]byte) { d["out/"+DecisionFile] = d["out/"+PurchasesFile] },
	} {
		mixed := map[string][]byte{}
		for n, b := range docs {
			mixed[n] = b
		}
		change(mixed)
		if _, err := OpenWorld(t.Context(), opened(mixed), "out/"+DecisionFile); err == nil {
			t.Errorf("%s are taken", name)
		}
	}
}
