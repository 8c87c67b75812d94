package focus

import (
	"fmt"
	"slices"

	"capcli"
)

// The rules in this file are the requirements that FOCUS 1.2 (May 2025) states with MUST in its
// chapter on columns, as far as a single row can show whether they are kept:
// https://focus.finops.org/focus-specification/v1-2/. A rule is applied only where the bill has
// its columns; Missing lists the mandatory columns that the bill lacks.

// mandatory are the columns of feature level Mandatory.
var mandatory = []string{
	"BilledCost", "BillingAccountId", "BillingAccountName", "BillingCurrency", "BillingPeriodEnd", "BillingPeriodStart", "ChargeCategory",
	"ChargeClass", "ChargeDescription", "ChargePeriodEnd", "ChargePeriodStart", "ContractedCost", "EffectiveCost", "InvoiceIssuerName",
	"ListCost", "PricingQuantity", "PricingUnit", "ProviderName", "PublisherName", "ServiceCategory", "ServiceName",
}

// always are the columns that may not be null in any row.
var always = []string{
	"BillingAccountId", "BillingCurrency", "BillingPeriodEnd", "BillingPeriodStart", "ChargeFrequency", "ContractedCost", "InvoiceIssuerName", "ListCost",
	"PricingCurrency", "PricingCurrencyEffectiveCost", "ProviderName", "PublisherName", "ServiceCategory", "ServiceName",
}

// priced are the columns that may not be null in a row of usage or of a purchase, and must be
// null in a row of tax.
var priced = []string{
	"ContractedUnitPrice", "ListUnitPrice", "PricingCategory", "PricingCurrencyContractedUnitPrice", "PricingCurrencyListUnitPrice",
	"PricingQuantity", "SkuId", "SkuPriceId",
}

// ofCommitment are the columns that have a value in a row if and only if it belongs to a
// commitment.
var ofCommitment = []string{"CommitmentDiscountCategory", "CommitmentDiscountType", "CommitmentDiscountUnit"}

// Columns sets the columns that the bill has. Rows added after it are checked against the rules
// of FOCUS 1.2, and Missing lists the mandatory columns that the bill lacks. Without it Add
// notes only contradictions within a row.
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

// columnsPresent returns those columns of names that the bill has.
func (c *Check) columnsPresent(names []string) []*column {
	var out []*column
	for _, n := range names {
		if c.have[n] {
			out = append(out, byName[n])
		}
	}
	return out
}

// rules checks a row against the requirements.
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

// lacks notes a violation where the bill has the column, the row needs a value in it, and it is
// null.
func (c *Check) lacks(r *Row, k *column, why string) {
	if k.isEmpty(r) && c.have[k.name] {
		c.fault(r, fmt.Sprintf("%s is null; expected a value%s", k.name, why))
	}
}

// noteUnwanted notes a violation where a column must be null in the row and has a value.
func (c *Check) noteUnwanted(r *Row, k *column, why string) {
	if !k.isEmpty(r) {
		c.fault(r, fmt.Sprintf("%s has a value; expected null%s", k.name, why))
	}
}

// Columns that single rules name.
var (
	accountTypeColumn = byName["BillingAccountType"]
	pricingUnitColumn = byName["PricingUnit"]
	consumedColumn    = byName["ConsumedQuantity"]
	discountColumn    = byName["CommitmentDiscountQuantity"]
)

// present checks the columns that every row must have.
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

// prices checks the columns of usage and purchases.
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

// product checks that quantity x price is the cost. Bills round each of the three, so a
// difference of up to a millionth plus a billionth of the cost is allowed.
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

// slack returns the difference from a product that rounding explains.
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

// ofCommitment checks the columns that rows of a commitment must have and other rows must not.
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

// currencies checks the costs and prices in the pricing currency. They must equal those in the
// billing currency where the two currencies are one.
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

// skus checks that each SkuPriceId belongs to one SkuId.
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

// Conforms reports whether no row breaks a rule and, for a bill that has a column of FOCUS 1.2
// alone, whether it has all mandatory columns.
func (c *Check) Conforms() bool {
	return c.OddRows == 0 && (len(c.Missing) == 0 || !slices.ContainsFunc(focus12, func(n string) bool { return c.have[n] }))
}
