package decide

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"capcli"
	"capcli/forecast/demand"
	"capcli/forecast/outlook"
	"capcli/forecast/roadmap"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/curve"
	"capcli/scenarios/decide/plan/futures"
	"capcli/testdata/golden"
)

// Of the worlds that are made by hand: 92 days of ten GPUs from 1 March to 1 June 2026, by the hour, $4 on demand, and a
// commitment for three months.
const (
	marchFirst = capcli.Time(1_772_323_200)
	handDays   = 92
	handBase   = 10
	toApril    = 31
	toMay      = 61
)

// handStep is an event of some GPUs from one day of the world to another; 0 is without an end.
func handStep(name string, gpus float64, from, to int) roadmap.Event {
	e := roadmap.Event{Name: name, Shape: roadmap.Step, Start: marchFirst + capcli.Time(from)*oneDay, End: capcli.NoTime, Size: gpus}
	if to > 0 {
		e.End = marchFirst + capcli.Time(to)*oneDay
	}
	return e
}

// handMade returns the chain of a world by hand up to its requests. rate is that of the commitment.
func handMade(t *testing.T, rate, budget string, n int, asks []Ask, events ...roadmap.Event) *chain {
	t.Helper()
	q := made{}.request()
	q.Futures, q.Budget, q.Hold = n, budget, "100%"
	s, err := q.settle()
	if err != nil {
		t.Fatal(err)
	}
	w := &World{Open: opened(made{days: 1, rate: rate}.files())}
	c := &chain{settled: s, w: w, out: newResult(s, w)}
	if err := c.readPrices(); err != nil {
		t.Fatal(err)
	}
	a := &outlook.Apart{Events: events, Seed: 3, Known: marchFirst}
	for i := range handDays*24 + 1 {
		a.Bounds = append(a.Bounds, marchFirst+capcli.Time(i)*3600)
	}
	for range n {
		a.Bare = append(a.Bare, slices.Repeat([]float64{handBase}, handDays*24))
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(a); err != nil {
		t.Fatal(err)
	}
	c.apart = b.Bytes()
	f := plan.Futures{Grid: capcli.Grid{Origin: marchFirst, Step: capcli.Step{Seconds: capcli.Hour}}, Paths: a.Futures()}
	c.set = &futures.Set{Input: "by hand", Series: []string{"total"}, Futures: f}
	if c.set.Mean, err = plan.NewCurve(f.Grid.Origin, f.Grid.Step, f.Means()); err != nil {
		t.Fatal(err)
	}
	c.out.Start, c.out.End, c.out.Length = f.Start(), f.End(), capcli.Seconds(f.End()-f.Start())
	ask := &futures.Request{Source: futures.Source{Demand: curve.Source{Request: demand.Request{Inputs: []string{"x"}}}}, Risk: c.Risk, SizedFor: []float64{0.5, 0.8, 0.95}, Market: c.marketFor(c.offer)}
	question, err := ask.Parse()
	if err != nil {
		t.Fatal(err)
	}
	if c.bought, err = question.Plan(t.Context(), c.set); err != nil {
		t.Fatal(err)
	}
	if c.desk, err = c.newDesk(); err != nil {
		t.Fatal(err)
	}
	p := c.desk.choice("recommended", c.desk.best, nil)
	if c.out.Found = p.Holds; p.Holds {
		c.out.Plan = &p
	} else {
		c.out.Nearest = &p
	}
	for i, e := range events {
		x := outlook.Event{Name: e.Name, Kind: "step", Place: fmt.Sprintf("a.yaml:%d", i+3), Probability: 1}
		if e.Chance > 0 {
			x.Probability = e.Chance
		}
		if i < len(asks) {
			x.Value, x.Team = asks[i].Value, asks[i].Team
		}
		c.planned = append(c.planned, x)
	}
	if err := c.priceAsks(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// The marginal cost of requests is known in closed form where the base is flat: the hours on demand, those of a
// commitment that is bought for it, or what two share.
func TestMarginalCostByHand(t *testing.T) {
	const rest = handDays - toApril // days from 1 April on
	type want struct{ days, rate, hours, committed float64 }
	for _, x := range []struct {
		name   string
		rate   string
		events []roadmap.Event
		want   []want // of 6 GPUs: days that are paid, at a rate; days that are used; the committed share
	}{
		{"a step for which a term is bought", "2.40", []roadmap.Event{handStep("a", 6, toApril, 0)}, []want{{rest, 2.4, rest, 1}}},
		{"the same where no commitment pays", "4.50", []roadmap.Event{handStep("a", 6, toApril, 0)}, []want{{rest, 4, rest, 0}}},
		{"ten days are on demand; of 16 GPUs ten are committed", "2.40", []roadmap.Event{handStep("a", 6, 10, 20)}, []want{{10, 4, 10, 10. / 16}}},
		{"six GPUs less need six fewer", "2.40", []roadmap.Event{handStep("a", -6, 0, 0)}, []want{{-handDays, 2.4, -handDays, 0.4}}},
		// Alone, April is cheaper on demand (30 days at $4 for 61 at $2.40), and for May a term begins on 1 May. Together they
		// share the term from 1 April on: April adds what it costs over that of May, and May what it costs over April.
		{"two that share a term", "2.40", []roadmap.Event{handStep("april", 6, toApril, toMay), handStep("may", 6, toMay, handDays)}, []want{{rest - (handDays - toMay), 2.4, 30, 1}, {rest - 30*4/2.4, 2.4, handDays - toMay, 1}}},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := handMade(t, x.rate, "", 2, nil, x.events...)
			for i, w := range x.want {
				a := &c.out.Requests[i]
				if cost := 6 * 24 * w.days * w.rate; math.Abs(a.Cost.Float()-cost) > 1e-6 {
					t.Errorf("%s costs %s, by hand %.2f", a.Event, a.Cost, cost)
				}
				if math.Abs(a.GPUHours-6*24*w.hours) > 1e-6 {
					t.Errorf("%s takes %g GPU-hours, by hand %g", a.Event, a.GPUHours, 6*24*w.hours)
				}
				if math.Abs(*a.Committed-w.committed) > 1e-9 || math.Abs(*a.Committed+*a.OnDemand-1) > 1e-9 {
					t.Errorf("%s: committed %g and on demand %g, by hand %g", a.Event, *a.Committed, *a.OnDemand, w.committed)
				}
				if a.Fits != nil || a.AtRisk != nil {
					t.Errorf("%s has figures of a limit or a risk that was not asked for: %+v", a.Event, a)
				}
			}
			if len(c.out.Notes) == 0 || !strings.Contains(strings.Join(c.out.Notes, "\n"), "the costs need not add up") {
				t.Errorf("nothing says that costs need not add up: %v", c.out.Notes)
			}
		})
	}
}

// A request that may not come costs the lower of the commitment in all futures and on demand in those in which it
// comes; in the worst futures it costs as if it came.
func TestMarginalCostOfAChance(t *testing.T) {
	for _, chance := range []float64{0.1, 0.5, 0.9} {
		e := handStep("a", 6, toApril, 0)
		e.Chance = chance
		c := handMade(t, "2.40", "", 20, nil, e)
		comes := 0.0
		for k := range 20 {
			if roadmap.Happens([]roadmap.Event{e}, 0, capcli.Seed(3).Child(k)) {
				comes += 1. / 20
			}
		}
		a := &c.out.Requests[0]
		hours := 6. * 24 * (handDays - toApril)
		if want := hours * math.Min(2.4, 4*comes); math.Abs(a.Cost.Float()-want) > 1e-6 || math.Abs(a.GPUHours-comes*hours) > 1e-6 {
			t.Errorf("%g: %s for %g GPU-hours, by hand $%.2f for %g", chance, a.Cost, a.GPUHours, want, comes*hours)
		}
	}
}

// Under a budget those of the most value that it pays for fit, whatever the order of the file; the others are named,
// the one of the least value first. None is dropped.
func TestBudgetNamesWhatDoesNotFit(t *testing.T) {
	const base, each = handBase * handDays * 24 * 2.4, 6 * 10 * 24 * 4 // dollars of the base, of ten days of 6 GPUs
	events := []roadmap.Event{handStep("a", 6, 5, 15), handStep("b", 12, 35, 45), handStep("c", 6, 65, 75), handStep("less", -1, 0, 0)}
	const freed = handDays * 24 * 2.4
	low, high, middle := 100*capcli.Dollar, 300*capcli.Dollar, 200*capcli.Dollar
	values := []Ask{{Value: &low, Team: "nlp"}, {Value: &high}, {Value: &middle}}
	for _, x := range []struct {
		budget float64
		values []Ask
		fits   string // names of those that fit
		says   string
	}{
		{base - freed + 4*each + 1, values, "a b c less", ""},
		{base - freed + 4*each - 1, values, "b c less", `They hold without these requests, the one of the least value first: "a" of nlp (1,440 GPU-hours, $5,760.00).`},
		{base - freed + 2*each + 1, values, "b less", `the one of the least value first: "a" of nlp (1,440 GPU-hours, $5,760.00), "c" (1,440 GPU-hours, $5,760.00).`},
		{base - freed + 1*each + 1, values, "c less", `the one of the least value first: "a" of nlp (1,440 GPU-hours, $5,760.00), "b" (2,880 GPU-hours, $11.5k).`},
		{base - freed + 3*each + 1, nil, "a c less", `"b" (2,880 GPU-hours, $11.5k).`},
		{base - freed - 1, values, "less", `They do not hold without any request either. The requests, the one of the least value first: "a" of nlp`},
	} {
		c := handMade(t, "2.40", fmt.Sprintf("$%.2f", x.budget), 2, x.values, events...)
		var fits []string
		for _, a := range c.out.Requests {
			if *a.Fits {
				fits = append(fits, a.Event)
			}
		}
		if got := strings.Join(fits, " "); got != x.fits || len(c.out.Requests) != len(events) {
			t.Errorf("budget %.0f: %q fit, want %q", x.budget, got, x.fits)
		}
		if got := c.asksText(); !strings.HasSuffix(got, x.says) && !strings.Contains(got, x.says) || x.says == "" && got != "" {
			t.Errorf("budget %.0f: it says %q, want %q", x.budget, got, x.says)
		}
	}
}

// The marginal cost of a request is that of two decisions: one with its file, and one without, to the millionth. The
// order of the files does not change a byte of the decision.
func TestMarginalCostIsThatOfTwoDecisions(t *testing.T) {
	golden.SkipLong(t)
	files := made{days: 30}.files()
	files["log.csv"] = logOf(levelLog(35, 5, func(day int) int { return 6 + 2*(day%2) }))
	files["a.yaml"] = []byte("capcli: events/v1\nevents:\n  - {name: launch, kind: step, from: 2026-03-02, gpus: 7, low: 4, high: 12, probability: 60%, late: 5d, team: chat, without: later}\n  - {name: off, kind: holiday, dates: 03-20, share: -50%}\n")
	files["b.yaml"] = []byte("capcli: events/v1\nevents:\n  - {name: test, kind: pulse, from: 2026-03-10, to: 2026-03-30, share: 40%, team: load}\n  - {name: leaves, kind: ramp, from: 2026-04-01, to: 2026-04-10, gpus: -3}\n")
	files["c.yaml"] = []byte("capcli: events/v1\nevents:\n  - {name: off, kind: holiday, dates: 03-20, share: -50%}\n")
	decided := func(events ...string) *Result {
		q := made{}.request()
		q.Events, q.Origins, q.Futures = events, 0, 6
		r, err := Decide(t.Context(), q, &World{Open: opened(files)})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	both, turned := decided("a.yaml", "b.yaml"), decided("b.yaml", "a.yaml")
	if len(both.Requests) != 3 {
		t.Fatalf("%d requests, want launch, test and leaves: %+v", len(both.Requests), both.Requests)
	}
	for i := range both.Requests {
		x, y := both.Requests[i], turned.Requests[i]
		if x.Event != y.Event || *x.Cost != *y.Cost || x.GPUHours != y.GPUHours || *x.Committed != *y.Committed {
			t.Errorf("another order of the files gives another request: %+v and %+v", x, y)
		}
	}
	if both.Plan.Cost != turned.Plan.Cost || !bytes.Equal(both.Texts[FuturesFile], turned.Texts[FuturesFile]) {
		t.Errorf("another order of the files gives another plan: %s and %s", both.Plan.Cost, turned.Plan.Cost)
	}
	if got, want := *both.Requests[0].Cost, both.Plan.Cost-decided("c.yaml", "b.yaml").Plan.Cost; got != want || got <= 0 {
		t.Errorf("the launch costs %s, and two decisions differ by %s", got, want)
	}
	if x := both.Requests[0]; x.Team != "chat" || x.Without != "later" || x.Place != "a.yaml:3" {
		t.Errorf("the request does not say who asks: %+v", x)
	}
	if x := both.Requests[2]; x.GPUHours >= 0 || *x.Cost >= 0 {
		t.Errorf("what leaves frees nothing: %+v", x)
	}
	alone := decided("a.yaml") // without test and leaves
	sum := *both.Requests[1].Cost + *both.Requests[2].Cost
	t.Logf("test and leaves add %s one by one, and %s together", sum, both.Plan.Cost-alone.Plan.Cost)
}
