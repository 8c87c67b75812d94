package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/money/prices"
	"capcli/scenarios/strict"
)

// Price is the price of a GPU-hour.
type Price struct {
	Rate    capcli.Rate
	Known   bool           // whether it is given; an unknown price is never counted as 0
	Quote   *prices.Row    // source of a price by key; nil for a number in the scenario
	History []billing.Step // price changes after Rate, of a price by key with its history

	pending bool        // the key may be in the price file, which has not been read yet
	keyed   *prices.Row // while pending: the provider and the term of the key
}

// row returns the source of a price by key, with provider and term alone while it is pending; nil
// for a number.
func (p *Price) row() *prices.Row { return cmp.Or(p.Quote, p.keyed) }

// isFree reports whether a price of 0 is meant: its list says so, or has not been read yet.
func (p *Price) isFree() bool { return p.pending || p.Quote != nil && p.Quote.Free }

// PriceChange is a stated change of a pool's price.
type PriceChange struct {
	From   When
	Parts  int64 // change in millionths of the price: -440000 is 44 % less
	Price  Price // if known, the price from then on, instead of Parts
	stated string
}

// keys are the price lists in which keys are looked up. pending says that the scenario's price file
// has not been read yet.
type keys struct {
	prices  *prices.List
	pending bool
}

// price reads "2.20 USD/gpu-h", "2.20" or "$2.20", or the key of a price.
func price(dst *Price) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		if n.Kind == yaml.MappingNode {
			keyedPrice(d, n, dst)
			return
		}
		s, ok := d.ReadScalar(n, "a price such as 2.20 USD/gpu-h")
		if !ok {
			return
		}
		if prices.IsKey(s) {
			priceOfKey(d, n, dst, s, capcli.NoTime, false)
			return
		}
		what := d.FieldName()
		amount, unit := prices.CutUnit(s)
		r, err := capcli.ParseUSD(amount)
		if slices.Contains([]string{"USD/gpu-s", "/gpu-s", "USD/gpu-second", "/gpu-second", "USD/s", "/s"}, unit) {
			if r, err = perSecond(amount); err != nil {
				d.Fault(n, "%s: want a price of a GPU-second that is a whole number of millionths of a dollar for an hour, such as 0.001097 USD/gpu-s, found %s", what, capcli.Quoted(s))
				return
			}
			unit = ""
		}
		switch {
		case !strings.ContainsAny(amount, "0123456789"):
			d.FaultWant(n, "a price such as 2.20 USD/gpu-h")
		case !slices.Contains([]string{"", "USD", "USD/gpu-h", "/gpu-h", "USD/gpu-hour", "/gpu-hour", "USD/h", "/h"}, unit):
			d.Fault(n, "%s %s: want US dollars for one GPU for one hour, such as 2.20 USD/gpu-h", what, capcli.Quoted(s))
		case strings.HasPrefix(amount, "-"):
			d.Fault(n, "%s is %s; a price is not negative", what, amount)
		case err != nil && strings.Contains(amount, ","):
			d.Fault(n, "%s %s: a comma is no decimal point; write %s", what, capcli.Quoted(s), strings.Replace(s, ",", ".", 1))
		case err != nil:
			d.Fault(n, "%s: want a price such as 2.20 USD/gpu-h, at most six decimal places, found %s", what, capcli.Quoted(s))
		case r > prices.Dearest:
			d.Fault(n, "%s is %s for one GPU-hour; at most %s is believed. Is it a price for more than one GPU-hour?", what, r, prices.Dearest)
		default:
			*dst = Price{Rate: r, Known: true}
		}
	}
}

// perSecond returns the price of a GPU-hour of a price of a GPU-second: 3600 times as much, exactly.
func perSecond(amount string) (capcli.USD, error) {
	digits := strings.TrimPrefix(strings.TrimSpace(amount), "$")
	whole, frac, _ := strings.Cut(digits, ".")
	n, err := strconv.ParseInt(whole+frac, 10, 64)
	if err != nil || n < 0 || len(frac) > 12 || n > 1e14 {
		return 0, errors.New("no price of a second")
	}
	v := new(big.Int).Mul(big.NewInt(n), big.NewInt(3600*int64(capcli.Dollar)))
	rest := new(big.Int)
	v.DivMod(v, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(frac))), nil), rest)
	if rest.Sign() != 0 || !v.IsInt64() {
		return 0, errors.New("no whole number of millionths of a dollar for an hour")
	}
	return capcli.USD(v.Int64()), nil
}

// keyedPrice reads {key: …, at: …, history: …}.
func keyedPrice(d *strict.Decoder, n *yaml.Node, dst *Price) {
	var (
		key     string
		at      When
		history bool
	)
	o := d.ReadObject(n, "price", priceFields(&key, &at, &history))
	if o.Require("key"); !o.Has("key") || !o.IsClean("key", "at", "history") {
		return
	}
	switch {
	case history && at.Given:
		o.FaultName("history", "at is one day and history is all; leave one out")
		return
	case at.Given && !at.Date.IsKnown():
		o.Fault("at", "at is the day of a price: 2026-07-30")
		return
	}
	day := capcli.NoTime
	if at.Given {
		day = at.Date
	}
	priceOfKey(d, o.Value("key"), dst, key, day, history)
}

func priceFields(key *string, at *When, history *bool) []strict.Field {
	return []strict.Field{
		{"key", "of a price: gcp/us-central1/a3-highgpu-8g/1y (capcli prices list)", strict.Name(key)},
		{"at", "the price of this day; default: the latest", readWhen(at)},
		{"history", "on_demand, spot: true where usage is billed at the price of its day, as far as dates are known", strict.Bool(history)},
	}
}

// priceOfKey looks up a key and stores its latest price, its price on a day, or its price history.
func priceOfKey(d *strict.Decoder, n *yaml.Node, dst *Price, key string, at capcli.Time, history bool) {
	k, _ := d.Context.(keys)
	q, err := k.prices.Find(key)
	switch {
	case k.prices == nil:
		d.Fault(n, "a key of a price is not read here; write the amount (capcli prices show KEY says it)")
		return
	case err != nil && k.pending:
		*dst = Price{Known: true, pending: true, keyed: prices.RowOfKey(key)}
		return
	case err != nil:
		d.Fault(n, "%s", err)
		return
	}
	row := q.Row
	switch {
	case history:
		row = q.History[0]
	case at.IsKnown() && at < q.History[0].Date:
		d.Fault(n, "the first price of %s is of %s, after %s", q.Key(), q.History[0].Date.Date(), at.Date())
		return
	case at.IsKnown():
		row = q.PriceAt(at)
	}
	*dst = Price{Rate: row.PerGPU(), Known: true, Quote: &q.Row}
	if !history {
		dst.Quote = &row
		return
	}
	for _, h := range q.History[1:] {
		dst.History = append(dst.History, billing.Step{From: h.Date, Price: h.PerGPU()})
	}
}

var priceChangeSection = strict.Section[PriceChange]{Name: "price_path", Needs: []string{"from"}, Fields: func(c *PriceChange) []strict.Field {
	return []strict.Field{
		{"from", "the price changes then: a date, a month, or a time since the start", monthOr(&c.From)},
		{"change", "by so much of the price before: -44%", change(c)},
		{"price", "to this price: 1.20", price(&c.Price)},
	}
}, Check: func(o *strict.Object, _ *PriceChange) {
	if o.Has("change") == o.Has("price") {
		o.Fault("change", "want change: -44%% or price: 1.20, one of them")
	}
}}

// monthOr reads a month such as 2027-06, or any When.
func monthOr(dst *When) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		if t, err := time.Parse("2006-01", strings.TrimSpace(n.Value)); err == nil && n.Kind == yaml.ScalarNode && t.Year() >= 1970 {
			*dst = When{true, capcli.TimeOf(t), 0}
			return
		}
		readWhen(dst)(d, n)
	}
}

func change(c *PriceChange) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		s, ok := d.ReadScalar(n, "a change such as -44%")
		if !ok {
			return
		}
		parts, err := ParseChange(s)
		if err != nil {
			d.Fault(n, "change: %s", err)
			return
		}
		c.Parts, c.stated = parts, s
	}
}

// ParseChange reads a change of a price, "-44%" or "+12.5%", and returns it in
// millionths of the price.
func ParseChange(text string) (int64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	number = strings.TrimSpace(number)
	sign := int64(1)
	switch {
	case strings.HasPrefix(number, "-"):
		sign, number = -1, number[1:]
	case strings.HasPrefix(number, "\u2212"): // a typeset minus sign
		sign, number = -1, strings.TrimPrefix(number, "\u2212")
	case strings.HasPrefix(number, "+"):
		number = number[1:]
	}
	whole, frac, _ := strings.Cut(number, ".")
	n, err := strconv.ParseInt(whole+(frac + "0000")[:4], 10, 64)
	switch {
	case !percent || err != nil || len(frac) > 4 || whole == "" || strings.Trim(number, "0123456789.") != "":
		return 0, fmt.Errorf("want a share such as -44%% or +12.5%%, at most four decimal places, found %s", capcli.Quoted(text))
	case sign < 0 && n >= 1_000_000:
		return 0, fmt.Errorf("%s leaves nothing of the price; a price falls by less than 100%%", capcli.Quoted(text))
	case n > 100_000_000:
		return 0, fmt.Errorf("%s is over a hundredfold", capcli.Quoted(text))
	}
	return sign * n, nil
}

// changed returns the price r changed by parts millionths of it, rounded half up.
func changed(r capcli.Rate, parts int64) capcli.Rate {
	hi, lo := bits.Mul64(uint64(r), uint64(1_000_000+parts))
	lo, carry := bits.Add64(lo, 500_000, 0)
	if hi += carry; hi >= 1_000_000 {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, 1_000_000)
	return capcli.Rate(min(q, math.MaxInt64))
}

// checkPath checks the changes of a price with the rest of the pool.
func (c *Capacity) checkPath(o *strict.Object) {
	committed := o.Has("kind") && o.IsClean("kind") && c.Kind.Committed()
	if committed && len(c.Price.History) > 0 {
		o.Fault("price", "what %s capacity costs is fixed when it is bought; write at: with that day in place of history", c.Kind)
	}
	if !o.Has("price_path") {
		return
	}
	switch {
	case committed:
		o.FaultName("price_path", "what %s capacity costs is fixed when it is bought; price_path is for on_demand and spot", c.Kind)
	case !o.Has("price"):
		o.FaultName("price_path", "price_path needs a price to begin from")
	case !o.IsClean("price_path", "price"):
	default:
		for i := 1; i < len(c.PricePath); i++ {
			a, b := c.PricePath[i-1].From, c.PricePath[i].From
			if a.Date.IsKnown() == b.Date.IsKnown() && (b.Date < a.Date || b.Date == a.Date && b.After <= a.After) {
				o.Fault("price_path", "price_path must go on in time, but its entry %d is not after the one before", i+1)
			}
		}
	}
}

// priced reads the scenario's price file and looks up its keys again.
func (s *Scenario) priced(open func(string) ([]byte, error)) error {
	if s.PriceFile == "" {
		return nil
	}
	b, err := open(s.PriceFile)
	if err != nil {
		return err
	}
	own, err := prices.Parse(s.PriceFile, b)
	if err != nil {
		return err
	}
	again, err := parse(s.prices, own, s.File, s.source, s.sets)
	if err != nil {
		return err
	}
	for i := range s.Capacity {
		c, r := &s.Capacity[i], &again.Capacity[i]
		c.Price, c.OnDemand, c.PricePath, c.Floats = r.Price, r.OnDemand, r.PricePath, r.Floats
	}
	s.own, s.lentTo = own, again.lentTo
	return nil
}

// rate returns the price of c, with its on-demand price for comparison.
func (s *Scenario) rate(c *Capacity, model string) billing.Rate {
	r := billing.Rate{Price: c.Price.Rate, OnDemand: c.OnDemand.Rate}
	r.Path = s.path(c)
	switch list := s.listPrice(c, model); {
	case c.OnDemand.Known:
		r.OnDemandPath = c.OnDemand.History
	case list != nil:
		r.OnDemand, r.OnDemandPath = list.Price.Rate, s.path(list)
	}
	return r
}

// path returns the steps of a pool's price: the price history with the stated changes applied.
func (s *Scenario) path(c *Capacity) []billing.Step {
	out := slices.Clone(c.Price.History)
	for _, p := range c.PricePath {
		from := s.instantOf(p.From)
		before, at := c.Price.Rate, len(out)
		for i, step := range out {
			if step.From >= from {
				at = i
				break
			}
			before = step.Price
		}
		if p.Price.Known {
			out = append(out[:at], billing.Step{From: from, Price: p.Price.Rate})
			continue
		}
		if at == len(out) || out[at].From > from {
			out = slices.Insert(out, at, billing.Step{From: from, Price: before})
		}
		for i := at; i < len(out); i++ {
			out[i].Price = changed(out[i].Price, p.Parts)
		}
	}
	return out
}

// instantOf returns the date of w, or the start of the period plus its time.
func (s *Scenario) instantOf(w When) capcli.Time {
	if w.Date.IsKnown() {
		return w.Date
	}
	return s.Period.Start + capcli.Time(w.After)
}

// cuts returns the times at which a price changes.
func (s *Scenario) cuts(files *files) []capcli.Time { return billing.Cuts(s.rates(files)) }

// checkPrices checks that changes counted from the start have a period.
func (s *Scenario) checkPrices(o *strict.Object) {
	pools := o.Value("capacity")
	if pools == nil || pools.Kind != yaml.SequenceNode || s.Period.IsKnown() {
		return
	}
	for i := range s.Capacity {
		path := strict.Child(pools.Content[i], "price_path")
		for k, c := range s.Capacity[i].PricePath {
			if at := strict.Child(path.Content[k], "from"); at != nil && c.From.Given && !c.From.Date.IsKnown() {
				o.Decoder.Fault(at, "from is counted from the start, but there is no period; write a date such as 2027-06-01")
			}
		}
	}
}

// Assumptions returns the prices that the scenario names by key, with source and date, the price
// changes it states, and what floats without its saying so, in the order of the pools.
func (s *Scenario) Assumptions() []prices.Assumption {
	out := []prices.Assumption{}
	for i := range s.Capacity {
		c := &s.Capacity[i]
		for _, x := range []struct {
			field string
			price *Price
		}{{"price", &c.Price}, {"on_demand_price", &c.OnDemand}} {
			if q := x.price.Quote; q != nil {
				out = append(out, q.Assume(c.Name, x.field, x.price.text(c.Name, x.field)))
			}
		}
		for _, p := range c.PricePath {
			text := fmt.Sprintf("%s: the price changes by %s from %s on", c.Name, p.stated, s.instantOf(p.From).Date())
			if p.Price.Known {
				text = fmt.Sprintf("%s: the price is $%s from %s on", c.Name, p.Price.Rate.Decimal(), s.instantOf(p.From).Date())
			}
			if q := p.Price.Quote; q != nil {
				text += fmt.Sprintf(": %s, %s", q.Key(), q.Origin())
			}
			out = append(out, p.Price.Quote.Assume(c.Name, "price_path", text))
		}
		out = append(out, s.assumeFloats(c)...)
	}
	return append(out, s.placeAssumptions()...)
}

// text describes a price and its origin.
func (p *Price) text(pool, field string) string {
	t := fmt.Sprintf("%s: %s $%s a GPU-hour is %s, %s", pool, strings.ReplaceAll(field, "_", " "), p.Quote.PerGPU().Decimal(), p.Quote.Key(), p.Quote.Origin())
	if len(p.History) > 0 {
		t += fmt.Sprintf("; before it %d dated prices hold on their days, the first, $%s, also before it", len(p.History), p.Rate.Decimal())
	}
	return t
}
