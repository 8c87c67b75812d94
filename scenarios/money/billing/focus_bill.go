package billing

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"capcli"
	"capcli/scenarios/money/focus"
)

// FocusRows passes each row of the bill in FOCUS 1.2 to to. A purchase has a billed cost and no
// effective cost; use is Used or Unused and has its effective cost. An upfront payment is a
// one-time charge for the whole term of its commitment. account is the BillingAccountId of rows
// that name none.
//
// In each row PricingQuantity x ListUnitPrice is ListCost and PricingQuantity x
// ContractedUnitPrice is ContractedCost, to the last digit: hours have twelve decimals and
// prices six. So these two costs may differ from those of Rows by less than a millionth each.
// BilledCost and EffectiveCost equal those of Rows.
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

// focusBill converts the rows of a bill to FOCUS.
type focusBill struct {
	b       *Bill
	account string // BillingAccountId of rows that name none
}

// row returns a row in FOCUS. c is the commitment of the row; nil for none.
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

// recur prices a recurring payment: by the hour where only the hourly fee is paid, else as a
// whole.
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

// unused prices the unused part of a commitment, and cancellation fees. The unused part
// consumed no volume of a SKU, so its quantity is 0 and its price is that of what was bought.
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

// use prices use, and the unused part of a reservation that is charged like use.
func (w *focusBill) use(f *focus.Row, r *Row, c *Commitment) {
	f.ChargeFrequency = "Usage-Based"
	hours := hoursAmount(r.Quantity)
	switch {
	case r.Free:
		f.ChargeDescription, f.ResourceID = "Unused part of nodes of "+r.Capacity, r.Capacity
	case r.ReservationStatus == Unused:
		f.ChargeDescription, f.ResourceID = "Unused part of "+source(r), source(r)
	default:
		f.ChargeDescription = "Use of " + f.SkuID
		f.ResourceID, f.ResourceType = cmp.Or(r.Job, r.Tenant, r.Capacity, f.SkuID), "Virtual machine"
		f.ConsumedQuantity, f.ConsumedUnit = focus.NumberOf(hours), "Hours"
	}
	list, contracted := r.ListUnit, r.Contracted
	if list == 0 && c != nil { // without an on-demand price, the price of the commitment is the list price
		list = c.unitPrice()
		contracted = list
	}
	f.SetPrice(hours, "Hours", list, contracted)
}

// ownUnit returns the number of unit-seconds of power in one hour of a unit of the commitment's
// scope, or in one dollar where it commits to money.
func (c *Commitment) ownUnit() int64 {
	units := c.Product.units()
	if power := c.Product.power(c); units > 0 && power > 0 {
		return power / units * 1000 * int64(capcli.Hour)
	}
	return 1000 * int64(capcli.Hour) * int64(capcli.Dollar)
}

// quantity returns what a commitment can cover in [from, to), in hours of its own unit or in
// money: FOCUS's CommitmentDiscountQuantity of a purchase.
func (c *Commitment) quantity(from, to capcli.Time) focus.Amount {
	var w wide
	w.add(c.Product.power(c), max(0, int64(min(max(c.End, c.Exit.Term), to)-max(c.Start, from))))
	return w.divide(c.ownUnit())
}

// ahead returns what a commitment that was left early could have covered in the rest of its
// term.
func (c *Commitment) ahead() focus.Amount { return c.quantity(c.End, c.Exit.Term) }

// unitPrice returns the cost of a unit-hour under the commitment, with all payments spread over
// its term, rounded half up. It returns 0 where the commitment is to money.
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

// skuPrice returns the name of a SKU's price: the SKU and everything that its list price
// depends on.
func skuPrice(sku string, s *SKU, kind string) string {
	parts := []string{sku}
	for _, p := range []string{s.Region, s.Zone, s.OS} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(append(parts, kind), "/")
}

// purchaseSKU returns the name of a commitment's price: SKU, product, term and payment.
func purchaseSKU(sku string, r *Row, c *Commitment, payment string) string {
	return skuPrice(sku, &r.SKU, fmt.Sprintf("%s/%dh/%s", r.Product, int64(c.End-c.Start)/int64(capcli.Hour), payment))
}

// hoursAmount returns unit time in hours, rounded half up to twelve decimals, so that its
// product with a price of six decimals is exact.
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

// skuName returns the instance type of a SKU, else its instance family, else its GPU model.
func skuName(s *SKU) string {
	if s.Size != "" {
		return s.Family + "." + s.Size
	}
	return cmp.Or(s.Family, s.GPUModel)
}

// skuDetails returns SkuPriceDetails: the properties of a SKU as JSON.
func skuDetails(s *SKU) string {
	d := focusDetails{OperatingSystem: s.OS, GpuModel: s.GPUModel}
	if s.Family != "" {
		d.InstanceType = skuName(s)
	}
	return jsonText(d)
}

// tagsOf returns Tags: the tenant and the job of a row as JSON.
func tagsOf(r *Row) string {
	return jsonText(struct {
		Job    string `json:"job,omitempty"`
		Tenant string `json:"tenant,omitempty"`
	}{r.Job, r.Tenant})
}

// jsonText returns v as JSON, "" where it is empty.
func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil || string(b) == "{}" { // Marshal cannot fail on structs of texts
		return ""
	}
	return string(b)
}

// providerName returns the full name of the three large providers, and any other name
// unchanged.
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
