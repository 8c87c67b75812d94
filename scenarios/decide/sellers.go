package decide

import (
	"context"
	"reflect"
	"slices"
	"strconv"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/futures"
	"capcli/scenarios/decide/plan/market"
	"capcli/scenarios/money/prices"
)

// Seller is the same work bought from another seller: the cheapest plan at its prices.
type Seller struct {
	Provider   string       `json:"provider"`
	Key        string       `json:"on_demand_key"`
	OnDemand   capcli.Rate  `json:"on_demand_usd_per_gpu_hour"`
	GPUs       float64      `json:"committed_gpus"` // bought first
	Term       string       `json:"term"`           // of the first purchase; "" where nothing is bought first
	Rate       *capcli.Rate `json:"committed_usd_per_gpu_hour"`
	Cost       capcli.USD   `json:"cost_usd"`
	Difference capcli.USD   `json:"difference_usd"` // from the recommendation; below 0 it is cheaper
	Dated      capcli.Time  `json:"date"`           // of the on-demand price
}

// compareSellers plans for the same futures at the prices of every seller of the model, or of those
// asked for, the cheapest first.
func (d *desk) compareSellers(ctx context.Context) error {
	base := d.choice("", d.best, nil)
	offers := prices.OffersFor(d.own, d.GPU, d.Seller)
	list, err := capcli.MapParallel(ctx, offers, nil, func(ctx context.Context, o prices.Offer) (Seller, error) {
		return d.seller(ctx, &o, base.Cost)
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(list, func(a, b Seller) int { return int(min(1, max(-1, a.Cost-b.Cost))) })
	seen := map[string]bool{}
	for _, s := range list { // the cheapest of each
		if !seen[s.Provider] {
			seen[s.Provider] = true
			d.out.Sellers = append(d.out.Sellers, s)
		}
	}
	return nil
}

// seller plans for the futures at the prices of an offer.
func (d *desk) seller(ctx context.Context, o *prices.Offer, base capcli.USD) (Seller, error) {
	ask := d.marketFor(o)
	sketch, err := ask.Parse()
	if err != nil {
		return Seller{}, err
	}
	frame, err := sketch.Frame(d.set.Mean)
	if err != nil {
		return Seller{}, err
	}
	field := d.field
	if !reflect.DeepEqual(frame, d.frame) {
		if field, err = plan.NewField(&d.set.Futures, frame.Market, frame.Held...); err != nil {
			return Seller{}, err
		}
	}
	risk, err := futures.ParseRisk(d.Risk)
	if err != nil {
		return Seller{}, err
	}
	c, err := field.Choose(ctx, risk)
	if err != nil {
		return Seller{}, err
	}
	a, err := field.Assess("", "", c)
	if err != nil {
		return Seller{}, err
	}
	out := Seller{Provider: o.OnDemand.Provider, Key: o.OnDemand.Key(), OnDemand: o.OnDemand.PerGPU(), Dated: o.OnDemand.Date, GPUs: market.GPUs(plan.FirstMilli(a.Purchases))}
	if len(a.Purchases) > 0 && a.Purchases[0].From == 0 {
		p := a.Purchases[0]
		out.Term, out.Rate = frame.Market.Terms[p.Term].Name, &p.Rate
	}
	out.Cost = capcli.MeanUSD(len(a.Outcomes), true, func(i int) capcli.USD { return a.Outcomes[i].Cost })
	out.Difference = out.Cost - base
	return out, nil
}

// marketFor returns what can be bought at the prices of an offer, as plan futures takes it: on demand,
// and every term that floats and fits the question, in whole machines.
func (c *chain) marketFor(o *prices.Offer) market.Request {
	out := market.Request{OnDemand: o.OnDemand.Key(), Every: "1mo", Held: c.Held, Prices: c.own.Override(prices.Catalogue())}
	fit, _ := c.fitting(o)
	for _, q := range fit {
		term := q.Term + "=" + q.Key()
		if c.out.Length <= oneDecision {
			term += ",on=" + c.out.Start.String()
		}
		out.Terms = append(out.Terms, term)
	}
	if n := o.OnDemand.GPUs; n > 1 {
		out.Lot = strconv.Itoa(n)
	}
	return out
}

// oneDecision is the longest question with one date of purchase: what is bought later within a month binds
// beyond it.
const oneDecision = 35 * capcli.Day

// beyond is how much longer than the question a term may be: it is paid for its part within, and what
// it binds beyond was not asked about.
const beyond = 1.15

// fitting divides the floating terms of an offer into those that fit the question and those that bind far
// beyond it. Where all do, the shortest fits.
func (c *chain) fitting(o *prices.Offer) (fit, far []*prices.Quote) {
	for i := range o.Committed { // the shortest first
		q := &o.Committed[i]
		if !floats(q) {
			continue
		}
		months, _ := q.Months()
		length := capcli.Step{Months: months}.Length()
		if float64(length) <= beyond*float64(c.out.Length) || len(fit) == 0 {
			fit = append(fit, q)
		} else {
			far = append(far, q)
		}
	}
	return fit, far
}
