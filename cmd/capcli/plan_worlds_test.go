package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"capcli"
	"capcli/cmd/shell"
	"capcli/scenarios/decide/plan/mix"
	"capcli/testdata/golden"
	"capcli/testdata/shelltest"
)

// drawnWorld is a scenario with its job log, as a user could have written them.
type drawnWorld struct {
	seed           uint64
	scenario, jobs string
	runs           int
	limits         []string // flags
	pools          int
}

// drawWorld draws a scenario: with a period or without, one to three committed
// pools, partitions, models, on-demand with a maximum or none, spot that is lost,
// patience from none to for ever.
func drawWorld(seed uint64) *drawnWorld {
	rng := capcli.Seed(seed).Stream("worlds")
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	w := &drawnWorld{seed: seed, runs: 1}
	days := 1 + rng.IntN(4)
	parts := []string{""}
	if rng.IntN(3) == 0 {
		parts = []string{"a", "b"}
	}
	models := []string{""}
	if rng.IntN(4) == 0 {
		models = []string{"H100", "A100"}
	}
	var b strings.Builder
	b.WriteString("capcli: scenario/v1\nname: drawn\nseed: " + fmt.Sprint(seed) + "\n")
	if rng.IntN(4) > 0 {
		fmt.Fprintf(&b, "period: 2027-03-01 to 2027-03-0%d\n", days)
	}
	b.WriteString("jobs: {from: jobs.csv}\ncapacity:\n")
	w.jobs = drawJobs(rng, days, parts, models)
	pools := max(len(parts), len(models))
	if pools == 1 {
		pools += rng.IntN(2)
	}
	w.pools = pools
	field := func(k int) string {
		text := ""
		if len(parts) > 1 {
			text += ", partition: " + parts[k%len(parts)]
		}
		if len(models) > 1 {
			text += ", gpu_model: " + models[k%len(models)]
		}
		return text
	}
	for k := range pools {
		fmt.Fprintf(&b, "  - {name: base%d, kind: %s, gpus: %d, price: %.2f%s}\n", k, pick("owned", "reserved"), 1+rng.IntN(16), 0.8+float64(rng.IntN(20))/10, field(k))
	}
	for k := range max(len(parts), len(models)) {
		if rng.IntN(4) > 0 {
			fmt.Fprintf(&b, "  - {name: od%d, kind: on_demand, price: %.2f%s%s%s}\n", k, 2.5+float64(rng.IntN(30))/10, pick("", "", ", max_gpus: 4", ", max_gpus: 16"), pick("", ", lead_time: 5m"), field(k))
		}
	}
	if rng.IntN(3) == 0 {
		fmt.Fprintf(&b, "  - {name: spot, kind: spot, nodes: %d, gpus_per_node: 4, price: 0.9, hazard: {mean_up: %s, mean_down: 1h}%s}\n", 1+rng.IntN(3), pick("6h", "1d", "4d"), field(0))
		w.runs = 3
	}
	fmt.Fprintf(&b, "policy: %s\noverflow: {patience: %s}\n", pick("fifo", "easy", "sjf", "las"), pick("0", "15m", "1h", "4h", "never"))
	w.scenario = b.String()
	if rng.IntN(2) == 0 {
		w.limits = append(w.limits, "--max", "wait_p95="+pick("10m", "1h", "6h"))
	}
	return w
}

func drawJobs(rng *rand.Rand, days int, parts, models []string) string {
	var b strings.Builder
	b.WriteString("job_id,submit,run_s,gpus,partition,gpu_model\n")
	start := capcli.Time(1_803_859_200) // 2027-03-01
	n := 40 + rng.IntN(160)
	at := 0.0
	gap := float64(days) * 86400 / float64(n)
	median := 1200 * float64(1+rng.IntN(6))
	for i := range n {
		at += rng.ExpFloat64() * gap * 0.9
		run := 1 + int(median*rng.ExpFloat64())
		k := rng.IntN(2)
		fmt.Fprintf(&b, "j%d,%s,%d,%d,%s,%s\n", i, start+capcli.Time(at), run, 1<<rng.IntN(4), parts[k%len(parts)], models[k%len(models)])
	}
	return b.String()
}

// planOf runs capcli plan on the world in dir and gives the plan, its first line and
// the exit code.
func (w *drawnWorld) planOf(t *testing.T, more ...string) (*mix.Result, string, int) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"w.yaml": w.scenario, "jobs.csv": w.jobs} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	saved := filepath.Join(dir, "plan.json")
	args := append([]string{"plan", filepath.Join(dir, "w.yaml"), "-o", "table", "--search", "wait-cost=0", "--save", saved, "--runs", fmt.Sprint(w.runs)}, w.limits...)
	e, stdout, stderr := shelltest.NewEnv()
	e.Quiet = true
	code := run(context.Background(), e, append(args, more...))
	if code != shell.ExitDone && code != shell.ExitNoPlan {
		t.Fatalf("world %d: exit %d: %s\n%s", w.seed, code, stderr, w.scenario)
	}
	b, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	var p mix.Result
	if err := json.Unmarshal(b, &p); err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(stdout.String(), "\n")
	return &p, line, code
}

// TestPlansDoTheWork holds over drawn worlds what may be recommended: under the
// limit that each plan has, no run of the best mix leaves more undone than that, and
// none of the mixes ranked does; where the limit is taken away, or undone work has a
// price, a best mix that leaves more undone than another says so in its sentence, and
// pays for it.
func TestPlansDoTheWork(t *testing.T) {
	golden.SkipLong(t)
	worlds := 12
	if golden.Short() {
		worlds = 5
	}
	found, none, undone, paid := 0, 0, 0, 0
	for seed := range uint64(worlds) {
		w := drawWorld(seed)
		for k := range w.pools { // few sizes, from none
			w.limits = append(w.limits, "--vary", fmt.Sprintf("capacity.base%d.gpus=0..%d:%d", k, 16, 4*w.pools))
		}
		w.limits = append(w.limits, "--vary", "overflow.patience=0,1h")
		p, line, code := w.planOf(t)
		if code == shell.ExitNoPlan {
			none++
		} else {
			found++
			for _, m := range append(append([]*mix.Mix{p.Best}, p.Plans...), p.Frontier...) {
				if top := m.UnservedIn[1]; top > 0.005 {
					t.Errorf("world %d: mix %d is ranked and leaves %v undone in a run\n%s", seed, m.Mix, top, w.scenario)
				}
			}
			for _, o := range p.BestRuns {
				if o.UnservedShare() > 0.005 {
					t.Errorf("world %d: run %d of the best leaves %v undone", seed, o.Run, o.UnservedShare())
				}
			}
			w.saysWhatIsUndone(t, p, line)
		}
		loose, line, code := w.planOf(t, "--max", "unserved_share=100%", "--all")
		if code == shell.ExitDone {
			w.saysWhatIsUndone(t, loose, line)
			if *loose.Best.Unserved > 0 {
				undone++
			}
			if p.Best != nil && *loose.Best.Cost > *p.Best.Cost {
				t.Errorf("world %d: without the limit the best costs %s, with it %s", seed, loose.Best.Cost, p.Best.Cost)
			}
		}
		priced, line, code := w.planOf(t, "--price-unserved", "--all")
		if code != shell.ExitDone {
			continue
		}
		w.saysWhatIsUndone(t, priced, line)
		if priced.Best.Penalty != nil {
			paid++
		}
		if priced.Bound.Cost > *priced.Best.Cost {
			t.Errorf("world %d: the bound %s is above the plan %s", seed, priced.Bound.Cost, priced.Best.Cost)
		}
		for _, m := range priced.All {
			if m.Unserved != nil && *m.Unserved == 0 && m.Held != nil && *m.Held >= priced.Hold && m.Fate == "full" && *m.Cost < *priced.Best.Cost {
				t.Errorf("world %d: mix %d does all work for %s, the best costs %s", seed, m.Mix, m.Cost, priced.Best.Cost)
			}
			if priced.Bound.Over == "every_mix" && m.Cost != nil && m.Fate == "full" && *m.Cost < priced.Bound.Cost {
				t.Errorf("world %d: mix %d costs %s, under the bound over every mix %s", seed, m.Mix, m.Cost, priced.Bound.Cost)
			}
		}
	}
	t.Logf("%d worlds with a plan, %d without; %d leave work undone without the limit, %d pay for some", found, none, undone, paid)
	if !golden.Short() && (found < worlds/3 || undone == 0 || paid == 0) {
		t.Error("the worlds show too little")
	}
}

// saysWhatIsUndone demands that the sentence of a best mix says that work is undone,
// where some is.
func (w *drawnWorld) saysWhatIsUndone(t *testing.T, p *mix.Result, line string) {
	t.Helper()
	said := strings.Contains(line, "of the work is left undone")
	if *p.Best.Unserved > 0 != said || !said && !strings.Contains(line, "all possible work is done") {
		t.Errorf("world %d: the best leaves %v undone, and the first line is %q", w.seed, *p.Best.Unserved, line)
	}
}

// TestDefaultSearchAgainstExhaustive holds the default search against every mix of
// the same space, over drawn worlds: CAPCLI_WORLDS of them, or a few. What it misses is
// within the loss that it says is possible.
func TestDefaultSearchAgainstExhaustive(t *testing.T) {
	if golden.Short() {
		t.Skip("some thousand mixes of each world")
	}
	worlds := 1
	if text := os.Getenv("CAPCLI_WORLDS"); text != "" {
		var err error
		if worlds, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	missed, tried, all := 0, 0, 0
	for seed := range uint64(worlds) {
		w := drawWorld(1000 + seed)
		p, line, code := w.planOf(t)
		full, _, fullCode := w.planOf(t, "--exhaustive")
		tried, all = tried+p.Counts.Tried, all+p.Counts.Mixes
		if code == fullCode && (code != shell.ExitDone || *p.Best.Cost == *full.Best.Cost) {
			continue
		}
		missed++
		open := p.Counts.Open > 0 || p.Counts.Loss == nil
		if code != fullCode && (!open || fullCode != shell.ExitDone) {
			t.Errorf("world %d: exit %d, exhaustive %d\n%s%v", w.seed, code, fullCode, w.scenario, w.limits)
		}
		if code == shell.ExitDone && fullCode == shell.ExitDone && (!open || p.Counts.Loss != nil && *p.Best.Cost-*full.Best.Cost > *p.Counts.Loss) {
			t.Errorf("world %d: the default finds %v at %s of %d, exhaustive %v at %s of %d, and says of it %+v\n%s\n%s%v",
				w.seed, p.Best.Choices, p.Best.Cost, p.Counts.Tried, full.Best.Choices, full.Best.Cost, full.Counts.Mixes, p.Counts, line, w.scenario, w.limits)
		}
	}
	t.Logf("%d of %d worlds missed; %d of %d mixes tried", missed, worlds, tried, all)
}
