package billing

import (
	"fmt"
	"slices"
	"strings"

	"capcli"
)

func init() {
	Products.Add("azure_reservation", "Azure reserved VM instance: machines, use it or lose it hour by hour",
		example(AzureReservation{Units: 4000}, Scope{Family: "p5", Size: "large"}, Fees{Hourly: 4 * capcli.Dollar}))
}

// AzureReservation is Azure's reserved VM instance: use it or lose it hour by hour. It is
// shared by all matching machines of the hour and applied before any savings plan, narrower
// scopes first. Paying by the month costs as much as paying at once. It never covers spot. For
// exchanges and refunds see Rebalance.
//
// A reservation for a size in a flexibility group covers all sizes of that group, in proportion
// to their ratios, the smallest first: a reservation of a size with ratio 4 covers one machine
// of ratio 4, two of ratio 2, or half of one of ratio 8. The groups are azureGroups, or the one
// in Sizes.
//
// Source: Microsoft Learn, "How a reservation discount is applied to virtual machines" and
// "Instance size flexibility (ISF)" (5 March 2026).
type AzureReservation struct {
	Units             // thousandths of a machine of the scope's size
	Sizes []SizeRatio // the flexibility group; empty: the one of azureGroups, if any
	Rigid bool        // optimised for capacity: covers only the scope's size
}

// SizeRatio is one size of a flexibility group, such as Standard_NC48ads_A100_v4 with ratio 2.
// Ratios differ by region; Azure's reservation catalogue states them
// (ReservationsAutofitRatio).
type SizeRatio struct {
	Size  string
	Ratio int64
}

// azureGroups are the flexibility groups of GPU machines that Microsoft has published as
// tables, and DSv2, the group with which it explains the rule.
//
// Source: Microsoft, "Virtual machine size flexibility with Reserved VM Instances" (18 February
// 2020). Later series are only in the catalogue.
var azureGroups = [][]SizeRatio{
	{{"Standard_DS1_v2", 1}, {"Standard_DS2_v2", 2}, {"Standard_DS3_v2", 4}, {"Standard_DS4_v2", 8}, {"Standard_DS5_v2", 16}},
	{{"Standard_NC6", 1}, {"Standard_NC12", 2}, {"Standard_NC24", 4}},
	{{"Standard_NC6s_v2", 1}, {"Standard_NC12s_v2", 2}, {"Standard_NC24s_v2", 4}},
	{{"Standard_NC6s_v3", 1}, {"Standard_NC12s_v3", 2}, {"Standard_NC24s_v3", 4}},
	{{"Standard_ND6s", 1}, {"Standard_ND12s", 2}, {"Standard_ND24s", 4}},
	{{"Standard_NV6", 1}, {"Standard_NV12", 2}, {"Standard_NV24", 4}},
}

// Name returns the product's name.
func (AzureReservation) Name() string { return "azure_reservation" }

// Form implements Product.
func (p AzureReservation) Form() *Form {
	p = AzureReservation{}
	flexible := true
	return unitsForm(&p.Units, func() Product {
		p.Rigid = !flexible
		return p
	}, Option{Name: "sizes", Doc: "azure_reservation: its flexibility group by the reservation catalogue: [{size: Standard_NC24ads_A100_v4, ratio: 1}, {size: Standard_NC48ads_A100_v4, ratio: 2}]", Into: &p.Sizes},
		Option{Name: "size_flexibility", Doc: "azure_reservation: false covers its own size only", Into: &flexible})
}

func (AzureReservation) properties(*Commitment) capcli.Properties {
	return capcli.Properties{Covers: true}
}

// mostRatio is the largest ratio. With it, the power of maxUnits over an hour fits an int64.
const mostRatio = 20_000

func (p AzureReservation) check(c *Commitment) string {
	for i, s := range p.Sizes {
		switch {
		case s.Ratio < 1 || s.Ratio > mostRatio:
			return fmt.Sprintf("size %s has ratio %d; it must be from 1 to %d", s.Size, s.Ratio, mostRatio)
		case slices.ContainsFunc(p.Sizes[:i], func(o SizeRatio) bool { return o.Size == s.Size }):
			return fmt.Sprintf("size %s is in its group twice", s.Size)
		}
	}
	if own := skuName(c.Scope.sku()); len(p.Sizes) > 0 && ratioIn(p.Sizes, own) == 0 {
		return fmt.Sprintf("its own size %q is not among the sizes of its group", own)
	}
	return p.Units.check(c)
}

func (s *Scope) sku() *SKU {
	return &SKU{Provider: s.Provider, Region: s.Region, Zone: s.Zone, Family: s.Family, Size: s.Size, GPUModel: s.GPUModel, Service: s.Service, OS: s.OS}
}

// ratioIn returns the ratio of a size in a group, 0 where the group does not have it.
func ratioIn(group []SizeRatio, size string) int64 {
	for _, s := range group {
		if strings.EqualFold(s.Size, size) {
			return s.Ratio
		}
	}
	return 0
}

// group returns the flexibility group of the reservation, nil where it has none.
func (p AzureReservation) group(c *Commitment) []SizeRatio {
	own := skuName(c.Scope.sku())
	switch {
	case p.Rigid || own == "":
		return nil
	case len(p.Sizes) > 0:
		return p.Sizes
	}
	for _, g := range azureGroups {
		if ratioIn(g, own) > 0 {
			return g
		}
	}
	return nil
}

func (p AzureReservation) power(c *Commitment) int64 {
	return max(1, ratioIn(p.group(c), skuName(c.Scope.sku()))) * p.units()
}

func (p AzureReservation) cover(c *Commitment, b *bucket) (claim, bool) {
	group := p.group(c)
	if group == nil {
		k, ok := coverUnits(c, b, stageReserved)
		k.order.narrow = c.Scope.narrowness()
		return k, ok
	}
	scope := c.Scope
	scope.Family, scope.Size = "", ""
	ratio := ratioIn(group, skuName(&b.sku))
	if ratio == 0 || !b.eligible() || !scope.Matches(&b.sku, b.account) {
		return claim{}, false
	}
	o := standing(c, b, stageReserved)
	o.narrow, o.alone, o.size = c.Scope.narrowness(), true, ratio
	return claim{weight: ratio, order: o}, true
}

// azureLastExchange is the first day on which Azure sells reservations of virtual machines
// without the right to exchange them.
const azureLastExchange = capcli.Time(1801440000) // 2027-02-01

// exchange checks an exchange by Azure's rules. A reservation bought before azureLastExchange
// may be exchanged for another reservation; any may be traded in for a savings plan. The new
// commitment must cost over its term at least what was left of the old one. It fails with an
// *EscapeError.
//
// Source: Microsoft Learn, "Self-service exchanges and refunds for Azure Reservations" (22 July
// 2026): no exchange of reservations bought from 1 February 2027 on where savings plans support
// the service, no limit on exchanges, refunds of up to 50,000 dollars of cancelled commitment
// in a rolling window of 12 months.
func (AzureReservation) exchange(c, with *Commitment, left capcli.USD) error {
	switch with.Product.(type) {
	case AzurePlan:
	case AzureReservation:
		if c.Start >= azureLastExchange {
			return &EscapeError{fmt.Sprintf("commitment %s was bought on %s; Azure exchanges no reservation of virtual machines bought from %s on: trade it in for an azure_savings_plan, or give it up", c.ID, c.Start, azureLastExchange)}
		}
	default:
		return &EscapeError{fmt.Sprintf("Azure exchanges reservation %s for another reservation or an azure_savings_plan, not for %s", c.ID, with.Product.Name())}
	}
	total, err := with.Total()
	if err != nil {
		return err
	}
	if total < left {
		return &EscapeError{fmt.Sprintf("commitment %s costs %s over its term, and %s has %s left; Azure wants no less than that for an exchange", with.ID, total, c.ID, left)}
	}
	return nil
}
