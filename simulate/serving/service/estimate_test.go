package service

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/simulate/serving/queueing"
)

// filesOf opens files of texts.
func filesOf(files map[string]string) trace.Opener {
	return func(name string) (trace.Input, io.Closer, error) {
		text, ok := files[name]
		if !ok {
			return trace.Input{}, nil, errors.New("no file " + name)
		}
		r := strings.NewReader(text)
		return trace.Input{Name: name, R: r, At: r, Size: int64(len(text))}, io.NopCloser(nil), nil
	}
}

const estimateSpec = `
time: {c0: 1158352273, lin: [[9608120329, 3809624], [6315328054, 41607562]], seq: 3055159, kv: 86849, pa: 2750}
max_seqs: 64
price: 2.50 USD
`

func estimateOf(t *testing.T, files map[string]string, q EstimateRequest) *Estimate {
	t.Helper()
	q.Spec = "s.yaml"
	r, err := RunEstimate(t.Context(), &q, filesOf(files), func(string) {}, func(int64, int64) {})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// One rate, a file with that rate, and a file with the requests of each step give the same means.
func TestEstimateWays(t *testing.T) {
	files := map[string]string{
		"s.yaml": estimateSpec, "rates.csv": "rate\n6\n6\n", "counts.csv": "step;requests;tokens_in;tokens_out;ready\n0;3600;512;128;2\n1;3600;512;128;2\n",
	}
	point := estimateOf(t, files, EstimateRequest{Rate: 6, In: 512, Out: 128, Replicas: 2})
	rates := estimateOf(t, files, EstimateRequest{Load: "rates.csv", In: 512, Out: 128, Replicas: 2, Step: 600})
	counts := estimateOf(t, files, EstimateRequest{Load: "counts.csv", Step: 600})
	for _, c := range []*queueing.Result{rates.Curve, counts.Curve} {
		if math.Abs(c.E2E/point.E2E-1) > 1e-9 || math.Abs(c.TTFT/point.TTFT-1) > 1e-9 || !c.Holds || math.Abs(c.Requests-7200) > 1e-6 {
			t.Errorf("%+v\npoint %+v", c, point.Means)
		}
	}
	if math.Abs(*point.USDPerHour-5) > 1e-9 || math.Abs(*rates.USDPerHour-5) > 1e-9 || counts.Replicas != 2 || math.Abs(*point.USDPerM / *counts.USDPerM - 1) > 1e-9 {
		t.Errorf("%v, %v dollars an hour; %v, %v a million tokens", *point.USDPerHour, *rates.USDPerHour, *point.USDPerM, *counts.USDPerM)
	}
}

// The fewest replicas that are said have a load at which the approximation holds, and one fewer do not.
func TestEstimateFewest(t *testing.T) {
	files := map[string]string{"s.yaml": estimateSpec}
	for _, rate := range []float64{0.1, 5, 16, 200, 12345} {
		n := estimateOf(t, files, EstimateRequest{Rate: rate, In: 512, Out: 128, Replicas: 1}).Fewest
		if at := estimateOf(t, files, EstimateRequest{Rate: rate, In: 512, Out: 128, Replicas: int(n)}); !at.Holds {
			t.Errorf("%v requests a second: %d replicas: %+v", rate, n, at.Means)
		}
		if n > 1 {
			if at := estimateOf(t, files, EstimateRequest{Rate: rate, In: 512, Out: 128, Replicas: int(n) - 1}); at.Holds {
				t.Errorf("%v requests a second: %d replicas are said to be the fewest, and one fewer do: %+v", rate, n, at.Means)
			}
		}
	}
}

// A scaler of the service staffs the steps: more replicas come after the load has risen.
func TestEstimateScaler(t *testing.T) {
	var load strings.Builder
	load.WriteString("rate\n")
	for i := range 60 {
		load.WriteString(map[bool]string{false: "8\n", true: "60\n"}[i >= 20])
	}
	files := map[string]string{"s.yaml": estimateSpec + "step: 1m\ncold_start: 2m\nscaler: {kind: hpa, target: 800, min: 1, max: 20}\n", "load.csv": load.String()}
	r := estimateOf(t, files, EstimateRequest{Load: "load.csv", In: 512, Out: 128})
	steps := r.Steps()
	if steps[10].Ready > 2 || steps[20].Backlog <= 0 || steps[59].Ready < 4 || r.Curve.StepsOver == 0 || r.Curve.Holds {
		t.Errorf("ready %d, %d; backlog %v; %+v", steps[10].Ready, steps[59].Ready, steps[20].Backlog, r.Curve)
	}
	if fixed := estimateOf(t, files, EstimateRequest{Load: "load.csv", In: 512, Out: 128, Replicas: 5}); fixed.Curve.StepsOver > 0 || fixed.Replicas != 5 {
		t.Errorf("five replicas: %+v", fixed.Curve)
	}
}

func TestEstimateRefuses(t *testing.T) {
	for field, c := range map[string]struct {
		spec, load string
		ask        EstimateRequest
	}{
		"policy":     {estimateSpec + "policy: static\nblocks: 1000\nmax_tokens: 20000\n", "", EstimateRequest{Rate: 1, In: 5, Out: 5}},
		"blocks":     {estimateSpec + "blocks: 4\nmax_len: 64\n", "", EstimateRequest{Rate: 1, In: 500, Out: 500}},
		"tokens_out": {estimateSpec, "rate,tokens_in\n4,5\n", EstimateRequest{}},
		"rate":       {estimateSpec, "rate\n0\n", EstimateRequest{In: 5, Out: 5}},
		"replicas":   {estimateSpec, "", EstimateRequest{Rate: 1, In: 5, Out: 5, Replicas: -1}},
		"requests":   {estimateSpec, "", EstimateRequest{For: 60}},
		"for":        {estimateSpec + "requests: {rate: 1/s, tokens_in: 5, tokens_out: 5}\n", "", EstimateRequest{For: 40 * 365 * capcli.Day}},
	} {
		c.ask.Spec = "s.yaml"
		files := map[string]string{"s.yaml": c.spec}
		if c.load != "" {
			files["load.csv"], c.ask.Load = c.load, "load.csv"
		}
		_, err := RunEstimate(t.Context(), &c.ask, filesOf(files), func(string) {}, func(int64, int64) {})
		var in *capcli.InputError
		var q *capcli.RequestError
		if named := errors.As(err, &in) && in.Field == field || errors.As(err, &q) && q.Field == field; !named {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func FuzzLoadSteps(f *testing.F) {
	for _, s := range []string{"rate\n1\n2\n", "requests;ready\n5;1\n", "rps\ttokens_in\n1\t5\n", "rate\n-1\n", "\ufeffrate,step\n\"1\",0\n", "rate\nNaN\n", ""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		steps, err := readLoadSteps(bytes.NewReader(b), 60)
		if err != nil {
			if steps != nil {
				t.Error("steps beside an error")
			}
			return
		}
		if len(steps) == 0 {
			t.Error("neither steps nor an error")
		}
		for _, s := range steps {
			if !(s.Rate >= 0 && s.Rate <= 1e12) || s.Ready < -1 || !(s.In == 0 || s.In >= 1) || !(s.Out == 0 || s.Out >= 1) {
				t.Errorf("%+v", s)
			}
		}
	})
}

func FuzzAgents(f *testing.F) {
	f.Add([]byte(agentsText))
	f.Add([]byte("name: x\nagents:\n  rate: 1/s\n  " + strings.ReplaceAll(agentsText, "\n", "\n  ")))
	f.Add([]byte("turn_alpha: 0\n"))
	f.Add([]byte("agents: 5"))
	f.Fuzz(func(t *testing.T, b []byte) {
		w, err := parseAgents("f.yaml", b)
		if err != nil {
			return
		}
		if w == nil || w.Params.Check() != nil || w.Tasks < 1 {
			t.Errorf("%+v is accepted", w)
		}
	})
}

const agentsText = `turn_alpha: 1.2
turn_min: 3
turn_max: 60
sub_turn_max: 15
spawn: 0.04
fan_alpha: 1.5
fan_max: 16
max_depth: 2
max_calls: 400
system_tokens: 2000
task_tokens: 500
out_alpha: 1.5
out_min: 80
out_max: 4000
obs_tokens: 600
result_tokens: 400
max_context: 131072
tool_alpha: 1.1
tool_min_ms: 300
tool_max_ms: 120000
`

// The calls of a service's tasks come as its requests, and all are served where replicas suffice.
func TestAgentTraffic(t *testing.T) {
	text := estimateSpec + "agents:\n  workflows: 5\n  tasks: 40\n  " + strings.ReplaceAll(strings.TrimSpace(agentsText), "\n", "\n  ") + "\n"
	s, err := Parse("s.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	src, err := s.Traffic(t.Context(), Opening{Start: capcli.NoTime, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for j := range s.Agents.Tasks {
		want += len(s.Agents.Params.Tree(s.Agents.Seed + uint64(j)))
	}
	got, last := 0, int64(0)
	for r := range src.Requests(src.Length()) {
		if r.Arrival < last || r.Prefix < 1 {
			t.Fatalf("%+v after %d", r, last)
		}
		last = r.Arrival
		got++
	}
	if got != want {
		t.Errorf("%d requests, the trees have %d calls", got, want)
	}
	none, err := Parse("s.yaml", []byte(strings.Replace(text, "time:", "#time:", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := none.Traffic(t.Context(), Opening{Start: capcli.NoTime, Seed: 1}); err == nil {
		t.Error("agents without a time of an iteration are accepted")
	}
}
