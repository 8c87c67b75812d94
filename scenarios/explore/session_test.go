package explore_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/scenarios/explore"
	"capcli/scenarios/play"
	"capcli/scenarios/whatif"
)

// logs opens texts by name.
func logs(texts map[string]string) *play.Logs {
	return &play.Logs{Open: func(name string) (trace.Input, io.Closer, error) {
		text, ok := texts[name]
		if !ok {
			return trace.Input{}, nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return trace.Input{Name: name, R: strings.NewReader(text)}, io.NopCloser(nil), nil
	}}
}

// jobsCSV returns a log of n jobs, not in order of submission.
func jobsCSV(n int) string {
	var b strings.Builder
	b.WriteString("job_id,tenant,submit,run_s,gpus\n")
	r := capcli.Seed(3).Stream("jobs")
	for i := range n {
		fmt.Fprintf(&b, "%d,%s,%s,%d,%d\n", i, []string{"a", "b"}[r.IntN(2)], capcli.Time(1_800_000_000+r.IntN(20*n)).String(), 1+r.IntN(4000), 1+r.IntN(8))
	}
	return b.String()
}

// TestSessionEqualsSimulate asks about a log that is not in order: each answer is that of a case of
// its own, to the last digit, and the log is opened once.
func TestSessionEqualsSimulate(t *testing.T) {
	texts := map[string]string{"plan.yaml": "capcli: scenario/v1\nname: plan\ncapacity:\n  - {name: base, kind: owned, gpus: 24, price: 2}\n  - {name: extra, kind: on_demand, max_gpus: 8, price: 4}\noverflow: {patience: 10m}\n", "jobs.csv": jobsCSV(400)}
	q := play.Question{Scenario: "plan.yaml", Trace: "jobs.csv"}
	opened := 0
	counted := logs(texts)
	open := counted.Open
	counted.Open = func(name string) (trace.Input, io.Closer, error) {
		if name == "jobs.csv" {
			opened++
		}
		return open(name)
	}
	s, err := explore.Open(t.Context(), &play.Maker{Logs: counted}, q)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []whatif.Request{
		{},
		{Changes: []whatif.Change{{Path: "capacity.base.gpus", Value: "16"}}},
		{Changes: []whatif.Change{{Path: "policy", Value: "sjf"}, {Path: "capacity.extra.max_gpus", Value: "0"}}},
		{Changes: []whatif.Change{{Path: "overflow.patience", Value: "never"}, {Path: "seed", Value: "5"}}},
	} {
		got, err := s.Ask(t.Context(), r, 0)
		if err != nil {
			t.Fatal(err)
		}
		one := q
		r.Apply(&one)
		c, err := (&play.Maker{Logs: logs(texts)}).Case(t.Context(), &one)
		if err != nil {
			t.Fatal(err)
		}
		runs, err := c.Play(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		got.Document.Runs[0].Timeline = nil
		a, _ := json.Marshal(got.Document.Runs[0])
		b, _ := json.Marshal(runs[0].Outcome)
		if !bytes.Equal(a, b) {
			t.Errorf("%s:\n got %s\nwant %s", got.Command, a, b)
		}
	}
	if opened != 1 {
		t.Errorf("the log was opened %d times", opened)
	}
}

// TestSessionThins thins a log once, says so, and thins none where all fit.
func TestSessionThins(t *testing.T) {
	texts := map[string]string{"jobs.csv": jobsCSV(2000)}
	s, err := explore.Open(t.Context(), &play.Maker{Logs: logs(texts)}, play.Question{Trace: "jobs.csv", Read: trace.Request{TZ: "UTC"}})
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.Ask(t.Context(), whatif.Request{}, 5000)
	if err != nil || all.Thinned != nil {
		t.Fatalf("%v, %v", all, err)
	}
	few, err := s.Ask(t.Context(), whatif.Request{}, 200)
	if err != nil {
		t.Fatal(err)
	}
	if n := few.Document.Runs[0].Jobs.Read; few.Thinned == nil || n < 150 || n > 250 || !strings.Contains(few.Document.Notes[0], "thinned") {
		t.Errorf("%d jobs, %+v, %q", n, few.Thinned, few.Document.Notes)
	}
	before, after := all.Document.Runs[0].Loads[0].Work, few.Document.Runs[0].Loads[0].Work
	if diff := float64(before-after) / float64(before); diff > 0.02 || diff < -0.02 {
		t.Errorf("the load changes by %v", diff)
	}
	if want := "capcli simulate --trace jobs.csv --read tz=UTC"; s.Command(whatif.Request{}) != want {
		t.Errorf("command %q, want %q", s.Command(whatif.Request{}), want)
	}
}

// TestMove moves knobs by steps.
func TestMove(t *testing.T) {
	gpus := whatif.Knob{Kind: whatif.Number, Max: 100, Step: 8}
	price := whatif.Knob{Kind: whatif.Number, Min: 0.01, Max: 5, Step: 0.01}
	wait := whatif.Knob{Path: "overflow.patience", Kind: whatif.Choice, Choices: []string{"0s", "5m", "never"}}
	for _, c := range []struct {
		knob whatif.Knob
		from string
		n    int
		want string
	}{
		{gpus, "16", 1, "24"},
		{gpus, "16", -1, "8"},
		{gpus, "20", 1, "24"},
		{gpus, "20", -1, "16"},
		{gpus, "96", 10, "100"},
		{gpus, "8", -10, "0"},
		{gpus, "120", 1, "120"},
		{gpus, "", -1, "100"},
		{gpus, "", 1, ""},
		{price, "2.314207", 1, "2.32"},
		{price, "2.314207", -1, "2.31"},
		{price, "2.3", -1, "2.29"},
		{price, "0.02", -10, "0.01"},
		{wait, "5m", 1, "never"},
		{wait, "never", 1, "never"},
		{wait, "5m", -9, "0s"},
	} {
		if got := c.knob.Move(c.from, c.n); got != c.want {
			t.Errorf("%q moved by %d is %q, want %q", c.from, c.n, got, c.want)
		}
	}
	for _, text := range []string{"", "x", "-1", "NaN", "1e99", "2}"} {
		if got, err := gpus.Accept(text); err == nil {
			t.Errorf("%q is taken as %q", text, got)
		}
	}
}
