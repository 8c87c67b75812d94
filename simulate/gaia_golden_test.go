package simulate_test

import (
	"cmp"
	"path/filepath"
	"slices"
	"testing"

	"capcli"
	"capcli/simulate"
)

// GAIA (Hanafy et al., "Going Green for Less Green: Optimizing the Cost of
// Reducing Cloud Carbon Emissions", ASPLOS 2024): nine reserved CPUs, which we
// read as GPUs, and on-demand beyond them. Its clock ticks every five seconds,
// and what a job frees is there for others only a tick after it ended, which a
// tick more of run time says. A job goes to reserved capacity as a whole or not
// at all.
func TestGAIA(t *testing.T) {
	const tick, price, reserved = 5, 0.0624, 9
	hour := capcli.Hour / tick
	for _, c := range []struct {
		file      string
		overflow  simulate.Overflow
		onDemand  float64 // dollars, as the golden folder states them
		committed float64
		tolerance float64
	}{
		{"gaia-carbon-7000-oracle-CONST-9-0x0", simulate.Overflow{}, 116.6607, 37.7367, 0},
		{
			"gaia-cost-7000-oracle-CONST-9-6x24",
			simulate.Overflow{Patience: []simulate.Patience{{MaxRun: 2 * hour, Wait: 6 * hour}, {Wait: 24 * hour}}},
			89.1062, 40.7210, 0.01,
		},
	} {
		t.Run(c.file, func(t *testing.T) {
			var jobs []capcli.Job
			want := peer{starts: map[string]capcli.Seconds{}}
			for _, r := range table(t, filepath.Join(dlDir, c.file+".csv.gz")) {
				if r["ID"] == "-1" {
					continue
				}
				jobs = append(jobs, capcli.Job{
					ID: r["ID"], Submit: capcli.Time(num(t, r["arrival_time"])), Run: capcli.Seconds(num(t, r["length"])) + 1,
					GPUs: int(num(t, r["cpus"])), Deadline: capcli.NoTime,
				})
				want.starts[r["ID"]] = capcli.Seconds(num(t, r["start_time"]))
				want.queue += num(t, r["waiting_time"])
			}
			slices.SortStableFunc(jobs, func(a, b capcli.Job) int { return cmp.Compare(a.Submit, b.Submit) })
			want.jobs = jobs
			pools := []simulate.Pool{
				{Name: "base", Terms: simulate.Reserved, Nodes: 1, GPUsPerNode: reserved},
				{Name: "burst", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 100_000},
			}
			w := &hybridWatch{map[string]bool{}, map[string]float64{}}
			got := replay(t, simulate.Config{
				Pools: pools, Policy: mustPolicy(t, "fifo"), Settings: simulate.Settings{Skip: true}, Placement: mustPlacement(t, "count"),
				Overflow: c.overflow, Observers: []simulate.Observer{w},
			}, jobs)
			var burst, last float64
			for _, j := range jobs {
				last = max(last, w.start[j.ID])
				if w.cloud[j.ID] {
					burst += float64(j.GPUs) * float64(j.Run-1) * tick / 3600 * price
				}
			}
			base := reserved * 0.4 * price * last * tick / 3600
			sameStarts(t, got.starts, want)
			t.Logf("on demand $%.4f, want $%.4f; reserved $%.4f, want $%.4f", burst, c.onDemand, base, c.committed)
			checkNear(t, "dollars", burst+base, c.onDemand+c.committed, max(c.tolerance, 1e-5))
			if want.queue > 0 {
				checkNear(t, "mean wait", got.queued, want.queue/float64(len(jobs)), c.tolerance)
			}
		})
	}
}
