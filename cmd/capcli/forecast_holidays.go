package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"capcli"
	"capcli/forecast"
)

// modelFor is what forecasts a series: the model named, within what can be, and
// with the holidays of --events where there are any; with --changes use it learns
// from what came since the level moved.
func (o *forecastOptions) modelFor(h *history, name string, steps int, opts forecast.Options) forecast.Model {
	b := o.bounded(h, name, steps, opts)
	if o.changes == changesUse {
		b.Model = forecast.SinceChange{Model: b.Model, Seasons: opts.Seasons}
	}
	if days := o.specialDays(h, steps); len(days) > 0 {
		b.Model = forecast.Holidays{Model: b.Model, Days: days, Zone: o.zoneOf(h), At: func(i int) capcli.Time { return capcli.Time(h.Stamp(i)) }}
	}
	return b
}

// zoneOf is the zone of a series' holidays.
func (o *forecastOptions) zoneOf(h *history) *time.Location {
	for _, e := range o.plan.days[h.Name] {
		if e.Holiday.Zone != nil {
			return e.Holiday.Zone
		}
	}
	return h.hs.Zone
}

// specialDays are the holidays of a series, with their days from before its
// history to the end of the forecast.
func (o *forecastOptions) specialDays(h *history, steps int) []forecast.SpecialDays {
	if o.plan == nil || len(o.plan.days[h.Name]) == 0 {
		return nil
	}
	from, to := capcli.Time(h.Stamp(0)).Std().Year()-1, capcli.Time(h.Stamp(len(h.Values)+steps)).Std().Year()+1
	var out []forecast.SpecialDays
	for _, e := range o.plan.days[h.Name] {
		c := e.Calendar(from, to)
		if len(c.Holidays[0].Dates) == 0 {
			continue
		}
		out = append(out, forecast.SpecialDays{
			Holiday: c.Holidays[0], Declared: e.Holiday.Declared, Size: e.Event.Size, SD: e.Event.SizeSD, Relative: e.Event.Relative,
		})
	}
	return out
}

// holidays notes what the holidays of a fit do.
func (f *forecasted) holidays(o *forecastOptions, fit forecast.Fitted, steps int) error {
	if o.plan == nil || len(o.plan.days[f.h.Name]) == 0 {
		return nil
	}
	if b, ok := fit.(*forecast.BoundedFit); ok {
		fit = b.Fitted
	}
	effects, adds, err := forecast.HolidaysOf(fit, steps)
	if err != nil {
		return err
	}
	bounds := f.h.bounds(len(f.h.Values), steps)
	n := len(f.h.Values)
	for _, e := range o.plan.days[f.h.Name] {
		a := added{event: e.Name, first: steps, last: -1}
		for k := range effects {
			if effects[k].Name == e.Name {
				a.learnt = &effects[k]
				a.note(adds[k], bounds)
			}
		}
		if e.Holiday.Declared {
			a.learnt = nil
		}
		if a.last < 0 {
			switch {
			case !e.FallsWithin(bounds):
				a.why = fmt.Sprintf("no such day from %s to %s", f.h.StampText(n), f.h.StampText(n+steps-1))
			case a.learnt == nil || a.learnt.Past == 0:
				a.why = "no such day in the history can be compared with usual ones; say how much it is with share or gpus"
			default:
				a.why = "such days were as usual"
			}
			f.warnings = append(f.warnings, fmt.Sprintf("event %s changes nothing here: %s", e.Name, a.why))
		}
		f.added = append(f.added, a)
	}
	return nil
}

// note takes what an event adds to each step.
func (a *added) note(add []float64, bounds []capcli.Time) {
	for i, v := range add {
		if math.Abs(v) < 1e-9 {
			continue
		}
		a.first, a.last = min(a.first, i), i
		a.steps++
		a.hours += v * capcli.Seconds(bounds[i+1]-bounds[i]).Hours()
		if math.Abs(v) > math.Abs(a.most) {
			a.most = v
		}
	}
}

// withoutHolidays are the values of a history with those of its holidays missing.
func (o *forecastOptions) withoutHolidays(h *history, y []float64) []float64 {
	days := o.specialDays(h, 0)
	if len(days) == 0 {
		return y
	}
	out := slices.Clone(y)
	c := forecast.Calendar{Zone: o.zoneOf(h)}
	for _, d := range days {
		c.Holidays = append(c.Holidays, d.Holiday)
	}
	_, columns := c.Regressors(h.bounds(0, len(y)))
	for _, column := range columns {
		for i, share := range column {
			if share >= 0.5 { // a week or a month is more than its holiday
				out[i] = math.NaN()
			}
		}
	}
	return out
}
