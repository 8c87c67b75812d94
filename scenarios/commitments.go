package scenarios

import (
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/strict"
	"capcli/simulate"
)

// discounts reads the commitments of a scenario that make on-demand use cheaper.
// Commitments that bring capacity are pools. A pool that floats is such a commitment too.
func discounts(s *Scenario) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		var p Portfolio
		before := d.FaultCount()
		commitments(&p, &s.discountNodes)(d, n)
		for i := range p.Portfolio.Commitments {
			checkDiscount(d, &p.Portfolio.Commitments[i], s.discountNodes[i])
		}
		if d.FaultCount() == before {
			d.Leave() // portfolioFault names the list itself
			checkPortfolio(d, &p, s.discountNodes)
			d.Enter("commitments")
		}
		s.Commitments = p.Portfolio.Commitments
	}
}

// checkDiscount refuses products that bring capacity, which are pools, and scopes by anything other
// than the GPU model.
func checkDiscount(d *strict.Decoder, c *billing.Commitment, n *yaml.Node) {
	if billing.BringsCapacity(c.Product) {
		d.Fault(valueOf(n, "product"), "%s brings capacity; write it under capacity, as a pool of kind %s", c.Product.Name(), kindOfProduct(c.Product.Name()))
		return
	}
	scopes := []*billing.Scope{&c.Scope}
	rates := ratesOf(c.Product)
	for i := range rates {
		scopes = append(scopes, &rates[i].Scope)
	}
	for _, s := range scopes {
		if other := *s; other.GPUModel != "" || other != (billing.Scope{}) {
			other.GPUModel = ""
			if other != (billing.Scope{}) {
				d.Fault(n, "the pools of a scenario are told apart by gpu_model; leave provider, region, zone, account, family, size, service and os out")
				return
			}
		}
	}
}

// valueOf returns the value of a field, or the section when it lacks the field.
func valueOf(n *yaml.Node, field string) *yaml.Node {
	if v := strict.Child(n, field); v != nil {
		return v
	}
	return n
}

// kindOfProduct returns the kind of pool that has the product's terms.
func kindOfProduct(product string) string {
	if product == "reserved_capacity" {
		return "reserved"
	}
	return product
}

// ratesOf returns the rates of a plan; nil for other products.
func ratesOf(p billing.Product) []billing.PlanRate {
	if rated, is := p.(billing.Rated); is {
		return rated.PlanRates()
	}
	return nil
}

// checkDiscounts checks the commitments against the pools and the period.
func (s *Scenario) checkDiscounts(o *strict.Object) {
	if !o.Has("commitments") || !o.IsClean("commitments", "capacity", "period") || len(s.Commitments) != len(s.discountNodes) {
		return
	}
	for i := range s.Commitments {
		c, n := &s.Commitments[i], s.discountNodes[i]
		if s.Period.IsKnown() {
			p := billing.Portfolio{Commitments: slices.DeleteFunc(slices.Clone(s.Commitments), func(k billing.Commitment) bool { return k.ID != c.ID })}
			if err := p.CheckWindow(s.Period.Start, s.Period.End); err != nil {
				o.Decoder.Fault(n, "%s", err)
				continue
			}
		}
		if slices.ContainsFunc(s.Capacity, func(p Capacity) bool { return p.Name == c.ID }) {
			o.Decoder.Fault(valueOf(n, "id"), "%s is the name of a pool too; give the commitment another id", capcli.Quoted(c.ID))
		}
		if !s.discounted(c) {
			model := c.Scope.GPUModel
			if model != "" {
				model = " for " + capcli.Quoted(model)
			}
			o.Decoder.Fault(n, "commitment %s covers nothing: there is no on_demand or capacity_reservation pool%s", c.ID, model)
		}
	}
}

// discounted reports whether the use of some pool is in a commitment's scope.
func (s *Scenario) discounted(c *billing.Commitment) bool {
	return slices.ContainsFunc(s.Capacity, func(p Capacity) bool {
		rates := ratesOf(c.Product)
		return p.metered() && p.mayHold(c.Scope.GPUModel) &&
			(rates == nil || slices.ContainsFunc(rates, func(r billing.PlanRate) bool { return p.mayHold(r.Scope.GPUModel) }))
	})
}

// mayHold reports whether the pool may have GPUs of the model; "" is any model.
func (c *Capacity) mayHold(model string) bool {
	return model == "" || c.NodesFile != "" || strings.EqualFold(model, c.GPUModel)
}

// metered reports whether the pool costs the on-demand price, so that discounts apply.
func (c *Capacity) metered() bool {
	return c.Kind == simulate.OnDemand && c.Product != perUse || c.Product == "capacity_reservation"
}

// Invoice prices the record of a run of the scenario: each pool at its rate, and
// on-demand use under the scenario's commitments and its pools that float. ended is the length of the run. With
// commitments the record must have hours, as that of Config has. It fails like
// billing.Price and billing.PriceUnder, and with a *capcli.InputError when a commitment
// lies outside the run.
func (s *Scenario) Invoice(rec *simulate.Record, ended capcli.Seconds, o Options) (*billing.Invoice, error) {
	rates, err := s.Rates(o)
	if err != nil {
		return nil, err
	}
	if !s.Settles() {
		return billing.Price(rec, rates)
	}
	files, err := s.load(o.Open)
	if err != nil {
		return nil, err
	}
	deal := &billing.Deal{To: rec.Start + capcli.Time(max(1, ended))}
	deal.Portfolio.Commitments = s.Commitments
	if err := deal.Portfolio.CheckWindow(rec.Start, deal.To); err != nil {
		return nil, s.discountError(err)
	}
	floats, err := s.floatingBills(rec.Start, deal.To)
	if err != nil {
		return nil, err
	}
	deal.Portfolio.Commitments = foldModels(slices.Concat(s.Commitments, floats))
	for c := range s.groups(files) {
		k := len(deal.Pools)
		pool := &rec.Pools[k]
		p := billing.RunPool{
			SKU: s.skuOf(c, pool.GPUModel), Price: rates[k].Price, Path: rates[k].Path,
			Capacity: pool.Name, Skip: !c.metered(),
		}
		if pool.Terms.Committed() {
			p.Reserved, p.From, p.Until = 1000*int64(pool.Capacity()), rec.Start+capcli.Time(pool.From), deal.To
			if pool.Until > 0 {
				p.Until = min(p.Until, rec.Start+capcli.Time(pool.Until))
			}
		}
		deal.Pools = append(deal.Pools, p)
	}
	return billing.PriceUnder(rec, rates, deal)
}

// discountError adds the line of the scenario to a fault of a commitment that only a
// run shows, because the scenario has no period.
func (s *Scenario) discountError(err error) error {
	var bad *billing.PortfolioError
	if !errors.As(err, &bad) || bad.Index < 0 || bad.Index >= len(s.discountNodes) {
		return err
	}
	return &capcli.InputError{File: s.File, Line: max(0, s.discountNodes[bad.Index].Line), Field: "commitments", Text: bad.Text}
}

// foldModels returns the commitments with GPU models in lower case.
func foldModels(in []billing.Commitment) []billing.Commitment {
	out := slices.Clone(in)
	for i := range out {
		c := &out[i]
		c.Scope.GPUModel = strings.ToLower(c.Scope.GPUModel)
		if rated, is := c.Product.(billing.Rated); is {
			rates := slices.Clone(rated.PlanRates())
			for k := range rates {
				rates[k].Scope.GPUModel = strings.ToLower(rates[k].Scope.GPUModel)
			}
			c.Product = rated.WithRates(rates)
		}
	}
	return out
}
