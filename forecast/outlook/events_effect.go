package outlook

import (
	"fmt"
	"math"
	"slices"

	"capcli"
	"capcli/forecast"
	"capcli/forecast/holidays"
	"capcli/forecast/model"
	"capcli/forecast/roadmap"
)

// seriesEvents are the planned events of one series and their effects on its forecast.
type seriesEvents struct {
	roadmap *roadmap.Roadmap // the events other than holidays; nil is none
	bounds  []capcli.Time    // bounds of the steps ahead; nil without a roadmap
	effects []EventChange
	plain   []float64 // the mean of each step without the roadmap, above the cap too; nil without one
	extra   []float64 // what the roadmap adds to the mean of each step, within bounds; nil is nothing
}

// changeBy returns the change of v by an event that adds the amounts of add to the steps ahead.
func changeBy(v *view, event string, add []float64, bounds []capcli.Time) EventChange {
	out := EventChange{ID: v.Name, event: event, first: len(add), last: -1}
	for i, x := range add {
		if math.Abs(x) < 1e-9 {
			continue
		}
		out.first, out.last = min(out.first, i), i
		out.Steps++
		out.GPUHours += x * capcli.Seconds(bounds[i+1]-bounds[i]).Hours()
		if math.Abs(x) > math.Abs(out.Most) {
			out.Most = x
		}
	}
	if n := len(v.Values); out.last >= 0 {
		out.First, out.Last = v.StampText(n+out.first), v.StampText(n+out.last)
	}
	return out
}

func (e *EventChange) warning() string {
	return fmt.Sprintf("event %s changes nothing here: %s", e.event, e.Why)
}

// eventsAhead returns the roadmap of v and the effects of its holidays, which the forecast of
// fit already includes. fit was fitted to fitted. It also returns notes on holidays that change
// nothing.
func (q *question) eventsAhead(v, fitted *view, fit *forecast.BoundedFit) (seriesEvents, []string, error) {
	var out seriesEvents
	if q.plan == nil {
		return out, nil, nil
	}
	if list := q.plan.events[v.Name]; len(list) > 0 {
		end := len(fitted.Values)
		for end > 0 && math.IsNaN(fitted.Values[end-1]) {
			end--
		}
		out.roadmap = &roadmap.Roadmap{Events: list, Seed: q.Seed, Known: capcli.Time(fitted.Stamp(end))}
		out.bounds = stampsOf(fitted.History, len(fitted.Values), v.steps)
	}
	var notes []string
	var err error
	out.effects, notes, err = q.holidayEffects(v, fit)
	return out, notes, err
}

// holidayEffects returns the effects of the holidays of a fit, and notes on those that change
// nothing.
func (q *question) holidayEffects(v *view, fit *forecast.BoundedFit) ([]EventChange, []string, error) {
	days := q.plan.days[v.Name]
	if len(days) == 0 {
		return nil, nil, nil
	}
	learnt, adds, err := holidays.Effects(fit.Fitted, v.steps)
	if err != nil {
		return nil, nil, err
	}
	n := len(v.Values)
	bounds := stampsOf(v.History, n, v.steps)
	var out []EventChange
	var notes []string
	for _, e := range days {
		a := changeBy(v, e.Name, nil, bounds)
		if k := slices.IndexFunc(learnt, func(l holidays.Effect) bool { return l.Name == e.Name }); k >= 0 {
			a = changeBy(v, e.Name, adds[k], bounds)
			if !e.Holiday.Declared {
				a.Learnt = &learnt[k]
			}
		}
		if a.last < 0 {
			switch {
			case !e.FallsWithin(bounds):
				a.Why = fmt.Sprintf("no such day from %s to %s", v.StampText(n), v.StampText(n+v.steps-1))
			case a.Learnt == nil || a.Learnt.Days == 0:
				a.Why = "no such day in the history can be compared with usual ones; say how much it is with share or gpus"
			default:
				a.Why = "such days did not differ from others"
			}
			notes = append(notes, a.warning())
		}
		out = append(out, a)
	}
	return out, notes, nil
}

// applyRoadmap returns a forecast of v with the roadmap added, above the floor. It appends the
// effects to ev, and returns notes on them.
func (ev *seriesEvents) applyRoadmap(fc model.Forecast, v *view, within func(int, float64) float64) (model.Forecast, []string, error) {
	if ev.roadmap == nil {
		return fc, nil, nil
	}
	plain := fc.Mean
	fc, adds, err := ev.roadmap.Apply(fc, ev.bounds)
	if err != nil {
		return fc, nil, err
	}
	var notes []string
	for k := range ev.roadmap.Events {
		e, more := ev.effectOn(v, &ev.roadmap.Events[k], adds[k])
		ev.effects, notes = append(ev.effects, e), append(notes, more...)
	}
	for _, list := range fc.Figures() {
		for i, x := range list {
			list[i] = within(i, x)
		}
	}
	ev.plain = plain
	return fc, notes, nil
}

// effectOn returns the effect of an event that adds the amounts of add, and a note where it adds
// nothing or only a part.
func (ev *seriesEvents) effectOn(v *view, e *roadmap.Event, add []float64) (EventChange, []string) {
	out := changeBy(v, e.Name, add, ev.bounds)
	n := len(v.Values)
	switch known := ev.roadmap.Known; {
	case out.last >= 0 && e.Start < known:
		return out, []string{fmt.Sprintf("event %s began before the end of the history (%s): only what changes from then on is added", e.Name, v.StampText(n-1))}
	case out.last >= 0:
		return out, nil
	case e.Start >= ev.bounds[len(add)]:
		out.Why = fmt.Sprintf("it begins after the last step forecast, %s", v.StampText(n+len(add)-1))
	case e.Start < known:
		out.Why = fmt.Sprintf("it ended before the end of the history, %s, which contains it", v.StampText(n-1))
	default:
		out.Why = "its expected effect is zero"
	}
	return out, []string{out.warning()}
}

// extraOf returns what the roadmap adds to one drawn future; nil without a roadmap.
func (ev *seriesEvents) extraOf(path []float64, seed capcli.Seed) []float64 {
	if ev.roadmap == nil {
		return nil
	}
	with := slices.Clone(path)
	ev.roadmap.ApplyPath(with, ev.bounds, seed)
	return difference(with, path)
}

// difference returns a minus b, step by step.
func difference(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] - b[i]
	}
	return out
}
