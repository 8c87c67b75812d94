package capcli

// DateOrder says which comes first in dates whose year comes last, such as 03/04/2026.
type DateOrder uint8

// The orders. Of BothOrders some dates can only be the one and some only the other.
const (
	UnknownOrder DateOrder = iota
	DayFirst
	MonthFirst
	BothOrders
)

// MaxDates is how much of a text is searched for a date that tells the order.
const MaxDates = 8 << 20

// ParseDateOrder returns the order called dmy or mdy, and UnknownOrder for "".
func ParseDateOrder(name string) (order DateOrder, ok bool) {
	switch name {
	case "":
		return UnknownOrder, true
	case "dmy":
		return DayFirst, true
	case "mdy":
		return MonthFirst, true
	}
	return UnknownOrder, false
}

// FindDateOrder returns the order of the dates in text, and whether there is any. With timed only dates
// count that a time of day follows. Dates with dots have the day first everywhere and do not count.
func FindDateOrder(text []byte, timed bool) (order DateOrder, some bool) {
	for i := 0; i+8 <= len(text); i++ {
		if text[i]-'0' > 9 || i > 0 && isDateByte(text[i-1]) {
			continue
		}
		a, b, _, rest, ok := CutDate(text[i:min(len(text), i+16)])
		if !ok || text[i+1] == '.' || text[i+2] == '.' {
			continue
		}
		followed := len(rest) >= 2 && (rest[0] == ' ' || rest[0] == 'T') && rest[1]-'0' <= 9
		if timed && !followed || len(rest) > 0 && isDateByte(rest[0]) && rest[0] != 'T' {
			continue
		}
		some = true
		switch {
		case a > 12 && b <= 12:
			order |= DayFirst
		case b > 12 && a <= 12:
			order |= MonthFirst
		}
	}
	return order, some
}

// isDateByte reports whether c next to a date makes it a part of something else, such as a name.
func isDateByte(c byte) bool {
	return c-'0' <= 9 || c|0x20-'a' < 26 || c == '-' || c == '/' || c == '.' || c == '_'
}

// CutDate cuts a date whose year comes last off the front of b: 3/4/2026, 03-04-2026 or 03.04.2026.
func CutDate(b []byte) (first, second, year int, rest []byte, ok bool) {
	n := 0
	cut := func(most int) (v, length int) {
		from := n
		for n < len(b) && n-from < most && b[n]-'0' <= 9 {
			v = v*10 + int(b[n]-'0')
			n++
		}
		return v, n - from
	}
	var length int
	if first, length = cut(2); length == 0 || n >= len(b) || b[n] != '/' && b[n] != '-' && b[n] != '.' {
		return 0, 0, 0, nil, false
	}
	sep := b[n]
	n++
	if second, length = cut(2); length == 0 || n >= len(b) || b[n] != sep {
		return 0, 0, 0, nil, false
	}
	n++
	if year, length = cut(4); length != 4 || n < len(b) && b[n]-'0' <= 9 {
		return 0, 0, 0, nil, false
	}
	return first, second, year, b[n:], true
}

// Resolve returns the day and the month of a date whose first numbers are these. dotted says that dots are
// between them, which puts the day first. ok is false where the order cannot be told.
func (o DateOrder) Resolve(first, second int, dotted bool) (day, month int, ok bool) {
	switch {
	case dotted, o == DayFirst:
		return first, second, true
	case o == MonthFirst:
		return second, first, true
	case first > 12 && second <= 12:
		return first, second, true
	case second > 12 && first <= 12:
		return second, first, true
	}
	return 0, 0, false
}

// Ambiguity says why o does not tell the day from the month.
func (o DateOrder) Ambiguity() string {
	if o == BothOrders {
		return "some dates of the file have the day first, others the month"
	}
	return "no date of the file has a day over 12"
}
