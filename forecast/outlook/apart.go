package outlook

import (
	"math"
	"slices"

	"capcli"
	"capcli/forecast/roadmap"
)

// Apart is the futures of a forecast before its planned events were added, with the events: the same futures with some
// of the events alone are made of it. Each event draws from a stream of its own name, so that leaving one out changes
// no other draw. Holidays are part of the futures. An Apart can be encoded.
type Apart struct {
	Bare   [][]float64     // by future, then step
	Bounds []capcli.Time   // of the steps
	Events []roadmap.Event // in the order of the files
	Known  capcli.Time     // end of the history
	Seed   capcli.Seed
	Floor  float64 // least value of a step; -Inf is none
}

// FuturesApart returns the futures of the forecast with its events apart. It is nil unless Request.Apart asked for it, and
// for more than one series, for a series under a cap and where no event other than a holiday changes the series.
func (r *Result) FuturesApart() *Apart {
	if len(r.Series) != 1 {
		return nil
	}
	return r.Series[0].apart
}

// Futures returns the futures without the named events and those that follow them. Without a name they are those of
// the forecast.
func (a *Apart) Futures(without ...string) [][]float64 {
	road := roadmap.Roadmap{Seed: a.Seed, Known: a.Known}
	for i := range a.Events {
		if e := &a.Events[i]; !slices.Contains(without, e.Name) && (e.Parent == "" || !slices.Contains(without, e.Parent)) {
			road.Events = append(road.Events, *e)
		}
	}
	ev := seriesEvents{roadmap: &road, bounds: a.Bounds}
	f := futures{paths: clonePaths(a.Bare)}
	for k, path := range a.Bare {
		f.extras = append(f.extras, ev.extraOf(path, a.Seed.Child(k)))
	}
	f.addEvents(func(_ int, v float64) float64 { return max(v, a.Floor) })
	return f.paths
}

// apartOf returns the futures of s, to which no events have been added, with its events apart; nil where they are not
// asked for or cannot be.
func (q *question) apartOf(s *seriesForecast, paths [][]float64) *Apart {
	if !q.Apart || s.roadmap == nil || s.cap != nil || q.agrees() {
		return nil
	}
	return &Apart{
		Bare: clonePaths(paths[:min(q.Paths, len(paths))]), Bounds: s.bounds, Events: s.roadmap.Events, Known: s.roadmap.Known, Seed: q.Seed,
		Floor: s.above(0, math.Inf(-1)),
	}
}
