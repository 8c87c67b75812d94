package scenarios

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"capcli"
)

// scalar gives the text of a single value.
func (d *decoder) scalar(n *yaml.Node, want string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		d.want(n, want)
		return "", false
	}
	return strings.TrimSpace(n.Value), true
}

// text reads a name, a file or a sentence: ids are texts always, 6214e9 too.
func text(dst *string, limit int) reader {
	return func(d *decoder, n *yaml.Node) {
		s, ok := d.scalar(n, "a text")
		switch {
		case !ok:
		case s == "":
			d.at(n, "%s is empty", d.step())
		case utf8.RuneCountInString(s) > limit:
			d.at(n, "%s has %d characters; at most %d are allowed", d.step(), utf8.RuneCountInString(s), limit)
		case strings.IndexFunc(s, unicode.IsControl) >= 0:
			d.at(n, "%s has control characters or more than one line", d.step())
		default:
			*dst = s
		}
	}
}

// Longest texts, in characters.
const (
	maxName     = 200
	maxSentence = 2000
)

func name(dst *string) reader { return text(dst, maxName) }

// boolean reads true or false.
func boolean(dst *bool) reader {
	return func(d *decoder, n *yaml.Node) {
		switch s, ok := d.scalar(n, "true or false"); {
		case !ok:
		case s == "true", s == "false":
			*dst = s == "true"
		default:
			d.want(n, "true or false")
		}
	}
}

// whole reads a whole number of lo to hi.
func whole[T ~int | ~int64](dst *T, lo, hi T) reader {
	return func(d *decoder, n *yaml.Node) {
		s, ok := d.scalar(n, "a whole number")
		if !ok {
			return
		}
		v, err := strconv.ParseInt(s, 10, 64)
		switch {
		case err != nil:
			d.want(n, "a whole number")
		case v < int64(lo) || v > int64(hi):
			d.at(n, "%s is %d; want %d to %d", d.step(), v, int64(lo), int64(hi))
		default:
			*dst = T(v)
		}
	}
}

// seed reads a whole number below 2^64.
func seed(dst *capcli.Seed) reader {
	return func(d *decoder, n *yaml.Node) {
		if s, ok := d.scalar(n, "a whole number"); ok {
			v, err := strconv.ParseUint(s, 10, 64)
			if err != nil {
				d.want(n, "a whole number below 2^64")
				return
			}
			*dst = capcli.Seed(v)
		}
	}
}

// number reads a finite number of lo to hi.
func number(dst *float64, lo, hi float64) reader {
	return func(d *decoder, n *yaml.Node) {
		s, ok := d.scalar(n, "a number")
		if !ok {
			return
		}
		v, err := strconv.ParseFloat(s, 64)
		switch {
		case err != nil && strings.Contains(s, ","):
			d.at(n, "%s %q has a comma; write %s", d.step(), s, strings.Replace(s, ",", ".", 1))
		case err != nil, math.IsNaN(v), math.IsInf(v, 0):
			d.want(n, "a number")
		case v < lo || v > hi:
			d.at(n, "%s is %s; want %v to %v", d.step(), show(s), lo, hi)
		default:
			*dst = v
		}
	}
}

// longest is the longest time that a scenario may name: fifty years.
const longest = 50 * 366 * capcli.Day

// duration reads a length of time of at least lo.
func duration(dst *capcli.Seconds, lo capcli.Seconds) reader {
	return func(d *decoder, n *yaml.Node) {
		s, ok := d.scalar(n, "a length of time such as 30m")
		if !ok {
			return
		}
		v, err := capcli.ParseSeconds(s)
		switch {
		case err != nil && strings.HasPrefix(s, "-"), err == nil && v < 0:
			d.at(n, "%s is %s; a length of time is not negative", d.step(), s)
		case err != nil:
			d.want(n, "a length of time such as 90s, 30m, 1h30m or 45d")
		case v < lo:
			d.at(n, "%s is %s; want at least %s", d.step(), s, lo)
		case v > longest:
			d.at(n, "%s is %s, over 50 years", d.step(), s)
		default:
			*dst = v
		}
	}
}

// choice reads one of words.
func choice(dst *string, kind string, words ...string) reader {
	return func(d *decoder, n *yaml.Node) {
		s, ok := d.scalar(n, strings.Join(words, ", "))
		if !ok {
			return
		}
		if slices.Contains(words, s) {
			*dst = s
			return
		}
		hint := ""
		if near := capcli.Nearest(s, words); near != "" {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		d.at(n, "unknown %s %s: have %s%s", kind, show(s), strings.Join(words, ", "), hint)
	}
}
