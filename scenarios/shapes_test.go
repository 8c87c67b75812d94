package scenarios

import (
	"errors"
	"strings"
	"testing"

	"capcli"
)

// shapesPlan returns a scenario with shapes, a rule of widths and further text.
func shapesPlan(shapes, more string) string {
	return "capcli: scenario/v1\ncapacity:\n  - {name: h, kind: owned, gpus: 64, gpu_model: H100, price: 3}\n  - {name: a, kind: owned, gpus: 64, gpu_model: A100, price: 2}\nshapes:\n" + shapes + more
}

// shapeOfJob parses a scenario and returns the shape that a job gets.
func shapeOfJob(t *testing.T, text, table string, j capcli.Job) *capcli.Job {
	t.Helper()
	s, err := Parse("plan.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Rates(Options{Open: func(string) ([]byte, error) { return []byte(table), nil }}); err != nil {
		t.Fatal(err)
	}
	for got, err := range s.AdmitPeriod(func(yield func(capcli.Job, error) bool) { yield(j, nil) }, &Intake{}) {
		if err != nil {
			t.Fatal(err)
		}
		return &got
	}
	t.Fatal("the job is gone")
	return nil
}

// TestShapes checks the ways of a job against run times worked out by hand.
func TestShapes(t *testing.T) {
	const table = "gpu_model,gpus,steps_per_s,job_type\nH100,8,10,bert\nH100,16,9.5,bert\nA100,8,4,bert\nA100,16,0,bert\nH100,8,1,gpt\n"
	type run struct {
		model string
		gpus  int
		run   capcli.Seconds
	}
	for _, c := range []struct {
		name, shapes string
		job          capcli.Job
		run          capcli.Seconds // of the job as asked
		want         []run
	}{
		{"range", "  - {name: x, gpus: 4..20, scaling: {amdahl: 0}}", capcli.Job{GPUs: 8, Run: 100}, 100, []run{{"", 4, 200}, {"", 8, 100}, {"", 16, 50}, {"", 20, 40}}},
		{"own width within a list", "  - {name: x, gpus: [2, 16], scaling: {amdahl: 0}}", capcli.Job{GPUs: 8, Run: 100}, 100, []run{{"", 2, 400}, {"", 8, 100}, {"", 16, 50}}},
		{"of its own", "  - {name: x, gpus: x1/4..x2, scaling: {amdahl: 0}}", capcli.Job{GPUs: 6, Run: 100}, 100, []run{{"", 3, 200}, {"", 6, 100}, {"", 12, 50}}},
		{"amdahl", "  - {name: x, gpus: [1, 9], scaling: {amdahl: 0.1}}", capcli.Job{GPUs: 1, Run: 1000}, 1000, []run{{"", 1, 1000}, {"", 9, 200}}},
		{"amdahl, rounded up", "  - {name: x, gpus: [1, 3], scaling: {amdahl: 0}}", capcli.Job{GPUs: 1, Run: 100}, 100, []run{{"", 1, 100}, {"", 3, 34}}},
		// On 8 GPUs 80 s compute and 20 s of (7/8): on 16 40 s and 20 x (15/16)/(7/8) = 21.43.
		{"communication", "  - {name: x, gpus: 1..16, scaling: {comm_share: 0.2, at: 8}}", capcli.Job{GPUs: 8, Run: 100}, 100, []run{{"", 1, 640}, {"", 2, 332}, {"", 4, 178}, {"", 8, 100}, {"", 16, 62}}},
		{"times", "  - {name: x, scaling: {times: {64: 8h, 16: 32h}}}", capcli.Job{GPUs: 16, Run: 1000}, 1000, []run{{"", 16, 1000}, {"", 64, 250}}},
		{"models", "  - {name: x, models: {H100: 1, A100: 0.42}}", capcli.Job{GPUs: 8, Run: 100}, 100, []run{{"H100", 8, 100}, {"A100", 8, 239}}},
		{"models, of A100", "  - {name: x, models: {H100: 1, A100: 0.42}}", capcli.Job{GPUs: 8, Run: 100, GPUModel: "a100"}, 100, []run{{"H100", 8, 42}, {"A100", 8, 100}}},
		{"reference", "  - {name: x, models: {H100: 1, A100: 0.42}, reference: A100}", capcli.Job{GPUs: 8, Run: 100}, 100, []run{{"H100", 8, 42}, {"A100", 8, 100}}},
		{"table is not monotone, and 0 does not run", "  - {name: x, scaling: {table: t.csv, job_type: bert}}", capcli.Job{GPUs: 8, Run: 950}, 950, []run{{"H100", 8, 950}, {"H100", 16, 1000}, {"A100", 8, 2375}}},
		{"steps", "  - {name: x, steps: 1000, scaling: {table: t.csv, job_type: bert}}", capcli.Job{GPUs: 8, Run: 7}, 100, []run{{"H100", 8, 100}, {"H100", 16, 106}, {"A100", 8, 250}}},
		{"not in the table", "  - {name: x, scaling: {table: t.csv, job_type: bert}}", capcli.Job{GPUs: 4, Run: 7}, 7, nil},
		{"first that fits", "  - {name: y, tenants: [other], gpus: [8, 16], scaling: {amdahl: 0}}\n  - {name: x, models: {H100: 1}}", capcli.Job{GPUs: 8, Run: 100, Tenant: "me"}, 100, []run{{"H100", 8, 100}}},
		{"another model", "  - {name: x, models: {H100: 1, A100: 0.42}}", capcli.Job{GPUs: 8, Run: 100, GPUModel: "T4"}, 100, nil},
		{"outside of the range", "  - {name: x, gpus: 4..8, scaling: {amdahl: 0}}", capcli.Job{GPUs: 1, Run: 100}, 100, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := shapeOfJob(t, shapesPlan(c.shapes, "\n"), table, c.job)
			if j.Run != c.run {
				t.Errorf("the job runs for %d s, want %d", j.Run, c.run)
			}
			var got []run
			if j.Shape != nil {
				for _, w := range j.Shape.Ways {
					got = append(got, run{w.Model, w.GPUs, w.RunTime(j.Run)})
				}
			}
			if len(got) != len(c.want) {
				t.Fatalf("ways %v, want %v", got, c.want)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("way %d is %v, want %v", i, got[i], c.want[i])
				}
			}
		})
	}
}

// TestShapeFaults checks that each fault is named, with its line.
func TestShapeFaults(t *testing.T) {
	for shapes, want := range map[string]string{
		"  - {gpus: 8}":                                                              "name",
		"  - {name: x, gpus: 8..64}":                                                 "how does the run time change",
		"  - {name: x, gpus: 64..8, scaling: {amdahl: 0}}":                           "8..64",
		"  - {name: x, gpus: x2..x4, scaling: {amdahl: 0}}":                          "x1/4..x2",
		"  - {name: x, gpus: 8..64, scaling: {amdahl: 1.5}}":                         "0 to 1",
		"  - {name: x, gpus: 8..64, scaling: {amdahl: 0.1, comm_share: 0.1, at: 8}}": "leave one out",
		"  - {name: x, gpus: 8..64, scaling: {comm_share: 0.1}}":                     "go together",
		"  - {name: x, gpus: 8..64, scaling: {job_type: a, amdahl: 0}}":              "chooses rows of a table",
		"  - {name: x, gpus: 8..64, scaling: {times: {8: 1h}}}":                      "leave one out",
		"  - {name: x, scaling: {amdahl: 0}}":                                        "give gpus",
		"  - {name: x, models: [H100, A100]}":                                        "give each model its speed",
		"  - {name: x, models: {H100: 1}, scaling: {table: t}}":                      "give the names alone",
		"  - {name: x, models: {H100: 0}}":                                           "over 0",
		"  - {name: x, models: {H100: 1}, reference: T4}":                            "none of the models",
		"  - {name: x, steps: 5}":                                                    "steps are of a table",
		"  - {name: x}\n  - {name: x}":                                               "is there twice, first in line 6",
		"  - {name: x, models: {H100: 1, h100: 2}}":                                  "twice",
		"  - {name: x, scaling: {times: {0: 1h}}}":                                   "1 to",
	} {
		_, err := Parse("plan.yaml", []byte(shapesPlan(shapes, "\n")))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", shapes, err, want)
		}
	}
	for text, want := range map[string]string{
		"capcli: scenario/v1\ncapacity: [{kind: owned, gpus: 8}]\nwidths: cheapest\n":                                                                       "give shapes too",
		shapesPlan("  - {name: x}", "\nwidths: cheap\n"):                                                                                                    "unknown rule of widths",
		shapesPlan("  - {name: x}", "\njobs: {generate: {start: 2027-01-01, span: 1d, classes: [{name: a, kind: steady, gpus: 8, shape: y}]}}\n"):           "unknown shape \"y\": have x",
		shapesPlan("  - {name: x}", "\njobs: {generate: {start: 2027-01-01, span: 1d, classes: [{name: a, kind: steady, gpus: 8, shape: x}]}}\nfoo: bar\n"): "foo",
	} {
		_, err := Parse("plan.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", text, err, want)
		}
	}
}

// TestMeasuredFaults checks that each fault of a table is named, with its line.
func TestMeasuredFaults(t *testing.T) {
	for table, want := range map[string]string{
		"":                                                   "expected a header line, found none",
		"gpu_model,gpus\nH100,8\n":                           "no such column",
		"gpus,steps_per_s\n8,1\n":                            "gpu_model",
		"gpu_model,gpus,steps_per_s\n":                       "the table has no rows",
		"gpu_model,gpus,steps_per_s\nH100,x,1\n":             "found \"x\"",
		"gpu_model,gpus,steps_per_s\nH100,8,-1\n":            "0 or more",
		"gpu_model,gpus,steps_per_s\nH100,8,NaN\n":           "0 or more",
		"gpu_model,gpus,steps_per_s\n,8,1\n":                 "the model is empty",
		"gpu_model,gpus,steps_per_s\nH100,8,1\nh100,8,2\n":   "in line 2 too",
		"gpu_model,gpus,steps_per_s\nA100,8,1\n":             "has A100",
		"gpu_model,gpus,steps_per_s\nH100,8,1\n\"H100,8,1\n": "a quote is not closed",
	} {
		s, err := Parse("plan.yaml", []byte(shapesPlan("  - {name: x, models: [H100], scaling: {table: t.csv}}", "\n")))
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Rates(Options{Open: func(string) ([]byte, error) { return []byte(table), nil }})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", table, err, want)
		}
	}
}

// FuzzShapes: whatever a table says, it is refused with its file and line, or each way of a job has a run
// time and is one of the table.
func FuzzShapes(f *testing.F) {
	f.Add([]byte("gpu_model,gpus,steps_per_s\nH100,8,10\nA100,16,0\n"), "8..64", 8, int64(3600))
	f.Add([]byte("gpu_model,gpus,seconds\nH100,8,1e-12\nH100,16,1e15\n"), "[8, 16]", 16, int64(1))
	f.Add([]byte("gpus,run_s,gpu_model\n8,1,\"a\nb\"\n"), "x1/4..x2", 8, int64(1<<40))
	f.Fuzz(func(t *testing.T, table []byte, gpus string, asks int, run int64) {
		s, err := Parse("plan.yaml", []byte(shapesPlan("  - {name: x, scaling: {table: t.csv}}", "\n")), "shapes[0].gpus="+gpus)
		if err != nil {
			checkFaults(t, err, []byte(shapesPlan("  - {name: x, scaling: {table: t.csv}}", "\n")))
			return
		}
		if _, err := s.Rates(Options{Open: func(string) ([]byte, error) { return table, nil }}); err != nil {
			if in, is := errors.AsType[*capcli.InputError](err); !is || in.File == "" {
				t.Fatalf("%v names no file", err)
			}
			return
		}
		j := capcli.Job{GPUs: 1 + max(0, asks)%maxGPUs, Run: capcli.Seconds(max(0, run))}
		for got, err := range s.AdmitPeriod(func(yield func(capcli.Job, error) bool) { yield(j, nil) }, &Intake{}) {
			if err != nil {
				t.Fatal(err)
			}
			if got.Shape == nil {
				continue
			}
			own := false
			for _, w := range got.Shape.Ways {
				if w.Num <= 0 || w.Den <= 0 || w.GPUs < 1 || w.RunTime(j.Run) < 0 || w.RunTime(j.Run) > max(j.Run, capcli.MaxSeconds) {
					t.Errorf("way %+v of a job of %d s takes %d s", w, j.Run, w.RunTime(j.Run))
				}
				own = own || w.GPUs == j.GPUs
			}
			if !own {
				t.Errorf("the job's own %d GPUs are no way of %+v", j.GPUs, got.Shape.Ways)
			}
		}
	})
}
