package plan

import (
	"errors"
	"fmt"
	"iter"
	"math"

	"capcli/simulate/exact"

	"capcli"
)

// Curve is a demand for GPUs, constant through each step. Where the curve has no dates a month is a
// twelfth of 365 days, 730 hours.
type Curve struct {
	Start capcli.Time // of the first step; NoTime where the curve has no dates
	Step  capcli.Step
	Work  []capcli.GPUTime // GPU time wanted in each step

	tail  int            // the last steps that are not known, but expected after the end
	until capcli.Seconds // end of the last of them, where that cuts it; else 0
}

// StepError is an error in one step of a curve.
type StepError struct {
	Step int // from 0
	Text string
	Err  error
}

func (e *StepError) Error() string { return fmt.Sprintf("step %d: %s", e.Step+1, e.Text) }

// Unwrap returns the cause.
func (e *StepError) Unwrap() error { return e.Err }

// maxGPUs is the highest demand, so that the GPU time of any step fits.
const maxGPUs = 1e9

// NewCurve returns the curve of a demand in GPUs, the mean of each step, rounded to the thousandth
// of a GPU-second. It fails with a StepError where a value is NaN, negative or over a thousand
// million, and where the sum does not fit.
func NewCurve(start capcli.Time, step capcli.Step, gpus []float64) (*Curve, error) {
	c := &Curve{Start: start, Step: step, Work: make([]capcli.GPUTime, len(gpus))}
	if err := c.checkStep(); err != nil {
		return nil, err
	}
	var sum float64
	for i, v := range gpus {
		switch {
		case math.IsNaN(v):
			return nil, &StepError{Step: i, Text: "the demand is not known"}
		case v < 0:
			return nil, &StepError{Step: i, Text: fmt.Sprintf("expected a demand of 0 or more GPUs, found %g", v)}
		case v > maxGPUs:
			return nil, &StepError{Step: i, Text: fmt.Sprintf("expected a demand of at most %.0f GPUs, found %g", float64(maxGPUs), v)}
		}
		work := v * float64(capcli.GPUSecond) * float64(c.StepStart(i+1)-c.StepStart(i))
		if sum += work; sum > 1<<62 {
			return nil, &StepError{Step: i, Text: capcli.ErrTooMuchTime.Error(), Err: capcli.ErrTooMuchTime}
		}
		c.Work[i] = capcli.GPUTime(math.Round(work))
	}
	return c, nil
}

// Check returns an error where c has no step, a negative demand or a sum that does not fit.
func (c *Curve) Check() error {
	if err := c.checkStep(); err != nil {
		return err
	}
	if len(c.Work) == 0 {
		return errors.New("a demand curve wants at least one step")
	}
	var sum capcli.GPUTime
	for i, w := range c.Work {
		switch {
		case w < 0:
			return &StepError{Step: i, Text: fmt.Sprintf("expected a demand of 0 or more, found %g GPU-hours", w.Hours())}
		case sum > math.MaxInt64-w:
			return &StepError{Step: i, Text: capcli.ErrTooMuchTime.Error(), Err: capcli.ErrTooMuchTime}
		}
		sum += w
	}
	return nil
}

func (c *Curve) checkStep() error {
	if s := c.Step; s.Seconds <= 0 && s.Days <= 0 && s.Months <= 0 || s.Seconds < 0 || s.Days < 0 || s.Months < 0 {
		return fmt.Errorf("a demand curve wants steps of some length, found %q", s.String())
	}
	return nil
}

// Dated reports whether the steps have dates.
func (c *Curve) Dated() bool { return c.Start.IsKnown() }

// StepStart returns when step i starts, in seconds from the start of c.
func (c *Curve) StepStart(i int) capcli.Seconds {
	at := c.AddSteps(0, c.Step, i)
	if c.until > 0 {
		return min(at, c.until)
	}
	return at
}

// AddSteps returns the instant n steps s after from; both count from the start of c. Months are
// those of the calendar where the curve has dates, else of 730 hours.
func (c *Curve) AddSteps(from capcli.Seconds, s capcli.Step, n int) capcli.Seconds {
	if !c.Dated() || s.Days == 0 && s.Months == 0 {
		return from + s.Length()*capcli.Seconds(n)
	}
	g := capcli.Grid{Origin: c.Start + capcli.Time(from), Step: s}
	return capcli.Seconds(g.At(n) - c.Start)
}

// Len returns the length of c.
func (c *Curve) Len() capcli.Seconds { return c.StepStart(len(c.Work)) }

// Piece is a part of a step of a curve.
type Piece struct {
	Step     int
	From, To capcli.Seconds
	Work     capcli.GPUTime
}

// Pieces yields the steps of c, cut at the instants cuts, which must rise. The remainder of the
// division goes to the last piece of a step.
func (c *Curve) Pieces(cuts []capcli.Seconds) iter.Seq[Piece] {
	return func(yield func(Piece) bool) {
		cuts := cuts
		for i, left := range c.Work {
			from, to := c.StepStart(i), c.StepStart(i+1)
			for from < to {
				for len(cuts) > 0 && cuts[0] <= from {
					cuts = cuts[1:]
				}
				p := Piece{i, from, to, left}
				if len(cuts) > 0 && cuts[0] < to {
					p.To = cuts[0]
					p.Work = capcli.GPUTime(exact.Portion(int64(left), int64(p.To-from), int64(to-from)))
				}
				if !yield(p) {
					return
				}
				left -= p.Work
				from = p.To
			}
		}
	}
}

// Sum returns the GPU time wanted in all.
func (c *Curve) Sum() capcli.GPUTime {
	var sum capcli.GPUTime
	for _, w := range c.Work {
		sum += w
	}
	return sum
}

// GPUs returns the mean demand in step i.
func (c *Curve) GPUs(i int) float64 {
	return float64(c.Work[i]) / float64(capcli.GPUSecond) / float64(c.StepStart(i+1)-c.StepStart(i))
}

// Levels returns the mean demand of each step, in GPUs.
func (c *Curve) Levels() []float64 {
	out := make([]float64, len(c.Work))
	for i := range out {
		out[i] = c.GPUs(i)
	}
	return out
}

// Starts returns the instants, in seconds from the start of c, at which something can be bought:
// the start itself and the start of each period of length every within the known demand.
func (c *Curve) Starts(every capcli.Step) []capcli.Seconds { return c.startsUntil(every, c.KnownLen()) }

func (c *Curve) startsUntil(every capcli.Step, end capcli.Seconds) []capcli.Seconds {
	out := []capcli.Seconds{0}
	if !c.Dated() {
		for at := every.Length(); at < end; at += every.Length() {
			out = append(out, at)
		}
		return out
	}
	g := every.Grid(c.Start, nil)
	for i := 1; ; i++ {
		at := capcli.Seconds(g.At(i) - c.Start)
		if at >= end {
			return out
		}
		if at > 0 {
			out = append(out, at)
		}
	}
}
