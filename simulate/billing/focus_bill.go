package billing

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"capcli"
	"capcli/simulate/billing/focus"
)

// FocusRows gives the bill in FOCUS 1.2: purchases with a billed cost and no
// effective cost, use with what it cost, Used and Unused. What is paid at the
// start of a commitment is a one-time charge for its whole term. account is the
// BillingAccountId of rows that name none.
//
// In each row PricingQuantity times ListUnitPrice is ListCost and times
// ContractedUnitPrice is ContractedCost, to the last digit: hours have twelve
// places and prices six. So these two costs may differ from those of Rows by
// less than a millionth each. BilledCost and EffectiveCost are those of Rows.
func (b *Bill) FocusRows(account string, to func(*focus.Row)) {
	w := focusBill{b, account}
	for i := range b.Rows {
		r := b.Rows[i]
		c := r.of
		row := w.row(&r, c)
		if r.Category == Purchase && c != nil && c.Fees.Upfront > 0 && c.Start >= r.Start && c.Start < r.End {
			once := row
			once.ChargeFrequency, once.ChargePeriodStart, once.ChargePeriodEnd = "One-Time", c.Start, c.End
			once.ChargePeriodEnd = max(c.End, c.Exit.Term)
			once.CommitmentDiscountQuantity = focus.NumberOf(c.quantity(c.Start, once.ChargePeriodEnd))
			once.SkuPriceID = purchaseSKU(once.SkuID, &r, c, "upfront")
			once.SetPaid(c.Fees.Upfront)
			to(&once)
			if r.BilledCost -= c.Fees.Upfront; r.BilledCost == 0 {
				continue
			}
			w.recur(&row, &r, c)
		}
		to(&row)
	}
}

// focusBill writes the rows of a bill.
type focusBill struct {
	b       *Bill
	account string
}

// row is one row, of a commitment or of none.
func (w *focusBill) row(r *Row, c *Commitment) focus.Row {
	f := focus.NewRow()
	f.ChargePeriodStart, f.ChargePeriodEnd = r.Start, r.End
	f.BillingPeriodStart, f.BillingPeriodEnd = monthOf(r.Start), addMonths(monthOf(r.End-1), 1)
	f.SetBiller(providerName(r.SKU.Provider), cmp.Or(r.Account, w.account), w.b.Currency)
	f.SetCosts(r.BilledCost, r.EffectiveCost)
	f.RegionID, f.RegionName, f.AvailabilityZone = r.SKU.Region, r.SKU.Region, r.SKU.Zone
	f.ServiceCategory, f.ServiceName, f.ServiceSubcategory = "Compute", cmp.Or(r.SKU.Service, "Compute"), "Virtual Machines"
	f.ChargeCategory, f.PricingCategory = r.Category.String(), r.Pricing.String()
	f.SkuID, f.SkuPriceDetails = cmp.Or(skuName(&r.SKU), r.SKU.Service, r.Product, "compute"), skuDetails(&r.SKU)
	f.SkuPriceID = skuPrice(f.SkuID, &r.SKU, strings.ToLower(f.PricingCategory))
	if r.Commitment != "" {
		f.CommitmentDiscountID, f.CommitmentDiscountName, f.CommitmentDiscountType = r.Commitment, r.Commitment, r.Product
		f.CommitmentDiscountStatus = r.Status.String()
		f.CommitmentDiscountCategory, f.CommitmentDiscountUnit = focus.Usage, "Hours"
		f.CommitmentDiscountQuantity = focus.NumberOf(r.Discount)
		if c != nil && c.Product.units() == 0 {
			f.CommitmentDiscountCategory, f.CommitmentDiscountUnit = "Spend", w.b.Currency
		}
	}
	f.CapacityReservationID, f.CapacityReservationStatus = r.Reservation, r.ReservationStatus.String()
	f.Tags = tagsOf(r)
	switch {
	case r.Category == Purchase:
		f.PricingCategory, f.ChargeFrequency, f.ChargeDescription = focus.Standard, "Recurring", "Purchase of "+r.Commitment
		f.ResourceID, f.ResourceType = r.Commitment, r.Product
		w.recur(&f, r, c)
	case r.Quantity == 0 && r.Commitment == "" || r.Status == Unused:
		w.unused(&f, r, c)
	default:
		w.use(&f, r, c)
	}
	return f
}

// recur prices what is paid as it goes: by the hour where nothing else is paid.
func (w *focusBill) recur(f *focus.Row, r *Row, c *Commitment) {
	f.BilledCost = focus.NumberOf(focus.AmountOf(r.BilledCost))
	f.SetPaid(r.BilledCost)
	if c == nil {
		return
	}
	f.CommitmentDiscountQuantity = focus.NumberOf(c.quantity(r.Start, min(r.End, c.End)))
	if _, drawn := c.Product.(promise); drawn {
		f.CommitmentDiscountQuantity = f.BilledCost
	}
	f.SkuPriceID = purchaseSKU(f.SkuID, r, c, "recurring")
	hours := hoursAmount(capcli.GPUTime(1000 * (min(c.End, r.End) - max(c.Start, r.Start))))
	if all, err := hours.Times(focus.AmountOf(c.Fees.Hourly)); err == nil && all == focus.AmountOf(r.BilledCost) {
		f.SetPrice(hours, "Hours", c.Fees.Hourly, c.Fees.Hourly)
	}
}

// unused prices the part of a commitment that nothing used, and fees: no volume
// of a SKU was had, so the quantity of the former is 0 and their price is that of
// what was bought.
func (w *focusBill) unused(f *focus.Row, r *Row, c *Commitment) {
	f.ChargeFrequency, f.ChargeDescription, f.ResourceID = "Usage-Based", "Unused part of "+source(r), source(r)
	if r.Status != Unused {
		f.ChargeFrequency, f.ChargeDescription = "One-Time", "Cancellation of "+source(r)
		f.SetPrice(focus.NewAmount(1, 0), "Fees", r.BilledCost, r.BilledCost)
		return
	}
	price := capcli.Rate(0)
	if c != nil {
		price = c.unitPrice()
		f.SkuPriceID = purchaseSKU(f.SkuID, r, c, "recurring")
	}
	f.SetPrice(focus.Amount{}, "Hours", price, price)
}

// use prices use, and what is unused of capacity that is charged like use.
func (w *focusBill) use(f *focus.Row, r *Row, c *Commitment) {
	f.ChargeFrequency = "Usage-Based"
	hours := hoursAmount(r.Quantity)
	if r.ReservationStatus == Unused {
		f.ChargeDescription, f.ResourceID = "Unused part of "+source(r), source(r)
	} else {
		f.ChargeDescription = "Use of " + f.SkuID
		f.ResourceID, f.ResourceType = cmp.Or(r.Job, r.Tenant, r.Capacity, f.SkuID), "Virtual machine"
		f.ConsumedQuantity, f.ConsumedUnit = focus.NumberOf(hours), "Hours"
	}
	list, contracted := r.ListUnit, r.Contracted
	if list == 0 && c != nil { // capacity without an on-demand price lists at what it was sold for
		list = c.unitPrice()
		contracted = list
	}
	f.SetPrice(hours, "Hours", list, contracted)
}

// ownUnit is how much of a commitment's own unit, times seconds, is one hour of a
// unit of its scope, or one dollar where it commits to money.
func (c *Commitment) ownUnit() int64 {
	units := c.Product.units()
	if power := c.Product.power(c); units > 0 && power > 0 {
		return power / units * 1000 * int64(capcli.Hour)
	}
	return 1000 * int64(capcli.Hour) * int64(capcli.Dollar)
}

// quantity is what a commitment can cover in [from, to), in hours of its own unit
// or in money: FOCUS's CommitmentDiscountQuantity of a purchase.
func (c *Commitment) quantity(from, to capcli.Time) focus.Amount {
	var w wide
	w.add(c.Product.power(c), max(0, int64(min(max(c.End, c.Exit.Term), to)-max(c.Start, from))))
	return w.divide(c.ownUnit())
}

// ahead is what a commitment that was left early could have covered afterwards.
func (c *Commitment) ahead() focus.Amount { return c.quantity(c.End, c.Exit.Term) }

// unitPrice is what the commitment costs for a unit-hour, all payments spread
// over its term, rounded half up; 0 where it commits to money.
func (c *Commitment) unitPrice() capcli.Rate {
	units := c.Product.units()
	total, err := c.Total()
	if units == 0 || err != nil {
		return 0
	}
	var t tally
	hourly := t.take(Spread(total, int64(c.End-c.Start)))
	if one := t.mulDiv(int64(hourly), 1000, units); t.err == nil {
		return one
	}
	return 0
}

// skuPrice names the price of a SKU: what sets one list price apart from another.
func skuPrice(sku string, s *SKU, kind string) string {
	parts := []string{sku}
	for _, p := range []string{s.Region, s.Zone, s.OS} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(append(parts, kind), "/")
}

// purchaseSKU names the price of a commitment: its product, term and payment.
func purchaseSKU(sku string, r *Row, c *Commitment, payment string) string {
	return skuPrice(sku, &r.SKU, fmt.Sprintf("%s/%dh/%s", r.Product, int64(c.End-c.Start)/int64(capcli.Hour), payment))
}

// hoursAmount is unit time in hours, rounded half up to the twelfth place, so that
// its product with a price of six places is exact.
func hoursAmount(t capcli.GPUTime) focus.Amount {
	const perHour, perPlace = 3_600_000, 1_000_000_000_000
	whole, rest := uint64(t)/perHour, uint64(t)%perHour
	a := focus.NewAmount(whole, 0)
	sum, err := a.Add(focus.NewAmount((rest*perPlace+perHour/2)/perHour, 12))
	if err != nil {
		return a
	}
	return sum
}

// skuName is what a SKU is called: its instance type, else its GPU model.
func skuName(s *SKU) string {
	if s.Size != "" {
		return s.Family + "." + s.Size
	}
	return cmp.Or(s.Family, s.GPUModel)
}

// skuDetails are the properties of a SKU.
func skuDetails(s *SKU) string {
	d := focusDetails{OperatingSystem: s.OS, GpuModel: s.GPUModel}
	if s.Family != "" {
		d.InstanceType = skuName(s)
	}
	return jsonText(d)
}

// tagsOf carries who used it.
func tagsOf(r *Row) string {
	return jsonText(struct {
		Job    string `json:"job,omitempty"`
		Tenant string `json:"tenant,omitempty"`
	}{r.Job, r.Tenant})
}

// jsonText is v as JSON, "" where nothing of it is known.
func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil || string(b) == "{}" { // texts are always JSON
		return ""
	}
	return string(b)
}

// providerName is the full name of the three large providers.
func providerName(p string) string {
	switch strings.ToLower(p) {
	case "aws":
		return "AWS"
	case "azure":
		return "Microsoft"
	case "gcp":
		return "Google Cloud"
	}
	return p
}
