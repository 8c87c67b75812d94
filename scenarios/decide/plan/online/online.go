// Package online decides about commitments without a forecast. Its policy sees the demand only up
// to the present, and guarantees a bound on its cost.
package online

import (
	"errors"
	"fmt"
	"math"

	"capcli/simulate/exact"

	"capcli"
)

// Lease is a commitment as the online policies see it: a fee paid once for each GPU, for a number
// of consecutive periods. Most commitments are paid whether used or not; then Used is 0. A term
// with a fee and a lower price by use (the light and medium reserved instances that clouds once
// sold) has both.
type Lease struct {
	Periods  int
	Fee      capcli.USD // for the whole lease of one GPU
	OnDemand capcli.USD // one GPU for one period, on demand
	Used     capcli.USD // one GPU for one period of use under the lease
}

// check returns an error where no policy can decide about the lease.
func (l *Lease) check() error {
	switch {
	case l.Periods < 1:
		return fmt.Errorf("an online policy needs a lease of at least 1 period, found %d", l.Periods)
	case l.Fee < 0, l.Used < 0:
		return errors.New("an online policy needs a fee and a price of use that are not negative")
	case l.OnDemand <= l.Used:
		return fmt.Errorf("an online policy needs an on-demand price above that of use under the lease: found %s and %s a period", l.OnDemand, l.Used)
	}
	return nil
}

// Run is the purchases and the costs of a policy.
type Run struct {
	Leases []int64 // bought, by period
	Bought int64
	Fees   capcli.USD
	Bursts capcli.USD // cost of use on demand
	Use    capcli.USD // cost of use under leases
	Cost   capcli.USD
}

// Play plays the deterministic policy of Wang, Li and Liang (arXiv 1305.5608), which needs no
// forecast. At each level of demand it leases one more GPU once leasing earlier would have been
// cheaper: once the on-demand price of the periods, of the last Periods, in which that level was
// wanted and not leased is over Fee / (1 - alpha). Here alpha is the price of use under a lease
// over that on demand. A lease also covers the past that led to it, so that no period counts
// towards two leases. The policy pays at most 2 - alpha times the least cost in hindsight.
func Play(demand []int64, l Lease) (*Run, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	return l.run(demand, 0, l.mostPeriods())
}

// PlayAfter plays the randomised policy of Wang, Li and Liang from period past on. The periods
// before are known: they count towards the first leases, but none is bought for them, and their use
// costs nothing here. The policy leases once z times the fee is passed in place of the break-even,
// where z is drawn once: u from 0 to 1 is an even draw. With u = 1 it is the deterministic policy.
// Without a past its mean cost is at most e / (e - 1 + alpha) times the least in hindsight.
func PlayAfter(demand []int64, past int, l Lease, u float64) (*Run, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	most := l.mostPeriods()
	if u < 1 {
		most = l.mostOf(drawBreakEven(l.alpha(), u))
	}
	return l.run(demand, past, most)
}

// alpha returns the price of use under the lease over that on demand.
func (l *Lease) alpha() float64 { return l.Used.Float() / l.OnDemand.Float() }

// breakEven returns the on-demand spend, over the fee, from which having leased would have been
// cheaper: 1 / (1 - alpha).
func breakEven(alpha float64) float64 { return 1 / (1 - alpha) }

// mostOf returns the most periods on demand that do not pass z times the fee.
func (l *Lease) mostOf(z float64) int64 {
	return min(l.mostPeriods(), int64(z*l.Fee.Float()/l.OnDemand.Float()))
}

// drawBreakEven turns an even draw into a break-even: the inverse of the distribution function
// (e^((1-alpha) z) - 1) / (e - 1 + alpha).
func drawBreakEven(alpha, u float64) float64 {
	return min(breakEven(alpha), math.Log1p(u*(math.E-1+alpha))/(1-alpha))
}

// mostPeriods returns the most periods on demand within one lease that do not exceed the
// break-even, fee / (on-demand - used).
func (l *Lease) mostPeriods() int64 { return int64(l.Fee / (l.OnDemand - l.Used)) }

// run leases one more GPU at each level that more than most of the last Periods wanted without a
// lease. Nothing is leased or used in the first past periods.
//
// Let P(t) be the number of leases bought up to t. A period i of the window was covered by the
// leases bought after i - Periods, in fact or as part of their past: P(t) - P(i - Periods) of them.
// So i wants one more lease where demand(i) + P(i - Periods) > P(t). The left side is known at i
// and the right side only grows. Counts by the left side give each period's decision in constant
// time.
func (l *Lease) run(demand []int64, past int, most int64) (*Run, error) {
	var (
		out    = &Run{Leases: make([]int64, len(demand))}
		n      = l.Periods
		marks  = make([]int64, len(demand)) // demand(i) + P(i - Periods)
		total  = make([]int64, len(demand)) // P(i)
		counts []int64                      // a ring: periods of the window by mark, for marks above P
		over   int64                        // periods of the window whose mark is above P
		bought int64
		burst  int64
		used   int64
	)
	ring, err := peak(demand)
	if err != nil {
		return nil, err
	}
	ring++ // marks exceed P by at most the peak
	counts = make([]int64, ring)
	for t, d := range demand {
		var gone int64 // P(t - Periods)
		if t >= n {
			gone = total[t-n]
			if old := marks[t-n]; old > bought {
				over--
				counts[old%ring]--
			}
		}
		marks[t] = d + gone
		if marks[t] > bought {
			counts[marks[t]%ring]++
			over++
		}
		for t >= past && over > most {
			bought++
			over -= counts[bought%ring]
			counts[bought%ring] = 0
			out.Leases[t]++
		}
		total[t] = bought
		if held := min(d, bought-gone); t >= past {
			used += held
			burst += d - held
		}
	}
	out.Bought = bought
	return out, out.price(l, burst, used)
}

// peak returns the highest demand of any period. It fails where a demand is negative or over
// MaxDemand.
func peak(demand []int64) (int64, error) {
	var most int64
	for t, d := range demand {
		if d < 0 || d > MaxDemand {
			return 0, fmt.Errorf("period %d wants %d GPUs: an online policy takes 0 to %d", t, d, int64(MaxDemand))
		}
		most = max(most, d)
	}
	return most, nil
}

// MaxDemand is the highest demand, for the policies keep a count for each level of demand.
const MaxDemand = 10_000_000

// price fills in the costs. It fails with capcli.ErrOverflow where one does not fit.
func (r *Run) price(l *Lease, burst, used int64) error {
	var errs [4]error
	r.Fees, errs[0] = costOf(l.Fee, r.Bought)
	r.Bursts, errs[1] = costOf(l.OnDemand, burst)
	r.Use, errs[2] = costOf(l.Used, used)
	if r.Cost = r.Fees + r.Bursts + r.Use; r.Cost < r.Fees || r.Cost < r.Use || r.Fees > math.MaxInt64-r.Bursts {
		errs[3] = capcli.ErrOverflow
	}
	return errors.Join(errs[:]...)
}

func costOf(u capcli.USD, n int64) (capcli.USD, error) {
	v, err := exact.Times(int64(u), n)
	return capcli.USD(v), err
}
