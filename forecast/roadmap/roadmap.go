// Package roadmap adds planned events to a forecast: launches, teams that grow, training
// campaigns.
package roadmap

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"capcli"
	"capcli/forecast/model"
)

// Roadmap holds the planned events. It assumes that events are independent of each other and of
// the noise of the history.
//
// The level of a history that ends after an event's start already includes the event up to then;
// only later changes are added. So a step that was taken adds nothing, a pulse under way is
// subtracted at its end, and of a ramp the rest is added. Such an event has no more delay.
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

// Apply adds the roadmap to a forecast whose i-th step reaches from bounds[i] to
// bounds[i+1]; steps may differ in length. It returns a new forecast and what each event
// adds to the mean, by event and step. The mean takes the expected effect of the events.
// Each end of an interval moves by that and is then widened: the distances of the events
// and of the forecast from mean to quantile are combined as independent ones are, in
// squares.
func (r *Roadmap) Apply(f model.Forecast, bounds []capcli.Time) (model.Forecast, [][]float64, error) {
	if err := r.Check(); err != nil {
		return model.Forecast{}, nil, err
	}
	h := len(f.Mean)
	if err := checkBounds(bounds, h); err != nil {
		return model.Forecast{}, nil, err
	}
	out := model.Forecast{Mean: slices.Clone(f.Mean), Intervals: make([]model.Interval, len(f.Intervals))}
	for k, iv := range f.Intervals {
		if len(iv.Lo) != h || len(iv.Hi) != h {
			return model.Forecast{}, nil, fmt.Errorf("roadmap: interval %g has %d and %d ends, want %d: %w", iv.Level, len(iv.Lo), len(iv.Hi), h, model.ErrUnfit)
		}
		out.Intervals[k] = model.Interval{Level: iv.Level, Lo: slices.Clone(iv.Lo), Hi: slices.Clone(iv.Hi)}
	}
	ways, added := r.ways(), make([][]float64, len(r.Events))
	for k := range added {
		added[k] = make([]float64, h)
	}
	for i := range h {
		at, mean := make([]float64, r.draws()), 0.0
		for k := range r.Events {
			r.effects(at, k, ways[k], bounds[i], bounds[i+1], f.Mean[i])
			added[k][i] = r.expected(k, ways[k], bounds[i], bounds[i+1], f.Mean[i])
			mean += added[k][i]
		}
		slices.Sort(at)
		out.Mean[i] += mean
		for _, iv := range out.Intervals {
			low, high := model.Quantile(at, 0.5-iv.Level/200), model.Quantile(at, 0.5+iv.Level/200)
			iv.Lo[i] = out.Mean[i] - math.Hypot(math.Max(0, f.Mean[i]-iv.Lo[i]), math.Max(0, mean-low)) + math.Max(0, iv.Lo[i]-f.Mean[i])
			iv.Hi[i] = out.Mean[i] + math.Hypot(math.Max(0, iv.Hi[i]-f.Mean[i]), math.Max(0, high-mean)) - math.Max(0, f.Mean[i]-iv.Hi[i])
		}
	}
	return out, added, nil
}

// draws returns how many outcomes of each event are drawn: one where all are certain.
func (r *Roadmap) draws() int {
	if slices.ContainsFunc(r.Events, func(e Event) bool { return e.isUnsure() }) {
		return roadmapDraws
	}
	return 1
}

// ways draws the outcomes of each event. An event that may not happen does so in as near
// to its share of the draws as possible: in those with the lowest lots (stratified). One that
// follows another happens among the draws in which that does.
func (r *Roadmap) ways() [][]eventDraw {
	rng, out := r.Seed.Stream("roadmap"), make([][]eventDraw, len(r.Events))
	for i := range r.Events {
		e := &r.Events[i]
		w := make([]eventDraw, r.draws())
		out[i] = w
		if len(w) == 1 {
			w[0].size = e.Size * e.chance()
			continue
		}
		var may []int // draws in which it may happen
		parent := parentOf(r.Events, i)
		for k := range w {
			w[k] = e.draw(rng)
		}
		centerLengths(w)
		for k := range w {
			if parent < 0 {
				may = append(may, k)
				continue
			}
			before := &out[parent][k]
			w[k].follow(before, 1)
			if before.happens {
				may = append(may, k)
			}
		}
		slices.SortFunc(may, func(a, b int) int { return cmp.Or(cmp.Compare(w[a].lot, w[b].lot), cmp.Compare(a, b)) })
		n := min(len(may), int(math.Round(e.chance()*float64(len(w)))))
		if e.SizeSD > 0 && !e.Relative {
			center(w, may[:n], e.Size)
		}
		for k := range w {
			w[k].happens = false
		}
		for _, k := range may[:n] {
			w[k].happens = true
		}
		for k := range w {
			if !w[k].happens {
				w[k].size = 0
			}
		}
	}
	return out
}

// center shifts the sizes in the draws in which an event happens so that their mean is
// the known one (moment matching, Barraquand 1995).
func center(ways []eventDraw, happens []int, mean float64) {
	off := capcli.Sum(happens, func(k int) float64 { return (mean - ways[k].size) / float64(len(happens)) })
	for _, k := range happens {
		ways[k].size += off
	}
}

// centerLengths shifts the extra durations so that their mean is 0: what an event is expected to add is then
// its size times its length.
func centerLengths(ways []eventDraw) {
	mean := capcli.Sum(ways, func(x eventDraw) float64 { return x.longer / float64(len(ways)) })
	for k := range ways {
		ways[k].longer -= mean
	}
}

// expected returns what the k-th event is expected to add in one step: its size times
// its chance, times its mean course over the drawn delays.
func (r *Roadmap) expected(k int, ways []eventDraw, from, to capcli.Time, base float64) float64 {
	at := make([]float64, len(ways))
	if e := &r.Events[k]; !e.Relative {
		ways = slices.Clone(ways)
		for i := range ways {
			ways[i].size = e.Size * e.chance()
		}
	}
	r.effects(at, k, ways, from, to, base)
	return model.Mean(at)
}

// effects adds to out what the k-th event adds over one step in each draw.
func (r *Roadmap) effects(out []float64, k int, ways []eventDraw, from, to capcli.Time, base float64) {
	e := &r.Events[k]
	if to <= e.Start {
		return // no event is early
	}
	scale, seen, begun := 1.0, e.shareSeen(r.Known), e.startedBefore(r.Known)
	if e.Relative {
		scale = base
	}
	sure := e.share(from, to, 0, 0) - seen
	for i, w := range ways {
		share := sure
		switch {
		case begun && e.LengthSD > 0:
			share = e.share(from, to, 0, e.atLeast(w.longer, r.Known)) - seen
		case !begun && (e.Delay > 0 || e.LengthSD > 0 || len(e.Delays) > 0 || e.Parent != ""):
			share = e.share(from, to, w.delay, w.longer)
		}
		out[i] += scale * w.size * share
	}
}

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

// ApplyPath adds one outcome of the roadmap to one drawn future, in place. Each event
// draws from a stream of its own name, so that under one seed it happens in the futures
// of all series or of none.
func (r *Roadmap) ApplyPath(path []float64, bounds []capcli.Time, seed capcli.Seed) {
	base := slices.Clone(path)
	for i := range r.Events {
		e := &r.Events[i]
		d := drawOf(r.Events, i, seed)
		if !d.happens {
			continue
		}
		seen := e.shareSeen(r.Known)
		if e.startedBefore(r.Known) {
			d.delay, d.longer = 0, e.atLeast(d.longer, r.Known)
		}
		for k := range path {
			if bounds[k+1] <= e.Start {
				continue
			}
			add := d.size * (e.share(bounds[k], bounds[k+1], d.delay, d.longer) - seen)
			if e.Relative {
				add *= base[k]
			}
			path[k] += add
		}
	}
}

// TeamGrowth returns the event of a team that grows from one number of people to another
// between start and end. A person uses gpus on average, with the standard deviation sd.
func TeamGrowth(name string, from, to int, start, end capcli.Time, gpus, sd float64) Event {
	people := float64(to - from)
	return Event{Name: name, Shape: Ramp, Start: start, End: end, Size: people * gpus, SizeSD: math.Sqrt(math.Abs(people)) * sd}
}

// The parametric loss of a language model with n parameters that has seen d tokens,
// L = E + A/n^α + B/d^β (Hoffmann et al. 2022, "Training compute-optimal large language models"), with
// the constants of the replication by Besiroglu et al. 2024, "Chinchilla scaling: a replication attempt",
// which corrects those of the paper's third approach.
const (
	lossFloor      = 1.8172
	lossParameters = 482.01
	lossTokens     = 2085.43
	lossAlpha      = 0.3478
	lossBeta       = 0.3658
)

// Loss returns the loss that the scaling law expects, in nats a token. It is a law of one family of models
// and one mix of data: differences between sizes are worth more than its value.
func Loss(parameters, tokens float64) float64 {
	return lossFloor + lossParameters/math.Pow(parameters, lossAlpha) + lossTokens/math.Pow(tokens, lossBeta)
}

// ComputeOptimal returns the size and the tokens that reach the least loss with so many operations, by the
// closed form of the paper: n = G (C/6)^a with a = β/(α+β) and G = (αA/βB)^(1/(α+β)), and d = C / 6n.
func ComputeOptimal(flops float64) (parameters, tokens float64) {
	g := math.Pow(lossAlpha*lossParameters/(lossBeta*lossTokens), 1/(lossAlpha+lossBeta))
	parameters = g * math.Pow(flops/6, lossBeta/(lossAlpha+lossBeta))
	return parameters, flops / 6 / parameters
}
