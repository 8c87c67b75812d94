package simulate

import (
	"slices"

	"capcli"
)

// Stats are figures of the waits of all jobs that arrived. A quantile is the nearest rank: the
// smallest value with at least that share of the jobs at or below it. A job that never started
// counts as waiting longer than all that did. A quantile among such jobs is known only as a lower
// bound: see KnowsRank.
type Stats struct {
	Jobs, Started      int64
	Mean               float64 // over all jobs; jobs that never started count until the end of the run
	MeanStarted        float64 // over the jobs that started
	P50, P95, P99, Max capcli.Seconds
}

// KnowsRank reports whether the quantile of a percentage is exact. If not, its field is a lower
// bound: the quantile with waits counted until the end of the run.
func (s *Stats) KnowsRank(percent int64) bool {
	return capcli.NearestRank(percent, s.Jobs) <= s.Started
}

// NeverStarted returns the number of jobs that did not start.
func (s *Stats) NeverStarted() int64 { return s.Jobs - s.Started }

// firstWaits holds the waits for the first start: over for jobs that started, cut for
// jobs that still waited at the end of the run.
type firstWaits struct{ over, cut tally }

func (f *firstWaits) stats() Stats {
	f.over.sort()
	f.cut.sort()
	started, never := f.over.count(), f.cut.count()
	s := Stats{Jobs: started + never, Started: started}
	if s.Jobs == 0 {
		return s
	}
	s.Mean = float64(f.over.sum+f.cut.sum) / float64(s.Jobs)
	if started > 0 {
		s.MeanStarted = float64(f.over.sum) / float64(started)
	}
	until := &f.over // the waits from which lower bounds are read
	if never > 0 {
		until = &tally{zeros: f.over.zeros + f.cut.zeros, values: slices.Concat(f.over.values, f.cut.values)}
		until.sort()
	}
	for _, q := range []struct {
		percent int64
		to      *capcli.Seconds
	}{{50, &s.P50}, {95, &s.P95}, {99, &s.P99}, {100, &s.Max}} {
		from := until
		if s.KnowsRank(q.percent) {
			from = &f.over
		}
		*q.to = from.valueAt(capcli.NearestRank(q.percent, s.Jobs))
	}
	return s
}

// group sums the jobs of one tenant or of one range of sizes.
type group struct {
	jobs, finished, preempted int64
	wait                      firstWaits
	jct                       capcli.Seconds // sum of completion times; an open job counts until the end of the run
	slowdown                  float64        // sum
	possible, done            capcli.GPUTime // see Served; by tenant and by tags alone
}

func (g *group) result() JobStats {
	s := JobStats{Jobs: g.jobs, Finished: g.finished, Preempted: g.preempted, Wait: g.wait.stats(), Possible: g.possible, Done: g.done}
	if g.jobs > 0 {
		s.MeanSlowdown = g.slowdown / float64(g.jobs)
		s.MeanJCT = float64(g.jct) / float64(g.jobs)
	}
	return s
}

// JobStats are figures of a group of jobs.
type JobStats struct {
	Jobs, Finished, Preempted int64
	Wait                      Stats
	MeanJCT                   float64        // mean completion time (end - submission); an open job counts until the end of the run
	MeanSlowdown              float64        // mean bounded slowdown over the same jobs
	Possible, Done            capcli.GPUTime // see Served; of tenants and tags alone
}

// ServedShare returns the share of the possible work that was done; 1 if none was possible.
func (s *JobStats) ServedShare() float64 {
	if s.Possible == 0 {
		return 1
	}
	return float64(s.Done) / float64(s.Possible)
}

// SizeResult is the figures of the jobs in a range of GPU counts.
type SizeResult struct {
	Least, Most int // range in GPUs; Most is 0 in the last range, which is open
	JobStats
}

// sizeEnds are the upper ends, in GPUs, of the ranges of sizes; the last range is open. The ranges
// are no GPU, one, less than a node of eight, one node, four nodes, sixteen nodes, and more.
var sizeEnds = [...]int{0, 1, 7, 8, 32, 128}

func sizeRange(gpus int) int {
	for i, most := range sizeEnds {
		if gpus <= most {
			return i
		}
	}
	return len(sizeEnds)
}

// sizes returns the ranges of sizes that have jobs.
func (m *meter) sizes() []SizeResult {
	var out []SizeResult
	for i := range m.bySize {
		if m.bySize[i].jobs == 0 {
			continue
		}
		s := SizeResult{JobStats: m.bySize[i].result()}
		if i > 0 {
			s.Least = sizeEnds[i-1] + 1
		}
		if i < len(sizeEnds) {
			s.Most = sizeEnds[i]
		}
		out = append(out, s)
	}
	return out
}

// refusal is what the end of the run needs to know of a job that can never run or was dropped.
type refusal struct {
	submitted, run capcli.Seconds
	tenant, size   int32
	payer          int32
	due            bool           // it has a deadline
	started        bool           // its wait has been counted before
	putOff         capcli.Seconds // time by which its start was put off
}

// closeJobs counts the open jobs. Their waits and completion times count until the end of the run.
func (e *engine) closeJobs(end capcli.Seconds) {
	m := &e.meter
	for l := range e.allOpen() {
		waited := min(0, end-l.Since) // negative for a job whose capacity is ordered: Queued then includes time after the end
		if l.state == waiting {
			waited = max(0, end-l.Since)
		}
		m.cutOff(&refusal{l.Submitted, l.askedRun(), int32(l.tenant.index), int32(sizeRange(l.AskedGPUs())), l.payer, e.overdue(l, end), l.waited, l.opens - l.Submitted}, end)
		m.queuedFor += int64(l.Queued + waited)
		if !l.waited {
			m.open = append(m.open, max(0, end-l.opens))
		}
		e.serve(l, e.progress(l))
		e.delays.count(l, end)
	}
	for i := range m.refusals {
		m.cutOff(&m.refusals[i], end)
		m.queuedFor += int64(end - m.refusals[i].submitted)
	}
}

// overdue reports whether l's deadline is before a time.
func (e *engine) overdue(l *Live, at capcli.Seconds) bool {
	return l.Deadline.IsKnown() && l.Deadline != 0 && e.ledger.rec.Start+capcli.Time(at) > l.Deadline
}

// cutOff counts a job that was open at the end of the run, can never run, or was dropped.
func (m *meter) cutOff(j *refusal, end capcli.Seconds) {
	so := end - j.submitted
	for _, g := range m.groupsOf(int(j.tenant), int(j.size), int(j.payer)) {
		g.jct += so
		g.slowdown += slowdown(so, j.run)
		if !j.started {
			g.wait.cut.add(so - min(so, j.putOff))
		}
	}
	m.slowdown += slowdown(so, j.run)
	if j.due {
		m.deadlines++
		m.misses++
	}
}

// means sets the means over jobs and the makespan.
func (m *meter) means(r *Result) {
	if m.arrivedN == 0 {
		return
	}
	n := float64(m.arrivedN)
	r.MeanJCT, r.BoundedSlowdown, r.MeanQueueTime = float64(m.all.jct)/n, m.slowdown/n, float64(m.queuedFor)/n
	r.Makespan = r.Ended - m.firstAt
	if m.finishedN == m.arrivedN {
		r.Makespan = m.lastEnd - m.firstAt
	}
	if m.finishedN > 0 {
		r.JCTFinished, r.SlowdownEnded = float64(m.jctFinished)/float64(m.finishedN), m.slowdownFinished/float64(m.finishedN)
	}
}

// slowdown returns the bounded slowdown of a job (Feitelson and Rudolph 1998).
func slowdown(jct, run capcli.Seconds) float64 { return max(1, float64(jct)/float64(max(run, 10))) }
