package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"capcli"
	"capcli/scenarios/outcome"
	"capcli/scenarios/strict"
	"capcli/simulate"
)

// Intake counts the jobs that a run of a scenario admits. The zero value is ready to use. An Intake
// serves one reading of the jobs.
type Intake struct {
	Outside int64 // jobs submitted outside the period, which are left out
	// Campaigns says what became of the planned training runs.
	Campaigns []outcome.Campaign

	read, cpuOnly, served int64 // jobs in the period; of them, jobs without a GPU and jobs that some pool serves
	first, last           capcli.Time
	wishes                map[wish]bool // whether some pool serves each wish seen
	lastWish              wish          // the wish of the job before; lastServes is its answer
	lastServes            bool
	models, partitions    map[string]int64
	waits                 simulate.WaitTally
	speed                 []outcome.Speed // by entry of Scenario.Speed; nil until a job came
	shaped                []shapedJobs    // by rule
}

// wish is the partition and GPU model that a job asks for; "" is any.
type wish struct{ partition, model string }

// Admit returns the jobs of a log that s simulates: those of its period, without their GPU model if
// s runs jobs on any model. The stream ends with *capcli.InputError when no such job is left: the
// log is empty, all jobs are outside the period, none wants a GPU, or no pool serves them. The
// error names what the log and the scenario have, and a remedy.
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

// AdmitPeriod returns the jobs of the period, at the speed that the scenario states, and counts the
// others. When the scenario runs jobs on any GPU model, it removes the model from the jobs.
func (s *Scenario) AdmitPeriod(jobs capcli.Jobs, in *Intake) capcli.Jobs {
	p, anyModel := s.Period, s.Jobs.AnyModel
	if !p.IsKnown() && !anyModel && len(s.Speed) == 0 && len(s.Shapes) == 0 {
		return jobs
	}
	return func(yield func(capcli.Job, error) bool) {
		for j, err := range jobs {
			if err == nil && p.IsKnown() && (j.Submit < p.Start || j.Submit >= p.End) {
				in.spread(j.Submit, in.Outside == 0)
				in.Outside++
				continue
			}
			if len(s.Shapes) > 0 && err == nil {
				err = s.giveShape(&j, in)
			}
			if len(s.Speed) > 0 && err == nil {
				s.hasten(&j, in)
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

// spread extends the range of submissions outside the period by at. only marks the first of them.
func (in *Intake) spread(at capcli.Time, only bool) {
	if only {
		in.first, in.last = at, at
	}
	in.first, in.last = min(in.first, at), max(in.last, at)
}

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
	if in.lastServes || j.Shape != nil && s.servesShape(j) {
		in.served++
	} else {
		in.models[j.GPUModel]++
		in.partitions[j.Partition]++
	}
	if j.Start.IsKnown() && j.Milli() > 0 {
		in.waits.Add(max(0, capcli.Seconds(j.Start-j.Submit)))
	}
}

// isServed reports whether some pool of s serves w. It caches the answer.
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

// RecordedWaits returns the waits that the log records for the jobs: start less
// submission. Jobs is 0 when the log has no starts.
func (in *Intake) RecordedWaits() simulate.Stats { return in.waits.Stats() }

// serves reports whether some pool may run jobs of wish w. A pool from a file of nodes counts as
// having every model.
func (s *Scenario) serves(w wish) bool {
	return slices.ContainsFunc(s.Capacity, func(c Capacity) bool {
		if c.Floats {
			return false
		}
		p := simulate.Pool{GPUModel: c.GPUModel, Partition: c.Partition}
		return p.Serves(w.partition, w.model) || c.NodesFile != "" && p.Serves(w.partition, "")
	})
}

// servesShape reports whether some pool may run j in one of the ways of its shape.
func (s *Scenario) servesShape(j *capcli.Job) bool {
	return slices.ContainsFunc(j.Shape.Ways, func(w capcli.Way) bool {
		return w.Model != "" && s.serves(wish{j.Partition, w.Model})
	})
}

// fault returns the reason why no job is left; nil if some pool serves a job.
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

// named lists the names of a count, most frequent first, at most twelve.
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

// String returns the period as a scenario states it: days for whole days, else
// instants.
func (p Period) String() string {
	if !p.IsKnown() {
		return "all of the jobs' time"
	}
	if p.Start%capcli.Time(capcli.Day) == 0 && p.End%capcli.Time(capcli.Day) == 0 {
		return p.Start.Date() + " to " + (p.End - 1).Date()
	}
	return p.Start.Std().Format(time.RFC3339) + " to " + p.End.Std().Format(time.RFC3339)
}

// days formats a range of time as its first and last day.
func days(first, last capcli.Time) string {
	if first.Date() == last.Date() {
		return "on " + first.Date()
	}
	return first.Date() + " to " + last.Date()
}
