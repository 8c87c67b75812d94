package billing

import (
	"cmp"
	"encoding/json"
	"strings"

	"capcli"
)

// FocusRows gives the bill in FOCUS 1.2: purchases with a billed cost and no
// effective cost, use with what it cost, Used and Unused. What is paid at the
// start of a commitment is a one-time charge for its whole term. account is the
// BillingAccountId of rows that name none.
func (b *Bill) FocusRows(p *Portfolio, account string, to func(*FOCUS)) {
	for i := range b.Rows {
		r := b.Rows[i]
		row := b.focus(&r, account)
		if r.Category == Purchase {
			if c := p.begun(&r); c != nil {
				once := row
				once.ChargeFrequency, once.ChargePeriodStart, once.ChargePeriodEnd = "One-Time", c.Start, c.End
				once.setPaid(c.Fees.Upfront)
				to(&once)
				if r.BilledCost -= c.Fees.Upfront; r.BilledCost == 0 {
					continue
				}
				row.setPaid(r.BilledCost)
			}
		}
		to(&row)
	}
}

// setPaid sets what a purchase costs.
func (f *FOCUS) setPaid(u capcli.USD) {
	f.BilledCost, f.ListCost, f.ContractedCost = focusMoney(u), focusMoney(u), focusMoney(u)
}

// begun is the commitment whose upfront payment is in a purchase row, nil for none.
func (p *Portfolio) begun(r *Row) *Commitment {
	for i := range p.Commitments {
		if c := &p.Commitments[i]; c.ID == r.Commitment && c.Fees.Upfront > 0 && c.Start >= r.Start && c.Start < r.End {
			return c
		}
	}
	return nil
}

// focus is one row.
func (b *Bill) focus(r *Row, account string) FOCUS {
	f := NewFOCUS()
	f.ChargePeriodStart, f.ChargePeriodEnd = r.Start, r.End
	f.BillingPeriodStart, f.BillingPeriodEnd = monthOf(r.Start), addMonths(monthOf(r.End-1), 1)
	f.BillingCurrency, f.PricingCurrency = b.Currency, b.Currency
	f.BillingAccountID = cmp.Or(r.Account, account)
	f.BilledCost, f.EffectiveCost = focusMoney(r.BilledCost), focusMoney(r.EffectiveCost)
	f.ListCost, f.ContractedCost = focusMoney(r.ListCost), focusMoney(r.ContractedCost)
	f.ProviderName, f.PublisherName, f.InvoiceIssuerName = providerName(r.SKU.Provider), providerName(r.SKU.Provider), providerName(r.SKU.Provider)
	f.RegionID, f.RegionName, f.AvailabilityZone = r.SKU.Region, r.SKU.Region, r.SKU.Zone
	f.ServiceCategory, f.ServiceName, f.ServiceSubcategory = "Compute", cmp.Or(r.SKU.Service, "Compute"), "Virtual Machines"
	f.ChargeCategory, f.PricingCategory = r.Category.String(), r.Pricing.String()
	f.SkuID, f.SkuPriceDetails = skuName(&r.SKU), skuDetails(&r.SKU)
	if f.SkuID != "" {
		f.SkuPriceID = f.SkuID + "/" + strings.ToLower(f.PricingCategory)
	}
	if r.Commitment != "" {
		f.CommitmentDiscountID, f.CommitmentDiscountName, f.CommitmentDiscountType = r.Commitment, r.Commitment, r.Product
		f.CommitmentDiscountStatus = r.Status.String()
		f.CommitmentDiscountCategory, f.CommitmentDiscountUnit = FocusUsage, "Hours"
		if spends(r.Product) {
			f.CommitmentDiscountCategory, f.CommitmentDiscountUnit = "Spend", b.Currency
		}
	}
	f.CapacityReservationID, f.CapacityReservationStatus = r.Reservation, r.ReservationStatus.String()
	f.Tags = tagsOf(r)
	if r.Category == Purchase {
		f.PricingCategory, f.ChargeFrequency, f.ChargeDescription = FocusStandard, "Recurring", "Purchase of "+r.Commitment
		f.ResourceID, f.ResourceType = r.Commitment, r.Product
		f.ListCost, f.ContractedCost = f.BilledCost, f.BilledCost
		f.PricingQuantity, f.PricingUnit = NumberOf(wholeAmount(1)), "Purchases"
		return f
	}
	b.focusUse(r, &f)
	return f
}

// focusUse fills in what only rows of usage have.
func (b *Bill) focusUse(r *Row, f *FOCUS) {
	f.ChargeFrequency = "Usage-Based"
	hours := NumberOf(hoursAmount(r.Quantity))
	idle := r.Status == Unused || r.ReservationStatus == Unused
	switch {
	case idle:
		f.ChargeDescription, f.ResourceID = "Unused part of "+source(r), source(r)
	default:
		f.ChargeDescription = strings.TrimSpace("Use " + f.SkuID)
		f.ResourceID, f.ResourceType = cmp.Or(r.Job, r.Tenant), "Virtual machine"
		f.ConsumedQuantity, f.ConsumedUnit = hours, "Hours"
	}
	if r.Quantity > 0 || !idle {
		f.PricingQuantity, f.PricingUnit = hours, "Hours"
		if r.ListUnit > 0 {
			f.ListUnitPrice, f.ContractedUnitPrice = focusMoney(r.ListUnit), focusMoney(r.Contracted)
		}
	}
	if r.Commitment == "" {
		return
	}
	f.CommitmentDiscountQuantity = hours
	if f.CommitmentDiscountCategory == "Spend" {
		f.CommitmentDiscountQuantity = f.EffectiveCost
	}
	if idle {
		f.ListCost, f.ContractedCost = focusMoney(0), focusMoney(0)
	}
}

// focusMoney is an amount of dollars as a number of a bill.
func focusMoney(u capcli.USD) Number { return NumberOf(AmountOf(u)) }

// wholeAmount is a whole number.
func wholeAmount(n uint64) Amount { return product64(n, amountUnit) }

// hoursAmount is unit time in hours, to the eighteenth place.
func hoursAmount(t capcli.GPUTime) Amount {
	whole, rest := uint64(t)/3_600_000, uint64(t)%3_600_000
	a := product64(whole, amountUnit)
	part := product64(rest, amountUnit/3_600_000)
	part.lo += rest * (amountUnit % 3_600_000) / 3_600_000 // below 2^63: rest is under 3.6e6
	sum, err := a.Add(part)
	if err != nil {
		return a
	}
	return sum
}

// spends tells whether a product commits to money rather than to units.
func spends(product string) bool {
	switch product {
	case SavingsPlan{}.Name(), FlexibleUse{}.Name(), AzurePlan{}.Name():
		return true
	}
	return false
}

// skuName is what a SKU is called: its instance type, else its GPU model.
func skuName(s *SKU) string {
	if s.Size != "" {
		return s.Family + "." + s.Size
	}
	return cmp.Or(s.Family, s.GPUModel)
}

// skuDetails are the properties of a SKU that FOCUS 1.2 names, and the GPU's model.
func skuDetails(s *SKU) string {
	type details struct {
		InstanceType    string `json:"InstanceType,omitempty"`
		OperatingSystem string `json:"OperatingSystem,omitempty"`
		GpuModel        string `json:"x_GpuModel,omitempty"`
	}
	d := details{OperatingSystem: s.OS, GpuModel: s.GPUModel}
	if s.Family != "" {
		d.InstanceType = skuName(s)
	}
	if d == (details{}) {
		return ""
	}
	b, err := json.Marshal(d)
	if err != nil { // texts are always JSON
		return ""
	}
	return string(b)
}

// tagsOf carries who used it.
func tagsOf(r *Row) string {
	type tags struct {
		Job    string `json:"job,omitempty"`
		Tenant string `json:"tenant,omitempty"`
	}
	if r.Tenant == "" && r.Job == "" {
		return ""
	}
	b, err := json.Marshal(tags{r.Job, r.Tenant})
	if err != nil {
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
