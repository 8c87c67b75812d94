// Package online decides about commitments without a forecast: a policy that sees the
// demand only up to the present, and what it can promise to pay at most.
package online

import (
	"errors"
	"fmt"
	"math"

	"capcli/simulate/internal/exact"

	"capcli"
)

// Lease is what the online policies know of a commitment: a fee paid once for
// each GPU, for so many periods in a row. Most commitments are paid whether
// used or not; then Used is 0. A term that takes a fee and a lower price by use
// (the light and medium reserved instances that clouds once sold) has both.
type Lease struct {
	Periods  int
	Fee      capcli.USD // for the whole lease of one GPU
	OnDemand capcli.USD // one GPU for one period, on demand
	Used     capcli.USD // one GPU for one period in use under the lease
}

// check refuses a lease that no policy can decide about.
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

// Run is what a policy bought and paid.
type Run struct {
	Leases []int64 // bought, by period
	Bought int64
	Fees   capcli.USD
	Bursts capcli.USD // on demand
	Use    capcli.USD // under leases
	Cost   capcli.USD
}

// Play plays the deterministic policy of Wang, Li and Liang (arXiv
// 1305.5608): without any forecast, at each level of demand, lease one more GPU
// once the on-demand price of the periods within the last Periods in which that
// level was wanted and not leased is over Fee / (1 - alpha), the price from
// which having leased then would have been cheaper. What is leased covers at
// once the past that led to it, so that no period counts towards two leases.
// It pays at most 2 - alpha times the least that hindsight would.
func Play(demand []int64, l Lease) (*Run, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	return l.run(demand, l.mostPeriods())
}

// mostPeriods is how many periods on demand within one lease do not pass the
// break-even, fee / (on-demand - used).
func (l *Lease) mostPeriods() int64 { return int64(l.Fee / (l.OnDemand - l.Used)) }

// run leases at each level once more than most of the last Periods wanted it
// unleased.
//
// Let P(t) be all the leases bought up to t. A period i of the window was
// covered by those bought after i - Periods, truly or as the past that they
// cover: P(t) - P(i - Periods) of them. So i wants one more when demand(i) +
// P(i - Periods) > P(t). The left side is known at i and the right one only
// grows: counts by the left side give each period's decision in constant time.
func (l *Lease) run(demand []int64, most int64) (*Run, error) {
	var (
		out    = &Run{Leases: make([]int64, len(demand))}
		n      = l.Periods
		marks  = make([]int64, len(demand)) // demand(i) + P(i - Periods)
		total  = make([]int64, len(demand)) // P(i)
		counts []int64                      // periods of the window by mark, those above P, around a ring
		over   int64                        // of those above P
		bought int64
		burst  int64
		used   int64
	)
	ring, err := peak(demand)
	if err != nil {
		return nil, err
	}
	ring++ // marks lie within the peak above P
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
		for over > most {
			bought++
			over -= counts[bought%ring]
			counts[bought%ring] = 0
			out.Leases[t]++
		}
		total[t] = bought
		held := min(d, bought-gone)
		used += held
		burst += d - held
	}
	out.Bought = bought
	return out, out.price(l, burst, used)
}

// peak is the most that any period wants, and refuses what is no demand.
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

// MaxDemand bounds what the policies keep in memory for each level of demand.
const MaxDemand = 10_000_000

// price sums up, and refuses what no account can hold.
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
