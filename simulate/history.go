package simulate

import (
	"cmp"
	"slices"
	"time"

	"capcli"
)

// History is what became of jobs that another scheduler placed. Result gives it the figures and the
// record of a run.
type History struct {
	Start    capcli.Time
	End      capcli.Seconds // of the accounts
	Pools    []Pool
	Tenants  []Tenant
	Jobs     []Past // in order of submission
	Cuts     []capcli.Time
	Hourly   bool
	Timeline bool           // also the history over time: see Result.Timeline
	Zone     *time.Location // of the hours of the week of Timeline; nil is UTC
	CPUJobs  bool           // also count jobs that want no GPU; else they are left out
}

// Past is a job whose stays are known.
type Past struct {
	ID         string
	Tenant     int // index in History.Tenants
	Partition  string
	GPUs       int   // wanted
	Milli      int64 // thousandths of GPUs that a run of it holds
	Submit     capcli.Seconds
	Run        capcli.Seconds
	Pools      []int // those that it may use, in order of preference
	Stays      []PastStay
	Done       bool   // it finished at the end of its last stay
	NeverFits  string // why it can never run; "" if it can
	HeldBefore bool   // its first stay began before time 0
}

// PastStay is the time for which a job held GPUs.
type PastStay struct {
	From, To  capcli.Seconds
	Holds     []PastHold
	Preempted bool // it ended by preemption, and its work is lost
}

// PastHold is what a stay holds of a pool.
type PastHold struct {
	Pool  int
	Milli int64
}

// poolChange is a change of what is used and wanted of a pool.
type poolChange struct {
	at           capcli.Seconds
	used, wanted int64
}

// historian sums a history up.
type historian struct {
	*History
	m       meter
	g       ledger
	changes [][]poolChange // by pool
	queue   []poolChange   // number of waiting jobs, as wanted, and the GPUs they want, as used
	classes []ServedClass
	running int64
}

// Result returns the figures of the history, as a run has them. It fails with *AccountError if the
// accounts do not balance.
func (h *History) Result() (*Result, error) {
	s := &historian{History: h, changes: make([][]poolChange, len(h.Pools))}
	s.g.rec = Record{Start: h.Start, Pools: h.Pools}
	for i := range h.Tenants {
		s.g.rec.Tenants = append(s.g.rec.Tenants, h.Tenants[i].Name)
	}
	if h.Hourly {
		s.g.rec.Hourly = newHourly(h.Start)
	}
	s.g.cut(h.Cuts)
	if h.Timeline {
		s.g.over = newOverTime(&s.g, h.Zone, h.End)
	}
	s.m.byTenant = make([]group, len(h.Tenants))
	for i := range h.Jobs {
		s.job(&h.Jobs[i])
	}
	for p := range h.Pools {
		s.pool(p)
	}
	return s.result()
}

func (s *historian) job(j *Past) {
	m := &s.m
	if j.Milli == 0 && !s.CPUJobs {
		m.cpuOnly++
		return
	}
	if m.arrivedN == 0 {
		m.firstAt = j.Submit
	}
	m.arrivedN++
	m.lastAt = j.Submit
	if s.g.over != nil {
		s.g.over.want(j.Milli, j.Submit, j.Run)
	}
	groups := []*group{&m.all, &m.byTenant[j.Tenant], &m.bySize[sizeRange(j.GPUs)]}
	waited, since := capcli.Seconds(0), j.Submit
	for i := range j.Stays {
		x := &j.Stays[i]
		if !j.HeldBefore || i > 0 {
			s.waits(j, since, x.From)
			waited += x.From - since
		}
		s.stay(j, x)
		since = x.To
		if x.Preempted {
			m.preemptions++
		}
	}
	for _, g := range groups {
		g.jobs++
		if len(j.Stays) > 0 {
			g.wait.over.add(max(0, j.Stays[0].From-j.Submit))
		}
		for i := range j.Stays {
			if j.Stays[i].Preempted {
				g.preempted++
			}
		}
	}
	progress := s.state(j, groups, since)
	if j.waitsAtEnd() {
		s.waits(j, since, s.End)
		waited += s.End - since
	}
	m.queuedFor += int64(waited)
	s.serve(j, progress)
}

func (j *Past) waitsAtEnd() bool {
	return !j.Done && (len(j.Stays) == 0 || j.Stays[len(j.Stays)-1].Preempted)
}

// state counts how the job ended and returns its progress.
func (s *historian) state(j *Past, groups []*group, end capcli.Seconds) capcli.Seconds {
	m := &s.m
	if j.Done {
		m.finishedN++
		m.lastEnd = max(m.lastEnd, end)
		jct := end - j.Submit
		for _, g := range groups {
			g.finished++
			g.jct += jct
			g.slowdown += slowdown(jct, j.Run)
		}
		m.jctFinished += int64(jct)
		m.slowdown += slowdown(jct, j.Run)
		m.slowdownFinished += slowdown(jct, j.Run)
		m.goodput += capcli.GPUTime(j.Milli * int64(j.Run))
		return j.Run
	}
	started := len(j.Stays) > 0
	m.cutOff(&refusal{j.Submit, j.Run, int32(j.Tenant), int32(sizeRange(j.GPUs)), 0, false, started, 0}, s.End)
	switch {
	case j.NeverFits != "" && !started:
		m.unplaceable++
		if len(m.refused) < refusedShown {
			m.refused = append(m.refused, Refused{ID: j.ID, Tenant: s.Tenants[j.Tenant].Name, Partition: j.Partition, GPUs: j.GPUs, Why: j.NeverFits})
		}
	case !started:
		m.open = append(m.open, s.End-j.Submit)
	case !j.waitsAtEnd():
		s.running++
		return min(j.Run, s.End-j.Stays[len(j.Stays)-1].From)
	}
	return 0
}

// waits adds a wait of a job to the queue and to what pools are wanted for.
func (s *historian) waits(j *Past, from, to capcli.Seconds) {
	if to <= from {
		return
	}
	s.queue = append(s.queue, poolChange{from, j.Milli, 1}, poolChange{to, -j.Milli, -1})
	for _, p := range j.Pools {
		s.changes[p] = append(s.changes[p], poolChange{from, 0, j.Milli}, poolChange{to, 0, -j.Milli})
	}
}

func (s *historian) stay(j *Past, x *PastStay) {
	from := max(0, x.From)
	lost := capcli.Seconds(0)
	if x.Preempted {
		lost = x.To - from
	}
	for _, h := range x.Holds {
		if x.To > from && h.Milli > 0 {
			s.g.stay(h.Pool, j.Tenant, 0, h.Milli, from, x.To, lost)
			s.changes[h.Pool] = append(s.changes[h.Pool], poolChange{from, h.Milli, 0}, poolChange{x.To, -h.Milli, 0})
		}
		s.m.redone += capcli.GPUTime(h.Milli * int64(lost))
	}
}

// pool charges the use of a pool over time. Where more is held than the pool has, that counts as
// offered too.
func (s *historian) pool(p int) {
	pool := &s.Pools[p]
	if !pool.Terms.Committed() {
		s.elastic(p)
		return
	}
	list := append(s.changes[p], poolChange{at: pool.From}, poolChange{at: s.End})
	if pool.Until > 0 {
		list = append(list, poolChange{at: pool.Until})
	}
	slices.SortFunc(list, func(a, b poolChange) int { return cmp.Compare(a.at, b.at) })
	var a account
	for i, c := range list {
		s.g.touch(p, &a, min(c.at, s.End))
		a.used += c.used
		a.wanted += c.wanted
		if i+1 < len(list) && list[i+1].at == c.at {
			continue
		}
		a.offered = a.used
		if c.at >= pool.From && (pool.Until == 0 || c.at < pool.Until) {
			a.offered = max(a.used, 1000*int64(pool.Capacity()))
		}
		a.usable = a.offered - a.used
	}
}

// elastic counts the use of an on-demand or spot pool over time.
func (s *historian) elastic(p int) {
	if s.g.over == nil {
		return
	}
	slices.SortFunc(s.changes[p], func(a, b poolChange) int { return cmp.Compare(a.at, b.at) })
	for _, c := range s.changes[p] {
		s.g.over.hold(p, c.used, c.at)
	}
}

// serve counts the work that the job could have done and has done.
func (s *historian) serve(j *Past, progress capcli.Seconds) {
	i := slices.IndexFunc(s.classes, func(c ServedClass) bool { return c.Partition == j.Partition && slices.Equal(c.Pools, j.Pools) })
	if i < 0 {
		i = len(s.classes)
		s.classes = append(s.classes, ServedClass{Partition: j.Partition, Pools: j.Pools})
	}
	c := &s.classes[i].Served
	work, left := capcli.GPUTime(j.Milli*int64(j.Run)), capcli.GPUTime(j.Milli*int64(j.Run-progress))
	c.Possible += work
	c.Done += work - left
	s.m.byTenant[j.Tenant].possible += work
	s.m.byTenant[j.Tenant].done += work - left
	switch {
	case j.NeverFits != "" && len(j.Stays) == 0:
		c.Unplaceable++
		c.Refused += left
	case j.waitsAtEnd():
		c.Waiting++
		c.Backlog += left
	}
}

func (s *historian) result() (*Result, error) {
	m := &s.m
	r := &Result{
		Ended: s.End, Stopped: m.finishedN < m.arrivedN-m.unplaceable,
		Jobs: Counts{
			Read: m.arrivedN + m.cpuOnly, Finished: m.finishedN, Unplaceable: m.unplaceable, CPUOnly: m.cpuOnly,
			Running: s.running, Preemptions: m.preemptions,
		},
		Wait: m.all.wait.stats(), Goodput: m.goodput, Redone: m.redone, Sizes: m.sizes(), Refused: m.refused,
		Record: &s.g.rec, waits: &m.all.wait.over, open: m.open,
	}
	slices.SortStableFunc(s.classes, func(a, b ServedClass) int {
		return cmp.Or(cmp.Compare(a.Partition, b.Partition), slices.Compare(a.Pools, b.Pools))
	})
	r.ServedBy = s.classes
	for i := range s.classes {
		r.Served.add(&s.classes[i].Served)
		if err := s.classes[i].check(); err != nil {
			return nil, err
		}
	}
	r.Jobs.Waiting = r.Served.Waiting
	m.means(r)
	r.QueueMax, r.QueueMean = s.queueLength()
	for i := range s.Tenants {
		t := TenantResult{Name: s.Tenants[i].Name, Weight: 1, JobStats: m.byTenant[i].result()}
		if s.Tenants[i].Weight > 0 {
			t.Weight = s.Tenants[i].Weight
		}
		r.Tenants = append(r.Tenants, t)
	}
	r.Loads = s.load()
	if s.g.over != nil {
		r.Timeline = s.g.over.result(s.End)
		if err := r.Timeline.check(&s.g.rec); err != nil {
			return nil, err
		}
	}
	return r, s.g.rec.check(&r.Jobs)
}

// queueLength returns the most and the mean number of waiting jobs.
func (s *historian) queueLength() (most int64, mean float64) {
	slices.SortFunc(s.queue, func(a, b poolChange) int { return cmp.Compare(a.at, b.at) })
	var now, area int64
	for i, c := range s.queue {
		if s.g.over != nil {
			s.g.over.queued(max(0, c.at), c.wanted, c.used)
		}
		now += c.wanted
		next := s.End
		if i+1 < len(s.queue) {
			next = s.queue[i+1].at
		}
		if next > c.at {
			most = max(most, now)
			area += now * int64(next-c.at)
		}
	}
	if s.End > s.m.firstAt {
		mean = float64(area) / float64(s.End-s.m.firstAt)
	}
	return most, mean
}

// load returns the offered load in total.
func (s *historian) load() []Load {
	l := Load{Jobs: s.m.arrivedN, Span: s.m.lastAt - s.m.firstAt}
	for i := range s.Jobs {
		l.Work += capcli.GPUTime(s.Jobs[i].Milli * int64(s.Jobs[i].Run))
	}
	for i := range s.Pools {
		if p := &s.Pools[i]; p.Terms.Committed() {
			l.GPUs += p.Capacity()
			l.Capacity += capcli.GPUTime(int64(p.Capacity())*int64(p.Offered(s.m.firstAt, s.m.lastAt))) * capcli.GPUSecond
		}
	}
	return []Load{l}
}
