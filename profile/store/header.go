package store

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"capcli/profile"
)

const (
	headerFrame = 'H'
	deviceFrame = 'D' // devices of a segment whose header has none
	tickFrame   = 'T'
	schema      = 1 // version of the log format and of the tables
)

// header is the first frame of a segment: all that its ticks refer to.
type header struct {
	Schema  int
	Program string // version of capcli
	Host    string
	First   profile.Instant // instant of the first tick
	Every   time.Duration   // interval between samples
	Looks   time.Duration   // interval between lists of processes
	Metrics []string        // names, in order of their numbers in this file
	Steps   []float64       // size of a step of each metric, in its unit
	Reasons []string        // words, in order of their numbers in this file
	Devices []profile.Device
	// The metrics of the box and of jobs' processes, as Metrics and Steps; a header of an earlier
	// version has none.
	HostMetrics, GroupMetrics []string
	HostSteps, GroupSteps     []float64
}

// newHeader returns the header of a segment of this version, without what Options and ticks say.
func newHeader() header {
	h := header{Schema: schema, Metrics: metricNames, HostMetrics: hostNames, GroupMetrics: groupNames}
	for _, d := range profile.Metrics {
		h.Steps = append(h.Steps, d.Step)
	}
	for _, d := range profile.HostMetrics {
		h.HostSteps = append(h.HostSteps, d.Step)
	}
	for _, d := range profile.GroupMetrics {
		h.GroupSteps = append(h.GroupSteps, d.Step)
	}
	for r := range numReasons {
		h.Reasons = append(h.Reasons, r.String())
	}
	return h
}

// appendJSON appends a frame of the given kind with v as JSON.
func appendJSON(b []byte, kind byte, v any) ([]byte, error) {
	from := len(b)
	b = append(beginFrame(b), kind)
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encoding the header of a segment: %w", err)
	}
	b = append(b, text...)
	endFrame(b, from)
	return b, nil
}

// grid is the resolution of a metric: n steps are the value n / per * of. A step below one unit
// is 1/per units, and of is 1; any other step is of units, and per is 1.
type grid struct{ per, of float64 }

func gridOf(step float64) grid {
	if step < 1 {
		return grid{per: math.Round(1 / step), of: 1}
	}
	return grid{per: 1, of: step}
}

// mostSteps is the largest number of steps: far from 2^63, and exact in floating point.
const mostSteps = 1 << 53

// steps returns v in whole steps, rounded; ok is false for NaN and for values over mostSteps.
func (g grid) steps(v float64) (n int64, ok bool) {
	q := math.Round(v / g.of * g.per)
	if !(math.Abs(q) <= mostSteps) {
		return 0, false
	}
	return int64(q), true
}

func (g grid) value(n int64) float64 { return float64(n) / g.per * g.of }

// Grids of the metrics of devices, of the box and of jobs' processes.
var (
	grids      [profile.NumMetrics]grid
	hostGrids  [profile.NumHostMetrics]grid
	groupGrids [profile.NumGroupMetrics]grid
)

func init() {
	for m := range grids {
		grids[m] = gridOf(profile.Metrics[m].Step)
	}
	for m := range hostGrids {
		hostGrids[m] = gridOf(profile.HostMetrics[m].Step)
	}
	for m := range groupGrids {
		groupGrids[m] = gridOf(profile.GroupMetrics[m].Step)
	}
}

// pctGrid is the grid of the share of a device that a process uses.
var pctGrid = gridOf(profile.Metrics[profile.SMActive].Step)

func micros(d time.Duration) int64 { return int64(d / time.Microsecond) }

func ofMicros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// numReasons is the number of reasons, which package profile does not export.
var numReasons = func() profile.Reason {
	r := profile.Known
	for r < 255 && profile.ReasonNamed(r.String()) == r {
		r++
	}
	return r
}()
