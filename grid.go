package capcli

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Step is the distance between values of a series: a fixed length of time, or whole
// days or months of a calendar, which differ in length. At most one of the fields is
// set.
type Step struct {
	Seconds Seconds
	Days    int
	Months  int
}

// maxStep is the longest step.
const maxStep = 100 * 366 * Day

// ParseStep reads "1h", "15m", "1d", "1w", "1mo", "1q" or "1y". Days, weeks and
// longer steps follow the calendar.
func ParseStep(text string) (Step, error) {
	s := strings.TrimSpace(text)
	bad := fmt.Errorf("%q is not a step; write 15m, 1h, 1d, 1w, 1mo, 1q or 1y", text)
	for _, u := range []struct {
		unit string
		step Step
	}{{"mo", Step{Months: 1}}, {"q", Step{Months: 3}}, {"y", Step{Months: 12}}, {"w", Step{Days: 7}}, {"d", Step{Days: 1}}} {
		number, ok := strings.CutSuffix(s, u.unit)
		if !ok {
			continue
		}
		n, err := strconv.Atoi(number)
		if err != nil {
			break // texts such as "1d12h" are fixed lengths
		}
		if n < 1 || n > 100*366 {
			return Step{}, bad
		}
		out := Step{Days: n * u.step.Days, Months: n * u.step.Months}
		if out.Length() > maxStep {
			return Step{}, bad
		}
		return out, nil
	}
	n, err := ParseSeconds(s)
	if err != nil || n < 1 || n > maxStep {
		return Step{}, bad
	}
	return Step{Seconds: n}, nil
}

// Length returns the length of s in seconds; the nominal length of a calendar step.
func (s Step) Length() Seconds {
	switch {
	case s.Months > 0:
		return Seconds(s.Months) * 365 * Day / 12
	case s.Days > 0:
		return Seconds(s.Days) * Day
	}
	return s.Seconds
}

// String returns s as ParseStep reads it.
func (s Step) String() string {
	in := func(n int, units ...any) string {
		for i := 0; i < len(units); i += 2 {
			if size := units[i+1].(int); n%size == 0 && (n > 0 || size == 1) {
				return strconv.Itoa(n/size) + units[i].(string)
			}
		}
		return strconv.Itoa(n)
	}
	switch {
	case s.Months > 0:
		return in(s.Months, "y", 12, "q", 3, "mo", 1)
	case s.Days > 0:
		return in(s.Days, "w", 7, "d", 1)
	}
	return in(int(s.Seconds), "d", 86400, "h", 3600, "m", 60, "s", 1)
}

// Grid divides time into steps: step i goes from At(i) to At(i+1). Steps of days and
// months begin at the same time of day in Zone, so a day with a clock change is an hour
// shorter or longer.
type Grid struct {
	Origin   Time
	Step     Step
	Zone     *time.Location // nil is UTC
	MonthEnd bool           // steps of months begin on the last day of the month
}

// Grid returns the grid whose step 0 holds first, with the usual origin: fixed steps
// count from midnight, days begin at midnight, weeks on Monday, months on the first and
// years in January.
func (s Step) Grid(first Time, zone *time.Location) Grid {
	g := Grid{Step: s, Zone: zone}
	t := time.Unix(int64(first), 0).In(g.zone())
	y, m, d := t.Date()
	switch {
	case s.Months > 0:
		since := y*12 + int(m) - 1
		since -= since % s.Months
		g.Origin = TimeOf(time.Date(since/12, time.Month(since%12+1), 1, 0, 0, 0, 0, g.zone()))
	case s.Days > 0:
		if s.Days%7 == 0 {
			d -= (int(t.Weekday()) + 6) % 7
		}
		g.Origin = TimeOf(time.Date(y, m, d, 0, 0, 0, 0, g.zone()))
	default:
		midnight := TimeOf(time.Date(y, m, d, 0, 0, 0, 0, g.zone()))
		g.Origin = first - Time((int64(first)-int64(midnight))%int64(s.Seconds))
	}
	return g
}

func (g Grid) zone() *time.Location {
	if g.Zone == nil {
		return time.UTC
	}
	return g.Zone
}

// At returns the time at which step i begins. i may be negative.
func (g Grid) At(i int) Time {
	if g.Step.Days == 0 && g.Step.Months == 0 {
		return g.Origin + Time(int64(i)*int64(g.Step.Seconds))
	}
	t := time.Unix(int64(g.Origin), 0).In(g.zone())
	y, m, d := t.Date()
	if g.Step.Days > 0 {
		return TimeOf(time.Date(y, m, d+i*g.Step.Days, t.Hour(), t.Minute(), t.Second(), 0, g.zone()))
	}
	month := m + time.Month(i*g.Step.Months)
	last := time.Date(y, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
	if g.MonthEnd || d > last {
		d = last
	}
	return TimeOf(time.Date(y, month, d, t.Hour(), t.Minute(), t.Second(), 0, g.zone()))
}

// Index returns the step that holds t: At(Index(t)) <= t < At(Index(t)+1).
func (g Grid) Index(t Time) int {
	gap, size := int64(t-g.Origin), int64(g.Step.Length())
	i := int(gap / size)
	if gap%size < 0 {
		i--
	}
	if g.Step.Days == 0 && g.Step.Months == 0 {
		return i
	}
	for g.At(i) > t {
		i--
	}
	for g.At(i+1) <= t {
		i++
	}
	return i
}
