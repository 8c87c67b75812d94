package live_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/scenarios"
	"capcli/scenarios/live"
	"capcli/scenarios/money/prices"
	"capcli/scenarios/play"
	"capcli/testdata/golden"
)

const ownPrices = "provider,region,machine,gpu,gpus,term,payment,usd_per_hour,usd_per_gpu_hour,date,source\nacme,x,m,A100,1,1y,,1.75,1.75,2026-01-01,a letter\n"

// texts opens texts by their names.
func texts(all map[string]string) trace.Opener {
	return func(name string) (trace.Input, io.Closer, error) {
		text, ok := all[name]
		if !ok {
			return trace.Input{}, nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		r := strings.NewReader(text)
		return trace.Input{Name: name, R: r, At: r, Size: r.Size()}, io.NopCloser(nil), nil
	}
}

// differ returns where two texts begin to differ.
func differ(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	from := max(0, i-80)
	return fmt.Sprintf("the case has\n…%.300s\nits world\n…%.300s", a[from:], b[from:])
}

// outcomes plays a case once and returns its outcome as JSON.
func outcomes(t *testing.T, c *play.Case) string {
	t.Helper()
	runs, err := c.Play(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(play.Document([][]*play.Run{runs}))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// carried returns the outcome of the case of q, and the one of its world after a trip through JSON.
func carried(t *testing.T, open trace.Opener, q *play.Question, most int) (w *live.World, here, there string) {
	t.Helper()
	maker := &play.Maker{Logs: &play.Logs{Open: open}}
	c, err := maker.Case(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if w, err = live.NewWorld(t.Context(), c, q, most); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	var back live.World
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	maker, again, err := back.Maker()
	if err != nil {
		t.Fatal(err)
	}
	other, err := maker.Case(t.Context(), again)
	if err != nil {
		t.Fatal(err)
	}
	return w, outcomes(t, c), outcomes(t, other)
}

// A world plays as its case does, to the digit: every scenario of the library, logs with zones, out
// of order, with files and with prices of their own.
func TestWorldPlaysAsItsCase(t *testing.T) {
	var log strings.Builder
	log.WriteString("job_id,tenant,gpus,submit,start,end,state\n")
	for i := range 400 {
		fmt.Fprintf(&log, "%d,t%d,%d,2027-01-%02dT%02d:00:00,2027-01-%02dT%02d:30:00,2027-01-%02dT23:30:00,COMPLETED\n", 400-i, i%3, 1+i%4, 1+(i*7)%28, i%20, 1+(i*7)%28, i%20, 1+(i*7)%28)
	}
	open := texts(map[string]string{
		"jobs.csv":         log.String(),
		"plans/plan.yaml":  "capcli: scenario/v1\njobs: {from: ../jobs.csv, tz: Europe/Berlin}\nprices: own.csv\ncapacity: [{name: base, kind: reserved, gpus: 8, price: {key: acme/x/m/1y}}]\n",
		"plans/own.csv":    ownPrices,
		"plans/nodes.yaml": "capcli: scenario/v1\njobs: {from: ../jobs.csv, tz: UTC}\ncapacity: [{name: base, kind: owned, nodes_file: nodes.csv, price: 1}]\n",
		"plans/nodes.csv":  "sn,cpu_milli,memory_mib,gpu,model\nn1,64000,262144,2,P100\nn2,96000,786432,8,V100\n",
	})
	seed := capcli.Seed(7)
	tests := map[string]*play.Question{
		"log":   {Scenario: "default", Trace: "jobs.csv", Read: trace.Request{TZ: "Europe/Berlin"}, Period: "trace", Policy: "easy", Seed: &seed},
		"fit":   {Trace: "jobs.csv", Read: trace.Request{TZ: "UTC"}},
		"plan":  {Scenario: "plans/plan.yaml"},
		"nodes": {Scenario: "plans/nodes.yaml"},
	}
	for i, name := range scenarios.Names() {
		if i%4 != 0 && !golden.Full() {
			continue
		}
		tests["library "+name] = &play.Question{Scenario: name}
	}
	for name, q := range tests {
		t.Run(name, func(t *testing.T) {
			w, here, there := carried(t, open, q, live.MaxJobs)
			if w.Thinned != nil {
				t.Skipf("thinned: %s", w.Thinned.Note())
			}
			if here != there {
				t.Error(differ(here, there))
			}
		})
	}
	t.Run("own prices", func(t *testing.T) {
		list, err := prices.Parse("prices.csv", []byte(ownPrices))
		if err != nil {
			t.Fatal(err)
		}
		_, here, there := carried(t, open, &play.Question{Scenario: "default", Prices: list, Sets: []string{"capacity[0].price={key: acme/x/m/1y}"}}, live.MaxJobs)
		if here != there {
			t.Error(differ(here, there))
		}
	})
}

func TestThinnedWorld(t *testing.T) {
	w, here, there := carried(t, nil, &play.Question{Scenario: "default"}, 100)
	if w.Thinned == nil || w.Count > 105 || len(w.Jobs) == 0 || here == there {
		t.Errorf("world %+v", w.Thinned)
	}
	if got := w.Thinned.Note(); !strings.Contains(got, "jobs below") {
		t.Error(got)
	}
}

// Where the jobs are those of one run of a generator, a change of the generator is refused.
func TestWorldKeepsItsJobs(t *testing.T) {
	w, _, _ := carried(t, nil, &play.Question{Scenario: "default"}, live.MaxJobs)
	e, err := w.Engine()
	if err != nil {
		t.Fatal(err)
	}
	seed := capcli.Seed(7)
	for _, r := range []live.SimulateRequest{
		{Seed: &seed}, {Runs: 2}, {Sets: []string{"jobs.generate.classes[0].mean_gpus=3"}}, {Sets: []string{"period=2027-03-01 to 2027-03-07"}}, {Sets: []string{"seed=3"}},
	} {
		if _, err := e.Simulate(t.Context(), r); err == nil || live.FailureOf(err).Error.Exit != 2 {
			t.Errorf("%+v: %v, want a refusal", r, err)
		}
	}
	if _, err := e.Simulate(t.Context(), live.SimulateRequest{Sets: []string{"capacity.base.gpus=3", "jobs.any_model=true"}}); err != nil {
		t.Error(err)
	}
}
