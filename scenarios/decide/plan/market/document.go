package market

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/money/billing"
)

// Instant is a time in the documents of plans: RFC 3339 or, where the demand has no dates, the
// number of the purchase period, from 0; a fraction lies within a period.
type Instant struct {
	Time   capcli.Time // capcli.NoTime where the demand has no dates
	Period float64
}

// Dated reports whether i is a date.
func (i Instant) Dated() bool { return i.Time.IsKnown() }

// After reports whether i is later than another instant of the same demand.
func (i Instant) After(other Instant) bool {
	return i.Time > other.Time || i.Time == other.Time && i.Period > other.Period
}

// Cell returns i as a cell of a table: a capcli.Time, or the number of the period.
func (i Instant) Cell() any {
	switch {
	case i.Dated():
		return i.Time
	case i.Period == float64(int64(i.Period)):
		return int64(i.Period)
	}
	return i.Period
}

// MarshalJSON writes i in RFC 3339, or as a number.
func (i Instant) MarshalJSON() ([]byte, error) {
	if i.Dated() {
		return i.Time.MarshalJSON()
	}
	return strconv.AppendFloat(nil, i.Period, 'f', -1, 64), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (i *Instant) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte(`"`)) {
		*i = Instant{}
		return i.Time.UnmarshalJSON(b)
	}
	*i = Instant{Time: capcli.NoTime}
	if err := json.Unmarshal(b, &i.Period); err != nil {
		return fmt.Errorf("%s is neither a time nor the number of a period", b)
	}
	return nil
}

// Document is a market in the documents of plans.
type Document struct {
	OnDemand []Price `json:"on_demand"`
	Terms    []Term  `json:"terms"`
	Every    string  `json:"every"`
	Overrun  bool    `json:"overrun"`
	After    string  `json:"after"` // what becomes of purchases beyond the end of the demand: prorated, tail=64 (GPUs), whole or fitting
	Lot      float64 `json:"lot_gpus"`
	Discount float64 `json:"discount_per_year"`
}

// Price is a rate from an instant on.
type Price struct {
	From Instant     `json:"from"`
	Rate capcli.Rate `json:"usd_per_gpu_hour"`
}

// Term is a type of commitment, with the break-even of a GPU bought on it at the start.
type Term struct {
	Name    string    `json:"term"`
	Length  string    `json:"length"`
	Prices  []Price   `json:"prices"`
	Upfront float64   `json:"upfront_share"`
	Max     *float64  `json:"max_gpus"`
	Lead    string    `json:"lead,omitempty"` // time from the order to the start
	On      []Instant `json:"on,omitempty"`   // the only times of purchase

	BreakEven *float64   `json:"break_even_utilisation"`
	Recover   *float64   `json:"months_to_recover"`
	Total     capcli.USD `json:"total_usd"`
	Present   capcli.USD `json:"present_value_usd"`

	Rate    capcli.Rate      `json:"-"` // rate at the start
	Payment *billing.Payment `json:"-"` // for a GPU bought at the start; nil where an amount does not fit
}

// Purchase is GPUs bought at one time on one term. The upfront and the monthly payment are null
// where an amount does not fit.
type Purchase struct {
	Term    string      `json:"term"`
	Start   Instant     `json:"start"`
	End     Instant     `json:"end"`
	GPUs    float64     `json:"gpus"`
	Rate    capcli.Rate `json:"usd_per_gpu_hour"`
	Upfront *capcli.USD `json:"upfront_usd"`
	Monthly *capcli.USD `json:"monthly_usd"`
	Cost    capcli.USD  `json:"cost_usd"`
	Ordered *Instant    `json:"ordered,omitempty"` // where it is ordered before it starts
	Total   capcli.USD  `json:"total_usd"`         // all payments to its end; cost_usd is the part that counts (market.after)
}

// Held is GPUs that are committed already.
type Held struct {
	Start Instant `json:"start"`
	End   Instant `json:"end"`
	GPUs  float64 `json:"gpus"`
}

// Frame is a market on the demand curve that its instants count from.
type Frame struct {
	Curve  *plan.Curve
	Market *plan.Market
	Held   []plan.Held // GPUs that are committed already
}

// Instant returns the instant that is at seconds after the start of the curve.
func (f *Frame) Instant(at capcli.Seconds) Instant {
	if f.Curve.Dated() {
		return Instant{Time: f.Curve.Start + capcli.Time(at)}
	}
	every := f.Market.Every.Length()
	if at%every == 0 {
		return Instant{Time: capcli.NoTime, Period: float64(at / every)}
	}
	return Instant{Time: capcli.NoTime, Period: float64(at) / float64(every)}
}

// GPUs converts thousandths of GPUs to GPUs.
func GPUs(milli int64) float64 { return float64(milli) / 1000 }

// Document returns the document of the market.
func (f *Frame) Document() Document {
	m := f.Market
	out := Document{OnDemand: f.prices(m.OnDemand), Terms: []Term{}, Every: m.Every.String(), Overrun: m.After.Rule == plan.InFull, After: m.After.String(), Lot: GPUs(m.Lot), Discount: m.Discount}
	for i := range m.Terms {
		out.Terms = append(out.Terms, f.term(&m.Terms[i]))
	}
	return out
}

// term returns the document of a term, with the break-even of a GPU bought at the start.
func (f *Frame) term(t *plan.Term) Term {
	out := Term{Name: t.Name, Length: t.Length.String(), Prices: f.prices(t.Rate), Upfront: float64(t.Upfront) / plan.Whole, Rate: t.Rate.At(0)}
	if t.Max > 0 {
		most := GPUs(t.Max)
		out.Max = &most
	}
	if t.Lead.Length() > 0 {
		out.Lead = t.Lead.String()
	}
	for _, at := range t.On {
		out.On = append(out.On, f.Instant(at))
	}
	to := f.Curve.AddSteps(0, t.Length, 1)
	pay, err := billing.NewPayment(out.Rate, to, f.Curve.MonthsOf(0, to), t.Upfront)
	if err != nil {
		return out
	}
	out.Payment, out.Total, out.Present = &pay, pay.Total(), capcli.USDOf(pay.PresentValue(f.Market.Discount))
	if p := f.Market.OnDemand.At(0); p > 0 {
		share, months := pay.BreakEven(p), pay.Recover(p)
		out.BreakEven, out.Recover = &share, &months
	}
	return out
}

func (f *Frame) prices(p plan.Prices) []Price {
	return capcli.Map(p, func(x plan.Price) Price { return Price{f.Instant(max(0, x.From)), x.Rate} })
}

// HeldDocument returns the document of the held GPUs.
func (f *Frame) HeldDocument() []Held {
	out := []Held{}
	for _, h := range f.Held {
		out = append(out, Held{f.Instant(h.From), f.Instant(h.To), GPUs(h.Milli)})
	}
	return out
}

// Purchases returns the documents of purchases, with their payments.
func (f *Frame) Purchases(list []plan.Purchase) []Purchase {
	out := []Purchase{}
	for _, p := range list {
		x := Purchase{Term: f.Market.Terms[p.Term].Name, Start: f.Instant(p.From), End: f.Instant(p.To), GPUs: GPUs(p.Milli), Rate: p.Rate, Cost: p.Cost, Total: p.Total}
		if p.Ordered != p.From {
			at := f.Instant(p.Ordered)
			x.Ordered = &at
		}
		one, err := billing.NewPayment(p.Rate, p.To-p.From, f.Curve.MonthsOf(p.From, p.To), f.Market.Terms[p.Term].Upfront)
		if err == nil {
			one, err = one.Times(p.Milli)
		}
		if err == nil {
			var monthly capcli.USD
			if len(one.Monthly) > 0 {
				monthly = one.Monthly[0]
			}
			x.Upfront, x.Monthly = &one.Upfront, &monthly
		}
		out = append(out, x)
	}
	return out
}

// Share returns part / whole; nil where whole is 0 or less.
func Share[N ~int64 | ~float64](part, whole N) *float64 {
	if whole <= 0 {
		return nil
	}
	v := float64(part) / float64(whole)
	return &v
}

// AfterNotes returns what a plan assumes of the time after the known demand, as notes: nothing where
// no term lasts beyond it.
func (f *Frame) AfterNotes(purchases []plan.Purchase) []string {
	m, end := f.Market, f.Curve.KnownLen()
	beyond := slices.ContainsFunc(purchases, func(p plan.Purchase) bool { return p.To > end })
	switch {
	case m.After.Rule == plan.Tail:
		return []string{fmt.Sprintf("assumed*: after %s, %g GPUs are wanted until the last term that is offered ends; every term is paid in full (--buy after=%s)", dayText(f.Instant(end)), GPUs(m.After.Milli), m.After)}
	case m.After.Rule == plan.Fitting:
		out := capcli.Map(m.LeftOut(f.Curve), func(x plan.LeftOut) string {
			return fmt.Sprintf("the term %s is left out: %s", m.Terms[x.Term].Name, x.Why)
		})
		return append(out, "terms that end after the demand are not bought (--buy after=prorated counts the part within)")
	case beyond && m.After.Rule == plan.InFull:
		return []string{"purchases last beyond the end of the demand, and all of each is paid (--buy after=whole)"}
	case beyond:
		return []string{"purchases that last beyond the end of the demand count with their time within it: what lies beyond is neither charged nor worth anything (--buy after=tail=64 expects 64 GPUs there)"}
	}
	return nil
}

// dayText writes an instant as its day, or the number of its period.
func dayText(i Instant) string {
	if i.Dated() {
		return i.Time.Date()
	}
	return fmt.Sprintf("period %g", i.Period)
}
