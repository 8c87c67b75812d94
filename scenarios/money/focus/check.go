package focus

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"capcli"
)

// Totals are sums over rows of a bill.
type Totals struct {
	Rows      int64   `json:"rows"`
	Billed    Amount  `json:"billed_cost"`
	Effective Amount  `json:"effective_cost"`
	List      *Amount `json:"list_cost"`              // on-demand equivalent of the usage; nil where a row states none
	Unlisted  int64   `json:"rows_without_list_cost"` // rows of usage without a ListCost

	list Amount // sum of ListCost over the rows that state one
}

// Group is the total of the rows that share one value: one service, status, month, account or
// tag value.
type Group struct {
	Key  string `json:"key,omitempty"` // key of a tag; "" for other kinds
	Name string `json:"name"`
	Totals
}

// Oddity is one violation of the FOCUS rules by one row.
type Oddity struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

// mostOddities is the most violations that are listed; all are counted.
const mostOddities = 100

// mostGroups is the most values of one kind that get a total of their own.
const mostGroups = 10_000

// Check sums a bill and checks it against FOCUS's invariants. For each commitment, the
// EffectiveCost of its usage rows, Used and Unused, must equal the BilledCost of its purchase
// rows (FOCUS 1.2, appendix on commitment discounts).
type Check struct {
	Result                         // filled by Add and completed by Conclude
	Used, Standard, Dynamic Totals // usage that commitments covered, at list terms, on spot
	Unused                  Totals // unused parts of commitments and reservations
	Other                   Totals // purchases, taxes, credits, adjustments

	faults                    int64             // violations found, over all rows
	have                      map[string]bool   // columns that the bill has; nil where Columns was not called
	always, priced, committed []*column         // columns of the bill that the rules of these names apply to
	parent                    map[string]string // SkuId by SkuPriceId

	UsedHours, StandardHours Amount // sums of ConsumedQuantity, valid where every row states one in the same unit
	HoursUnit                string // the unit of these sums, in lower case
	hoursBad                 bool   // a row has no quantity or another unit, so the sums mean nothing

	groups map[groupKey]*Group
	kinds  map[groupKey]int       // number of groups by kind and key
	byID   map[string]*Commitment // commitments by CommitmentDiscountId
	byCap  map[string]*Commitment // capacity reservations by CapacityReservationId
	tags   *Memo[[]tag]           // parsed tags by their text
}

type groupKey struct{ kind, key, name string }

type tag struct{ key, value string }

// NewCheck returns a check that has seen no rows.
func NewCheck() *Check {
	return &Check{
		Result: Result{
			Schema: "capcli/bill_check/v1", Commitments: []*Commitment{}, Reservations: []*Commitment{}, Services: []*Group{}, Statuses: []*Group{},
			Months: []*Group{}, Accounts: []*Group{}, Tags: []*Group{}, Missing: []string{}, Odd: []Oddity{}, Notes: []string{},
		},
		groups: map[groupKey]*Group{}, kinds: map[groupKey]int{},
		parent: map[string]string{}, byID: map[string]*Commitment{}, byCap: map[string]*Commitment{}, tags: NewMemo(parseTags),
	}
}

// Add adds a row to the sums and notes which rules it breaks. It fails with capcli.ErrOverflow
// when a sum does not fit.
func (c *Check) Add(r *Row) error {
	listed := r.ChargeCategory == Usage && r.CommitmentDiscountStatus != Unused && r.CapacityReservationStatus != Unused
	class := c.class(r)
	sums := []*Totals{&c.Total, class}
	service := cmp.Or(r.ServiceName, "(no service)")
	sums = append(sums, c.group(&c.Services, "service", "", service))
	sums = append(sums, c.group(&c.Statuses, "status", "", c.status(r)))
	sums = append(sums, c.group(&c.Months, "month", "", r.ChargePeriodStart.Std().Format("2006-01")))
	if a := cmp.Or(r.SubAccountName, r.SubAccountID, r.BillingAccountName, r.BillingAccountID); a != "" {
		sums = append(sums, c.group(&c.Accounts, "account", "", a))
	}
	for _, t := range c.tags.Find(r.Tags) {
		sums = append(sums, c.group(&c.Tags, "tag", t.key, t.value))
	}
	for _, s := range sums {
		if err := s.add(r, listed); err != nil {
			return fmt.Errorf("line %d: %w", r.Line, err)
		}
	}
	c.hours(r, class)
	c.odd(r)
	return c.commitment(r)
}

// add adds a row to the totals. listed says that the row counts in the list cost.
func (t *Totals) add(r *Row, listed bool) (err error) {
	t.Rows++
	if t.Billed, err = t.Billed.Add(r.BilledCost.Amount); err != nil {
		return err
	}
	if t.Effective, err = t.Effective.Add(r.EffectiveCost.Amount); err != nil {
		return err
	}
	switch {
	case listed && r.ListCost.Known:
		t.list, err = t.list.Add(r.ListCost.Amount)
	case listed:
		t.Unlisted++
	}
	return err
}

// class returns the total of the part of the bill that a row belongs to.
func (c *Check) class(r *Row) *Totals {
	switch {
	case r.ChargeCategory != Usage:
		return &c.Other
	case r.CommitmentDiscountStatus == Used:
		return &c.Used
	case r.CommitmentDiscountStatus == Unused, r.CapacityReservationStatus == Unused:
		return &c.Unused
	case r.PricingCategory == Dynamic:
		return &c.Dynamic
	}
	return &c.Standard
}

// status returns the name of the part of the bill that a row belongs to.
func (c *Check) status(r *Row) string {
	switch c.class(r) {
	case &c.Used:
		return "commitment used"
	case &c.Unused:
		if r.CommitmentDiscountStatus == Unused {
			return "commitment unused"
		}
		return "reservation unused"
	case &c.Dynamic:
		return "dynamic (spot)"
	case &c.Standard:
		return "standard"
	}
	return strings.ToLower(r.ChargeCategory)
}

// group returns the total of one value. Values beyond mostGroups share the group "(other)".
func (c *Check) group(list *[]*Group, kind, key, name string) *Totals {
	k := groupKey{kind, key, name}
	g := c.groups[k]
	if g == nil && c.kinds[groupKey{kind, key, ""}] >= mostGroups {
		k.name = "(other)"
		g = c.groups[k]
	}
	if g == nil {
		c.kinds[groupKey{kind, key, ""}]++
		g = &Group{Key: key, Name: k.name}
		c.groups[k] = g
		*list = append(*list, g)
	}
	return &g.Totals
}

// parseTags returns the tags of a row in order of key; nil where the text is no JSON object.
func parseTags(text string) []tag {
	var m map[string]any
	if json.Unmarshal([]byte(text), &m) != nil {
		return nil
	}
	list := make([]tag, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		list = append(list, tag{k, fmt.Sprint(m[k])})
	}
	return list
}

// hours sums the quantity of eligible usage, as long as all of it has one unit.
func (c *Check) hours(r *Row, class *Totals) {
	sum := &c.UsedHours
	switch class {
	case &c.Used:
	case &c.Standard:
		sum = &c.StandardHours
	default:
		return
	}
	unit := strings.ToLower(r.ConsumedUnit)
	c.HoursUnit = cmp.Or(c.HoursUnit, unit)
	next, err := sum.Add(r.ConsumedQuantity.Amount)
	if !r.ConsumedQuantity.Known || unit == "" || unit != c.HoursUnit || err != nil {
		c.hoursBad = true
		return
	}
	*sum = next
}

// odd notes each FOCUS rule that a row breaks.
func (c *Check) odd(r *Row) {
	before := c.faults
	usage, id := r.ChargeCategory == Usage, r.CommitmentDiscountID != ""
	switch {
	case r.ChargeCategory == Purchase && id && r.EffectiveCost.Sign() != 0:
		c.fault(r, fmt.Sprintf("a purchase of commitment %s has EffectiveCost %s; it belongs to the usage, so expected 0", capcli.Quoted(r.CommitmentDiscountID), r.EffectiveCost))
	case usage && id && r.CommitmentDiscountStatus == "":
		c.fault(r, fmt.Sprintf("usage of commitment %s has no CommitmentDiscountStatus; expected Used or Unused", capcli.Quoted(r.CommitmentDiscountID)))
	case usage && id && r.BilledCost.Sign() != 0:
		c.fault(r, fmt.Sprintf("usage that commitment %s covers has BilledCost %s; the purchase is billed, so expected 0", capcli.Quoted(r.CommitmentDiscountID), r.BilledCost))
	case r.CommitmentDiscountStatus != "" && !id:
		c.fault(r, "CommitmentDiscountStatus without a CommitmentDiscountId: no commitment can be charged")
	case r.CapacityReservationStatus != "" && r.CapacityReservationID == "":
		c.fault(r, "CapacityReservationStatus without a CapacityReservationId")
	}
	c.rules(r)
	if c.faults > before {
		c.OddRows++
	}
}

// fault counts one violation by a row and lists it while there is room.
func (c *Check) fault(r *Row, text string) {
	if c.faults++; len(c.Odd) < mostOddities {
		c.Odd = append(c.Odd, Oddity{r.Line, text})
	}
}

// savingsRate returns the effective savings rate of the usage, 1 - effective cost / on-demand
// equivalent (FinOps Foundation). The effective cost includes the unused part of commitments;
// the on-demand equivalent has only what was used. Where the rate is not known it returns nil
// and the reason.
func (c *Check) savingsRate() (rate *float64, why string) {
	list, effective, unlisted := 0.0, 0.0, int64(0)
	for _, t := range []*Totals{&c.Used, &c.Standard, &c.Dynamic, &c.Unused} {
		list, effective, unlisted = list+t.list.Float(), effective+t.Effective.Float(), unlisted+t.Unlisted
	}
	switch {
	case unlisted > 0:
		return nil, fmt.Sprintf("%d rows of usage have no ListCost", unlisted)
	case list <= 0:
		return nil, "the bill has no usage with a ListCost"
	}
	return new(1 - effective/list), ""
}

// coverage returns the share of eligible usage that commitments covered, 0 to 1. It is measured
// by list cost where every row states one, else by quantity where all rows have one unit. Spot
// is not eligible. Where the share is not known it returns nil and the reason.
func (c *Check) coverage() (share *float64, why string) {
	used, standard := c.Used.list.Float(), c.Standard.list.Float()
	if unlisted := c.Used.Unlisted + c.Standard.Unlisted; unlisted > 0 {
		if c.hoursBad {
			return nil, fmt.Sprintf("%d rows of usage have no ListCost, and not all a quantity in one unit", unlisted)
		}
		used, standard = c.UsedHours.Float(), c.StandardHours.Float()
	}
	if used+standard <= 0 {
		return nil, "the bill has no usage that a commitment could cover"
	}
	return new(used / (used + standard)), ""
}
