// Package focus reads, writes and checks bills in FOCUS, the FinOps Open Cost and Usage
// Specification (1.0 to 1.2, https://focus.finops.org).
//
// A Row is one line of a bill. Its numbers are Amounts, exact decimals of 128 bits, because
// providers bill in fractions of a millionth of a dollar. A Reader reads the rows of a bill
// from CSV, and a Writer writes them. A Check sums the rows, checks each against the rules of
// FOCUS 1.2, and reports for each commitment whether its usage is charged what its purchases
// cost. A capcli.Sheet is any other table with a header line.
package focus

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"capcli"
)

// Row is one row of a bill in FOCUS 1.2 (https://focus.finops.org, May 2025). FOCUS 1.0 and 1.1
// have a subset of its columns. A null text is "", a null number has Known unset, and a null
// instant is capcli.NoTime.
type Row struct {
	Line int // line of the file; 0 for a row that was not read from a file

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
	Known bool // false: the number is null
}

// NumberOf returns a as a number that is known.
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
	field  int      // index into the fields of Row; the field is a string, a Number or a capcli.Time
	values []string // values that a text may have; nil allows any
	need   bool     // a bill without this column cannot be read
	places int      // least number of decimals written: 2 for money
}

// cell returns a pointer to the column's value in a row: a *string, a *Number or a
// *capcli.Time.
func (c *column) cell(r *Row) any {
	return reflect.ValueOf(r).Elem().Field(c.field).Addr().Interface()
}

// values are the allowed values, by column; other columns allow any text.
var values = map[string][]string{
	"CapacityReservationStatus":  {Used, Unused},
	"ChargeCategory":             {Usage, Purchase, tax, "Credit", "Adjustment"},
	"ChargeClass":                {"Correction"},
	"ChargeFrequency":            {"One-Time", "Recurring", "Usage-Based"},
	"CommitmentDiscountCategory": {"Spend", Usage},
	"CommitmentDiscountStatus":   {Used, Unused},
	"PricingCategory":            {Standard, Dynamic, Committed, "Other"},
}

// needed are the columns that a bill must have to be read.
var needed = []string{"BilledCost", "ChargeCategory", "ChargePeriodEnd", "ChargePeriodStart", "EffectiveCost"}

// columns are the columns of FOCUS 1.2 in order of name, which is the order in which they are
// written. They are the fields of Row except Line; ID at the end of a Go name is Id in the
// bill.
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

// byName holds the columns by name.
var byName = func() map[string]*column {
	m := map[string]*column{}
	for i := range columns {
		m[columns[i].name] = &columns[i]
	}
	return m
}()

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

// NewRow returns a row in which everything is null.
func NewRow() Row {
	return Row{
		BillingPeriodStart: capcli.NoTime, BillingPeriodEnd: capcli.NoTime,
		ChargePeriodStart: capcli.NoTime, ChargePeriodEnd: capcli.NoTime,
	}
}

// focus12 are the columns that FOCUS 1.2 added.
var focus12 = []string{
	"BillingAccountType", "InvoiceId", "PricingCurrency", "PricingCurrencyContractedUnitPrice", "PricingCurrencyEffectiveCost",
	"PricingCurrencyListUnitPrice", "SubAccountType",
}

// version returns the version of FOCUS that the columns of a bill belong to: the oldest one
// that has all of them.
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

// SetPrice sets the quantity, its unit, the list and contracted unit prices, and the list and
// contracted costs, which are quantity x price.
func (f *Row) SetPrice(quantity Amount, unit string, list, contracted capcli.Rate) {
	f.PricingQuantity, f.PricingUnit = NumberOf(quantity), unit
	f.ListUnitPrice, f.ContractedUnitPrice = NumberOf(AmountOf(list)), NumberOf(AmountOf(contracted))
	f.ListCost, f.ContractedCost = product(quantity, list), product(quantity, contracted)
	f.PricingCurrencyListUnitPrice, f.PricingCurrencyContractedUnitPrice = f.ListUnitPrice, f.ContractedUnitPrice
}

// product returns quantity x price, null where it does not fit.
func product(quantity Amount, price capcli.Rate) Number {
	a, err := quantity.Times(AmountOf(price))
	if err != nil {
		return Number{}
	}
	return NumberOf(a)
}

// SetPaid sets the billed cost of a purchase that is priced as a whole: a quantity of 1 at
// price u.
func (f *Row) SetPaid(u capcli.USD) {
	f.BilledCost = NumberOf(AmountOf(u))
	sign, price := NewAmount(1, 0), u
	if u < 0 { // a refund: prices are never negative, so the quantity is
		sign, price = sign.Neg(), -u
	}
	f.SetPrice(sign, "Purchases", price, price)
}

// SetCosts sets the billed cost (cash) and the effective cost (amortised).
func (f *Row) SetCosts(billed, effective capcli.USD) {
	f.BilledCost, f.EffectiveCost = NumberOf(AmountOf(billed)), NumberOf(AmountOf(effective))
	f.PricingCurrencyEffectiveCost = f.EffectiveCost
}

// SetBiller sets who bills for the charge, the billing account and the currency. An empty
// provider is Self.
func (f *Row) SetBiller(provider, account, currency string) {
	who := cmp.Or(provider, Self)
	f.ProviderName, f.PublisherName, f.InvoiceIssuerName = who, who, who
	f.BillingAccountID, f.BillingAccountName, f.BillingAccountType = account, account, "Billing Account"
	f.BillingCurrency, f.PricingCurrency = currency, currency
}

// Self is the provider, publisher and invoice issuer of a charge whose provider is not known.
// FOCUS wants a name in every row, and capcli wrote the bill.
const Self = "capcli"
