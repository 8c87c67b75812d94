package supply_test

import "math"

// Task is work that failures may strike.
type Task struct {
	Work       float64 // seconds of work
	Every      float64 // work between two checkpoints; 0 is no checkpoints
	Checkpoint float64 // time that a checkpoint takes
	Restart    float64 // time to get going again after a failure
	Down       float64 // time after a failure in which nothing happens and nothing fails
	MTBF       float64 // mean time between failures of the whole job
}

// Completion is how long a task takes in the mean.
type Completion struct {
	Mean        float64 `json:"mean_s"`
	Failures    float64 `json:"mean_failures"`
	Checkpoints int     `json:"checkpoints"`
	NoFailure   float64 `json:"p_no_failure"`
}

// Complete returns how long the task takes. Work is done in pieces of Every, with a checkpoint after
// each but the last. Failures may strike work, checkpoints and restarts. After a failure the job is
// down, restarts (again after a failure of the restart) and does the piece from its beginning. For a
// piece of length s the mean is
//
//	exp(R/M) (M + D) (exp(s/M) - 1)
//
// (Daly, FGCS 2006, equation 20, with the downtime D apart). Restart takes part only after a failure.
func (t Task) Complete() Completion {
	pieces, last := 1.0, t.Work
	if t.Every > 0 && t.Work > t.Every {
		pieces = math.Ceil(t.Work / t.Every)
		last = t.Work - (pieces-1)*t.Every
	}
	full := pieces - 1
	tries := full*math.Expm1((t.Every+t.Checkpoint)/t.MTBF) + math.Expm1(last/t.MTBF)
	again := math.Exp(t.Restart / t.MTBF)
	return Completion{
		Mean:        again * (t.MTBF + t.Down) * tries,
		Failures:    again * tries,
		Checkpoints: int(full),
		NoFailure:   math.Exp(-(t.Work + full*t.Checkpoint) / t.MTBF),
	}
}
