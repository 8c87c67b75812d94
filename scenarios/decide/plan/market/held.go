package market

import (
	"fmt"
	"strings"

	"capcli"
	"capcli/scenarios/decide/plan"
)

// holding is GPUs that are committed already, as text that is not yet placed on a curve.
type holding struct {
	text        string
	milli       int64
	from, until string
}

// parseHoldings parses held GPUs: 64@2026-01-01..2027-01-01, where either end may be left out. The
// error is a *capcli.RequestError.
func parseHoldings(texts []string) ([]holding, error) {
	var out []holding
	for _, text := range texts {
		h, err := parseHolding(text)
		if err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, nil
}

func parseHolding(text string) (holding, error) {
	number, span, ok := strings.Cut(text, "@")
	if !ok {
		span = ".."
	}
	from, until, two := strings.Cut(span, "..")
	if !two {
		return holding{}, refuse("held", fmt.Sprintf(" wants GPUS@FROM..UNTIL, found %q", text), "--held 64@2026-01-01..2027-01-01")
	}
	milli, err := parseMilli("held", strings.TrimSpace(number))
	return holding{text, milli, strings.TrimSpace(from), strings.TrimSpace(until)}, err
}

// span returns the start and end of h in seconds from the start of a curve. They default to 0 and
// end.
func (h *holding) span(every capcli.Step, c *plan.Curve, end capcli.Seconds) (from, to capcli.Seconds, err error) {
	to = end
	if h.from != "" {
		if from, err = secondsAt("held", h.from, every, c); err != nil {
			return 0, 0, err
		}
	}
	if h.until != "" {
		to, err = secondsAt("held", h.until, every, c)
	}
	return from, to, err
}

// resolveHeld places the held GPUs on a curve. It refuses what ended before the curve starts, for
// that is a mistake and not a commitment.
func (s *Sketch) resolveHeld(c *plan.Curve) ([]plan.Held, error) {
	var out []plan.Held
	end := c.Len()
	if s.after.Rule == plan.Tail {
		end += Century
	}
	for i := range s.held {
		h := &s.held[i]
		from, to, err := h.span(s.Every, c, end)
		switch {
		case err != nil:
			return nil, err
		case to <= from:
			return nil, refuse("held "+h.text, " ends before it begins", "")
		case to <= 0:
			return nil, refuse("held "+h.text, " has expired before the demand begins", "leave it out")
		}
		out = append(out, plan.Held{From: from, To: to, Milli: h.milli})
	}
	return out, nil
}

// Contract is an existing commitment; From and To count from the start of a curve.
type Contract struct {
	Name     string
	From, To capcli.Seconds
	Milli    int64       // GPUs in thousandths
	Rate     capcli.Rate // price of a GPU-hour, paid whether used or not
	Priced   bool        // whether Rate is known
}

// Contracts parses held GPUs with their price, 64@2026-01-01..2027-01-01=2.20, on a curve. A
// contract without an end lasts until a Century after the curve.
func (s *Sketch) Contracts(texts []string, c *plan.Curve) ([]Contract, error) {
	var out []Contract
	for _, text := range texts {
		x := Contract{Name: text}
		span := text
		if i := strings.LastIndexByte(text, '='); i >= 0 {
			rate, err := s.Rate("held", text[i+1:])
			if err != nil {
				return nil, err
			}
			x.Rate, x.Priced, span = rate, true, text[:i]
		}
		h, err := parseHolding(span)
		if err != nil {
			return nil, err
		}
		x.Milli = h.milli
		if x.From, x.To, err = h.span(s.Every, c, c.Len()+Century); err != nil {
			return nil, err
		}
		if x.To <= x.From || x.Milli <= 0 {
			return nil, refuse("held "+text, ": expected some GPUs from one instant to a later one", "--held 64@2026-01-01..2027-01-01=2.20")
		}
		out = append(out, x)
	}
	return out, nil
}
