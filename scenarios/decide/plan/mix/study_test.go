package mix_test

import (
	"context"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/play"
)

// caseOf returns the case of a scenario in text, whose jobs are those of the request's futures.
func caseOf(t testing.TB, text string) *play.Case {
	t.Helper()
	s, err := scenarios.Parse("world.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c, err := play.NewCase(s, play.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// planOf returns the plan of every mix of a scenario for one job log.
func planOf(t testing.TB, q *mix.Request, jobs ...capcli.Job) *mix.Result {
	t.Helper()
	q.Exhaustive, q.All = true, true
	q.Futures = append(q.Futures, futureOf(jobs))
	r, err := mix.Plan(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A change of how a pool behaves reaches it where the best mix has none of a pool listed before: a job waits for
// the lead time.
func TestSwingsAfterAnEmptyPool(t *testing.T) {
	q := mix.NewRequest(caseOf(t, `capcli: scenario/v1
period: 2026-01-01 to 2026-01-02
capacity:
  - {name: dear, kind: owned, gpus: 4, price: 99}
  - {name: od, kind: on_demand, price: 2, lead_time: 30m}
`))
	q.Vary = []string{"capacity.dear.gpus=0,4", "overflow.patience=0s"}
	r := planOf(t, q, worldJobs([][4]int64{{1, 0, 4, 3600}})...)
	if r.Best == nil || r.Best.Choices[0].Value != "0" {
		t.Fatalf("%+v", r.Best)
	}
	want := map[string]float64{"half the lead times": 900, "twice the lead times": 3600}
	for _, w := range r.Tornado {
		if wait, is := want[w.What]; is && w.Wait != wait {
			t.Errorf("%s: waits %v s, want %v", w.What, w.Wait, wait)
		}
		delete(want, w.What)
	}
	if len(want) > 0 {
		t.Errorf("no row for %v in %s", want, strings.Join(names(r.Tornado), ", "))
	}
}

// The same of losses: fewer of them cost less, and more of them more.
func TestLossSwingsAfterAnEmptyPool(t *testing.T) {
	q := mix.NewRequest(caseOf(t, `capcli: scenario/v1
period: 2026-01-01 to 2026-01-08
capacity:
  - {name: dear, kind: owned, gpus: 4, price: 99}
  - {name: spot, kind: spot, nodes: 4, gpus_per_node: 4, price: 1, lead_time: 30m, hazard: {mean_up: 4h, mean_down: 10m}}
overflow: {patience: 0s, order: [spot]}
`))
	q.Vary = []string{"capacity.dear.gpus=0,4"}
	var rows [][4]int64
	for i := range int64(30) {
		rows = append(rows, [4]int64{i + 1, 18_000 * i, 4, 3 * 3600})
	}
	r := planOf(t, q, worldJobs(rows)...)
	if r.Best == nil || r.Best.Choices[0].Value != "0" {
		t.Fatalf("%+v", r.Best)
	}
	signs := map[string]capcli.USD{"half the spot losses": -1, "twice the spot losses": 1}
	for _, w := range r.Tornado {
		if sign, is := signs[w.What]; is && w.Difference*sign <= 0 {
			t.Errorf("%s: costs %s more", w.What, w.Difference)
		}
		delete(signs, w.What)
	}
	if len(signs) > 0 {
		t.Errorf("no row for %v in %s", signs, strings.Join(names(r.Tornado), ", "))
	}
}

func names(list []mix.Swing) (out []string) {
	for _, w := range list {
		out = append(out, w.What)
	}
	return out
}

// futureOf returns a job log that is certain to come.
func futureOf(jobs []capcli.Job) mix.Future {
	return mix.Future{Name: "the log", Weight: 1, Jobs: func(context.Context) ([]capcli.Job, error) { return jobs, nil }}
}
