package generate

import (
	"cmp"
	"math"

	"capcli"
)

// rhythm is the rate of work over the day and the week: a cosine with its maximum at the peak hour,
// times a factor on Saturdays and Sundays, in UTC.
type rhythm struct {
	swing   float64 // ratio of the day's maximum to its minimum
	peak    float64 // hour of the maximum
	weekend float64
}

func (c *Class) rhythm() rhythm {
	r := rhythm{max(1, c.DaySwing), c.PeakHour, c.Weekend}
	r.weekend = cmp.Or(r.weekend, 1)
	return r
}

// day returns the daily factor at t seconds since 1970: 1 at the maximum, 1/swing at the minimum.
func (r *rhythm) day(t float64) float64 {
	hour := t/3600 - r.peak
	low := 1 / r.swing
	return low + (1-low)*(1+math.Cos(2*math.Pi*hour/24))/2
}

// week returns the weekly factor at t seconds since 1970: 1 on weekdays.
func (r *rhythm) week(t float64) float64 {
	days := math.Floor(t / float64(capcli.Day))
	day := math.Mod(days+4, 7) // 1970-01-01 was a Thursday; 0 is Sunday
	if day < 0 {
		day += 7
	}
	if day == 0 || day == 6 {
		return r.weekend
	}
	return 1
}

// rateAt returns the rate at t seconds since 1970, relative to the busiest instant of a weekday.
func (r *rhythm) rateAt(t float64) float64 { return r.day(t) * r.week(t) }

// top returns the largest value of rateAt, or a bound on it.
func (r *rhythm) top() float64 { return max(1, r.weekend) }

// mean returns the mean of rateAt over whole weeks.
func (r *rhythm) mean() float64 { return (1 + 1/r.swing) / 2 * (5 + 2*r.weekend) / 7 }
