package plan

import (
	"errors"
	"fmt"
	"math"

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

// Alpha is the price of use under the lease over that on demand.
func (l *Lease) Alpha() float64 { return l.Used.Float() / l.OnDemand.Float() }

// DeterministicRatio is the most that the deterministic policy can pay over
// what hindsight would have: 2 - alpha, and no deterministic policy can promise
// less (Wang, Li and Liang, arXiv 1305.5608).
func DeterministicRatio(alpha float64) float64 { return 2 - alpha }

// RandomisedRatio is the same for the randomised policy, in the mean:
// e / (e - 1 + alpha), the least that any policy can promise.
func RandomisedRatio(alpha float64) float64 { return math.E / (math.E - 1 + alpha) }

// BreakEven is the on-demand spend, over the fee, from which having leased
// would have been cheaper: 1 / (1 - alpha).
func BreakEven(alpha float64) float64 { return 1 / (1 - alpha) }

// OnlineRun is what a policy bought and paid.
type OnlineRun struct {
	Leases []int64 // bought, by period
	Bought int64
	Fees   capcli.USD
	Bursts capcli.USD // on demand
	Use    capcli.USD // under leases
	Cost   capcli.USD
}

// Online plays the deterministic policy of Wang, Li and Liang (arXiv
// 1305.5608): without any forecast, at each level of demand, lease one more GPU
// once the on-demand price of the periods within the last Periods in which that
// level was wanted and not leased is over Fee / (1 - alpha), the price from
// which having leased then would have been cheaper. What is leased covers at
// once the past that led to it, so that no period counts towards two leases.
// It pays at most 2 - alpha times the least that hindsight would.
func Online(demand []int64, l Lease) (*OnlineRun, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	return l.run(demand, l.most())
}

// most is how many periods on demand within one lease do not pass the
// break-even, fee / (on-demand - used).
func (l *Lease) most() int64 { return int64(l.Fee / (l.OnDemand - l.Used)) }

// run leases at each level once more than most of the last Periods wanted it
// unleased.
//
// Let P(t) be all the leases bought up to t. A period i of the window was
// covered by those bought after i - Periods, truly or as the past that they
// cover: P(t) - P(i - Periods) of them. So i wants one more when demand(i) +
// P(i - Periods) > P(t). The left side is known at i and the right one only
// grows: counts by the left side give each period's decision in constant time.
func (l *Lease) run(demand []int64, most int64) (*OnlineRun, error) {
	var (
		out    = &OnlineRun{Leases: make([]int64, len(demand))}
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
		if d < 0 || d > maxDemand {
			return 0, fmt.Errorf("period %d wants %d GPUs: an online policy takes 0 to %d", t, d, int64(maxDemand))
		}
		most = max(most, d)
	}
	return most, nil
}

// maxDemand bounds what the policies keep in memory for each level of demand.
const maxDemand = 10_000_000

// price sums up, and refuses what no account can hold.
func (r *OnlineRun) price(l *Lease, burst, used int64) error {
	var errs [4]error
	r.Fees, errs[0] = priced(l.Fee, r.Bought)
	r.Bursts, errs[1] = priced(l.OnDemand, burst)
	r.Use, errs[2] = priced(l.Used, used)
	if r.Cost = r.Fees + r.Bursts + r.Use; r.Cost < r.Fees || r.Cost < r.Use || r.Fees > math.MaxInt64-r.Bursts {
		errs[3] = capcli.ErrOverflow
	}
	return errors.Join(errs[:]...)
}

func priced(u capcli.USD, n int64) (capcli.USD, error) {
	v, err := times(int64(u), n)
	return capcli.USD(v), err
}

// OnlineChance plays the randomised policy of the same paper: the deterministic
// one with a break-even drawn once, of density (1 - alpha) e^((1-alpha) z) /
// (e - 1 + alpha) below 1 / (1 - alpha) and with the rest of the chance,
// alpha / (e - 1 + alpha), at that point. In the mean it pays at most
// e / (e - 1 + alpha) times the least. u is the draw, from [0, 1).
func OnlineChance(demand []int64, l Lease, u float64) (*OnlineRun, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	return l.run(demand, l.mostOf(drawBreakEven(l.Alpha(), u)))
}

// mostOf is how many periods on demand do not pass z times the fee.
func (l *Lease) mostOf(z float64) int64 {
	return min(l.most(), int64(z*l.Fee.Float()/l.OnDemand.Float()))
}

// drawBreakEven turns an even draw into a break-even: the inverse of the
// distribution function (e^((1-alpha) z) - 1) / (e - 1 + alpha).
func drawBreakEven(alpha, u float64) float64 {
	return min(BreakEven(alpha), math.Log1p(u*(math.E-1+alpha))/(1-alpha))
}

// OnlineMean is the mean cost of the randomised policy over its draw, exactly:
// the draws that lead to the same number of periods cost the same. It plays
// the policy once for each such number.
func OnlineMean(demand []int64, l Lease) (float64, error) {
	if err := l.check(); err != nil {
		return 0, err
	}
	alpha := l.Alpha()
	var mean, below float64
	for n := int64(0); below < 1; n++ {
		upTo := 1.0
		if n < l.most() {
			z := float64(n+1) * l.OnDemand.Float() / max(l.Fee.Float(), 1e-6)
			upTo = min(1, math.Expm1((1-alpha)*z)/(math.E-1+alpha))
		}
		r, err := l.run(demand, n)
		if err != nil {
			return 0, err
		}
		mean += (upTo - below) * r.Cost.Float()
		below = upTo
	}
	return mean, nil
}
