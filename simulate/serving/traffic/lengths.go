package traffic

import (
	"fmt"
	"math"
	"math/rand/v2"

	"capcli"
	"capcli/profile/logs/requests"
)

// Length is a distribution of tokens: one number, log-normal, exponential, or one of a list.
type Length struct {
	Fixed int64 // all alike; 0 is none

	// Log-normal: the median and another quantile, or the mean.
	Median   float64
	Quantile float64 // 0.9, 0.95 or 0.99; 0 is none
	At       float64 // and its value
	Mean     float64 // or the mean; without a median the law is exponential, in whole tokens geometric

	Min, Max int64 // shortest and longest: values outside are not drawn; 0 is 1, and without bound
}

// Check refuses a distribution that cannot be.
func (l *Length) Check(field string) error {
	wrong := func(text string) error { return &capcli.RequestError{Field: field, Text: text} }
	lo, hi := l.bounds()
	switch {
	case l.Fixed < 0 || l.Fixed > maxTokens:
		return wrong(fmt.Sprintf("wants 1 to %d tokens, found %d", int64(maxTokens), l.Fixed))
	case l.Fixed > 0:
		return nil
	case l.Median <= 0 && l.Mean <= 0:
		return wrong("wants a number of tokens, or {median: 512, p95: 2048}, {mean: 500} or {from: FILE}")
	case l.Median > 0 && l.Quantile == 0 && l.Mean <= 0:
		return wrong("wants how long the long ones are: p90, p95, p99 or mean beside the median")
	case l.Quantile > 0 && l.At < l.Median, l.Median > 0 && l.Quantile == 0 && l.Mean < l.Median:
		return wrong(fmt.Sprintf("wants a quantile or a mean of at least the median, %v", l.Median))
	case hi <= lo:
		return wrong(fmt.Sprintf("wants min below max, found %v and %v", lo, hi))
	}
	if mu, sigma := l.law(); l.Median > 0 && sigma > 0 && normal((math.Log(hi)-mu)/sigma)-normal((math.Log(lo)-mu)/sigma) < 1e-6 {
		return wrong("wants min and max around the values that occur: hardly any is between them")
	}
	return nil
}

// maxTokens is the most tokens of a prompt or an answer.
const maxTokens = 1 << 30

func (l *Length) bounds() (lo, hi float64) {
	lo, hi = float64(max(1, l.Min)), maxTokens
	if l.Max > 0 {
		hi = float64(l.Max)
	}
	return lo, hi
}

// law returns the mean and the deviation of the logarithm of a log-normal law.
func (l *Length) law() (mu, sigma float64) {
	mu = math.Log(l.Median)
	switch {
	case l.Quantile > 0:
		sigma = (math.Log(l.At) - mu) / (math.Sqrt2 * math.Erfinv(2*l.Quantile-1))
	case l.Mean > 0:
		sigma = math.Sqrt(2 * max(0, math.Log(l.Mean)-mu))
	}
	return mu, sigma
}

// normal is the distribution function of the standard normal.
func normal(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// drawer returns values of a law at quantiles.
type drawer struct {
	fixed     int64
	mu, sigma float64
	scale     float64 // of an exponential law whose values, rounded up, have the mean
	lo, hi    float64
	from, to  float64 // probability below lo and below hi
}

func (l *Length) drawer() drawer {
	d := drawer{fixed: l.Fixed}
	d.lo, d.hi = l.bounds()
	switch {
	case l.Fixed > 0:
	case l.Median > 0:
		d.mu, d.sigma = l.law()
		d.from, d.to = 0, 1
		if d.sigma > 0 {
			d.from, d.to = normal((math.Log(d.lo)-d.mu)/d.sigma), normal((math.Log(d.hi)-d.mu)/d.sigma)
		}
	case l.Mean <= 1:
		d.fixed = 1
	default:
		d.scale = -1 / math.Log1p(-1/l.Mean)
		d.from, d.to = -math.Expm1(-(d.lo-1)/d.scale), -math.Expm1(-d.hi/d.scale)
	}
	return d
}

// valueAt returns the value at quantile u, in whole tokens.
func (d *drawer) valueAt(u float64) int64 {
	if d.fixed > 0 {
		return d.fixed
	}
	u = d.from + u*(d.to-d.from)
	var x float64
	switch {
	case d.scale > 0:
		x = math.Ceil(-d.scale * math.Log1p(-u)) // whole tokens, at least 1
	case d.sigma > 0:
		x = math.Round(math.Exp(d.mu - d.sigma*math.Sqrt2*math.Erfcinv(2*u)))
	default:
		x = math.Round(math.Exp(d.mu))
	}
	return int64(min(max(x, d.lo), d.hi))
}

// sumUp sums up a share of the values of a law, by 20,000 of them at even quantiles.
func (d *drawer) sumUp(share float64) Quantiles {
	const points = 20_000
	values := make([]int64, points)
	for i := range values {
		values[i] = cachedOf(d.valueAt((float64(i)+0.5)/points), share)
	}
	return quantilesOf(values)
}

// Tokens says how long requests are.
type Tokens struct {
	In, Out Length
	// Pairs are requests of a trace whose lengths are drawn together, in and out of one request; Ins
	// and Outs are lengths of traces drawn apart. They take the place of the laws.
	Pairs     []requests.Row
	Ins, Outs []int64
	// Cached is the share of each prompt that a prefix cache supplies; below 0 it is that of Pairs.
	Cached   float64
	Prefixes int // prompts begin with one of so many prefixes; 0 is none
}

// Check refuses lengths that cannot be.
func (t *Tokens) Check() error {
	if t.Pairs == nil && t.Ins == nil {
		if err := t.In.Check("tokens_in"); err != nil {
			return err
		}
	}
	if t.Pairs == nil && t.Outs == nil {
		if err := t.Out.Check("tokens_out"); err != nil {
			return err
		}
	}
	if t.Cached > 1 || t.Cached < 0 && t.Pairs == nil {
		return &capcli.RequestError{Field: "cached", Text: fmt.Sprintf("wants a share of the prompt from 0 to 100%%, found %g%%", t.Cached*100)}
	}
	return nil
}

// lengthDrawer draws the lengths of requests.
type lengthDrawer struct {
	t       *Tokens
	in, out drawer
}

func (t *Tokens) drawer() lengthDrawer { return lengthDrawer{t, t.In.drawer(), t.Out.drawer()} }

// draw returns the tokens of the next request.
func (d *lengthDrawer) draw(rng *rand.Rand) (in, out, cached, prefix int64) {
	a, b := rng.Float64(), rng.Float64()
	pick := func(u float64, n int) int { return min(int(u*float64(n)), n-1) }
	switch {
	case d.t.Pairs != nil:
		r := &d.t.Pairs[pick(a, len(d.t.Pairs))]
		in, out, cached = r.In, r.Out, r.Cached
	default:
		if d.t.Ins != nil {
			in = d.t.Ins[pick(a, len(d.t.Ins))]
		} else {
			in = d.in.valueAt(a)
		}
		if d.t.Outs != nil {
			out = d.t.Outs[pick(b, len(d.t.Outs))]
		} else {
			out = d.out.valueAt(b)
		}
	}
	if d.t.Cached >= 0 {
		cached = cachedOf(in, d.t.Cached)
	}
	if d.t.Prefixes > 0 {
		prefix = 1 + rng.Int64N(int64(d.t.Prefixes))
	}
	return in, out, cached, prefix
}

// cachedOf returns the cached tokens of a prompt, rounded to the nearest.
func cachedOf(in int64, share float64) int64 { return int64(math.Floor(float64(in)*share + 0.5)) }

func (t *Tokens) sumUp() Lengths {
	d := t.drawer()
	var l Lengths
	if t.Pairs != nil {
		l = lengthsOf(t.Pairs)
		if t.Cached >= 0 {
			l.Cached = shareOf(t.Pairs, t.Cached)
		}
		return l
	}
	if t.Ins != nil {
		cached := capcli.Map(t.Ins, func(n int64) int64 { return cachedOf(n, t.Cached) })
		l.In, l.Cached = quantilesOf(append([]int64(nil), t.Ins...)), quantilesOf(cached)
	} else {
		l.In, l.Cached = d.in.sumUp(1), d.in.sumUp(t.Cached)
	}
	if t.Outs != nil {
		l.Out = quantilesOf(append([]int64(nil), t.Outs...))
	} else {
		l.Out = d.out.sumUp(1)
	}
	return l
}

// shareOf sums up a share of the prompts.
func shareOf(rows []requests.Row, share float64) Quantiles {
	values := capcli.Map(rows, func(x requests.Row) int64 { return cachedOf(x.In, share) })
	return quantilesOf(values)
}

// lengthsOf sums up the lengths of rows.
func lengthsOf(rows []requests.Row) Lengths {
	values := make([]int64, len(rows))
	by := func(of func(r *requests.Row) int64) Quantiles {
		for i := range rows {
			values[i] = of(&rows[i])
		}
		return quantilesOf(values)
	}
	return Lengths{
		In:     by(func(r *requests.Row) int64 { return r.In }),
		Out:    by(func(r *requests.Row) int64 { return r.Out }),
		Cached: by(func(r *requests.Row) int64 { return r.Cached }),
	}
}
