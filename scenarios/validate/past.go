package validate

import (
	"context"
	"fmt"
	"math"

	"capcli"
)

// OwnPast is a short answer for a simulation that has another question: how far its policy is from
// the recorded waits of the log that it replays. The capacity is Past.Fleet, or the highest use of the log
// where that is not known or less.
type OwnPast struct {
	Replayed int    `json:"jobs"`
	Capacity int64  `json:"capacity"`
	Unit     string `json:"unit"`
	From     string `json:"capacity_from"` // scenario or highest use
	Policy   string `json:"policy,omitempty"`
	Fidelity
	Sentence string `json:"sentence"`
}

// HoldAgainst replays each of the pasts on its own capacity, and compares the waits of all. It
// returns nil where no job has a recorded start.
func HoldAgainst(ctx context.Context, pasts []*Past, rules Rules) (*OwnPast, error) {
	out := &OwnPast{From: fromScenario}
	var recorded, simulated []capcli.Seconds
	for _, p := range pasts {
		if len(p.Jobs) == 0 {
			continue
		}
		whole := NewLog(p.Jobs, math.MaxInt64)
		capacity := max(1, whole.HighestUse())
		if fleet := p.Fleet * p.Scale; fleet >= capacity {
			capacity = fleet
		} else {
			out.From = fromUse
		}
		l := NewLog(p.Jobs, capacity)
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

// Where the capacity of a replay is from.
const (
	fromUse      = "highest use"
	fromScenario = "scenario"
)

// slightError is the mean error of waits by job, on the logarithmic scale, up to which a replay is right
// whatever a guess would be: a factor of 1.12.
const slightError = 0.05

// Misleads reports whether guessing is better than the replay: always saying the recorded median is nearer
// to the wait of the mean job.
func (f *Fidelity) Misleads() bool { return f.Error > slightError && f.Error > f.GuessError }

// Headline says in one sentence how far simulated waits are from the recorded ones, with the capacity and
// the policy of the replay, or that they are not to be trusted.
func (p *OwnPast) Headline() string {
	of := "the log's highest use"
	if p.From == fromScenario {
		of = "those of the scenario"
	}
	with := fmt.Sprintf("%s %s, %s", capcli.Grouped(p.Capacity), p.Unit, of)
	if p.Policy != "" {
		with = p.Policy + " on " + with
	}
	if p.Misleads() {
		return fmt.Sprintf("Do not trust the waits: on the log's own past (%s) always guessing %s is nearer to the recorded waits than the replay, which is %s.",
			with, p.Recorded.P50, offText(&p.Fidelity))
	}
	if p.Error <= slightError {
		return fmt.Sprintf("On the log's own past (%s) simulated waits are those recorded: p95 %s and %s.", with, p.Simulated.P95, p.Recorded.P95)
	}
	return fmt.Sprintf("On the log's own past (%s) simulated waits are %s: p95 %s, recorded %s.", with, offText(&p.Fidelity), p.Simulated.P95, p.Recorded.P95)
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
