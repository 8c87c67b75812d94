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
	// Delays are further ways to be late, of which at most one comes.
	Delays []Late
	// Chance is the probability that it happens at all; 0 stands for 1.
	Chance float64
	// Parent is the name of the event that this one follows: it happens only where that does, and is
	// late and longer by as much. Its dates are those after a parent on time. Chance counts both. "" is
	// none.
	Parent string
}

// Late is a delay with its probability.
type Late struct {
	By     capcli.Seconds
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
	case !e.delaysAreValid():
		return bad("delays", "expected delays over 0 whose probabilities are over 0 and add up to 1 at most, found %v", e.Delays)
	case !(e.Chance >= 0 && e.Chance <= 1):
		return bad("chance", "expected a probability from 0 to 1, found %g", e.Chance)
	}
	return nil
}

func (e *Event) delaysAreValid() bool {
	sum := 0.0
	for _, d := range e.Delays {
		if d.By <= 0 || !(d.Chance > 0 && d.Chance <= 1) {
			return false
		}
		sum += d.Chance
	}
	return sum <= 1+1e-9
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

// eventDraw is one draw of an event: its size, its delay and its extra duration in seconds. The event happens
// where lot is below its chance. A relative event never removes more than there is.
type eventDraw struct {
	lot, size, delay, longer float64
	happens                  bool
}

// draw draws the event by itself, without the one that it follows.
func (e *Event) draw(rng *rand.Rand) eventDraw {
	d := eventDraw{lot: rng.Float64(), size: e.Size + e.SizeSD*rng.NormFloat64(), delay: rng.ExpFloat64() * float64(e.Delay)}
	if len(e.Delays) > 0 {
		u := rng.Float64()
		for _, late := range e.Delays {
			if u -= late.Chance; u < 0 {
				d.delay += float64(late.By)
				break
			}
		}
	}
	if e.LengthSD > 0 {
		d.longer = float64(e.LengthSD) * rng.NormFloat64()
	}
	if e.Relative {
		d.size = math.Max(-1, d.size)
	}
	d.happens = d.lot < e.chance()
	return d
}

func (e *Event) isUnsure() bool {
	return e.SizeSD > 0 || e.LengthSD > 0 || e.Delay > 0 || len(e.Delays) > 0 || e.Parent != "" || e.chance() < 1
}

// parentOf returns the index of the event that the i-th follows, which comes before it; -1 if there is none.
func parentOf(events []Event, i int) int {
	if events[i].Parent == "" {
		return -1
	}
	for k := range i {
		if events[k].Name == events[i].Parent {
			return k
		}
	}
	return -1
}

// drawOf draws the i-th event in the future of a seed, after the one that it follows. Each event has a
// stream of its own name, so that it happens in the futures of all series or of none.
func drawOf(events []Event, i int, seed capcli.Seed) eventDraw {
	e := &events[i]
	d := e.draw(seed.Stream("event/" + e.Name))
	if k := parentOf(events, i); k >= 0 {
		before := drawOf(events, k, seed)
		d.follow(&before, e.chance()/events[k].chance())
	}
	return d
}

// Happens reports whether the i-th event happens in the future of a seed.
func Happens(events []Event, i int, seed capcli.Seed) bool { return drawOf(events, i, seed).happens }

// follow makes d the draw of an event that comes after another, with the chance that it comes if the other
// does.
func (d *eventDraw) follow(before *eventDraw, chance float64) {
	d.happens = before.happens && d.lot < chance
	d.delay = math.Max(0, d.delay+before.delay+before.longer)
}
