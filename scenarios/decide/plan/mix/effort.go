package mix

import (
	"fmt"
	"strings"
	"time"

	"capcli"
)

// Effort is how long parts of a plan took. It is no part of a result: the same inputs give the same bytes.
type Effort struct {
	Now     func() time.Time // the clock
	Replays time.Duration    // simulating and pricing mixes, on all cores at once
	Bounds  time.Duration    // lower bounds: what no schedule can undercut
}

// timed starts timing a part, and returns what ends it. A nil Effort takes no times.
func (e *Effort) timed(part func(e *Effort) *time.Duration) (end func()) {
	if e == nil {
		return func() {}
	}
	began := e.Now()
	return func() { *part(e) += e.Now().Sub(began) }
}

func onReplays(e *Effort) *time.Duration { return &e.Replays }
func onBounds(e *Effort) *time.Duration  { return &e.Bounds }

// Text says which part of a time was for replays, which for bounds and which for all else.
func (e *Effort) Text(took time.Duration) string {
	return fmt.Sprintf("%.1f s in replays, %.1f s in bounds, %.1f s in all else", e.Replays.Seconds(), e.Bounds.Seconds(), max(0, took-e.Replays-e.Bounds).Seconds())
}

// SpeedText says how many mixes were tried and how fast. plain is the time of one plain run; 0 is unknown.
func (f *Found) SpeedText(took, plain time.Duration) string {
	c, sims := f.Counts(), f.Simulations
	times := "once"
	if f.Runs > 1 {
		times = fmt.Sprintf("%d times", f.Runs)
	}
	text := fmt.Sprintf("%s of %s mixes tried, %s dropped early (%s by proof, %s by test), %s run %s, %s simulations, %.1f s: %.0f mixes/s",
		grouped(c.Tried), grouped(f.Size), grouped(c.ByBound+c.ByRace), grouped(c.ByBound), grouped(c.ByRace), grouped(c.Full), times, grouped(sims),
		took.Seconds(), float64(c.Tried)/max(took.Seconds(), 1e-9))
	if plain > 0 && sims > 0 {
		each := took.Seconds() / float64(sims)
		text += fmt.Sprintf("; one plain run takes %.1f ms, one of these %.1f ms (%.2f times)", 1e3*plain.Seconds(), 1e3*each, each/plain.Seconds())
	}
	return text
}

// tellBetter passes the best of mixes that had some runs to Better, where it is better than what was passed before. What
// few runs say counts only as long as no mix had them all.
func (s *search) tellBetter(active []*Entry) {
	if s.Better == nil || len(active) == 0 || len(active[0].Outcomes) < s.Problem.Runs && s.bestSoFar() != nil {
		return
	}
	var best *Entry
	for _, e := range active {
		if e.holds(s.Hold) && (best == nil || byChoice(e, best) < 0) {
			best = e
		}
	}
	runs := len(active[0].Outcomes)
	if best == nil || s.told != nil && runs <= s.toldRuns && byChoice(best, s.told) >= 0 {
		return
	}
	s.told, s.toldRuns = best, runs
	var parts []string
	for i, v := range best.Values {
		c := Choice{s.Problem.Space.Axes[i].Path, v}
		parts = append(parts, c.Text())
	}
	s.Better(fmt.Sprintf("%s: %s, in %d %s", strings.Join(parts, ", "), best.Cost(), runs, capcli.Plural(int64(runs), "run")))
}
