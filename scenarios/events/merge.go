package events

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/forecast/holidays"
	"capcli/forecast/roadmap"
)

// Limits of several files of events together.
const (
	mostTogether = 10_000 // events
	shownPairs   = 10     // of overlapping events, in the note on them
)

// Merge returns the events of several files as one plan, such as those of one team each. The order of the plans does
// not matter: events are in the order of the names of their files. Each keeps its file and the time zone of its days.
// An event that is in two files counts once where the two are the same; else Merge fails with *capcli.InputError,
// which names both places and what differs. Events of different files that change the same series at the same time
// are named in Notes, for two teams may tell of one launch.
func Merge(plans []*Plan) (*Plan, error) {
	if len(plans) == 1 {
		return plans[0], nil
	}
	plans = slices.Clone(plans)
	slices.SortStableFunc(plans, func(a, b *Plan) int { return strings.Compare(a.File, b.File) })
	out := &Plan{}
	var names []string
	first := map[string]int{}
	for _, p := range plans {
		names = append(names, p.File)
		out.Notes = append(out.Notes, p.Notes...)
		for i := range p.List {
			e := &p.List[i]
			k, twice := first[e.Name]
			if !twice {
				first[e.Name] = len(out.List)
				out.List = append(out.List, *e)
				continue
			}
			if err := checkSame(&out.List[k], e); err != nil {
				return nil, err
			}
			if e.Event.Parent == "" {
				out.Notes = append(out.Notes, fmt.Sprintf("event %s is in %s and in %s, and is the same: it counts once", capcli.Quoted(e.Name), out.List[k].Place(), e.Place()))
			}
		}
	}
	out.File = strings.Join(names, ", ")
	if len(out.List) > mostTogether {
		return nil, &capcli.InputError{File: out.File, Field: "events", Text: fmt.Sprintf("expected at most %d events in all files together, found %d", mostTogether, len(out.List))}
	}
	if note := overlapNote(out.List); note != "" {
		out.Notes = append(out.Notes, note)
	}
	return out, nil
}

// checkSame returns an error where two events of one name differ.
func checkSame(a, b *roadmap.Entry) error {
	what := difference(a, b)
	if what == "" {
		return nil
	}
	return &capcli.InputError{
		File: b.File, Line: b.Line, Field: "name",
		Text: fmt.Sprintf("the event %s is in %s too, and the two differ in %s; the output goes by the name", capcli.Quoted(b.Name), a.Place(), what),
		Hint: "keep one of them, or give one another name",
	}
}

// difference names the first field in which two events differ, with both values where they are short; "" where they
// are the same. The files and lines do not count.
func difference(a, b *roadmap.Entry) string {
	for _, x := range []struct{ field, a, b string }{
		{"kind", a.Kind, b.Kind},
		{"from", a.Event.Start.String(), b.Event.Start.String()},
		{"to", a.Event.End.String(), b.Event.End.String()},
		{"size", sizeText(a), sizeText(b)},
		{"probability", chanceText(a), chanceText(b)},
		{"team", a.Ask.Team, b.Ask.Team},
	} {
		if x.a != x.b {
			return fmt.Sprintf("%s: %s and %s", x.field, cmp.Or(x.a, "none"), cmp.Or(x.b, "none"))
		}
	}
	for _, x := range []struct {
		field string
		a, b  any
	}{
		{"series", seriesOf(a), seriesOf(b)},
		{"low, high, sd, late or delays", a.Event, b.Event},
		{"what is said of the request", a.Ask, b.Ask},
		{"the campaign", []any{a.Campaign, a.Success}, []any{b.Campaign, b.Success}},
		{"dates, before, after or timezone", daysOf(a), daysOf(b)},
	} {
		if !reflect.DeepEqual(x.a, x.b) {
			return x.field
		}
	}
	return ""
}

func chanceText(e *roadmap.Entry) string { return fmt.Sprint(cmp.Or(e.Event.Chance, 1)) }

// seriesOf returns the series of an event in order.
func seriesOf(e *roadmap.Entry) []string {
	if e.All {
		return []string{"all", ""} // no name is empty
	}
	return slices.Sorted(slices.Values(e.Series))
}

// daysOf returns what a holiday is without the pointer to its zone.
func daysOf(e *roadmap.Entry) any {
	if e.Holiday == nil {
		return nil
	}
	h := *e.Holiday
	zone := "UTC"
	if h.Zone != nil {
		zone = h.Zone.String()
	}
	h.Zone = nil
	return []any{h, zone}
}

// sizeText says how much an event adds: 64 GPUs, or 25% of the forecast.
func sizeText(e *roadmap.Entry) string {
	switch {
	case e.Holiday != nil && !e.Holiday.Declared:
		return "as the history says"
	case e.Event.Relative:
		return strconv.FormatFloat(100*e.Event.Size, 'f', -1, 64) + "% of the forecast"
	}
	if e.Event.Size == 1 {
		return "1 GPU"
	}
	return strconv.FormatFloat(e.Event.Size, 'f', -1, 64) + " GPUs"
}

// pair is two events of different files that change the same series at the same time.
type pair struct{ a, b *roadmap.Entry }

// overlapNote names the overlapping events of different files, those that start nearest to each other first; "" where
// there are none.
func overlapNote(list []roadmap.Entry) string {
	var nearest []pair
	count := 0
	for i := range list {
		for k := range i {
			p := pair{&list[k], &list[i]}
			if !p.overlaps() {
				continue
			}
			count++
			if len(nearest) == shownPairs && p.distance() >= nearest[shownPairs-1].distance() {
				continue
			}
			nearest = append(nearest, p)
			slices.SortStableFunc(nearest, func(p, q pair) int { return cmp.Compare(p.distance(), q.distance()) })
			nearest = nearest[:min(len(nearest), shownPairs)]
		}
	}
	if count == 0 {
		return ""
	}
	texts := capcli.Map(nearest, func(p pair) string { return describe(p.a) + " and " + describe(p.b) })
	if more := count - len(nearest); more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more pairs", more))
	}
	return "events of different files change the same series at the same time; where two tell of one thing, keep one: " + strings.Join(texts, "; ")
}

// describe says where an event is, how much it adds and from when.
func describe(e *roadmap.Entry) string {
	text := fmt.Sprintf("%s (%s, %s", e.Name, e.Place(), sizeText(e))
	if e.Holiday == nil {
		at := e.Event.Start.Std()
		if e.Zone != nil {
			at = at.In(e.Zone)
		}
		text += " from " + at.Format("2006-01-02")
	}
	return text + ")"
}

// distance returns the time between the starts of a pair; 0 for holidays.
func (p *pair) distance() capcli.Time {
	if p.a.Holiday != nil {
		return 0
	}
	d := p.a.Event.Start - p.b.Event.Start
	return max(d, -d)
}

// overlaps reports whether the two events are of different files and change a series at the same time.
func (p *pair) overlaps() bool {
	a, b := p.a, p.b
	if a.File == b.File || a.Event.Parent != "" || b.Event.Parent != "" || (a.Holiday == nil) != (b.Holiday == nil) {
		return false
	}
	named := func(e *roadmap.Entry) bool { return !e.All && len(e.Series) > 0 }
	if named(a) && named(b) && !slices.ContainsFunc(a.Series, func(s string) bool { return slices.Contains(b.Series, s) }) {
		return false
	}
	if a.Holiday != nil {
		return slices.ContainsFunc(a.Holiday.Days, func(x holidays.RuleDay) bool {
			return slices.ContainsFunc(b.Holiday.Days, func(y holidays.RuleDay) bool { return sameDay(x, y) })
		})
	}
	return endsAfter(a, b.Event.Start) && endsAfter(b, a.Event.Start)
}

// endsAfter reports whether an event still changes the demand after an instant. A ramp stays at its full size.
func endsAfter(e *roadmap.Entry, at capcli.Time) bool {
	end := e.Event.End
	return e.Event.Shape == roadmap.Ramp || !end.IsKnown() || end == 0 || end > at
}

// sameDay reports whether two rules name one day in some year. Easter and a date may meet in single years, which does
// not count.
func sameDay(a, b holidays.RuleDay) bool {
	if a.Easter || b.Easter {
		return a.Easter == b.Easter && a.Offset == b.Offset
	}
	return a.Month == b.Month && a.Day == b.Day && (a.Year == b.Year || a.Year == 0 || b.Year == 0)
}
