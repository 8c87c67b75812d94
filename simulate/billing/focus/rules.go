package focus

import (
	"fmt"
	"slices"

	"capcli"
)

// The rules here are the requirements that FOCUS 1.2 (May 2025) states with MUST
// in its chapter of columns, as far as one row shows whether they are kept:
// https://focus.finops.org/focus-specification/v1-2/. A rule is held against the
// columns that a bill has; what it lacks is in Missing.

// mandatory are the columns of feature level Mandatory.
var mandatory = []string{
	"BilledCost", "BillingAccountId", "BillingAccountName", "BillingCurrency", "BillingPeriodEnd", "BillingPeriodStart", "ChargeCategory",
	"ChargeClass", "ChargeDescription", "ChargePeriodEnd", "ChargePeriodStart", "ContractedCost", "EffectiveCost", "InvoiceIssuerName",
	"ListCost", "PricingQuantity", "PricingUnit", "ProviderName", "PublisherName", "ServiceCategory", "ServiceName",
}

// always are columns that no row may leave out.
var always = []string{
	"BillingAccountId", "BillingCurrency", "BillingPeriodEnd", "BillingPeriodStart", "ChargeFrequency", "ContractedCost", "InvoiceIssuerName", "ListCost",
	"PricingCurrency", "PricingCurrencyEffectiveCost", "ProviderName", "PublisherName", "ServiceCategory", "ServiceName",
}

// priced are columns that no row of usage or of a purchase may leave out,
// and that a tax has not.
var priced = []string{
	"ContractedUnitPrice", "ListUnitPrice", "PricingCategory", "PricingCurrencyContractedUnitPrice", "PricingCurrencyListUnitPrice",
	"PricingQuantity", "SkuId", "SkuPriceId",
}

// ofCommitment are columns that a row has if and only if it is of a
// commitment.
var ofCommitment = []string{"CommitmentDiscountCategory", "CommitmentDiscountType", "CommitmentDiscountUnit"}

// Columns says which columns the bill has, so that its rows are held against the
// rules of FOCUS 1.2 and the mandatory columns that it lacks are known. Without
// it only what contradicts itself is noted.
func (c *Check) Columns(names []string) {
	c.have, c.Missing = map[string]bool{}, []string{}
	for _, n := range names {
		c.have[n] = true
	}
	for _, n := range mandatory {
		if !c.have[n] {
			c.Missing = append(c.Missing, n)
		}
	}
	c.always, c.priced, c.committed = c.columnsPresent(always), c.columnsPresent(priced), c.columnsPresent(ofCommitment)
}

// columnsPresent gives the columns of a list that the bill has.
func (c *Check) columnsPresent(names []string) []*column {
	var out []*column
	for _, n := range names {
		if c.have[n] {
			out = append(out, byName[n])
		}
	}
	return out
}

// rules holds a row against the requirements.
func (c *Check) rules(r *Row) {
	if c.have == nil {
		return
	}
	c.present(r)
	if r.ChargeClass != "Correction" {
		c.prices(r)
		c.product(r, "ListUnitPrice", r.ListUnitPrice, "ListCost", r.ListCost)
		c.product(r, "ContractedUnitPrice", r.ContractedUnitPrice, "ContractedCost", r.ContractedCost)
		c.ofCommitment(r)
	}
	c.currencies(r)
	c.skus(r)
}

// lacks notes that a column of the bill is null in a row that wants it.
func (c *Check) lacks(r *Row, k *column, why string) {
	if k.isEmpty(r) && c.have[k.name] {
		c.fault(r, fmt.Sprintf("%s is null; expected a value%s", k.name, why))
	}
}

// noteUnwanted notes that a column has a value in a row that wants none.
func (c *Check) noteUnwanted(r *Row, k *column, why string) {
	if !k.isEmpty(r) {
		c.fault(r, fmt.Sprintf("%s has a value; expected null%s", k.name, why))
	}
}

// Columns that rules name one by one.
var (
	accountTypeColumn = byName["BillingAccountType"]
	pricingUnitColumn = byName["PricingUnit"]
	consumedColumn    = byName["ConsumedQuantity"]
	discountColumn    = byName["CommitmentDiscountQuantity"]
)

// present checks what every row has.
func (c *Check) present(r *Row) {
	for _, k := range c.always {
		c.lacks(r, k, ", for every row has one")
	}
	switch {
	case r.BillingAccountID != "":
		c.lacks(r, accountTypeColumn, ", for there is a BillingAccountId")
	case c.have["BillingAccountId"]:
		c.noteUnwanted(r, accountTypeColumn, ", for there is no BillingAccountId")
	}
	if r.ChargeCategory == Purchase && r.ChargeFrequency == "Usage-Based" {
		c.fault(r, "a purchase has ChargeFrequency Usage-Based; expected One-Time or Recurring")
	}
	if r.PricingQuantity.Known {
		c.lacks(r, pricingUnitColumn, ", for there is a PricingQuantity")
	}
}

// prices checks what usage and purchases have.
func (c *Check) prices(r *Row) {
	for _, k := range c.priced {
		switch r.ChargeCategory {
		case Usage:
			c.lacks(r, k, " in a row of usage")
		case Purchase:
			c.lacks(r, k, " in a row of a purchase")
		case tax:
			c.noteUnwanted(r, k, " in a row of tax")
		}
	}
	unused := r.ChargeCategory == Usage && r.CommitmentDiscountStatus == Unused
	if unused || r.ChargeCategory != Usage {
		c.noteUnwanted(r, consumedColumn, ", for nothing was consumed")
	}
	if r.ListUnitPrice.Sign() < 0 || r.ContractedUnitPrice.Sign() < 0 {
		c.fault(r, "a unit price is negative; expected 0 or more")
	}
}

// product checks that quantity times price is the cost. Bills round each of them,
// so a millionth, and a billionth of the cost, are let pass.
func (c *Check) product(r *Row, priceName string, price Number, costName string, cost Number) {
	if !price.Known || !r.PricingQuantity.Known || !cost.Known {
		return
	}
	want, err := r.PricingQuantity.Times(price.Amount)
	if err == nil {
		var off Amount
		if off, err = want.Sub(cost.Amount); err == nil && off.Abs().Cmp(slack(cost.Amount)) <= 0 {
			return
		}
	}
	c.fault(r, fmt.Sprintf("%s is %s, but PricingQuantity %s x %s %s is %s", costName, cost, r.PricingQuantity, priceName, price, want))
}

// slack is what rounding may make of a product.
func slack(cost Amount) Amount {
	a, err := cost.Abs().Times(NewAmount(1, 9))
	if err == nil {
		a, err = a.Add(NewAmount(1, 6))
	}
	if err != nil {
		return Amount{}
	}
	return a
}

// ofCommitment checks what rows of a commitment, and no others, have.
func (c *Check) ofCommitment(r *Row) {
	if !c.have["CommitmentDiscountId"] {
		return
	}
	id := r.CommitmentDiscountID != ""
	for _, k := range c.committed {
		if id {
			c.lacks(r, k, ", for there is a CommitmentDiscountId")
		} else {
			c.noteUnwanted(r, k, ", for there is no CommitmentDiscountId")
		}
	}
	q := r.CommitmentDiscountQuantity
	switch {
	case !id || r.ChargeCategory != Usage && r.ChargeCategory != Purchase:
		c.noteUnwanted(r, discountColumn, ", for it is no usage or purchase of a commitment")
	case !q.Known:
		c.lacks(r, discountColumn, ", for there is a CommitmentDiscountId")
	case q.Sign() <= 0:
		c.fault(r, fmt.Sprintf("CommitmentDiscountQuantity is %s; expected more than 0", q))
	}
}

// currencies checks prices in the currency of prices.
func (c *Check) currencies(r *Row) {
	if r.ChargeCategory == Purchase && r.EffectiveCost.Sign() == 0 && r.PricingCurrencyEffectiveCost.Sign() != 0 {
		c.fault(r, fmt.Sprintf("PricingCurrencyEffectiveCost of a purchase is %s; it belongs to the usage, so expected 0", r.PricingCurrencyEffectiveCost))
		return
	}
	if r.PricingCurrency == "" || r.PricingCurrency != r.BillingCurrency {
		return
	}
	for _, x := range []struct {
		name      string
		same, own Number
	}{
		{"EffectiveCost", r.EffectiveCost, r.PricingCurrencyEffectiveCost},
		{"ListUnitPrice", r.ListUnitPrice, r.PricingCurrencyListUnitPrice},
		{"ContractedUnitPrice", r.ContractedUnitPrice, r.PricingCurrencyContractedUnitPrice},
	} {
		if x.same.Known && x.own.Known && x.same.Amount != x.own.Amount {
			c.fault(r, fmt.Sprintf("PricingCurrency%s is %s and %s is %s; both are in %s, so expected them equal", x.name, x.own, x.name, x.same, r.BillingCurrency))
		}
	}
}

// skus checks that a price of a SKU is of one SKU.
func (c *Check) skus(r *Row) {
	if r.SkuPriceID == "" || r.SkuID == "" {
		return
	}
	switch sku, known := c.parent[r.SkuPriceID]; {
	case known && sku != r.SkuID:
		c.fault(r, fmt.Sprintf("SkuPriceId %s is of SkuId %s here and of %s before; expected one SkuId", capcli.Quoted(r.SkuPriceID), capcli.Quoted(r.SkuID), capcli.Quoted(sku)))
	case !known && len(c.parent) < mostTexts:
		c.parent[r.SkuPriceID] = r.SkuID
	}
}

// Conforms tells whether no row breaks a rule, and, for a bill that has columns of
// FOCUS 1.2 alone, whether it has all that are mandatory.
func (c *Check) Conforms() bool {
	return c.OddRows == 0 && (len(c.Missing) == 0 || !slices.ContainsFunc(focus12, func(n string) bool { return c.have[n] }))
}
