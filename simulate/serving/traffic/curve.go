package traffic

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"capcli"
)

// Curve is a rate of requests over time: a rhythm of days and weeks with growth, or points of a file.
type Curve struct {
	// Rate is in requests a second: the mean over whole weeks without growth, or where AtPeak is
	// set the highest of a weekday.
	Rate   float64
	AtPeak bool

	// The rhythm. The rate of a day is flat at its highest from PeakFrom to PeakTo, in hours, and falls
	// and rises in between as a cosine, to 1/DaySwing of it.
	DaySwing         float64 // 0 and 1 are flat
	PeakFrom, PeakTo float64 // hours; PeakTo below PeakFrom is on the next day
	Weekend          float64 // Saturday and Sunday against a weekday; 0 is 1
	Growth           float64 // a month, compound: 0.02 is 2 %
	Zone             *time.Location

	// Points are the rates of a file, which take the place of the rhythm; Scale applies to them.
	Points []Point
	Repeat capcli.Seconds // the points are repeated after so long; 0 is not
	Shift  capcli.Seconds // of the points: when the first comes, since the start of the run
	Scale  float64        // 0 is 1

	Start capcli.Time // of the run; NoTime takes a Monday
}

// Point is a rate from a time on, until the next point.
type Point struct {
	At   capcli.Seconds // since the first point
	Rate float64        // requests a second
}

// month is the mean length of a month in seconds.
const month = 365.25 / 12 * 86400

// monday is the start of a run whose date is not known: Monday, 1 January 2024.
const monday = capcli.Time(1704067200)

// Check refuses a curve that cannot be.
func (c *Curve) Check() error {
	wrong := func(field, text string, v any) error {
		return &capcli.RequestError{Field: field, Text: fmt.Sprintf("wants %s, found %v", text, v)}
	}
	switch {
	case c.Points == nil && !(c.Rate > 0 && c.Rate <= 1e9):
		return wrong("rate", "over 0 and at most 1e9 requests a second", c.Rate)
	case c.DaySwing != 0 && !(c.DaySwing >= 1 && c.DaySwing <= 1e6):
		return wrong("day_swing", "1 or more", c.DaySwing)
	case c.PeakFrom < 0 || c.PeakFrom > 24 || c.PeakTo < 0 || c.PeakTo > 24:
		return wrong("peak", "hours from 0 to 24", []float64{c.PeakFrom, c.PeakTo})
	case c.Weekend < 0 || c.Weekend > 1000:
		return wrong("weekend", "0 to 1000", c.Weekend)
	case !(c.Growth > -1 && c.Growth <= 10):
		return wrong("growth", "over -100 % and at most 1000 % a month", c.Growth)
	}
	if !slices.IsSortedFunc(c.Points, func(a, b Point) int { return cmp.Compare(a.At, b.At) }) {
		return wrong("curve", "points in order of time", "others")
	}
	return nil
}

// plateau returns the hours for which the rate of a day is at its highest.
func (c *Curve) plateau() float64 {
	w := c.PeakTo - c.PeakFrom
	if w < 0 {
		w += 24
	}
	return w
}

// lowest returns the least rate of a day over the highest.
func (c *Curve) lowest() float64 { return 1 / max(1, c.DaySwing) }

// DayMean returns the mean rate of a weekday over its highest: (w + (24-w)(1+low)/2)/24 for a plateau of
// w hours.
func (c *Curve) DayMean() float64 {
	w := c.plateau()
	return (w + (24-w)*(1+c.lowest())/2) / 24
}

// weekend returns the factor of Saturdays and Sundays.
func (c *Curve) weekend() float64 {
	if c.Weekend == 0 {
		return 1
	}
	return c.Weekend
}

// Top returns the highest rate of a weekday in requests a second, without growth.
func (c *Curve) Top() float64 {
	if c.AtPeak {
		return c.Rate
	}
	return c.Rate / (c.DayMean() * (5 + 2*c.weekend()) / 7)
}

// At returns the rate at a time since the start of the run, in requests a second.
func (c *Curve) At(t capcli.Seconds) float64 {
	if c.Points != nil {
		return c.pointAt(t)
	}
	hour, weekday := c.local(t)
	rate := c.Top() * c.dayFactor(hour)
	if weekday == time.Saturday || weekday == time.Sunday {
		rate *= c.weekend()
	}
	if c.Growth != 0 {
		rate *= math.Exp(math.Log1p(c.Growth) * float64(t) / month)
	}
	return rate * c.scale()
}

// local returns the hour of the day and the weekday at a time since the start of the run.
func (c *Curve) local(t capcli.Seconds) (hour float64, weekday time.Weekday) {
	start := c.Start
	if !start.IsKnown() {
		start = monday
	}
	at := int64(start) + int64(t)
	if c.Zone != nil && c.Zone != time.UTC {
		_, east := time.Unix(at, 0).In(c.Zone).Zone()
		at += int64(east)
	}
	day := at / 86400
	second := at % 86400
	if second < 0 {
		day, second = day-1, second+86400
	}
	return float64(second) / 3600, time.Weekday(((day+4)%7 + 7) % 7) // 1970-01-01 was a Thursday
}

// dayFactor returns the rate at an hour of a weekday over the highest.
func (c *Curve) dayFactor(hour float64) float64 {
	w := c.plateau()
	since := math.Mod(hour-c.PeakFrom+24, 24) // hours since the highest rate began
	if since <= w || w >= 24 {
		return 1
	}
	low := c.lowest()
	return low + (1-low)*(1+math.Cos(2*math.Pi*(since-w)/(24-w)))/2
}

// pointAt returns the rate of the points at a time.
func (c *Curve) pointAt(t capcli.Seconds) float64 {
	t -= c.Shift
	if c.Repeat > 0 {
		if t %= c.Repeat; t < 0 {
			t += c.Repeat
		}
	}
	i, found := slices.BinarySearchFunc(c.Points, t, func(p Point, t capcli.Seconds) int { return cmp.Compare(p.At, t) })
	if !found {
		i--
	}
	if i < 0 {
		return 0
	}
	return c.Points[i].Rate * c.scale()
}

func (c *Curve) scale() float64 {
	if c.Scale == 0 {
		return 1
	}
	return c.Scale
}

// end returns when the last point ends, since the start of the run; 0 is never. The last point is one of
// rate 0, which says where the one before it ends.
func (c *Curve) end() capcli.Seconds {
	if c.Points == nil || c.Repeat > 0 {
		return 0
	}
	return max(1, c.Shift+c.Points[len(c.Points)-1].At)
}

// isCoarse reports whether the rate is the same within each minute since the start of the run.
func (c *Curve) isCoarse() bool {
	if c.Points == nil {
		return true
	}
	if c.Shift%capcli.Minute != 0 || c.Repeat%capcli.Minute != 0 {
		return false
	}
	return !slices.ContainsFunc(c.Points, func(p Point) bool { return p.At%capcli.Minute != 0 })
}

// MonthlyGrowth returns the growth a month of a growth in a number of months. It reports false where
// there is none.
func MonthlyGrowth(growth float64, months int) (float64, bool) {
	if months < 1 || !(growth > -1) {
		return 0, false
	}
	v := math.Expm1(math.Log1p(growth) / float64(months))
	return v, v <= 10
}
