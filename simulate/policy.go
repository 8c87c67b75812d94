package simulate

import "capcli"

// Policy decides which waiting jobs start at the end of an instant. It asks through the
// Turn, which answers at once. Only the engine changes anything. Each queue has its own
// Policy value, so a policy may keep state.
type Policy interface {
	Schedule(t *Turn)
}

// Keyed is a Policy with an order of its own: smaller keys first, ties by arrival. The
// engine asks for the key each time a job joins the queue, also after a preemption.
type Keyed interface {
	Key(l *Live, now capcli.Seconds) int64
}

// Preemptor is a Policy that takes GPUs away from running jobs. Turn.Preempt panics for
// other policies, so that a caller can rely on Preempts.
type Preemptor interface {
	Preempts()
}

// Believer is a Policy that uses estimates of run times, which are limits or
// predictions. Other policies ignore the limits of jobs.
type Believer interface {
	Believes()
}

// Settings are what a user may set for a policy.
type Settings struct {
	Perfect   bool                      // believe true run times in place of limits
	Limits    []capcli.GPUTime          // las: borders between its queues in attained GPU time
	Round     capcli.Seconds            // preemptive policies decide only at multiples of this; 0 at every event
	Quantum   capcli.Seconds            // gang: time until a job's turn is over; 0 is a minute
	Skip      bool                      // fifo, sjf, priority, qssf: pass over a job that does not fit
	BySubmit  bool                      // las: within a queue strictly by submission, whether running or not
	ByGPUs    bool                      // srtf, sjf: weigh the time by the GPUs (shortest service first)
	Predicted map[string]capcli.Seconds // qssf: predictions by job id, in place of its own
	Own       map[string]capcli.Seconds // what a policy declares for itself, by name; missing: its default
}

// NewPolicy returns a policy for one queue.
type NewPolicy func(s Settings) Policy

// Believes reports whether the policy uses estimates of run times.
func (n NewPolicy) Believes(s Settings) bool {
	_, believes := n(s).(Believer)
	return believes
}

// Preempts reports whether the policy takes GPUs away from running jobs.
func (n NewPolicy) Preempts(s Settings) bool {
	_, preempts := n(s).(Preemptor)
	return preempts
}
