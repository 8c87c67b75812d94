package trace

import (
	"time"

	"capcli"
)

// clock parses times: numbers (seconds since 1970 or from any origin, and smaller units since 1970), ISO 8601
// with or without a zone, and dates whose year comes last.
type clock struct {
	zone  *time.Location   // of times without a zone; nil rejects such times
	later bool             // a time in a repeated hour is in the second pass
	unit  int64            // units of a number per second; 0 tells them from its size
	dates capcli.DateOrder // of dates whose year comes last
	days  [8]dayOffset     // cache of offsets, by day modulo 8
}

// dayOffset caches the offset of a day on which the offset does not change.
type dayOffset struct {
	day    int64 // days since 1970, in local time
	offset int64 // seconds east of UTC
	known  bool  // the entry is set
}

// The flaws a time can have.
const (
	notTime flaw = "not a time"
	noZone  flaw = "no zone"
	gapHour flaw = "time in an hour that did not exist"
)

// moment is a parsed time. other is the time in the other pass of a repeated hour, or
// NoTime. rounded says that a fraction of a second was rounded.
type moment struct {
	at, other capcli.Time
	rounded   bool
	unit      int64 // units of the number per second; 0 for other forms
}

var noMoment = moment{at: capcli.NoTime, other: capcli.NoTime}

// read parses b. An empty b is NoTime without a flaw.
func (c *clock) read(b []byte) (moment, flaw) {
	b = trim(b)
	if len(b) == 0 {
		return noMoment, flawless
	}
	if len(b) >= 10 && b[4] == '-' && b[7] == '-' {
		return c.iso(b)
	}
	if n, ok := shortDigits(b); ok && c.unit <= 1 { // the usual case: seconds
		return moment{capcli.Time(n), capcli.NoTime, false, 1}, flawless
	}
	if hasDate(b) {
		return c.yearLast(b)
	}
	return c.number(b)
}

// iso parses YYYY-MM-DD, T or a blank, HH:MM:SS, an optional fraction, and an optional Z or
// +HH:MM.
func (c *clock) iso(b []byte) (moment, flaw) {
	wall, rest, ok := wallClock(b)
	if !ok {
		return noMoment, notTime
	}
	return c.finish(wall, rest)
}

// finish adds what follows the seconds of a time: an optional fraction, and an optional zone.
func (c *clock) finish(wall int64, rest []byte) (moment, flaw) {
	m := moment{other: capcli.NoTime}
	if len(rest) > 1 && (rest[0] == '.' || rest[0] == ',') {
		i := 1
		for i < len(rest) && rest[i]-'0' <= 9 {
			m.rounded = m.rounded || rest[i] != '0'
			i++
		}
		if rest[1]-'0' <= 9 && rest[1] >= '5' {
			wall++
		}
		rest = rest[i:]
	}
	rest = trim(rest)
	if len(rest) == 0 {
		return c.resolveLocal(wall, m)
	}
	offset, ok := ZoneOffset(rest)
	if !ok {
		return noMoment, notTime
	}
	m.at = capcli.Time(wall - offset)
	return m, flawless
}

// wallClock parses a date and a time of day, and returns them as seconds since 1970 in local
// time, with the bytes that follow.
func wallClock(b []byte) (wall int64, rest []byte, ok bool) {
	if len(b) < 19 || b[4] != '-' || b[7] != '-' || (b[10] != 'T' && b[10] != ' ' && b[10] != 't') || b[13] != ':' || b[16] != ':' {
		return 0, nil, false
	}
	year, ok1 := Digits(b[0:4])
	month, ok2 := Digits(b[5:7])
	day, ok3 := Digits(b[8:10])
	hour, ok4 := Digits(b[11:13])
	minute, ok5 := Digits(b[14:16])
	second, ok6 := Digits(b[17:19])
	ok = ok1 && ok2 && ok3 && ok4 && ok5 && ok6
	if !ok || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 60 {
		return 0, nil, false
	}
	date := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if date.Day() != day {
		return 0, nil, false
	}
	return date.Unix() + int64(hour)*3600 + int64(minute)*60 + int64(second), b[19:], true
}

// Digits parses a number that consists only of digits.
func Digits(b []byte) (n int, ok bool) {
	for _, c := range b {
		if c -= '0'; c > 9 {
			return 0, false
		}
		n = n*10 + int(c)
	}
	return n, len(b) > 0
}

// ZoneOffset parses Z, UTC, GMT, +HH, +HHMM or +HH:MM, and returns seconds east of UTC.
func ZoneOffset(b []byte) (int64, bool) {
	switch string(b) {
	case "Z", "z", "UTC", "GMT":
		return 0, true
	}
	if (b[0] != '+' && b[0] != '-') || len(b) < 3 {
		return 0, false
	}
	hours, ok := Digits(b[1:3])
	minutes, rest := 0, b[3:]
	if len(rest) > 0 && rest[0] == ':' {
		rest = rest[1:]
	}
	if ok && len(rest) > 0 {
		minutes, ok = Digits(rest)
		ok = ok && len(rest) == 2
	}
	if !ok || hours > 15 || minutes > 59 {
		return 0, false
	}
	offset := int64(hours)*3600 + int64(minutes)*60
	if b[0] == '-' {
		offset = -offset
	}
	return offset, true
}

// resolveLocal converts wall, seconds since 1970 in local time, to a time in the clock's
// zone. In a repeated hour there are two such times, in a skipped hour there is none.
func (c *clock) resolveLocal(wall int64, m moment) (moment, flaw) {
	if c.zone == nil {
		return noMoment, noZone
	}
	day := wall / 86400
	slot := &c.days[uint64(day)%uint64(len(c.days))]
	if slot.known && slot.day == day {
		m.at = capcli.Time(wall - slot.offset)
		return m, flawless
	}
	before, after := c.offset(wall-86400), c.offset(wall+86400)
	if before == after {
		if c.isSteady(day, before) {
			*slot = dayOffset{day, before, true}
		}
		m.at = capcli.Time(wall - before)
		if c.offset(wall-before) == before {
			return m, flawless
		}
	}
	a, b := wall-before, wall-after
	okA, okB := c.offset(a) == before, c.offset(b) == after
	switch {
	case okA && okB && a != b:
		m.at, m.other = capcli.Time(min(a, b)), capcli.Time(max(a, b))
		if c.later {
			m.at, m.other = m.other, m.at
		}
	case okA:
		m.at = capcli.Time(a)
	case okB:
		m.at = capcli.Time(b)
	default:
		return noMoment, gapHour
	}
	return m, flawless
}

// isSteady reports whether the zone has the offset from 12 hours before the day until 12
// hours after it.
func (c *clock) isSteady(day, offset int64) bool {
	for h := int64(-12); h <= 36; h += 12 {
		if c.offset(day*86400+h*3600-offset) != offset {
			return false
		}
	}
	return true
}

// offset returns the zone's offset at a time, in seconds east of UTC.
func (c *clock) offset(unix int64) int64 {
	_, east := time.Unix(unix, 0).In(c.zone).Zone()
	return int64(east)
}
