package prices

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"capcli"
)

// Described is a price as documents show it.
type Described struct {
	Key       string      `json:"key"`
	Provider  string      `json:"provider"`
	Region    string      `json:"region"`
	Machine   string      `json:"machine"`
	GPU       string      `json:"gpu_model"`
	GPUs      int         `json:"gpus"`
	Term      string      `json:"term"`
	Payment   string      `json:"payment"`
	Hourly    capcli.USD  `json:"machine_hour_usd"`
	PerGPU    capcli.Rate `json:"gpu_hour_usd"`
	Date      string      `json:"date"`
	Dates     int         `json:"dates"`
	AgeMonths int         `json:"age_months"`
	Source    string      `json:"source"`
	File      string      `json:"file,omitempty"`
	Line      int         `json:"line,omitempty"`

	// Properties of a term say what it does: see prices --help. Nil for on demand, spot and per use.
	*capcli.Properties
}

// Describe returns the price as documents show it, with its age on the given day.
func (q *Quote) Describe(today time.Time) Described {
	out := Described{
		Key: q.Key(), Provider: q.Provider, Region: q.Region, Machine: q.Machine, GPU: q.GPU, GPUs: q.GPUs, Term: q.Term, Payment: q.Payment,
		Hourly: q.Hourly, PerGPU: q.PerGPU(), Date: q.Date.Date(), Dates: len(q.History), AgeMonths: wholeMonths(q.Date, today), Source: q.Source, File: q.File,
	}
	if q.File != "" {
		out.Line = q.Line
	}
	if q.Committed() {
		p := q.Properties()
		out.Properties = &p
	}
	return out
}

// Terms returns the term and the payment in one word.
func (d *Described) Terms() string { return joinTerms(d.Term, d.Payment) }

// wholeMonths returns the whole months from date to today, at least 0.
func wholeMonths(date capcli.Time, today time.Time) int {
	d := date.Std()
	n := 12*(today.Year()-d.Year()) + int(today.Month()) - int(d.Month())
	if today.Day() < d.Day() {
		n--
	}
	return max(0, n)
}

// Ages says on which day the ages of prices are measured, and from how many months on a document
// warns of an old price.
type Ages struct {
	Today  time.Time
	Months int
}

// Filter selects prices; "" selects all.
type Filter struct{ Provider, Region, GPU, Term string }

// Listing is a list of prices: the document of prices list.
type Listing struct {
	Schema   string      `json:"schema"`
	Currency string      `json:"currency"`
	Prices   []Described `json:"prices"`
	Notes    []string    `json:"notes,omitempty"`
}

// Choose returns the prices that the filter selects. It fails with a *capcli.RequestError that
// names the first field without a match.
func (p *List) Choose(f Filter, ages Ages) (*Listing, error) {
	found, err := f.choose(p.Quotes())
	if err != nil {
		return nil, err
	}
	out := &Listing{Schema: "capcli/prices/v1", Currency: "USD", Prices: []Described{}}
	old := 0
	for i := range found {
		d := found[i].Describe(ages.Today)
		if d.AgeMonths >= ages.Months {
			old++
		}
		out.Prices = append(out.Prices, d)
	}
	if old > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d of these %d prices are %d months old or more: ask the provider before you decide on them", old, len(found), ages.Months))
	}
	return out, nil
}

// choose returns the prices of all that the filter selects.
func (f Filter) choose(all []Quote) ([]Quote, error) {
	for _, x := range []struct {
		field, word string
		words       func(*Quote) []string
	}{
		{"provider", f.Provider, func(q *Quote) []string { return []string{q.Provider} }},
		{"region", f.Region, func(q *Quote) []string { return []string{q.Region} }},
		{"gpu", f.GPU, func(q *Quote) []string {
			model, _, _ := strings.Cut(q.GPU, "-")
			return []string{q.GPU, model}
		}},
		{"term", f.Term, func(q *Quote) []string { return []string{q.Terms(), q.Term} }},
	} {
		if x.word == "" {
			continue
		}
		word := x.word
		if x.field == "term" {
			if normal, ok := NormalTerm(word); ok {
				word = normal
			}
		}
		kept := slices.DeleteFunc(slices.Clone(all), func(q Quote) bool { return !containsFold(x.words(&q), word) })
		if len(kept) == 0 {
			have := wordsOf(all, x.words)
			text := fmt.Sprintf("no price for --%s %q%s", x.field, x.word, capcli.DidYouMean(x.word, have))
			return nil, &capcli.RequestError{Text: text, Hint: "with what is asked for beside it there is " + strings.Join(have, ", ")}
		}
		all = kept
	}
	return all, nil
}

// Comparison compares the prices of a machine on all terms: the document of prices show.
type Comparison struct {
	Schema   string        `json:"schema"`
	Currency string        `json:"currency"`
	Terms    []TermPrice   `json:"terms"`
	History  []DatedChange `json:"history"`
	Notes    []string      `json:"notes,omitempty"`
}

// DatedChange is one price of a history.
type DatedChange struct {
	Key    string      `json:"key"`
	Date   string      `json:"date"`
	Hourly capcli.USD  `json:"machine_hour_usd"`
	PerGPU capcli.Rate `json:"gpu_hour_usd"`
	Change *float64    `json:"change"` // relative to the price before
	Source string      `json:"source"`
}

// Compare compares all terms of the machine that a key names. It fails like Find.
func (p *List) Compare(key string, ages Ages) (*Comparison, error) {
	quotes, err := p.Machine(key)
	if err != nil {
		return nil, err
	}
	out := &Comparison{Schema: "capcli/price/v1", Currency: "USD", Terms: []TermPrice{}, History: []DatedChange{}}
	for _, machine := range groupByMachine(quotes) {
		for i := range machine {
			q := &machine[i]
			t := compareTerm(q, machine, ages.Today)
			if t.AgeMonths >= ages.Months {
				out.Notes = append(out.Notes, fmt.Sprintf("%s is dated %s, %d months ago: ask the provider before you decide on it", t.Key, t.Date, t.AgeMonths))
			}
			out.Terms = append(out.Terms, t)
			out.History = append(out.History, q.changes()...)
		}
	}
	return out, nil
}

// changes returns the dated prices of a quote; nil if it has only one.
func (q *Quote) changes() []DatedChange {
	if len(q.History) < 2 {
		return nil
	}
	var out []DatedChange
	for i := range q.History {
		h := &q.History[i]
		c := DatedChange{Key: h.Key(), Date: h.Date.Date(), Hourly: h.Hourly, PerGPU: h.PerGPU(), Source: h.Source}
		if i > 0 && q.History[i-1].Hourly > 0 {
			share := h.Hourly.Float()/q.History[i-1].Hourly.Float() - 1
			c.Change = &share
		}
		out = append(out, c)
	}
	return out
}

// Assumption is a figure behind a result that the user did not state as a number: a price by key,
// or a stated change of price.
type Assumption struct {
	Pool   string       `json:"pool"`
	Field  string       `json:"field"` // price, on_demand_price, price_path or fenced; for a request, its field
	Key    string       `json:"key"`   // key of the price; "" is none
	PerGPU *capcli.Rate `json:"gpu_hour_usd"`
	Date   string       `json:"date"`
	Source string       `json:"source"`
	File   string       `json:"file,omitempty"`
	Line   int          `json:"line,omitempty"`
	Text   string       `json:"text"` // for people
}

// Assume returns the assumption that the row is the price of a field. A nil row is a price stated
// in the scenario.
func (r *Row) Assume(pool, field, text string) Assumption {
	a := Assumption{Pool: pool, Field: field, Text: text, Source: "the scenario"}
	if r == nil {
		return a
	}
	per := r.PerGPU()
	a.Key, a.PerGPU, a.Date, a.Source, a.File = r.Key(), &per, r.Date.Date(), cmp.Or(r.Source, a.Source), r.File
	if r.File != "" {
		a.Line = r.Line
	}
	return a
}
