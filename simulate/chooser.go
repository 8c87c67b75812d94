package simulate

import "capcli"

// Chooser says in which way a waiting job with a capcli.Shape starts. The engine asks it each time a
// policy asks for room for such a job, and tries the choices in order. Choices that do not fit now are
// passed over; a Chooser that would rather wait for a later one leaves the earlier ones out.
type Chooser interface {
	// Choose appends the ways of l to dst, best first. Each is an index of l.Shape.Ways. pools are those that
	// l may use now, and run is the time left of the job in each way.
	Choose(c *Cluster, l *Live, pools []int, dst []Choice) []Choice
}

// Choice is a way of a job's Shape in one pool.
type Choice struct {
	Way, Pool int
	Left      capcli.Seconds // time that the rest of the job takes so
}
