package store

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"capcli"
)

// Keep bounds what is kept of a host. The zero value keeps everything.
type Keep struct {
	Days  int64 // days kept; 0 is unbounded
	Bytes int64 // bytes kept, of files and log; 0 is unbounded
	text  string
}

// String returns the text that ParseKeep parsed.
func (k Keep) String() string { return k.text }

// IsAll reports whether k keeps everything.
func (k Keep) IsAll() bool { return k.Days == 0 && k.Bytes == 0 }

// keepUnits are the units of Keep: days, or bytes.
var keepUnits = []struct {
	name  string
	days  bool
	scale float64
}{
	{"d", true, 1},
	{"w", true, 7},
	{"kB", false, 1e3},
	{"MB", false, 1e6},
	{"GB", false, 1e9},
	{"TB", false, 1e12},
	{"KiB", false, 1 << 10},
	{"MiB", false, 1 << 20},
	{"GiB", false, 1 << 30},
	{"TiB", false, 1 << 40},
}

// ParseKeep parses "90d", "50GB", or both with a comma. "" keeps everything.
func ParseKeep(text string) (Keep, error) {
	k := Keep{text: text}
	if text == "" {
		return k, nil
	}
	for one := range strings.SplitSeq(text, ",") {
		days, bytes, ok := parseLimit(strings.TrimSpace(one))
		if !ok || days > 0 && k.Days > 0 || bytes > 0 && k.Bytes > 0 {
			return Keep{}, &capcli.RequestError{
				Field: "keep", Text: fmt.Sprintf("wants days, a size, or both, such as 90d or 90d,50GB; found %q", text),
				Hint: "units: d w kB MB GB TB KiB MiB GiB TiB",
			}
		}
		k.Days, k.Bytes = k.Days+days, k.Bytes+bytes
	}
	return k, nil
}

// parseLimit parses a number and its unit. One of days and bytes is then at least 1.
func parseLimit(text string) (days, bytes int64, ok bool) {
	digits := len(text) - len(strings.TrimLeft(text, "0123456789."))
	n, err := strconv.ParseFloat(text[:digits], 64)
	if err != nil {
		return 0, 0, false
	}
	for _, u := range keepUnits {
		if u.name != strings.TrimSpace(text[digits:]) {
			continue
		}
		n *= u.scale
		switch {
		case n < 1 || n > 1e18:
			return 0, 0, false
		case !u.days:
			return 0, int64(n), true
		case n == math.Trunc(n) && n <= 1e6:
			return int64(n), 0, true
		}
	}
	return 0, 0, false
}
