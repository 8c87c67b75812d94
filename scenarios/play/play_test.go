package play_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/scenarios"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
	"capcli/simulate"
)

const small = `capcli: scenario/v1
name: small
period: 2027-01-01 to 2027-01-03
jobs: {generate: {classes: [{name: a, jobs_per_day: 40, sizes: [{gpus: 1, weight: 1}, {gpus: 4, weight: 1}], run_median: 1h, tenants: [{name: ann}, {name: bob}]}]}}
capacity: [{name: base, kind: owned, gpus: 4, price: 1}, {name: more, kind: on_demand, gpus: 8, price: 3}]
overflow: {patience: 30m}
limits: {wait_p95: 30m}
`

const jobLog = `job_id,tenant,gpus,submit,start,end
1,ann,2,2027-01-01T00:00:00Z,2027-01-01T00:10:00Z,2027-01-01T01:10:00Z
2,bob,2,2027-01-01T00:30:00Z,2027-01-01T00:30:00Z,2027-01-01T02:30:00Z
`

// files opens texts by their names.
func files(all map[string]string) trace.Opener {
	return func(name string) (trace.Input, io.Closer, error) {
		text, ok := all[name]
		if !ok {
			return trace.Input{}, nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		r := strings.NewReader(text)
		return trace.Input{Name: name, R: r, At: r, Size: r.Size()}, io.NopCloser(nil), nil
	}
}

func newCase(t *testing.T, text string) *play.Case {
	t.Helper()
	s, err := scenarios.Parse("small.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c, err := play.NewCase(s, play.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Every metric is known of a run with jobs and prices, and what the document has under
// its column is its figure.
func TestMetricsAreThoseOfTheDocument(t *testing.T) {
	runs, err := newCase(t, small).Play(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(&runs[0].Outcome)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]any{}
	var doc any
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"", "cost", "capacity", "jobs", "queue"} { // where the document has its metrics
		object := doc.(map[string]any)
		if part != "" {
			object = object[part].(map[string]any)
		}
		for k, v := range object {
			if _, is := keys[k]; !is {
				keys[k] = v
			}
		}
	}
	seen, same := map[string]bool{}, 0
	for _, m := range append(append([]*outcome.Metric{}, outcome.Metrics...), outcome.Derived...) {
		if seen[m.Name] || outcome.MetricNamed(m.Name) != m {
			t.Errorf("%s is there twice", m.Name)
		}
		seen[m.Name] = true
		f, known := runs[0].Figure(m.Name)
		if m.OfServices() && !known {
			continue
		}
		if slices.Contains([]string{"nodes_ordered", "bought_node_hours", "bought_utilisation", "orders_refused", "slowdown_gpu_hours", "contention_gpu_hours", "rounding_usd", "domain_stranded_gpus_mean", "stranded_slices_gpu_hours"}, m.Name) {
			if known { // no nodes are bought there, and there are no domains, no divided GPUs, no billed machines and nothing that is shared
				t.Errorf("%s is %v, but nothing of the kind is there", m.Name, f)
			}
			continue
		}
		if !known || m.Doc == "" || m.Text(f.Value) == "" {
			t.Errorf("%s: %v, known %v, %q", m.Name, f, known, m.Doc)
		}
		var found float64
		switch v := keys[m.Column()].(type) {
		case json.Number:
			found, _ = v.Float64()
		case string:
			u, err := capcli.ParseUSD(v)
			if err != nil {
				continue
			}
			found = u.Float()
		default:
			continue
		}
		if same++; math.Abs(found-f.Value) > 1e-6 {
			t.Errorf("%s is %v, and the document says %v", m.Name, f.Value, found)
		}
	}
	if same < 20 {
		t.Errorf("the document has %d of the metrics, want 20 or more", same)
	}
}

// Runs are in order, and the same each time; a context that is over ends them with its
// cause.
func TestPlayIsTheSameEachTime(t *testing.T) {
	var before []byte
	for range 2 {
		all, err := play.Play(context.Background(), []*play.Case{newCase(t, small), newCase(t, small)}, play.Request{Runs: 4})
		if err != nil {
			t.Fatal(err)
		}
		d := outcome.NewDocument()
		for _, runs := range all {
			for i, r := range runs {
				if r.Run != i {
					t.Fatalf("run %d is in place %d", r.Run, i)
				}
				d.Runs = append(d.Runs, r.Outcome)
			}
		}
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if before != nil && !bytes.Equal(before, text) {
			t.Error("played again, the document is another")
		}
		before = text
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	cancel(why)
	if _, err := newCase(t, small).Play(ctx, 3); !errors.Is(err, why) {
		t.Errorf("after the end of the context: %v", err)
	}
}

func TestMaker(t *testing.T) {
	maker := &play.Maker{Logs: &play.Logs{Open: files(map[string]string{"small.yaml": small, "jobs.csv": jobLog})}}
	for _, x := range []struct {
		name string
		q    play.Question
		want string // of the case, or of the error
	}{
		{"a file", play.Question{Scenario: "small.yaml", Policy: "easy"}, "small (easy, count)"},
		{"the default", play.Question{}, "default (easy, count)"},
		{"a change", play.Question{Scenario: "small.yaml", Sets: []string{"name=other"}}, "other (fifo, count)"},
		{"a log alone", play.Question{Trace: "jobs.csv"}, "trace (fifo, count)"},
		{"a kept text", play.Question{Scenario: "gone.yaml", Kept: &play.ScenarioText{YAML: []byte(small), File: "gone.yaml"}}, "small (fifo, count)"},
		{"no such scenario", play.Question{Scenario: "smal"}, `unknown scenario "smal"`},
		{"no such file", play.Question{Scenario: "smal.yaml"}, "file does not exist"},
		{"a log for a scenario", play.Question{Scenario: "jobs.csv"}, "expected a scenario, found a job log (csv)"},
		{"other models", play.Question{Models: "all"}, "models wants any, found all"},
		{"no period", play.Question{Period: "May"}, "period: "},
		{"days of no log", play.Question{Period: "trace"}, "period trace takes the days of the log"},
	} {
		c, err := maker.Case(context.Background(), &x.q)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = c.Label()
		}
		if !strings.Contains(got, x.want) {
			t.Errorf("%s: %s, want %s", x.name, got, x.want)
		}
	}
	q := play.Question{Scenario: "small.yaml", Trace: "jobs.csv", Period: "trace", Models: "any"}
	if _, err := maker.Case(context.Background(), &q); err != nil || strings.Join(q.Sets, " ") != "jobs.any_model=true period=2027-01-01 to 2027-01-01 jobs.generate=null" {
		t.Errorf("settled to %q, %v", q.Sets, err)
	}
}

// What became of each job is written in order of submission, whatever order jobs end in.
func TestJobRows(t *testing.T) {
	maker := &play.Maker{Logs: &play.Logs{Open: files(map[string]string{"small.yaml": small, "jobs.csv": jobLog})}}
	c, err := maker.Case(context.Background(), &play.Question{Scenario: "small.yaml", Trace: "jobs.csv"})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	rows := play.NewJobRows(&b, c, strings.ToUpper)
	c.Prepare = func(_ int, cfg *simulate.Config) error {
		cfg.Observers = append(cfg.Observers, rows)
		return nil
	}
	if _, err := c.Play(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	want := "job_id,tenant,gpus,submit_s,start_s,end_s,wait_s,preemptions,nodes,tier,cost_usd\n" +
		"1,ANN,2,0,0,3600,0,0,base/0,committed,2.00\n" +
		"2,BOB,2,1800,1800,9000,0,0,base/0,committed,4.00\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestFindInputs(t *testing.T) {
	open := files(map[string]string{"runs/a/same.csv": "1", "runs/a/other.csv": "2", "far.csv": "3"})
	in := play.Inputs{Files: []play.FileInput{
		{File: "was/same.csv", Here: "same.csv", SHA256: play.Checksum([]byte("1"))},
		{File: "was/other.csv", Here: "other.csv", SHA256: play.Checksum([]byte("1"))},
		{File: "far.csv", Here: "../far.csv", SHA256: play.Checksum([]byte("3"))},
		{File: "gone.csv", Here: "gone.csv"},
	}}
	for _, x := range []struct{ name, want string }{
		{"was/same.csv", "runs/a/same.csv"},
		{"far.csv", "far.csv"},
		{"unknown.csv", "unknown.csv"},
		{"was/other.csv", "the file has changed since runs/a was made"},
		{"gone.csv", "which is not there any more"},
	} {
		got, err := in.Find(open, "runs/a", x.name)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, x.want) {
			t.Errorf("%s: %s, want %s", x.name, got, x.want)
		}
	}
	if _, err := in.Find(open, "runs/a", "gone.csv"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is gone: %v", err)
	}
}
