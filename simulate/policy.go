package simulate

import "capcli"

// Policy decides which waiting jobs start, once an instant has settled. It
// asks through the Turn, which says yes or no at once; the engine alone changes
// anything. Each queue has a policy value of its own, so a policy may remember.
type Policy interface {
	Schedule(t *Turn)
}

// Keyed is a Policy that wants its queue in an order other than arrival:
// smaller keys first, ties by arrival. Key is asked when a job joins the queue,
// also when it comes back after a preemption.
type Keyed interface {
	Key(l *Live, now capcli.Seconds) int64
}

// Preemptor is a Policy that takes GPUs away from jobs that run. Turn.Preempt
// refuses any other, so that who plans with a policy may rely on what it says
// of itself.
type Preemptor interface {
	Preempts()
}

// Believer is a Policy that decides by how long jobs are believed to run: by their
// limits, or by predictions. To any other the limits of jobs are nothing.
type Believer interface {
	Believes()
}

// Settings are what a user may choose about a policy.
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

// NewPolicy makes a policy for one queue.
type NewPolicy func(s Settings) Policy

// Believes reports whether the policy decides by how long jobs are believed to run.
func (n NewPolicy) Believes(s Settings) bool {
	_, believes := n(s).(Believer)
	return believes
}

// Preempts tells whether the policy takes GPUs away from jobs that run.
func (n NewPolicy) Preempts(s Settings) bool {
	_, preempts := n(s).(Preemptor)
	return preempts
}
