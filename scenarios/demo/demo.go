// Package demo makes a small world to try the program on: a job log of six weeks, two scenarios and
// prices. It also names the commands to type, from a first look to the page of a meeting.
package demo

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"capcli"
	"capcli/profile"
	"capcli/profile/logs/jobfile"
	"capcli/profile/store"
	"capcli/scenarios"
)

// Recording is the folder of the world that has what the GPUs did.
const Recording = "recording"

// File is a file of the world.
type File struct {
	Name string
	Text []byte
}

const work = `capcli: scenario/v1
name: work
period: 2026-09-07 to 2026-10-18
jobs:
  generate:
    classes:
      - {name: training, kind: random, mean_gpus: 10, sizes: [{gpus: 1, weight: 4}, {gpus: 4, weight: 3}, {gpus: 8, weight: 2}],
         run_median: 2h, run_p95: 14h, run_max: 1d, day_swing: 3, peak_hour: 14, weekend: 0.5, tenants: [{name: research, weight: 2}, {name: product}]}
      - {name: finetune, kind: random, mean_gpus: 6, sizes: [{gpus: 1}, {gpus: 2, weight: 2}],
         run_median: 3h, run_p95: 10h, run_max: 1d, day_swing: 2, peak_hour: 13, weekend: 0.6, tenants: [{name: product}]}
      - {name: notebook, kind: random, mean_gpus: 2, sizes: [{gpus: 1}],
         run_median: 5h, run_p95: 9h, run_max: 12h, day_swing: 6, peak_hour: 9, weekend: 0.2, tenants: [{name: research}]}
      - {name: serving, kind: steady, gpus: 4, job_gpus: 2, every: 1d, tenants: [{name: product}]}
      - {name: nightly, kind: steady, gpus: 8, job_gpus: 4, every: 1d, busy_share: 0.3, tenants: [{name: product}]}
capacity: [{name: base, kind: reserved, gpus: 8, price: 2}]
`

// does says what the GPUs of the jobs of a class do.
var does = map[string]profile.FakeWork{
	"training": profile.FakeTraining, "finetune": profile.FakeStarved, "notebook": profile.FakeNotebook,
	"serving": profile.FakeInference, "nightly": profile.FakeDecode,
}

const plan = `capcli: scenario/v1
name: %s
jobs: {from: jobs.csv}
prices: prices.csv
capacity:
  - {name: base, kind: reserved, fenced: true, gpus: %d, term: 3mo, price: own/here/box/3mo}
  - {name: burst, kind: on_demand, price: own/here/box/on_demand}
policy: easy
overflow: {patience: 30m}
limits: {wait_p95: 30m}
`

const list = `provider,region,machine,gpu,gpus,term,usd_per_hour,date,source
own,here,box,H100,1,on_demand,3.90,2026-09-01,made up for the demo
own,here,box,H100,1,3mo,2.20,2026-09-01,made up for the demo
own,here,box,H100,1,spot,1.50,2026-09-01,made up for the demo
`

// World is the small world.
type World struct {
	Files []File
	seed  capcli.Seed
	boxes [boxes][]profile.FakeStay
	first profile.Instant // midnights between which the boxes are recorded
	last  profile.Instant
}

// NewWorld makes the world. The same seed gives the same bytes.
func NewWorld(seed capcli.Seed) (*World, error) {
	s, err := scenarios.Parse("work.yaml", []byte(work))
	if err != nil {
		return nil, err
	}
	drawn, made := s.Generated(scenarios.Options{Seed: seed})
	if !made {
		return nil, fmt.Errorf("%s makes no jobs", s.Name)
	}
	w := &World{seed: seed, first: profile.Instant(s.Period.Start) * 1e6, last: profile.Instant(s.Period.End) * 1e6}
	jobs, err := w.place(drawn, s.Period.End)
	if err != nil {
		return nil, err
	}
	to, err := jobfile.FileOf("jobs.csv")
	if err != nil {
		return nil, err
	}
	var log bytes.Buffer
	if err := to.Write(&log, capcli.StreamJobs(jobs), nil); err != nil {
		return nil, err
	}
	w.Files = []File{
		{"jobs.csv", log.Bytes()},
		{"prices.csv", []byte(list)},
		{"few.yaml", fmt.Appendf(nil, plan, "few", 8)},
		{"many.yaml", fmt.Appendf(nil, plan, "many", 32)},
	}
	return w, nil
}

// The demo's cluster: boxes of eight GPUs.
const (
	boxes = 4
	gpus  = 8
)

// place gives each job in turn the earliest time at which a box has GPUs enough for it, the first such box, and returns
// the jobs that start in the period as the log has them at its end.
func (w *World) place(drawn capcli.Jobs, end capcli.Time) (out []capcli.Job, err error) {
	var free [boxes][gpus]capcli.Time
	for j, err := range drawn {
		if err != nil {
			return nil, err
		}
		j.Submit -= j.Submit % minute
		j.Run = max(minute, j.Run-j.Run%minute)
		best, at := 0, capcli.Time(math.MaxInt64)
		for b := range free {
			slots := free[b]
			slices.Sort(slots[:])
			if t := max(j.Submit, slots[j.GPUs-1]); t < at {
				best, at = b, t
			}
		}
		if at >= end {
			continue
		}
		j.Start, j.End, j.State = at, at+capcli.Time(j.Run), "COMPLETED"
		stay := profile.FakeStay{Job: j.ID, Tenant: j.Tenant, Work: does[j.Class], Whole: j.GPUs, From: profile.Instant(at) * 1e6, To: profile.Instant(j.End) * 1e6}
		for g := range free[best] {
			if len(stay.GPUs) < j.GPUs && free[best][g] <= at {
				free[best][g] = j.End
				stay.GPUs = append(stay.GPUs, g)
			}
		}
		w.boxes[best] = append(w.boxes[best], stay)
		if j.End > end {
			j.Run, j.End, j.State = capcli.Seconds(end-at), capcli.NoTime, "RUNNING"
		}
		out = append(out, j)
	}
	return out, nil
}

const minute = 60

// Record writes what capcli profile would have recorded of the cluster into a folder, as the sums by hour of its boxes.
func (w *World) Record(disk store.Disk, folder string) error {
	past := profile.NewFakePast(w.seed)
	for b, stays := range w.boxes {
		host := fmt.Sprintf("gpu-%02d", b+1)
		err := store.WriteHours(unsynced{disk}, folder, host, "capcli demo", func(yield func(*profile.Span) bool) {
			past.Spans(host, b, w.first, w.last, stays, func(s *profile.Span) { yield(s) })
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// unsynced is a disk that waits for no write: what a loss of power takes is made again.
type unsynced struct{ store.Disk }

func (d unsynced) Create(name string) (store.File, error) {
	f, err := d.Disk.Create(name)
	return unsyncedFile{f}, err
}

func (unsynced) SyncDir(string) error { return nil }

type unsyncedFile struct{ store.File }

func (unsyncedFile) Sync() error { return nil }

// Commands returns the commands to type after that which writes the world into a folder, from what the GPUs did to the
// quotas of what is chosen. docs/one-cluster.md walks through them.
func Commands(folder string) []string {
	in := func(name string) string { return capcli.ShellWord(folder + "/" + name) }
	return []string{
		"capcli profile summary " + in(Recording) + " --price 2.20 --table tenants",
		"capcli forecast " + in("jobs.csv") + " --step 1d --horizon 13w",
		"capcli simulate " + in("few.yaml") + " " + in("many.yaml") + " --out " + in("runs"),
		"capcli compare " + in("runs/few") + " " + in("runs/many"),
		"capcli decide --trace " + in("jobs.csv") + " --trace " + in(Recording) + " --gpu H100 --horizon 13w --prices " + in("prices.csv") + " --tiers rules --out " + in("decision"),
		"# and the command that it prints after next:, which plays the tiers on the past",
		"capcli report " + in("decision/decision.json") + " " + in("decision/runs/work-tiers") + " --out " + in("meeting.html"),
		"capcli report --check " + in("meeting.html"),
		"capcli emit " + in("decision/tiers.json") + " --scenario " + in("decision/tiers.yaml") + " --prices " + in("prices.csv") + " --as kueue --out " + in("kueue.yaml"),
	}
}
