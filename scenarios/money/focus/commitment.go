package focus

import (
	"cmp"
	"fmt"

	"capcli"
)

// Verdict says whether the usage of a commitment is charged what its purchases cost. A capacity
// reservation has no purchases, and its verdict is "".
type Verdict string

// The verdicts on a commitment.
const (
	Conserved    Verdict = "yes"           // the sums are equal
	ByRounding   Verdict = "rounding"      // the sums differ by at most a millionth for each row
	InPart       Verdict = "in part"       // purchases reach beyond the bill; the usage is charged the share due so far
	PurchaseOnly Verdict = "purchase only" // the bill has no usage of the commitment
	UsageOnly    Verdict = "usage only"    // the bill has no purchase of the commitment
	Broken       Verdict = "no"            // the sums differ
)

// Commitment is one commitment discount or one capacity reservation of a bill. Used and Unused
// are sums of EffectiveCost.
type Commitment struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	Unit        string   `json:"unit"`
	Purchases   int64    `json:"purchase_rows"`
	UsageRows   int64    `json:"usage_rows"`
	Purchased   *Amount  `json:"purchased_cost,omitempty"` // sum of BilledCost of its purchases; nil for a reservation
	Used        Amount   `json:"used_cost"`
	Unused      Amount   `json:"unused_cost"`
	Utilisation *float64 `json:"utilisation"`          // used share, 0 to 1; nil where the bill has no usage of it
	Difference  *Amount  `json:"difference,omitempty"` // Used + Unused - Purchased; nil without purchases or usage
	Verdict     Verdict  `json:"conserves,omitempty"`
	Why         string   `json:"why,omitempty"` // reason for the verdict; "" where the sums are equal

	Term, Usage Period `json:"-"` // spans of the charge periods of its purchases and of its usage

	purchased, difference        Amount
	usedQuantity, unusedQuantity Amount
	bought                       []purchase // the first mostPurchases purchases
	unmeasured                   bool       // a usage row has no CommitmentDiscountQuantity
}

// conclude sets the difference, the verdict and its reason. It fails with capcli.ErrOverflow.
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

// utilisation returns the used share of the commitment, 0 to 1: by quantity where every usage
// row states one, else by cost. It is nil where the bill has no usage of the commitment.
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

// commitment adds a row to its commitment and to its capacity reservation.
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

// commitmentOf returns the commitment with an ID, and adds it to the list where it is new.
func commitmentOf(by map[string]*Commitment, list *[]*Commitment, id string) *Commitment {
	k := by[id]
	if k == nil {
		k = &Commitment{ID: id}
		by[id] = k
		*list = append(*list, k)
	}
	return k
}

// add adds a row with the given status and quantity to the commitment.
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

// verdict compares the purchases with the usage. It needs difference.
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

// tolerance returns the largest difference that rounding can cause: a millionth for each row.
func (k *Commitment) tolerance() Amount { return NewAmount(uint64(k.Purchases+k.UsageRows), 6) }

// purchase is one purchase row: the charge period and the billed cost.
type purchase struct {
	Period
	billed Amount
}

// mostPurchases is the most purchases of one commitment that are kept for amountDue.
const mostPurchases = 100_000

// amountDue returns the part of the purchases that falls into the time of the usage, straight
// line; 0 where it overflows.
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

// reason returns the reason for the verdict in words, "" where the sums are equal.
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

// charged returns Used + Unused as a text.
func (k *Commitment) charged() string {
	sum, err := k.Used.Add(k.Unused)
	if err != nil {
		return "too much"
	}
	return sum.Decimal(2)
}

// Period is the time from From until before Until.
type Period struct{ From, Until capcli.Time }

// cover widens the period to the charge period of a row; the first row sets it.
func (p *Period) cover(r *Row, first bool) {
	if first {
		*p = Period{r.ChargePeriodStart, r.ChargePeriodEnd}
		return
	}
	p.From, p.Until = min(p.From, r.ChargePeriodStart), max(p.Until, r.ChargePeriodEnd)
}
