package main

import (
	"fmt"
	"strings"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/prices"
	planning "capcli/simulate/plan"
)

// keyedRates reads prices that may be named by key.
type keyedRates struct {
	prices  *prices.List        // that keys are looked up in
	assumed []prices.Assumption // the prices that were named by key
}

// notes are the prices by key for people.
func (s *keyedRates) notes() []string {
	var out []string
	for _, a := range s.assumed {
		out = append(out, "* "+a.Text)
	}
	return out
}

// keyed looks the key of a price up and remembers where it comes from.
func (s *keyedRates) keyed(flag, key string) (capcli.Rate, error) {
	rate, row, err := s.prices.RateOf(key)
	if err != nil {
		return 0, &usageError{text: flag + ": " + err.Error(), hint: "capcli prices list"}
	}
	text := fmt.Sprintf("%s $%s a GPU-hour is %s, %s", flag, rate.Decimal(), row.Key(), row.Origin())
	s.assumed = append(s.assumed, row.Assume("", flag, text))
	return rate, nil
}

// whatIf reads changes of price such as "on_demand -44% from 2026-06".
func (s *marketSketch) whatIf(texts []string) error {
	const hint = "--what-if 'on_demand -44% from 2026-06'"
	for _, text := range texts {
		words := strings.Fields(text)
		if len(words) != 4 || words[2] != "from" {
			return &usageError{text: fmt.Sprintf("--what-if wants WHAT CHANGE from DATE, found %q", text), hint: hint}
		}
		parts, err := scenarios.ParseChange(words[1])
		if err != nil {
			return &usageError{text: "--what-if: " + err.Error(), hint: hint}
		}
		fall := fallSketch{flag: "--what-if", of: words[0], from: words[3], share: -float64(parts) / 1e6}
		if fall.of == "on_demand" || fall.of == "on-demand" {
			fall.of = ""
		} else if names := s.termNames(); names[fall.of] == 0 {
			return &usageError{text: fmt.Sprintf("--what-if: there is no term %s", fall.of), hint: "name on_demand or a --term: " + hint}
		}
		s.falls = append(s.falls, fall)
	}
	return nil
}

func (s *marketSketch) termNames() map[string]int {
	names := map[string]int{}
	for _, t := range s.terms {
		names[t.term.Name]++
	}
	return names
}

// fallen gives prices with the changes of what is called so.
func (s *marketSketch) fallen(of string, p planning.Prices, c *planning.Curve) (planning.Prices, error) {
	for _, f := range s.falls {
		if f.of != of {
			continue
		}
		at, err := instantOn(f.flag, f.from, s.every, c)
		if err != nil {
			return nil, err
		}
		p = p.Fall(at, f.share)
	}
	return p, nil
}
