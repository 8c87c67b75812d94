package policy

import "capcli/simulate"

func init() {
	Catalog.Add("critical", "longest path first: the job with the most work ahead of it in its workflow; jobs that do not fit are passed over", func(s simulate.Settings) simulate.Policy {
		return critical{s.Choices["strict"] == "true"}
	})
}

// critical starts the job first from which the longest path leads to the end of its workflow: Hu, "Parallel
// Sequencing and Assembly Line Problems" (Operations Research, 1961), the critical-path rule of list
// scheduling. The path is of the estimates of run times, that of the job included; what has run already of
// a preempted job counts too. A job without a workflow has the path of its own run. Ties are in order of
// submission.
//
// With one-GPU jobs the last end is at most 2 - 1/P times the least, on P GPUs (Graham, "Bounds on
// Multiprocessing Timing Anomalies", SIAM J. Appl. Math. 1969).
type critical struct{ strict bool }

// Believes declares that it uses estimates of run times.
func (critical) Believes() {}

func (p critical) Schedule(t *simulate.Turn) { startInOrder(t, !p.strict) }

func (critical) Key(l *simulate.Live) int64 { return -int64(l.LongestPath()) }
