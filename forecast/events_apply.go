package forecast

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"capcli"
)

// Roadmap are the events to come. Events are taken to go their ways
// independently of each other and of the history's noise.
type Roadmap struct {
	Events []Event
	Seed   capcli.Seed
}

// roadmapDraws are the futures that the roadmap's own uncertainty is told from.
const roadmapDraws = 2000

// Check checks each event.
func (r *Roadmap) Check() error {
	for i := range r.Events {
		if err := r.Events[i].Check(); err != nil {
			return err
		}
	}
	return nil
}

// uncertain says whether any event may go more than one way.
func (r *Roadmap) uncertain() bool {
	return slices.ContainsFunc(r.Events, func(e Event) bool { return e.SizeSD > 0 || e.Delay > 0 || e.chance() < 1 })
}

// Apply adds the roadmap to a forecast whose first value begins at start. The
// mean takes what is expected of the events. Each end of an interval is moved
// by that too and then widened: the event's own distance from its mean to its
// quantile at that end and the forecast's are added as independent ones are, in
// squares. The forecast given is not changed.
func (r *Roadmap) Apply(f Forecast, start capcli.Time, step capcli.Seconds) (Forecast, error) {
	if err := r.Check(); err != nil {
		return Forecast{}, err
	}
	if !start.Known() || step <= 0 {
		return Forecast{}, fmt.Errorf("roadmap: the forecast has no dates, want a first time and a step: %w", ErrUnfit)
	}
	h := len(f.Mean)
	out := Forecast{Mean: slices.Clone(f.Mean), Intervals: make([]Interval, len(f.Intervals))}
	for k, iv := range f.Intervals {
		if len(iv.Lo) != h || len(iv.Hi) != h {
			return Forecast{}, fmt.Errorf("roadmap: interval %g has %d and %d ends, want %d: %w", iv.Level, len(iv.Lo), len(iv.Hi), h, ErrUnfit)
		}
		out.Intervals[k] = Interval{Level: iv.Level, Lo: slices.Clone(iv.Lo), Hi: slices.Clone(iv.Hi)}
	}
	draws := 1
	if r.uncertain() {
		draws = roadmapDraws
	}
	rng := r.Seed.Stream("roadmap")
	sizes, delays := r.ways(draws, rng)
	at := make([]float64, draws)
	for i := range h {
		t := start + capcli.Time(int64(step)*int64(i))
		r.effects(at, sizes, delays, t, step, f.Mean[i])
		mean := meanOf(at)
		slices.Sort(at)
		out.Mean[i] += mean
		for k := range out.Intervals {
			iv := &out.Intervals[k]
			low, high := quantile(at, 0.5-iv.Level/200), quantile(at, 0.5+iv.Level/200)
			iv.Lo[i] = out.Mean[i] - math.Hypot(math.Max(0, f.Mean[i]-iv.Lo[i]), math.Max(0, mean-low)) + math.Max(0, iv.Lo[i]-f.Mean[i])
			iv.Hi[i] = out.Mean[i] + math.Hypot(math.Max(0, iv.Hi[i]-f.Mean[i]), math.Max(0, high-mean)) - math.Max(0, f.Mean[i]-iv.Hi[i])
		}
	}
	return out, nil
}

// ways draws how each event goes: by event, then by draw.
func (r *Roadmap) ways(draws int, rng *rand.Rand) (sizes, delays [][]float64) {
	for i := range r.Events {
		e := &r.Events[i]
		s, d := make([]float64, draws), make([]float64, draws)
		for k := range draws {
			if draws == 1 {
				s[k] = e.Size * e.chance()
				continue
			}
			s[k], d[k] = e.draw(rng)
		}
		sizes, delays = append(sizes, s), append(delays, d)
	}
	return sizes, delays
}

// effects puts what the events add at one time in each draw.
func (r *Roadmap) effects(out []float64, sizes, delays [][]float64, t capcli.Time, step capcli.Seconds, base float64) {
	clear(out)
	for i := range r.Events {
		e := &r.Events[i]
		if t+capcli.Time(step) <= e.Start {
			continue // nothing is ever early
		}
		scale := 1.0
		if e.Relative {
			scale = base
		}
		sure := e.share(t, step, 0)
		for k := range out {
			share := sure
			if e.Delay > 0 {
				share = e.share(t, step, delays[i][k])
			}
			out[k] += scale * sizes[i][k] * share
		}
	}
}

// ApplyPath adds one way that the roadmap may go to one drawn future, in place.
func (r *Roadmap) ApplyPath(path []float64, start capcli.Time, step capcli.Seconds, rng *rand.Rand) {
	base := slices.Clone(path)
	for i := range r.Events {
		e := &r.Events[i]
		size, delay := e.draw(rng)
		for k := range path {
			add := size * e.share(start+capcli.Time(int64(step)*int64(k)), step, delay)
			if e.Relative {
				add *= base[k]
			}
			path[k] += add
		}
	}
}

// TeamGrowth is the event of a team that goes from one number of people to
// another over a time, each of whom uses gpus with the given standard deviation
// between people.
func TeamGrowth(name string, from, to int, start, end capcli.Time, gpus, sd float64) Event {
	people := float64(to - from)
	return Event{Name: name, Shape: RampEvent, Start: start, End: end, Size: people * gpus, SizeSD: math.Sqrt(math.Abs(people)) * sd}
}
