package policy

import "capcli/simulate"

func init() {
	Catalog.Add("fifo", "first come, first served; with skip, a job that does not fit is passed over", func(s simulate.Settings) simulate.Policy { return fifo{s.Skip} })
}

// fifo starts jobs in the order in which they came and waits at the first that
// does not fit, so that no later job can ever delay an earlier one. With skip
// it goes on with the next (first job first, the "fjf" of Gu et al., Tiresias,
// NSDI 2019), and a large job may then wait without end.
type fifo struct{ skip bool }

func (p fifo) Schedule(t *simulate.Turn) { startInOrder(t, p.skip) }

// startInOrder starts jobs in queue order, up to the first that does not fit,
// or with skip all that fit.
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
