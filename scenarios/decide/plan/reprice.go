package plan

import (
	"fmt"
	"math"
	"slices"

	"capcli"
)

// Reprice returns the outcomes, in all futures, of purchases that the market of f sells, such as those
// of another plan with other sizes. Sizes are rounded to whole lots, the nearest.
func (f *Field) Reprice(name, doc string, list []Purchase) (*Assessed, error) {
	bought := make([]int64, len(f.cost))
	lot := f.deal.m.lot()
	for _, p := range list {
		i := slices.IndexFunc(f.deal.options, func(x option) bool { return x.term == p.Term && x.from == p.From })
		if i < 0 {
			return nil, fmt.Errorf("the market does not sell term %d at %d s", p.Term, p.From)
		}
		bought[i] += (p.Milli + lot/2) / lot
	}
	c, err := f.choice(bought)
	if err != nil {
		return nil, err
	}
	return f.Assess(name, doc, c)
}

// Ties says how far the size bought first may be off before it costs something.
type Ties struct {
	Least, Most int64        // thousandths of GPUs bought first: sizes between the two cost the same within the noise
	Within      capcli.USD   // the most that a size between the two adds to the mean cost
	Wrong       []WrongLevel // sizes outside, and what they add
}

// WrongLevel is a size bought first that costs more than the best.
type WrongLevel struct {
	Milli int64
	Added capcli.USD // to the mean cost
}

// tieLevels is the most sizes above and below the best that are tried.
const tieLevels = 200

// tieShare is the share of the cost below which a difference counts as none, whatever the noise:
// a thousandth.
const tieShare = 1e-3

// Ties finds the sizes of the first purchases that cost the same as those of a plan within the noise.
// The purchases of the first instant are scaled, and later ones stay. A size is tied where the mean of
// its paired differences over the futures is within two standard errors of it, or below a thousandth of
// the cost. wrong names shares of the best size, such as 0.8 and 1.2, whose added cost is told.
func (f *Field) Ties(best *Assessed, wrong ...float64) (*Ties, error) {
	first := FirstMilli(best.Purchases)
	lot := f.deal.m.lot()
	step := max(lot, first/tieLevels/lot*lot)
	out := &Ties{Least: first, Most: first}
	if !slices.ContainsFunc(f.deal.options, func(x option) bool { return x.from == 0 }) {
		return out, nil // nothing can be bought first
	}
	for _, by := range []int64{-step, step} {
		for k, at := int64(1), first+by; at >= 0 && k <= tieLevels; k, at = k+1, at+by {
			added, tied, err := f.compareFirst(best, at)
			if err != nil {
				return nil, err
			}
			if !tied {
				break
			}
			out.Least, out.Most, out.Within = min(out.Least, at), max(out.Most, at), max(out.Within, added)
		}
	}
	for _, share := range wrong {
		at := (int64(float64(first)*share) + lot/2) / lot * lot
		if at >= out.Least && at <= out.Most {
			continue
		}
		added, _, err := f.compareFirst(best, at)
		if err != nil {
			return nil, err
		}
		out.Wrong = append(out.Wrong, WrongLevel{at, added})
	}
	return out, nil
}

// compareFirst prices the purchases of best with another size at the first instant. It returns what that
// adds to the mean cost, and whether the two are tied.
func (f *Field) compareFirst(best *Assessed, is int64) (added capcli.USD, tied bool, err error) {
	other, err := f.Reprice("", "", ScaleFirst(best.Purchases, is, f.deal.m.lot()))
	if err != nil {
		return 0, false, err
	}
	n := len(best.Outcomes)
	var sum, squares float64
	for s := range best.Outcomes {
		d := (other.Outcomes[s].Cost - best.Outcomes[s].Cost).Float()
		sum += d
		squares += d * d
	}
	mean := sum / float64(n)
	noise := 0.0
	if n > 1 {
		noise = 2 * math.Sqrt(max(0, squares/float64(n)-mean*mean)/float64(n-1))
	}
	cost := capcli.MeanUSD(n, true, func(i int) capcli.USD { return best.Outcomes[i].Cost }).Float()
	return capcli.USDOf(mean), mean <= max(noise, tieShare*cost), nil
}

// ScaleFirst returns purchases with those of the first instant scaled to is thousandths of GPUs in all,
// in whole lots; what rounding leaves goes to the first of them. Where nothing is bought first it buys
// the term of the first purchase, else the first term.
func ScaleFirst(list []Purchase, is, lot int64) []Purchase {
	out := slices.Clone(list)
	was := FirstMilli(list)
	left, at := is, -1
	for i := range out {
		if out[i].From != 0 {
			continue
		}
		if at < 0 {
			at = i
		}
		out[i].Milli = int64(float64(out[i].Milli)*float64(is)/float64(was)+float64(lot)/2) / lot * lot
		left -= out[i].Milli
	}
	switch {
	case at >= 0:
		out[at].Milli = max(0, out[at].Milli+left)
	case is > 0:
		term := 0
		if len(list) > 0 {
			term = list[0].Term
		}
		out = append(out, Purchase{Term: term, Milli: is})
	}
	return out
}

// FirstMilli returns the thousandths of GPUs of the purchases at the first instant.
func FirstMilli(list []Purchase) int64 {
	sum := int64(0)
	for _, p := range list {
		if p.From == 0 {
			sum += p.Milli
		}
	}
	return sum
}

// Renewed returns one level of a term, in thousandths of GPUs, bought at the start and again whenever it
// ends, at the next time of purchase.
func (f *Field) Renewed(term int, milli int64) []Purchase {
	var out []Purchase
	for _, x := range f.deal.options { // of one term in order of time
		if n := len(out); x.term == term && milli > 0 && (n == 0 || x.from >= out[n-1].To) {
			out = append(out, Purchase{Term: term, From: x.from, To: x.to, Milli: milli})
		}
	}
	return out
}
