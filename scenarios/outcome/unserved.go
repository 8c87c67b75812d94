package outcome

import "fmt"

// Unserved is the work that a plan leaves undone, as means over its runs.
type Unserved struct {
	Share, GPUHours               float64
	Waiting, Unplaceable, Dropped float64 // jobs
}

// UnservedWork returns the work that the run leaves undone.
func (o *Outcome) UnservedWork() Unserved {
	return Unserved{o.UnservedShare, o.Unserved.Hours(), float64(o.UnservedJobs.Waiting), float64(o.UnservedJobs.Unplaceable), float64(o.UnservedJobs.Dropped)}
}

// MeanUnserved returns the mean of the work that the runs leave undone.
func MeanUnserved[R interface{ UnservedWork() Unserved }](runs []R) Unserved {
	var u Unserved
	n := float64(len(runs))
	for _, r := range runs {
		x := r.UnservedWork()
		u.Share += x.Share / n
		u.GPUHours += x.GPUHours / n
		u.Waiting += x.Waiting / n
		u.Unplaceable += x.Unplaceable / n
		u.Dropped += x.Dropped / n
	}
	return u
}

// Exceeds reports whether u leaves more undone than o, beyond rounding errors: more work, or the
// same work and more jobs that can never run.
func (u *Unserved) Exceeds(o *Unserved) bool {
	const nothing = 1e-12
	return u.Share > o.Share+nothing || u.Share > o.Share-nothing && u.Unplaceable > o.Unplaceable
}

// servedMargin is the difference in the share of work left undone up to which two plans count as
// doing the same work.
const servedMargin = 0.005

// ServesLess reports whether a plan that leaves u undone does clearly less than one that leaves o:
// more work beyond servedMargin, or more jobs that can never run. It is then no better plan,
// whatever else it gains.
func (u *Unserved) ServesLess(o *Unserved) bool {
	return u.Share > o.Share+servedMargin || u.Unplaceable > o.Unplaceable
}

// ShareText formats a share of the work, with two decimals below one percent.
func ShareText(v float64) string {
	switch {
	case v > 0 && v < 0.0001:
		return "under 0.01%"
	case v < 0.01:
		return fmt.Sprintf("%.2f%%", 100*v)
	}
	return fmt.Sprintf("%.1f%%", 100*v)
}
