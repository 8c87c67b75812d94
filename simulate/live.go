package simulate

import "capcli"

// state is where a job is in its life.
type state uint8

const (
	waiting state = iota
	running
	finished
	refused // can never run
)

// Live is a job inside a run: what the trace said and what has become of it.
// A policy reads it; only the engine writes it. It is used again for another
// job once its own has finished, so an observer must not keep it.
type Live struct {
	capcli.Job
	Submitted  capcli.Seconds // since the run's start
	Believed   capcli.Seconds // how long the scheduler thinks that the whole job runs
	FirstStart capcli.Seconds // first held its GPUs; -1 before
	Since      capcli.Seconds // began its present stay, or its present wait
	Ended      capcli.Seconds // finished for good; -1 before
	Queued     capcli.Seconds // time spent waiting, over all its waits
	Lost       capcli.Seconds // run time lost to restarts
	Preempted  int            // how often it lost its GPUs
	Key        int64          // the policy's order, smaller first; set when it joins a queue
	Mark       int64          // free for the policy

	state    state
	queue    *queue
	class    *Reach
	tenant   *Tenant
	slices   []Slice
	holds    []Hold
	run      uint32         // counts stays; an old Finish names an old one
	seq      uint64         // order of arrival, the last tie-breaker
	saved    capcli.Seconds // work safe in a checkpoint or in memory
	overhead capcli.Seconds // restart time that the present stay began with
	spent    capcli.Seconds // of its limit, in stays that were suspended
	over     bool           // would run for longer than its limit
	cut      bool           // the present stay ends at its limit, before its work is done
	starting bool           // holds GPUs that were ordered and are not there yet
	waited   bool           // the wait for the first start is counted
	believes capcli.Seconds // believed end of the present stay
	slot     int32          // see Slot
	ripe     bool           // waits, and its patience has ended
	due      bool           // since the queue's last turn
	bucket   *bucket        // where the queue has it by what it asks for; nil: nowhere
}

// Hold is GPU time that a job had of one pool.
type Hold struct {
	Pool   int
	Since  capcli.Time // after this instant of Record.Cuts and before the next; Record.Start before the first
	Used   capcli.GPUTime
	Billed capcli.GPUTime // with the pool's minimum billing time
}

func (h *Hold) add(used, billed capcli.GPUTime) {
	h.Used += used
	h.Billed += billed
}

// TimeLeft is the true work still to do were it stopped now without loss: for
// policies that are said to know true run times.
func (l *Live) TimeLeft(now capcli.Seconds) capcli.Seconds {
	return max(0, l.Run-l.saved-l.ran(now))
}

// LeftBelieved is the same by the scheduler's belief; never under a second
// while the job runs on past its limit.
func (l *Live) LeftBelieved(now capcli.Seconds) capcli.Seconds {
	return max(1, l.Believed-l.saved-l.ran(now))
}

// Attained is the GPU time that the job has had so far (attained service).
func (l *Live) Attained(now capcli.Seconds) capcli.GPUTime {
	return capcli.GPUTime(int64(l.saved+l.ran(now)) * l.Milli())
}

// ran is the time of the present stay, 0 while waiting.
func (l *Live) ran(now capcli.Seconds) capcli.Seconds {
	if l.state != running || now < l.Since {
		return 0
	}
	return max(0, now-l.Since-l.overhead)
}

// EndBelieved is when the scheduler thinks that the present stay ends.
func (l *Live) EndBelieved() capcli.Seconds { return l.believes }

// Wait is the time from submission to the first start.
func (l *Live) Wait() capcli.Seconds { return l.FirstStart - l.Submitted }

// OverQuota reports whether a start of the job would take its tenant over its
// quota.
func (l *Live) OverQuota() bool {
	return l.tenant.Quota > 0 && l.tenant.used+l.GPUs > l.tenant.Quota
}

// Holder returns the tenant that the job counts for.
func (l *Live) Holder() *Tenant { return l.tenant }

// Overhead returns the restart time with which the present stay began, or with
// which the next will begin.
func (l *Live) Overhead() capcli.Seconds { return l.overhead }

// Restarting returns what is left of Overhead.
func (l *Live) Restarting(now capcli.Seconds) capcli.Seconds {
	if l.state != running || now < l.Since {
		return l.overhead
	}
	return max(0, l.overhead-(now-l.Since))
}

// Slot returns a number that no other live job has, less than the most that were
// alive at once and some: a place to note something of the job until it has
// finished.
func (l *Live) Slot() int { return int(l.slot) }

// Reach returns where the job may run.
func (l *Live) Reach() *Reach { return l.class }

// Alike returns a job that may run where l may and asks for the same there.
func (l *Live) Alike() *Live {
	return &Live{
		Job:   capcli.Job{GPUs: l.GPUs, GPUMilli: l.GPUMilli, CPUMilli: l.CPUMilli, MemMiB: l.MemMiB},
		class: l.class, tenant: l.tenant,
	}
}

// Stay returns a number that is another one after each start and each stop.
func (l *Live) Stay() uint32 { return l.run }

// Pool returns the pool in which the job runs, or ran last.
func (l *Live) Pool() int { return int(l.slices[0].Pool) }

// Waiting reports whether the job waits in its queue.
func (l *Live) Waiting() bool { return l.state == waiting }

// Running tells whether the job holds GPUs.
func (l *Live) Running() bool { return l.state == running }

// Refused tells whether the job can never run on these pools.
func (l *Live) Refused() bool { return l.state == refused }

// Index counts the jobs of a run in the order in which they came, from 0.
func (l *Live) Index() int64 { return int64(l.seq) - 1 }

// Slices are where the job runs, or ran last.
func (l *Live) Slices() []Slice { return l.slices }

// Holds are the GPU time that the job has had, by pool and, where the record is
// cut, by part, up to its last stop.
func (l *Live) Holds() []Hold { return l.holds }

// slab hands out Lives and takes them back, so that a run allocates for the
// jobs that are alive at once and not for all.
type slab struct {
	free []*Live
	made int32
	live int
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
	*l = Live{slot: l.slot, slices: l.slices[:0], holds: l.holds[:0], run: l.run + 1, FirstStart: -1, Ended: -1}
	return l
}

func (s *slab) put(l *Live) {
	l.Job = capcli.Job{} // let the strings go
	s.free = append(s.free, l)
	s.live--
}
