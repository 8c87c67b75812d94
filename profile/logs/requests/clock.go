package requests

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"capcli/profile/logs/trace"
)

// clock parses times to microseconds.
type clock struct {
	zone *time.Location // of times without a zone; nil is UTC
	unit int64          // units of numbers per second; 0 tells them from their size
	day  [10]byte       // the last date read in UTC
	base int64          // and its first second since 1970
}

// dateFrom is the least number of seconds that counts as a time since 1970: September 2001.
const dateFrom = 1_000_000_000

// What can be wrong with a time.
const (
	notTime  = "not a time"
	noUnit   = "a whole number from 0 whose unit is not known"
	unitHint = "say what its times count: --times s, ms or us"
)

// read parses b. dated says that the microseconds count from 1970. wrong says what is wrong with b.
func (c *clock) read(b []byte) (micros int64, dated bool, wrong string) {
	b = bytes.TrimSpace(b)
	if len(b) >= 16 && b[4] == '-' && b[7] == '-' {
		micros, ok := c.date(b)
		if !ok {
			return 0, true, notTime
		}
		return micros, true, ""
	}
	return c.number(b)
}

// number parses a number in the clock's unit. Numbers from dateFrom seconds on are times since 1970.
func (c *clock) number(b []byte) (micros int64, dated bool, wrong string) {
	unit := c.unit
	if unit == 0 {
		whole, ok := wholePart(b)
		switch {
		case !ok:
			return 0, false, notTime
		case whole >= dateFrom:
			unit = trace.EpochUnit(whole)
		case bytes.IndexByte(b, '.') >= 0:
			unit = 1 // a fraction is one of seconds
		default:
			return 0, false, noUnit
		}
	}
	micros, ok := decimal(b, Second, unit)
	if !ok {
		return 0, false, notTime
	}
	return micros, micros >= dateFrom*Second, ""
}

// wholePart returns the part of a decimal number before the point.
func wholePart(b []byte) (int64, bool) {
	whole, _, _ := bytes.Cut(b, []byte{'.'})
	if f, err := strconv.ParseFloat(string(b), 64); err != nil || math.IsNaN(f) || math.IsInf(f, 0) || math.Abs(f) > 1e19 {
		return 0, false
	}
	n, err := strconv.ParseInt(string(whole), 10, 64)
	if err != nil {
		f, _ := strconv.ParseFloat(string(b), 64)
		return int64(f), math.Abs(f) < 9e18
	}
	return n, true
}

// decimal parses a decimal number and returns it times scale/unit, rounded to the nearest, halves away
// from zero. It is exact for numbers without an exponent.
func decimal(b []byte, scale, unit int64) (int64, bool) {
	text := b
	neg := false
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		neg, text = text[0] == '-', text[1:]
	}
	whole, frac, point := bytes.Cut(text, []byte{'.'})
	if len(whole)+len(frac) == 0 {
		return 0, false
	}
	for unit >= 10 && scale >= 10 && unit%10 == 0 && scale%10 == 0 {
		unit, scale = unit/10, scale/10
	}
	var n int64
	for _, d := range whole {
		if d -= '0'; d > 9 || n > (math.MaxInt64-9)/10 {
			return exponent(b, scale, unit)
		}
		n = n*10 + int64(d)
	}
	if n > math.MaxInt64/4/scale {
		return 0, false
	}
	part, size := int64(0), int64(1)
	for i, d := range frac {
		if d -= '0'; d > 9 {
			return exponent(b, scale, unit)
		}
		if i < 9 {
			part, size = part*10+int64(d), size*10
		}
	}
	if !point {
		size = 1
	}
	// (n + part/size) scale / unit; the rest of n scale / unit is carried to the fraction.
	n *= scale
	q, rest := n/unit, n%unit
	q += ((rest*size+part*scale)*2 + size*unit) / (2 * size * unit)
	if neg {
		q = -q
	}
	return q, true
}

// exponent parses a number with an exponent, as decimal does.
func exponent(b []byte, scale, unit int64) (int64, bool) {
	if bytes.ContainsAny(b, "_xXpP") {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if f *= float64(scale) / float64(unit); err != nil || math.IsNaN(f) || math.Abs(f) > math.MaxInt64/4 {
		return 0, false
	}
	return int64(math.Round(f)), true
}

// date parses 2024-05-10 00:00:00.009930+00:00 and its shorter forms.
func (c *clock) date(b []byte) (int64, bool) {
	if b[10] != ' ' && b[10] != 'T' && b[10] != 't' || b[13] != ':' {
		return 0, false
	}
	hour, ok1 := trace.Digits(b[11:13])
	minute, ok2 := trace.Digits(b[14:16])
	rest, second, ok3 := b[16:], 0, true
	if len(rest) >= 3 && rest[0] == ':' {
		second, ok3 = trace.Digits(rest[1:3])
		rest = rest[3:]
	}
	if !ok1 || !ok2 || !ok3 || hour > 23 || minute > 59 || second > 60 {
		return 0, false
	}
	micros := int64((hour*60+minute)*60+second) * Second
	if len(rest) > 1 && (rest[0] == '.' || rest[0] == ',') {
		end := 1
		for end < len(rest) && rest[end]-'0' <= 9 {
			end++
		}
		f, ok := decimal(append([]byte{'.'}, rest[1:end]...), Second, 1)
		if !ok {
			return 0, false
		}
		micros += f
		rest = rest[end:]
	}
	return c.finish(b[:10], micros, bytes.TrimSpace(rest))
}

// finish adds the date and the zone to the microseconds of a day.
func (c *clock) finish(date []byte, micros int64, zone []byte) (int64, bool) {
	var east int64
	switch {
	case len(zone) > 0:
		var ok bool
		if east, ok = trace.ZoneOffset(zone); !ok {
			return 0, false
		}
	case c.zone != nil && c.zone != time.UTC:
		day, ok := parseDay(date)
		if !ok {
			return 0, false
		}
		y, m, d := day.Date()
		second := micros / Second
		at := time.Date(y, m, d, int(second/3600), int(second/60%60), int(second%60), 0, c.zone)
		return at.Unix()*Second + micros%Second, true
	}
	if !bytes.Equal(date, c.day[:]) {
		day, ok := parseDay(date)
		if !ok {
			return 0, false
		}
		copy(c.day[:], date)
		c.base = day.Unix()
	}
	return (c.base-east)*Second + micros, true
}

// parseDay parses 2024-05-10.
func parseDay(b []byte) (time.Time, bool) {
	day, err := time.Parse(time.DateOnly, string(b))
	return day, err == nil
}
