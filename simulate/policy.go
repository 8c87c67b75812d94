package simulate

import "capcli"

// Policy decides which waiting jobs start at the end of an instant. It asks through the Turn, which
// answers at once; only the engine changes state. Each queue has its own Policy value, so a policy
// may keep state.
type Policy interface {
	Schedule(t *Turn)
}

// Keyed is a Policy with its own order: smaller keys first, ties by arrival. The engine asks for the key once
// each time that a job joins the queue, which is at its Since, also after a preemption. Turn.Rekey changes it.
type Keyed interface {
	Key(l *Live) int64
}

// Preemptor is a Policy that takes GPUs away from running jobs. Preemption.Preempt panics for
// other policies, so that a caller can rely on Preempts.
type Preemptor interface {
	Preempts()
}

// Dropper is a Policy that gives jobs up: see Preemption.Drop. Preemption.Drop panics for other policies.
type Dropper interface {
	// Drops returns which jobs it gives up, as text; "" where it gives up none with its settings.
	Drops() string
}

// Believer is a Policy that uses estimates of run times, which are limits or
// predictions. Other policies ignore the limits of jobs.
type Believer interface {
	Believes()
}

// Remarker is a Policy that says after a run what a reader of its figures must know; "" is nothing.
type Remarker interface {
	Remark() string
}

// Settings are the user's settings of a policy.
type Settings struct {
	Perfect   bool                      // use true run times instead of limits
	Limits    []capcli.GPUTime          // las: bounds between its queues, in attained GPU time
	Round     capcli.Seconds            // preemptive policies decide only at multiples of this; 0 is at every event
	Quantum   capcli.Seconds            // gang: length of a job's turn; 0 is a minute
	Skip      bool                      // fifo, sjf, priority, qssf: pass over a job that does not fit
	BySubmit  bool                      // las: order within a queue by submission alone, whether running or not
	ByGPUs    bool                      // srtf, sjf: multiply the time by the GPUs (shortest service first)
	Predicted map[string]capcli.Seconds // qssf: predictions by job id, which replace its own
	Own       map[string]capcli.Seconds // settings that a policy declares itself, by name; a missing one has its default
	Choices   map[string]string         // settings of words that a policy declares itself, by name
	Rules     any                       // settings of a policy in a type of its own, such as *policy.Slurm; nil is none
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
