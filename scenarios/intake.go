package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"capcli"
	"capcli/scenarios/strict"
	"capcli/simulate"
)

// Intake lets jobs into a run of a scenario and remembers what it saw. The zero
// value is ready; an Intake serves one reading of the jobs.
type Intake struct {
	Outside int64 // jobs left out, for they were submitted outside the period

	read, cpuOnly, served int64 // jobs; jobs without a GPU; jobs that some pool serves
	first, last           capcli.Time
	wishes                map[wish]bool // whether some pool serves jobs that want this
	lastWish              wish          // of the job before, and its answer
	lastServes            bool
	models, partitions    map[string]int64
	waits                 simulate.WaitTally
}

// wish is what a job demands of a pool.
type wish struct{ partition, model string }

// Admit gives the jobs of a log that s plays: those of its period, wanting any
// GPU model where s says so. The stream ends with *capcli.InputError when no
// job is left to play: the log has none, all are outside the period, none wants
// a GPU, or no pool serves what they want. The error names both sides and what
// mends it.
func (s *Scenario) Admit(jobs capcli.Jobs, in *Intake) capcli.Jobs {
	return func(yield func(capcli.Job, error) bool) {
		for j, err := range s.AdmitPeriod(jobs, in) {
			if err == nil {
				in.note(s, &j)
			}
			if !yield(j, err) || err != nil {
				return
			}
		}
		if err := in.fault(s); err != nil {
			yield(capcli.Job{}, err)
		}
	}
}

// AdmitPeriod gives the jobs of the period and counts the others. Where the scenario
// serves jobs on any GPU model, jobs lose their wish for one.
func (s *Scenario) AdmitPeriod(jobs capcli.Jobs, in *Intake) capcli.Jobs {
	p, anyModel := s.Period, s.Jobs.AnyModel
	if !p.IsKnown() && !anyModel {
		return jobs
	}
	return func(yield func(capcli.Job, error) bool) {
		for j, err := range jobs {
			if err == nil && p.IsKnown() && (j.Submit < p.Start || j.Submit >= p.End) {
				in.spread(j.Submit, in.Outside == 0)
				in.Outside++
				continue
			}
			if anyModel {
				j.GPUModel = ""
			}
			if !yield(j, err) {
				return
			}
		}
	}
}

// spread notes when jobs outside the period were submitted.
func (in *Intake) spread(at capcli.Time, only bool) {
	if only {
		in.first, in.last = at, at
	}
	in.first, in.last = min(in.first, at), max(in.last, at)
}

// note takes a job of the period.
func (in *Intake) note(s *Scenario, j *capcli.Job) {
	in.read++
	if j.Milli() == 0 {
		in.cpuOnly++
		if !s.Jobs.CPUJobs {
			return
		}
	}
	if w := (wish{j.Partition, j.GPUModel}); in.wishes == nil || w != in.lastWish {
		in.lastWish, in.lastServes = w, in.isServed(s, w)
	}
	if in.lastServes {
		in.served++
	} else {
		in.models[j.GPUModel]++
		in.partitions[j.Partition]++
	}
	if j.Start.IsKnown() && j.Milli() > 0 {
		in.waits.Add(max(0, capcli.Seconds(j.Start-j.Submit)))
	}
}

// isServed tells whether s serves a wish, and remembers it.
func (in *Intake) isServed(s *Scenario, w wish) bool {
	if in.wishes == nil {
		in.wishes, in.models, in.partitions = map[wish]bool{}, map[string]int64{}, map[string]int64{}
	}
	serves, known := in.wishes[w]
	if !known {
		serves = s.serves(w)
		in.wishes[w] = serves
	}
	return serves
}

// RecordedWaits are the waits that the log itself tells of the jobs that were
// played: its starts less its submissions. Jobs is 0 where it tells none.
func (in *Intake) RecordedWaits() simulate.Stats { return in.waits.Stats() }

// serves tells whether some pool of the scenario may run jobs of a wish. What
// the nodes of a file are is not known here; they are taken to serve.
func (s *Scenario) serves(w wish) bool {
	return slices.ContainsFunc(s.Capacity, func(c Capacity) bool {
		p := simulate.Pool{GPUModel: c.GPUModel, Partition: c.Partition}
		return p.Serves(w.partition, w.model) || c.NodesFile != "" && p.Serves(w.partition, "")
	})
}

// fault says why no job is left to play; nil where one is.
func (in *Intake) fault(s *Scenario) error {
	anew := "capcli scenarios init --trace LOG --out plan.yaml writes a scenario that fits the log"
	wanted := in.read - in.cpuOnly
	if s.Jobs.CPUJobs {
		wanted = in.read
	}
	switch {
	case in.read == 0 && in.Outside > 0:
		return &capcli.InputError{
			Text: fmt.Sprintf("expected jobs in the period of %s, %s, found none: the %s jobs were submitted %s",
				s.Name, s.Period, capcli.Grouped(in.Outside), days(in.first, in.last)),
			Hint: "--period trace takes the days of the log, --period 'A to B' others; " + anew,
		}
	case in.read == 0:
		return &capcli.InputError{Text: "expected jobs to play, found none", Hint: "capcli trace describe says what is in a log"}
	case wanted == 0:
		return &capcli.InputError{
			Text: fmt.Sprintf("expected jobs that want GPUs, found none among %s", capcli.Grouped(in.read)),
			Hint: "--set jobs.cpu_jobs=true plays jobs that want no GPU too",
		}
	case in.served > 0:
		return nil
	}
	for w := range in.wishes {
		if s.serves(wish{partition: w.partition}) {
			return &capcli.InputError{
				Text: fmt.Sprintf("no pool of %s serves the GPU models that its jobs want: the jobs want %s; the pools have %s", s.Name, named(in.models), s.poolsBy(func(c *Capacity) string { return c.GPUModel })),
				Hint: "--models any runs jobs on GPUs of any model; " + anew,
			}
		}
	}
	return &capcli.InputError{
		Text: fmt.Sprintf("no pool of %s serves the partitions that its jobs were sent to: the jobs were sent to %s; the pools are those of %s", s.Name, named(in.partitions), s.poolsBy(func(c *Capacity) string { return c.Partition })),
		Hint: "--set capacity[0].partition=null makes the first pool serve all; " + anew,
	}
}

// poolsBy lists a property of the pools, each value once.
func (s *Scenario) poolsBy(of func(*Capacity) string) string {
	n := map[string]int64{}
	for i := range s.Capacity {
		n[of(&s.Capacity[i])]++
	}
	return named(n)
}

// named lists the names of a count, the most frequent first, twelve at most.
func named(n map[string]int64) string {
	names := make([]string, 0, len(n))
	for name := range n {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(n[b], n[a]), cmp.Compare(a, b)) })
	const most = 12
	more := ""
	if len(names) > most {
		names, more = names[:most], fmt.Sprintf(" and %d more", len(names)-most)
	}
	for i, name := range names {
		if names[i] = strict.Printable(name); name == "" {
			names[i] = "(none)"
		}
	}
	return strings.Join(names, ", ") + more
}

// String gives the period as a scenario states it: days where it is of whole
// days, else instants.
func (p Period) String() string {
	if !p.IsKnown() {
		return "all of the jobs' time"
	}
	if p.Start%capcli.Time(capcli.Day) == 0 && p.End%capcli.Time(capcli.Day) == 0 {
		return p.Start.Date() + " to " + (p.End - 1).Date()
	}
	return p.Start.Std().Format(time.RFC3339) + " to " + p.End.Std().Format(time.RFC3339)
}

// days are the first and the last day of a stretch of time.
func days(first, last capcli.Time) string {
	if first.Date() == last.Date() {
		return "on " + first.Date()
	}
	return first.Date() + " to " + last.Date()
}
