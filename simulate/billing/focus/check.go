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
	List      *Amount `json:"list_cost"`              // on-demand equivalent of what was used; nil where it is not known of all rows
	Unlisted  int64   `json:"rows_without_list_cost"` // rows of usage without a ListCost

	list Amount // of the rows that have one
}

// Group is the total of one value: of a service, a status, a tag.
type Group struct {
	Key  string `json:"key,omitempty"` // of a tag
	Name string `json:"name"`
	Totals
}

// Oddity is a row that does not say what FOCUS wants it to say.
type Oddity struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

// mostOddities is how many odd rows are named; more are counted.
const mostOddities = 100

// mostGroups is how many values of one kind have a total of their own.
const mostGroups = 10_000

// Check sums a bill and holds it against FOCUS's invariants: for each
// commitment, the EffectiveCost of its usage rows, Used and Unused, is the
// BilledCost of its purchase rows (FOCUS 1.2, appendix on commitment discounts).
type Check struct {
	Result                         // in the making
	Used, Standard, Dynamic Totals // usage by commitments, at list terms, spot
	Unused                  Totals
	Other                   Totals // purchases, taxes, credits, adjustments

	faults                    int64
	have                      map[string]bool   // columns; nil is not known
	always, priced, committed []*column         // that rules are about, of those the bill has
	parent                    map[string]string // SkuId by SkuPriceId

	UsedHours, StandardHours Amount // ConsumedQuantity, where every row has one of the same unit
	HoursUnit                string
	hoursBad                 bool

	groups map[groupKey]*Group
	kinds  map[groupKey]int // groups of one kind and key
	byID   map[string]*Commitment
	byCap  map[string]*Commitment
	tags   *Memo[[]tag] // by the text of a row's tags
}

type groupKey struct{ kind, key, name string }

type tag struct{ key, value string }

// NewCheck is the check of a bill whose rows are yet to come.
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

// Add takes a row in. It fails with capcli.ErrOverflow when a sum does not fit.
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

// add takes a row into a total.
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

// class is the part of the bill that a row belongs to.
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

// status names that part.
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

// group is the total of one value. Of very many values the rest share one.
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

// parseTags reads the tags of a row, in order of key.
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

// hours sums the quantity of eligible usage, as long as it has one unit.
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
	if c.HoursUnit == "" {
		c.HoursUnit = unit
	}
	next, err := sum.Add(r.ConsumedQuantity.Amount)
	if !r.ConsumedQuantity.Known || unit == "" || unit != c.HoursUnit || err != nil {
		c.hoursBad = true
		return
	}
	*sum = next
}

// odd notes what a row says against FOCUS.
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

// fault notes one thing that a row says against FOCUS.
func (c *Check) fault(r *Row, text string) {
	if c.faults++; len(c.Odd) < mostOddities {
		c.Odd = append(c.Odd, Oddity{r.Line, text})
	}
}

// savingsRate is the effective savings rate of the usage, 1 - effective cost /
// on-demand equivalent (FinOps Foundation). What a commitment cost unused is in
// the effective cost; the on-demand equivalent has only what was used. Nil, and why,
// where it is not known.
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

// coverage is how much of the eligible usage commitments covered, 0 to 1: by list
// cost where all of it has one, else by quantity where that has one unit. Spot
// is not eligible. Nil, and why, where it is not known.
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
