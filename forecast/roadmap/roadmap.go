// Package roadmap adds planned events to a forecast: launches, teams that grow, training
// campaigns.
package roadmap

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"capcli"
	"capcli/forecast/model"
)

// Roadmap are the events to come. Events are taken to go their ways
// independently of each other and of the history's noise.
//
// A history that ends after an event's start has what was there of it by then,
// and its level holds it already: only what changes from then on is added. So a
// step that was taken adds nothing, a pulse that runs is taken away at its end,
// and of a ramp the rest is added. Such an event is not late any more.
type Roadmap struct {
	Events []Event
	Seed   capcli.Seed
	Known  capcli.Time // end of the history; NoTime or 0 is none
}

// roadmapDraws is the number of futures from which the uncertainty of the roadmap is
// estimated.
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

// uncertain reports whether any event has more than one outcome.
func (r *Roadmap) uncertain() bool {
	return slices.ContainsFunc(r.Events, func(e Event) bool { return e.SizeSD > 0 || e.LengthSD > 0 || e.Delay > 0 || e.chance() < 1 })
}

// Apply adds the roadmap to a forecast whose i-th step reaches from bounds[i] to
// bounds[i+1]; steps need not be equally long. The mean takes what is expected
// of the events. Each end of an interval is moved by that too and then widened:
// the event's own distance from its mean to its quantile at that end and the
// forecast's are added as independent ones are, in squares. The forecast given
// is not changed.
func (r *Roadmap) Apply(f model.Forecast, bounds []capcli.Time) (model.Forecast, error) {
	if err := r.Check(); err != nil {
		return model.Forecast{}, err
	}
	h := len(f.Mean)
	if err := checkBounds(bounds, h); err != nil {
		return model.Forecast{}, err
	}
	out := model.Forecast{Mean: slices.Clone(f.Mean), Intervals: make([]model.Interval, len(f.Intervals))}
	for k, iv := range f.Intervals {
		if len(iv.Lo) != h || len(iv.Hi) != h {
			return model.Forecast{}, fmt.Errorf("roadmap: interval %g has %d and %d ends, want %d: %w", iv.Level, len(iv.Lo), len(iv.Hi), h, model.ErrUnfit)
		}
		out.Intervals[k] = model.Interval{Level: iv.Level, Lo: slices.Clone(iv.Lo), Hi: slices.Clone(iv.Hi)}
	}
	draws := 1
	if r.uncertain() {
		draws = roadmapDraws
	}
	rng := r.Seed.Stream("roadmap")
	ways := r.ways(draws, rng)
	at := make([]float64, draws)
	for i := range h {
		clear(at)
		mean := 0.0
		for k := range r.Events {
			r.effects(at, k, ways[k], bounds[i], bounds[i+1], f.Mean[i])
			mean += r.expected(k, ways[k], bounds[i], bounds[i+1], f.Mean[i])
		}
		slices.Sort(at)
		out.Mean[i] += mean
		for k := range out.Intervals {
			iv := &out.Intervals[k]
			low, high := model.Quantile(at, 0.5-iv.Level/200), model.Quantile(at, 0.5+iv.Level/200)
			iv.Lo[i] = out.Mean[i] - math.Hypot(math.Max(0, f.Mean[i]-iv.Lo[i]), math.Max(0, mean-low)) + math.Max(0, iv.Lo[i]-f.Mean[i])
			iv.Hi[i] = out.Mean[i] + math.Hypot(math.Max(0, iv.Hi[i]-f.Mean[i]), math.Max(0, high-mean)) - math.Max(0, f.Mean[i]-iv.Hi[i])
		}
	}
	return out, nil
}

// eventWays are the outcomes of an event by draw: its size, its delay and its extra
// duration in seconds.
type eventWays struct{ sizes, delays, longer []float64 }

// ways draws how each event goes. One that may not happen does in as near to its
// share of the draws as can be (stratified: those with the lowest draws do), so that
// its size is what it says and not what chance makes of it.
func (r *Roadmap) ways(draws int, rng *rand.Rand) []eventWays {
	var out []eventWays
	for i := range r.Events {
		e := &r.Events[i]
		w := eventWays{sizes: make([]float64, draws), delays: make([]float64, draws), longer: make([]float64, draws)}
		if draws == 1 {
			w.sizes[0] = e.Size * e.chance()
			out = append(out, w)
			continue
		}
		lots, happens := make([]float64, draws), make([]int, draws)
		for k := range draws {
			lots[k], w.sizes[k], w.delays[k], w.longer[k] = e.lot(rng)
			happens[k] = k
		}
		slices.SortFunc(happens, func(a, b int) int { return cmp.Or(cmp.Compare(lots[a], lots[b]), cmp.Compare(a, b)) })
		n := int(math.Round(e.chance() * float64(draws)))
		if e.SizeSD > 0 && !e.Relative {
			center(w.sizes, happens[:n], e.Size)
		}
		for _, k := range happens[n:] {
			w.sizes[k] = 0
		}
		out = append(out, w)
	}
	return out
}

// center shifts the draws in which an event happens so that their mean is the known
// one (moment matching, Barraquand 1995).
func center(sizes []float64, happens []int, mean float64) {
	off := 0.0
	for _, k := range happens {
		off += (mean - sizes[k]) / float64(len(happens))
	}
	for _, k := range happens {
		sizes[k] += off
	}
}

// expected returns what the k-th event is expected to add in one step: its size times
// its chance, times its mean course over the drawn delays.
func (r *Roadmap) expected(k int, w eventWays, from, to capcli.Time, base float64) float64 {
	at := make([]float64, len(w.sizes))
	if e := &r.Events[k]; !e.Relative {
		sure := make([]float64, len(w.sizes))
		for i := range sure {
			sure[i] = e.Size * e.chance()
		}
		w.sizes = sure
	}
	r.effects(at, k, w, from, to, base)
	return model.Mean(at)
}

// effects adds what the k-th event adds over one step in each draw.
func (r *Roadmap) effects(out []float64, k int, w eventWays, from, to capcli.Time, base float64) {
	e := &r.Events[k]
	if to <= e.Start {
		return // nothing is ever early
	}
	scale, seen, begun := 1.0, e.shareSeen(r.Known), e.startedBefore(r.Known)
	if e.Relative {
		scale = base
	}
	sure := e.share(from, to, 0, 0) - seen
	for i := range out {
		share := sure
		switch {
		case begun && e.LengthSD > 0:
			share = e.share(from, to, 0, e.atLeast(w.longer[i], r.Known)) - seen
		case !begun && (e.Delay > 0 || e.LengthSD > 0):
			share = e.share(from, to, w.delays[i], w.longer[i])
		}
		out[i] += scale * w.sizes[i] * share
	}
}

// Added is what each event is expected to add to each step of a forecast with
// these means: by event, then by step. Their sum is what Apply adds to the mean.
func (r *Roadmap) Added(mean []float64, bounds []capcli.Time) ([][]float64, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	if err := checkBounds(bounds, len(mean)); err != nil {
		return nil, err
	}
	draws := 1
	if r.uncertain() {
		draws = roadmapDraws
	}
	ways := r.ways(draws, r.Seed.Stream("roadmap"))
	out := make([][]float64, len(r.Events))
	for k := range out {
		out[k] = make([]float64, len(mean))
		for i := range mean {
			out[k][i] = r.expected(k, ways[k], bounds[i], bounds[i+1], mean[i])
		}
	}
	return out, nil
}

// checkBounds checks the bounds of h steps.
func checkBounds(bounds []capcli.Time, h int) error {
	if len(bounds) < h+1 {
		return fmt.Errorf("roadmap: %d bounds of %d steps, want one more than there are steps: %w", len(bounds), h, model.ErrUnfit)
	}
	for i, t := range bounds {
		if !t.IsKnown() || i > 0 && t <= bounds[i-1] {
			return fmt.Errorf("roadmap: the forecast has no dates, want bounds that rise: %w", model.ErrUnfit)
		}
	}
	return nil
}

// ApplyPath adds one way that the roadmap may go to one drawn future, in place.
// Each event draws from a stream of its own name: futures of several series
// under one seed have it happen in all of them or in none.
func (r *Roadmap) ApplyPath(path []float64, bounds []capcli.Time, seed capcli.Seed) {
	base := slices.Clone(path)
	for i := range r.Events {
		e := &r.Events[i]
		lot, size, delay, longer := e.lot(seed.Stream("event/" + e.Name))
		if lot >= e.chance() {
			continue
		}
		seen := e.shareSeen(r.Known)
		if e.startedBefore(r.Known) {
			delay, longer = 0, e.atLeast(longer, r.Known)
		}
		for k := range path {
			if bounds[k+1] <= e.Start {
				continue
			}
			add := size * (e.share(bounds[k], bounds[k+1], delay, longer) - seen)
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
	return Event{Name: name, Shape: Ramp, Start: start, End: end, Size: people * gpus, SizeSD: math.Sqrt(math.Abs(people)) * sd}
}
