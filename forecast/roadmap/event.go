package roadmap

import (
	"fmt"
	"math"
	"math/rand/v2"

	"capcli"
	"capcli/forecast/model"
)

// Shape is the course of an event's demand over time.
type Shape string

// The shapes. A step adds Size from Start on, until End where that is known. A
// pulse adds Size from Start to End. A ramp grows evenly from nothing at Start
// to Size at End and stays there.
const (
	Step  Shape = "step"
	Pulse Shape = "pulse"
	Ramp  Shape = "ramp"
)

// Event is a planned change of demand that is not in the history: a launch, a team that
// grows, a training campaign.
type Event struct {
	Name  string
	Shape Shape
	Start capcli.Time
	End   capcli.Time // NoTime or 0: never; a pulse and a ramp need an end
	// Size is the demand added, in the unit of the series; negative where demand falls.
	// With Relative it is a share of the forecast instead: 0.2 is a fifth more.
	Size     float64
	Relative bool
	// SizeSD is the standard deviation of Size, in the same unit.
	SizeSD float64
	// LengthSD is the standard deviation of the time from Start to End, as of a run that
	// holds a known number of GPUs until it is done. 0 is certain.
	LengthSD capcli.Seconds
	// Delay is the mean of the exponential time by which Start and End may be late. 0 is on
	// time. Roadmaps slip, and are hardly ever early.
	Delay capcli.Seconds
	// Chance is the probability that it happens at all; 0 stands for 1.
	Chance float64
}

// Check returns an *capcli.InputError with the field's name where the event is
// invalid.
func (e *Event) Check() error {
	bad := func(field, format string, args ...any) error {
		return &capcli.InputError{Field: field, Text: fmt.Sprintf("event %q: ", e.Name) + fmt.Sprintf(format, args...), Err: model.ErrUnfit}
	}
	switch e.Shape {
	case Step, Pulse, Ramp:
	default:
		return bad("shape", "expected step, pulse or ramp, found %q", e.Shape)
	}
	switch {
	case !e.Start.IsKnown():
		return bad("start", "expected a date, found none")
	case !e.ends() && e.Shape != Step:
		return bad("end", "expected a date, as a %s ends, found none", e.Shape)
	case e.ends() && e.End <= e.Start:
		return bad("end", "expected a time after the start, found %d seconds before it", int64(e.Start-e.End))
	case !model.IsFinite(e.Size):
		return bad("size", "expected a finite figure, found %g", e.Size)
	case e.Relative && e.Size < -1:
		return bad("size", "expected a share of -1 or more, found %g", e.Size)
	case !model.IsFinite(e.SizeSD) || e.SizeSD < 0:
		return bad("size_sd", "expected 0 or more, found %g", e.SizeSD)
	case e.LengthSD < 0 || e.LengthSD > 0 && !e.ends():
		return bad("length_sd", "expected 0 or more of an event that ends, found %d s", int64(e.LengthSD))
	case e.Delay < 0:
		return bad("delay", "expected 0 or more, found %d s", int64(e.Delay))
	case !(e.Chance >= 0 && e.Chance <= 1):
		return bad("chance", "expected a probability from 0 to 1, found %g", e.Chance)
	}
	return nil
}

func (e *Event) ends() bool { return e.End.IsKnown() && e.End != 0 }

func (e *Event) chance() float64 {
	if e.Chance == 0 {
		return 1
	}
	return e.Chance
}

// share returns the mean course of the event, from 0 to 1, between two times, with the
// event late by delay seconds and longer than planned by longer seconds.
func (e *Event) share(start, until capcli.Time, delay, longer float64) float64 {
	from, width := float64(start-e.Start)-delay, math.Max(1, float64(until-start))
	to, end := from+width, math.Inf(1)
	if e.ends() {
		end = math.Max(1, float64(e.End-e.Start)+longer)
	}
	if e.Shape == Ramp {
		// the integral of a ramp: x^2/2L up to L, then x - L/2
		area := func(x float64) float64 {
			x = math.Max(0, x)
			if x < end {
				return x * x / (2 * end)
			}
			return x - end/2
		}
		return (area(to) - area(from)) / width
	}
	return math.Max(0, math.Min(to, end)-math.Max(from, 0)) / width
}

// startedBefore reports whether the event started before known, the end of a history.
// A zero known means no history.
func (e *Event) startedBefore(known capcli.Time) bool {
	return known.IsKnown() && known != 0 && e.Start < known
}

// shareSeen returns the share of the event's course that a history ending at known
// contains at its end.
func (e *Event) shareSeen(known capcli.Time) float64 {
	if !e.startedBefore(known) {
		return 0
	}
	return e.share(known-1, known, 0, 0)
}

// atLeast returns longer, raised where necessary so that an event under way at known,
// the end of the history, has not ended before.
func (e *Event) atLeast(longer float64, known capcli.Time) float64 {
	if e.ends() && e.End > known {
		return math.Max(longer, float64(known-e.End))
	}
	return longer
}

// lot is one draw of the event: its size, its delay and its extra duration in seconds.
// The event happens where lot is below its chance. A relative event never removes more
// than there is.
func (e *Event) lot(rng *rand.Rand) (lot, size, delay, longer float64) {
	lot, size, delay = rng.Float64(), e.Size+e.SizeSD*rng.NormFloat64(), rng.ExpFloat64()*float64(e.Delay)
	if e.LengthSD > 0 {
		longer = float64(e.LengthSD) * rng.NormFloat64()
	}
	if e.Relative {
		size = math.Max(-1, size)
	}
	return lot, size, delay, longer
}
