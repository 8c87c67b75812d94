package outlook

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"capcli"
	"capcli/forecast"
	"capcli/forecast/demand"
	"capcli/forecast/holidays"
	"capcli/forecast/model"
	"capcli/forecast/roadmap"
)

// eventPlan maps planned events to the series that they change.
type eventPlan struct {
	*roadmap.Plan
	events map[string][]roadmap.Event  // by series name, in the order of the file
	days   map[string][]*roadmap.Entry // holidays by series name
	why    map[*roadmap.Entry]string   // by event, the series it names that do not exist
}

// planEvents sets q.plan: which event changes which series.
func (q *question) planEvents(ctx context.Context) error {
	if q.Events == nil {
		return context.Cause(ctx)
	}
	if !q.hs.Clock {
		return &capcli.InputError{File: strings.Join(q.hs.Inputs, ", "), Field: "ds", Text: "--events needs stamps that are times, found whole numbers", Hint: "give times in the column ds (or --time-col)"}
	}
	q.notes = append(q.notes, q.Events.Notes...)
	q.plan = &eventPlan{
		Plan: q.Events, events: map[string][]roadmap.Event{}, days: map[string][]*roadmap.Entry{}, why: map[*roadmap.Entry]string{},
	}
	for i := range q.Events.List {
		if err := q.bind(&q.Events.List[i]); err != nil {
			return err
		}
	}
	return nil
}

// bind enters one event in the plan for each series that it changes.
func (q *question) bind(e *roadmap.Entry) error {
	bad := func(field, text, hint string) error {
		return &capcli.InputError{File: e.File, Line: e.Line, Field: field, Text: fmt.Sprintf("%s: %s", e.Name, text), Hint: hint}
	}
	switch q.hs.Measure {
	case "", "demand", "usage":
	default:
		if e.InGPUs() {
			return bad("gpus", "an event in GPUs, but --measure "+q.hs.Measure+" counts something else", "give a share, or forecast --measure demand")
		}
	}
	names := capcli.Map(q.views, func(v *view) string { return v.Name })
	to := e.Series
	switch {
	case (e.All || len(e.Series) == 0) && (len(names) == 1 || !e.InGPUs()):
		to = names
	case e.All:
		to = q.partNames(names)
	case len(e.Series) == 0 && slices.Contains(names, demand.TotalName):
		to = []string{demand.TotalName}
	case len(e.Series) == 0:
		return bad("series", fmt.Sprintf("expected the series that the event changes, as there are %d of them; found none named", len(names)),
			fmt.Sprintf("write series: %q or another of them, or series: all, which adds it to each", names[0]))
	}
	var unknown []string
	for _, name := range to {
		if !slices.Contains(names, name) {
			unknown = append(unknown, "there is no series "+name+capcli.DidYouMean(name, names))
			continue
		}
		q.plan.add(e, name, 1)
		for _, sum := range q.sumsOver(e, name) {
			q.plan.add(e, sum.Name, q.shareOf(name, sum, e))
		}
	}
	if len(unknown) > 0 {
		q.plan.why[e] = strings.Join(capcli.Abridge(unknown, 3), ", ")
		q.notes = append(q.notes, fmt.Sprintf("event %s (%s): %s", e.Name, e.Place(), q.plan.why[e]))
	}
	return nil
}

// add enters an event for the series called name, with its size multiplied by scale.
func (p *eventPlan) add(e *roadmap.Entry, name string, scale float64) {
	if e.Holiday != nil {
		p.days[name] = append(p.days[name], e)
		return
	}
	event := e.Event
	event.Size, event.SizeSD = event.Size*scale, event.SizeSD*scale
	if k := slices.IndexFunc(p.events[name], func(other roadmap.Event) bool { return other.Name == e.Name }); k >= 0 {
		other := &p.events[name][k] // an event of two parts of a sum: it happens to both or to neither
		other.Size, other.SizeSD = other.Size+event.Size, other.SizeSD+event.SizeSD
		return
	}
	p.events[name] = append(p.events[name], event)
}

// outcome says in which futures an event that may not happen does.
type outcome struct {
	name    string
	happens []bool // by future
}

// outcomesOf returns the outcomes of the events that may not happen, in the order of the file.
func (q *question) outcomesOf(list []Series) (out []outcome) {
	if q.plan == nil || q.Paths == 0 {
		return nil
	}
	for i := range q.plan.List {
		e := &q.plan.List[i]
		if e.Holiday != nil || e.Event.Chance == 0 || e.Event.Chance == 1 {
			continue
		}
		for j := range list {
			events := q.plan.events[list[j].ID]
			at := slices.IndexFunc(events, func(x roadmap.Event) bool { return x.Name == e.Name })
			if at < 0 {
				continue
			}
			o := outcome{name: e.Name}
			for k := range q.Paths {
				o.happens = append(o.happens, roadmap.Happens(events, at, q.Seed.Child(k)))
			}
			out = append(out, o)
			break
		}
	}
	return out
}

// partNames returns the names of the series that are not sums of others.
func (q *question) partNames(names []string) []string {
	sums := names[:q.sums()]
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(sums, name) })
}

// sumsOver returns the sums that contain the series called name, which an event changes. The
// event changes these sums too, unless it names them or is a share of every series.
func (q *question) sumsOver(e *roadmap.Entry, name string) []*view {
	t := q.hs.Tree
	if t == nil || e.Holiday != nil || e.Event.Relative && len(e.Series) == 0 {
		return nil
	}
	named := func(h *demand.History) bool { return h.Name == name }
	within := []int{slices.IndexFunc(t.Parts, named)}
	if k := slices.IndexFunc(t.Sums, named); k >= 0 {
		within = t.PartsOf[k]
	}
	var out []*view
	for k, sum := range q.views[:q.sums()] {
		outside := func(j int) bool { return !slices.Contains(t.PartsOf[k], j) }
		if !slices.ContainsFunc(within, outside) && sum.Name != name && !slices.Contains(e.Series, sum.Name) {
			out = append(out, sum)
		}
	}
	return out
}

// shareOf returns the factor that turns a share of a part into a share of a sum: the part's
// recent level over the sum's. It is 1 for an event in GPUs.
func (q *question) shareOf(name string, sum *view, e *roadmap.Entry) float64 {
	if !e.Event.Relative {
		return 1
	}
	part, whole := 0.0, recentLevel(sum.Values)
	for _, v := range q.views {
		if v.Name == name {
			part = recentLevel(v.Values)
		}
	}
	if !(part >= 0 && whole > 0) {
		return 0
	}
	return min(1, part/whole)
}

// recentSteps is the number of the last values whose mean is the recent level of a series.
const recentSteps = 168

// recentLevel returns the mean of the known values among the last ones, 0 where there are none.
func recentLevel(values []float64) float64 {
	level, n := 0.0, 0.0
	for _, v := range values[max(0, len(values)-recentSteps):] {
		if !math.IsNaN(v) {
			level, n = level+v, n+1
		}
	}
	return level / max(1, n)
}

// holidayZone returns the time zone in which days of a series are compared: that of its first holiday.
func (q *question) holidayZone(name string) *time.Location {
	for _, e := range q.plan.days[name] {
		if e.Holiday.Zone != nil {
			return e.Holiday.Zone
		}
	}
	return q.hs.Zone
}

// specialDays returns the holidays of a series, with their days from before its history to the
// end of the forecast.
func (q *question) specialDays(h *demand.History, steps int) []holidays.SpecialDays {
	if q.plan == nil || len(q.plan.days[h.Name]) == 0 {
		return nil
	}
	from, to := capcli.Time(h.Stamp(0)).Std().Year()-1, capcli.Time(h.Stamp(len(h.Values)+steps)).Std().Year()+1
	var out []holidays.SpecialDays
	for _, e := range q.plan.days[h.Name] {
		c := e.Calendar(from, to)
		if len(c.Holidays[0].Dates) == 0 {
			continue
		}
		out = append(out, holidays.SpecialDays{
			Holiday: c.Holidays[0], Declared: e.Holiday.Declared, Size: e.Event.Size, SD: e.Event.SizeSD, Relative: e.Event.Relative,
		})
	}
	return out
}

// withoutHolidays returns y, the values of h, with NaN on the days of its holidays.
func (q *question) withoutHolidays(h *demand.History, y []float64) []float64 {
	days := q.specialDays(h, 0)
	if len(days) == 0 {
		return y
	}
	out := slices.Clone(y)
	c := holidays.Calendar{Zone: q.holidayZone(h.Name)}
	for _, d := range days {
		c.Holidays = append(c.Holidays, d.Holiday)
	}
	_, columns := c.Regressors(stampsOf(h, 0, len(y)))
	for _, column := range columns {
		for i, share := range column {
			if share >= 0.5 { // a week or a month is more than its holiday
				out[i] = math.NaN()
			}
		}
	}
	return out
}

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
