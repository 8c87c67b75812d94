package billing

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"capcli"
)

// FOCUS is one row of a bill as the FinOps Open Cost and Usage Specification has
// it (FOCUS 1.2, https://focus.finops.org, May 2025); 1.0 and 1.1 have fewer of
// the same columns. A text that is null is "", a number that is null is not
// Known, an instant that is null is capcli.NoTime.
type FOCUS struct {
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

// numberOf is a number that is known.
func numberOf(a Amount) Number { return Number{a, true} }

// The values of FOCUS columns that decide what a row is.
const (
	focusUsage          = "Usage"
	focusPurchaseCharge = "Purchase"
	focusTax            = "Tax"
	focusUsed           = "Used"
	focusUnused         = "Unused"
	focusCommitted      = "Committed"
	focusStandard       = "Standard"
	focusDynamic        = "Dynamic"
)

// focusColumn is one column: its name, and where a row keeps its value.
type focusColumn struct {
	name   string
	text   func(r *FOCUS) *string
	number func(r *FOCUS) *Number
	time   func(r *FOCUS) *capcli.Time
	values []string // that a text may have; nil is any
	need   bool     // a bill cannot be read without it
	money  bool     // is written with two places at least
}

func textColumn(name string, at func(r *FOCUS) *string, values ...string) focusColumn {
	return focusColumn{name: name, text: at, values: values}
}

func numberColumn(name string, at func(r *FOCUS) *Number) focusColumn {
	return focusColumn{name: name, number: at, money: strings.HasSuffix(name, "Cost") || strings.HasSuffix(name, "Price")}
}

func timeColumn(name string, at func(r *FOCUS) *capcli.Time) focusColumn {
	return focusColumn{name: name, time: at}
}

// needed marks a column without which a bill means nothing.
func needed(c focusColumn) focusColumn {
	c.need = true
	return c
}

// focusColumns are the columns of FOCUS 1.2 in order of name.
var focusColumns = []focusColumn{
	textColumn("AvailabilityZone", func(r *FOCUS) *string { return &r.AvailabilityZone }),
	needed(numberColumn("BilledCost", func(r *FOCUS) *Number { return &r.BilledCost })),
	textColumn("BillingAccountId", func(r *FOCUS) *string { return &r.BillingAccountID }),
	textColumn("BillingAccountName", func(r *FOCUS) *string { return &r.BillingAccountName }),
	textColumn("BillingAccountType", func(r *FOCUS) *string { return &r.BillingAccountType }),
	textColumn("BillingCurrency", func(r *FOCUS) *string { return &r.BillingCurrency }),
	timeColumn("BillingPeriodEnd", func(r *FOCUS) *capcli.Time { return &r.BillingPeriodEnd }),
	timeColumn("BillingPeriodStart", func(r *FOCUS) *capcli.Time { return &r.BillingPeriodStart }),
	textColumn("CapacityReservationId", func(r *FOCUS) *string { return &r.CapacityReservationID }),
	textColumn("CapacityReservationStatus", func(r *FOCUS) *string { return &r.CapacityReservationStatus }, focusUsed, focusUnused),
	needed(textColumn("ChargeCategory", func(r *FOCUS) *string { return &r.ChargeCategory }, focusUsage, focusPurchaseCharge, focusTax, "Credit", "Adjustment")),
	textColumn("ChargeClass", func(r *FOCUS) *string { return &r.ChargeClass }, "Correction"),
	textColumn("ChargeDescription", func(r *FOCUS) *string { return &r.ChargeDescription }),
	textColumn("ChargeFrequency", func(r *FOCUS) *string { return &r.ChargeFrequency }, "One-Time", "Recurring", "Usage-Based"),
	needed(timeColumn("ChargePeriodEnd", func(r *FOCUS) *capcli.Time { return &r.ChargePeriodEnd })),
	needed(timeColumn("ChargePeriodStart", func(r *FOCUS) *capcli.Time { return &r.ChargePeriodStart })),
	textColumn("CommitmentDiscountCategory", func(r *FOCUS) *string { return &r.CommitmentDiscountCategory }, "Spend", focusUsage),
	textColumn("CommitmentDiscountId", func(r *FOCUS) *string { return &r.CommitmentDiscountID }),
	textColumn("CommitmentDiscountName", func(r *FOCUS) *string { return &r.CommitmentDiscountName }),
	numberColumn("CommitmentDiscountQuantity", func(r *FOCUS) *Number { return &r.CommitmentDiscountQuantity }),
	textColumn("CommitmentDiscountStatus", func(r *FOCUS) *string { return &r.CommitmentDiscountStatus }, focusUsed, focusUnused),
	textColumn("CommitmentDiscountType", func(r *FOCUS) *string { return &r.CommitmentDiscountType }),
	textColumn("CommitmentDiscountUnit", func(r *FOCUS) *string { return &r.CommitmentDiscountUnit }),
	numberColumn("ConsumedQuantity", func(r *FOCUS) *Number { return &r.ConsumedQuantity }),
	textColumn("ConsumedUnit", func(r *FOCUS) *string { return &r.ConsumedUnit }),
	numberColumn("ContractedCost", func(r *FOCUS) *Number { return &r.ContractedCost }),
	numberColumn("ContractedUnitPrice", func(r *FOCUS) *Number { return &r.ContractedUnitPrice }),
	needed(numberColumn("EffectiveCost", func(r *FOCUS) *Number { return &r.EffectiveCost })),
	textColumn("InvoiceId", func(r *FOCUS) *string { return &r.InvoiceID }),
	textColumn("InvoiceIssuerName", func(r *FOCUS) *string { return &r.InvoiceIssuerName }),
	numberColumn("ListCost", func(r *FOCUS) *Number { return &r.ListCost }),
	numberColumn("ListUnitPrice", func(r *FOCUS) *Number { return &r.ListUnitPrice }),
	textColumn("PricingCategory", func(r *FOCUS) *string { return &r.PricingCategory }, focusStandard, focusDynamic, focusCommitted, "Other"),
	textColumn("PricingCurrency", func(r *FOCUS) *string { return &r.PricingCurrency }),
	numberColumn("PricingCurrencyContractedUnitPrice", func(r *FOCUS) *Number { return &r.PricingCurrencyContractedUnitPrice }),
	numberColumn("PricingCurrencyEffectiveCost", func(r *FOCUS) *Number { return &r.PricingCurrencyEffectiveCost }),
	numberColumn("PricingCurrencyListUnitPrice", func(r *FOCUS) *Number { return &r.PricingCurrencyListUnitPrice }),
	numberColumn("PricingQuantity", func(r *FOCUS) *Number { return &r.PricingQuantity }),
	textColumn("PricingUnit", func(r *FOCUS) *string { return &r.PricingUnit }),
	textColumn("ProviderName", func(r *FOCUS) *string { return &r.ProviderName }),
	textColumn("PublisherName", func(r *FOCUS) *string { return &r.PublisherName }),
	textColumn("RegionId", func(r *FOCUS) *string { return &r.RegionID }),
	textColumn("RegionName", func(r *FOCUS) *string { return &r.RegionName }),
	textColumn("ResourceId", func(r *FOCUS) *string { return &r.ResourceID }),
	textColumn("ResourceName", func(r *FOCUS) *string { return &r.ResourceName }),
	textColumn("ResourceType", func(r *FOCUS) *string { return &r.ResourceType }),
	textColumn("ServiceCategory", func(r *FOCUS) *string { return &r.ServiceCategory }),
	textColumn("ServiceName", func(r *FOCUS) *string { return &r.ServiceName }),
	textColumn("ServiceSubcategory", func(r *FOCUS) *string { return &r.ServiceSubcategory }),
	textColumn("SkuId", func(r *FOCUS) *string { return &r.SkuID }),
	textColumn("SkuMeter", func(r *FOCUS) *string { return &r.SkuMeter }),
	textColumn("SkuPriceDetails", func(r *FOCUS) *string { return &r.SkuPriceDetails }),
	textColumn("SkuPriceId", func(r *FOCUS) *string { return &r.SkuPriceID }),
	textColumn("SubAccountId", func(r *FOCUS) *string { return &r.SubAccountID }),
	textColumn("SubAccountName", func(r *FOCUS) *string { return &r.SubAccountName }),
	textColumn("SubAccountType", func(r *FOCUS) *string { return &r.SubAccountType }),
	textColumn("Tags", func(r *FOCUS) *string { return &r.Tags }),
}

// allFocusColumns are the names of the columns of FOCUS 1.2, in the order in which
// they are written.
func allFocusColumns() []string {
	names := make([]string, len(focusColumns))
	for i := range focusColumns {
		names[i] = focusColumns[i].name
	}
	return names
}

// newFOCUS is a row of which nothing is known.
func newFOCUS() FOCUS {
	return FOCUS{
		BillingPeriodStart: capcli.NoTime, BillingPeriodEnd: capcli.NoTime,
		ChargePeriodStart: capcli.NoTime, ChargePeriodEnd: capcli.NoTime,
	}
}

// focus12 are the columns that FOCUS 1.2 brought.
var focus12 = []string{
	"BillingAccountType", "InvoiceId", "PricingCurrency", "PricingCurrencyContractedUnitPrice", "PricingCurrencyEffectiveCost",
	"PricingCurrencyListUnitPrice", "SubAccountType",
}

// focusVersion tells from the columns which version of the specification a bill
// keeps to: the oldest that has them all.
func focusVersion(names []string) string {
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

// parseFocusTime reads an instant as FOCUS writes it, 2023-01-01T00:00:00Z.
func parseFocusTime(text string) (capcli.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return capcli.NoTime, fmt.Errorf("expected an instant such as 2027-01-01T00:00:00Z, found %s", capcli.Quoted(text))
	}
	return capcli.TimeOf(t), nil
}
