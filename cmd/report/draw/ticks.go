package draw

import (
	"math"
	"strconv"
	"strings"
	"time"

	"capcli/scenarios/figure"
)

// tick is a marked value of an axis. Sub is a second line, such as the year below a month.
type tick struct {
	at        float64
	text, sub string
}

// span is the range of values of an axis.
type span struct{ lo, hi float64 }

func (s *span) add(v float64) { s.lo, s.hi = math.Min(s.lo, v), math.Max(s.hi, v) }

// emptySpan holds no value.
func emptySpan() span { return span{math.Inf(1), math.Inf(-1)} }

func (s span) isEmpty() bool { return s.lo > s.hi }

// opened returns s, widened where it is empty or a single value, so that it has a length that floats
// can divide.
func (s span) opened(u figure.Unit) span {
	if s.isEmpty() {
		s = span{0, 1}
		if u == figure.Time {
			s.hi = 86400
		}
	}
	least := math.Max(math.Max(math.Abs(s.lo), math.Abs(s.hi))*1e-9, 1e-100)
	if s.hi-s.lo > least {
		return s
	}
	half := math.Max(math.Abs(s.lo)*0.1, 0.5)
	switch u {
	case figure.Time:
		half = math.Max(43200, 2*least)
	case figure.Share:
		half = math.Max(math.Abs(s.lo)*0.1, 0.05)
	default:
	}
	return span{s.lo - half, s.hi + half}
}

// ticksOf returns about most ticks of the values from s.lo to s.hi, in steps that suit the unit.
func ticksOf(u figure.Unit, s span, most int) []tick {
	most = max(most, 2)
	if u == figure.Time && s.lo > -62e9 && s.hi < 250e9 {
		return timeTicks(s, most)
	}
	step := niceStep(u, (s.hi-s.lo)/float64(most))
	var out []tick
	largest := math.Max(math.Abs(s.lo), math.Abs(s.hi))
	for k := math.Ceil(s.lo/step - 1e-9); k*step <= s.hi+step*1e-9 && len(out) <= 2*most; k++ {
		v := k * step
		if v == 0 {
			v = 0 // not -0
		}
		out = append(out, tick{at: v, text: tickText(u, v, step, largest)})
	}
	return out
}

// stepped returns s widened to whole steps of its ticks.
func (s span) stepped(u figure.Unit, most int) span {
	step := niceStep(u, (s.hi-s.lo)/float64(max(most, 2)))
	return span{math.Floor(s.lo/step+1e-9) * step, math.Ceil(s.hi/step-1e-9) * step}
}

// secondSteps are steps of lengths of time, in seconds.
var secondSteps = []float64{
	1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200,
	86400, 2 * 86400, 5 * 86400, 10 * 86400, 20 * 86400, 50 * 86400, 100 * 86400,
}

// niceStep returns the least step of the unit from rough up: 1, 2 or 5 times a power of ten, or for
// times a step of clocks.
func niceStep(u figure.Unit, rough float64) float64 {
	if u == figure.Seconds && rough > 0.5 {
		for _, step := range secondSteps {
			if step >= rough {
				return step
			}
		}
		return 86400 * niceStep(figure.Count, rough/86400)
	}
	if !(rough > 1e-300) {
		rough = 1e-300
	}
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= rough*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// tickText returns the text of a tick, as short as the step allows.
func tickText(u figure.Unit, v, step, largest float64) string {
	switch u {
	case figure.Share:
		return decimals(v*100, step*100) + "%"
	case figure.USD:
		text := scaled(v, step, largest)
		if rest, negative := strings.CutPrefix(text, "-"); negative {
			return "-$" + rest
		}
		return "$" + text
	case figure.Seconds:
		switch {
		case largest >= 2*86400 && step >= 21600:
			return decimals(v/86400, step/86400) + " d"
		case largest >= 2*3600 && step >= 900:
			return decimals(v/3600, step/3600) + " h"
		case largest >= 120 && step >= 30:
			return decimals(v/60, step/60) + " min"
		}
		return decimals(v, step) + " s"
	default:
		return scaled(v, step, largest)
	}
}

// scaled returns v in thousands, millions or more, as the largest value of the axis needs.
func scaled(v, step, largest float64) string {
	for _, s := range []struct {
		from, by float64
		name     string
	}{{1e15, 0, ""}, {2e12, 1e12, "T"}, {2e9, 1e9, "B"}, {1e6, 1e6, "M"}, {1e4, 1e3, "k"}} {
		switch {
		case largest < s.from:
		case s.by == 0 || largest > 1e18:
			return strconv.FormatFloat(v, 'g', 3, 64)
		case v == 0:
			return "0"
		default:
			return decimals(v/s.by, step/s.by) + s.name
		}
	}
	if text := decimals(v, step); math.Abs(v) < 1000 {
		return text
	}
	return figure.Count.Text(figure.Number(v)) // with commas
}

// decimals returns v with the decimals that step needs.
func decimals(v, step float64) string {
	places := 0
	for p := step; places < 9 && math.Abs(p-math.Round(p)) > 1e-6*math.Max(p, 1e-3); p *= 10 {
		places++
	}
	if step < 1e-8 || math.Abs(v) >= 1e15 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	text := strconv.FormatFloat(v, 'f', places, 64)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

// timeStep is a step of a calendar: seconds, or months.
type timeStep struct {
	seconds float64
	months  int
}

var timeSteps = []timeStep{
	{1, 0},
	{5, 0},
	{15, 0},
	{30, 0},
	{60, 0},
	{300, 0},
	{900, 0},
	{1800, 0},
	{3600, 0},
	{3 * 3600, 0},
	{6 * 3600, 0},
	{12 * 3600, 0},
	{86400, 0},
	{2 * 86400, 0},
	{7 * 86400, 0},
	{14 * 86400, 0},
	{0, 1},
	{0, 2},
	{0, 3},
	{0, 6},
	{0, 12},
	{0, 24},
	{0, 60},
	{0, 120},
	{0, 240},
	{0, 600},
	{0, 1200},
	{0, 12000},
}

const month = 30.44 * 86400

func (s timeStep) length() float64 {
	if s.months > 0 {
		return float64(s.months) * month
	}
	return s.seconds
}

// timeTicks returns ticks at whole hours, days, Mondays, months or years, in UTC.
func timeTicks(s span, most int) []tick {
	step := timeSteps[len(timeSteps)-1]
	for _, t := range timeSteps {
		if (s.hi-s.lo)/t.length() <= float64(most) {
			step = t
			break
		}
	}
	var out []tick
	if step.months > 0 {
		start := time.Unix(int64(math.Floor(s.lo)), 0).UTC()
		m := (start.Year()*12 + int(start.Month()) - 1) / step.months * step.months
		for len(out) <= 2*most {
			t := time.Date(m/12, time.Month(m%12+1), 1, 0, 0, 0, 0, time.UTC)
			m += step.months
			if at := float64(t.Unix()); at > s.hi {
				break
			} else if at >= s.lo {
				out = append(out, timeTick(t, step, out))
			}
		}
		return out
	}
	const monday = 4 * 86400 // 1970-01-05
	base := 0.0
	if step.seconds >= 7*86400 {
		base = monday
	}
	for k := math.Ceil((s.lo - base) / step.seconds); len(out) <= 2*most; k++ {
		at := base + k*step.seconds
		if at > s.hi {
			break
		}
		out = append(out, timeTick(time.Unix(int64(at), 0).UTC(), step, out))
	}
	return out
}

// timeTick returns the tick at t. Its second line is what changed since the tick before: the day
// below hours, the year below days and months.
func timeTick(t time.Time, step timeStep, before []tick) tick {
	one := tick{at: float64(t.Unix())}
	var last time.Time
	if n := len(before); n > 0 {
		last = time.Unix(int64(before[n-1].at), 0).UTC()
	}
	year := t.Format("2006")
	switch {
	case step.months >= 12:
		one.text = year
		return one
	case step.months > 0:
		one.text = t.Format("Jan")
	case step.seconds >= 86400:
		one.text = t.Format("2 Jan")
	default:
		one.text = t.Format("15:04")
		if step.seconds < 60 {
			one.text = t.Format("15:04:05")
		}
		if last.IsZero() || last.YearDay() != t.YearDay() {
			one.sub = t.Format("2 Jan")
			if last.IsZero() {
				one.sub = t.Format("2 Jan 2006")
			}
		}
		return one
	}
	if last.IsZero() || last.Year() != t.Year() {
		one.sub = year
	}
	return one
}
