package billing

import (
	"fmt"

	"capcli"
)

func init() {
	Products.Add("capacity_block", "capacity with fixed dates, paid up front: AWS Capacity Blocks, Google calendar mode",
		example(CapacityBlock{Units: 8000, Rule: BlockAny, EndsEarly: BlockEndsEarly}, Scope{}, Fees{Upfront: 90_000 * capcli.Dollar}))
}

// CapacityBlock is reserved capacity with fixed dates: AWS's Capacity Blocks for ML and Google
// Cloud's future reservations in calendar mode. It is paid upfront in full, cannot be cancelled
// or changed, and its price is fixed at purchase. Instances end some time before the block
// does. No reserved instance or savings plan applies. The operating system is billed
// separately, as use.
//
// Source: AWS EC2 User Guide, "Capacity Blocks for ML" and "Capacity Blocks pricing and
// billing"; Google Cloud, "Future reservations in calendar mode".
type CapacityBlock struct {
	Units                    // thousandths
	EndsEarly capcli.Seconds // use ends this long before the block
	Rule      BlockRule
}

// BlockRule says which lengths of time a provider sells.
type BlockRule uint8

// The rules: AWS's (1 to 14 days by the day, then by the week up to 182 days),
// Google's calendar mode (1 to 90 days by the day), and no rule.
const (
	BlockAWS BlockRule = iota
	BlockCalendar
	BlockAny
)

// BlockEndsEarly is the time from the end of use to the end of a block of AWS.
const BlockEndsEarly = 30 * capcli.Minute

// Name returns the product's name.
func (CapacityBlock) Name() string { return "capacity_block" }

// Form implements Product.
func (p CapacityBlock) Form() *Form {
	p = CapacityBlock{}
	p.EndsEarly = -1
	rule := "aws"
	f := unitsForm(&p.Units, func() Product {
		p.Rule = map[string]BlockRule{"aws": BlockAWS, "calendar": BlockCalendar, "any": BlockAny}[rule]
		if p.EndsEarly < 0 {
			p.EndsEarly = 0
			if p.Rule == BlockAWS {
				p.EndsEarly = BlockEndsEarly
			}
		}
		return p
	}, Option{Name: "ends_early", Doc: "capacity_block: use ends this long before the block; default: 30m", Into: &p.EndsEarly},
		Option{Name: "rule", Doc: "capacity_block: lengths that are sold: aws, calendar (Google) or any", Into: Choice{&rule, []string{"aws", "calendar", "any"}}})
	f.Block = true
	return f
}

func (p CapacityBlock) check(c *Commitment) string {
	length := capcli.Seconds(c.End - c.Start)
	days := length / capcli.Day
	whole := length%capcli.Day == 0
	switch {
	case c.Fees.Hourly != 0 || c.Fees.Monthly != 0:
		return "a capacity block is paid up front, whole; it has no hourly or monthly fee"
	case p.EndsEarly < 0 || p.EndsEarly >= length:
		return "use may not end before the block begins"
	case p.Rule == BlockAWS && (!whole || days < 1 || days > 182 || (days > 14 && days%7 != 0)):
		return fmt.Sprintf("it lasts %s; blocks are sold for 1 to 14 days, then for whole weeks up to 182 days", length)
	case p.Rule == BlockCalendar && (!whole || days < 1 || days > 90):
		return fmt.Sprintf("it lasts %s; calendar mode sells 1 to 90 days", length)
	}
	return p.Units.check(c)
}

func (CapacityBlock) properties(*Commitment) capcli.Properties {
	return capcli.Properties{Guarantees: true, Fenced: true}
}

func (p CapacityBlock) endsEarly() capcli.Seconds { return p.EndsEarly }

// mark names the block as the reservation that the use ran in.
func (p CapacityBlock) mark(c *Commitment, r *Row) {
	r.Kind = UseReserved
	if r.Status != NoStatus {
		r.Reservation, r.ReservationStatus = c.ID, r.Status
	}
}

func (p CapacityBlock) cover(c *Commitment, b *bucket) (claim, bool) { return coverCapacity(c, b) }

// coverCapacity is the cover method of commitments that bring capacity: they cover the use that
// names them. Use with an on-demand price is charged at that price where the capacity is full
// or has ended.
func coverCapacity(c *Commitment, b *bucket) (claim, bool) {
	if b.kind == UseSpot || b.capacity != c.ID {
		return claim{}, false
	}
	return claim{weight: 1, order: order{stage: stageCapacity}}, true
}
