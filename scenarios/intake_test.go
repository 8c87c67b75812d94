package scenarios

import (
	"errors"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios/strict"
)

// TestAdmitRefusesLogsOfWhichNothingWouldRun: each way in which a scenario and
// a log have nothing in common is an error that names both sides and what
// mends it, never an empty result.
func TestAdmitRefusesLogsOfWhichNothingWouldRun(t *testing.T) {
	const text = `
capcli: scenario/v1
name: mine
period: 2027-01-01 to 2027-01-28
capacity:
  - {name: a, kind: owned, gpus: 8, price: 1, gpu_model: A100, partition: red}
`
	day := func(s string) capcli.Time {
		at, _, ok := instant(&strict.Decoder{}, nil, 0, s)
		if !ok {
			t.Fatal(s)
		}
		return at
	}
	job := func(at, partition, model string, gpus int) capcli.Job {
		return capcli.Job{ID: "j", Submit: day(at), Start: capcli.NoTime, End: capcli.NoTime, Deadline: capcli.NoTime, Run: 60, GPUs: gpus, Partition: partition, GPUModel: model}
	}
	tests := []struct {
		name string
		jobs []capcli.Job
		sets []string
		want []string // parts of the error and its hint; none: jobs are played
	}{
		{"all fits", []capcli.Job{job("2027-01-28", "red", "A100", 1)}, nil, nil},
		{
			"another year",
			[]capcli.Job{job("2026-03-01", "red", "", 1), job("2026-04-02", "red", "", 1)},
			nil,
			[]string{"2027-01-01 to 2027-01-28", "2026-03-01 to 2026-04-02", "--period trace", "mine"},
		},
		{"some in the period", []capcli.Job{job("2026-03-01", "red", "", 1), job("2027-01-02", "red", "", 1)}, nil, nil},
		{
			"other models",
			[]capcli.Job{job("2027-01-02", "red", "V100|T4", 1), job("2027-01-02", "red", "H100", 1)},
			nil,
			[]string{"H100, V100|T4", "A100", "--models any"},
		},
		{"other models, any served", []capcli.Job{job("2027-01-02", "red", "H100", 1)}, []string{"jobs.any_model=true"}, nil},
		{"another partition", []capcli.Job{job("2027-01-02", "blue", "A100", 1)}, nil, []string{"blue", "red", "capacity[0].partition=null"}},
		{"no GPUs", []capcli.Job{job("2027-01-02", "red", "", 0)}, nil, []string{"none among 1", "jobs.cpu_jobs=true"}},
		{"no jobs", nil, nil, []string{"found none"}},
	}
	for _, tt := range tests {
		s, err := Parse("mine.yaml", []byte(text), tt.sets...)
		if err != nil {
			t.Fatal(err)
		}
		var in Intake
		err = nil
		for _, e := range s.Admit(func(yield func(capcli.Job, error) bool) {
			for _, j := range tt.jobs {
				if !yield(j, nil) {
					return
				}
			}
		}, &in) {
			err = e
		}
		var fault *capcli.InputError
		if errors.As(err, &fault) != (tt.want != nil) {
			t.Errorf("%s: got %v, want an error: %v", tt.name, err, tt.want != nil)
			continue
		}
		for _, part := range tt.want {
			if !strings.Contains(fault.Error()+" "+fault.Hint, part) {
				t.Errorf("%s: got %q, hint %q, want %q in it", tt.name, fault, fault.Hint, part)
			}
		}
	}
}
