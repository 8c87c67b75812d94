package plan

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"capcli/scenarios/decide/plan/flow"

	"capcli"
)

// option is one purchase that can be made.
type option struct {
	term        int
	ordered     capcli.Seconds
	from, to    capcli.Seconds
	until       capcli.Seconds // end of the time that counts in its cost
	tie         int64          // of choices that cost the same, the one with the least sum of these is taken
	rate        int64          // in the unit of deal.scale
	first, last int            // the option covers the periods from first to before last
	most        int64          // most lots; 0 is no limit
}

// capLots returns n, or the most lots of the option if that is less.
func (x *option) capLots(n int64) int64 {
	if x.most > 0 {
		return min(n, x.most)
	}
	return n
}

// offer returns x as an offer of a program, at a cost for each lot.
func (x *option) offer(cost int64) flow.Offer {
	return flow.Offer{From: x.first, To: x.last, Cost: cost, Max: x.most, Tie: x.tie}
}

// deal is a curve and a market laid out as a program, with the units of its numbers.
type deal struct {
	c       *Curve
	m       *Market
	scale   int64 // rates are in this many parts of a millionth of a dollar per GPU-hour
	unit    int64 // costs are in units of this many thousandths of a GPU-second, at a rate of one part
	edges   []capcli.Seconds
	pieces  [][]flow.Use // of each period, with rates in the unit of scale
	options []option
	program *flow.Program
	parts   [2]int64 // the factors of unit in a Field: of the GPU time, and of the rate
}

// maxOffers is the most purchases that one program may offer.
const maxOffers = 20_000_000

// newDeal lays out the time line and the program.
func newDeal(c *Curve, m *Market) (*deal, error) {
	d, err := layOut(c, m)
	if err != nil {
		return nil, err
	}
	return d, d.build()
}

// layOut lays out the time line: the instants at which a purchase can start or end, further
// instants, and the demand between them.
func layOut(c *Curve, m *Market, more ...capcli.Seconds) (*deal, error) {
	c, err := m.Extend(c)
	if err != nil {
		return nil, err
	}
	d := &deal{c: c, m: m, scale: 1}
	if m.Discount != 0 {
		d.scale = 1000
	}
	end := c.Len()
	starts := c.Starts(m.period())
	if len(starts)*max(1, len(m.Terms)) > maxOffers {
		return nil, errors.New("over 20 million purchases to choose from: take longer periods")
	}
	d.edges = append(append(d.edges, end), starts...)
	for i := range m.Terms {
		if err := d.addOptions(i); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(d.options, func(a, b option) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.term, b.term)) })
	for _, at := range more {
		if at > 0 && at < end {
			d.edges = append(d.edges, at)
		}
	}
	slices.Sort(d.edges)
	d.edges = slices.Compact(d.edges)
	for i := range d.options {
		x := &d.options[i]
		x.first, _ = slices.BinarySearch(d.edges, x.from)
		x.last, _ = slices.BinarySearch(d.edges, min(x.to, end))
	}
	return d, d.cut()
}

// addOptions adds the purchases of a term, and the instants at which they start and end. A purchase
// that is ordered at once has a tie, one more for each shorter term: of plans that cost the same,
// the one is taken that commits to least today, and to short terms before long ones. So the first
// purchases do not hang on how ties fall later.
func (d *deal) addOptions(term int) error {
	t, m, end := &d.m.Terms[term], d.m, d.c.Len()
	if t.Max > 0 && t.Max < m.lot() {
		return nil
	}
	rank := int64(1)
	for i := range m.Terms {
		if m.Terms[i].Length.Length() < t.Length.Length() {
			rank++
		}
	}
	for _, o := range m.orders(d.c, term) {
		if o.from >= end || o.to > end && m.After.Rule == Fitting {
			continue
		}
		x := option{term: term, ordered: o.at, from: o.from, to: o.to, until: m.After.paidUntil(o.to, end), most: t.Max / m.lot()}
		if o.at == 0 {
			x.tie = rank
		}
		var err error
		if x.rate, err = d.termRate(&x); err != nil {
			return err
		}
		d.options = append(d.options, x)
		d.edges = append(d.edges, min(o.from, end), min(o.to, end))
	}
	return nil
}

// cut divides the steps of the curve at the edges of the periods and at changes of price.
func (d *deal) cut() error {
	d.pieces = make([][]flow.Use, len(d.edges)-1)
	var cuts []capcli.Seconds
	cuts = append(cuts, d.edges[1:]...)
	for _, p := range d.m.OnDemand {
		if p.From > 0 && p.From < d.c.Len() {
			cuts = append(cuts, p.From)
		}
	}
	if d.m.Discount != 0 {
		cuts = append(cuts, d.c.startsUntil(capcli.Step{Months: 1}, d.c.Len())[1:]...)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	period, first := 0, 0
	all := make([]flow.Use, 0, len(d.c.Work)+len(cuts))
	for p := range d.c.Pieces(cuts) {
		if p.From == d.edges[period+1] {
			d.pieces[period] = slices.Clip(all[first:])
			period, first = period+1, len(all)
		}
		rate := int64(d.m.OnDemand.At(p.From))
		if d.m.Discount != 0 {
			var err error
			if rate, err = d.discount(rate, d.c.factor(d.m.Discount, d.c.months(p.From, true))); err != nil {
				return err
			}
		}
		all = append(all, flow.Use{Work: int64(p.Work), Duration: int64(p.To - p.From), Rate: rate})
	}
	d.pieces[period] = slices.Clip(all[first:])
	return nil
}

// termRate returns the rate of a purchase, discounted.
func (d *deal) termRate(x *option) (int64, error) {
	t := &d.m.Terms[x.term]
	rate := int64(t.Rate.At(x.ordered))
	if d.m.Discount == 0 {
		return rate, nil
	}
	begin := d.c.months(x.from, false)
	length := d.c.MonthsOf(x.from, x.until)
	upfront := float64(t.Upfront) / Whole
	sum := upfront * d.c.factor(d.m.Discount, begin)
	for i := range length {
		sum += (1 - upfront) / float64(length) * d.c.factor(d.m.Discount, begin+float64(i))
	}
	return d.discount(rate, sum)
}

// MonthsOf returns the number of monthly payments between two instants: one at the start and one
// after each further month, until the end.
func (c *Curve) MonthsOf(from, to capcli.Seconds) int {
	return max(1, int(math.Ceil(c.months(to, false)-c.months(from, false)-1e-9)))
}

// discount returns a rate times a factor, in the unit of deal.scale.
func (d *deal) discount(rate int64, factor float64) (int64, error) {
	if d.m.Discount == 0 {
		return rate, nil
	}
	v := float64(rate) * float64(d.scale) * factor
	if v > 1<<62 {
		return 0, capcli.ErrOverflow
	}
	return int64(math.Round(v)), nil
}

// months returns the months from the start of c to an instant; whole rounds down.
func (c *Curve) months(at capcli.Seconds, whole bool) float64 {
	month := capcli.Step{Months: 1}
	n := int(at / month.Length())
	for c.AddSteps(0, month, n) > at {
		n--
	}
	for c.AddSteps(0, month, n+1) <= at {
		n++
	}
	if whole {
		return float64(n)
	}
	begin, end := c.AddSteps(0, month, n), c.AddSteps(0, month, n+1)
	return float64(n) + float64(at-begin)/float64(end-begin)
}

// factor returns the present value of a payment of 1 after some months.
func (c *Curve) factor(discount, months float64) float64 {
	if discount == 0 {
		return 1
	}
	return math.Pow(1+discount, -months/12)
}
