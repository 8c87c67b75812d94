package trace

import (
	"bytes"
	"fmt"
	"time"

	"capcli"
)

// eitherOrder is the flaw of a date whose day and month cannot be told apart.
const eitherOrder flaw = "the order of day and month is ambiguous; --read dates=dmy or dates=mdy says which comes first"

// findDates sets the order of dates from the text ahead. Only where its beginning has such dates, and they do
// not tell, does it look at more.
func (r *Reader) findDates(head []byte) {
	if r.dates = r.o.Dates; r.dates != capcli.UnknownOrder {
		return
	}
	order, some := capcli.FindDateOrder(head, true)
	if some && order == capcli.UnknownOrder {
		order, _ = capcli.FindDateOrder(r.text.Head(capcli.MaxDates), true)
	}
	r.dates = order
}

// hasDate reports whether b begins with a date whose year comes last. A number with a point has no second one.
func hasDate(b []byte) bool {
	if len(b) < 8 || b[0]-'0' > 9 {
		return false
	}
	sep := b[sepAt(b)]
	return (sep == '/' || sep == '-' || sep == '.') && bytes.IndexByte(b[sepAt(b)+1:6], sep) >= 0
}

// sepAt returns the index of the first separator of a date.
func sepAt(b []byte) int {
	if b[1]-'0' <= 9 {
		return 2
	}
	return 1
}

// yearLast parses a date whose year comes last and its time of day: 31/01/2026 16:05, 31.01.2026 16:05:09.5,
// 1/31/2026 4:05 PM. Days with dots come first.
func (c *clock) yearLast(b []byte) (moment, flaw) {
	first, second, year, rest, ok := capcli.CutDate(b)
	if !ok {
		return noMoment, notTime
	}
	day, month, ok := c.dates.Resolve(first, second, b[sepAt(b)] == '.')
	if !ok {
		return noMoment, eitherOrder
	}
	date := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if month < 1 || month > 12 || date.Day() != day {
		return noMoment, notTime
	}
	if len(rest) < 2 || rest[0] != ' ' && rest[0] != 'T' && rest[0] != ',' {
		return noMoment, notTime
	}
	seconds, rest, ok := timeOfDay(trim(rest[1:]))
	if !ok {
		return noMoment, notTime
	}
	return c.finish(date.Unix()+seconds, rest)
}

// timeOfDay parses 16:05, 16:05:09 or 4:05:09 PM off the front of b; a fraction of a second, which is none in a
// time with AM or PM, and a zone are left in rest.
func timeOfDay(b []byte) (seconds int64, rest []byte, ok bool) {
	i := bytes.IndexByte(b, ':')
	if i < 1 || i > 2 || len(b) < i+3 {
		return 0, nil, false
	}
	hour, ok1 := Digits(b[:i])
	minute, ok2 := Digits(b[i+1 : i+3])
	second, ok3 := 0, true
	if b = b[i+3:]; len(b) >= 3 && b[0] == ':' {
		second, ok3 = Digits(b[1:3])
		b = b[3:]
	}
	if !ok1 || !ok2 || !ok3 || minute > 59 || second > 60 {
		return 0, nil, false
	}
	if half := bytes.ToUpper(trim(b)); len(half) >= 2 && (half[0] == 'A' || half[0] == 'P') && half[1] == 'M' {
		if hour < 1 || hour > 12 {
			return 0, nil, false
		}
		hour %= 12
		if half[0] == 'P' {
			hour += 12
		}
		b = trim(b)[2:]
	}
	if hour > 23 {
		return 0, nil, false
	}
	return int64(hour)*3600 + int64(minute)*60 + int64(second), b, true
}

// datesFault returns the error for a file whose dates have an order that cannot be told.
func (r *Reader) datesFault(line int, field string, value []byte) error {
	return r.fault(line, field, fmt.Sprintf("the order of day and month in %s is ambiguous: %s", shorten(value), r.dates.Ambiguity()),
		"say which comes first: --read dates=dmy for the day, --read dates=mdy for the month")
}
