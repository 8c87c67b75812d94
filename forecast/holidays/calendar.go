// Package holidays has calendars of holidays, and a model that learns by how much demand
// differs on such days.
package holidays

import (
	"fmt"
	"math"
	"slices"
	"time"

	"capcli"
	"capcli/forecast/model"
)

// Holiday is a day, or days in a row, with unusual demand.
type Holiday struct {
	Name string
	// Dates are the local days of the holiday, past and future.
	Dates []Date
	// Before and After are the numbers of days around it that are unusual too.
	Before, After int
	Zone          *time.Location // of its days; nil is the zone of the calendar
}

// zoneOr returns the time zone of the holiday's days; zone where it has none of its own.
func (h *Holiday) zoneOr(zone *time.Location) *time.Location {
	if h.Zone != nil {
		return h.Zone
	}
	return zone
}

// Date is a day without a time zone.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// Calendar is a list of holidays, in one time zone where they have none of their own.
type Calendar struct {
	Zone     *time.Location // nil is UTC
	Holidays []Holiday
}

// Check returns a *capcli.InputError where the calendar is invalid.
func (c *Calendar) Check() error {
	for i := range c.Holidays {
		h := &c.Holidays[i]
		if h.Before < 0 || h.After < 0 || h.Before > 366 || h.After > 366 {
			return &capcli.InputError{Field: "before, after", Text: fmt.Sprintf("holiday %q: expected 0 to 366 days, found %d and %d", h.Name, h.Before, h.After), Err: model.ErrUnfit}
		}
		if len(h.Dates) == 0 {
			return &capcli.InputError{Field: "dates", Text: fmt.Sprintf("holiday %q: expected one or more, found none", h.Name), Err: model.ErrUnfit}
		}
		for _, d := range h.Dates {
			t := time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC)
			if t.Year() != d.Year || t.Month() != d.Month || t.Day() != d.Day {
				return &capcli.InputError{Field: "dates", Text: fmt.Sprintf("holiday %q: expected a day that exists, found %04d-%02d-%02d", h.Name, d.Year, int(d.Month), d.Day), Err: model.ErrUnfit}
			}
		}
	}
	return nil
}

// Regressors returns, for each holiday and each day around it that it affects, a column over
// the steps between bounds: the share of each step that falls on such days.
func (c *Calendar) Regressors(bounds []capcli.Time) (names []string, columns [][]float64) {
	for i := range c.Holidays {
		h := &c.Holidays[i]
		for offset := -h.Before; offset <= h.After; offset++ {
			name := h.Name
			if offset != 0 {
				name = fmt.Sprintf("%s%+d", h.Name, offset)
			}
			column := make([]float64, max(0, len(bounds)-1))
			for _, d := range h.Dates {
				from, to := d.dayRange(h.zoneOr(c.Zone), offset)
				spread(column, bounds, from, to)
			}
			names, columns = append(names, name), append(columns, column)
		}
	}
	return names, columns
}

// dayRange returns the start of the day offset days after d, and the start of the day
// after that.
func (d Date) dayRange(zone *time.Location, offset int) (from, to capcli.Time) {
	if zone == nil {
		zone = time.UTC
	}
	from = capcli.TimeOf(time.Date(d.Year, d.Month, d.Day+offset, 0, 0, 0, 0, zone))
	return from, capcli.TimeOf(time.Date(d.Year, d.Month, d.Day+offset+1, 0, 0, 0, 0, zone))
}

// spread adds to each step the share of it between from and to.
func spread(column []float64, bounds []capcli.Time, from, to capcli.Time) {
	first, _ := slices.BinarySearch(bounds, from)
	for k := max(0, first-1); k < len(column) && bounds[k] < to; k++ {
		if share := min(bounds[k+1], to) - max(bounds[k], from); share > 0 {
			column[k] = math.Min(1, column[k]+float64(share)/float64(bounds[k+1]-bounds[k]))
		}
	}
}

// Rule defines the unusual days of each year.
type Rule struct {
	Days          []RuleDay
	Before, After int  // numbers of days around it that are unusual too
	Declared      bool // the size is given; else it is learnt from the history
	Zone          *time.Location
}

// RuleDay is a day of one year, of every year, or a number of days from Easter.
type RuleDay struct {
	Date        // Year 0 is every year
	Easter bool // the date is Easter Sunday
	Offset int  // days after the date
}

// Dates returns the holiday's days from one year to another, each day in the order of
// Days. It leaves out a day that a year does not have (29 February).
func (h *Rule) Dates(from, to int) []Date {
	var out []Date
	add := func(y int, m time.Month, d int) { out = append(out, Date{Year: y, Month: m, Day: d}) }
	for _, day := range h.Days {
		if day.Year != 0 {
			add(day.Year, day.Month, day.Day)
			continue
		}
		for y := from; y <= to; y++ {
			month, in := day.Month, day.Day
			if day.Easter {
				month, in = easter(y)
			}
			t := time.Date(y, month, in, 0, 0, 0, 0, time.UTC)
			if t.Day() != in {
				continue
			}
			t = t.AddDate(0, 0, day.Offset)
			add(t.Year(), t.Month(), t.Day())
		}
	}
	return out
}

// easter returns the date of Easter Sunday in the Gregorian calendar (the anonymous algorithm of
// Nature, 20 April 1876, as in Meeus 1991, "Astronomical Algorithms", ch. 8).
func easter(year int) (time.Month, int) {
	a, b, c := year%19, year/100, year%100
	e := (8*b + 13) / 25
	h := (19*a + b - b/4 - e + 15) % 30
	l := (32 + 2*(b%4) + 2*(c/4) - h - c%4) % 7
	m := (a + 11*h + 19*l) / 433
	month := (h + l - 7*m + 90) / 25
	return time.Month(month), (h + l - 7*m + 33*month + 19) % 32
}
