package scenarios

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

// PriceRow is one price on one date: what a machine costs for an hour on some
// terms, and who says so.
type PriceRow struct {
	Provider, Region, Machine string
	GPU                       string // model
	GPUs                      int    // of one machine
	Term                      string // on_demand, spot, block, or a length: 3mo, 1y, 3y
	Payment                   string // of a length: none, partial or all is paid up front; "" is not said
	// Hourly is what the machine costs for an hour. What is paid up front is
	// spread over the hours of the term.
	Hourly capcli.USD
	Free   bool        // Hourly is 0 and meant to be
	Date   capcli.Time // the price holds from then on, or was seen then
	Source string      // page or data set
	File   string      // "" is the catalogue that comes with the program
	Line   int

	key string // Key, once sorted
}

// Key is the row's name: provider/region/machine/term, with the payment after
// the term where it is said: aws/us-east-1/p5.48xlarge/1y-none.
func (r *PriceRow) Key() string {
	if r.key != "" {
		return r.key
	}
	return strings.ToLower(r.machineKey() + "/" + r.Terms())
}

// Terms are the term and the payment in one word.
func (r *PriceRow) Terms() string {
	if r.Payment == "" {
		return r.Term
	}
	return r.Term + "-" + r.Payment
}

func (r *PriceRow) machineKey() string {
	return strings.ToLower(r.Provider + "/" + r.Region + "/" + r.Machine)
}

// PerGPU is what one GPU of the machine costs for an hour, rounded half up to
// the millionth of a dollar.
func (r *PriceRow) PerGPU() capcli.Rate {
	n := capcli.USD(max(r.GPUs, 1))
	return (r.Hourly + n/2) / n
}

// Committed tells whether the terms are paid for whether used or not.
func (r *PriceRow) Committed() bool { return r.Term != "on_demand" && r.Term != "spot" }

// Months is the length of a contract in months, false for terms without one or
// of days.
func (r *PriceRow) Months() (int, bool) {
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

// Prices is a list of dated prices. The zero value has none.
type Prices struct {
	rows []PriceRow // by key, then date

	once   sync.Once
	quotes []Quote        // of rows
	byKey  map[string]int // of quotes
	merge  sync.Once
	merged *Prices // over the catalogue
}

// index puts the prices together by key, once.
func (p *Prices) index() {
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

// Catalogue is the price list that comes with the program: public list prices,
// each with its source and date. docs/prices.md says how it is made.
var Catalogue = sync.OnceValue(func() *Prices {
	p, err := ParsePrices("prices.csv", catalogueText)
	if err != nil {
		panic(err) // the file is in the program, and tested
	}
	for i := range p.rows {
		p.rows[i].File = ""
	}
	return p
})

// Rows are all prices, in order of key and, of one key, of date.
func (p *Prices) Rows() []PriceRow { return slices.Clone(p.rows) }

// Over puts p's prices before those of base: a key of p takes all dates of the
// same key of base away. Either may be nil.
func (p *Prices) Over(base *Prices) *Prices {
	if p == nil && base != nil {
		return base
	}
	if p != nil && base == Catalogue() {
		p.merge.Do(func() { p.merged = p.over(base) })
		return p.merged
	}
	return p.over(base)
}

func (p *Prices) over(base *Prices) *Prices {
	out := &Prices{}
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

func (p *Prices) sort() {
	for i := range p.rows {
		p.rows[i].key = p.rows[i].Key()
	}
	slices.SortStableFunc(p.rows, func(a, b PriceRow) int {
		return cmp.Or(strings.Compare(a.key, b.key), cmp.Compare(a.Date, b.Date))
	})
}

// Quote is what a key stands for: all dates of one machine on the same terms.
type Quote struct {
	PriceRow            // the latest
	History  []PriceRow // all, the oldest first
}

// At is the price at an instant: the last one at or before it, or the first of
// all where none was known so early.
func (q *Quote) At(at capcli.Time) PriceRow {
	row := q.History[0]
	for _, h := range q.History {
		if h.Date <= at {
			row = h
		}
	}
	return row
}

// Quotes are the prices by key, in order of key.
func (p *Prices) Quotes() []Quote {
	p.index()
	return slices.Clone(p.quotes)
}

func (p *Prices) gather() []Quote {
	var out []Quote
	for i := range p.rows {
		r := p.rows[i]
		if n := len(out); n > 0 && out[n-1].Key() == r.Key() {
			out[n-1].PriceRow = r
			out[n-1].History = append(out[n-1].History, r)
			continue
		}
		out = append(out, Quote{r, []PriceRow{r}})
	}
	return out
}

// Machine gives all terms of the machine that a key names; the key's own term
// may be left out. The error is as that of Find.
func (p *Prices) Machine(key string) ([]Quote, error) {
	parts := strings.Split(key, "/")
	if len(parts) == 3 {
		parts = append(parts, "")
	}
	of, err := p.of(key, parts)
	if err != nil {
		return nil, err
	}
	if parts[3] != "" {
		q, err := narrow(key, parts, of)
		if err != nil {
			return nil, err
		}
		of = slices.DeleteFunc(of, func(o Quote) bool { return o.machineKey() != q.machineKey() })
	}
	return of, nil
}

// Find gives the price that a key names: provider/region/machine/term, or a GPU
// model in place of the machine where all machines of the model cost the same
// for a GPU. The term may lack its payment where there is only one. The error
// is *capcli.UnknownError; it says what there is, and the likely one.
func (p *Prices) Find(key string) (Quote, error) {
	if p != nil {
		p.index()
		if i, ok := p.byKey[strings.ToLower(key)]; ok {
			return p.quotes[i], nil
		}
	}
	parts := strings.Split(key, "/")
	of, err := p.of(key, parts)
	if err != nil {
		return Quote{}, err
	}
	return narrow(key, parts, of)
}

// of finds the machines that the first three parts of a key name.
func (p *Prices) of(key string, parts []string) ([]Quote, error) {
	if len(parts) != 4 {
		return nil, missing("price key %s: want provider/region/machine/term, such as gcp/us-central1/a3-highgpu-8g/1y (capcli prices list)", show(key))
	}
	var all []Quote
	if p != nil {
		all = p.Quotes()
	}
	for i, what := range []string{"provider", "region", "machine or GPU"} {
		var next []Quote
		for _, q := range all {
			if q.named(i, parts[i]) {
				next = append(next, q)
			}
		}
		if i == 2 && slices.ContainsFunc(next, func(q Quote) bool { return strings.EqualFold(q.Machine, parts[2]) }) {
			// A machine goes before GPUs of the same name.
			next = slices.DeleteFunc(next, func(q Quote) bool { return !strings.EqualFold(q.Machine, parts[2]) })
		}
		if len(next) == 0 {
			return nil, noPart(key, parts, i, what, partsOf(all, i))
		}
		all = next
	}
	return all, nil
}

// named tells whether the i-th part of a key means this price.
func (q *Quote) named(i int, part string) bool {
	switch i {
	case 0:
		return strings.EqualFold(q.Provider, part)
	case 1:
		return strings.EqualFold(q.Region, part)
	}
	return strings.EqualFold(q.Machine, part) || strings.EqualFold(q.GPU, part)
}

// partsOf are the words that may stand in the i-th place of a key.
func partsOf(all []Quote, i int) []string {
	var out []string
	for _, q := range all {
		out = append(out, []string{q.Provider, q.Region, q.Machine}[i])
		if i == 2 {
			out = append(out, strings.ToLower(q.GPU))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// narrow picks the price of the key's term.
func narrow(key string, parts []string, of []Quote) (Quote, error) {
	want, ok := NormalTerm(parts[3])
	var found []Quote
	for _, q := range of {
		if ok && (want == q.Terms() || want == q.Term || want == q.Term+"-none" && q.Payment == "") {
			found = append(found, q)
		}
	}
	if len(found) == 0 {
		var have []string
		for _, q := range of {
			have = append(have, q.Terms())
		}
		slices.Sort(have)
		return Quote{}, noPart(key, parts, 3, "term", slices.Compact(have))
	}
	best := found[0]
	for _, q := range found[1:] {
		switch {
		case q.Terms() != best.Terms():
			return Quote{}, missing("price key %s is more than one: %s and %s; write the payment too", show(key), best.Key(), q.Key())
		case q.PerGPU() != best.PerGPU():
			return Quote{}, missing("price key %s is more than one: a GPU-hour is $%s by %s and $%s by %s; name the machine",
				show(key), best.PerGPU().Decimal(), best.Key(), q.PerGPU().Decimal(), q.Key())
		case q.GPUs > best.GPUs:
			best = q
		}
	}
	return best, nil
}

// noPart says that the i-th part of a key is not there, and what is.
func noPart(key string, parts []string, i int, what string, have []string) error {
	hint := ""
	whole := make([]string, len(have)) // of a short part a slip is known only in the whole key
	for k, h := range have {
		better := slices.Clone(parts)
		better[i] = h
		whole[k] = strings.TrimSuffix(strings.Join(better, "/"), "/")
	}
	if at := slices.Index(have, capcli.Nearest(parts[i], have)); at >= 0 {
		hint = fmt.Sprintf("; did you mean %q?", whole[at])
	} else if near := capcli.Nearest(strings.Join(parts, "/"), whole); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	const most = 12
	list := strings.Join(have[:min(most, len(have))], ", ")
	switch {
	case len(have) == 0:
		list = "nothing"
	case len(have) > most:
		list += fmt.Sprintf(" and %d more", len(have)-most)
	}
	under := ""
	if i > 0 {
		under = " under " + strings.Join(parts[:i], "/")
	}
	return missing("no price has the key %s: there is no %s %s%s%s have %s (capcli prices list)", show(key), what, show(parts[i]), under, cmp.Or(hint, ":"), list)
}

func missing(format string, args ...any) error {
	return &capcli.UnknownError{Text: fmt.Sprintf(format, args...)}
}

// LooksLikeKey tells a key of a price from an amount.
func LooksLikeKey(text string) bool {
	amount, _ := cutPrice(strings.TrimSpace(text))
	if _, err := capcli.ParseUSD(amount); err == nil && amount != "" {
		return false
	}
	return strings.Contains(text, "/") && strings.IndexFunc(text, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }) == 0
}

// NormalTerm gives terms as keys write them: od and on-demand are on_demand,
// 12mo is 1y; false where text is no term.
func NormalTerm(text string) (string, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	switch text {
	case "on_demand", "on-demand", "ondemand", "od":
		return "on_demand", true
	case "spot", "preemptible":
		return "spot", true
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

// cutTerm splits 12mo in 12 and mo.
func cutTerm(s string) (digits, unit string) {
	unit = strings.TrimLeft(s, "0123456789")
	return s[:len(s)-len(unit)], unit
}

// payments say how much of a contract is paid before it begins.
var payments = []string{"none", "partial", "all"}
