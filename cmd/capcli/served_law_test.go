package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"capcli/cmd/shell"
	"capcli/scenarios/decide/explain"
	"capcli/scenarios/outcome"
	"capcli/testdata/golden"
	"capcli/testdata/shelltest"
)

// drawnMix is a scenario of two days with pools of drawn kinds, sizes, models and
// partitions.
func drawnMix(rt *rapid.T, name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "capcli: scenario/v1\nname: %s\nperiod: 2027-01-01 to 2027-01-02\ncapacity:\n", name)
	for i := range rapid.IntRange(1, 3).Draw(rt, "pools") {
		kind := rapid.SampledFrom([]string{"owned", "reserved", "on_demand", "spot"}).Draw(rt, "kind")
		gpus, field := rapid.IntRange(1, 24).Draw(rt, "gpus"), "max_gpus"
		if kind == "owned" || kind == "reserved" {
			field = "gpus"
		}
		fmt.Fprintf(&b, "  - {name: p%d, kind: %s, %s: %d, price: %d", i, kind, field, gpus, rapid.IntRange(1, 5).Draw(rt, "price"))
		if model := rapid.SampledFrom([]string{"", "", "A", "B"}).Draw(rt, "model"); model != "" {
			fmt.Fprintf(&b, ", gpu_model: %s", model)
		}
		if rapid.IntRange(0, 3).Draw(rt, "partitioned") == 0 {
			b.WriteString(", partition: x")
		}
		if kind == "spot" && rapid.Bool().Draw(rt, "taken away") {
			b.WriteString(", hazard: {mean_up: 5h, mean_down: 2h}")
		}
		b.WriteString("}\n")
	}
	fmt.Fprintf(&b, "policy: %s\noverflow: {patience: %s}\n", rapid.SampledFrom([]string{"fifo", "easy", "sjf", "srtf", "las"}).Draw(rt, "policy"), rapid.SampledFrom([]string{"0s", "1h", "never"}).Draw(rt, "patience"))
	return b.String()
}

func drawnLog(rt *rapid.T) string {
	var b strings.Builder
	b.WriteString("job_id,gpus,submit,run_s,partition,gpu_model\n")
	at := 0
	for i := range rapid.IntRange(2, 30).Draw(rt, "jobs") {
		at += rapid.SampledFrom([]int{0, 60, 3600, 7200}).Draw(rt, "gap")
		if at >= 2*86400 {
			break
		}
		fmt.Fprintf(&b, "j%d,%d,2027-01-0%dT%02d:%02d:00Z,%d,%s,%s\n", i, rapid.IntRange(1, 16).Draw(rt, "gpus"), 1+at/86400, at%86400/3600, at%3600/60,
			rapid.SampledFrom([]int{10, 3600, 20_000, 100_000}).Draw(rt, "run"), rapid.SampledFrom([]string{"", "", "x"}).Draw(rt, "partition"), rapid.SampledFrom([]string{"", "", "A", "B"}).Draw(rt, "model"))
	}
	return b.String()
}

// lawWorld is a folder with two mixes and the log that both are to serve.
type lawWorld struct {
	t    *testing.T
	rt   *rapid.T
	dir  string
	runs [2]outcome.Outcome
}

func (w *lawWorld) path(name string) string { return filepath.Join(w.dir, name) }

// do runs the program; false where the log has no job for some mix.
func (w *lawWorld) runCommand(args ...string) (string, bool) {
	e, stdout, stderr := shelltest.NewEnv()
	switch code := run(w.t.Context(), e, args); code {
	case 0, shell.ExitPartial:
		return stdout.String(), true
	case shell.ExitInput:
		return "", false
	default:
		w.rt.Fatalf("%v: exit %d: %s", args, code, stderr)
	}
	return "", false
}

// sentence is the first line of a report.
func sentence(text string) string { line, _, _ := strings.Cut(text, "\n"); return line }

// Of two mixes on the same jobs the one that leaves more of the work undone is
// never called the cheaper, the better or the one with the least waiting unless the
// same sentence says so.
func TestWorkNotDoneIsNeverASaving(t *testing.T) {
	golden.SkipLong(t)
	told, worse := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		w := &lawWorld{t: t, rt: rt, dir: t.TempDir()}
		for _, file := range []struct{ name, text string }{
			{"a.yaml", drawnMix(rt, "a")}, {"b.yaml", drawnMix(rt, "b")}, {"jobs.csv", drawnLog(rt)},
		} {
			if err := os.WriteFile(w.path(file.name), []byte(file.text), 0o600); err != nil {
				rt.Fatal(err)
			}
		}
		text, ok := w.runCommand("simulate", w.path("a.yaml"), w.path("b.yaml"), "--trace", w.path("jobs.csv"), "-q", "-o", "json")
		if !ok {
			return
		}
		var data outcome.Document
		if err := json.Unmarshal([]byte(text), &data); err != nil {
			rt.Fatal(err)
		}
		w.runs = [2]outcome.Outcome(data.Runs)
		w.headline(&told)
		w.compared()
		w.explained(&worse)
	})
	if told == 0 || worse == 0 {
		t.Errorf("%d headlines and %d changes had less of the work done, too few to say anything", told, worse)
	}
}

// doesLess tells whether one run does less than the other.
func doesLess(a, b *outcome.Outcome) bool { return a.UnservedShare > b.UnservedShare+1e-9 }

// headline checks what simulate says of the two.
func (w *lawWorld) headline(told *int) {
	text, _ := w.runCommand("simulate", w.path("a.yaml"), w.path("b.yaml"), "--trace", w.path("jobs.csv"), "-q", "-o", "md")
	lead := sentence(text)
	cheap, quick, both := strings.Cut(lead, "; least waiting: ")
	if !both {
		w.rt.Fatalf("the headline is %q", lead)
	}
	for i := range w.runs {
		own, other := &w.runs[i], &w.runs[1-i]
		name := own.Scenario + " ("
		for _, part := range []string{strings.TrimPrefix(cheap, "Cheapest of 2 plans: "), quick} {
			if strings.HasPrefix(part, name) && doesLess(own, other) {
				if *told++; !strings.Contains(part, "undone") {
					w.rt.Fatalf("%s leaves %g of the work undone and the other %g, but it says: %s", own.Scenario, own.UnservedShare, other.UnservedShare, lead)
				}
			}
		}
	}
}

// compared checks what compare says of them.
func (w *lawWorld) compared() {
	for _, name := range []string{"a", "b"} {
		if _, ok := w.runCommand("simulate", w.path(name+".yaml"), "--trace", w.path("jobs.csv"), "-q", "-o", "json", "--out", w.path(name+".json")); !ok {
			return
		}
	}
	text, _ := w.runCommand("compare", w.path("a.json"), w.path("b.json"), "-q", "-o", "md")
	lead := sentence(text)
	if (doesLess(&w.runs[0], &w.runs[1]) || doesLess(&w.runs[1], &w.runs[0])) && !strings.Contains(lead, "undone") {
		w.rt.Fatalf("undone: %g and %g of the work, but it says: %s", w.runs[0].UnservedShare, w.runs[1].UnservedShare, lead)
	}
}

// explained checks that no single change is better that does less of the work.
func (w *lawWorld) explained(worse *int) {
	metric := rapid.SampledFrom([]string{"cost", "wait_p95", "wait_mean", "queue_mean", "stranded_usd"}).Draw(w.rt, "metric")
	text, ok := w.runCommand("explain", w.path("a.yaml"), metric, "--trace", w.path("jobs.csv"), "-q", "-o", "json")
	if !ok {
		return
	}
	var x explain.Result
	if err := json.Unmarshal([]byte(text), &x); err != nil {
		w.rt.Fatal(err)
	}
	md, _ := w.runCommand("explain", w.path("a.yaml"), metric, "--trace", w.path("jobs.csv"), "-q", "-o", "md")
	lead := sentence(md)
	for i := range x.Changes {
		c := &x.Changes[i]
		if c.ServesLess {
			*worse++
		}
		if c.ServesLess && c.Better != nil && *c.Better {
			w.rt.Fatalf("%s is called better, with %g of the work undone for %g", c.Text, c.Undone, c.UndoneWas)
		}
		if i > 0 && x.Changes[i-1].ServesLess && !c.ServesLess {
			w.rt.Fatalf("%s does less of the work and comes before %s", x.Changes[i-1].Text, c.Text)
		}
		if i == 0 && c.Undone > c.UndoneWas+1e-9 && strings.Contains(lead, "most is done by: ") && !strings.Contains(lead, "left undone, ") {
			w.rt.Fatalf("%s leaves %g of the work undone, %g before, but it says: %s", c.Text, c.Undone, c.UndoneWas, lead)
		}
	}
}
