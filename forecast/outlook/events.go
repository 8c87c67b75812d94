package outlook

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"capcli"
	"capcli/forecast/demand"
	"capcli/forecast/holidays"
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
	names := make([]string, len(q.views))
	for i, v := range q.views {
		names[i] = v.Name
	}
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
