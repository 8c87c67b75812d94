package plan

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"capcli"
)

// Meter prices purchases on futures by reading the hours themselves, in one pass and with nothing prepared. A
// Field lays out one market, which takes long, and then prices many choices in it; a Meter takes other prices, terms
// and demands at once. Their outcomes are the same to the millionth of a dollar (a test holds that).
type Meter struct {
	Origin capcli.Time
	Step   capcli.Seconds // length of each step
	Milli  [][]int32      // by future, then step: thousandths of GPUs wanted
}

// Bill is what a Meter prices: purchases of which the part within the futures counts, and costs its rate for that
// time (After Prorated), as where nothing is discounted.
type Bill struct {
	Bought   []Purchase  // Term, Cost and Total are not read
	Held     []Held      // committed already, at no cost
	OnDemand capcli.Rate // of what is not covered
	Lot      int64       // thousandths of GPUs; of held GPUs only whole lots count. 0 is one GPU
	Demand   int64       // thousandths of the futures' demand that are wanted: 1000 is all of it, as it is
}

// Reading is what a bill comes to in one future.
type Reading struct {
	InFuture
	Above capcli.Seconds // time in which more is wanted than is covered
}

// NewMeter returns the meter of futures, whose demands are rounded to the thousandth of a GPU as a Field does. It
// fails where the steps are not of one length in seconds, or a demand is over 2 million GPUs.
func NewMeter(f *Futures) (*Meter, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	if f.Grid.Step.Days != 0 || f.Grid.Step.Months != 0 {
		return nil, fmt.Errorf("expected steps of one length in seconds, found %s", f.Grid.Step)
	}
	m := &Meter{Origin: f.Grid.Origin, Step: f.Grid.Step.Seconds}
	for i, path := range f.Paths {
		row := make([]int32, len(path))
		for k, v := range path {
			milli := math.Round(v * 1000)
			if milli > math.MaxInt32 {
				return nil, fmt.Errorf("future %d, step %d: expected at most %d GPUs, found %g", i, k, math.MaxInt32/1000, v)
			}
			row[k] = int32(milli)
		}
		m.Milli = append(m.Milli, row)
	}
	return m, m.Check()
}

// Check returns an error where a meter has no futures, or futures of unequal length or with demands below 0.
func (m *Meter) Check() error {
	if len(m.Milli) == 0 || len(m.Milli[0]) == 0 || m.Step <= 0 {
		return errors.New("expected at least one future of at least one step, found none")
	}
	for i, row := range m.Milli {
		if len(row) != len(m.Milli[0]) || slices.Min(row) < 0 {
			return fmt.Errorf("future %d: expected %d demands of 0 or more, as in future 0", i, len(m.Milli[0]))
		}
	}
	return nil
}

// Len returns the length of each future.
func (m *Meter) Len() capcli.Seconds { return m.Step * capcli.Seconds(len(m.Milli[0])) }

// instantAfter returns the instant some months after the start, n times.
func (m *Meter) instantAfter(from capcli.Seconds, months, n int) capcli.Seconds {
	g := capcli.Grid{Origin: m.Origin + capcli.Time(from), Step: capcli.Step{Months: months}}
	return capcli.Seconds(g.At(n) - m.Origin)
}

// Renewed returns GPUs, in thousandths, bought at the start for some months and again whenever they end.
func (m *Meter) Renewed(milli int64, months int, rate capcli.Rate) []Purchase {
	var out []Purchase
	for n := 0; milli > 0; n++ {
		from := m.instantAfter(0, months, n)
		if from >= m.Len() {
			break
		}
		if k := len(out); k == 0 || from >= out[k-1].To {
			out = append(out, Purchase{Ordered: from, From: from, To: m.instantAfter(from, months, 1), Milli: milli, Rate: rate})
		}
	}
	return out
}

// span is steps in which the same is committed.
type span struct {
	from, to int
	level    int64   // thousandths of GPUs, with those held
	hourly   float64 // rate times thousandths of GPUs of what is bought
}

// spans returns the steps between the starts and ends of a bill. It fails where one lies within a step.
func (m *Meter) spans(b *Bill) ([]span, error) {
	end := m.Len()
	edges := []capcli.Seconds{0, end}
	for _, p := range b.Bought {
		if p.From < 0 || p.To <= p.From || p.Milli < 0 || p.Rate < 0 {
			return nil, fmt.Errorf("expected purchases of 0 or more GPUs from one instant to a later one, found %d thousandths from %d s to %d s", p.Milli, p.From, p.To)
		}
		edges = append(edges, min(p.From, end), min(p.To, end))
	}
	for _, h := range b.Held {
		edges = append(edges, min(max(h.From, 0), end), min(max(h.To, 0), end))
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	lot := (&Market{Lot: b.Lot}).lot()
	var out []span
	for i, from := range edges[:len(edges)-1] {
		if from%m.Step != 0 {
			return nil, fmt.Errorf("a purchase or held GPUs start or end %d s after the start, within a step of %d s", from, m.Step)
		}
		s := span{from: int(from / m.Step), to: int(edges[i+1] / m.Step)}
		for _, h := range b.Held {
			if h.From <= from && from < h.To {
				s.level += h.Milli
			}
		}
		s.level = s.level / lot * lot
		for _, p := range b.Bought {
			if p.From <= from && from < p.To {
				s.level += p.Milli
				s.hourly += float64(p.Milli) * float64(p.Rate)
			}
		}
		out = append(out, s)
	}
	return out, nil
}

// Read returns what a bill comes to in each future.
func (m *Meter) Read(b *Bill) ([]Reading, error) {
	spans, err := m.spans(b)
	if err != nil {
		return nil, err
	}
	fixed := new(big.Int)
	for _, p := range b.Bought {
		if length := min(p.To, m.Len()) - p.From; length > 0 {
			fixed.Add(fixed, new(big.Int).Mul(big.NewInt(p.Milli*int64(length)), big.NewInt(int64(p.Rate))))
		}
	}
	out := make([]Reading, len(m.Milli))
	for i, row := range m.Milli {
		x := &out[i]
		var lost unused
		for _, s := range spans {
			wanted, above, steps := measure(row[s.from:s.to], s.level, b.Demand)
			used := capcli.GPUTime(wanted-above) * capcli.GPUTime(m.Step)
			paid := capcli.GPUTime(s.level) * capcli.GPUTime(s.to-s.from) * capcli.GPUTime(m.Step)
			x.Wanted += capcli.GPUTime(wanted) * capcli.GPUTime(m.Step)
			x.Covered, x.Paid, x.Above = x.Covered+used, x.Paid+paid, x.Above+capcli.Seconds(steps)*m.Step
			lost.add(s.hourly, s.level, paid-used)
		}
		cost := new(big.Int).Mul(big.NewInt(int64(x.Wanted-x.Covered)), big.NewInt(int64(b.OnDemand)))
		cost.Add(cost, fixed)
		d := deal{unit: 1, scale: 1}
		if x.Cost, err = d.usd(new(big.Rat).SetInt(cost)); err != nil {
			return nil, err
		}
		if x.Committed, err = d.usd(new(big.Rat).SetInt(fixed)); err != nil {
			return nil, err
		}
		x.OnDemand = x.Cost - x.Committed
		if x.Unused, err = lost.usd(1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// measure returns the sum of a share of some demands, in thousandths, the part of it above a level, and the
// number of demands above it.
func measure(row []int32, level, share int64) (wanted, above int64, steps int) {
	if share == 1000 {
		for _, v := range row {
			w := int64(v)
			wanted += w
			if w > level {
				above += w - level
				steps++
			}
		}
		return wanted, above, steps
	}
	for _, v := range row {
		w := (int64(v)*share + 500) / 1000
		wanted += w
		if w > level {
			above += w - level
			steps++
		}
	}
	return wanted, above, steps
}

// unused sums the price of committed GPU time that is not used. Time at the same price and level is summed first, so
// that the sum does not depend on how the time is divided.
type unused struct {
	hourly float64        // rate times thousandths of GPUs, of what is bought
	level  int64          // thousandths of GPUs, with those held
	time   capcli.GPUTime // not used
	sum    float64        // rate times thousandths of GPU-seconds, of what came before
}

// add adds GPU time of a level that is not used. hourly is the rate of what is bought of the level.
func (u *unused) add(hourly float64, level int64, time capcli.GPUTime) {
	if u.hourly != hourly || u.level != level {
		u.flush()
		u.hourly, u.level = hourly, level
	}
	u.time += time
}

func (u *unused) flush() {
	if u.level > 0 {
		u.sum += float64(u.hourly * float64(u.time) / float64(u.level))
	}
	u.time = 0
}

// usd returns the sum, where rates have scale parts of a millionth of a dollar.
func (u *unused) usd(scale int64) (capcli.USD, error) {
	u.flush()
	v := math.Floor(u.sum/(1000*float64(capcli.Hour)*float64(scale)) + 0.5)
	if !(v < math.MaxInt64) {
		return 0, capcli.ErrOverflow
	}
	return capcli.USD(v), nil
}
