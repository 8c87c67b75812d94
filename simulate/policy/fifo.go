package policy

import "capcli/simulate"

func init() {
	OwnChoices.Add("line", "fifo: a job that waits for others joins the line when it is ready, or keeps the place of its submission", []string{"ready", "submitted"})
	Catalog.Add("fifo", "first come, first served; with skip, a job that does not fit is passed over", func(s simulate.Settings) simulate.Policy {
		if s.Choices["line"] == "submitted" {
			return listed{fifo{s.Skip}}
		}
		return fifo{s.Skip}
	})
}

// fifo starts jobs in order of arrival and waits at the first that does not fit, so
// that no later job can delay an earlier one. With skip it passes over a job that does
// not fit (the "fjf" of Gu et al., Tiresias, NSDI 2019); a large job may then wait for
// ever.
type fifo struct{ skip bool }

func (p fifo) Schedule(t *simulate.Turn) { startInOrder(t, p.skip) }

// listed is fifo in which a job that waited for others has the place of its submission, as by the job ids
// of a Slurm without priorities.
type listed struct{ fifo }

// Key is the same for all jobs: ties are in the order of submission.
func (listed) Key(*simulate.Live) int64 { return 0 }

// startInOrder starts jobs in the queue's order up to the first that does not fit, or all that fit
// if skip is true.
func startInOrder(t *simulate.Turn, skip bool) {
	if skip {
		for l := range t.Fitting() {
			t.Start(l)
		}
		return
	}
	for l := range t.Queue() {
		if !t.Start(l) {
			return
		}
	}
}
