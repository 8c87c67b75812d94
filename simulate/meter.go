package simulate

import (
	"capcli"
)

// meter counts jobs and sums their figures.
type meter struct {
	cpuOnly, killed   int64
	finishedN         int64
	unplaceable       int64
	droppedN          int64
	cancelledN        int64
	refused           []Refused
	preemptions, lost int64
	resizes           int64
	stops             int64
	firstAt, lastAt   capcli.Seconds // first and last submission
	lastEnd           capcli.Seconds
	arrivedN          int64
	all               group
	bySize            [len(sizeEnds) + 1]group
	refusals          []refusal
	open              []capcli.Seconds // waits until the end of the run of jobs that still wait for their first start
	jctFinished       int64            // sum
	queuedFor         int64            // sum of seconds spent waiting, over all waits of all jobs
	slowdown          float64          // sum over finished jobs in order of finishing, then over open jobs
	slowdownFinished  float64
	misses, deadlines int64
	tardiness         capcli.Seconds // sum over finished jobs
	goodput, redone   capcli.GPUTime
	storedMB          int64 // MB-hours of checkpoints in storage
	queueNow          int64
	queueMax          int64
	queueArea         int64
	queueSince        capcli.Seconds
	byTenant          []group
	byPayer           []group // by number of the job's tags: see Record.Payers; nil until a job has tags
	counted           [4]*group
	over              *overTime // nil unless asked for
	mix               [maxLevel + 2]int64
}

// Refused is a job that can never run, and why.
type Refused struct {
	ID        string `json:"job_id"`
	Tenant    string `json:"tenant"`
	Partition string `json:"partition"`
	GPUModel  string `json:"gpu_model"`
	GPUs      int    `json:"gpus"`
	Why       string `json:"why"`
}

const refusedShown = 20

func (m *meter) arrived(e *engine, l *Live) {
	if m.arrivedN == 0 {
		m.firstAt = e.c.now
	}
	m.arrivedN++
	m.lastAt = e.c.now
	l.class.arrived += l.Work()
	l.class.jobs++
	m.mix[min(l.GPUs, maxLevel+1)]++
	for len(m.byTenant) <= l.tenant.index {
		m.byTenant = append(m.byTenant, group{})
	}
	for _, g := range m.groups(l) {
		g.jobs++
	}
	if m.over != nil {
		m.over.want(l.Milli(), l.Submitted, l.Run)
	}
}

// groups returns the groups in which l counts. They are valid until the next call.
func (m *meter) groups(l *Live) []*group {
	return m.groupsOf(l.tenant.index, sizeRange(l.AskedGPUs()), int(l.payer))
}

// groupsOf returns the groups of a tenant, a range of sizes and a payer.
func (m *meter) groupsOf(tenant, size, payer int) []*group {
	m.counted = [...]*group{&m.all, &m.byTenant[tenant], &m.bySize[size], nil}
	if m.byPayer == nil {
		return m.counted[:3]
	}
	m.counted[3] = &m.byPayer[payer]
	return m.counted[:]
}

func (m *meter) cannot(e *engine, l *Live) {
	m.unplaceable++
	due := l.Deadline.IsKnown() && l.Deadline != 0
	m.refusals = append(m.refusals, refusal{l.Submitted, l.Run, int32(l.tenant.index), int32(sizeRange(l.GPUs)), l.payer, due, false, 0})
	if len(m.refused) < refusedShown {
		m.refused = append(m.refused, Refused{l.ID, l.Tenant, l.Partition, l.GPUModel, l.GPUs, e.classes.whyNot(l)})
	}
}

// queued counts n more waiting jobs, which want milli thousandths of GPUs in all.
func (m *meter) queued(now capcli.Seconds, n, milli int64) {
	if m.over != nil {
		m.over.queued(now, n, n*milli)
	}
	m.queueArea += m.queueNow * int64(now-m.queueSince)
	m.queueSince = now
	m.queueNow += n
	// A job that starts at once is in the queue for no time: it counts when
	// the instant has settled and it is still there, see settle.
}

func (m *meter) settle() { m.queueMax = max(m.queueMax, m.queueNow) }

// stayed counts the first wait of a job at the end of its first stay, or at the end of the run. A
// stay that ends before its capacity was delivered never began, so the job has yet to start.
func (m *meter) stayed(l *Live, now capcli.Seconds) {
	switch {
	case l.waited:
		return
	case l.Since > now:
		l.FirstStart = -1
		return
	}
	l.waited = true
	for _, g := range m.groups(l) {
		g.wait.over.add(l.Wait())
	}
}

// cancelled counts a job that was cancelled before it arrived. It missed its deadline, if it has one.
func (m *meter) cancelled(e *engine, j *capcli.Job) {
	m.cancelledN++
	if e.dueOf(j) != noDue {
		m.deadlines++
		m.misses++
	}
}

// spoil takes the work of l, which has finished in failure, from the work that counts, and returns it.
func (m *meter) spoil(l *Live) capcli.GPUTime {
	work := l.Work()
	if l.mould != nil {
		work = l.mould.useful
	}
	m.goodput -= work
	m.redone += work
	return work
}

func (m *meter) preempted(l *Live, lost bool) {
	m.preemptions++
	if lost {
		m.lost++
	}
	for _, g := range m.groups(l) {
		g.preempted++
	}
}

func (m *meter) finished(e *engine, l *Live) {
	m.finishedN++
	m.lastEnd = e.c.now
	jct := e.c.now - l.Submitted
	slow := slowdown(jct, l.Run)
	for _, g := range m.groups(l) {
		g.finished++
		g.jct += jct
		g.slowdown += slow
	}
	m.jctFinished += int64(jct)
	m.queuedFor += int64(l.Queued)
	m.slowdown += slow
	m.slowdownFinished += slow
	if l.mould != nil {
		m.goodput += l.mould.useful
		m.redone += l.mould.lost
	} else {
		m.goodput += l.Work()
		m.redone += capcli.GPUTime(int64(l.Lost) * l.Milli())
	}
	if l.Deadline.IsKnown() && l.Deadline != 0 {
		m.deadlines++
		if e.overdue(l, e.c.now) {
			m.misses++
			m.tardiness += e.c.now - l.dueAt
		}
	}
}
