// Package focus reads, writes and checks bills in FOCUS, the FinOps Open Cost and Usage
// Specification (1.0 to 1.2, https://focus.finops.org).
//
// A Row is one line of a bill. Its numbers are Amounts, exact decimals of 128 bits, for
// providers bill in fractions of a millionth of a dollar. A Reader gives the rows of a
// bill as CSV, a Writer writes them, and a Check sums them, holds each row against the
// rules of FOCUS 1.2, and says of each commitment whether what its usage is charged is
// what was bought. A Sheet is any other table with a header line.
package focus

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"capcli"
)

// Row is one row of a bill as the FinOps Open Cost and Usage Specification has
// it (FOCUS 1.2, https://focus.finops.org, May 2025); 1.0 and 1.1 have fewer of
// the same columns. A text that is null is "", a number that is null is not
// Known, an instant that is null is capcli.NoTime.
type Row struct {
	Line int // of the file, 0 for a row that was never in one

	BilledCost, EffectiveCost, ListCost, ContractedCost                                            Number
	ListUnitPrice, ContractedUnitPrice                                                             Number
	ConsumedQuantity, PricingQuantity, CommitmentDiscountQuantity                                  Number
	PricingCurrencyContractedUnitPrice, PricingCurrencyEffectiveCost, PricingCurrencyListUnitPrice Number
	BillingPeriodStart, BillingPeriodEnd, ChargePeriodStart, ChargePeriodEnd                       capcli.Time
	ChargeCategory, ChargeClass, ChargeFrequency, PricingCategory                                  string
	CapacityReservationID, CapacityReservationStatus                                               string
	CommitmentDiscountID, CommitmentDiscountName, CommitmentDiscountCategory                       string
	CommitmentDiscountStatus, CommitmentDiscountType, CommitmentDiscountUnit                       string
	AvailabilityZone, BillingAccountID, BillingAccountName, BillingAccountType, BillingCurrency    string
	ChargeDescription, ConsumedUnit, InvoiceID, InvoiceIssuerName, PricingCurrency, PricingUnit    string
	ProviderName, PublisherName, RegionID, RegionName, ResourceID, ResourceName, ResourceType      string
	ServiceCategory, ServiceName, ServiceSubcategory, SkuID, SkuMeter, SkuPriceDetails, SkuPriceID string
	SubAccountID, SubAccountName, SubAccountType                                                   string
	Tags                                                                                           string // JSON: {"key":"value"}
}

// Number is an exact number that may be null.
type Number struct {
	Amount
	Known bool
}

// NumberOf is a number that is known.
func NumberOf(a Amount) Number { return Number{a, true} }

// The values of FOCUS columns that decide what a row is.
const (
	Usage     = "Usage"
	Purchase  = "Purchase"
	tax       = "Tax"
	Used      = "Used"
	Unused    = "Unused"
	Committed = "Committed"
	Standard  = "Standard"
	Dynamic   = "Dynamic"
)

// column is one column of a bill.
type column struct {
	name   string
	field  int      // of FOCUS: a string, a Number or an instant
	values []string // that a text may have; nil is any
	need   bool     // a bill cannot be read without it
	places int      // behind the point that a number is written with at least: two for money
}

// cell is where a row keeps its value: a *string, a *Number or a *capcli.Time.
func (c *column) cell(r *Row) any {
	return reflect.ValueOf(r).Elem().Field(c.field).Addr().Interface()
}

// values are the values of the columns that have a list of them.
var values = map[string][]string{
	"CapacityReservationStatus":  {Used, Unused},
	"ChargeCategory":             {Usage, Purchase, tax, "Credit", "Adjustment"},
	"ChargeClass":                {"Correction"},
	"ChargeFrequency":            {"One-Time", "Recurring", "Usage-Based"},
	"CommitmentDiscountCategory": {"Spend", Usage},
	"CommitmentDiscountStatus":   {Used, Unused},
	"PricingCategory":            {Standard, Dynamic, Committed, "Other"},
}

// needed are the columns without which a bill means nothing.
var needed = []string{"BilledCost", "ChargeCategory", "ChargePeriodEnd", "ChargePeriodStart", "EffectiveCost"}

// columns are the columns of FOCUS 1.2 in order of name, in which they are
// written: the fields of FOCUS but for Line. What is ID in Go is Id in a bill.
var columns = func() (columns []column) {
	for i, field := range reflect.VisibleFields(reflect.TypeFor[Row]())[1:] {
		name := field.Name
		if at, ok := strings.CutSuffix(name, "ID"); ok {
			name = at + "Id"
		}
		c := column{name: name, field: i + 1, values: values[name], need: slices.Contains(needed, name)}
		if strings.HasSuffix(name, "Cost") || strings.HasSuffix(name, "Price") {
			c.places = 2
		}
		columns = append(columns, c)
	}
	slices.SortFunc(columns, func(a, b column) int { return strings.Compare(a.name, b.name) })
	return columns
}()

// byName finds a column.
var byName = func() map[string]*column {
	m := map[string]*column{}
	for i := range columns {
		m[columns[i].name] = &columns[i]
	}
	return m
}()

// isEmpty tells whether the row says nothing in a column.
func (c *column) isEmpty(r *Row) bool {
	switch v := c.cell(r).(type) {
	case *string:
		return *v == ""
	case *Number:
		return !v.Known
	case *capcli.Time:
		return !v.IsKnown()
	}
	return true
}

// NewRow is a row of which nothing is known.
func NewRow() Row {
	return Row{
		BillingPeriodStart: capcli.NoTime, BillingPeriodEnd: capcli.NoTime,
		ChargePeriodStart: capcli.NoTime, ChargePeriodEnd: capcli.NoTime,
	}
}

// focus12 are the columns that FOCUS 1.2 brought.
var focus12 = []string{
	"BillingAccountType", "InvoiceId", "PricingCurrency", "PricingCurrencyContractedUnitPrice", "PricingCurrencyEffectiveCost",
	"PricingCurrencyListUnitPrice", "SubAccountType",
}

// version tells from the columns which version of the specification a bill
// keeps to: the oldest that has them all.
func version(names []string) string {
	has := func(list ...string) bool {
		return slices.ContainsFunc(list, func(n string) bool {
			return slices.ContainsFunc(names, func(have string) bool { return strings.EqualFold(have, n) })
		})
	}
	switch {
	case has(focus12...):
		return "1.2"
	case has("CapacityReservationId", "CapacityReservationStatus", "CommitmentDiscountQuantity", "CommitmentDiscountUnit", "ServiceSubcategory",
		"SkuMeter", "SkuPriceDetails"):
		return "1.1"
	}
	return "1.0"
}

// SetPrice sets one unit price, list and contracted, and the costs that follow from
// it and the quantity.
func (f *Row) SetPrice(quantity Amount, unit string, list, contracted capcli.Rate) {
	f.PricingQuantity, f.PricingUnit = NumberOf(quantity), unit
	f.ListUnitPrice, f.ContractedUnitPrice = NumberOf(AmountOf(list)), NumberOf(AmountOf(contracted))
	f.ListCost, f.ContractedCost = product(quantity, list), product(quantity, contracted)
	f.PricingCurrencyListUnitPrice, f.PricingCurrencyContractedUnitPrice = f.ListUnitPrice, f.ContractedUnitPrice
}

// product is a price times a quantity. An amount that does not fit is null.
func product(quantity Amount, price capcli.Rate) Number {
	a, err := quantity.Times(AmountOf(price))
	if err != nil {
		return Number{}
	}
	return NumberOf(a)
}

// SetPaid sets what a purchase costs that is priced as a whole.
func (f *Row) SetPaid(u capcli.USD) {
	f.BilledCost = NumberOf(AmountOf(u))
	sign, price := NewAmount(1, 0), u
	if u < 0 { // what comes back: prices are never negative
		sign, price = sign.Neg(), -u
	}
	f.SetPrice(sign, "Purchases", price, price)
}

// SetCosts sets what a row costs, cash and amortised.
func (f *Row) SetCosts(billed, effective capcli.USD) {
	f.BilledCost, f.EffectiveCost = NumberOf(AmountOf(billed)), NumberOf(AmountOf(effective))
	f.PricingCurrencyEffectiveCost = f.EffectiveCost
}

// SetBiller sets who bills for a charge, in which account and currency.
func (f *Row) SetBiller(provider, account, currency string) {
	who := cmp.Or(provider, Self)
	f.ProviderName, f.PublisherName, f.InvoiceIssuerName = who, who, who
	f.BillingAccountID, f.BillingAccountName, f.BillingAccountType = account, account, "Billing Account"
	f.BillingCurrency, f.PricingCurrency = currency, currency
}

// Self is the provider, publisher and invoice issuer of charges of which no
// provider is known: FOCUS wants a name in every row, and capcli wrote the bill.
const Self = "capcli"
