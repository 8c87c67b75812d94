// Package savings finds the best savings plan: a commitment of dollars an hour, used or lost each
// hour, that covers the use of several kinds of GPU, the highest discount first.
package savings

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"capcli/simulate/exact"

	"capcli"
)

// SKU is one kind of use that a savings plan covers, with its hourly price on demand and under the
// plan.
type SKU struct {
	Name           string
	OnDemand, Plan capcli.Rate
}

// Plan is a savings plan and its costs.
type Plan struct {
	Commit      capcli.USD // per hour
	Cost        capcli.USD // over all hours: the commitment, and the use that it does not cover
	AllOnDemand capcli.USD
	Used        capcli.USD // part of the commitment that is used, over all hours
	Hours       int
}

// kink is an amount of commitment above which, in one hour, the next dollar covers a SKU with less
// discount.
type kink struct {
	at   *big.Int // per hour, in thousandths of millionths of a dollar
	drop *big.Int // fall in the saving of one more dollar
}

// BestCommitment returns the commitment of a savings plan that costs least, exactly to the
// millionth of a dollar an hour. used is the use of each SKU in each hour, in thousandths.
//
// In each hour the plan covers the SKU with the highest discount first, of equal ones the one with
// the lower rate (AWS, "How Savings Plans apply"). One more dollar an hour saves the ratio of the
// on-demand price to the plan's price of the use that it covers. That ratio falls as the commitment
// grows, so the cost is convex. It is least where the sum of these ratios over the hours falls to
// the number of hours. With one SKU that is the newsvendor's level times its rate.
func BestCommitment(skus []SKU, used [][]int64) (*Plan, error) {
	order, scale, err := discountOrder(skus)
	if err != nil {
		return nil, err
	}
	if err := checkUse(skus, used); err != nil {
		return nil, err
	}
	var kinks []kink
	slope := new(big.Int) // saving of the first dollar an hour
	for _, hour := range used {
		at, last := new(big.Int), new(big.Int)
		for _, i := range order {
			if hour[i] == 0 {
				continue
			}
			ratio := new(big.Int).Mul(scale, big.NewInt(int64(skus[i].OnDemand)))
			ratio.Div(ratio, big.NewInt(int64(skus[i].Plan)))
			if at.Sign() == 0 {
				slope.Add(slope, ratio)
			} else {
				kinks = append(kinks, kink{new(big.Int).Set(at), new(big.Int).Sub(last, ratio)})
			}
			at.Add(at, exact.Product(hour[i], int64(skus[i].Plan)))
			last = ratio
		}
		kinks = append(kinks, kink{at, last})
	}
	slices.SortFunc(kinks, func(a, b kink) int { return cmp.Or(a.at.Cmp(b.at), a.drop.Cmp(b.drop)) })
	best := bestCommit(kinks, slope, new(big.Int).Mul(scale, big.NewInt(int64(len(used)))))
	return bestBeside(skus, used, best)
}

// checkUse returns an error where use is negative, or an hour has not one value for each SKU.
func checkUse(skus []SKU, used [][]int64) error {
	if len(used) == 0 {
		return errors.New("a savings plan wants the use of at least one hour")
	}
	for t, hour := range used {
		if len(hour) != len(skus) {
			return fmt.Errorf("hour %d: expected the use of %d SKUs, found %d", t, len(skus), len(hour))
		}
		for i, n := range hour {
			if n < 0 {
				return fmt.Errorf("hour %d, %s: expected use of 0 or more, found %d thousandths", t, skus[i].Name, n)
			}
		}
	}
	return nil
}

// bestCommit walks up the kinks while one more dollar saves more than it costs.
func bestCommit(kinks []kink, slope, price *big.Int) *big.Int {
	best := new(big.Int)
	for _, k := range kinks {
		if slope.Cmp(price) <= 0 {
			break
		}
		best = k.at
		slope.Sub(slope, k.drop)
	}
	return best
}

// discountOrder returns the SKUs in the order in which the plan covers them; scale makes every
// ratio of prices whole.
func discountOrder(skus []SKU) (order []int, scale *big.Int, err error) {
	scale = big.NewInt(1)
	for i, s := range skus {
		if s.Plan <= 0 || s.OnDemand < 0 {
			return nil, nil, fmt.Errorf("%s: expected a price of the plan over 0 and one on demand, found %s and %s", s.Name, s.Plan.Decimal(), s.OnDemand.Decimal())
		}
		p := big.NewInt(int64(s.Plan))
		scale.Mul(scale, new(big.Int).Div(p, new(big.Int).GCD(nil, nil, scale, p)))
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &skus[a], &skus[b]
		byDiscount := exact.Product(int64(y.OnDemand), int64(x.Plan)).Cmp(exact.Product(int64(x.OnDemand), int64(y.Plan)))
		return cmp.Or(byDiscount, cmp.Compare(x.Plan, y.Plan), cmp.Compare(a, b))
	})
	return order, scale, nil
}

// bestBeside prices the two whole millionths of a dollar next to the best commitment. The lower one
// wins ties.
func bestBeside(skus []SKU, used [][]int64, best *big.Int) (*Plan, error) {
	down := new(big.Int).Div(best, big.NewInt(1000))
	var out *Plan
	for up := range int64(2) {
		at := new(big.Int).Add(down, big.NewInt(up))
		if !at.IsInt64() {
			return nil, capcli.ErrOverflow
		}
		s, err := Price(skus, used, capcli.USD(at.Int64()))
		if err != nil {
			return nil, err
		}
		if out == nil || s.Cost < out.Cost {
			out = s
		}
	}
	return out, nil
}

// Price returns the cost of one hourly commitment.
func Price(skus []SKU, used [][]int64, commit capcli.USD) (*Plan, error) {
	order, _, err := discountOrder(skus)
	if err != nil {
		return nil, err
	}
	if err := checkUse(skus, used); err != nil {
		return nil, err
	}
	// In thousandths of millionths of a dollar. A SKU that is covered in part leaves a fraction.
	spent, rest, all := new(big.Int), new(big.Rat), new(big.Int)
	for _, hour := range used {
		left := exact.Product(int64(commit), 1000)
		for _, i := range order {
			list, under := exact.Product(hour[i], int64(skus[i].OnDemand)), exact.Product(hour[i], int64(skus[i].Plan))
			all.Add(all, list)
			switch {
			case under.Cmp(left) <= 0:
				left.Sub(left, under)
				spent.Add(spent, under)
			default:
				over := new(big.Int).Sub(under, left)
				rest.Add(rest, new(big.Rat).SetFrac(over.Mul(over, big.NewInt(int64(skus[i].OnDemand))), big.NewInt(int64(skus[i].Plan))))
				spent.Add(spent, left)
				left = new(big.Int)
			}
		}
	}
	out := &Plan{Commit: commit, Hours: len(used)}
	cost := new(big.Rat).Add(rest, new(big.Rat).SetInt(exact.Product(int64(commit)*1000, int64(len(used)))))
	if out.Cost, err = millionths(cost); err != nil {
		return nil, err
	}
	if out.AllOnDemand, err = millionths(new(big.Rat).SetInt(all)); err != nil {
		return nil, err
	}
	out.Used, err = millionths(new(big.Rat).SetInt(spent))
	return out, err
}

// millionths converts thousandths of a millionth of a dollar to millionths, rounded half up.
func millionths(v *big.Rat) (capcli.USD, error) {
	v = new(big.Rat).Quo(v, big.NewRat(1000, 1))
	v.Add(v, big.NewRat(1, 2))
	whole := new(big.Int).Div(v.Num(), v.Denom())
	if !whole.IsInt64() {
		return 0, capcli.ErrOverflow
	}
	return capcli.USD(whole.Int64()), nil
}
