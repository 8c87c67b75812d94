package policy_test

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
	"capcli/testdata/golden"
)

const shared = "../../../shared/"

// readTable returns the rows of a CSV file as maps, or skips the test where it is not there.
func readTable(t testing.TB, name string) (rows []map[string]string) {
	t.Helper()
	f, err := os.Open(shared + name)
	if err != nil {
		t.Skip("reference data is not here: " + err.Error())
	}
	defer f.Close()
	var in io.Reader = f
	if filepath.Ext(name) == ".gz" {
		if in, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	all, err := csv.NewReader(in).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range all[1:] {
		row := map[string]string{}
		for i, v := range line {
			row[all[0][i]] = v
		}
		rows = append(rows, row)
	}
	return rows
}

func number(t testing.TB, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// gavelModels are the GPU models of the published table, fastest first.
var gavelModels = []string{"V100", "P100", "K80"}

// gavelSpeeds returns steps a second by job type and batch size, model and GPUs.
func gavelSpeeds(t testing.TB) map[string]map[string]map[int]float64 {
	out := map[string]map[string]map[int]float64{}
	for _, r := range readTable(t, "data/throughput/gavel.csv") {
		if r["source"] != "simulation" || r["consolidated"] != "1" {
			continue
		}
		key := r["job_type"] + " " + r["batch_size"]
		if out[key] == nil {
			out[key] = map[string]map[int]float64{}
		}
		if out[key][r["gpu_model"]] == nil {
			out[key][r["gpu_model"]] = map[int]float64{}
		}
		out[key][r["gpu_model"]][int(number(t, r["gpus"]))] = number(t, r["steps_per_s"])
	}
	return out
}

// gavelShape returns the ways of a job type at a width. A second of the job as submitted is a step: so no
// run time is rounded before the job runs.
func gavelShape(name string, speeds map[string]map[int]float64, gpus int) *capcli.Shape {
	s := &capcli.Shape{Name: name}
	for _, m := range gavelModels {
		if v := speeds[m][gpus]; v > 0 {
			s.Ways = append(s.Ways, capcli.Way{Model: m, GPUs: gpus, Num: 1e12, Den: int64(math.Round(v * 1e12))})
		}
	}
	return s
}

// ends collects the completion times of jobs by number of arrival.
type ends struct{ took map[int64]capcli.Seconds }

func (o *ends) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Kind == simulate.Finish {
		o.took[e.Job.Index()] = e.Job.Ended - e.Job.Submitted
	}
}

func mustPolicy(t testing.TB, name string) simulate.NewPolicy {
	t.Helper()
	p, err := policy.Catalog.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// gavelTrace plays a published kind of trace through the engine: 4 GPUs of each of three models. It
// returns the mean completion time of jobs 100 to 349 in seconds.
func gavelTrace(t testing.TB, name string, choices map[string]string) float64 {
	speeds, shapes := gavelSpeeds(t), map[string]*capcli.Shape{}
	var jobs []capcli.Job
	for _, r := range readTable(t, "golden/elastic/gavel/"+name) {
		key := r["job_type"] + " " + r["batch_size"]
		if shapes[key] == nil {
			shapes[key] = gavelShape(key, speeds[key], 1)
		}
		jobs = append(jobs, capcli.Job{
			ID: r["job"], GPUs: 1, Submit: capcli.Time(number(t, r["submit_s"])), Deadline: capcli.NoTime, Shape: shapes[key],
			Run: capcli.Seconds(number(t, r["steps"])),
		})
	}
	var pools []simulate.Pool
	for _, m := range gavelModels {
		pools = append(pools, simulate.Pool{Name: m, GPUModel: m, Nodes: 1, GPUsPerNode: 4})
	}
	place, err := placement.Catalog.Get("consolidate")
	if err != nil {
		t.Fatal(err)
	}
	o := &ends{map[int64]capcli.Seconds{}}
	_, err = simulate.Run(context.Background(), simulate.Config{
		Pools: pools, Jobs: streamOf(jobs), Policy: mustPolicy(t, "gavel"), Placement: place(), Observers: []simulate.Observer{o},
		Settings: simulate.Settings{Choices: choices},
	})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for i := int64(100); i < 350; i++ {
		sum += float64(o.took[i])
	}
	return sum / 250
}

func streamOf(jobs []capcli.Job) func(func(capcli.Job, error) bool) {
	return func(yield func(capcli.Job, error) bool) {
		for _, j := range jobs {
			if !yield(j, nil) {
				return
			}
		}
	}
}

// TestGavelTraces plays the reference traces: the mean completion time is within 1 % where the policy knows
// the models, and within 0.1 % where it does not.
func TestGavelTraces(t *testing.T) {
	golden.SkipLong(t)
	rows := readTable(t, "golden/elastic/gavel/trace.csv")
	for _, r := range rows {
		name := fmt.Sprintf("jobs-%s-%s.csv.gz", r["mean_gap_s"], r["seed"])
		t.Run(name, func(t *testing.T) {
			for _, c := range []struct {
				column, agnostic string
				share            float64
			}{{"jct_aware_s", "false", 0.01}, {"jct_agnostic_s", "true", 0.001}} {
				got, want := gavelTrace(t, name, map[string]string{"agnostic": c.agnostic}), number(t, r[c.column])
				t.Logf("%s %.1f, want %.1f: %+.3f %%", c.column, got, want, 100*(got/want-1))
				if math.Abs(got/want-1) > c.share {
					t.Errorf("%s: mean %.1f s, want %.1f within %v", c.column, got, want, c.share)
				}
			}
		})
	}
}
