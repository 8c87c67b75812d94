package focus

import (
	"cmp"
	"fmt"

	"capcli"
)

// Verdict says whether what was bought through a commitment is what was charged for
// it; "" is that of a capacity reservation, of which nothing is bought.
type Verdict string

// The verdicts on a commitment.
const (
	Conserved    Verdict = "yes"           // exactly
	ByRounding   Verdict = "rounding"      // but for less than a millionth a row
	InPart       Verdict = "in part"       // the bill ends before what was bought does, and what is charged until then is its share
	PurchaseOnly Verdict = "purchase only" // the bill has no usage of it
	UsageOnly    Verdict = "usage only"    // the bill has no purchase of it
	Broken       Verdict = "no"            // the sums differ
)

// Commitment is one commitment discount of a bill, or one capacity
// reservation. Used and Unused are EffectiveCost.
type Commitment struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	Unit        string   `json:"unit"`
	Purchases   int64    `json:"purchase_rows"`
	UsageRows   int64    `json:"usage_rows"`
	Purchased   *Amount  `json:"purchased_cost,omitempty"` // BilledCost of its purchases; nil for a reservation, of which nothing is bought
	Used        Amount   `json:"used_cost"`
	Unused      Amount   `json:"unused_cost"`
	Utilisation *float64 `json:"utilisation"`          // 0 to 1; nil where the bill has no usage of it
	Difference  *Amount  `json:"difference,omitempty"` // Used + Unused - Purchased; nil where the bill has only one of the two
	Verdict     Verdict  `json:"conserves,omitempty"`
	Why         string   `json:"why,omitempty"` // what is behind it

	Term, Usage Period `json:"-"` // of the charge periods of its purchases, and of its usage

	purchased, difference        Amount
	usedQuantity, unusedQuantity Amount
	bought                       []purchase
	unmeasured                   bool // a row without CommitmentDiscountQuantity
}

// conclude draws the verdict on a commitment.
func (k *Commitment) conclude() error {
	charged, err := k.Used.Add(k.Unused)
	if err == nil {
		k.difference, err = charged.Sub(k.purchased)
	}
	if err != nil {
		return fmt.Errorf("commitment %s: %w", k.ID, err)
	}
	k.Verdict = k.verdict()
	k.Purchased, k.Why = &k.purchased, k.reason()
	if k.Verdict != PurchaseOnly && k.Verdict != UsageOnly {
		k.Difference = &k.difference
	}
	return nil
}

// utilisation is how much of the commitment was used, 0 to 1: by quantity where
// each row states one, else by cost. Nil where the bill has no usage of it.
func (c *Commitment) utilisation() *float64 {
	used, unused := c.usedQuantity, c.unusedQuantity
	if c.unmeasured || used.Sign() == 0 && unused.Sign() == 0 {
		used, unused = c.Used, c.Unused
	}
	all := used.Float() + unused.Float()
	if all <= 0 {
		return nil
	}
	return new(used.Float() / all)
}

// commitment adds a row to the commitment and the reservation that it is of.
func (c *Check) commitment(r *Row) error {
	if id := r.CommitmentDiscountID; id != "" {
		k := commitmentOf(c.byID, &c.Commitments, id)
		k.Name, k.Type = cmp.Or(k.Name, r.CommitmentDiscountName), cmp.Or(k.Type, r.CommitmentDiscountType)
		k.Unit = cmp.Or(k.Unit, r.CommitmentDiscountUnit)
		if err := k.add(r, r.CommitmentDiscountStatus, r.CommitmentDiscountQuantity); err != nil {
			return err
		}
	}
	if id := r.CapacityReservationID; id != "" {
		k := commitmentOf(c.byCap, &c.Reservations, id)
		k.Unit = cmp.Or(k.Unit, r.ConsumedUnit)
		return k.add(r, r.CapacityReservationStatus, Number{})
	}
	return nil
}

func commitmentOf(by map[string]*Commitment, list *[]*Commitment, id string) *Commitment {
	k := by[id]
	if k == nil {
		k = &Commitment{ID: id}
		by[id] = k
		*list = append(*list, k)
	}
	return k
}

// add takes a row with a status and a quantity into the commitment.
func (k *Commitment) add(r *Row, status string, quantity Number) (err error) {
	switch {
	case r.ChargeCategory == Purchase:
		k.Term.cover(r, k.Purchases == 0)
		k.Purchases++
		if k.purchased, err = k.purchased.Add(r.BilledCost.Amount); len(k.bought) < mostPurchases {
			k.bought = append(k.bought, purchase{Period{r.ChargePeriodStart, r.ChargePeriodEnd}, r.BilledCost.Amount})
		}
	case status == Used:
		k.Usage.cover(r, k.UsageRows == 0)
		k.UsageRows++
		k.unmeasured = k.unmeasured || !quantity.Known
		if k.Used, err = k.Used.Add(r.EffectiveCost.Amount); err == nil {
			k.usedQuantity, err = k.usedQuantity.Add(quantity.Amount)
		}
	case status == Unused:
		k.Usage.cover(r, k.UsageRows == 0)
		k.UsageRows++
		k.unmeasured = k.unmeasured || !quantity.Known
		if k.Unused, err = k.Unused.Add(r.EffectiveCost.Amount); err == nil {
			k.unusedQuantity, err = k.unusedQuantity.Add(quantity.Amount)
		}
	}
	return err
}

func (k *Commitment) verdict() Verdict {
	switch {
	case k.Purchases == 0:
		return UsageOnly
	case k.UsageRows == 0:
		return PurchaseOnly
	case k.difference.Sign() == 0:
		return Conserved
	case k.difference.Abs().Cmp(k.tolerance()) <= 0:
		return ByRounding
	}
	charged, err := k.Used.Add(k.Unused)
	if err != nil {
		return Broken
	}
	if off, err := charged.Sub(k.amountDue()); err == nil && off.Abs().Cmp(k.tolerance()) <= 0 {
		return InPart
	}
	return Broken
}

// tolerance is what rounding may make of the commitment's rows.
func (k *Commitment) tolerance() Amount {
	return NewAmount(uint64(k.Purchases+k.UsageRows), 6)
}

// purchase is one purchase: what was billed for which period.
type purchase struct {
	Period
	billed Amount
}

// mostPurchases of one commitment are kept, to see what of them the bill's usage
// should have been charged.
const mostPurchases = 100_000

// amountDue is what of the purchases falls into the time of the usage, straight line.
func (k *Commitment) amountDue() Amount {
	var sum Amount
	for _, p := range k.bought {
		part := min(p.Until, k.Usage.Until) - max(p.From, k.Usage.From)
		if part <= 0 {
			continue
		}
		share, err := p.billed.share(int64(part), int64(p.Until-p.From))
		if err != nil {
			return Amount{}
		}
		if sum, err = sum.Add(share); err != nil {
			return Amount{}
		}
	}
	return sum
}

// reason says what is behind a verdict, "" where the sums are equal.
func (k *Commitment) reason() string {
	switch k.Verdict {
	case Conserved, ByRounding:
		return ""
	case InPart:
		return fmt.Sprintf("%s is charged of the %s that was bought for %s to %s: what is due until %s", k.charged(), k.purchased.Decimal(2), k.Term.From, k.Term.Until, k.Usage.Until)
	case PurchaseOnly:
		return "the bill has none of its usage"
	case UsageOnly:
		return "the bill has none of its purchases"
	case Broken:
	}
	text := fmt.Sprintf("%s is charged for it and %s was bought", k.charged(), k.purchased.Decimal(2))
	if k.Term != k.Usage {
		text += fmt.Sprintf("; bought is %s to %s, the bill has usage from %s to %s", k.Term.From, k.Term.Until, k.Usage.From, k.Usage.Until)
	}
	return text
}

func (k *Commitment) charged() string {
	sum, err := k.Used.Add(k.Unused)
	if err != nil {
		return "too much"
	}
	return sum.Decimal(2)
}

// Period is a time from one instant to before another.
type Period struct{ From, Until capcli.Time }

func (p *Period) cover(r *Row, first bool) {
	if first {
		*p = Period{r.ChargePeriodStart, r.ChargePeriodEnd}
		return
	}
	p.From, p.Until = min(p.From, r.ChargePeriodStart), max(p.Until, r.ChargePeriodEnd)
}
