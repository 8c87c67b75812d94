package inputs

import (
	"fmt"

	"capcli"
)

// levels are GPUs by time, which become jobs that are there always.
type levels struct {
	milli []int64                 // thousandths of a GPU in each step
	at    func(i int) capcli.Time // start of step i
	unit  int64                   // whole GPUs of one job: those of a replica
	like  capcli.Job              // its tenant, model and class
}

// mostJobs is the most jobs that levels become.
const mostJobs = 4_000_000

// jobs returns jobs that hold at each time as many GPUs as the levels say, to the thousandth: layers of unit GPUs,
// the last to come being the first to go, and a job for what is left of a unit. A layer is cut at midnight UTC, and
// by the step in the last day, so that the last submission says how far the levels reach.
func (l *levels) jobs() ([]capcli.Job, error) {
	var out []capcli.Job
	end := l.at(len(l.milli))
	put := func(from, to capcli.Time, gpus, milli int64) {
		if to <= from || gpus == 0 {
			return
		}
		j := l.like
		j.ID = fmt.Sprintf("%s-%d", cmpName(l.like.Tenant), len(out)+1)
		j.GPUs, j.GPUMilli = int(gpus), int(milli)
		j.Submit, j.Start, j.End, j.Run = from, from, to, capcli.Seconds(to-from)
		j.Eligible, j.Deadline, j.State = capcli.NoTime, capcli.NoTime, "COMPLETED"
		out = append(out, j)
	}
	var open []capcli.Time // starts of the layers
	var some, part rest
	for i := 0; i <= len(l.milli); i++ {
		t, want := l.at(i), int64(0)
		if i < len(l.milli) {
			want = l.milli[i]
		}
		layers := int(want / (1000 * l.unit))
		cut := i == len(l.milli) || t%capcli.Time(capcli.Day) == 0 || t > end-capcli.Time(capcli.Day)
		for len(open) > layers || cut && len(open) > 0 {
			put(open[len(open)-1], t, l.unit, 0)
			open = open[:len(open)-1]
		}
		for len(open) < layers {
			open = append(open, t)
		}
		left := want % (1000 * l.unit)
		some.move(t, left/1000, cut, func(from, to capcli.Time, n int64) { put(from, to, n, 0) })
		part.move(t, left%1000, cut, func(from, to capcli.Time, n int64) { put(from, to, 1, n) })
		if len(out) > mostJobs {
			return nil, fmt.Errorf("the levels are over %s jobs", capcli.Grouped(mostJobs))
		}
	}
	return out, nil
}

func cmpName(name string) string {
	if name == "" {
		return "level"
	}
	return name
}

// rest is what of a level is less than a unit, since a time.
type rest struct {
	since capcli.Time
	n     int64
}

// move sets the rest at a time to n, and puts what was there until then where it changes or is cut.
func (r *rest) move(t capcli.Time, n int64, cut bool, put func(from, to capcli.Time, n int64)) {
	if n == r.n && !cut {
		return
	}
	if r.n > 0 {
		put(r.since, t, r.n)
	}
	r.since, r.n = t, n
}
