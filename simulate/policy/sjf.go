package policy

import (
	"capcli"
	"capcli/simulate"
)

func init() {
	Catalog.Add("sjf", "shortest job first, by limit; the head of the line waits, or with skip is passed over", func(s simulate.Settings) simulate.Policy {
		return sjf{skip: s.Skip, byGPUs: s.ByGPUs}
	})
}

// sjf starts the job with the shortest estimated run time and waits for it if it does not fit
// (Smith, "Various optimizers for single-stage production", 1956). With byGPUs the time is
// multiplied by the GPUs: smallest service first.
type sjf struct{ skip, byGPUs bool }

// Believes declares that it uses estimates of run times.
func (sjf) Believes() {}

func (p sjf) Schedule(t *simulate.Turn) { startInOrder(t, p.skip) }

func (p sjf) Key(l *simulate.Live) int64 { return service(l, l.LeftBelieved(l.Since), p.byGPUs) }

// service returns a key for a length of time: in seconds, or with byGPUs in thousandths of
// GPU-seconds.
func service(l *simulate.Live, s capcli.Seconds, byGPUs bool) int64 {
	if byGPUs {
		return int64(s) * max(1, l.Milli())
	}
	return int64(s)
}
