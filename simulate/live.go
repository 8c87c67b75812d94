package simulate

import "capcli"

// state is the stage of a job's life.
type state uint8

const (
	waiting state = iota
	running
	finished
	refused // can never run
	dropped // given up by the policy: see Preemption.Drop
)

// Live is a job during a run: its data from the trace and its current state. A policy reads it;
// only the engine writes it. The Live of a finished job is reused for another job, so an observer
// must not keep it.
type Live struct {
	// What a policy asks of each waiting job comes first, together in memory.
	state      state
	ripe       bool // waits, and its patience has ended
	due        bool // became ripe since the queue's last turn
	resting    bool // waits for the end of a back-off
	putOff     bool // is in no queue, until its start or its next part
	heldBack   bool // over its tenant's cap of pending jobs
	over       bool // whether its run time exceeds its limit
	cut        bool // whether the current stay ends at its limit, before its work is done
	starting   bool // holds GPUs that are ordered but not delivered
	waited     bool // whether the wait for the first start has been counted
	spoilt     bool // see Spoilt; set at its end
	class      *Reach
	tenant     *Tenant
	layout     *layout        // what its Shape asks of the place where it runs; nil if nothing
	mould      *mould         // of a job with a Shape; else nil
	allowances []*allowance   // what it counts against: see gate
	opens      capcli.Seconds // time from which it waits: its submission, or the start that a Delayer chose
	Believed   capcli.Seconds // the scheduler's estimate of the job's whole run time

	capcli.Job
	Submitted  capcli.Seconds // since the run's start
	FirstStart capcli.Seconds // first time it held its GPUs; -1 before
	Since      capcli.Seconds // start of the current stay or wait
	Ended      capcli.Seconds // end of the job; -1 before
	Queued     capcli.Seconds // time spent waiting, over all waits
	Lost       capcli.Seconds // run time lost to restarts
	Preempted  int            // number of times it lost its GPUs
	Yielded    int            // of these, and of those to come after a grace, taken by a policy
	Key        int64          // the policy's order, smaller first; set when it joins a queue
	Mark       int64          // free for the policy

	queue    *queue
	rc       *RestartClass  // how the job saves its work in the current stay, or in the last
	priority *PriorityClass // nil if none matches
	bucket   *bucket        // the queue's bucket for its demand; nil if it is in none
	pace     *pace          // how fast its stay goes; nil before it shares anything
	slices   []Slice
	holds    []Hold
	seq      uint64         // order of arrival, the last tie-breaker; with Config.Stages the place in the list
	number   uint64         // order of arrival, from 1
	saved    capcli.Seconds // work safe in a checkpoint or in memory
	overhead capcli.Seconds // restart time at the start of the current stay
	spent    capcli.Seconds // part of its limit used by suspended stays
	dueAt    capcli.Seconds // see DueTime
	believes capcli.Seconds // estimated end of the current stay
	leaves   capcli.Seconds // end of its grace; 0 if it was not preempted in this stay
	run      uint32         // number of the current stay; an old Finish carries an old number
	slot     int32          // see Slot
	payer    int32          // number of its tags: see Record.Payers; 0 is none
	profile  int32          // number of the MIG profile that it wants: see Cluster.profileNumber; 0 is none
	tries    int32          // see Retried
}

// Hold is the GPU time that a job had in one pool.
type Hold struct {
	Pool   int
	Since  capcli.Time // the last of Record.Cuts at or before the stay; Record.Start if there is none
	Used   capcli.GPUTime
	Billed capcli.GPUTime // with the pool's minimum billing time and whole machines
}

func (h *Hold) add(used, billed capcli.GPUTime) {
	h.Used += used
	h.Billed += billed
}

// TimeLeft returns the true remaining work if the job stopped now without loss. It is for policies
// that may know true run times.
func (l *Live) TimeLeft(now capcli.Seconds) capcli.Seconds {
	return max(0, l.Run-l.saved-l.ran(now))
}

// LeftBelieved returns the remaining work by the scheduler's estimate, at least 1 s.
func (l *Live) LeftBelieved(now capcli.Seconds) capcli.Seconds {
	return max(1, l.Believed-l.saved-l.ran(now))
}

// Attained returns the job's GPU time so far (attained service).
func (l *Live) Attained(now capcli.Seconds) capcli.GPUTime {
	if m := l.mould; m != nil {
		return m.useful + capcli.GPUTime(int64(l.ran(now))*l.Milli())
	}
	return capcli.GPUTime(int64(l.saved+l.ran(now)) * l.Milli())
}

// ran returns the time of the current stay in which the job made progress, at full speed; 0 while it waits.
func (l *Live) ran(now capcli.Seconds) capcli.Seconds {
	switch {
	case l.state != running:
		return 0
	case l.pace.isOn():
		return l.pace.ran(now)
	}
	return max(0, now-l.Since-l.overhead)
}

// EndBelieved returns the end of the current stay by the scheduler's estimate.
func (l *Live) EndBelieved() capcli.Seconds { return l.believes }

// Wait returns the time from submission to the first start, without the time by which the start was
// put off: see Delayer.
func (l *Live) Wait() capcli.Seconds { return max(0, l.FirstStart-l.opens) }

// IsPutOff reports whether the job is in no queue, because it may not run yet: see Delayer. Policies that
// keep lists of their own leave it alone until it is fresh again.
func (l *Live) IsPutOff() bool { return l.putOff }

// OverQuota reports whether a quota, a cap, a budget or its Delay forbids the job to start now.
func (l *Live) OverQuota() bool {
	return l.resting || l.putOff || l.tenant.Quota > 0 && l.tenant.used+l.LeastGPUs() > l.tenant.Quota || len(l.allowances) > 0 && l.isHeld(*l.tenant.now)
}

// Holder returns the tenant of the job.
func (l *Live) Holder() *Tenant { return l.tenant }

// Overhead returns the restart time of the current stay, or of the next while the job
// waits.
func (l *Live) Overhead() capcli.Seconds { return l.overhead }

// Restarting returns the remaining part of Overhead.
func (l *Live) Restarting(now capcli.Seconds) capcli.Seconds {
	if l.state != running || now < l.Since {
		return l.overhead
	}
	return max(0, l.overhead-(now-l.Since))
}

// Saves returns how the job saves its work in the current stay, or in the last.
func (l *Live) Saves() *RestartClass { return l.rc }

// Slot returns a small number that no other live job has. An observer can use it as an
// index for notes about the job until the job has finished.
func (l *Live) Slot() int { return int(l.slot) }

// Reach returns where the job may run.
func (l *Live) Reach() *Reach { return l.class }

// Alike returns a job with the same demands and the same pools as l.
func (l *Live) Alike() *Live {
	return &Live{
		Job:     capcli.Job{GPUs: l.GPUs, GPUMilli: l.GPUMilli, CPUMilli: l.CPUMilli, MemMiB: l.MemMiB, GPUMemMiB: l.GPUMemMiB, Shape: l.Shape},
		profile: l.profile, class: l.class, tenant: l.tenant, allowances: l.allowances, layout: l.layout,
	}
}

// WithoutPlace returns a copy of l, to ask what would fit, that may go anywhere; nil if that is so
// anyway.
func (l *Live) WithoutPlace() *Live {
	if l.layout == nil {
		return nil
	}
	free := *l
	free.layout = nil
	return &free
}

// Stay returns a number that changes with each start and each stop of the job.
func (l *Live) Stay() uint32 { return l.run }

// Pool returns the pool of the current stay, or of the last.
func (l *Live) Pool() int { return int(l.slices[0].Pool) }

// Waiting reports whether the job waits in its queue.
func (l *Live) Waiting() bool { return l.state == waiting }

// Running reports whether the job holds GPUs.
func (l *Live) Running() bool { return l.state == running }

// Refused reports whether the job can never run on these pools.
func (l *Live) Refused() bool { return l.state == refused }

// Index returns the number of the job in the order of arrival, from 0.
func (l *Live) Index() int64 { return int64(l.number) - 1 }

// Place returns the number of the job in the order of ties, from 0: its Index, or with Config.Stages its
// place in the list.
func (l *Live) Place() int64 { return int64(l.seq) - 1 }

// Retried returns how often the job has been tried again after a failure.
func (l *Live) Retried() int { return int(l.tries) }

// Spoilt reports whether the job, which has finished, has ended in failure or at its limit.
func (l *Live) Spoilt() bool { return l.spoilt || l.cut || l.over }

// Slices returns where the job runs, or last ran.
func (l *Live) Slices() []Slice { return l.slices }

// Holds returns the GPU time of the job up to its last stop, by pool and by part of the
// record between Record.Cuts.
func (l *Live) Holds() []Hold { return l.holds }

// slab allocates Lives and reuses them, so a run allocates as many as are alive at once.
type slab struct {
	free   []*Live
	moulds []*mould
	made   int32
	live   int
}

const slabPage = 256

func (s *slab) get() *Live {
	if len(s.free) == 0 {
		page := make([]Live, slabPage)
		for i := range page {
			page[len(page)-1-i].slot = s.made
			s.made++
			s.free = append(s.free, &page[len(page)-1-i])
		}
	}
	l := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	s.live++
	slot, run, slices, holds := l.slot, l.run, l.slices[:0], l.holds[:0]
	*l = Live{} // this alone clears it in place
	l.slot, l.run, l.slices, l.holds, l.FirstStart, l.Ended = slot, run+1, slices, holds, -1, -1
	return l
}

func (s *slab) put(l *Live) {
	l.Job = capcli.Job{} // let the strings go
	if l.mould != nil {
		s.moulds, l.mould = append(s.moulds, l.mould), nil
	}
	s.free = append(s.free, l)
	s.live--
}
