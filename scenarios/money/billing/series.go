package billing

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"capcli"
	"capcli/scenarios/money/focus"
)

// Sample is one value of a series, which holds from At on.
type Sample struct {
	At    capcli.Time
	Value focus.Amount
}

// maxSamples is the most values of a series.
const maxSamples = 4_000_000

// ReadSeries reads a series as CSV and returns it in order of time. The times are in the column
// timestamp_utc, time, timestamp, at, ds or month, else in the first one. The values are in the
// column gco2_per_kwh, value, y or requests, else in the last one. In a file with a column zone
// only the rows of zone are read; "" reads all rows and fails where they are of more than one
// zone. It fails with a *capcli.InputError, also for two values at one time and for no values.
func ReadSeries(name string, r io.Reader, zone string) ([]Sample, error) {
	s, err := capcli.NewSheet(name, r, ",")
	if err != nil {
		return nil, err
	}
	at, value := max(0, s.FindColumn("timestamp_utc", "time", "timestamp", "at", "ds", "month")), s.FindColumn("gco2_per_kwh", "value", "y", "requests")
	if value < 0 {
		value = len(s.Names) - 1
	}
	if at == value {
		return nil, s.Fault("", "expected a column of times and one of values, found "+s.QuotedNames(), "for example time,value")
	}
	var out []Sample
	zones, zoneCol := map[string]bool{}, s.FindColumn("zone")
	err = s.EachRow(func() error {
		if zoneCol >= 0 {
			z := string(bytes.TrimSpace(s.Row[zoneCol]))
			if zones[z] = true; len(zones) > 1 && zone == "" {
				return s.Fault("zone", fmt.Sprintf("the file has more than one zone: %s after another", capcli.Quoted(z)), "name the one that is meant: zone: "+z)
			}
			if zone != "" && z != zone {
				return nil
			}
		}
		x, err := sampleAt(s, at, value)
		if out = append(out, x); err == nil && len(out) > maxSamples {
			return s.Fault("", fmt.Sprintf("over %d values", maxSamples), "")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, noValues(s, zone, zones)
	}
	slices.SortStableFunc(out, func(a, b Sample) int { return cmp.Compare(a.At, b.At) })
	for i := 1; i < len(out); i++ {
		if out[i].At == out[i-1].At {
			return nil, &capcli.InputError{File: name, Field: s.Names[at], Text: fmt.Sprintf("two values at %s", out[i].At), Hint: "leave one out"}
		}
	}
	return out, nil
}

// sampleAt reads the sample of the current record.
func sampleAt(s *capcli.Sheet, at, value int) (x Sample, err error) {
	if x.At, err = seriesTime(s, at); err != nil {
		return x, err
	}
	text := string(bytes.TrimSpace(s.Row[value]))
	if x.Value, _, err = focus.ParseAmount(text); err != nil {
		return x, s.Fault(s.Names[value], capcli.Quoted(text)+" "+err.Error(), "")
	}
	return x, nil
}

// noValues returns the error for an empty series.
func noValues(s *capcli.Sheet, zone string, zones map[string]bool) error {
	if zone == "" || len(zones) == 0 {
		return s.Fault("", "expected values, found only a header", "")
	}
	names := slices.Sorted(maps.Keys(zones))
	hint := "have " + strings.Join(names[:min(len(names), 30)], ", ")
	if near := capcli.Nearest(zone, names); near != "" {
		hint = fmt.Sprintf("did you mean %s? ", near) + hint
	}
	return &capcli.InputError{File: s.File, Field: "zone", Text: fmt.Sprintf("the file has no zone %s", capcli.Quoted(zone)), Hint: hint}
}

// seriesTime reads an instant, a day, a month, or seconds since 1970 of at least five digits.
func seriesTime(s *capcli.Sheet, col int) (capcli.Time, error) {
	text := string(bytes.TrimSpace(s.Row[col]))
	at := focus.ParseInstant(text, time.RFC3339, time.DateOnly, "2006-01")
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && len(text) > 4 {
		at = capcli.Time(n)
	}
	if at < 0 || at > farthest {
		return capcli.NoTime, s.FaultUnwanted(s.Names[col], focus.WantInstant, text, "")
	}
	return at, nil
}
