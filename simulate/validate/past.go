package validate

import (
	"context"
	"fmt"
	"math"

	"capcli"
)

// OwnPast is a short answer for a simulation that has another question: how far its policy is from
// the recorded waits of the log that it replays. The capacity is the highest use of the log.
type OwnPast struct {
	Replayed int    `json:"jobs"`
	Capacity int64  `json:"capacity"`
	Unit     string `json:"unit"`
	From     string `json:"capacity_from"`
	Fidelity
	Sentence string `json:"sentence"`
}

// HoldAgainst replays each of the pasts on its own highest use, and compares the waits of all. It
// returns nil where no job has a recorded start.
func HoldAgainst(ctx context.Context, pasts []*Past, rules Rules) (*OwnPast, error) {
	out := &OwnPast{From: "highest use"}
	var recorded, simulated []capcli.Seconds
	for _, p := range pasts {
		if len(p.Jobs) == 0 {
			continue
		}
		whole := NewLog(p.Jobs, math.MaxInt64)
		l := NewLog(p.Jobs, max(1, whole.HighestUse()))
		starts, err := l.Replay(ctx, rules)
		if err != nil {
			return nil, err
		}
		from := l.Jobs[0].Queued + capcli.Time(l.warmUp(AutoWarmUp, starts))
		a, b := l.waitsFrom(l.starts(), starts, from, capcli.Time(math.MaxInt64))
		recorded, simulated = append(recorded, a...), append(simulated, b...)
		out.Replayed += len(l.Jobs)
		out.Capacity += (l.Capacity + p.Scale - 1) / p.Scale
		if out.Unit = p.Unit; p.Scale > 1 {
			out.Unit = "GPUs"
		}
	}
	if len(recorded) == 0 {
		return nil, nil //nolint:nilnil // a log without starts has no past to be held against
	}
	out.Fidelity = compareWaits(recorded, simulated)
	out.Sentence = out.Text()
	return out, nil
}

// Widen returns a range of waits in seconds, made wider by the distance of the quantiles: as far as
// simulated waits were from recorded ones on the logarithmic scale.
func (p *OwnPast) Widen(lo, hi float64) (float64, float64) {
	factor := p.Factor()
	return max(0, (lo+60)/factor-60), (hi+60)*factor - 60
}

// Factor is the factor by which quantiles of simulated waits were wrong, on average.
func (p *OwnPast) Factor() float64 { return math.Pow(10, p.Distance) }

// WidenedText says how far ranges of waits were widened, and why.
func (p *OwnPast) WidenedText() string {
	return fmt.Sprintf("ranges of waits are widened by a factor of %.2f, the distance of simulated from recorded waits (qdist %.3f; capcli validate says why)", p.Factor(), p.Distance)
}
