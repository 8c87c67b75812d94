package holidays

import "time"

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
