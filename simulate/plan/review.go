package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"capcli/simulate/internal/exact"

	"capcli"
)

// Contract is a commitment that there is, counted from the start of a curve.
type Contract struct {
	Name     string
	From, To capcli.Seconds
	Milli    int64       // GPUs in thousandths
	Rate     capcli.Rate // of a GPU-hour, paid whether used or not
	Priced   bool        // Rate is known
}

// Review is what was committed against what was used, and what to change.
type Review struct {
	From, To  capcli.Seconds // what was looked at, of the curve of use
	Used      capcli.GPUTime
	Covered   capcli.GPUTime // of Used
	Committed capcli.GPUTime
	OnDemand  capcli.USD // what the rest of the use cost on demand
	Contracts []Reviewed // as they serve: the lowest rate first

	// Ahead is the time from To on that the advice is for: a year, or the longest term.
	// In it the use of From to To is taken to come again and again. Of what is bought
	// the part beyond it is not counted, as if that had its use.
	Ahead     capcli.Seconds
	DoNothing capcli.USD // what is paid on demand in it if nothing more is bought
	Best      capcli.USD // the least that can be paid, for purchases and on demand
	Advice    []Advice   // in order of time
}

// Reviewed is one contract in the time looked at.
type Reviewed struct {
	Contract
	Active capcli.Seconds // of that time
	Paid   capcli.GPUTime
	Used   capcli.GPUTime
	Unused capcli.USD // what the rest cost; 0 where the rate is not known
	// Idle is the whole GPUs of it that were in use for no larger share of the time
	// than the rate is of the price on demand: to have paid on demand instead would
	// have cost no more. In thousandths, 0 where the rate is not known.
	Idle int64
}

// Advice is one thing to do.
type Advice struct {
	At    capcli.Seconds // after To
	Do    Deed
	Term  int   // of the market; -1 for Expire
	Milli int64 // thousandths of GPUs
	Cost  capcli.USD
}

// Deed is what to do with GPUs.
type Deed uint8

// The deeds. Renew is to buy what takes the place of a contract that ends.
const (
	Buy Deed = iota
	Renew
	Expire
)

// String gives the deed in words.
func (d Deed) String() string { return [...]string{"buy", "renew", "let expire"}[d] }

// NewReview looks at the last part of a curve of use.
func NewReview(ctx context.Context, use *Curve, m *Market, list []Contract, last capcli.Seconds) (*Review, error) {
	if err := errors.Join(use.Check(), m.check()); err != nil {
		return nil, err
	}
	end := use.Len()
	r := &Review{From: max(0, end-last), To: end}
	for _, c := range list {
		if c.Milli <= 0 || c.To <= c.From {
			return nil, fmt.Errorf("%s: expected some GPUs from one instant to a later one", c.Name)
		}
		r.Contracts = append(r.Contracts, Reviewed{Contract: c})
	}
	slices.SortStableFunc(r.Contracts, func(a, b Reviewed) int {
		if a.Priced != b.Priced {
			return map[bool]int{true: -1, false: 1}[a.Priced]
		}
		return cmp.Or(cmp.Compare(a.Rate, b.Rate), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	r.serve(use, m)
	return r, r.advise(ctx, use, m)
}

// stretch is a time with one level of use and one set of contracts.
type stretch struct {
	from, to capcli.Seconds
	work     capcli.GPUTime
}

// stretches cuts the time looked at where steps and contracts begin and end.
func (r *Review) stretches(use *Curve) []stretch {
	cuts := []capcli.Seconds{r.From}
	for _, c := range r.Contracts {
		cuts = append(cuts, c.From, c.To)
	}
	slices.Sort(cuts)
	var out []stretch
	for i, work := range use.Work {
		from, to := use.StepStart(i), use.StepStart(i+1)
		for from < to {
			k, _ := slices.BinarySearch(cuts, from+1)
			upTo := to
			if k < len(cuts) {
				upTo = min(to, cuts[k])
			}
			part := work
			if upTo < to {
				part = capcli.GPUTime(exact.Portion(int64(work), int64(upTo-from), int64(to-from)))
			}
			if from >= r.From {
				out = append(out, stretch{from, upTo, part})
			}
			work -= part
			from = upTo
		}
	}
	return out
}

// serve gives the use to the contracts.
func (r *Review) serve(use *Curve, m *Market) {
	var all capcli.GPUTime
	levels := make([][]stretch, len(r.Contracts)) // of each, with what it served
	for _, s := range r.stretches(use) {
		r.Used += s.work
		left := s.work
		for i := range r.Contracts {
			c := &r.Contracts[i]
			if s.from < c.From || s.to > c.To {
				continue
			}
			room := capcli.GPUTime(c.Milli * int64(s.to-s.from))
			served := min(room, left)
			left -= served
			c.Active, c.Paid, c.Used = c.Active+s.to-s.from, c.Paid+room, c.Used+served
			levels[i] = append(levels[i], stretch{s.from, s.to, served})
		}
		all += left
		r.OnDemand += capcli.Cost(m.OnDemand.At(s.from), left)
	}
	r.Covered = r.Used - all
	for i := range r.Contracts {
		c := &r.Contracts[i]
		r.Committed += c.Paid
		if c.Priced {
			c.Unused = capcli.Cost(c.Rate, c.Paid-c.Used)
			c.Idle = c.idleGPUs(levels[i], c.Rate.Float()/max(1e-9, m.OnDemand.At(r.To).Float()))
		}
	}
}

// idleGPUs is the GPUs of c that were used for at most a share of the time.
func (c *Reviewed) idleGPUs(levels []stretch, share float64) int64 {
	slices.SortStableFunc(levels, func(a, b stretch) int {
		return cmp.Compare(int64(b.work)/int64(b.to-b.from), int64(a.work)/int64(a.to-a.from))
	})
	var sum capcli.Seconds
	var worth int64 // whole GPUs that were used for longer
	for i, s := range levels {
		sum += s.to - s.from
		gpus := int64(s.work) / int64(s.to-s.from) / 1000
		if i+1 < len(levels) && int64(levels[i+1].work)/int64(levels[i+1].to-levels[i+1].from)/1000 == gpus {
			continue
		}
		if float64(sum) > share*float64(c.Active) {
			worth = gpus
			break
		}
	}
	return max(0, c.Milli-worth*1000)
}

// advise finds the best purchases for a time to come in which use is as it was.
func (r *Review) advise(ctx context.Context, use *Curve, m *Market) error {
	ahead := capcli.Step{Months: 12}
	for _, t := range m.Terms {
		if t.Length.Length() > ahead.Length() {
			ahead = t.Length
		}
	}
	start := capcli.NoTime
	if use.Dated() {
		start = use.Start + capcli.Time(r.To)
	}
	first := 0
	for use.StepStart(first) < r.From {
		first++
	}
	again := &Curve{Start: start, Step: use.Step}
	r.Ahead = again.AddSteps(0, ahead, 1)
	var gpus []float64
	for i := 0; again.StepStart(i) < r.Ahead; i++ {
		if len(gpus) >= maxSteps {
			return fmt.Errorf("over %d steps ahead: take a longer step", maxSteps)
		}
		gpus = append(gpus, use.GPUs(first+i%(len(use.Work)-first)))
	}
	shifted := *m
	shifted.Overrun = true
	shifted.OnDemand = m.OnDemand.shift(r.To)
	shifted.Terms = slices.Clone(m.Terms)
	for i := range shifted.Terms {
		shifted.Terms[i].Rate = m.Terms[i].Rate.shift(r.To)
	}
	var held []Held
	for _, c := range r.Contracts {
		if c.To > r.To {
			held = append(held, Held{From: max(0, c.From-r.To), To: c.To - r.To, Milli: c.Milli})
			shifted.also = append(shifted.also, c.To-r.To)
		}
	}
	f, err := newField(&Futures{Grid: capcli.Grid{Origin: start, Step: use.Step}, Paths: [][]float64{gpus}}, &shifted, true, held)
	if err != nil {
		return err
	}
	return r.choose(ctx, f)
}

// maxSteps bounds the time ahead.
const maxSteps = 2_000_000

// shift returns the prices as seen from an instant.
func (p Prices) shift(at capcli.Seconds) Prices {
	out := slices.Clone(p)
	for i := range out {
		if out[i].From > -1<<60 {
			out[i].From -= at
		}
	}
	return out
}

// choose solves what lies ahead, and says it as things to do.
func (r *Review) choose(ctx context.Context, f *Field) error {
	nothing, err := f.choice(make([]int64, len(f.cost)))
	if err != nil {
		return err
	}
	if r.DoNothing, err = f.usd(nothing.Value); err != nil {
		return err
	}
	best, err := f.Choose(ctx, Risk{})
	if err != nil {
		return err
	}
	if r.Best, err = f.usd(best.Value); err != nil {
		return err
	}
	a, err := f.Assess("", "", best)
	if err != nil {
		return err
	}
	ends := map[capcli.Seconds]int64{} // of contracts, what nothing has taken the place of
	for _, h := range f.sunk {
		if h.To < r.Ahead {
			ends[h.To] += h.Milli
		}
	}
	for _, p := range a.Purchases {
		again := min(ends[p.From], p.Milli)
		ends[p.From] -= again
		for _, x := range []Advice{{p.From, Renew, p.Term, again, 0}, {p.From, Buy, p.Term, p.Milli - again, 0}} {
			if x.Milli > 0 {
				end := f.deal.c.AddSteps(p.From, f.deal.m.Terms[p.Term].Length, 1)
				x.Cost = capcli.Cost(p.Rate, capcli.GPUTime(x.Milli*int64(end-p.From)))
				r.Advice = append(r.Advice, x)
			}
		}
	}
	for at, milli := range ends {
		if milli > 0 {
			r.Advice = append(r.Advice, Advice{At: at, Do: Expire, Term: -1, Milli: milli})
		}
	}
	slices.SortFunc(r.Advice, func(a, b Advice) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Do, b.Do), cmp.Compare(a.Term, b.Term))
	})
	return nil
}
