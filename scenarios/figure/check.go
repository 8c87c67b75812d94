package figure

import (
	"fmt"
	"slices"
	"strings"
)

// Kinds are all kinds of figures.
var Kinds = []Kind{Lines, Stack, Points, Bars, Waterfall, Tornado, Heat, Spans}

// Units are all units of values.
var Units = []Unit{Count, USD, GPUHours, Seconds, Share, Time, Name}

// Check reports what of f cannot be drawn: an ID with other signs than small letters, digits and
// dashes, an unknown kind or unit, no series, a name that two series have, lists of a series that
// differ in length, and a chosen point that is not there.
func (f *Figure) Check() error {
	wrong := func(format string, values ...any) error {
		return fmt.Errorf("figure %.40q: %s", f.ID, fmt.Sprintf(format, values...))
	}
	switch {
	case f.ID == "" || strings.Trim(f.ID, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
		return wrong("the ID must consist of small letters, digits and dashes")
	case !slices.Contains(Kinds, f.Kind):
		return wrong("unknown kind %.40q; have %v", f.Kind, Kinds)
	case !slices.Contains(Units, f.X.Unit) || !slices.Contains(Units, f.Y.Unit):
		return wrong("unknown unit %.40q or %.40q; have %v", f.X.Unit, f.Y.Unit, Units)
	case len(f.Series) == 0:
		return wrong("there is nothing to draw: no series")
	case len(f.Series) > 1 && (f.Kind == Waterfall || f.Kind == Tornado):
		return wrong("%d series, but the kind %s has one", len(f.Series), f.Kind)
	case f.Kind.HasNames() && len(f.X.Names) == 0:
		return wrong("the kind %s needs the names of the axis X", f.Kind)
	case f.Kind != Spans && f.Y.Unit == Time:
		return wrong("the axis Y of the kind %s cannot measure moments", f.Kind)
	}
	seen := map[string]bool{}
	for i := range f.Series {
		s := &f.Series[i]
		if seen[s.Name] {
			return wrong("two series are called %.60q", s.Name)
		}
		seen[s.Name] = true
		if text := f.checkSeries(s); text != "" {
			return wrong("series %.60q: %s", s.Name, text)
		}
	}
	for _, m := range f.Marks {
		if m.Axis != "x" && m.Axis != "y" {
			return wrong("mark %.60q is on axis %q, want x or y", m.Label, m.Axis)
		}
	}
	return nil
}

// checkSeries returns what is wrong with the lists of s, and "" where nothing is.
func (f *Figure) checkSeries(s *Series) string {
	n := f.Points(s)
	lists := []struct {
		name   string
		length int
		needed bool
	}{
		{"X", len(s.X), !f.Kind.HasNames() && f.Kind != Spans && len(f.X.Names) == 0},
		{"Y", len(s.Y), f.Kind != Spans && f.Kind != Tornado},
		{"Lo", len(s.Lo), f.Kind == Spans || f.Kind == Tornado},
		{"Hi", len(s.Hi), f.Kind == Spans || f.Kind == Tornado},
		{"Labels", len(s.Labels), false},
	}
	for _, l := range lists {
		if l.length != n && (l.needed || l.length > 0) {
			return fmt.Sprintf("%d values of %s, want %d", l.length, l.name, n)
		}
	}
	if (len(s.Lo) > 0) != (len(s.Hi) > 0) {
		return "only one of Lo and Hi is there"
	}
	for _, i := range s.Chosen {
		if i < 0 || i >= n {
			return fmt.Sprintf("chosen point %d of %d", i, n)
		}
	}
	return ""
}

// HasNames reports whether the axis X of the kind holds names, and each series a value for each.
func (k Kind) HasNames() bool { return k == Bars || k == Waterfall || k == Tornado || k == Heat }

// Points returns how many points the series s of f should have.
func (f *Figure) Points(s *Series) int {
	switch {
	case f.Kind == Spans:
		return len(s.Lo)
	case f.Kind.HasNames() || len(f.X.Names) > 0:
		return len(f.X.Names)
	}
	return len(s.X)
}
