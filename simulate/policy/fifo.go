package policy

import "capcli/simulate"

func init() {
	Catalog.Add("fifo", "first come, first served; with skip, a job that does not fit is passed over", func(s simulate.Settings) simulate.Policy { return fifo{s.Skip} })
}

// fifo starts jobs in order of arrival and waits at the first that does not fit, so
// that no later job can delay an earlier one. With skip it passes over a job that does
// not fit (the "fjf" of Gu et al., Tiresias, NSDI 2019); a large job may then wait for
// ever.
type fifo struct{ skip bool }

func (p fifo) Schedule(t *simulate.Turn) { startInOrder(t, p.skip) }

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
