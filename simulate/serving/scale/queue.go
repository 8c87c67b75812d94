package scale

import (
	"capcli"
	"capcli/simulate"
)

func init() {
	add("queue", "by the depth of the queue, per unit", newQueue,
		Setting{Name: "depth", Doc: "requests, or GPUs, that may wait per unit", Lo: 1e-9, Hi: 1e12, Required: true},
		Setting{Name: "down_window", Doc: "time with a short queue and spare room before units go; default: 300s", Unit: Length, Default: 300, Hi: maxSeconds},
		Setting{Name: "down_step", Doc: "units of a fall; default: 1", Unit: Whole, Default: 1, Lo: 1, Hi: maxUnits},
	)
}

// queue aims at a depth of the queue: the backlog divided by a depth per unit, as queue-driven autoscaling does
// (KEDA documentation, scalers of message queues; "Scaling based on Amazon SQS", Amazon EC2 Auto Scaling
// documentation):
//
//	want = ceil(backlog/depth) where that is above the present number
//
// An empty queue does not say how many units keep it empty, so the way down is slow: it gives down_step
// units back once nothing has waited, and one step fewer would have served the load, for down_window.
type queue struct {
	min, max, step int
	depth          float64
	window         capcli.Seconds

	calm capcli.Seconds // time with spare room
}

func newQueue(v *values) (simulate.NewScaler, error) {
	q := queue{
		min: v.Min, max: v.Max, step: v.count("down_step"),
		depth: v.number("depth") * v.demandUnit(), window: v.seconds("down_window"),
	}
	return func() simulate.Scaler { own := q; return &own }, nil
}

// Desired implements simulate.Scaler.
func (q *queue) Desired(s *simulate.ScaleState) int {
	current := s.Ready + s.Loading
	fewer := max(current-q.step, 0)
	if s.Backlog == 0 && s.Demand <= int64(fewer)*s.PerUnit {
		q.calm += s.Length
	} else {
		q.calm = 0
	}
	want := max(current, units(float64(s.Backlog)/q.depth))
	if q.calm >= q.window && q.calm > 0 {
		want, q.calm = fewer, 0
	}
	return clamp(want, q.min, q.max)
}
