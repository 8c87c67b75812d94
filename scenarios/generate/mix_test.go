package generate_test

import (
	"encoding/csv"
	"math"
	"math/cmplx"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"capcli"
	"capcli/scenarios/generate"
)

// summary reads a row of a published summary of clusters, or skips.
func summary(t *testing.T, file, id string) func(column string) float64 {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", "helios", file))
	if err != nil {
		t.Skipf("the published summaries are not here: %v", err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(rows, func(r []string) bool { return r[0] == id })
	return func(column string) float64 {
		v, err := strconv.ParseFloat(rows[i][slices.Index(rows[0], column)], 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// Both mixes against the published figures that they are fitted to, over a
// million jobs: means within 7 % (the tails are so long that a million jobs
// leave 2 % to chance), the median within 3 %.
func TestMixesAreLikeTheClusters(t *testing.T) {
	for _, tt := range []struct {
		mix, file, id        string
		weeks                capcli.Seconds
		over8, swing, night  float64
		peak, weekend, small float64
	}{
		// GPU time of jobs over 8 GPUs, first daily harmonic and weekends: see mix.go.
		{"philly", "cluster_summary.csv", "Philly", 110, 0.136, 1.8, 0, 5, 0.52, 0.80},
		{"helios", "helios_cluster_summary.csv", "total", 17, -1, 5.2, 0, 17, 0.66, 0.50},
	} {
		t.Run(tt.mix, func(t *testing.T) {
			published := summary(t, tt.file, tt.id)
			w := generate.Workload{Start: monday, Span: tt.weeks * 7 * capcli.Day, Mix: tt.mix}
			var n, runs, gpus, work, single, large, longest, weekend float64
			var times []float64
			var minutes [24 * 60]float64 // jobs by minute of the day
			for j := range eachJob(t, w, 4) {
				run := float64(j.Run)
				n, runs, gpus, work = n+1, runs+run, gpus+float64(j.GPUs), work+run*float64(j.GPUs)
				times, longest = append(times, run), max(longest, run)
				if j.GPUs == 1 {
					single++
				}
				if j.GPUs > 8 {
					large += run * float64(j.GPUs)
				}
				if d := (j.Submit/86400 + 4) % 7; d == 0 || d == 6 { // 1970-01-01 was a Thursday; 0 is Sunday
					weekend++
				}
				minutes[j.Submit%86400/60]++
			}
			slices.Sort(times)
			var wave complex128
			for i, count := range minutes {
				wave += cmplx.Rect(count, 2*math.Pi*(float64(i)+0.5)/float64(len(minutes)))
			}
			if math.Abs(n/w.Expected()-1) > 0.01 || n < 900_000 {
				t.Errorf("%v jobs, expected about %v", n, w.Expected())
			}
			perJob := (published("complete_gpu_time") + published("cancel_gpu_time") + published("fail_gpu_time")) / jobsOf(published, tt.id)
			level := 2 * cmplx.Abs(wave) / n
			for _, c := range []struct {
				name           string
				got, want, tol float64
			}{
				{"mean run time", runs / n, published("avg_run_time_gpu"), 0.07},
				{"median run time", times[len(times)/2], published("med_run_time_gpu"), 0.03},
				{"mean GPUs", gpus / n, published("avg_gpu_num"), 0.03},
				{"GPU-seconds of a job", work / n, perJob, 0.07},
				{"weekend against weekday", weekend / 2 / ((n - weekend) / 5), tt.weekend, 0.02},
				{"busiest over quietest hour", (1 + level) / (1 - level), tt.swing, 0.04},
				{"peak hour", math.Mod(cmplx.Phase(wave)/2/math.Pi*24+24, 24), tt.peak, 0.02},
				{"GPU time of jobs over 8 GPUs", large / work, tt.over8, 0.15},
			} {
				t.Logf("%-28s %10.3f, published %10.3f", c.name, c.got, c.want)
				if c.want >= 0 && math.Abs(c.got/c.want-1) > c.tol {
					t.Errorf("%s is %.4g, want %.4g ± %.0f %%", c.name, c.got, c.want, 100*c.tol)
				}
			}
			if single/n < tt.small {
				t.Errorf("%.3f of the jobs are on one GPU, want over %.2f", single/n, tt.small)
			}
			if most := map[string]float64{"philly": 4_240_676, "helios": 4_320_009}[tt.mix]; longest > most || longest < most/2 {
				t.Errorf("the longest job takes %v s, want nearly %v", longest, most)
			}
		})
	}
}

// jobsOf is the number of GPU jobs of a cluster.
func jobsOf(published func(string) float64, id string) float64 {
	if id == "total" {
		return published("gpu_job_num")
	}
	return published("job_num")
}
