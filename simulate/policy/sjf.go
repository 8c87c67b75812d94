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

// sjf starts the job that is believed to be shortest and waits for it when it
// does not fit (Smith, "Various optimizers for single-stage production", 1956).
// By GPUs it weighs the time by them: smallest service first.
type sjf struct{ skip, byGPUs bool }

// Believes declares that it decides by how long jobs are believed to run.
func (sjf) Believes() {}

func (p sjf) Schedule(t *simulate.Turn) { startInOrder(t, p.skip) }

func (p sjf) Key(l *simulate.Live, now capcli.Seconds) int64 {
	return service(l, l.LeftBelieved(now), p.byGPUs)
}

// service is a length of time as a key, by GPUs in thousandths of GPU-seconds.
func service(l *simulate.Live, s capcli.Seconds, byGPUs bool) int64 {
	if byGPUs {
		return int64(s) * max(1, l.Milli())
	}
	return int64(s)
}
