package trace

import (
	"fmt"
	"math"
	"strconv"

	"capcli"
)

// EpochUnits are the units of times that are numbers: how many make a second. 0 tells the unit from the size.
var EpochUnits = map[string]int64{"": 0, "s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}

// EpochUnit returns how many units of a time since 1970 make a second, told from its size: seconds below 1e11,
// then milliseconds from 1973 on, microseconds and nanoseconds, a thousand times larger each.
func EpochUnit(n int64) int64 {
	switch {
	case n < 1e11:
		return 1
	case n < 1e14:
		return 1e3
	case n < 1e17:
		return 1e6
	}
	return 1e9
}

// eitherUnit is the flaw of a number whose unit cannot be told: too large for seconds, and milliseconds of
// before 1973.
const eitherUnit flaw = "neither seconds up to 2200 nor milliseconds from 1973 on; --read times=ms, us or ns says which"

// shortDigits parses a whole number that is a time in seconds whatever the clock says of units by size.
func shortDigits(b []byte) (n int64, ok bool) {
	if len(b) > 10 {
		return 0, false
	}
	for _, c := range b {
		if c -= '0'; c > 9 {
			return 0, false
		}
		n = n*10 + int64(c)
	}
	return n, n <= int64(lastTime)
}

// number parses a time that is a number.
func (c *clock) number(b []byte) (moment, flaw) {
	n, whole, bad := fixed(b, 1)
	if bad == tooLarge {
		n, whole, bad = wideNumber(b)
	}
	switch bad {
	case flawless:
	case notNumber:
		return noMoment, notTime
	default:
		return noMoment, bad
	}
	unit := c.unit
	if unit == 0 {
		unit = EpochUnit(n)
	}
	switch {
	case unit == 1 && n >= 1e15:
		return noMoment, tooLarge
	case unit == 1 && n > int64(lastTime) && n < 1e11 && c.unit == 0:
		return noMoment, eitherUnit
	case unit == 1:
		return moment{capcli.Time(n), capcli.NoTime, !whole, 1}, flawless
	}
	q, rest := n/unit, n%unit
	if rest < 0 {
		q, rest = q-1, rest+unit
	}
	if rest*2 >= unit {
		q++
	}
	return moment{capcli.Time(q), capcli.NoTime, !whole || rest != 0, unit}, flawless
}

// wideNumber parses a number over 1e15, as microseconds and nanoseconds since 1970 are.
func wideNumber(b []byte) (n int64, whole bool, bad flaw) {
	if n, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		return n, true, flawless
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.IsNaN(f) || math.Abs(f) >= math.MaxInt64 {
		return 0, false, tooLarge
	}
	return int64(math.Round(f)), f == math.Trunc(f), flawless
}

// noteMoment counts what had to be assumed about a time.
func (r *Reader) noteMoment(m moment) {
	if !m.rounded && !m.other.IsKnown() && m.unit <= 1 {
		return
	}
	if m.rounded {
		r.Assume("fractions of a second: rounded to the nearest")
	}
	if m.other.IsKnown() {
		r.Assume(r.repeatedNote(m.at))
	}
	if m.unit > 1 && r.o.Unit == 0 {
		r.NoteUnit(m.unit)
	}
}

// NoteUnit adds the note that times were read in a unit other than seconds, of which so many make a second.
func (r *Reader) NoteUnit(perSecond int64) {
	if perSecond == r.lastUnit {
		return
	}
	r.lastUnit = perSecond
	name := map[int64]string{1e3: "milliseconds", 1e6: "microseconds", 1e9: "nanoseconds"}[perSecond]
	r.Note(fmt.Sprintf("times were read as %s since 1970, detected from their size; --read times= overrides it", name))
}
