package roofline

import (
	"fmt"
	"math"

	"capcli"
	"capcli/simulate/serving"
)

// Calibration corrects a time by measurements of a whole server: time · Factor + C0 + Seq · sequences. The
// zero value changes nothing.
type Calibration struct {
	Factor float64 `json:"factor,omitempty"` // on the whole time; 0 is 1
	C0     int64   `json:"c0,omitempty"`     // picoseconds of an iteration
	Seq    int64   `json:"seq,omitempty"`    // picoseconds of a sequence
}

// Check returns a *capcli.RequestError for a wrong number.
func (c Calibration) Check() error {
	if c.Factor < 0 || c.Factor > 100 || math.IsNaN(c.Factor) {
		return &capcli.RequestError{Field: "calibration", Text: fmt.Sprintf("wants a factor above 0 and at most 100, found %v", c.Factor)}
	}
	if c.C0 < 0 || c.Seq < 0 {
		return &capcli.RequestError{Field: "calibration", Text: "wants c0 and seq that are not negative"}
	}
	return nil
}

// Apply returns the corrected time.
func (c Calibration) Apply(t serving.Time) serving.Time {
	f := c.Factor
	if f == 0 {
		f = 1
	}
	t = Scale(t, f, f)
	t.C0 += c.C0
	t.Seq += c.Seq
	return t
}

func (c Calibration) apply(e *Estimate) error {
	if c == (Calibration{}) {
		return nil
	}
	if err := c.Check(); err != nil {
		return err
	}
	e.Time = c.Apply(e.Time)
	e.Origin.Stated = append(e.Origin.Stated, "calibration: "+c.String())
	return nil
}

// String writes the calibration as a field of a service.
func (c Calibration) String() string {
	f := c.Factor
	if f == 0 {
		f = 1
	}
	return fmt.Sprintf("{factor: %.4g, c0: %.4gus, seq: %.4gus}", f, float64(c.C0)/1e6, float64(c.Seq)/1e6)
}
