package eta

import (
	"math"
	"slices"

	"capcli"
)

// Estimate is what is said of a job's wait at its submission.
type Estimate struct {
	Wait     float64 // the middle of what is expected, s
	Lo, Hi   float64 // the range that holds the wait with a chance of 80 %, s
	OverHour float64 // chance that it waits over an hour
	Point    bool    // there is no range: Lo and Hi mean nothing
}

// logWait is the scale on which waits are compared: log10(wait + 60 s). A factor counts the same at
// an hour and at a day, and seconds beside a minute count little.
func logWait(seconds float64) float64 { return math.Log10(seconds + 60) }

// waitOf is the inverse of logWait, at least 0.
func waitOf(log float64) float64 { return max(0, math.Pow(10, log)-60) }

// Score says how good estimates were. Errors are on the scale log10(wait + 60 s).
type Score struct {
	Jobs     int      `json:"jobs"`
	MAE      float64  `json:"mae_log10"`      // mean absolute error
	Median   float64  `json:"med_abs_log10"`  // median absolute error
	Bias     float64  `json:"bias_log10"`     // mean error; above 0 the estimates are too late
	Within2  float64  `json:"within2"`        // share of jobs within a factor of two
	MAEHours float64  `json:"mae_h"`          // mean absolute error, hours
	Brier    float64  `json:"brier_1h"`       // Brier score of the chance of over an hour
	Base     float64  `json:"base_1h"`        // what the log's own share, always said, would score
	Cover    *float64 `json:"cover80"`        // share of jobs in their range; nil without ranges
	Width    *float64 `json:"width_log10"`    // mean width of the ranges
	Interval *float64 `json:"interval_score"` // interval score; less is better
}

// tally adds up the terms of a Score.
type tally struct {
	n                        int
	bias, hours, brier, over float64
	within, cover            int
	width, interval          float64
	errors                   []float64
	point                    bool
}

// intervalPenalty is 2/alpha of a range that misses alpha = 20 % (Gneiting and Raftery, "Strictly
// Proper Scoring Rules, Prediction, and Estimation", JASA 2007, section 6.2).
const intervalPenalty = 10

// same is the tolerance of comparisons on the log scale.
const same = 1e-12

func (t *tally) add(e *Estimate, wait capcli.Seconds) {
	w := float64(wait)
	lw := logWait(w)
	d := logWait(e.Wait) - lw
	t.n++
	t.bias += d
	t.errors = append(t.errors, math.Abs(d))
	t.hours += math.Abs(e.Wait-w) / 3600
	if math.Abs(d) <= math.Log10(2)+same {
		t.within++
	}
	late := 0.0
	if wait > capcli.Hour {
		late = 1
	}
	t.over += late
	t.brier += (e.OverHour - late) * (e.OverHour - late)
	if e.Point {
		t.point = true
		return
	}
	lo, hi := logWait(e.Lo), logWait(e.Hi)
	t.width += hi - lo
	t.interval += hi - lo
	switch {
	case w < e.Lo:
		t.interval += intervalPenalty * (lo - lw)
	case w > e.Hi:
		t.interval += intervalPenalty * (lw - hi)
	default:
		t.cover++
	}
}

func (t *tally) score() Score {
	n := float64(max(t.n, 1))
	s := Score{
		Jobs: t.n, Bias: t.bias / n, Within2: float64(t.within) / n, MAEHours: t.hours / n,
		Brier: t.brier / n, Base: t.over / n * (1 - t.over/n),
	}
	for _, e := range t.errors {
		s.MAE += e / n
	}
	slices.Sort(t.errors)
	if t.n > 0 {
		s.Median = (t.errors[(t.n-1)/2] + t.errors[t.n/2]) / 2
	}
	if !t.point && t.n > 0 {
		cover, width, interval := float64(t.cover)/n, t.width/n, t.interval/n
		s.Cover, s.Width, s.Interval = &cover, &width, &interval
	}
	return s
}

// quantile returns the smallest value of sorted with at least the share p at or below it; 0 if
// there is no value.
func quantile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(max(int(math.Ceil(p*float64(len(sorted))-1e-9))-1, 0), len(sorted)-1)]
}

// warmUp returns the time from the first submission in which estimates are not scored, since too
// little is known: 14 days, and at most half of the log.
func (l *Log) warmUp() capcli.Seconds {
	if len(l.Jobs) == 0 {
		return 0
	}
	return min(14*capcli.Day, capcli.Seconds(l.Jobs[len(l.Jobs)-1].Queued-l.Jobs[0].Queued)/2)
}

// ScorePair is the score of one method: of all jobs, and of those that waited over a minute.
type ScorePair struct {
	Method string `json:"method"`
	All    Score  `json:"all"`
	Waited Score  `json:"waited_over_60_s"`
}

// Rate scores the estimates of a method, one for each job of the log.
func (l *Log) Rate(method string, estimates []Estimate) ScorePair {
	var all, waited tally
	warm := l.warmUp()
	for i := range l.Jobs {
		j := &l.Jobs[i]
		if !j.Start.IsKnown() || j.Queued < l.Jobs[0].Queued+capcli.Time(warm) {
			continue
		}
		all.add(&estimates[i], j.Wait())
		if j.Wait() > capcli.Minute {
			waited.add(&estimates[i], j.Wait())
		}
	}
	return ScorePair{method, all.score(), waited.score()}
}
