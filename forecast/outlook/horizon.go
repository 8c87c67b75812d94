package outlook

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"capcli"
	"capcli/forecast/demand"
)

// period is one entry of a list of horizons: n whole units such as weeks, or one stretch of n
// steps where unit is zero.
type period struct {
	text string
	n    int
	unit capcli.Step
}

// units are the units of periods, by their suffix in a horizon.
var units = map[string]capcli.Step{
	"h": {Seconds: capcli.Hour}, "d": {Days: 1}, "w": {Days: 7}, "mo": {Months: 1}, "q": {Months: 3}, "y": {Months: 12},
}

var namedUnits = map[string]capcli.Step{
	"hour": units["h"], "day": units["d"], "week": units["w"], "month": units["mo"], "quarter": units["q"], "year": units["y"],
}

// PeriodUnit returns the calendar unit called hour, day, week, month, quarter or year, and the
// zero step for any other name.
func PeriodUnit(name string) capcli.Step { return namedUnits[name] }

// periods parses Horizon as a list of horizons. It returns nil for a single horizon.
func (r *Request) periods() ([]period, error) {
	if !strings.Contains(r.Horizon, ",") {
		return nil, nil
	}
	var out []period
	for text := range strings.SplitSeq(strings.TrimSuffix(r.Horizon, ","), ",") {
		text = strings.TrimSpace(text)
		digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz")
		n, err := strconv.Atoi(digits)
		unit, known := units[text[len(digits):]]
		if err != nil || n < 1 || n > maxHorizon || !known && digits != text {
			return nil, &capcli.RequestError{Field: "horizon", Text: fmt.Sprintf("wants a list such as 4w,3mo,2q of hours (h), days, weeks, months (mo), quarters, years or steps, found %q", text)}
		}
		out = append(out, period{text, n, unit})
	}
	return out, nil
}

// isPeriod reports whether Horizon is one number of calendar units, such as 4w.
func (r *Request) isPeriod() bool {
	digits := strings.TrimRight(r.Horizon, "abcdefghijklmnopqrstuvwxyz")
	_, known := units[r.Horizon[len(digits):]]
	return known && digits != "" && !strings.Contains(r.Horizon, ",")
}

// UsualHorizon returns the default number of steps ahead for the step s: two days of hours, four
// weeks of days, half a year of weeks, a year of months.
func UsualHorizon(s capcli.Step) int {
	switch {
	case s.Months > 0:
		return max(1, 12/s.Months)
	case s.Days >= 7:
		return 26
	case s.Days > 0:
		return 28
	case s.Seconds > 0 && s.Seconds <= capcli.Hour:
		return int(min(2*capcli.Day/s.Seconds, 288))
	}
	return 12
}

// NearHorizon returns the shorter of the two horizons of a summary, in steps: half the usual one, or
// half of steps.
func NearHorizon(steps int, s capcli.Step) int {
	usual := UsualHorizon(s) / 2
	if usual < steps {
		return usual
	}
	return steps / 2
}

// usualSeasons returns the default seasons, in steps, of series with the step s: the day, the
// week or the year, where these are whole numbers of steps.
func usualSeasons(s capcli.Step) []int {
	switch {
	case s.Months > 0:
		if 12%s.Months == 0 {
			return []int{12 / s.Months}
		}
		return nil
	case s.Days == 7:
		return []int{52}
	}
	length := s.Length()
	var out []int
	for _, season := range []capcli.Seconds{capcli.Day, 7 * capcli.Day} {
		if length > 0 && season%length == 0 && season > length {
			out = append(out, int(season/length))
		}
	}
	return out
}

func (q *question) stepsAhead(h *demand.History) (int, error) {
	n := 0
	var err error
	switch {
	case q.Until != "":
		n, err = q.stepsUntil(h)
	case len(q.periods) > 0:
		for _, p := range q.periods {
			steps, err := q.stepsToCover(p, h)
			if err != nil {
				return 0, err
			}
			n = max(n, steps)
		}
	case q.Horizon != "":
		n, err = q.stepsOfHorizon()
	default:
		n = UsualHorizon(q.hs.Step)
	}
	if err != nil {
		return 0, err
	}
	if held := q.pathsHeld(n); held*n*len(q.views) > maxCells {
		return 0, &capcli.RequestError{
			Text: fmt.Sprintf("%d futures of %d steps and %d series are over %d figures", held, n, len(q.views), maxCells),
			Hint: "take fewer --paths, a longer --step or fewer series",
		}
	}
	return n, nil
}

// stepsOfHorizon parses Horizon, a number of steps or a length of time, and returns the number
// of steps.
func (q *question) stepsOfHorizon() (int, error) {
	bad := &capcli.RequestError{Field: "horizon", Text: fmt.Sprintf("wants 1 to %d steps, or a length of time such as 2w, found %q", maxHorizon, q.Horizon)}
	n, whole := 0, true
	for _, c := range q.Horizon {
		if whole = whole && c >= '0' && c <= '9'; whole && n <= maxHorizon {
			n = n*10 + int(c-'0')
		}
	}
	if !whole {
		length, err := capcli.ParseStep(q.Horizon)
		if err != nil {
			return 0, bad
		}
		if !q.hs.Clock {
			return 0, &capcli.RequestError{Field: "horizon", Text: q.Horizon + " is a length of time, but the stamps are whole numbers", Hint: "give a number of steps"}
		}
		n = int((length.Length() + q.hs.Step.Length()/2) / q.hs.Step.Length())
	}
	if n < 1 || n > maxHorizon {
		return 0, bad
	}
	return n, nil
}

// stepsUntil returns the number of steps of h from the end of its history to Until.
func (q *question) stepsUntil(h *demand.History) (int, error) {
	bad := func(hint, format string, args ...any) error {
		return &capcli.RequestError{Field: "until", Text: fmt.Sprintf(format, args...), Hint: hint}
	}
	var last int64
	if !q.hs.Clock {
		n, err := strconv.ParseInt(q.Until, 10, 64)
		if err != nil {
			return 0, bad("", "wants a whole number, as the stamps are, found %q", q.Until)
		}
		last = n
	} else {
		at, err := capcli.ParseTime(q.Until, q.hs.Zone, true)
		if err != nil {
			return 0, bad("", "%v", err)
		}
		last = int64(at)
	}
	n := len(h.Values)
	if h.Stamp(n) > last {
		return 0, bad("", "%s is not after the end of the history of %s, %s", q.Until, h.Name, h.StampText(n-1))
	}
	steps := 0
	for h.Stamp(n+steps) <= last {
		if steps++; steps > maxHorizon {
			return 0, bad("take a longer --step", "%s is more than %d steps ahead", q.Until, maxHorizon)
		}
	}
	return steps, nil
}

// stepsToCover returns the number of steps from the end of the history to the end of p.
func (q *question) stepsToCover(p period, h *demand.History) (int, error) {
	bad := func(hint, format string, args ...any) error {
		return &capcli.RequestError{Field: "horizon", Text: p.text + " " + fmt.Sprintf(format, args...), Hint: hint}
	}
	switch {
	case p.unit == (capcli.Step{}):
		return p.n, nil
	case !q.hs.Clock:
		return 0, bad("give numbers of steps: 4,12", "is a length of time, but the stamps are whole numbers")
	case p.unit.Length() < q.hs.Step.Length():
		return 0, bad("give longer periods, or a finer --step", "is in parts of the steps, which are of %s", q.hs.Step)
	}
	end := q.periodGrid(p, h).At(p.n)
	for n := 1; n <= maxHorizon; n++ {
		edge := q.edge(h, n)
		if edge >= end {
			return n, nil
		}
		// Far from the end, skip most of the steps. Near it, count single steps, since their
		// lengths differ.
		if left := int(int64(end-edge)/int64(q.hs.Step.Length())) - 40; left > 0 {
			n += left * 9 / 10
		}
	}
	return 0, bad("take a longer --step", "is more than %d steps ahead", maxHorizon)
}

// periodGrid returns the grid of the unit of p that begins with the first whole period after the
// history.
func (q *question) periodGrid(p period, h *demand.History) capcli.Grid {
	begin := q.edge(h, 0)
	g := p.unit.Grid(begin, q.hs.Zone)
	if g.At(0) < begin {
		g.Origin = g.At(1)
	}
	return g
}

// edge returns the end of the n-th step ahead; n 0 is the end of the history. A step whose stamp
// is the last day of its month ends with that day.
func (q *question) edge(h *demand.History, n int) capcli.Time {
	if !h.Grid.MonthEnd {
		return capcli.Time(h.Stamp(len(h.Values) + n))
	}
	zone := cmp.Or(q.hs.Zone, time.UTC)
	return capcli.TimeOf(capcli.Time(h.Stamp(len(h.Values)-1+n)).Std().In(zone).AddDate(0, 0, 1))
}

// edges returns the bounds of the steps ahead, one more than there are steps.
func (q *question) edges(h *demand.History, steps int) []capcli.Time {
	out := make([]capcli.Time, steps+1)
	for i := range out {
		out[i] = q.edge(h, i)
	}
	return out
}

// stampsOf returns the bounds of n steps from step from on, one more than there are steps.
func stampsOf(h *demand.History, from, n int) []capcli.Time {
	out := make([]capcli.Time, n+1)
	for i := range out {
		out[i] = capcli.Time(h.Stamp(from + i))
	}
	return out
}
