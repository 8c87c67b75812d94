package forecast

import (
	"time"

	"capcli"
)

// PlannedEvents are what a person knows of the demand to come.
type PlannedEvents struct {
	File string         // that states them, for messages
	Zone *time.Location // of its days; nil is UTC
	List []PlannedEvent // in the file's order
}

// PlannedEvent is an event with the names of the series that it changes.
type PlannedEvent struct {
	Name   string
	Kind   string   // step, pulse, ramp, campaign, team or holiday
	Line   int      // of the file
	Series []string // the series that it changes; none where the file does not say
	All    bool     // it changes every series
	// Event is what it does to demand; of a holiday it has the declared size alone.
	Event Event
	// Campaign and Cost are of a campaign.
	Campaign *Campaign
	Cost     Cost
	Holiday  *HolidayRule // of a holiday
}

// HolidayRule says on which days of each year demand is not as usual.
type HolidayRule struct {
	Days          []HolidayDay
	Before, After int  // days around it that it colours too
	Declared      bool // the size is given; else the history is asked
	Zone          *time.Location
}

// HolidayDay is a day of one year, of every year, or one that moves with Easter.
type HolidayDay struct {
	Date        // Year 0 is every year
	Easter bool // the date is Easter Sunday
	Offset int  // days after it
}

// InGPUs reports whether the event adds a number of GPUs, not a share of the forecast
// or what the history says of a holiday.
func (p *PlannedEvent) InGPUs() bool {
	return !p.Event.Relative && (p.Holiday == nil || p.Holiday.Declared)
}

// Calendar returns the holiday with its days from one year to another.
func (p *PlannedEvent) Calendar(from, to int) Calendar {
	h := p.Holiday
	return Calendar{Zone: h.Zone, Holidays: []Holiday{{Name: p.Name, Dates: h.Dates(from, to), Before: h.Before, After: h.After}}}
}

// FallsWithin reports whether a day of the holiday lies between the first and the
// last of bounds.
func (p *PlannedEvent) FallsWithin(bounds []capcli.Time) bool {
	c := p.Calendar(bounds[0].Std().Year()-1, bounds[len(bounds)-1].Std().Year()+1)
	_, columns := c.Regressors(bounds)
	for _, column := range columns {
		for _, v := range column {
			if v > 0 {
				return true
			}
		}
	}
	return false
}

// Dates returns the holiday's days from one year to another, each day in the order of
// Days. It leaves out a day that a year does not have (29 February).
func (h *HolidayRule) Dates(from, to int) []Date {
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

// easter is Easter Sunday in the Gregorian calendar (the anonymous algorithm of
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
