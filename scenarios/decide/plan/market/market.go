// Package market parses what can be bought from text, and writes it as a document.
//
// A Request holds an on-demand price, terms, changes of price and held GPUs, each as a person
// writes it: "12mo=0.61", "2026-06=44%", "64@2026-01-01..2027-01-01". Parse checks as much as it
// can without a demand and returns a Sketch. The Sketch is placed on a demand curve, from whose
// start instants are counted. The resulting Frame writes instants, prices and purchases in the form
// of all documents of plans.
package market

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/money/prices"
)

// Request is what can be bought, as text. Prices are dollars for a GPU-hour, or the key of a price.
type Request struct {
	OnDemand string   // 1, or with later prices 1,2026-06=0.56
	Falls    []string // assumed falls of the on-demand price: 2026-06=44%
	Changes  []string // assumed changes of a price: on_demand -44% from 2026-06
	Terms    []string // 12mo=0.61, or NAME=12mo@0.58,upfront=all,max=64,lead=5mo,on=2026-03-01,2026-06=0.50
	Every    string   // interval between times of purchase; "" is a month
	After    string   // what becomes of a purchase that lasts beyond the end of the demand: prorated (""), tail=64, whole or fitting
	Overrun  bool     // whole, unless After says another
	Lot      string   // GPUs bought together; "" is one
	Discount string   // cost of capital a year, 10%; "" is none
	Held     []string // GPUs committed already, 64@2026-01-01..2027-01-01; they serve the demand first

	Prices *prices.List // the list in which keys are looked up
}

// Sketch is a market that is not yet placed on a curve.
type Sketch struct {
	Keys
	Every capcli.Step

	onDemand []datedRate
	changes  []change
	terms    []term
	after    plan.After
	lot      int64
	discount float64
	held     []holding
}

// datedRate is a rate from a date on; "" is from the start.
type datedRate struct {
	from string
	rate capcli.Rate
}

// change is a fall of a price by a share; negative is a rise.
type change struct {
	field string // of the request
	term  string // its name; "" is on demand
	from  string
	share float64
}

type term struct {
	plan.Term
	rates []datedRate
	on    []string // the only days of purchase
}

// Parse parses the request. The error is a *capcli.RequestError.
func (r *Request) Parse() (*Sketch, error) {
	s := &Sketch{Keys: Keys{Prices: r.Prices}}
	if r.OnDemand == "" {
		return nil, &capcli.RequestError{Text: "plan wants the price of a GPU-hour on demand: --on-demand is missing", Hint: "--on-demand 2.10"}
	}
	var err error
	if s.onDemand, err = s.datedRates("on-demand", strings.Split(r.OnDemand, ",")); err != nil {
		return nil, err
	}
	for _, text := range r.Falls {
		fall, err := parseFall(text)
		if err != nil {
			return nil, err
		}
		s.changes = append(s.changes, fall)
	}
	if err := s.parseTerms(r.Terms); err != nil {
		return nil, err
	}
	if err := s.parseChanges(r.Changes); err != nil {
		return nil, err
	}
	if err := s.parseNumbers(r); err != nil {
		return nil, err
	}
	s.held, err = parseHoldings(r.Held)
	return s, err
}

// parseNumbers parses the interval of purchases, what follows the demand, the lot and the discount.
func (s *Sketch) parseNumbers(r *Request) error {
	var err error
	if s.Every, err = capcli.ParseStep(cmp.Or(r.Every, "1mo")); err != nil {
		return refuse("every", ": "+err.Error(), "")
	}
	if s.after, err = ParseAfter(r.After, r.Overrun); err != nil {
		return err
	}
	if s.lot, err = parseMilli("lot", cmp.Or(r.Lot, "1")); err != nil {
		return err
	}
	if s.lot == 0 {
		return refuse("lot", " wants a number of GPUs over 0, found "+r.Lot, "")
	}
	if r.Discount != "" {
		s.discount, err = ParseShare("discount", r.Discount)
	}
	return err
}

// datedRates parses 1 or 1,2026-06-01=0.56.
func (s *Sketch) datedRates(where string, parts []string) ([]datedRate, error) {
	var out []datedRate
	for i, part := range parts {
		from, price, later := strings.Cut(part, "=")
		if !later {
			from, price = "", part
		}
		if later != (i > 0) {
			return nil, refuse(where, fmt.Sprintf(" wants a price, and later ones with their dates, found %q", strings.Join(parts, ",")), "--"+where+" 1,2026-06-01=0.56")
		}
		r, err := s.Rate(where, price)
		if err != nil {
			return nil, err
		}
		out = append(out, datedRate{strings.TrimSpace(from), r})
	}
	return out, nil
}

func parseFall(text string) (change, error) {
	from, share, ok := strings.Cut(text, "=")
	if !ok {
		return change{}, refuse("on-demand-fall", fmt.Sprintf(" wants DATE=SHARE, found %q", text), "--on-demand-fall 2026-06=44%")
	}
	v, err := ParseShare("on-demand-fall", share)
	if err != nil {
		return change{}, err
	}
	if v > 1 {
		return change{}, refuse("on-demand-fall", ": a price cannot fall by more than 100%, found "+share, "")
	}
	return change{field: "on-demand-fall", from: strings.TrimSpace(from), share: v}, nil
}

// parseChanges parses changes of price such as "on_demand -44% from 2026-06".
func (s *Sketch) parseChanges(texts []string) error {
	const hint = "--what-if 'on_demand -44% from 2026-06'"
	for _, text := range texts {
		words := strings.Fields(text)
		if len(words) != 4 || words[2] != "from" {
			return refuse("what-if", fmt.Sprintf(" wants WHAT CHANGE from DATE, found %q", text), hint)
		}
		parts, err := scenarios.ParseChange(words[1])
		if err != nil {
			return refuse("what-if", ": "+err.Error(), hint)
		}
		c := change{field: "what-if", term: words[0], from: words[3], share: -float64(parts) / 1e6}
		if c.term == "on_demand" || c.term == "on-demand" {
			c.term = ""
		} else if !s.hasTerm(c.term) {
			return refuse("what-if", ": there is no term "+c.term, "name on_demand or a --term: "+hint)
		}
		s.changes = append(s.changes, c)
	}
	return nil
}

func (s *Sketch) hasTerm(name string) bool {
	return slices.ContainsFunc(s.terms, func(t term) bool { return t.Name == name })
}

// parseTerms parses all terms; their names must differ.
func (s *Sketch) parseTerms(texts []string) error {
	for _, text := range texts {
		t, err := s.parseTerm(text)
		if err != nil {
			return err
		}
		if s.hasTerm(t.Name) {
			return refuse("", "two terms are called "+t.Name, "name them: --term none=12mo@0.63 --term all=12mo@0.58,upfront=all")
		}
		s.terms = append(s.terms, t)
	}
	return nil
}

// parseTerm parses 12mo=0.61 or all=12mo@0.58, and the settings after commas: upfront=all, max=64,
// lead=5mo (from the order to the start), on=2026-03-01 (the only days of purchase, each with its
// own on), and prices from a date on.
func (s *Sketch) parseTerm(text string) (term, error) {
	const hint = "--term 12mo=0.61, or with a name --term all=12mo@0.58,upfront=all"
	parts := strings.Split(text, ",")
	left, right, ok := strings.Cut(parts[0], "=")
	left, right = strings.TrimSpace(left), strings.TrimSpace(right)
	if !ok || left == "" {
		return term{}, refuse("term", fmt.Sprintf(" wants LENGTH=PRICE or NAME=LENGTH@PRICE, found %q", text), hint)
	}
	t := term{Term: plan.Term{Name: left}}
	length, price := left, right
	if before, after, named := strings.Cut(right, "@"); named {
		length, price = strings.TrimSpace(before), after
	}
	var err error
	if t.Length, err = capcli.ParseStep(length); err != nil {
		return t, refuse("term "+text, fmt.Sprintf(": %q is no length; write 36h, 2w, 12mo or 3y", length), hint)
	}
	prices := []string{price}
	for _, part := range parts[1:] {
		key, value, _ := strings.Cut(part, "=")
		switch strings.TrimSpace(key) {
		case "upfront":
			t.Upfront, err = parseUpfront(strings.TrimSpace(value))
		case "max":
			t.Max, err = parseMilli("term "+left+",max", strings.TrimSpace(value))
		case "lead":
			if t.Lead, err = capcli.ParseStep(value); err != nil {
				err = refuse("term "+left, fmt.Sprintf(": %q is no length of time from the order to the start", value), "--term 1y=2.20,lead=5mo")
			}
		case "on":
			t.on = append(t.on, strings.TrimSpace(value))
		default:
			prices = append(prices, part)
		}
		if err != nil {
			return t, err
		}
	}
	t.rates, err = s.datedRates("term "+left, prices)
	return t, err
}

func parseUpfront(text string) (int64, error) {
	switch text {
	case "none":
		return 0, nil
	case "partial", "half":
		return plan.Whole / 2, nil
	case "all":
		return plan.Whole, nil
	}
	v, err := ParseShare("", text)
	if err != nil || v > 1 {
		return 0, refuse("", fmt.Sprintf("upfront wants none, partial (half), all or a share up to 100%%, found %q", text), "")
	}
	return int64(math.Round(v * plan.Whole)), nil
}

// Frame places the sketch on a curve.
func (s *Sketch) Frame(c *plan.Curve) (f Frame, err error) {
	f.Curve = c
	if f.Market, err = s.market(c); err != nil {
		return f, err
	}
	if f.Held, err = s.resolveHeld(c); err != nil {
		return f, err
	}
	f.Market = f.Market.AfterHeld(f.Held)
	return f, nil
}

// ParseAfter parses what becomes of purchases that last beyond the end of the demand; "" is
// prorated, or whole with overrun. The error is a *capcli.RequestError.
func ParseAfter(text string, overrun bool) (plan.After, error) {
	switch {
	case text == "" && overrun:
		text = "whole"
	case text == "":
		return plan.After{}, nil
	}
	a, err := plan.ParseAfter(text)
	if err != nil {
		return a, refuse("after", ": "+err.Error(), "--buy after=tail=64")
	}
	return a, nil
}

func (s *Sketch) market(c *plan.Curve) (*plan.Market, error) {
	m := &plan.Market{Every: s.Every, After: s.after, Lot: s.lot, Discount: s.discount}
	var err error
	if m.OnDemand, err = s.prices("on-demand", s.onDemand, c); err != nil {
		return nil, err
	}
	if m.OnDemand, err = s.applyChanges("", m.OnDemand, c); err != nil {
		return nil, err
	}
	for _, t := range s.terms {
		if t.Rate, err = s.prices("term "+t.Name, t.rates, c); err != nil {
			return nil, err
		}
		if t.Rate, err = s.applyChanges(t.Name, t.Rate, c); err != nil {
			return nil, err
		}
		for _, text := range t.on {
			at, err := secondsAt("term "+t.Name+",on", text, s.Every, c)
			if err != nil {
				return nil, err
			}
			t.On = append(t.On, at)
		}
		m.Terms = append(m.Terms, t.Term)
	}
	return m, nil
}

// prices places rates on a curve, in order of time.
func (s *Sketch) prices(where string, rates []datedRate, c *plan.Curve) (plan.Prices, error) {
	out := plan.Flat(rates[0].rate)
	for _, p := range rates[1:] {
		at, err := secondsAt(where, p.from, s.Every, c)
		if err != nil {
			return nil, err
		}
		out = append(out, plan.Price{From: at, Rate: p.rate})
	}
	slices.SortStableFunc(out, func(a, b plan.Price) int { return cmp.Compare(a.From, b.From) })
	return out, nil
}

// applyChanges returns prices with the changes of the named term; "" is on demand.
func (s *Sketch) applyChanges(name string, p plan.Prices, c *plan.Curve) (plan.Prices, error) {
	for _, x := range s.changes {
		if x.term != name {
			continue
		}
		at, err := secondsAt(x.field, x.from, s.Every, c)
		if err != nil {
			return nil, err
		}
		p = p.Fall(at, x.share)
	}
	return p, nil
}

// secondsAt parses an instant of a curve, in seconds from its start. It is a date, or a duration
// after the start. On a curve without dates a whole number is also allowed: the number of a
// purchase period, from 0.
func secondsAt(where, text string, every capcli.Step, c *plan.Curve) (capcli.Seconds, error) {
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		if c.Dated() {
			return 0, refuse(where, fmt.Sprintf(": expected a date, or a length of time with its unit after the start of the curve, found %q", text), "write 2026-06-01, 2026-06, or 6mo after the start")
		}
		at := every.Length() * capcli.Seconds(n)
		if at > c.Len()+Century {
			return 0, refuse(where, fmt.Sprintf(": period %s of %s is over a hundred years after the curve", text, every), "")
		}
		return at, nil
	}
	if step, err := capcli.ParseStep(text); err == nil {
		return c.AddSteps(0, step, 1), nil
	}
	if !c.Dated() {
		return 0, refuse(where, fmt.Sprintf(": the curve has no dates: expected a time after its start, found %q", text), "write 6mo, 720h, or 24 for the start of period 24 (--every), from 0")
	}
	full := text
	if len(text) == len("2026-06") {
		full += "-01"
	}
	at, err := capcli.ParseTime(full, nil, false)
	if err != nil {
		return 0, refuse(where, " "+err.Error(), "write 2026-06-01, 2026-06, or 6mo after the start")
	}
	return capcli.Seconds(at - c.Start), nil
}

// Century is how far beyond a curve an instant may lie, and how far a commitment without an end
// lasts.
const Century = 100 * 366 * capcli.Day
