package strict

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"capcli"
)

// ReadScalar returns the text of a single value. It reports false, with a fault, for anything else.
func (d *Decoder) ReadScalar(n *yaml.Node, want string) (string, bool) {
	if d.value(n, Single{Want: want}) {
		return "", false
	}
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		d.FaultWant(n, want)
		return "", false
	}
	return strings.TrimSpace(n.Value), true
}

// Text reads a text of one line, such as a name, a file or a sentence. A value such as 6214e9 stays
// a text.
func Text(dst *string, limit int) Reader {
	return func(d *Decoder, n *yaml.Node) {
		if d.value(n, Single{Want: "a text", Kind: Line, MaxLen: limit}) {
			return
		}
		s, ok := d.ReadScalar(n, "a text")
		switch {
		case !ok:
		case s == "":
			d.Fault(n, "%s is empty", d.FieldName())
		case utf8.RuneCountInString(s) > limit:
			d.Fault(n, "%s has %d characters; at most %d are allowed", d.FieldName(), utf8.RuneCountInString(s), limit)
		case strings.IndexFunc(s, unicode.IsControl) >= 0:
			d.Fault(n, "%s has control characters or more than one line", d.FieldName())
		default:
			*dst = s
		}
	}
}

// MaxName is the largest length of a name, in characters.
const MaxName = 200

// Name reads a name.
func Name(dst *string) Reader { return Text(dst, MaxName) }

// Bool reads true or false.
func Bool(dst *bool) Reader {
	const form = "true or false"
	read := Value(dst, form, form, func(s string) (bool, bool) { return s == "true", s == "true" || s == "false" })
	return func(d *Decoder, n *yaml.Node) {
		if !d.value(n, Single{Want: form, Kind: Truth}) {
			read(d, n)
		}
	}
}

// Integer reads a whole number of lo to hi.
func Integer[T ~int | ~int64](dst *T, lo, hi T) Reader {
	return func(d *Decoder, n *yaml.Node) {
		if d.value(n, Single{Want: "a whole number", Kind: Whole, Lo: float64(lo), Hi: float64(hi)}) {
			return
		}
		s, ok := d.ReadScalar(n, "a whole number")
		if !ok {
			return
		}
		v, err := strconv.ParseInt(s, 10, 64)
		switch {
		case err != nil:
			d.FaultWant(n, "a whole number")
		case v < int64(lo) || v > int64(hi):
			d.Fault(n, "%s is %d; want %d to %d", d.FieldName(), v, int64(lo), int64(hi))
		default:
			*dst = T(v)
		}
	}
}

// Seed reads a whole number below 2^64.
func Seed(dst *capcli.Seed) Reader {
	read := Value(dst, "a whole number", "a whole number below 2^64", func(s string) (capcli.Seed, bool) {
		v, err := strconv.ParseUint(s, 10, 64)
		return capcli.Seed(v), err == nil
	})
	return func(d *Decoder, n *yaml.Node) {
		if !d.value(n, Single{Want: "a whole number below 2^64", Kind: Whole, Hi: 1<<64 - 1}) {
			read(d, n)
		}
	}
}

// Number reads a finite number of lo to hi.
func Number(dst *float64, lo, hi float64) Reader {
	return func(d *Decoder, n *yaml.Node) {
		if d.value(n, Single{Want: "a number", Kind: Fraction, Lo: lo, Hi: hi}) {
			return
		}
		s, ok := d.ReadScalar(n, "a number")
		if !ok {
			return
		}
		v, err := strconv.ParseFloat(s, 64)
		switch {
		case err != nil && strings.Contains(s, ","):
			d.Fault(n, "%s %q has a comma; write %s", d.FieldName(), s, strings.Replace(s, ",", ".", 1))
		case err != nil, math.IsNaN(v), math.IsInf(v, 0):
			d.FaultWant(n, "a number")
		case v < lo || v > hi:
			d.Fault(n, "%s is %s; want %v to %v", d.FieldName(), capcli.Quoted(s), lo, hi)
		default:
			*dst = v
		}
	}
}

// Longest is the longest time that a file may state: fifty years.
const Longest = 50 * 366 * capcli.Day

// Duration reads a length of time of at least lo.
func Duration(dst *capcli.Seconds, lo capcli.Seconds) Reader {
	return func(d *Decoder, n *yaml.Node) {
		if d.value(n, Single{Want: "a length of time such as 30m", Kind: Length, Lo: float64(lo)}) {
			return
		}
		s, ok := d.ReadScalar(n, "a length of time such as 30m")
		if !ok {
			return
		}
		v, err := capcli.ParseSeconds(s)
		switch {
		case err != nil && strings.HasPrefix(s, "-"), err == nil && v < 0:
			d.Fault(n, "%s is %s; a length of time is not negative", d.FieldName(), s)
		case err != nil:
			d.FaultWant(n, "a length of time such as 90s, 30m, 1h30m or 45d")
		case v < lo:
			d.Fault(n, "%s is %s; want at least %s", d.FieldName(), s, lo)
		case v > Longest:
			d.Fault(n, "%s is %s, over 50 years", d.FieldName(), s)
		default:
			*dst = v
		}
	}
}

// Choice reads one of words.
func Choice[T ~string](dst *T, kind string, words ...string) Reader {
	return func(d *Decoder, n *yaml.Node) {
		if d.value(n, Single{Want: strings.Join(words, ", "), Words: words}) {
			return
		}
		s, ok := d.ReadScalar(n, strings.Join(words, ", "))
		if !ok {
			return
		}
		if slices.Contains(words, s) {
			*dst = T(s)
			return
		}
		hint := capcli.DidYouMean(s, words)
		d.Fault(n, "unknown %s %s: have %s%s", kind, capcli.Quoted(s), strings.Join(words, ", "), hint)
	}
}

// Names reads a list of names, at most 4096 of them.
func Names(dst *[]string, what string) Reader {
	return func(d *Decoder, n *yaml.Node) {
		d.ReadList(n, 4096, what, func(_ int, n *yaml.Node) {
			var s string
			if Name(&s)(d, n); s != "" {
				*dst = append(*dst, s)
			}
		})
	}
}
