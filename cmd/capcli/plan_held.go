package main

import (
	"fmt"
	"strings"

	"capcli"
	planning "capcli/simulate/plan"
)

// heldSketch is GPUs that are committed already, whose instants are not yet on a
// curve.
type heldSketch struct {
	text        string
	milli       int64
	from, until string
}

// parseHeld reads 64@2026-01-01..2027-01-01, with either end left out.
func parseHeld(text string) (heldSketch, error) {
	const hint = "--held 64@2026-01-01..2027-01-01"
	number, span, ok := strings.Cut(text, "@")
	if !ok {
		span = ".."
	}
	from, until, two := strings.Cut(span, "..")
	if !two {
		return heldSketch{}, &usageError{text: fmt.Sprintf("--held wants GPUS@FROM..UNTIL, found %q", text), hint: hint}
	}
	milli, err := parseMilli("--held", strings.TrimSpace(number))
	if err != nil {
		return heldSketch{}, err
	}
	return heldSketch{text, milli, strings.TrimSpace(from), strings.TrimSpace(until)}, nil
}

// heldOn puts what is held on a curve. What ended before the curve begins is a
// slip, not a commitment.
func heldOn(list []heldSketch, every capcli.Step, c *planning.Curve) ([]planning.Held, error) {
	var out []planning.Held
	for _, h := range list {
		x := planning.Held{From: 0, To: c.Len(), Milli: h.milli}
		var err error
		if h.from != "" {
			if x.From, err = instantOn("--held", h.from, every, c); err != nil {
				return nil, err
			}
		}
		if h.until != "" {
			if x.To, err = instantOn("--held", h.until, every, c); err != nil {
				return nil, err
			}
		}
		switch {
		case x.To <= x.From:
			return nil, &usageError{text: fmt.Sprintf("--held %s ends before it begins", h.text)}
		case x.To <= 0:
			return nil, &usageError{text: fmt.Sprintf("--held %s has expired before the demand begins", h.text), hint: "leave it out"}
		}
		out = append(out, x)
	}
	return out, nil
}

// heldJSON is one commitment that is there already.
type heldJSON struct {
	Start any     `json:"start"`
	End   any     `json:"end"`
	GPUs  float64 `json:"gpus"`
}

// hold takes what is held off the demand.
func (r *curvePlan) hold(list []heldSketch) error {
	held, err := heldOn(list, r.market.Every, r.demand.curve)
	if err != nil {
		return err
	}
	r.held, r.whole = held, r.demand.curve
	if len(held) == 0 {
		return nil
	}
	var served capcli.GPUTime
	if r.demand.curve, served, err = r.whole.Less(held); err != nil {
		return err
	}
	r.served = served
	return nil
}
