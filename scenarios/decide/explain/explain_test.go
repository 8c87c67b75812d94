package explain_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/decide/explain"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
)

// ask plays a scenario and asks why a metric of its runs is what it is.
func ask(t testing.TB, text []byte, metric string, runs int, causesOnly bool) *explain.Result {
	t.Helper()
	request := explain.Request{Subject: "test", Metric: outcome.MetricNamed(metric), CausesOnly: causesOnly}
	request.Make = func(v explain.Variation) (*play.Case, error) {
		s, err := scenarios.Parse("test.yaml", text, v.Sets...)
		if err != nil {
			return nil, err
		}
		if v.Policy != "" {
			s.Policy.Name = v.Policy
		}
		if v.Placement != "" {
			s.Placement = v.Placement
		}
		return play.NewCase(s, play.Options{})
	}
	request.Play = func(cases []*play.Case) ([][]*play.Run, error) {
		return play.Play(t.Context(), cases, play.Request{Runs: runs})
	}
	c, err := request.Make(explain.Variation{})
	if err != nil {
		t.Fatal(err)
	}
	if request.Runs, err = c.Play(t.Context(), runs); err != nil {
		t.Fatal(err)
	}
	answer, err := explain.Explain(request)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func library(t testing.TB, name string) []byte {
	t.Helper()
	text, ok := scenarios.Library(name)
	if !ok {
		t.Fatalf("the library has no %s", name)
	}
	return text
}

// What is told of waits adds up: by cause, and of each cause by tenant, model and
// day; and the mean wait is what the causes say.
func TestWaitsAddUp(t *testing.T) {
	for _, metric := range []string{"wait_p95", "wait_mean", "wait_max"} {
		x := ask(t, library(t, "three-tier"), metric, 2, true)
		var sum capcli.Seconds
		share := 0.0
		for _, c := range x.Causes {
			sum += c.Time
			share += c.Share
			for _, parts := range [][]explain.NamedTime{c.Tenants, c.Models, c.Weekdays} {
				var all capcli.Seconds
				for _, p := range parts {
					all += p.Time
				}
				if all != c.Time {
					t.Errorf("%s, %s: parts sum to %d, want %d", metric, c.Text, all, c.Time)
				}
			}
		}
		if sum != x.LookedAt.Time || sum == 0 || math.Abs(share-1) > 1e-9 {
			t.Errorf("%s: causes sum to %d (share %g), want %d", metric, sum, share, x.LookedAt.Time)
		}
		if x.Runs != 2 || len(x.PerRun) != 2 {
			t.Errorf("%s: %d runs, want 2", metric, x.Runs)
		}
		if metric == "wait_mean" && math.Abs(float64(sum)/float64(x.LookedAt.Of)-*x.Value) > 0.02**x.Value {
			t.Errorf("mean wait %g, the causes say %g", *x.Value, float64(sum)/float64(x.LookedAt.Of))
		}
	}
}

// What commitments beside the pools' own terms pay for on-demand pools is of another
// tier than these: the parts still sum to the tiers.
const committed = `capcli: scenario/v1
period: 2027-01-10 to 2027-02-05
jobs: {generate: {classes: [{name: t, kind: random, mean_gpus: 20, sizes: [{gpus: 1, weight: 1}, {gpus: 8, weight: 1}], run_median: 2h, run_p95: 12h, run_max: 2d}]}}
capacity:
  - {name: base, kind: owned, gpus: 24, price: 1}
  - {name: od, kind: on_demand, gpu_model: H100, price: 4, max_gpus: 64}
commitments: [{product: savings_plan, from: 2027-01-01, term: 1y, commit: 20, payment: none, rates: [{gpu_model: H100, discount: 28%}]}]
overflow: {patience: 30m}
`

// The parts of a figure sum to it, of each kind.
func TestPartsAddUp(t *testing.T) {
	for _, text := range [][]byte{library(t, "three-tier"), []byte(committed)} {
		for _, m := range outcome.Metrics {
			if !explain.IsSum(m) {
				continue
			}
			x := ask(t, text, m.Name, 1, true)
			sums := map[string]float64{}
			for _, p := range x.Parts {
				if p.Cost != nil {
					sums[p.By] += p.Cost.Float()
				} else {
					sums[p.By] += p.Time.Hours()
				}
			}
			for by, sum := range sums {
				if math.Abs(sum-*x.PerRun[0]) > 1e-6 {
					t.Errorf("%s by %s: %f, want %f", m.Name, by, sum, *x.PerRun[0])
				}
			}
			if len(x.Parts) == 0 && *x.Value != 0 {
				t.Errorf("%s has no parts", m.Name)
			}
		}
	}
}

// Changes come in the order of what they better, those that do less of the work last.
func TestChangesAreInOrder(t *testing.T) {
	x := ask(t, library(t, "queue-collapse"), "wait_p95", 1, false)
	if len(x.Changes) < 4 {
		t.Fatalf("only %d changes were tried", len(x.Changes))
	}
	for i := range x.Changes {
		a := &x.Changes[i]
		if a.ServesLess && a.Better != nil && *a.Better {
			t.Errorf("%s is called better, with %g of the work undone for %g", a.Text, a.Undone, a.UndoneWas)
		}
		if i+1 == len(x.Changes) {
			continue
		}
		b := &x.Changes[i+1]
		if a.ServesLess && !b.ServesLess || a.ServesLess == b.ServesLess && *b.After < *a.After {
			t.Errorf("%s comes after %s", b.Text, a.Text)
		}
	}
}

func ExampleExplain() {
	ctx := context.Background()
	text, _ := scenarios.Library("queue-collapse")
	newCase := func(v explain.Variation) (*play.Case, error) {
		s, err := scenarios.Parse("queue-collapse.yaml", text, v.Sets...)
		if err != nil {
			return nil, err
		}
		return play.NewCase(s, play.Options{})
	}
	playAll := func(cases []*play.Case) ([][]*play.Run, error) {
		return play.Play(ctx, cases, play.Request{})
	}
	c, err := newCase(explain.Variation{})
	if err != nil {
		panic(err)
	}
	runs, err := c.Play(ctx, 1)
	if err != nil {
		panic(err)
	}
	answer, err := explain.Explain(explain.Request{
		Metric: outcome.MetricNamed("wait_p95"), Runs: runs, Make: newCase, Play: playAll, CausesOnly: true,
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(answer.LookedAt.Which, "waited most for:", answer.Causes[0].Text)
	// Output: the slowest 5% of the jobs waited most for: no free GPU of the right kind
}
