package kinds

import (
	"math"
	"strings"
	"testing"

	"capcli"
	"capcli/profile"
	"capcli/scenarios/generate"
)

// job returns a job of an hour on one GPU without evidence.
func job(change func(j *capcli.Job)) capcli.Job {
	j := capcli.Job{ID: "1", GPUs: 1, Run: capcli.Hour, Submit: 1_800_000_000, Start: capcli.NoTime, End: capcli.NoTime, Eligible: capcli.NoTime, Deadline: capcli.NoTime}
	if change != nil {
		change(&j)
	}
	return j
}

func tagged(name, value string) *capcli.Tags {
	return capcli.NewTags(capcli.Tag{Name: name, Value: value})
}

// assign returns what the rules of a file say of one job alone.
func assign(t *testing.T, file string, j *capcli.Job) (Assigned, string) {
	t.Helper()
	r := NewRules()
	if file != "" {
		var err error
		if r, err = Parse("kinds.yaml", []byte("capcli: kinds/v1\n"+file)); err != nil {
			t.Fatal(err)
		}
	}
	s := NewSurvey(r)
	s.Add(j)
	a := s.Assign(j)
	return a, r.Table()[a.Rule].Name
}

// Each rule fits a job of its own, at its threshold and not beyond it.
func TestEachRule(t *testing.T) {
	redone := func(j *capcli.Job, gpus int, run capcli.Seconds) { j.GPUs, j.Run = gpus, run }
	for _, tt := range []struct {
		name, file string
		change     func(j *capcli.Job)
		kind       Kind
		rule, as   string
		lane       string
	}{
		{"nothing known", "", nil, Unknown, "cannot tell", "unknown", BaseLane},
		{"a notebook", "", func(j *capcli.Job) { j.Class = "Jupyter-Lab" }, Always, "session", "always", BaseLane},
		{"a shell by its name", "", func(j *capcli.Job) { j.Tags = tagged("job_name", "bash") }, Always, "session", "always", BaseLane},
		{"a session for training", "", func(j *capcli.Job) { j.Class = "training"; j.Partition = "interactive" }, Always, "session", "always", BaseLane},
		{"a service", "", func(j *capcli.Job) { j.Partition = "serving" }, Always, "service", "always", BaseLane},
		{"inference in a batch cannot be told", "", func(j *capcli.Job) { j.Class = "offline-inference" }, Spot, "short batch", "spot", SpotLane},
		// (L/2 + 120 s) / 259,200 s <= 0.2 up to L = 103,440 s; on two machines up to 51,600 s.
		{"short training", "", func(j *capcli.Job) { j.Class = "training"; redone(j, 8, 103_440) }, Spot, "short batch", "spot", SpotLane},
		{"longer training", "", func(j *capcli.Job) { j.Class = "training"; redone(j, 8, 103_442) }, Waits, "batch", "waits", BaseLane},
		{"short training on two machines", "", func(j *capcli.Job) { j.Class = "training"; redone(j, 9, 103_440) }, Waits, "batch", "waits", BaseLane},
		{"the limit counts, not the run", "", func(j *capcli.Job) { j.Class = "training"; j.Limit = 2 * capcli.Day }, Waits, "batch", "waits", BaseLane},
		{"long with checkpoints", "", func(j *capcli.Job) { j.Tags = tagged("checkpoint", "30m"); redone(j, 8, 10*capcli.Day) }, Spot, "saves", "spot-saved", SpotLane},
		{"without checkpoints", "", func(j *capcli.Job) { j.Tags = tagged("checkpoint", "none") }, Unknown, "cannot tell", "unknown", BaseLane},
		{"due soon", "", func(j *capcli.Job) { j.Class = "training"; j.Deadline = j.Submit + 3*3600 - 1 }, Always, "due", "always", BaseLane},
		{"due later", "", func(j *capcli.Job) { j.Deadline = j.Submit + 3*3600 }, Waits, "slack", "waits", BaseLane},
		{"preempted before", "", func(j *capcli.Job) { j.State = "PREEMPTED" }, Spot, "preempted", "spot", SpotLane},
		{"idle", "", func(j *capcli.Job) { j.Class = "never_busy"; j.Tags = tagged("work", "training") }, Unneeded, "idle", "unneeded", BaseLane},
		{"stuck", "", func(j *capcli.Job) { j.Class = "stuck" }, Unneeded, "stuck", "unneeded", BaseLane},
		{"recorded inference", "", func(j *capcli.Job) { j.Class = "light"; j.Tags = tagged("work", "inference") }, Always, "service", "always", BaseLane},
		{"recorded training", "", func(j *capcli.Job) { j.Class = "input_starved"; j.Tags = tagged("work", "training") }, Spot, "short batch", "spot", SpotLane},
		{"stated", "lines:\n  - {kind: waits, tenant: vis*, saves: true, because: they say so}\n", func(j *capcli.Job) { j.Tenant = "vision/a" }, Waits, "line 1", "waits", SpotLane},
		{"stated of others", "lines:\n  - {kind: waits, tenant: vis*}\n", func(j *capcli.Job) { j.Tenant = "speech" }, Unknown, "cannot tell", "unknown", BaseLane},
		{"stated against names", "lines:\n  - {kind: always, class: train*, max_run: 1h}\n", func(j *capcli.Job) { j.Class = "training" }, Always, "line 1", "always", BaseLane},
		{"stated for longer ones", "lines:\n  - {kind: always, class: train*, min_run: 2h}\n", func(j *capcli.Job) { j.Class = "training" }, Spot, "short batch", "spot", SpotLane},
		{"stated by a tag", "lines:\n  - {kind: spot, tag: team=a*, saves: true}\n", func(j *capcli.Job) { j.Tags = tagged("team", "alpha") }, Spot, "line 1", "spot-saved", SpotLane},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := job(tt.change)
			a, rule := assign(t, tt.file, &j)
			if a.Kind != tt.kind || rule != tt.rule || a.Class() != tt.as || a.Lane() != tt.lane {
				t.Errorf("got %s by %q, class %s in %s; want %s by %q, class %s in %s", a.Kind, rule, a.Class(), a.Lane(), tt.kind, tt.rule, tt.as, tt.lane)
			}
		})
	}
}

// Users that let half of 20 jobs wait for 15 minutes let such jobs wait; of 19 it cannot be told.
func TestHasWaited(t *testing.T) {
	for _, n := range []int{19, 20} {
		s := NewSurvey(NewRules())
		var jobs []capcli.Job
		for i := range n {
			j := job(func(j *capcli.Job) { j.Start = j.Submit + capcli.Time(900*(i%2)) })
			jobs = append(jobs, j)
			s.Add(&j)
		}
		want := Unknown
		if n == 20 {
			want = Waits
		}
		if a := s.Assign(&jobs[0]); a.Kind != want {
			t.Errorf("%d jobs: got %s, want %s", n, a.Kind, want)
		}
	}
}

// A log of a cluster whose classes are called as verdicts are, but for one job, comes from no recording.
func TestOneOtherClassIsNoRecording(t *testing.T) {
	s := NewSurvey(NewRules())
	idle, other := job(func(j *capcli.Job) { j.Class = "never_busy" }), job(func(j *capcli.Job) { j.Class = "mine" })
	s.Add(&idle)
	s.Add(&other)
	if a := s.Assign(&idle); s.Recorded() || a.Kind != Unknown {
		t.Errorf("recorded %t, kind %s", s.Recorded(), a.Kind)
	}
}

// truth is a class of a made world and the kind of its jobs, as whoever made it knows.
type truth struct {
	generate.Class
	kind Kind
}

// worlds are the demo's cluster and three more, with the kinds of their work.
func worlds() map[string][]truth {
	sizes := []generate.Size{{GPUs: 1, Weight: 4}, {GPUs: 4, Weight: 3}, {GPUs: 8, Weight: 2}}
	random := func(name string, gpus float64, median, p95, most capcli.Seconds) generate.Class {
		return generate.Class{Name: name, MeanGPUs: gpus, Sizes: sizes, RunMedian: median, RunP95: p95, RunMax: most, DaySwing: 3, PeakHour: 14, Weekend: 0.5}
	}
	const h = capcli.Hour
	return map[string][]truth{
		"the demo's cluster": {
			{random("training", 20, 2*h, 14*h, capcli.Day), ""},
			{generate.Class{Name: "nightly", Kind: generate.Steady, GPUs: 8, JobGPUs: 4, Every: capcli.Day, BusyShare: 0.3}, ""},
		},
		"services and training": {
			{generate.Class{Name: "serving", Kind: generate.Service, Replicas: 20, Every: h, DaySwing: 4, PeakHour: 20}, Always},
			{random("pretrain", 24, 12*h, 40*h, 3*capcli.Day), Waits},
			{random("sweep", 10, h/2, 2*h, 4*h), Spot},
		},
		"notebooks and batch": {
			{random("notebook", 12, 2*h, 8*h, capcli.Day), Always},
			{random("eval", 14, h, 3*h, 6*h), Spot},
			{random("finetune", 20, 10*h, 30*h, 2*capcli.Day), Waits},
		},
		"names that say nothing": {
			{random("alpha", 12, 2*h, 8*h, capcli.Day), Always},
			{random("beta", 14, h, 3*h, 6*h), Spot},
			{random("inference", 6, h, 3*h, 6*h), Always},
		},
	}
}

// The kinds of made worlds are told rightly for 95% of the GPU time of which anything is told.
func TestWorlds(t *testing.T) {
	for name, classes := range worlds() {
		for seed := range capcli.Seed(3) {
			w := generate.Workload{Start: 1_800_000_000, Span: 28 * capcli.Day}
			for _, c := range classes {
				w.Classes = append(w.Classes, c.Class)
			}
			rules := NewRules()
			s := NewSurvey(rules)
			var jobs []capcli.Job
			for j, err := range w.Jobs(seed) {
				if err != nil {
					t.Fatal(err)
				}
				jobs = append(jobs, j)
				s.Add(&j)
			}
			var right, wrong, untold float64
			for i := range jobs {
				j := &jobs[i]
				for _, c := range classes {
					if c.Name != j.Class {
						continue
					}
					want := c.kind
					if want == "" { // of batch work what is short is for spot, the rest waits
						if want = Waits; (float64(j.Run)/2+120)/259_200 <= rules.Redone {
							want = Spot
						}
					}
					switch got := s.Assign(j).Kind; {
					case got == Unknown:
						untold += j.Work().Hours()
					// Of work that may wait, what is short may as well go to spot: a loss costs no more than a wait.
					case got == want, want == Waits && got == Spot && (float64(j.Run)/2+120)/259_200 <= rules.Redone:
						right += j.Work().Hours()
					default:
						wrong += j.Work().Hours()
					}
				}
			}
			if right < 0.95*(right+wrong) {
				t.Errorf("%s, seed %d: %.0f GPU-hours are told rightly, %.0f wrongly, %.0f not", name, seed, right, wrong, untold)
			}
			checkReport(t, s, jobs, right+wrong+untold)
		}
	}
}

// checkReport sums a report up in other ways.
func checkReport(t *testing.T, s *Survey, jobs []capcli.Job, hours float64) {
	t.Helper()
	r := s.Report(jobs)
	var byKind, byRule capcli.GPUTime
	var n, m int64
	for _, k := range r.Kinds {
		byKind, n = byKind+k.GPUHours, n+k.Jobs
	}
	for _, x := range r.Rules {
		byRule, m = byRule+x.GPUHours, m+x.Jobs
	}
	if byKind != r.GPUHours || byRule != r.GPUHours || n != r.Jobs || m != r.Jobs || int(n) != len(jobs) || math.Abs(r.GPUHours.Hours()-hours) > 1e-6*hours {
		t.Errorf("%d jobs of %v: by kind %d of %v, by rule %d of %v", r.Jobs, r.GPUHours, n, byKind, m, byRule)
	}
}

// Verdicts are summed by hand: of 100 GPU-hours 30 idle, and 40 of a job that waits for input for half of its time.
func TestVerdicts(t *testing.T) {
	s := NewSurvey(NewRules())
	jobs := []capcli.Job{
		job(func(j *capcli.Job) { j.Class, j.GPUs, j.Run = "mostly_idle", 3, 10*capcli.Hour }),
		job(func(j *capcli.Job) {
			j.Class, j.GPUs, j.Run, j.Tags = "input_starved", 4, 10*capcli.Hour, tagged(profile.InputWaitTag, "50")
		}),
		job(func(j *capcli.Job) { j.Class, j.GPUs, j.Run = "compute_bound", 3, 10*capcli.Hour }),
	}
	for i := range jobs {
		s.Add(&jobs[i])
	}
	r := s.Report(jobs)
	want := []string{
		"20% of the GPU time waits for input (input_starved): mending it is worth 2.0 GPUs before any purchase.",
		"30% of the GPU time is allocated and idle (mostly_idle): the plan buys nothing for it, which is 3.0 GPUs.",
	}
	if got := r.VerdictSentences(1); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if got, want := r.Sentence(), "Of the GPU time 70% cannot be told and counts as if it could not wait, 30% held GPUs and did nothing."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestParseFaults(t *testing.T) {
	for text, want := range map[string]string{
		"lines:\n  - {kind: unneeded}\n":                       "kind",
		"lines:\n  - {kind: spot, tag: team}\n":                "NAME=PATTERN",
		"lines:\n  - {kind: spot, tenant: \"[\"}\n":            "pattern",
		"lines:\n  - {kind: spot, min_run: 2h, max_run: 1h}\n": "no job fits",
		"redone: 2\n":           "redone",
		"spot: {mean_up: 0s}\n": "mean_up",
		"kinds: []\n":           "kinds",
	} {
		if _, err := Parse("k.yaml", []byte("capcli: kinds/v1\n"+text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

// example has every field.
const example = `capcli: kinds/v1
lines:
  - {kind: spot, tenant: a*, partition: b*, class: c, job: "7*", tag: team=x*, saves: true, min_run: 1h, max_run: 2h, min_gpus: 1, max_gpus: 8, because: they say so}
  - {kind: always, class: serving}
redone: 0.1
slack: 4h
waited: 30m
machine_gpus: 4
checkpoint_every: 1h
restart: 5m
spot: {mean_up: 1d, mean_down: 2h, notice: 2m, price: "1.20", max_gpus: 64}
`

func TestExample(t *testing.T) {
	r, err := Parse("k.yaml", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	l := r.Lines[0]
	if len(r.Lines) != 2 || l.Tag != "team=x*" || !*l.Saves || l.MaxRun != 2*capcli.Hour || r.Redone != 0.1 || r.Slack != 4*capcli.Hour || r.Waited != 1800 || r.MachineGPUs != 4 ||
		r.Checkpoint != (Checkpoint{capcli.Hour, 300}) || r.Spot != (SpotTerms{MeanUp: capcli.Day, MeanDown: 2 * capcli.Hour, Notice: 120, Price: "1.20", MaxGPUs: 64}) {
		t.Errorf("got %+v", r)
	}
}

// FuzzParse reads any bytes without a panic, and what it accepts tells the kind of a job.
func FuzzParse(f *testing.F) {
	f.Add([]byte(example))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Parse("k.yaml", b)
		if err != nil {
			return
		}
		s := NewSurvey(r)
		j := job(nil)
		s.Add(&j)
		if a := s.Assign(&j); a.Rule >= len(r.Table()) {
			t.Errorf("rule %d of %d", a.Rule, len(r.Table()))
		}
	})
}
