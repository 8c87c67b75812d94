package scale

import (
	"time"

	"capcli"
	"capcli/simulate"
)

func init() {
	add("scheduled", "by times of day and week", newScheduled,
		Setting{Name: "units", Doc: "units outside of every window; default: min", Default: -1, Hi: maxUnits, Unit: Whole},
		Setting{Name: "ahead", Doc: "acts this long before the schedule, so that units are ready in time; default: 0s", Unit: Length, Hi: maxSeconds},
	)
}

// Window is a part of the week with limits of its own. -1 is not given.
type Window struct {
	Days     [7]bool        // on which it begins, from Sunday as in time.Weekday
	From, To capcli.Seconds // of the day; To at or before From is on the next day
	Units    int            // scheduled: the units
	Min, Max int            // limits of other scalers
}

// holds reports whether local time t, in seconds from midnight, of weekday day is in the window.
func (w *Window) holds(day time.Weekday, t capcli.Seconds) bool {
	if w.From < w.To {
		return w.Days[day] && t >= w.From && t < w.To
	}
	return w.Days[day] && t >= w.From || w.Days[(day+6)%7] && t < w.To
}

// monday is the time of the first step where none is known: a Monday at midnight.
const monday capcli.Time = 4 * 86400

// window returns the first window that holds time now of the run; nil if there is none.
func (s *Settings) window(start capcli.Time, now capcli.Seconds) *Window {
	if start == 0 || !start.IsKnown() {
		start = s.Start
	}
	zone := s.Zone
	if zone == nil || start == 0 || !start.IsKnown() {
		zone = time.UTC
	}
	if start == 0 || !start.IsKnown() {
		start = monday
	}
	at := (start + capcli.Time(now)).Std().In(zone)
	day := capcli.Seconds(at.Hour()*3600 + at.Minute()*60 + at.Second())
	for i := range s.Schedule {
		if w := &s.Schedule[i]; w.holds(at.Weekday(), day) {
			return w
		}
	}
	return nil
}

func checkSchedule(windows []Window, s *Settings) error {
	if s.Kind == "scheduled" && len(windows) == 0 {
		return fault("schedule", "is missing: windows such as {days: mon-fri, from: 08:00, to: 20:00, units: 12}")
	}
	for i, w := range windows {
		switch {
		case w.From < 0 || w.From >= capcli.Day || w.To < 0 || w.To > capcli.Day:
			return fault("schedule", "window %d has a time outside of the day", i)
		case w.Days == [7]bool{}:
			return fault("schedule", "window %d has no days", i)
		case s.Kind == "scheduled" && (w.Units < 0 || w.Min >= 0 || w.Max >= 0):
			return fault("schedule", "window %d of scaler scheduled wants units, and no min or max", i)
		case s.Kind == "scheduled" && w.Units > s.Max:
			return fault("schedule", "window %d wants %d units, above max %d", i, w.Units, s.Max)
		case s.Kind != "scheduled" && (w.Units >= 0 || w.Min < 0 && w.Max < 0):
			return fault("schedule", "window %d of scaler %s wants min, max or both, and no units", i, s.Kind)
		case w.Max >= 0 && w.Max < max(w.Min, s.Min):
			return fault("schedule", "window %d has max %d below min %d", i, w.Max, max(w.Min, s.Min))
		case s.Max > 0 && max(w.Min, w.Max) > s.Max:
			return fault("schedule", "window %d goes above max %d", i, s.Max)
		}
	}
	return nil
}

// scheduled has the units of the schedule.
type scheduled struct {
	*Settings
	units int
	ahead capcli.Seconds
}

func newScheduled(v *values) (simulate.NewScaler, error) {
	own := scheduled{v.Settings, v.count("units"), v.seconds("ahead")}
	if own.units < 0 {
		own.units = v.Min
	}
	return func() simulate.Scaler { return own }, nil
}

// Desired implements simulate.Scaler.
func (c scheduled) Desired(s *simulate.ScaleState) int {
	want := c.units
	if w := c.window(s.Start, s.Now+c.ahead); w != nil {
		want = w.Units
	}
	return clamp(want, c.Min, c.Max)
}

// scheduleLimit keeps another scaler within the limits of the schedule.
type scheduleLimit struct{ *Settings }

func (c *scheduleLimit) bound(s *simulate.ScaleState, want int) int {
	w := c.window(s.Start, s.Now)
	if w == nil {
		return want
	}
	if w.Max >= 0 {
		want = min(want, w.Max)
	}
	return max(want, w.Min)
}
