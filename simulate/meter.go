package simulate

import (
	"capcli"
)

// meter counts what happens to jobs.
type meter struct {
	cpuOnly, killed   int64
	finishedN         int64
	unplaceable       int64
	refused           []Refused
	preemptions, lost int64
	firstAt, lastAt   capcli.Seconds // first and last submission
	lastEnd           capcli.Seconds
	arrivedN          int64
	wait              tally
	jct               int64   // sum
	slowdown          float64 // sum, in order of finishing
	misses, deadlines int64
	goodput, redone   capcli.GPUTime
	queueNow          int64
	queueMax          int64
	queueArea         int64
	queueSince        capcli.Seconds
	byTenant          []tenantMeter
	mix               [maxLevel + 2]int64
}

// tenantMeter is the same for one tenant.
type tenantMeter struct {
	jobs, finished, preempted int64
	wait                      tally
}

// Refused is a job that can never run, and why.
type Refused struct {
	ID, Tenant, Partition, GPUModel string
	GPUs                            int
	Why                             string
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
		m.byTenant = append(m.byTenant, tenantMeter{})
	}
	m.byTenant[l.tenant.index].jobs++
}

func (m *meter) cannot(e *engine, l *Live) {
	m.unplaceable++
	if len(m.refused) < refusedShown {
		m.refused = append(m.refused, Refused{l.ID, l.Tenant, l.Partition, l.GPUModel, l.GPUs, e.whyNot(l)})
	}
}

func (m *meter) queued(now capcli.Seconds, n int64) {
	m.queueArea += m.queueNow * int64(now-m.queueSince)
	m.queueSince = now
	m.queueNow += n
	// A job that starts at once is in the queue for no time: it counts when
	// the instant has settled and it is still there, see settle.
}

func (m *meter) settle() { m.queueMax = max(m.queueMax, m.queueNow) }

// stayed counts the wait of a job whose first stay is over, or is cut off by the
// end of the run, and tells whether it did. A stay that ends within the lead
// time of its capacity never began, and the job has yet to start.
func (m *meter) stayed(l *Live, now capcli.Seconds) bool {
	switch {
	case l.waited:
		return false
	case l.Since > now:
		l.FirstStart = -1
		return false
	}
	l.waited = true
	m.wait.add(l.Wait())
	m.byTenant[l.tenant.index].wait.add(l.Wait())
	return true
}

func (m *meter) preempted(l *Live, lost bool) {
	m.preemptions++
	if lost {
		m.lost++
	}
	m.byTenant[l.tenant.index].preempted++
}

func (m *meter) finished(e *engine, l *Live) {
	m.finishedN++
	m.byTenant[l.tenant.index].finished++
	m.lastEnd = e.c.now
	jct := e.c.now - l.Submitted
	m.jct += int64(jct)
	m.slowdown += max(1, float64(jct)/float64(max(l.Run, 10)))
	m.goodput += l.Work()
	m.redone += capcli.GPUTime(int64(l.Lost) * l.Milli())
	if l.Deadline.Known() && l.Deadline != 0 {
		m.deadlines++
		if e.ledger.rec.Start+capcli.Time(e.c.now) > l.Deadline {
			m.misses++
		}
	}
}
