package queueing

import (
	"cmp"
	"context"
	"math"
	"slices"

	"capcli"
)

// states are the steady states that an estimate needs. Where many rates have the same lengths, they are
// interpolated between points of a grid of loads.
type states struct {
	found     map[state]occupancy
	gridded   map[Lengths]bool
	replica   Replica
	evaluated int
	gridError float64
}

// state is a steady state: lengths, and arrivals a second at a replica or, where the lengths are gridded,
// the number of a point of the grid.
type state struct {
	lengths Lengths
	rate    float64
}

// The grid of loads u: multiples of 1/64 in -ln(1 - u), which makes it denser towards 1.
const (
	loadSteps = 64.0
	lastLoad  = 640   // a load of 1 - e^-10
	leastLoad = 1e-9  // of point 0
	gridError = 0.001 // relative, of mean times; the tests hold it
)

func gridLoad(k int) float64 { return max(leastLoad, -math.Expm1(-float64(k)/loadSteps)) }

// gridPlace returns the point of the grid below a load and the part of the way to the next one.
func gridPlace(load float64) (k int, part float64) {
	x := -math.Log1p(-min(load, 1-1e-15)) * loadSteps
	if x >= lastLoad {
		return lastLoad - 1, 1
	}
	k = int(x)
	low, high := gridLoad(k), gridLoad(k+1)
	return k, max(0, min(1, (load-low)/(high-low)))
}

// evaluate works out all steady states that the steps need.
func (e *estimate) evaluate(ctx context.Context, done func(n, total int64)) error {
	s := &e.states
	*s = states{found: map[state]occupancy{}, gridded: map[Lengths]bool{}, replica: e.request.Replica}
	rates := map[Lengths]int{}
	for i := range e.flows {
		f := &e.flows[i]
		if at := (state{f.station.lengths, f.rate}); f.needsState() {
			if _, known := s.found[at]; !known {
				s.found[at] = occupancy{}
				rates[at.lengths]++
			}
		}
	}
	for l, n := range rates {
		if n > e.exactRates() && !s.replica.mayJump() {
			s.gridded[l] = true
			s.gridError = gridError
		}
	}
	if len(s.gridded) > 0 {
		clear(s.found)
		for i := range e.flows {
			if f := &e.flows[i]; f.needsState() {
				s.need(f)
			}
		}
	}
	return s.fill(ctx, done)
}

// exactRates returns how many rates of one law of lengths that are worked out one by one.
func (e *estimate) exactRates() int {
	if e.gridFrom > 0 {
		return e.gridFrom
	}
	return lastLoad
}

// needsState reports whether a part of the step is in steady state.
func (f *flow) needsState() bool { return f.full < 1 && f.rate > 0 }

// need notes the states from which that of a step follows.
func (s *states) need(f *flow) {
	l := f.station.lengths
	if !s.gridded[l] {
		s.found[state{l, f.rate}] = occupancy{}
		return
	}
	k, _ := gridPlace(f.rate / f.station.most)
	s.found[state{l, float64(k)}], s.found[state{l, float64(k + 1)}] = occupancy{}, occupancy{}
}

// fill works out the occupancy of each state. It builds a station for each few states of the same lengths,
// so that no more are in memory than there are workers.
func (s *states) fill(ctx context.Context, done func(n, total int64)) error {
	keys := make([]state, 0, len(s.found))
	for k := range s.found {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, compareStates)
	s.evaluated = len(keys)
	const size = 256
	out := make([]occupancy, len(keys))
	parts := (len(keys) + size - 1) / size
	var progress func(n int)
	if done != nil {
		progress = func(n int) { done(int64(min(n*size, len(keys))), int64(len(keys))) }
	}
	indices := make([]int, parts)
	for i := range indices {
		indices[i] = i
	}
	_, err := capcli.MapParallel(ctx, indices, progress, func(_ context.Context, part int) (struct{}, error) {
		from, to := part*size, min(len(keys), (part+1)*size)
		return struct{}{}, s.fillPart(keys[from:to], out[from:to])
	})
	if err != nil {
		return err
	}
	for i, k := range keys {
		s.found[k] = out[i]
	}
	return nil
}

// fillPart works out the occupancy of sorted states.
func (s *states) fillPart(keys []state, out []occupancy) error {
	var station *Station
	for i, k := range keys {
		if station == nil || station.lengths != k.lengths {
			var err error
			if station, err = newOutline(s.replica, k.lengths); err != nil {
				return err
			}
		}
		rate := k.rate
		if s.gridded[k.lengths] {
			rate = gridLoad(int(rate)) * station.most
		}
		out[i] = station.nearOccupancy(rate)
	}
	return nil
}

func compareStates(a, b state) int {
	return cmp.Or(cmp.Compare(a.lengths.In, b.lengths.In), cmp.Compare(a.lengths.Out, b.lengths.Out),
		cmp.Compare(a.lengths.Cached, b.lengths.Cached),
		cmp.Compare(a.lengths.Variation, b.lengths.Variation), cmp.Compare(a.rate, b.rate))
}

// occupancy returns who is in a replica of the station at rate arrivals a second.
func (s *states) occupancy(station *Station, rate float64) occupancy {
	l := station.lengths
	if !s.gridded[l] {
		return s.found[state{l, rate}]
	}
	load := rate / station.most
	k, part := gridPlace(load)
	a, b := s.found[state{l, float64(k)}], s.found[state{l, float64(k + 1)}]
	// A number present over the load is nearly constant at low loads, so that is interpolated.
	low, high := load/gridLoad(k)*(1-part), load/gridLoad(k+1)*part
	return occupancy{
		running: a.running*low + b.running*high, waiting: a.waiting*low + b.waiting*high,
		full: a.full*(1-part) + b.full*part, prompt: a.prompt*low + b.prompt*high,
	}
}
