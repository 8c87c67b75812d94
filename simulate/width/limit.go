package width

import "fmt"

// Objective is what a search makes least.
type Objective uint8

// The objectives.
const (
	Makespan      Objective = iota // the last end
	SumCompletion                  // the sum over jobs of the time from submission to end
	FewestLate                     // the number of jobs that end after their deadline
)

// String returns the objective in words.
func (o Objective) String() string {
	return [...]string{"makespan", "sum of completion times", "number of late jobs"}[o]
}

// StatesMost is how many states a search visits at most where its caller gives no limit.
const StatesMost = 2_000_000

// LimitError says that a case is too large to search without omission. The optimum is between Bound and Best.
type LimitError struct {
	Objective Objective
	Jobs      int
	States    int   // visited
	Bound     int64 // proven: nothing is less
	Best      int64 // the best that was found
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%d jobs are too many for an exact %s: after %d states it is proven to be from %d to %d",
		e.Jobs, e.Objective, e.States, e.Bound, e.Best)
}
