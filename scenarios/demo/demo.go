// Package demo makes a small world to try the program on: a job log of six weeks, two scenarios and
// prices. It also names the commands to type, from a first look to the page of a meeting.
package demo

import (
	"bytes"
	"fmt"

	"capcli"
	"capcli/profile/jobfile"
	"capcli/scenarios"
)

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
      - {name: training, kind: random, mean_gpus: 20, sizes: [{gpus: 1, weight: 4}, {gpus: 4, weight: 3}, {gpus: 8, weight: 2}],
         run_median: 2h, run_p95: 14h, run_max: 1d, day_swing: 3, peak_hour: 14, weekend: 0.5, tenants: [{name: research, weight: 2}, {name: product}]}
      - {name: nightly, kind: steady, gpus: 8, job_gpus: 4, every: 1d, busy_share: 0.3, tenants: [{name: product}]}
capacity: [{name: base, kind: reserved, gpus: 8, price: 2}]
`

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
`

// Files returns the files of the world. The same seed gives the same bytes.
func Files(seed capcli.Seed) ([]File, error) {
	s, err := scenarios.Parse("work.yaml", []byte(work))
	if err != nil {
		return nil, err
	}
	jobs, made := s.Generated(scenarios.Options{Seed: seed})
	if !made {
		return nil, fmt.Errorf("%s makes no jobs", s.Name)
	}
	to, err := jobfile.FileOf("jobs.csv")
	if err != nil {
		return nil, err
	}
	var log bytes.Buffer
	if err := to.Write(&log, jobs, nil); err != nil {
		return nil, err
	}
	return []File{
		{"jobs.csv", log.Bytes()},
		{"prices.csv", []byte(list)},
		{"few.yaml", fmt.Appendf(nil, plan, "few", 8)},
		{"many.yaml", fmt.Appendf(nil, plan, "many", 32)},
	}, nil
}

// Commands returns the commands to type, from the first look to the page, for the files in a folder.
func Commands(folder string) []string {
	in := func(name string) string { return capcli.ShellWord(folder + "/" + name) }
	return []string{
		"capcli trace describe " + in("jobs.csv"),
		"capcli simulate " + in("few.yaml") + " " + in("many.yaml") + " --out " + in("runs"),
		"capcli compare " + in("runs/few") + " " + in("runs/many"),
		"capcli forecast " + in("jobs.csv") + " --step 1d --horizon 4w",
		"capcli decide --trace " + in("jobs.csv") + " --gpu H100 --horizon 13w --prices " + in("prices.csv") + " --out " + in("decision"),
		"capcli report " + in("decision/decision.json") + " " + in("runs/few") + " --out " + in("meeting.html"),
	}
}
