package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/scenarios/prices"
	planning "capcli/simulate/plan"
)

// marketSketch is a market whose instants are not yet on a curve.
type marketSketch struct {
	onDemand []priceSketch
	falls    []fallSketch
	terms    []termSketch
	every    capcli.Step
	overrun  bool
	lot      int64
	discount float64
	held     []heldSketch
	vary     float64

	keyedRates
}

// priceSketch is a rate from an instant on; "" is from the start.
type priceSketch struct {
	from string
	rate capcli.Rate
}

// fallSketch is a price that falls by a share.
type fallSketch struct {
	flag  string
	of    string // a term's name; "" is on demand
	from  string
	share float64
}

type termSketch struct {
	term   planning.Term
	prices []priceSketch
}

// parseRate reads a price of a GPU-hour: an amount, or the key of a price. 0
// must be said in words, for it is more often a slip than a gift.
func (s *keyedRates) parseRate(flag, text string) (capcli.Rate, error) {
	text = strings.TrimSpace(text)
	if text == "free" {
		return 0, nil
	}
	if prices.IsKey(text) {
		return s.keyed(flag, text)
	}
	r, err := capcli.ParseUSD(text)
	if err != nil {
		return 0, &usageError{text: fmt.Sprintf("%s: %v", flag, err), hint: "prices are dollars for one GPU for an hour, at most six places"}
	}
	if r == 0 {
		return 0, &usageError{text: fmt.Sprintf("%s: a price of 0 must be meant: write free", flag)}
	}
	return r, nil
}

// parsePrices reads 1 or 1,2026-06-01=0.56.
func (s *marketSketch) parsePrices(flag string, parts []string) ([]priceSketch, error) {
	var out []priceSketch
	for i, part := range parts {
		from, price, later := strings.Cut(part, "=")
		if !later {
			from, price = "", part
		}
		if later != (i > 0) {
			return nil, &usageError{text: fmt.Sprintf("%s wants a price, and later ones with their dates, found %q", flag, strings.Join(parts, ",")), hint: flag + " 1,2026-06-01=0.56"}
		}
		r, err := s.parseRate(flag, price)
		if err != nil {
			return nil, err
		}
		out = append(out, priceSketch{strings.TrimSpace(from), r})
	}
	return out, nil
}

func parseFall(text string) (fallSketch, error) {
	from, share, ok := strings.Cut(text, "=")
	if !ok {
		return fallSketch{}, &usageError{text: fmt.Sprintf("--on-demand-fall wants DATE=SHARE, found %q", text), hint: "--on-demand-fall 2026-06=44%"}
	}
	v, err := parseShare("--on-demand-fall", share)
	if err != nil {
		return fallSketch{}, err
	}
	if v > 1 {
		return fallSketch{}, &usageError{text: "--on-demand-fall: a price cannot fall by more than 100%, found " + share}
	}
	return fallSketch{flag: "--on-demand-fall", from: strings.TrimSpace(from), share: v}, nil
}

// parseTerms reads all terms, each of a name of its own.
func (s *marketSketch) parseTerms(texts []string) error {
	for _, text := range texts {
		t, err := s.parseTerm(text)
		if err != nil {
			return err
		}
		for _, other := range s.terms {
			if other.term.Name == t.term.Name {
				return &usageError{text: fmt.Sprintf("two terms are called %s", t.term.Name), hint: "name them: --term none=12mo@0.63 --term all=12mo@0.58,upfront=all"}
			}
		}
		s.terms = append(s.terms, t)
	}
	return nil
}

// parseTerm reads 12mo=0.61 or all=12mo@0.58, and what comes after commas:
// upfront=all, max=64, and prices from a date on.
func (s *marketSketch) parseTerm(text string) (termSketch, error) {
	const hint = "--term 12mo=0.61, or with a name --term all=12mo@0.58,upfront=all"
	parts := strings.Split(text, ",")
	left, right, ok := strings.Cut(parts[0], "=")
	left, right = strings.TrimSpace(left), strings.TrimSpace(right)
	if !ok || left == "" {
		return termSketch{}, &usageError{text: fmt.Sprintf("--term wants LENGTH=PRICE or NAME=LENGTH@PRICE, found %q", text), hint: hint}
	}
	t := termSketch{term: planning.Term{Name: left}}
	length, price := left, right
	if before, after, named := strings.Cut(right, "@"); named {
		length, price = strings.TrimSpace(before), after
	}
	var err error
	if t.term.Length, err = capcli.ParseStep(length); err != nil {
		return t, &usageError{text: fmt.Sprintf("--term %s: %q is no length; write 36h, 2w, 12mo or 3y", text, length), hint: hint}
	}
	prices := []string{price}
	for _, part := range parts[1:] {
		key, value, _ := strings.Cut(part, "=")
		switch strings.TrimSpace(key) {
		case "upfront":
			t.term.Upfront, err = parseUpfront(strings.TrimSpace(value))
		case "max":
			t.term.Max, err = parseMilli("--term "+left+",max", strings.TrimSpace(value))
		default:
			prices = append(prices, part)
		}
		if err != nil {
			return t, err
		}
	}
	t.prices, err = s.parsePrices("--term "+left, prices)
	return t, err
}

func parseUpfront(text string) (int64, error) {
	switch text {
	case "none":
		return 0, nil
	case "partial", "half":
		return planning.Whole / 2, nil
	case "all":
		return planning.Whole, nil
	}
	v, err := parseShare("upfront", text)
	if err != nil || v > 1 {
		return 0, &usageError{text: fmt.Sprintf("upfront wants none, partial (half), all or a share up to 100%%, found %q", text)}
	}
	return int64(math.Round(v * planning.Whole)), nil
}

// market puts the sketch on a curve.
func (s *marketSketch) market(c *planning.Curve) (*planning.Market, error) {
	m := &planning.Market{Every: s.every, Overrun: s.overrun, Lot: s.lot, Discount: s.discount}
	var err error
	if m.OnDemand, err = s.onCurve("--on-demand", s.onDemand, c); err != nil {
		return nil, err
	}
	if m.OnDemand, err = s.fallen("", m.OnDemand, c); err != nil {
		return nil, err
	}
	for _, t := range s.terms {
		term := t.term
		if term.Rate, err = s.onCurve("--term "+term.Name, t.prices, c); err != nil {
			return nil, err
		}
		if term.Rate, err = s.fallen(term.Name, term.Rate, c); err != nil {
			return nil, err
		}
		m.Terms = append(m.Terms, term)
	}
	return m, nil
}

func (s *marketSketch) onCurve(flag string, prices []priceSketch, c *planning.Curve) (planning.Prices, error) {
	out := planning.Flat(prices[0].rate)
	for _, p := range prices[1:] {
		at, err := instantOn(flag, p.from, s.every, c)
		if err != nil {
			return nil, err
		}
		out = append(out, planning.Price{From: at, Rate: p.rate})
	}
	slices.SortStableFunc(out, func(a, b planning.Price) int { return cmp.Compare(a.From, b.From) })
	return out, nil
}

// instantOn is a date or, after the start of the curve, a length of time; on a curve
// without dates also a whole number, of periods in which something may be bought.
func instantOn(flag, text string, every capcli.Step, c *planning.Curve) (capcli.Seconds, error) {
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		if c.Dated() {
			return 0, &usageError{text: fmt.Sprintf("%s: expected a date, or a length of time with its unit after the start of the curve, found %q", flag, text), hint: "write 2026-06-01, 2026-06, or 6mo after the start"}
		}
		at := every.Length() * capcli.Seconds(n)
		if at > c.Len()+100*366*capcli.Day {
			return 0, &usageError{text: fmt.Sprintf("%s: period %s of %s is over a hundred years after the curve", flag, text, every)}
		}
		return at, nil
	}
	if step, err := capcli.ParseStep(text); err == nil {
		return c.After(0, step), nil
	}
	if !c.Dated() {
		return 0, &usageError{text: fmt.Sprintf("%s: the curve has no dates: expected a time after its start, found %q", flag, text), hint: "write 6mo, 720h, or 24 for the start of period 24 (--every), from 0"}
	}
	full := text
	if len(text) == len("2026-06") {
		full += "-01"
	}
	at, err := capcli.ParseTime(full, nil, false)
	if err != nil {
		return 0, &usageError{text: flag + " " + err.Error(), hint: "write 2026-06-01, 2026-06, or 6mo after the start"}
	}
	return capcli.Seconds(at - c.Start), nil
}
