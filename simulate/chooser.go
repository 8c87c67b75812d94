package simulate

import "capcli"

// Chooser says in which way a waiting job with ways starts: see capcli.Shape. The engine asks it each
// time a policy asks for room for such a job, and tries the choices in order. Choices that do not fit now
// are passed over; a Chooser that would rather wait for a better one leaves the worse ones out. At least
// one of its choices must fit an empty cluster, or the job never runs.
type Chooser interface {
	// Choose appends the choices for l in the pools, which l may use now, to dst, best first. Live.Ways
	// gives all of them.
	Choose(c *Cluster, l *Live, pools []int, dst []Choice) []Choice
}

// UniformChooser is a Chooser whose choices are the same set, in any order, for all jobs of one shape that
// ask for the same: they depend on no deadline and no time left. Of such jobs the engine asks only for one
// whether there is room.
type UniformChooser interface {
	Chooser
	Uniform()
}

// Waiter is a Chooser whose choices for a waiting job change with time alone.
type Waiter interface {
	Chooser
	// NextLook returns the next time at which the choices for l may change; false if there is none.
	NextLook(c *Cluster, l *Live, pools []int) (capcli.Seconds, bool)
}

// Ranker is a Chooser that also ranks ways that start later, for policies that plan ahead.
type Ranker interface {
	Chooser
	// BestChoice returns the index of the best of the choices for l, each of which starts at its From.
	BestChoice(c *Cluster, l *Live, choices []Choice) int
}

// Resizer is a Policy that picks ways itself: with Ways.StartAs, and with Ways.Reassign for running jobs.
// Its jobs may use the pools of all of their ways even where Config.Chooser is nil.
type Resizer interface {
	Resizes()
}

// Choice is a way of a job's Shape in one pool.
type Choice struct {
	Way, Pool int            // Way is an index of Shape.Ways; -1 is as asked, for a job without ways
	Left      capcli.Seconds // time that the rest of the job takes so, by its estimate, with restart and checkpoints
	From      capcli.Seconds // time at which it would start: see Ranker; 0 is now
	Late      bool           // misses the deadline: taken only where no rank of pools has one that is on time
	Equal     bool           // as good as the choice before it, of the same way: the placement chooses the pool
}
