package scenarios

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/simulate"
)

const speedBase = `capcli: scenario/v1
period: 2027-01-04 to 2027-01-10
jobs: {generate: {classes: [
  {name: training, mean_gpus: 12, sizes: [{gpus: 1}, {gpus: 4}], run_median: 1h, run_p95: 8h, limit_over: 3},
  {name: eval, mean_gpus: 2, sizes: [{gpus: 1}], run_median: 10m}]}}
capacity: [{kind: reserved, gpus: 16, price: 2.00}, {kind: on_demand, price: 3.00}]
overflow: {patience: 1h}
policy: easy
`

// admitted returns the jobs that s admits, and the intake.
func admitted(t *testing.T, s *Scenario) ([]capcli.Job, *Intake) {
	t.Helper()
	jobs, _ := s.Generated(Options{Seed: s.Seed})
	var out []capcli.Job
	in := &Intake{}
	for j, err := range s.AdmitPeriod(jobs, in) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, j)
	}
	return out, in
}

func parseSpeed(t *testing.T, block string) *Scenario {
	t.Helper()
	s, err := Parse("speed.yaml", []byte(speedBase+block))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A factor of 1, an entry that is off, and equal busy shares change nothing: the same jobs, the same run.
func TestSpeedOfOneChangesNothing(t *testing.T) {
	run := func(block string) (string, []capcli.Job) {
		s := parseSpeed(t, block)
		jobs, _ := admitted(t, s)
		cfg, err := s.Config(func(yield func(capcli.Job, error) bool) {
			for _, j := range jobs {
				if !yield(j, nil) {
					return
				}
			}
		}, Options{Seed: s.Seed})
		if err != nil {
			t.Fatal(err)
		}
		r, err := simulate.Run(context.Background(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%+v %+v", r.Jobs, r.Record.Pools), jobs
	}
	want, wantJobs := run("")
	for _, block := range []string{"speed: [{factor: 1}]\n", "speed: [{factor: 100%, gpu_mem: 1.0}]\n", "speed: [{busy: 70% -> 70%}]\n", "speed: [{factor: 2, off: true}]\n", "speed: [{classes: [other], factor: 3}]\n"} {
		if got, jobs := run(block); got != want || !reflect.DeepEqual(jobs, wantJobs) {
			t.Errorf("%s changes the run", block)
		}
	}
	if got, _ := run("speed: [{factor: 2}]\n"); got == want {
		t.Error("twice the speed changes nothing")
	}
}

// The run time of each job is its old one over the factor, rounded up to the second; nothing else moves.
func TestSpeedIsExact(t *testing.T) {
	before, _ := admitted(t, parseSpeed(t, ""))
	rapid.Check(t, func(t *rapid.T) {
		num, den := rapid.Int64Range(1, 1000).Draw(t, "after"), rapid.Int64Range(1, 1000).Draw(t, "before")
		busy := func(v int64) string { return fmt.Sprintf("%d.%d%%", v/10, v%10) }
		s, err := Parse("speed.yaml", []byte(speedBase+fmt.Sprintf("speed: [{classes: [training], busy: %s -> %s, limits: true}]\n", busy(den), busy(num))))
		if err != nil {
			t.Fatal(err)
		}
		in := &Intake{}
		var was, is capcli.GPUTime
		for _, old := range before {
			want := old
			s.hasten(&old, in)
			if want.Class == "training" {
				was += want.Work()
				want.Run = capcli.Seconds((int64(want.Run)*den + num - 1) / num)
				want.Limit = capcli.Seconds((int64(want.Limit)*den + num - 1) / num)
				is += want.Work()
			}
			if !reflect.DeepEqual(old, want) {
				t.Fatalf("busy %d to %d: %+v, want %+v", den, num, old, want)
			}
		}
		use := in.SpeedUse(s)
		if use[0].Before != was || use[0].After != is || use[0].Jobs == 0 {
			t.Fatalf("counted %+v, want %d before and %d after", use[0], was, is)
		}
	})
}

// Entries that match a job multiply; memory follows its own factor.
func TestSpeedEntriesMultiply(t *testing.T) {
	s := parseSpeed(t, "speed: [{classes: [training], factor: 2}, {factor: 1.5, gpu_mem: 50%}, {tenants: [nobody], factor: 9}, {classes: [eval], gpu_mem_gb: 10}]\n")
	tests := []struct {
		class        string
		run, wantRun capcli.Seconds
		mem, wantMem int64
	}{{"training", 1000, 334, 81, 41}, {"eval", 1000, 667, 81, 10 << 10}, {"eval", 0, 0, 0, 10 << 10}}
	for _, tt := range tests {
		j := capcli.Job{Class: tt.class, Run: tt.run, GPUMemMiB: tt.mem}
		if s.hasten(&j, &Intake{}); j.Run != tt.wantRun || j.GPUMemMiB != tt.wantMem {
			t.Errorf("%s of %d s and %d MiB: %d s and %d MiB, want %d and %d", tt.class, tt.run, tt.mem, j.Run, j.GPUMemMiB, tt.wantRun, tt.wantMem)
		}
	}
}

// A profile that says that jobs wait for input for 40 % of their time, all of which goes away, makes them
// 1 / 0.6 times as fast.
func TestSpeedOfAProfile(t *testing.T) {
	const doc = `{"schema": "capcli/profile_summary/v1", "jobs": [
		{"job_id": "1", "tenant": "vision", "held_gpu_hours": 10, "starved_s": 14400},
		{"job_id": "2", "tenant": "nlp", "held_gpu_hours": 10, "starved_s": null}], "total": {"held_gpu_hours": 20, "starved_s": 14400}}`
	open := func(string) ([]byte, error) { return []byte(doc), nil }
	for block, want := range map[string]float64{
		"tenants: [vision], fixes: 100%": 1 / 0.6,
		"tenants: [vision], fixes: 0.5":  1 / 0.8,
		"fixes: 100%":                    1 / 0.8,
	} {
		s := parseSpeed(t, "speed: [{profile: {file: p.json, "+block+"}}]\n")
		if _, err := s.Rates(Options{Open: open}); err != nil {
			t.Fatal(err)
		}
		if got := s.Speed[0].Factor.Float(); got < want-1e-5 || got > want+1e-5 {
			t.Errorf("%s: %g times as fast, want %g", block, got, want)
		}
	}
	for _, block := range []string{"tenants: [nobody], fixes: 100%", "jobs: ['2'], fixes: 100%"} {
		s := parseSpeed(t, "speed: [{profile: {file: p.json, "+block+"}}]\n")
		var in *capcli.InputError
		if _, err := s.Rates(Options{Open: open}); !errors.As(err, &in) || in.File != "p.json" {
			t.Errorf("%s: %v, want a fault of p.json", block, err)
		}
	}
}

func TestSpeedFaults(t *testing.T) {
	for block, want := range map[string]string{
		"[{factor: 0}]":                          "a factor from 0.001 to 1000",
		"[{factor: -2}]":                         "a factor from 0.001 to 1000",
		"[{factor: 2000}]":                       "a factor from 0.001 to 1000",
		"[{busy: 90%}]":                          "60% -> 90%",
		"[{busy: 60% -> 120%}]":                  "60% -> 90%",
		"[{busy: 0% -> 50%}]":                    "60% -> 90%",
		"[{factor: 2, busy: 60% -> 90%}]":        "leave one out",
		"[{classes: [training]}]":                "how much faster?",
		"[{gpu_mem: 2, gpu_mem_gb: 3}]":          "leave one out",
		"[{profile: {file: x.json}}]":            "fixes",
		"[{factr: 2}]":                           `did you mean "factor"?`,
		"[{profile: {file: x.json, fixes: 2}}]":  "a share over 0 and up to 1",
		"[{profile: {file: x.json, fixes: 0%}}]": "a share over 0 and up to 1",
	} {
		if _, err := Parse("speed.yaml", []byte(speedBase+"speed: "+block+"\n")); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "speed.yaml:9") {
			t.Errorf("%s: %v, want %q of line 9", block, err, want)
		}
	}
}
