package traffic

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"capcli"
	"capcli/simulate/serving"
)

// Arrivals is the law of the gaps between requests.
type Arrivals string

// The laws. Gamma has gaps of a stated coefficient of variation, which BurstGPT's requests follow (Wang et
// al., "BurstGPT", KDD 2025): above 1 is burstier than Poisson. Even has no chance at all.
const (
	Poisson Arrivals = "poisson"
	Gamma   Arrivals = "gamma"
	Even    Arrivals = "even"
)

// Drawn is a Source of requests that are drawn from a curve. It works in cells of a minute or more: the
// number of requests of a cell is drawn first, then their seconds, then their instants and lengths, each
// with random numbers of its own, which depend on the seed and the cell alone. Given their number, the
// instants of a Poisson process are uniform. It is not safe for use by several goroutines.
type Drawn struct {
	curve  Curve
	tokens Tokens
	law    Arrivals
	spread float64 // variance over mean of the number in a long time: the squared variation of gaps
	users  int
	cell   capcli.Seconds

	counts, seconds, instants, lengths stream
	sums                               []float64 // requests expected before each cell, for Even
	weights                            []float64 // of the seconds of a cell
	drawer                             lengthDrawer
}

// Demand describes requests that are drawn.
type Demand struct {
	Curve    Curve
	Tokens   Tokens
	Arrivals Arrivals // "" is Poisson
	CV       float64  // coefficient of variation of the gaps, for Gamma
	Users    int
	Name     string // of the service, whose random numbers are its own
}

// maxCV is the largest coefficient of variation of gaps.
const maxCV = 50

// Draw returns the requests of a demand. It fails with a *capcli.RequestError.
func Draw(d Demand, seed capcli.Seed) (*Drawn, error) {
	if err := d.Curve.Check(); err != nil {
		return nil, err
	}
	if err := d.Tokens.Check(); err != nil {
		return nil, err
	}
	s := &Drawn{curve: d.Curve, tokens: d.Tokens, law: d.Arrivals, spread: 1, users: d.Users, cell: capcli.Minute}
	switch d.Arrivals {
	case "", Poisson:
		s.law = Poisson
	case Even:
		s.spread = 0
	case Gamma:
		if !(d.CV > 0 && d.CV <= maxCV) {
			return nil, &capcli.RequestError{Field: "cv", Text: fmt.Sprintf("wants the variation of the gaps, over 0 and at most %d; 1 is Poisson; found %v", maxCV, d.CV)}
		}
		s.spread = d.CV * d.CV
		s.cell = cellOf(s.curve.highest())
	default:
		return nil, capcli.CheckChoice("law of arrivals", string(d.Arrivals), []string{string(Poisson), string(Gamma), string(Even)})
	}
	for _, use := range []struct {
		to   *stream
		name string
	}{{&s.counts, "counts"}, {&s.seconds, "seconds"}, {&s.instants, "instants"}, {&s.lengths, "lengths"}} {
		*use.to = newStream(seed, "service/"+d.Name+"/"+use.name)
	}
	s.weights = make([]float64, s.cell)
	s.drawer = s.tokens.drawer()
	s.sums = []float64{0}
	return s, nil
}

// cellOf returns the length of the cells of Gamma arrivals: one in which there are some 60 requests, so
// that the borders between cells do not matter.
func cellOf(rate float64) capcli.Seconds {
	for _, cell := range []capcli.Seconds{capcli.Minute, 10 * capcli.Minute, capcli.Hour} {
		if rate*float64(cell) >= 60 {
			return cell
		}
	}
	return capcli.Day
}

// highest returns the highest rate, without growth.
func (c *Curve) highest() float64 {
	if c.Points == nil {
		return c.Top() * max(1, c.weekend()) * c.scale()
	}
	top := 0.0
	for _, p := range c.Points {
		top = max(top, p.Rate*c.scale())
	}
	return top
}

// stream gives random numbers to each cell.
type stream struct {
	key capcli.Seed
	pcg *rand.PCG
	rng *rand.Rand
}

func newStream(seed capcli.Seed, use string) stream {
	pcg := rand.NewPCG(0, 0)
	return stream{capcli.Seed(seed.Stream(use).Uint64()), pcg, rand.New(pcg)}
}

// ofCell returns the random numbers of a cell, from their start.
func (s *stream) ofCell(i int) *rand.Rand {
	s.pcg.Seed(uint64(s.key), uint64(s.key.Child(i+1)))
	return s.rng
}

// weigh sets the weights of the seconds of cell i to their rates, and returns the requests expected.
func (s *Drawn) weigh(i int) float64 {
	from := capcli.Seconds(i) * s.cell
	sum := 0.0
	if s.curve.isCoarse() {
		for m := capcli.Seconds(0); m < s.cell; m += capcli.Minute {
			rate := s.curve.At(from + m + s.middle())
			for k := range s.weights[m : m+capcli.Minute] {
				s.weights[int(m)+k] = rate
			}
			sum += rate * float64(capcli.Minute)
		}
		return sum
	}
	for k := range s.weights {
		s.weights[k] = s.curve.At(from + capcli.Seconds(k))
		sum += s.weights[k]
	}
	return sum
}

// mean returns the requests expected in cell i.
func (s *Drawn) mean(i int) float64 {
	if s.curve.isCoarse() {
		from, sum := capcli.Seconds(i)*s.cell, 0.0
		for m := capcli.Seconds(0); m < s.cell; m += capcli.Minute {
			sum += s.curve.At(from+m+s.middle()) * float64(capcli.Minute)
		}
		return sum
	}
	return s.weigh(i)
}

// middle returns where in a minute its rate is taken: the middle, and the start for points.
func (s *Drawn) middle() capcli.Seconds {
	if s.curve.Points != nil {
		return 0
	}
	return capcli.Minute / 2
}

// Expected returns the requests that are expected before a time, in whole cells.
func (s *Drawn) Expected(until capcli.Seconds) float64 {
	sum := 0.0
	for i := range int((until + s.cell - 1) / s.cell) {
		sum += s.mean(i)
	}
	return sum
}

// countOf returns the number of requests in cell i.
func (s *Drawn) countOf(i int) int64 {
	if s.law == Even {
		lo, hi := s.expectedBefore(i), s.expectedBefore(i+1)
		return wholeBefore(hi) - wholeBefore(lo)
	}
	return dispersed(s.counts.ofCell(i), s.mean(i), s.spread)
}

// expectedBefore returns the requests expected before cell i.
func (s *Drawn) expectedBefore(i int) float64 {
	for len(s.sums) <= i {
		s.sums = append(s.sums, s.sums[len(s.sums)-1]+s.mean(len(s.sums)-1))
	}
	return s.sums[i]
}

// wholeBefore returns how many even requests come before their expected number is x: the first comes at
// one half.
func wholeBefore(x float64) int64 { return int64(math.Ceil(x - 0.5)) }

// bySecond returns the requests of each second of cell i.
func (s *Drawn) bySecond(i int, out []int64) []int64 {
	out = append(out[:0], make([]int64, s.cell)...)
	if s.law != Poisson {
		from := int64(i) * int64(s.cell)
		for _, at := range s.instantsOf(i, nil) {
			out[at/second-from]++
		}
		return out
	}
	n := s.countOf(i)
	left := s.weigh(i)
	rng := s.seconds.ofCell(i)
	for k, w := range s.weights {
		if n == 0 {
			break
		}
		p := 1.0
		if k < len(s.weights)-1 && w < left {
			p = w / left
		}
		out[k] = binomial(rng, n, p)
		n -= out[k]
		left -= w
	}
	return out
}

// second is a second in microseconds.
const second = int64(1e6)

// instantsOf returns when the requests of cell i come, in microseconds since the start of the run.
func (s *Drawn) instantsOf(i int, out []int64) []int64 {
	out = out[:0]
	from := int64(i) * int64(s.cell)
	rng := s.instants.ofCell(i)
	switch s.law {
	case Poisson:
		for k, n := range s.bySecond(i, nil) {
			begin := len(out)
			for range n {
				out = append(out, (from+int64(k))*second+rng.Int64N(second))
			}
			slices.Sort(out[begin:])
		}
		return out
	case Even:
		lo, hi := s.expectedBefore(i), s.expectedBefore(i+1)
		shares := make([]float64, 0, 64)
		for n := wholeBefore(lo); n < wholeBefore(hi); n++ {
			shares = append(shares, (float64(n)+0.5-lo)/(hi-lo))
		}
		return s.place(i, shares, out)
	case Gamma:
	}
	return s.place(i, gammaShares(rng, s.countOf(i), 1/s.spread), out)
}

// gammaShares returns n instants of a cell as shares of it, in order: gaps of a gamma law, from a
// uniform origin round the cell.
func gammaShares(rng *rand.Rand, n int64, shape float64) []float64 {
	out := make([]float64, n)
	sum := 0.0
	for k := range out {
		sum += gamma(rng, shape)
		out[k] = sum
	}
	origin := rng.Float64()
	for k := range out {
		at := out[k] / sum
		if sum == 0 { // gaps too short for a number
			at = rng.Float64()
		}
		if at += origin; at >= 1 {
			at--
		}
		out[k] = min(max(at, 0), math.Nextafter(1, 0))
	}
	slices.Sort(out)
	return out
}

// place appends the instants at shares of the requests expected in cell i.
func (s *Drawn) place(i int, shares []float64, out []int64) []int64 {
	total := s.weigh(i)
	from := int64(i) * int64(s.cell)
	k, done := 0, 0.0
	for _, share := range shares {
		for k < len(s.weights)-1 && (share*total >= done+s.weights[k] || s.weights[k] == 0) {
			done += s.weights[k]
			k++
		}
		part := 0.0
		if s.weights[k] > 0 {
			part = min(max((share*total-done)/s.weights[k], 0), 1)
		}
		out = append(out, (from+int64(k))*second+min(int64(part*float64(second)), second-1))
	}
	return out
}

// maxSingle is the most requests that Counts makes one by one, where steps are shorter than cells.
const maxSingle = 500_000_000

// Counts implements Source.
func (s *Drawn) Counts(length capcli.Seconds, n int) ([]int64, error) {
	if length < 1 || n < 0 {
		return nil, &capcli.RequestError{Field: "step", Text: fmt.Sprintf("wants steps of at least a second, found %d of %s", n, length)}
	}
	out := make([]int64, n)
	if length%s.cell == 0 {
		each := int(length / s.cell)
		for i := range n * each {
			out[i/each] += s.countOf(i)
		}
		return out, nil
	}
	until := capcli.Seconds(n) * length
	if s.law != Poisson && s.Expected(until) > maxSingle {
		return nil, &capcli.RequestError{
			Field: "step", Text: fmt.Sprintf("%s is no multiple of %s, in which %s requests are drawn", length, s.cell, s.law),
			Hint: "take a longer step, poisson arrivals, or a shorter run",
		}
	}
	var seconds []int64
	for i := 0; capcli.Seconds(i)*s.cell < until; i++ {
		seconds = s.bySecond(i, seconds)
		for k, count := range seconds {
			if at := capcli.Seconds(i)*s.cell + capcli.Seconds(k); at < until {
				out[at/length] += count
			}
		}
	}
	return out, nil
}

// Requests implements Source.
func (s *Drawn) Requests(until capcli.Seconds) iter.Seq[serving.Request] { return s.cells(0, until) }

func (s *Drawn) cells(first int, until capcli.Seconds) iter.Seq[serving.Request] {
	return func(yield func(serving.Request) bool) {
		var instants []int64
		for i := first; capcli.Seconds(i)*s.cell < until; i++ {
			instants = s.instantsOf(i, instants)
			rng := s.lengths.ofCell(i)
			for _, at := range instants {
				r := serving.Request{Arrival: at}
				r.In, r.Out, r.Cached, r.Prefix = s.drawer.draw(rng)
				if at >= int64(until)*second || !yield(r) {
					return
				}
			}
			if end := s.curve.end(); end > 0 && capcli.Seconds(i+1)*s.cell >= end {
				return
			}
		}
	}
}

// Lengths implements Source.
func (s *Drawn) Lengths() Lengths { return s.tokens.sumUp() }

// Length implements Source.
func (s *Drawn) Length() capcli.Seconds { return s.curve.end() }

// Users implements Source.
func (s *Drawn) Users() int { return s.users }
