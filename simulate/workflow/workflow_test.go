package workflow

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"capcli"
)

func job(id string, gpus int, run capcli.Seconds, after ...string) capcli.Job {
	j := capcli.Job{ID: id, GPUs: gpus, Run: run, Stage: &capcli.Stage{Name: id}}
	for _, a := range after {
		j.Stage.After = append(j.Stage.After, capcli.After{ID: a})
	}
	return j
}

// TestTimes is the network of six activities by hand: 0 to 3, 3 to 7, and the slack of the short way.
func TestTimes(t *testing.T) {
	jobs := []capcli.Job{job("a", 1, 3), job("b", 1, 4, "a"), job("c", 1, 1, "a"), job("d", 1, 2, "b", "c"), job("e", 1, 1)}
	g, err := NewGraph(jobs)
	if err != nil {
		t.Fatal(err)
	}
	run := func(i int) capcli.Seconds { return jobs[i].Run }
	times := g.Times(run, nil)
	got := fmt.Sprint(times.Span.Hours()*3600, g.Path(run, &times), g.Tails(run))
	for i := range jobs {
		got += fmt.Sprintf(" %d", int64(times.Slack(i)))
	}
	if want := "9 [0 1 3] [9 s 6 s 3 s 2 s 1 s] 0 0 3 0 8"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestFaster crashes the cheapest stage first, then two that are critical side by side.
func TestFaster(t *testing.T) {
	jobs := []capcli.Job{job("a", 1, 7200), job("b", 1, 3600, "a"), job("c", 1, 3600, "a")}
	g, err := NewGraph(jobs)
	if err != nil {
		t.Fatal(err)
	}
	option := func(gpus int, hours, dollars float64) Option {
		return Option{gpus, capcli.Seconds(hours * 3600), capcli.USDOf(dollars)}
	}
	steps := []Step{
		{"a", []int{0}, []Option{option(1, 2, 2), option(2, 1.5, 3), option(4, 1, 8)}},
		{"b", []int{1}, []Option{option(1, 1, 1), option(2, 0.5, 1.5)}},
		{"c", []int{2}, []Option{option(1, 1, 1), option(2, 0.5, 2)}},
	}
	var got string
	for _, c := range g.Faster(func(i int) capcli.Seconds { return jobs[i].Run }, steps) {
		got += fmt.Sprintf("%s%s %d>%d %ds $%s $%s; ", c.Stage, c.Also, c.From, c.To, c.Earlier, c.Extra.Decimal(), c.PerHour.Decimal())
	}
	// Each of b and c alone gains nothing; together half an hour for $1.50, dearer than a at $2 an hour.
	if want := "a 1>2 1800s $1.00 $2.00; bc 1>2 1800s $1.50 $3.00; a 2>4 1800s $5.00 $10.00; "; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestGraham holds the optimum between its bounds and below what a list can miss it by (Graham 1969).
func TestGraham(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var jobs []capcli.Job
		for i := range rapid.IntRange(1, 7).Draw(t, "jobs") {
			var after []string
			for k := range i {
				if rapid.IntRange(0, 3).Draw(t, "edge") == 0 {
					after = append(after, fmt.Sprint(k))
				}
			}
			jobs = append(jobs, job(fmt.Sprint(i), rapid.IntRange(1, 2).Draw(t, "gpus"), capcli.Seconds(rapid.IntRange(0, 9).Draw(t, "run")), after...))
		}
		g, err := NewGraph(jobs)
		if err != nil {
			t.Fatal(err)
		}
		b := g.Bounds(jobs, 3)
		s := &search{g: g, jobs: jobs, gpus: 3000, tails: g.Tails(func(i int) capcli.Seconds { return jobs[i].Run }), best: capcli.MaxSeconds}
		s.list(true)
		if !b.Exact || b.Optimum < max(b.CriticalPath, b.Area) || s.best < b.Optimum {
			t.Fatalf("%+v, by list %d", b, s.best)
		}
	})
}
