package plan

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"capcli/scenarios/decide/plan/flow"
	"capcli/simulate/exact"

	"capcli"
)

// Metered is billed use that commitments may cover, counted in billing units, in each of some futures. It is
// settled by the clock hour: in an hour each unit that is committed covers as many unit-seconds as it is there
// for, whenever in the hour the use is.
type Metered struct {
	Cuts   []capcli.Seconds // hour i is from Cuts[i] to Cuts[i+1]; the first is 0
	Charge [][]Charge       // by future, in order of hour
	// Held are contracts that are there already, Most units of each: they cover first, and what they cost is no part
	// of the field.
	Held []Contract
}

// Charge is use in one hour of a Metered at one on-demand rate.
type Charge struct {
	Hour int
	Work int64       // thousandths of unit-seconds
	Rate capcli.Rate // of a unit-hour
}

// Contract is a commitment that can be bought in whole units. From and To are seconds from the start of the use,
// at cuts of its hours or beyond the end; the part beyond the end costs nothing and covers nothing.
type Contract struct {
	Use      int // index of the Metered that it covers
	From, To capcli.Seconds
	Rate     capcli.Rate // of a unit-hour
	Most     int64       // units; 0 is no limit
}

// MeteredField returns the field of kinds of use and of the contracts that may cover them. The use of each kind is
// a stretch of one time line, on which contracts of that kind alone lie, so one flow solves all kinds at once.
// weights are the weights of the futures, nil counts all alike; base is what each future costs whatever is
// bought, nil is nothing. The unit of the use is called a GPU in Milli, and a lot is one unit.
func MeteredField(uses []Metered, contracts []Contract, weights []int64, base []capcli.USD) (*Field, error) {
	if len(uses) == 0 || len(uses[0].Charge) == 0 {
		return nil, errors.New("expected use in at least one future, found none")
	}
	n := len(uses[0].Charge)
	f := &Field{all: allOf(n), weights: weights, base: make([]int64, n), uses: uses}
	f.deal = &deal{m: &Market{OnDemand: Flat(0)}, scale: 1, edges: []capcli.Seconds{0}}
	deals := make([]*deal, n)
	for s := range deals {
		deals[s] = &deal{m: f.deal.m}
	}
	for u := range uses {
		if err := f.deal.join(&uses[u], u, contracts, deals); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(f.deal.options, func(a, b option) int { return a.term - b.term })
	f.held = make([]int64, len(f.deal.edges)-1)
	first := 0
	for u := range uses {
		first += f.holdMetered(&uses[u], first)
	}
	for _, d := range deals {
		f.pieces = append(f.pieces, d.pieces)
	}
	if err := f.fill(deals); err != nil {
		return nil, err
	}
	for s := range base {
		v, err := exact.Times(int64(base[s]), f.perMillionth())
		if err != nil || v > flow.LimitCost {
			return nil, capcli.ErrOverflow
		}
		f.base[s] = v
		f.top = max(f.top, v)
	}
	return f, nil
}

// holdMetered adds the units that a kind of use holds to its periods, the first of which is given. It returns the number of
// its periods.
func (f *Field) holdMetered(use *Metered, first int) int {
	from, end := f.deal.edges[first], use.Cuts[len(use.Cuts)-1]
	n := 0
	for ; first+n < len(f.held) && f.deal.edges[first+n] < from+end; n++ {
		for i := range use.Held {
			if h := &use.Held[i]; h.From <= f.deal.edges[first+n]-from && f.deal.edges[first+n]-from < h.To {
				f.held[first+n] += h.Most
			}
		}
	}
	return n
}

// perMillionth returns how many units of the field a millionth of a dollar is.
func (f *Field) perMillionth() int64 { return 1000 * int64(capcli.Hour) / f.deal.unit }

// join appends a kind of use to the time line: its periods, from one start or end of a contract to the next, its
// contracts, and the use in each future.
func (d *deal) join(use *Metered, number int, contracts []Contract, deals []*deal) error {
	hours := len(use.Cuts) - 1
	if hours < 1 || use.Cuts[0] != 0 {
		return fmt.Errorf("use %d: expected hours from 0 on, found %d", number, hours)
	}
	end := use.Cuts[hours]
	cuts := []capcli.Seconds{0, end}
	for i := range contracts {
		if c := &contracts[i]; c.Use == number {
			if c.From < 0 || c.From >= min(c.To, end) || c.Rate < 0 {
				return fmt.Errorf("contract %d: expected a time within the use and a rate of 0 or more, found %d s to %d s of %d s at %s", i, c.From, c.To, end, c.Rate.Decimal())
			}
			cuts = append(cuts, c.From, min(c.To, end))
		}
	}
	for i := range use.Held {
		h := &use.Held[i]
		if h.From < 0 || h.From >= min(h.To, end) || h.Most < 0 {
			return fmt.Errorf("held contract %d: expected a time within the use and 0 units or more, found %d s to %d s of %d s and %d", i, h.From, h.To, end, h.Most)
		}
		cuts = append(cuts, h.From, min(h.To, end))
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	first, from := len(d.edges)-1, d.edges[len(d.edges)-1]
	for _, at := range cuts[1:] {
		d.edges = append(d.edges, from+at)
	}
	for i := range contracts {
		if c := &contracts[i]; c.Use == number {
			x := option{term: i, from: c.From, to: min(c.To, end), until: min(c.To, end), rate: int64(c.Rate), most: c.Most}
			a, _ := slices.BinarySearch(cuts, x.from)
			b, _ := slices.BinarySearch(cuts, x.to)
			x.first, x.last = first+a, first+b
			d.options = append(d.options, x)
		}
	}
	for s, one := range deals {
		pieces, err := use.pieces(s, cuts)
		if err != nil {
			return err
		}
		one.pieces = append(one.pieces, pieces...)
	}
	return nil
}

// pieces returns the use of a future by period. Within an hour the dearest use is covered first: use at several
// rates is a sum of parts, each of all use at a rate or above, with what the rate is above the next.
func (u *Metered) pieces(future int, cuts []capcli.Seconds) ([][]flow.Use, error) {
	out := make([][]flow.Use, len(cuts)-1)
	list := u.Charge[future]
	period := 0
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Hour == list[0].Hour {
			n++
		}
		hour := slices.Clone(list[:n])
		list = list[n:]
		at := hour[0].Hour
		if at < 0 || at+1 >= len(u.Cuts) {
			return nil, fmt.Errorf("use in hour %d of %d", at, len(u.Cuts)-1)
		}
		for cuts[period+1] <= u.Cuts[at] {
			period++
		}
		if u.Cuts[at+1] > cuts[period+1] {
			return nil, fmt.Errorf("a contract starts or ends within an hour, %d s after the start", cuts[period+1])
		}
		length := int64(u.Cuts[at+1] - u.Cuts[at])
		slices.SortStableFunc(hour, func(a, b Charge) int { return int(max(-1, min(1, b.Rate-a.Rate))) })
		var work int64
		for k, c := range hour {
			if c.Work < 0 || c.Rate < 0 || work > math.MaxInt64/4-c.Work {
				return nil, fmt.Errorf("use in hour %d: expected work and a rate of 0 or more that can be counted", at)
			}
			work += c.Work
			next := capcli.Rate(0)
			if k+1 < len(hour) {
				next = hour[k+1].Rate
			}
			if work > 0 && c.Rate > next {
				out[period] = append(out[period], flow.Use{Work: work, Duration: length, Rate: int64(c.Rate - next)})
			}
		}
	}
	return out, nil
}

// Units returns the units of each contract that a choice of a MeteredField buys.
func (c *Choice) Units() []int64 { return slices.Clone(c.bought) }

// ChoiceOf returns the choice of these units of each contract, with its costs in the futures and no bound.
func (f *Field) ChoiceOf(units []int64) (*Choice, error) {
	if len(units) != len(f.deal.options) {
		return nil, fmt.Errorf("expected units of %d contracts, found %d", len(f.deal.options), len(units))
	}
	return f.choice(slices.Clone(units))
}

// RiskOf returns the risk of the cost of a choice, and the lower bound of every choice.
func (f *Field) RiskOf(c *Choice, r Risk) (value, bound capcli.USD, err error) {
	if value, err = f.usd(r.MeasureWeighted(c.Costs, f.weights)); err != nil {
		return 0, 0, err
	}
	bound, err = f.usd(c.Bound)
	return value, min(bound, value), err
}

// Settled is the outcome of a choice of contracts in one future.
type Settled struct {
	Cost      capcli.USD // Committed, OnDemand and what is paid in any case
	Committed capcli.USD
	OnDemand  capcli.USD
	Uses      []Spread // by kind of use
}

// Spread is what contracts do for one kind of use, in thousandths of unit-seconds.
type Spread struct {
	Wanted  int64 // the use
	Covered int64 // the part of it that contracts cover
	Paid    int64 // all that is committed or held within the horizon
}

// SettleIn returns the outcome of a choice in a future of a MeteredField.
func (f *Field) SettleIn(c *Choice, future int) (Settled, error) {
	var out Settled
	fixed := new(big.Int)
	for i, n := range c.bought {
		fixed.Add(fixed, exact.Product(n, f.cost[i]))
	}
	var err error
	if out.Cost, err = f.usd(big.NewRat(c.Costs[future], 1)); err != nil {
		return out, err
	}
	if out.Committed, err = f.usd(new(big.Rat).SetInt(fixed)); err != nil {
		return out, err
	}
	base, err := f.usd(big.NewRat(f.base[future], 1))
	if err != nil {
		return out, err
	}
	out.OnDemand = out.Cost - out.Committed - base
	levels, period := f.levels(c.bought), 0
	var offset capcli.Seconds
	for u := range f.uses {
		use := &f.uses[u]
		list := use.Charge[future]
		var sum Spread
		for i, end := range use.Cuts[1:] {
			for f.deal.edges[period+1] <= offset+use.Cuts[i] {
				period++
			}
			paid := levels[period] * 1000 * int64(end-use.Cuts[i])
			var work int64
			for ; len(list) > 0 && list[0].Hour == i; list = list[1:] {
				work += list[0].Work
			}
			sum.Wanted, sum.Covered, sum.Paid = sum.Wanted+work, sum.Covered+min(work, paid), sum.Paid+paid
		}
		offset += use.Cuts[len(use.Cuts)-1]
		out.Uses = append(out.Uses, sum)
	}
	return out, nil
}
