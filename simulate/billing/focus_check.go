package billing

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"capcli"
)

// FocusTotals are sums over rows of a bill.
type FocusTotals struct {
	Rows      int64   `json:"rows"`
	Billed    Amount  `json:"billed_cost"`
	Effective Amount  `json:"effective_cost"`
	List      *Amount `json:"list_cost"`              // on-demand equivalent of what was used; nil where it is not known of all rows
	Unlisted  int64   `json:"rows_without_list_cost"` // rows of usage without a ListCost

	list Amount // of the rows that have one
}

// FocusGroup is the total of one value: of a service, a status, a tag.
type FocusGroup struct {
	Key  string `json:"key,omitempty"` // of a tag
	Name string `json:"name"`
	FocusTotals
}

// FocusOddity is a row that does not say what FOCUS wants it to say.
type FocusOddity struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

// mostOddities is how many odd rows are named; more are counted.
const mostOddities = 100

// mostGroups is how many values of one kind have a total of their own.
const mostGroups = 10_000

// FocusCheck sums a bill and holds it against FOCUS's invariants: for each
// commitment, the EffectiveCost of its usage rows, Used and Unused, is the
// BilledCost of its purchase rows (FOCUS 1.2, appendix on commitment discounts).
type FocusCheck struct {
	Total                   FocusTotals
	Used, Standard, Dynamic FocusTotals // usage by commitments, at list terms, spot
	Unused                  FocusTotals
	Other                   FocusTotals // purchases, taxes, credits, adjustments
	Commitments             []*FocusCommitment
	Reservations            []*FocusCommitment // capacity reservations: nothing is bought, so no verdict
	Services, Statuses      []*FocusGroup
	Months, Accounts, Tags  []*FocusGroup
	Oddities                []FocusOddity
	Odd                     int64    // rows that are odd, named or not
	Missing                 []string // columns that FOCUS 1.2 makes mandatory and the bill lacks: see Columns

	faults                    int64
	have                      map[string]bool   // columns; nil is not known
	always, priced, committed []*focusColumn    // that rules are about, of those the bill has
	parent                    map[string]string // SkuId by SkuPriceId

	UsedHours, StandardHours Amount // ConsumedQuantity, where every row has one of the same unit
	HoursUnit                string
	hoursBad                 bool

	groups map[groupKey]*FocusGroup
	kinds  map[groupKey]int // groups of one kind and key
	byID   map[string]*FocusCommitment
	byCap  map[string]*FocusCommitment
	tags   map[string][]tag // by the text of a row's tags
}

type groupKey struct{ kind, key, name string }

type tag struct{ key, value string }

// NewFocusCheck is the check of a bill whose rows are yet to come.
func NewFocusCheck() *FocusCheck {
	return &FocusCheck{
		groups: map[groupKey]*FocusGroup{}, kinds: map[groupKey]int{},
		parent: map[string]string{}, byID: map[string]*FocusCommitment{}, byCap: map[string]*FocusCommitment{}, tags: map[string][]tag{},
	}
}

// Add takes a row in. It fails with capcli.ErrOverflow when a sum does not fit.
func (c *FocusCheck) Add(r *FOCUS) error {
	listed := r.ChargeCategory == focusUsage && r.CommitmentDiscountStatus != focusUnused && r.CapacityReservationStatus != focusUnused
	class := c.class(r)
	sums := []*FocusTotals{&c.Total, class}
	service := cmp.Or(r.ServiceName, "(no service)")
	sums = append(sums, c.group(&c.Services, "service", "", service))
	sums = append(sums, c.group(&c.Statuses, "status", "", c.status(r)))
	sums = append(sums, c.group(&c.Months, "month", "", r.ChargePeriodStart.Std().Format("2006-01")))
	if a := cmp.Or(r.SubAccountName, r.SubAccountID, r.BillingAccountName, r.BillingAccountID); a != "" {
		sums = append(sums, c.group(&c.Accounts, "account", "", a))
	}
	for _, t := range c.tagsOf(r) {
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
func (t *FocusTotals) add(r *FOCUS, listed bool) (err error) {
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
func (c *FocusCheck) class(r *FOCUS) *FocusTotals {
	switch {
	case r.ChargeCategory != focusUsage:
		return &c.Other
	case r.CommitmentDiscountStatus == focusUsed:
		return &c.Used
	case r.CommitmentDiscountStatus == focusUnused, r.CapacityReservationStatus == focusUnused:
		return &c.Unused
	case r.PricingCategory == focusDynamic:
		return &c.Dynamic
	}
	return &c.Standard
}

// status names that part.
func (c *FocusCheck) status(r *FOCUS) string {
	switch c.class(r) {
	case &c.Used:
		return "commitment used"
	case &c.Unused:
		if r.CommitmentDiscountStatus == focusUnused {
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
func (c *FocusCheck) group(list *[]*FocusGroup, kind, key, name string) *FocusTotals {
	k := groupKey{kind, key, name}
	g := c.groups[k]
	if g == nil && c.kinds[groupKey{kind, key, ""}] >= mostGroups {
		k.name = "(other)"
		g = c.groups[k]
	}
	if g == nil {
		c.kinds[groupKey{kind, key, ""}]++
		g = &FocusGroup{Key: key, Name: k.name}
		c.groups[k] = g
		*list = append(*list, g)
	}
	return &g.FocusTotals
}

// tagsOf reads the tags of a row, in order of key.
func (c *FocusCheck) tagsOf(r *FOCUS) []tag {
	if list, known := c.tags[r.Tags]; known || r.Tags == "" {
		return list
	}
	var m map[string]any
	if json.Unmarshal([]byte(r.Tags), &m) != nil {
		return nil
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	list := make([]tag, len(keys))
	for i, k := range keys {
		list[i] = tag{k, fmt.Sprint(m[k])}
	}
	if len(c.tags) < mostTexts {
		c.tags[r.Tags] = list
	}
	return list
}

// hours sums the quantity of eligible usage, as long as it has one unit.
func (c *FocusCheck) hours(r *FOCUS, class *FocusTotals) {
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
func (c *FocusCheck) odd(r *FOCUS) {
	before := c.faults
	usage, id := r.ChargeCategory == focusUsage, r.CommitmentDiscountID != ""
	switch {
	case r.ChargeCategory == focusPurchaseCharge && id && r.EffectiveCost.Sign() != 0:
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
		c.Odd++
	}
}

// fault notes one thing that a row says against FOCUS.
func (c *FocusCheck) fault(r *FOCUS, text string) {
	if c.faults++; len(c.Oddities) < mostOddities {
		c.Oddities = append(c.Oddities, FocusOddity{r.Line, text})
	}
}

// SavingsRate is the effective savings rate of the usage, 1 - effective cost /
// on-demand equivalent (FinOps Foundation). What a commitment cost unused is in
// the effective cost; the on-demand equivalent has only what was used. False,
// and why, where it is not known.
func (c *FocusCheck) SavingsRate() (rate float64, ok bool, why string) {
	list, effective, unlisted := 0.0, 0.0, int64(0)
	for _, t := range []*FocusTotals{&c.Used, &c.Standard, &c.Dynamic, &c.Unused} {
		list, effective, unlisted = list+t.list.Float(), effective+t.Effective.Float(), unlisted+t.Unlisted
	}
	switch {
	case unlisted > 0:
		return 0, false, fmt.Sprintf("%d rows of usage have no ListCost", unlisted)
	case list <= 0:
		return 0, false, "the bill has no usage with a ListCost"
	}
	return 1 - effective/list, true, ""
}

// Coverage is how much of the eligible usage commitments covered, 0 to 1: by list
// cost where all of it has one, else by quantity where that has one unit. Spot
// is not eligible. False, and why, where it is not known.
func (c *FocusCheck) Coverage() (share float64, ok bool, why string) {
	used, standard := c.Used.list.Float(), c.Standard.list.Float()
	if c.Used.Unlisted+c.Standard.Unlisted > 0 {
		if c.hoursBad {
			return 0, false, fmt.Sprintf("%d rows of usage have no ListCost, and not all a quantity in one unit", c.Used.Unlisted+c.Standard.Unlisted)
		}
		used, standard = c.UsedHours.Float(), c.StandardHours.Float()
	}
	if used+standard <= 0 {
		return 0, false, "the bill has no usage that a commitment could cover"
	}
	return used / (used + standard), true, ""
}
