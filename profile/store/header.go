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
	deviceFrame = 'D' // devices of a segment that began without any
	tickFrame   = 'T'
	schema      = 1 // of the log and of the tables
)

// header begins a segment: all that its ticks refer to.
type header struct {
	Schema  int
	Program string // version of capcli
	Host    string
	First   profile.Instant // of its first tick
	Every   time.Duration   // between samples
	Looks   time.Duration   // between looks at processes
	Metrics []string        // by their numbers in this file
	Steps   []float64       // of the metrics
	Reasons []string        // by their numbers in this file
	Devices []profile.Device
}

// appendJSON appends a frame of some kind that holds v.
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

// grid is how a metric's figures are counted: in steps, of which per make one
// unit, or each of which is of so many units.
type grid struct{ per, of float64 }

func gridOf(step float64) grid {
	if step < 1 {
		return grid{per: math.Round(1 / step), of: 1}
	}
	return grid{per: 1, of: step}
}

// mostSteps keeps figures far from 2^63, and exact as floating point.
const mostSteps = 1 << 53

// steps counts v in steps; ok is false for what cannot be counted.
func (g grid) steps(v float64) (n int64, ok bool) {
	q := math.Round(v / g.of * g.per)
	if !(math.Abs(q) <= mostSteps) {
		return 0, false
	}
	return int64(q), true
}

func (g grid) value(n int64) float64 { return float64(n) / g.per * g.of }

var grids = func() (g [profile.NumMetrics]grid) {
	for m := range g {
		g[m] = gridOf(profile.Metrics[m].Step)
	}
	return g
}()

// pctGrid is that of processes' shares of a device.
var pctGrid = gridOf(profile.Metrics[profile.SMActive].Step)

func micros(d time.Duration) int64 { return int64(d / time.Microsecond) }

func ofMicros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// numReasons counts the reasons, which profile keeps to itself.
var numReasons = func() profile.Reason {
	r := profile.Known
	for r < 255 && profile.ReasonNamed(r.String()) == r {
		r++
	}
	return r
}()
