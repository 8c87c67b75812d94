package series

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"capcli"
)

// clock parses stamps.
type clock struct {
	zone  *time.Location   // zone of times without a zone; nil is UTC
	later bool             // a time in a repeated hour is in the second pass
	dates capcli.DateOrder // of dates whose year comes last
	unix  bool             // whole numbers may be times, and so may be over maxIndex
}

// maxIndex is the largest whole number that can count steps.
const maxIndex = 1_000_000_000_000_000

// reading is one parsed stamp.
type reading struct {
	at     int64 // seconds since 1970, or the whole number
	number bool  // a whole number, not a time
	local  bool  // a time without a zone
	date   bool  // a date without a time of day
}

// read parses RFC 3339 or ISO 8601, a date, a month (2026-11) or a whole number. wrong says what
// is wrong with the text, or is "".
func (c clock) read(text string) (r reading, wrong string) {
	if text == "" {
		return r, "the stamp is missing"
	}
	if strings.LastIndexByte(text, '-') < 1 { // a date is none, and the errors of a failed try cost more than all else
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return reading{at: n, number: true}, ""
		}
	}
	if n, ok := wholeDecimal(text); ok { // pandas writes 1.0 where a column once had a gap
		return reading{at: n, number: true}, ""
	}
	if len(text) < 7 || len(text) > 40 {
		return r, noStamp(text)
	}
	if at, ok := readZoned(text); ok {
		return reading{at: at}, ""
	}
	for _, layout := range [...]string{"2006-01-02", "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01", "2006/01/02", "2006/01/02 15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil && inRange(t) {
			at, ok := c.localSeconds(t)
			if !ok {
				return r, quote(text) + " lies in an hour that did not exist in " + c.name() + ": the clocks went over it"
			}
			return reading{at: at, local: true, date: !strings.Contains(layout, "15")}, ""
		}
	}
	if first, second, year, rest, ok := capcli.CutDate([]byte(text)); ok {
		day, month, ok := c.dates.Resolve(first, second, strings.Contains(text[:3], "."))
		if !ok {
			return r, "the day and the month of " + quote(text) + " cannot be told apart: " + c.dates.Ambiguity()
		}
		return c.read(fmt.Sprintf("%04d-%02d-%02d%s", year, month, day, rest))
	}
	return r, noStamp(text)
}

// zonedLayouts are the layouts of times with a zone.
var zonedLayouts = [...]string{time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05 MST", "2006-01-02 15:04Z07:00"}

// readZoned reads a time with a zone.
func readZoned(text string) (at int64, ok bool) {
	if len(text) <= len("2006-01-02") {
		return 0, false
	}
	for _, layout := range zonedLayouts {
		if t, err := time.Parse(layout, text); err == nil && inRange(t) {
			if strings.HasSuffix(layout, "MST") && t.Location() != time.UTC && !strings.HasSuffix(text, "UTC") && !strings.HasSuffix(text, "GMT") {
				return 0, false // other abbreviations are ambiguous
			}
			return t.Unix(), true
		}
	}
	return 0, false
}

// noStamp says what is wrong with a text that is no stamp.
func noStamp(text string) string {
	return "expected a time (2026-11-20T13:00:00Z), a date or a whole number, found " + quote(text)
}

// stampHint says how to write a stamp that is not read.
const stampHint = "write times as 2026-11-20T13:00:00Z; a time without a zone is taken in the zone of --tz, else UTC; " +
	"of 03/04/2026 --dates dmy or mdy says which comes first"

// wholeDecimal parses a whole number with a fraction of zeros, such as "12.0".
func wholeDecimal(text string) (int64, bool) {
	whole, zeros, ok := strings.Cut(text, ".")
	if !ok || zeros == "" || strings.Trim(zeros, "0") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	return n, err == nil && n < 1e15 && n > -1e15
}

func inRange(t time.Time) bool { return t.Year() >= 1600 && t.Year() < 2600 }

func (c clock) name() string {
	if c.zone == nil {
		return "UTC"
	}
	return c.zone.String()
}

// localSeconds returns the time, in seconds since 1970, at which clocks in the zone show t. In a
// repeated hour it is the first pass, or the second where later is set. It reports false in an
// hour that the clocks skip.
func (c clock) localSeconds(t time.Time) (int64, bool) {
	if c.zone == nil || c.zone == time.UTC {
		return t.Unix(), true
	}
	wall := t.Unix()
	best, found := int64(0), false
	for _, off := range [...]int64{c.east(wall - 86400), c.east(wall + 86400)} {
		at := wall - off
		if c.east(at) == off && (!found || (at > best) == c.later) {
			best, found = at, true
		}
	}
	return best, found
}

// secondTime returns the second time at which clocks in the zone show what they show at the given time.
// It reports false where there is none.
func (c clock) secondTime(at int64) (int64, bool) {
	after := c.east(at + 86400)
	second := at + c.east(at) - after
	return second, second > at && c.east(second) == after
}

// east returns the offset of the zone at a time, in seconds east of UTC.
func (c clock) east(at int64) int64 {
	_, off := time.Unix(at, 0).In(c.zone).Zone()
	return int64(off)
}

// Text returns a stamp as it is written in an output: RFC 3339 in UTC, a date in zone where the
// table has only dates, or the whole number.
func (t *Table) Text(at int64, zone *time.Location) string {
	switch {
	case t.Stamp != Instant:
		return strconv.FormatInt(at, 10)
	case t.Dates:
		zone = cmp.Or(zone, time.UTC)
		return time.Unix(at, 0).In(zone).Format("2006-01-02")
	}
	return capcli.Time(at).String()
}
