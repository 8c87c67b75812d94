package simulate

import (
	"cmp"
	"fmt"
	"slices"

	"capcli"
)

// Result is the outcome of a run: figures of its jobs and its capacity.
type Result struct {
	Ended           capcli.Seconds // end of the accounts
	Stopped         bool           // the run ended with jobs open
	Endless         bool           // without a period: jobs were still open fifty years after the last arrival
	Jobs            Counts
	Wait            Stats          // first start - submission, over all jobs that arrived
	MeanQueueTime   float64        // mean seconds spent waiting, over all waits of a job, over all jobs that arrived
	MeanJCT         float64        // mean of end - submission over all jobs that arrived; an open job counts until Ended
	BoundedSlowdown float64        // mean of max(1, JCT / max(run, 10 s)) (Feitelson and Rudolph 1998), over the same jobs
	JCTFinished     float64        // MeanJCT over finished jobs alone
	SlowdownEnded   float64        // BoundedSlowdown over finished jobs alone
	Makespan        capcli.Seconds // first submission to last end; to Ended if a job is open
	QueueMax        int64
	QueueMean       float64        // mean over time, from the first submission to Ended
	Goodput         capcli.GPUTime // work of finished jobs
	Redone          capcli.GPUTime // GPU time held without progress: lost work, checkpoints, restarts
	Fragmentation   float64        // mean over time of free GPUs that a job of the mix could not use
	Tenants         []TenantResult // in order of the record's tenants
	Sizes           []SizeResult   // ranges of GPU counts that have jobs
	Loads           []Load
	Ways            []WayUse  // what jobs with shapes did, by way; nil if none ran
	Resizes         int64     // times that a policy gave a running job another way
	Refused         []Refused // the first jobs that can never run
	Remarks         []string  // of policies: see Remarker
	Interruptions   Interruptions
	Served          Served
	ServedBy        []ServedClass // Served by partition and model, in that order; sums to Served
	Tags            []TagResult   // in order of tag, then value; nil if no job has tags
	Record          *Record
	Budgets         []BudgetPeriod // by tenant and period
	Timeline        *Timeline      // nil unless Config.Timeline is set
	Services        []ServiceRun   // in order of Config.Services
	Near            []Nearness     // over what jobs were spread; nil without domains and shapes with a place
	Levels          []string       // of all pools, from the node to the cluster
	Rooms           []DomainRoom   // by pool and level of domains, from wide to narrow
	Bought          []BoughtPool   // pools of bought nodes; nil if there are none
	MIG             []MIGUse       // of the slices of pools with MIG, in order of pool; nil if there are none
	Delays          *Delays        // of starts that were put off; nil without a Delayer
	Stages          *StageResult   // nil if no job depends on another
	Places          *PlacesResult  // nil if no pool has a place
	Contention      *Contention    // nil if running jobs share nothing beside GPUs

	waits *tally           // of the jobs that started
	open  []capcli.Seconds // waits so far of jobs that have not started; noDue of a dropped job
}

// Availability returns the share of jobs that started within a time of their submission. Jobs that
// can never run count as late. A job that has waited for less than that time at the end of the run
// does not count. It reports false if no job counts.
func (r *Result) Availability(within capcli.Seconds) (float64, bool) {
	in := r.waits.countWithin(within)
	late := r.waits.count() - in + r.Jobs.Unplaceable
	for _, w := range r.open {
		if w > within {
			late++
		}
	}
	if in+late == 0 {
		return 0, false
	}
	return float64(in) / float64(in+late), true
}

// Started returns the number of jobs that have started at least once.
func (r *Result) Started() int64 { return r.Wait.Started }

// Counts are numbers of jobs: read = finished + waiting + starting + running + unplaceable +
// dropped + cancelled + CPU only. A starting job has ordered GPUs that are not delivered yet.
type Counts struct {
	Read        int64 `json:"read"`
	Finished    int64 `json:"finished"`
	Waiting     int64 `json:"waiting"`
	Starting    int64 `json:"starting"`
	Running     int64 `json:"running"`
	Unplaceable int64 `json:"unplaceable"`
	CPUOnly     int64 `json:"without_gpu"`
	Dropped     int64 `json:"dropped"` // given up by the policy before they ended

	Cancelled int64 `json:"cancelled,omitzero"`      // because what they waited for failed: see Stages
	Failed    int64 `json:"failed,omitzero"`         // of Finished, those that ended in failure for good: see Stages
	HeldAfter int64 `json:"held_by_others,omitzero"` // of Waiting, because what they wait for has not happened

	Preemptions int64          `json:"preemptions"`     // by policies and by losses
	Losses      int64          `json:"losses"`          // of Preemptions, by losses of nodes
	Stops       int64          `json:"budget_stops"`    // of Preemptions, because a budget was spent
	Held        int64          `json:"held"`            // of Waiting, because of a quota, a cap or a budget
	Killed      int64          `json:"killed_at_limit"` // ended at their limit
	Deadlines   int64          `json:"with_deadline"`   // jobs whose deadline was met or has passed
	Misses      int64          `json:"deadline_misses"` // of Deadlines, jobs not finished by their deadline
	Tardiness   capcli.Seconds `json:"tardiness_s"`     // sum of end - deadline over the finished jobs that missed theirs
}

// TenantResult is the figures of one tenant's jobs.
type TenantResult struct {
	Name   string
	Weight float64
	JobStats
}

// Load compares the work that arrived for some committed capacity with what that
// capacity offered during the arrivals. Above 1 the queue grows as long as jobs arrive.
// Jobs without committed capacity count only in rows where no job has any.
type Load struct {
	Partition, GPUModel string // "" is all
	Jobs                int64
	Work                capcli.GPUTime
	GPUs                int            // most committed GPUs, at any time, that the jobs may use
	Span                capcli.Seconds // from the first submission to the last
	Capacity            capcli.GPUTime // GPU time that these pools offered in Span, by their dates
}

// Offered returns Work over Capacity; 0 without committed capacity or without a span.
func (l *Load) Offered() float64 {
	if l.Capacity == 0 {
		return 0
	}
	return float64(l.Work) / float64(l.Capacity)
}

// remarks returns what the policies say of the run, each remark once.
func (e *engine) remarks() []string {
	var out []string
	for _, q := range e.queues {
		if p, ok := q.policy.(Remarker); ok {
			if text := p.Remark(); text != "" && !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	return out
}

func (e *engine) result() (*Result, error) {
	m := &e.meter
	end := max(e.c.now, m.lastEnd)
	if e.cfg.Until > 0 { // capacity is paid to the end of the period
		end = e.cfg.Until
	}
	e.c.now = end
	runningNow, startingNow := e.flush()
	m.queued(end, 0, 0)
	e.closeJobs(end)
	stages := e.stages.close(end)
	services := e.svc.closeRun(e)
	e.buy.closeBought(end)
	r := &Result{
		Ended: end, Stopped: e.stopped, Endless: e.endless,
		Jobs: e.countJobs(runningNow, startingNow, stages),
		Wait: m.all.wait.stats(), QueueMax: m.queueMax, Goodput: m.goodput, Redone: m.redone, Sizes: m.sizes(),
		Refused: m.refused, Record: &e.ledger.rec, Budgets: e.gate.budgets(), Loads: e.classes.loads(), Ways: e.shapes.wayRows(), Resizes: m.resizes, Services: services, waits: &m.all.wait.over, open: m.open,
	}
	r.Interruptions, r.Bought = e.interruptions(), e.buy.boughtPools()
	r.Delays, r.Places = e.delays.result(), e.moving.closeMoving(end)
	r.MIG, r.Contention = e.c.sliceUses(end), e.contention.result()
	r.Remarks = e.remarks()
	r.Levels = e.topo.levelOrder()
	r.Near, r.Rooms = e.topo.nearness(r.Levels), e.topo.rooms(end)
	r.Served, r.ServedBy = e.classes.served()
	r.Jobs.Waiting, r.Stages = r.Served.Waiting, stages
	m.means(r)
	if end > m.firstAt {
		r.QueueMean = float64(m.queueArea) / float64(end-m.firstAt)
	}
	for p := range e.c.state {
		if f := &e.c.state[p].frag; f.spent != nil && e.c.pools[p].Terms.Committed() {
			r.Fragmentation += f.mean(m.mix[:], end)
		}
	}
	for i, t := range e.tenants.list {
		tr := TenantResult{Name: t.Name, Weight: t.Weight}
		if i < len(m.byTenant) {
			tr.JobStats = m.byTenant[i].result()
		}
		r.Tenants = append(r.Tenants, tr)
	}
	r.Tags = m.tags(e.ledger.rec.Payers)
	if err := e.closeWatch(); err != nil {
		return r, err
	}
	if o := e.ledger.over; o != nil {
		r.Timeline = o.result(end)
		if err := r.Timeline.check(&e.ledger.rec); err != nil {
			return r, err
		}
	}
	for i := range r.ServedBy {
		if err := r.ServedBy[i].check(); err != nil {
			return r, err
		}
	}
	return r, e.ledger.rec.check(&r.Jobs)
}

// countJobs returns the numbers of jobs, but those that wait.
func (e *engine) countJobs(running, starting int64, stages *StageResult) Counts {
	m := &e.meter
	c := Counts{
		Read: m.arrivedN + m.cpuOnly + m.cancelledN, Finished: m.finishedN, Unplaceable: m.unplaceable, Dropped: m.droppedN, CPUOnly: m.cpuOnly, Cancelled: m.cancelledN,
		Running: running, Starting: starting, Preemptions: m.preemptions, Losses: m.lost, Killed: m.killed,
		Deadlines: m.deadlines, Misses: m.misses, Stops: m.stops, Held: e.heldNow(), Tardiness: m.tardiness,
	}
	if stages != nil {
		c.Failed, c.HeldAfter = stages.Failed, stages.Held
		c.Read += stages.Held
	}
	return c
}

// flush records the stays of running jobs and brings all accounts up to the end.
func (e *engine) flush() (running, starting int64) {
	for l := range e.allRunning() {
		if l.Since > e.c.now {
			starting++
		} else {
			running++
		}
		if p := int(l.slices[0].Pool); e.c.now > l.Since {
			l.charge(e.ledger.stay(p, l.tenant.index, int(l.payer), l.Milli(), l.Since, e.c.now, 0))
			if l.layout != nil || e.c.state[p].domains != nil {
				e.topo.endSpread(l)
			}
		}
		if l.pace.isOn() {
			e.contention.book(l)
		}
		e.meter.stayed(l, e.c.now)
		e.shapes.countOpen(l)
	}
	for p := range e.c.state {
		e.touchPool(p)
	}
	return running, starting
}

// loads returns the offered load in total, by partition, and by GPU model if jobs name one.
func (cs *classes) loads() []Load {
	from, to := cs.e.meter.firstAt, cs.e.meter.lastAt
	rows := map[classKey]*Load{}
	pools := map[classKey][]int{}
	add := func(k classKey, c *Reach) {
		l := rows[k]
		if l == nil {
			l = &Load{Partition: k.partition, GPUModel: k.model}
			rows[k] = l
		}
		l.Jobs += c.jobs
		l.Work += c.arrived
		for _, p := range c.committed {
			if !slices.Contains(pools[k], p) {
				pools[k] = append(pools[k], p)
			}
		}
	}
	for _, committed := range []bool{true, false} {
		for _, c := range cs.list {
			if (len(c.committed) > 0) != committed {
				continue
			}
			for _, k := range cs.loadKeys(c) {
				if committed || rows[k] == nil || len(pools[k]) == 0 {
					add(k, c)
				}
			}
		}
	}
	out := make([]Load, 0, len(rows))
	for k, l := range rows {
		l.Span = to - from
		for _, p := range pools[k] {
			pool := &cs.e.c.pools[p]
			l.Capacity += capcli.GPUTime(int64(pool.Capacity())*int64(pool.Offered(from, to))) * capcli.GPUSecond
			l.GPUs = max(l.GPUs, cs.gpusUntil(pools[k], max(from, pool.From), to))
		}
		out = append(out, *l)
	}
	slices.SortFunc(out, func(a, b Load) int {
		return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.GPUModel, b.GPUModel))
	})
	return out
}

// gpusUntil returns the number of GPUs that the pools offer at a time, by their dates; 0 if the
// time is after last.
func (cs *classes) gpusUntil(pools []int, at, last capcli.Seconds) (gpus int) {
	for _, p := range pools {
		if pool := &cs.e.c.pools[p]; at <= last && pool.Offered(at, at+1) > 0 {
			gpus += pool.Capacity()
		}
	}
	return gpus
}

// loadKeys returns the rows of loads in which a class counts.
func (cs *classes) loadKeys(c *Reach) []classKey {
	keys := []classKey{{}}
	if cs.partitions[c.partition] {
		keys = append(keys, classKey{partition: c.partition})
	}
	if c.model != "" {
		keys = append(keys, classKey{model: c.model})
	}
	return keys
}

// whyNot returns the reason why a job can never run, as text.
func (cs *classes) whyNot(l *Live) string {
	c := l.class
	switch {
	case c.whyBarred() != "":
		return c.whyBarred()
	case len(c.ranks) == 0 && !cs.partitions[l.Partition] && len(cs.partitions) > 0:
		return fmt.Sprintf("no pool serves partition %q", l.Partition)
	case len(c.ranks) == 0 && c.needs > 0 && cs.whyNeeds(l) != "":
		return cs.whyNeeds(l)
	case len(c.ranks) == 0:
		return fmt.Sprintf("no pool has GPU model %q", l.GPUModel)
	case cs.e.shapes.whyNoWay(l) != "":
		return cs.e.shapes.whyNoWay(l)
	case l.tenant.Quota > 0 && l.GPUs > l.tenant.Quota:
		return fmt.Sprintf("wants %d GPUs, its tenant may hold %d", l.GPUs, l.tenant.Quota)
	case cs.whyHeld(l, demandOf(l)) != "":
		return cs.whyHeld(l, demandOf(l))
	case l.layout != nil && cs.e.topo.whyNever(l) != "":
		return cs.e.topo.whyNever(l)
	case l.GPUs > c.most:
		return fmt.Sprintf("wants %d GPUs, the largest pool it may use has %d", l.GPUs, c.most)
	}
	return "no node of an empty pool has the GPUs, CPUs and memory that it wants together"
}
