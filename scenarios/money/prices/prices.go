// Package prices holds dated prices of GPUs: the catalogue that comes with the program, price files
// of the same form, and imported price lists of other forms. A price is found by its key,
// provider/region/machine/term. Every price has a source and a date.
package prices

import (
	"cmp"
	_ "embed" // the catalogue is a file
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"capcli"
)

// Row is one price on one date: the hourly price of a machine on some terms, and its source.
type Row struct {
	Provider, Region, Machine string
	GPU                       string // model
	GPUs                      int    // of one machine
	Term                      string // on_demand, spot, per_use (serverless seconds), block, or a length: 3mo, 1y, 3y
	Payment                   string // upfront payment of a term with a length: none, partial or all; "" is not stated
	// Hourly is the price of the machine for an hour. An upfront payment is spread over the hours
	// of the term.
	Hourly capcli.USD
	Free   bool        // whether an Hourly of 0 is meant
	Date   capcli.Time // start of the price, or the day it was seen
	Source string      // page or data set
	File   string      // "" is the catalogue
	Line   int

	said [len(propertyColumns)]string // true, false or "" for each of propertyColumns

	key string // cached by sort
}

// Key returns the row's key: provider/region/machine/term, with the payment after the term if it is
// stated: aws/us-east-1/p5.48xlarge/1y-none.
func (r *Row) Key() string {
	if r.key != "" {
		return r.key
	}
	return strings.ToLower(r.machineKey() + "/" + r.Terms())
}

// Terms returns the term and the payment in one word.
func (r *Row) Terms() string { return joinTerms(r.Term, r.Payment) }

func joinTerms(term, payment string) string { return strings.TrimSuffix(term+"-"+payment, "-") }

func (r *Row) machineKey() string {
	return strings.ToLower(r.Provider + "/" + r.Region + "/" + r.Machine)
}

// PerGPU returns the price of one GPU of the machine for an hour, rounded half up to the millionth
// of a dollar.
func (r *Row) PerGPU() capcli.Rate {
	n := capcli.USD(max(r.GPUs, 1))
	return (r.Hourly + n/2) / n
}

// Committed reports whether the price is paid whether used or not.
func (r *Row) Committed() bool {
	return r.Term != "on_demand" && r.Term != "spot" && r.Term != "per_use"
}

// Months returns the length of a contract in months. It reports false for terms without a length,
// or with one in days or weeks.
func (r *Row) Months() (int, bool) {
	digits, unit := cutTerm(r.Term)
	n, err := strconv.Atoi(digits)
	switch {
	case err == nil && unit == "y":
		return 12 * n, true
	case err == nil && unit == "mo":
		return n, true
	}
	return 0, false
}

// List is a list of dated prices. The zero value has none.
type List struct {
	rows []Row // by key, then date

	once   sync.Once
	quotes []Quote        // of rows
	byKey  map[string]int // of quotes
	merge  sync.Once
	merged *List // result of Override over the catalogue
}

// index builds quotes and byKey from the rows, once.
func (p *List) index() {
	p.once.Do(func() {
		p.quotes = p.gather()
		p.byKey = make(map[string]int, len(p.quotes))
		for i := range p.quotes {
			p.byKey[p.quotes[i].Key()] = i
		}
	})
}

//go:embed prices.csv
var catalogueText []byte

// Catalogue returns the price list that comes with the program: public list prices, each with its
// source and date. docs/prices.md says how it is made.
var Catalogue = sync.OnceValue(func() *List {
	p, err := Parse("prices.csv", catalogueText)
	if err != nil {
		panic(err) // the file is embedded and tested
	}
	for i := range p.rows {
		p.rows[i].File = ""
	}
	return p
})

// Override returns p's prices and those prices of base whose key p does not have. Either may be
// nil.
func (p *List) Override(base *List) *List {
	if p == nil && base != nil {
		return base
	}
	if p != nil && base == Catalogue() {
		p.merge.Do(func() { p.merged = p.override(base) })
		return p.merged
	}
	return p.override(base)
}

func (p *List) override(base *List) *List {
	out := &List{}
	mine := map[string]bool{}
	if p != nil {
		for i := range p.rows {
			mine[p.rows[i].Key()] = true
		}
		out.rows = slices.Clone(p.rows)
	}
	if base != nil {
		for i := range base.rows {
			if !mine[base.rows[i].Key()] {
				out.rows = append(out.rows, base.rows[i])
			}
		}
	}
	out.sort()
	return out
}

func (p *List) sort() {
	for i := range p.rows {
		p.rows[i].key = p.rows[i].Key()
	}
	slices.SortStableFunc(p.rows, func(a, b Row) int {
		return cmp.Or(strings.Compare(a.key, b.key), cmp.Compare(a.Date, b.Date))
	})
}

// Quote is the prices of one key: all dates of one machine on the same terms.
type Quote struct {
	Row           // the latest
	History []Row // all dates, oldest first
}

// PriceAt returns the price at a time: the last one at or before it, else the first.
func (q *Quote) PriceAt(at capcli.Time) Row {
	row := q.History[0]
	for _, h := range q.History {
		if h.Date <= at {
			row = h
		}
	}
	return row
}

// Quotes returns the prices by key, in order of key.
func (p *List) Quotes() []Quote {
	p.index()
	return slices.Clone(p.quotes)
}

func (p *List) gather() []Quote {
	var out []Quote
	for i := range p.rows {
		r := p.rows[i]
		if n := len(out); n > 0 && out[n-1].Key() == r.Key() {
			out[n-1].Row = r
			out[n-1].History = append(out[n-1].History, r)
			continue
		}
		out = append(out, Quote{r, []Row{r}})
	}
	return out
}

// IsKey reports whether text is the key of a price rather than an amount.
func IsKey(text string) bool {
	amount, _ := CutUnit(strings.TrimSpace(text))
	if _, err := capcli.ParseUSD(amount); err == nil && amount != "" {
		return false
	}
	return strings.Contains(text, "/") && strings.IndexFunc(text, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }) == 0
}

// NormalTerm returns a term as keys write it: on_demand for od and on-demand, 1y for 12mo. It
// reports false if text is no term.
func NormalTerm(text string) (string, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	switch text {
	case "on_demand", "on-demand", "ondemand", "od":
		return "on_demand", true
	case "spot", "preemptible":
		return "spot", true
	case "per_use", "per-use", "serverless":
		return "per_use", true
	case "block", "capacity-block", "capacity_block":
		return "block", true
	}
	length, payment, paid := strings.Cut(text, "-")
	if paid && !slices.Contains(payments, payment) {
		return "", false
	}
	digits, unit := cutTerm(length)
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > 1200 || !slices.Contains([]string{"d", "w", "mo", "y", "yr"}, unit) {
		return "", false
	}
	switch {
	case unit == "yr":
		unit = "y"
	case unit == "mo" && n%12 == 0:
		n, unit = n/12, "y"
	}
	length = strconv.Itoa(n) + unit
	if paid {
		return length + "-" + payment, true
	}
	return length, true
}

// cutTerm splits 12mo into 12 and mo.
func cutTerm(s string) (digits, unit string) {
	unit = strings.TrimLeft(s, "0123456789")
	return s[:len(s)-len(unit)], unit
}

// payments are the shares of a contract that may be paid in advance.
var payments = []string{"none", "partial", "all"}

// CutUnit splits "2.20 USD/gpu-h" into amount and unit.
func CutUnit(s string) (amount, unit string) {
	i := strings.LastIndexAny(s, "0123456789.,") + 1
	return strings.TrimSpace(s[:i]), strings.ReplaceAll(strings.TrimSpace(s[i:]), " ", "")
}

// Origin describes the place, the date and the source of a price.
func (r *Row) Origin() string {
	where := "from the catalogue"
	if r.File != "" {
		where = "from " + r.File + ":" + strconv.Itoa(r.Line)
	}
	return fmt.Sprintf("%s, dated %s (%s)", where, r.Date.Date(), r.Source)
}
