package scenarios

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"capcli"
)

// LogSurvey collects from the jobs of a log what a scenario for it needs: see Fit. The zero value
// is ready to use. It needs 32 bytes for each job with a recorded start and end.
type LogSurvey struct {
	MachineGPUs int64 // as stated in the log's header; 0 is unknown

	jobs, cpuOnly int64
	first, last   capcli.Time
	ends          capcli.Time // end of the last job if none waits
	work          capcli.GPUTime
	recorded      capcli.GPUTime  // the part of work by jobs with a recorded start and end
	days          map[int64]int64 // jobs that want GPUs, by day of submission (days since 1970)
	groups        map[wish]*logGroup
	tenants       map[string]capcli.GPUTime
}

// logGroup is the jobs of one partition that ask for one GPU model.
type logGroup struct {
	work capcli.GPUTime
	most int64                     // GPUs of the largest job, in thousandths
	held capcli.Steps[capcli.Time] // GPUs held over time, in thousandths
}

// Jobs returns the number of jobs.
func (s *LogSurvey) Jobs() int64 { return s.jobs }

// Period returns the days on which jobs that want GPUs were submitted, as whole days in
// UTC. It leaves out stragglers: a log of what ran in a time has a few jobs that were
// submitted long before. The period is unknown if no job wants a GPU.
func (s *LogSurvey) Period() Period {
	if len(s.groups) == 0 {
		return Period{capcli.NoTime, capcli.NoTime}
	}
	const day = capcli.Time(capcli.Day)
	days := slices.Sorted(maps.Keys(s.days))
	return Period{capcli.Time(s.firstDay(days)) * day, capcli.Time(days[len(days)-1]+1) * day}
}

// firstDay returns the day on which submissions become dense: the last day before which at most a
// hundredth of the jobs came, over at least a tenth of the days and at a tenth of the mean rate or
// less. Without such a day it returns the first day.
func (s *LogSurvey) firstDay(days []int64) int64 {
	first, last := days[0], days[len(days)-1]
	all, before := s.jobs-s.cpuOnly, int64(0)
	from := first
	for _, d := range days {
		if 100*before > all {
			break
		}
		if share := float64(d-first) / float64(last-first+1); before > 0 && share >= 0.1 && share >= 10*float64(before)/float64(all) {
			from = d
		}
		before += s.days[d]
	}
	return from
}

// stragglers returns the number of jobs submitted before the period.
func (s *LogSurvey) stragglers() int64 {
	n, from := int64(0), int64(s.Period().Start)/int64(capcli.Day)
	for d, jobs := range s.days {
		if d < from {
			n += jobs
		}
	}
	return n
}

// Add adds a job, in any order.
func (s *LogSurvey) Add(j *capcli.Job) {
	s.jobs++
	if j.Milli() == 0 {
		s.cpuOnly++
		return
	}
	if s.groups == nil {
		s.groups, s.tenants, s.days = map[wish]*logGroup{}, map[string]capcli.GPUTime{}, map[int64]int64{}
		s.first, s.last = j.Submit, j.Submit
	}
	s.first, s.last = min(s.first, j.Submit), max(s.last, j.Submit)
	s.days[int64(j.Submit)/int64(capcli.Day)]++
	s.ends = max(s.ends, j.Submit+capcli.Time(j.Run))
	w := wish{j.Partition, j.GPUModel}
	g := s.groups[w]
	if g == nil {
		g = &logGroup{}
		s.groups[w] = g
	}
	work := j.Work()
	s.work += work
	g.work += work
	s.tenants[j.Tenant] += work
	if j.Run > 0 {
		g.most = max(g.most, j.Milli())
	}
	if j.Start.IsKnown() && j.End.IsKnown() && j.End > j.Start {
		s.recorded += work
		g.held.Add(j.Start, j.End, j.Milli())
	}
}

// sizedBy is the source of the sizes of the pools.
type sizedBy uint8

const (
	byUse    sizedBy = iota // the peak of GPUs in use in the log
	byHeader                // the size that the log's header states
	byWork                  // a size at which the log's work keeps four fifths of the GPUs busy
)

// basis returns the source of the sizes: the header if it states a size. The peak in use counts
// only when jobs with nine tenths of the work have a recorded start and end.
func (s *LogSurvey) basis() sizedBy {
	switch {
	case s.MachineGPUs > 0:
		return byHeader
	case s.recorded > 0 && float64(s.recorded) >= 0.9*float64(s.work):
		return byUse
	}
	return byWork
}

// fittedPool is a pool that the log suggests.
type fittedPool struct {
	partition, model string
	gpus             int64
	peakAt           capcli.Time // byUse: the first time of the peak; else NoTime
	group            *logGroup
}

// pools returns a pool for each partition and GPU model, or for each model if shared is true. A job
// that names no model, or several, counts for one that serves it: see home.
func (s *LogSurvey) pools(shared bool) []fittedPool {
	merged := map[wish]*logGroup{}
	for _, w := range slices.SortedFunc(maps.Keys(s.groups), compareWishes) {
		into := s.home(w)
		if shared {
			into.partition = ""
		}
		if merged[into] == nil {
			merged[into] = &logGroup{}
		}
		merged[into].join(s.groups[w])
	}
	var out []fittedPool
	for _, w := range slices.SortedFunc(maps.Keys(merged), compareWishes) {
		p := fittedPool{partition: w.partition, model: w.model, group: merged[w]}
		p.gpus, p.peakAt = s.size(merged[w])
		out = append(out, p)
	}
	if s.basis() == byHeader {
		shareOut(out, s.MachineGPUs)
	}
	return out
}

// home returns the group in which jobs of a wish are counted. For several models it is the first.
// Without a model it is the model with the most work in the partition.
func (s *LogSurvey) home(w wish) wish {
	first, _, _ := strings.Cut(w.model, "|")
	if first != "" {
		return wish{w.partition, first}
	}
	var best wish
	var most capcli.GPUTime
	for o, g := range s.groups {
		if o.partition != w.partition || o.model == "" {
			continue
		}
		o.model, _, _ = strings.Cut(o.model, "|")
		if best.model == "" || g.work > most || g.work == most && o.model < best.model {
			best, most = o, g.work
		}
	}
	return wish{w.partition, best.model}
}

func (g *logGroup) join(o *logGroup) {
	g.work += o.work
	g.most = max(g.most, o.most)
	g.held.Join(&o.held)
}

func compareWishes(a, b wish) int {
	return cmp.Or(cmp.Compare(a.partition, b.partition), cmp.Compare(a.model, b.model))
}

// size returns the number of GPUs that a group of jobs needs. at is the first time of the peak,
// NoTime if the size is not that of the peak.
func (s *LogSurvey) size(g *logGroup) (gpus int64, at capcli.Time) {
	least := max((g.most+999)/1000, 1)
	if s.basis() != byUse {
		const node = 8
		return (max(least, s.mostBusy(g)) + node - 1) / node * node, capcli.NoTime
	}
	peak, at := g.peak()
	return max(least, (peak+999)/1000), at
}

// mostBusy returns the number of GPUs that the work of a group keeps four fifths busy
// from the first submission to the end of the last job.
func (s *LogSurvey) mostBusy(g *logGroup) int64 {
	span := int64(s.ends - s.first)
	if span <= 0 {
		return 0
	}
	return (int64(g.work)/1000*5 + span*4 - 1) / (span * 4)
}

// peak returns the peak of GPUs held by the group, in thousandths, and its first time. A job that
// ends frees its GPUs for one that starts at the same time.
func (g *logGroup) peak() (milli int64, at capcli.Time) {
	if milli, at = g.held.Peak(); milli == 0 {
		at = capcli.NoTime
	}
	return milli, at
}

// Size returns the number of GPUs that one pool for all jobs needs, and the reason as text.
func (s *LogSurvey) Size() (gpus int64, why string) {
	all := &logGroup{}
	for _, g := range s.groups {
		all.join(g)
	}
	gpus, _ = s.size(all)
	switch {
	case s.basis() == byHeader:
		return s.MachineGPUs, "as the log's header says"
	case s.basis() == byUse:
		return gpus, "the most in use at once in the log"
	case s.mostBusy(all)*1000 <= all.most:
		return gpus, "room for its largest job"
	}
	return gpus, "so that its jobs keep at most four fifths of it busy"
}

// inUse returns the most GPUs that all jobs held at once.
func (s *LogSurvey) inUse() int64 {
	all := &logGroup{}
	for _, g := range s.groups {
		all.held.Join(&g.held)
	}
	milli, _ := all.peak()
	return (milli + 999) / 1000
}

// shareOut divides the GPUs of a machine among its pools in proportion to their needs.
// No pool gets less than its largest job needs.
func shareOut(pools []fittedPool, machine int64) {
	if len(pools) == 1 {
		pools[0].gpus = machine
		return
	}
	var all int64
	for i := range pools {
		all += pools[i].gpus
	}
	for i := range pools {
		least := max((pools[i].group.most+999)/1000, 1)
		pools[i].gpus = max(least, pools[i].gpus*machine/max(all, 1))
	}
}
