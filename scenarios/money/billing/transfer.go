package billing

import (
	"fmt"

	"capcli"
	"capcli/scenarios/money/focus"
	"capcli/simulate"
)

// Transfers are the prices of data that moves between places, and of copies that stay there.
type Transfers struct {
	Links   []TransferPrice // the first that matches two places applies; if none does, moving is free
	Storage capcli.Rate     // of a GiB that stays for a month of 730 hours
}

// TransferPrice is the price of a GiB from one place to another. From and To are places in which the two
// ends lie; "" is any.
type TransferPrice struct {
	From, To string
	GiB      capcli.Rate
}

// PriceOf returns the price of a GiB between two places; false where none is stated.
func (t *Transfers) PriceOf(from, to string) (capcli.Rate, bool) {
	if t == nil {
		return 0, false
	}
	for _, l := range t.Links {
		if capcli.IsWithin(from, l.From) && capcli.IsWithin(to, l.To) {
			return l.GiB, true
		}
	}
	return 0, false
}

// CostOf returns the cost of moving data between two places, rounded half up. It fails with
// capcli.ErrOverflow.
func (t *Transfers) CostOf(from, to string, mib int64) (capcli.USD, error) {
	price, _ := t.PriceOf(from, to)
	v, err := mulDiv(mib, int64(price), 1024)
	return capcli.USD(v), err
}

// storageMonth is the seconds of a month for which storage is priced.
const storageMonth = 730 * 3600

// movedParts returns what each tenant pays in one month for data that moved to or from a pool, or stayed there.
func (inv *Invoice) movedParts(rec *simulate.Record) ([]Part, error) {
	if len(rec.Moves) == 0 || len(inv.rates) == 0 || inv.rates[0].Transfers == nil {
		return nil, nil
	}
	var out []Part
	var t tally
	prices := inv.rates[0].Transfers
	for i := range rec.Moves {
		x := &rec.Moves[i]
		cost, err := prices.CostOf(x.From, x.To, x.MiB)
		out = append(out, Part{Month: x.Month, Pool: x.Pool, Tenant: x.Tenant, Tier: OnDemand, Moved: true, Cost: t.take(cost, err)})
	}
	for i := range rec.Stored {
		x := &rec.Stored[i]
		cost := t.mulDiv(x.MiBSeconds, int64(prices.Storage), 1024*storageMonth)
		out = append(out, Part{Month: x.Month, Pool: x.Pool, Tenant: x.Tenant, Tier: OnDemand, Moved: true, Cost: cost})
	}
	return out, t.err
}

// addMoved adds the cost of moved and stored data to the tables, but for those of the pools and the
// tenants. It is paid as it is used: it counts as on-demand cost, at its own list price.
func (inv *Invoice) addMoved(rec *simulate.Record) error {
	parts, err := inv.movedParts(rec)
	if err != nil {
		return fmt.Errorf("price moved data: %w", err)
	}
	var t tally
	for i := range parts {
		x := &parts[i]
		sum := inv.Total
		if t.add(&sum.Cost, x.Cost); t.err != nil {
			return fmt.Errorf("price moved data: %w", t.err)
		}
		month := &inv.ByMonth[x.Month]
		month.ByTier[OnDemand] += x.Cost
		l := Line{Cost: x.Cost, Direct: x.Cost, Moved: x.Cost, Equivalent: x.Cost}
		for _, sum := range []*Line{&month.Line, &inv.Total, &inv.ByTier[OnDemand], &inv.ByTerms[simulate.OnDemand]} {
			sum.add(&l)
		}
	}
	inv.moved = parts
	return nil
}

// transfer returns the row of what the jobs of payer i moved to and from pool p, and kept there.
func (w *runMonth) transfer(p, i int, cost capcli.USD) focus.Row {
	pool, tenant := &w.rec.Pools[p], w.rec.Tenants[w.payers.tenantOf(i)]
	f := w.row(pool)
	f.ServiceCategory, f.ServiceName, f.ServiceSubcategory = "Networking", "Data transfer", "Network Connectivity"
	f.ChargeCategory, f.ChargeFrequency, f.PricingCategory = focus.Usage, "Usage-Based", focus.Standard
	f.ChargeDescription = "Data moved for jobs on " + pool.Name
	f.Tags = jobTags(tenant, w.payers.tagsOf(i))
	f.ResourceID, f.ResourceType = pool.Name+"/"+tenant+"/data", "Data"
	f.SkuID = "data-transfer"
	f.SkuPriceID = f.SkuID + "/" + pool.Name
	f.SkuPriceDetails = ""
	f.SetCosts(cost, cost)
	one := focus.AmountOf(capcli.Dollar) // links have different prices: a row is one month of transfers
	f.ConsumedQuantity, f.ConsumedUnit = focus.NumberOf(one), "Months"
	f.SetPrice(one, "Months", cost, cost)
	return f
}
