package trace

import (
	"bytes"
	"fmt"
	"time"
)

// dateOrder says which comes first in dates such as 03/04/2026.
type dateOrder uint8

// The orders.
const (
	unknownOrder dateOrder = iota
	dayFirst
	monthFirst
	bothOrders // some dates can only be the one, some only the other
)

// dateOrders are the orders by their names in Request.Dates.
var dateOrders = map[string]dateOrder{"": unknownOrder, "dmy": dayFirst, "mdy": monthFirst}

// maxDates is how much of a file is searched for a date that tells the order.
const maxDates = 8 << 20

// eitherOrder is the flaw of a date whose day and month cannot be told apart.
const eitherOrder flaw = "day and month cannot be told apart; --read dates=dmy or dates=mdy says which comes first"

// findDates sets the order of dates from the text ahead. Only where its beginning has such dates, and they do
// not tell, does it look at more.
func (r *Reader) findDates(head []byte) {
	if r.dates = dateOrders[r.o.Dates]; r.dates != unknownOrder {
		return
	}
	order, some := orderOf(head)
	if some && order == unknownOrder {
		order, _ = orderOf(r.text.Head(maxDates))
	}
	r.dates = order
}

// orderOf returns the order that the dates with a time of day in text have, and whether there is any.
func orderOf(text []byte) (order dateOrder, some bool) {
	for i := 0; i+12 < len(text); i++ {
		if text[i]-'0' > 9 || i > 0 && isWordByte(text[i-1]) {
			continue
		}
		a, b, _, rest, ok := cutDate(text[i:min(len(text), i+16)])
		if !ok || text[i+sepAt(text[i:])] == '.' || len(rest) < 2 || rest[0] != ' ' && rest[0] != 'T' || rest[1]-'0' > 9 {
			continue
		}
		some = true
		switch {
		case a > 12 && b <= 12:
			order |= dayFirst
		case b > 12 && a <= 12:
			order |= monthFirst
		}
	}
	return order, some
}

func isWordByte(c byte) bool {
	return c-'0' <= 9 || c|0x20-'a' < 26 || c == '-' || c == '/' || c == '.' || c == '_'
}

// cutDate cuts a date such as 3/4/2026, 03-04-2026 or 03.04.2026 off the front of b.
func cutDate(b []byte) (first, second, year int, rest []byte, ok bool) {
	n := 0
	cut := func(most int) (v int, found bool) {
		i := n
		for n < len(b) && n-i < most && b[n]-'0' <= 9 {
			v = v*10 + int(b[n]-'0')
			n++
		}
		return v, n > i
	}
	first, ok1 := cut(2)
	if !ok1 || n >= len(b) || b[n] != '/' && b[n] != '-' && b[n] != '.' {
		return 0, 0, 0, nil, false
	}
	sep := b[n]
	n++
	second, ok2 := cut(2)
	if !ok2 || n >= len(b) || b[n] != sep {
		return 0, 0, 0, nil, false
	}
	n++
	from := n
	year, _ = cut(4)
	if n-from != 4 || n < len(b) && b[n]-'0' <= 9 {
		return 0, 0, 0, nil, false
	}
	return first, second, year, b[n:], true
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
	first, second, year, rest, ok := cutDate(b)
	if !ok {
		return noMoment, notTime
	}
	order := c.dates
	switch {
	case b[sepAt(b)] == '.':
		order = dayFirst
	case order == dayFirst || order == monthFirst:
	case first > 12 && second <= 12:
		order = dayFirst
	case second > 12 && first <= 12:
		order = monthFirst
	default:
		return noMoment, eitherOrder
	}
	day, month := first, second
	if order == monthFirst {
		day, month = second, first
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
	hour, ok1 := digits(b[:i])
	minute, ok2 := digits(b[i+1 : i+3])
	second, ok3 := 0, true
	if b = b[i+3:]; len(b) >= 3 && b[0] == ':' {
		second, ok3 = digits(b[1:3])
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
	what := "no date of the file has a day over 12"
	if r.dates == bothOrders {
		what = "some dates of the file have the day first, others the month"
	}
	return r.fault(line, field, fmt.Sprintf("the day and the month of %s cannot be told apart: %s", shorten(value), what),
		"say which comes first: --read dates=dmy for the day, --read dates=mdy for the month")
}
