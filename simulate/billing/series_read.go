package billing

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"capcli"
)

// Sample is one value of a series: from At on.
type Sample struct {
	At    capcli.Time
	Value Amount
}

// SeriesOptions say how to read a series.
type SeriesOptions struct {
	// Zone takes only the rows of one grid zone, of a file that has a column zone;
	// such a file without it is an error where it has more than one.
	Zone string
}

// maxSamples bounds a series.
const maxSamples = 4_000_000

// ReadSeries reads a series as CSV: a column of times (the first, or one called
// time, timestamp_utc, at or ds) and one of values (the last, or one called value, y,
// gco2_per_kwh or requests). It comes in order of time; two values at one time
// are an error.
func ReadSeries(name string, r io.Reader, o SeriesOptions) ([]Sample, error) {
	s, err := newSheet(name, r)
	if err != nil {
		return nil, err
	}
	at, value, zone := s.col("timestamp_utc", "time", "timestamp", "at", "ds", "month"), s.col("gco2_per_kwh", "value", "y", "requests"), s.col("zone")
	if at < 0 {
		at = 0
	}
	if value < 0 {
		value = len(s.names) - 1
	}
	if at == value {
		return nil, s.fault("", fmt.Sprintf("expected a column of times and one of values, found %s", capcli.Quoted(strings.Join(s.names, ","))), "for example time,value")
	}
	var out []Sample
	zones := map[string]bool{}
	for {
		ok, err := s.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		if in, err := s.inZone(zone, o.Zone, zones); err != nil || !in {
			if err != nil {
				return nil, err
			}
			continue
		}
		x, err := s.sample(at, value)
		if err != nil {
			return nil, err
		}
		if out = append(out, x); len(out) > maxSamples {
			return nil, s.fault("", fmt.Sprintf("over %d values", maxSamples), "")
		}
	}
	if len(out) == 0 {
		return nil, s.noValues(o.Zone, zones)
	}
	slices.SortStableFunc(out, func(a, b Sample) int { return cmp.Compare(a.At, b.At) })
	for i := 1; i < len(out); i++ {
		if out[i].At == out[i-1].At {
			return nil, &capcli.InputError{File: name, Field: s.names[at], Text: fmt.Sprintf("two values at %s", out[i].At), Hint: "leave one out"}
		}
	}
	return out, nil
}

// inZone tells whether the record at hand is of the zone that is wanted.
func (s *sheet) inZone(col int, want string, zones map[string]bool) (bool, error) {
	if col < 0 {
		return true, nil
	}
	z := string(bytes.TrimSpace(s.row[col]))
	zones[z] = true
	if len(zones) > 1 && want == "" {
		return false, s.fault("zone", fmt.Sprintf("the file has more than one zone: %s after another", capcli.Quoted(z)), "name the one that is meant: zone: "+z)
	}
	return want == "" || z == want, nil
}

// sample reads the record at hand.
func (s *sheet) sample(at, value int) (x Sample, err error) {
	if x.At, err = seriesTime(string(bytes.TrimSpace(s.row[at]))); err != nil {
		return x, s.fault(s.names[at], err.Error(), "")
	}
	text := string(bytes.TrimSpace(s.row[value]))
	if x.Value, _, err = parseAmount(text); err != nil {
		return x, s.fault(s.names[value], capcli.Quoted(text)+" "+err.Error(), "")
	}
	return x, nil
}

// noValues says why a series is empty.
func (s *sheet) noValues(zone string, zones map[string]bool) error {
	if zone == "" || len(zones) == 0 {
		return s.fault("", "expected values, found only a header", "")
	}
	names := make([]string, 0, len(zones))
	for z := range zones {
		names = append(names, z)
	}
	slices.Sort(names)
	hint := "have " + strings.Join(names[:min(len(names), 30)], ", ")
	if near := capcli.Nearest(zone, names); near != "" {
		hint = fmt.Sprintf("did you mean %s? ", near) + hint
	}
	return &capcli.InputError{File: s.name, Field: "zone", Text: fmt.Sprintf("the file has no zone %s", capcli.Quoted(zone)), Hint: hint}
}

// seriesTime reads an instant, a day, a month, or seconds since 1970.
func seriesTime(text string) (capcli.Time, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 && capcli.Time(n) <= farthest && len(text) > 4 {
		return capcli.Time(n), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly, "2006-01"} {
		if t, err := time.Parse(layout, text); err == nil && t.Unix() >= 0 && capcli.TimeOf(t) <= farthest {
			return capcli.TimeOf(t), nil
		}
	}
	return capcli.NoTime, fmt.Errorf("expected an instant such as 2027-01-01T00:00:00Z, found %s", capcli.Quoted(text))
}

// ReadSpotPrices reads steps of spot prices as CSV: at, price and what they are
// of (instance_type, gpu_model, provider, region, zone, os), in order of time.
func ReadSpotPrices(name string, r io.Reader) ([]SpotPrice, error) {
	s, err := newSheet(name, r)
	if err != nil {
		return nil, err
	}
	at, price := s.col("at", "time", "timestamp", "ds"), s.col("price", "spot_price", "y")
	if at < 0 || price < 0 {
		return nil, s.fault("", fmt.Sprintf("expected the columns at and price, found %s", capcli.Quoted(strings.Join(s.names, ","))), "at,price,instance_type,region,zone")
	}
	texts := map[string]string{}
	cell := func(names ...string) string {
		if c := s.col(names...); c >= 0 {
			return intern(texts, bytes.TrimSpace(s.row[c]))
		}
		return ""
	}
	var out []SpotPrice
	for {
		ok, err := s.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		x := SpotPrice{SKU: SKU{
			Provider: cell("provider"), Region: cell("region"), Zone: cell("zone", "availability_zone"),
			GPUModel: cell("gpu_model"), Service: cell("service"), OS: strings.ToLower(cell("os")),
		}}
		x.SKU.Family, x.SKU.Size = CutInstanceType(cell("instance_type", "sku"))
		if x.At, err = seriesTime(string(bytes.TrimSpace(s.row[at]))); err != nil {
			return nil, s.fault(s.names[at], err.Error(), "")
		}
		text := string(bytes.TrimSpace(s.row[price]))
		if x.Price, err = capcli.ParseUSD(text); err != nil || x.Price <= 0 {
			return nil, s.fault(s.names[price], fmt.Sprintf("expected a price above 0, found %s", capcli.Quoted(text)), "")
		}
		if out = append(out, x); len(out) > maxSamples {
			return nil, s.fault("", fmt.Sprintf("over %d prices", maxSamples), "")
		}
	}
	slices.SortStableFunc(out, func(a, b SpotPrice) int { return cmp.Compare(a.At, b.At) })
	return out, nil
}
