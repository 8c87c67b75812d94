package forecast

import (
	"math"
	"math/rand/v2"
	"testing"

	"capcli"
	"capcli/forecast/internal/golden"
	"capcli/forecast/model"
)

// Models without a peer in R are computed once more here, slowly, from the
// equations of their papers.

// slowTheta runs the dynamic optimised Theta model (Fiorucci et al. 2016, eq. 19
// to 23) with the line through the first t values by least squares each time,
// and gives the means of all values and of h more.
func slowTheta(y []float64, alpha, th, level float64, h int) []float64 {
	y = append([]float64(nil), y...)
	var out []float64
	n := len(y)
	for t := range n + h {
		var a, b float64 // of the line a + b i through values 1 to t
		switch {
		case t == 1:
			a = y[0]
		case t > 1:
			mid, mean := float64(t+1)/2, model.Mean(y[:t])
			up, down := 0.0, 0.0
			for i, v := range y[:t] {
				d := float64(i+1) - mid
				up, down = up+d*(v-mean), down+d*d
			}
			b = up / down
			a = mean - b*mid
		}
		fade := math.Pow(1-alpha, float64(t))
		mu := level + (1-1/th)*(fade*a+(1-fade*(1-alpha))/alpha*b)
		out = append(out, mu)
		if t >= n {
			y = append(y, mu)
		}
		level = alpha*y[t] + (1-alpha)*level
	}
	return out
}

// slowThetaLoss is the sum of squared errors from the third value on.
func slowThetaLoss(y []float64, alpha, th, level float64) float64 {
	sum := 0.0
	for i, m := range slowTheta(y, alpha, th, level, 0) {
		if i >= 2 {
			sum += (y[i] - m) * (y[i] - m)
		}
	}
	return sum
}

func TestDynamicThetaAsItsPaper(t *testing.T) {
	_, facts := golden.ReadFacts(t)
	for _, name := range []string{"Nile", "lynx", "BJsales", "nhtemp", "uspop", "airmiles", "lh"} {
		s := facts.Series[name]
		y, fit := []float64(s.Y), s.FitModel(t, name, dynamicTheta{})
		in := fit.Info()
		alpha, th, level := in.Params[0].Value, in.Params[1].Value, in.Params[2].Value
		f, err := fit.Forecast(6)
		if err != nil {
			t.Fatal(err)
		}
		want := slowTheta(y, alpha, th, level, 6)
		s.CheckNear(t, name+" fitted", in.Fitted, want[:len(y)], 1e-9)
		s.CheckNear(t, name+" forecast", f.Mean, want[len(y):], 1e-9)
		rng := rand.New(rand.NewPCG(7, 7))
		got := slowThetaLoss(y, alpha, th, level)
		for range 2000 {
			a, w := 0.1+0.89*rng.Float64(), 0.98*rng.Float64()
			// Half of the trials are anywhere, half near what was found.
			l := y[0] + (rng.Float64()-0.5)*(model.Largest(y)-smallestValue(y))
			if rng.IntN(2) == 0 {
				a = min(max(alpha+0.02*rng.NormFloat64(), 0.1), 0.99)
				w = min(max(1-1/th+0.02*rng.NormFloat64(), 0), 0.98)
				l = level * (1 + 0.02*rng.NormFloat64())
			}
			if v := slowThetaLoss(y, a, 1/(1-w), l); v < got*(1-1e-3) {
				t.Errorf("%s: alpha %.4f, theta %.4f, level %.4g have errors %.6g, less than the %.6g found", name, a, 1/(1-w), l, v, got)
				break
			}
		}
	}
}

// cesSlow is complex exponential smoothing in complex numbers (Svetunkov et al.
// 2022): f' + i g' = a (y + i e) + (1 + i - a) (f + i g) with y = f + e.
func cesSlow(z, a complex128, e float64) complex128 {
	f := real(z)
	return a*complex(f+e, e) + (complex(1, 1)-a)*z
}

func TestCESOfEachSeasonAsItsPaper(t *testing.T) {
	_, facts := golden.ReadFacts(t)
	s := facts.Series["USAccDeaths"]
	w := cesWeights{a0: 1.2, a1: 0.98, b0: 0.9, b1: 1.01}
	for kind := cesNone; kind <= cesFull; kind++ {
		task := newCESTask(newETSSearch(s.Y, s.M), kind)
		task.w, task.state = w, task.start.clone()
		task.state.c = task.state.l / 2
		z := complex(task.state.l, task.state.c)
		seasons := make([]complex128, task.m)
		for i := range task.state.d0 {
			seasons[i] = complex(task.state.d0[i], task.state.d1[i])
		}
		want := make([]float64, len(task.y))
		for i, y := range task.y {
			season := &seasons[i%task.m]
			if kind != cesSimple {
				want[i] = real(z)
			}
			if kind != cesNone {
				want[i] += real(*season)
			}
			e := y - want[i]
			switch kind {
			case cesNone:
			case cesSimple:
				*season = cesSlow(*season, complex(w.a0, w.a1), e)
			case cesPartial:
				*season += complex(w.b0*e, 0)
			case cesFull:
				*season = cesSlow(*season, complex(w.b0, w.b1), e)
			}
			z = cesSlow(z, complex(w.a0, w.a1), e)
		}
		task.pass()
		golden.CheckWithin(t, kind.String(), task.forecasts(), want, 1e-9)
	}
}

// TestTSBAndSBAAsTheirPapers holds the smoothed chance, interval and size
// against weighted sums of all that was seen.
func TestTSBAndSBAAsTheirPapers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	y := make([]float64, 120)
	var sizes, gaps []float64
	since, demands := 0.0, 0.0
	for i := range y {
		since++
		if rng.Float64() < 0.3 {
			y[i] = math.Ceil(5 * rng.Float64())
			sizes, gaps = append(sizes, y[i]), append(gaps, since)
			since = 0
			demands++
		}
	}
	const alpha, beta = 0.2, 0.15
	// smoothed is the sum of weight (1 - weight)^age of the values, and the rest of the first.
	smoothed := func(v []float64, first, weight float64) float64 {
		sum, rest := 0.0, 1.0
		for i := len(v) - 1; i >= 0; i-- {
			sum += rest * weight * v[i]
			rest *= 1 - weight
		}
		return sum + rest*first
	}
	chances := make([]float64, len(y))
	for i, v := range y {
		if v > 0 {
			chances[i] = 1
		}
	}
	want := map[string]float64{
		"TSB": smoothed(chances, demands/float64(len(y)), beta) * smoothed(sizes, sizes[0], alpha),
		"SBA": (1 - beta/2) * smoothed(sizes[1:], sizes[0], alpha) / smoothed(gaps[1:], gaps[0], beta),
	}
	for name, m := range map[string]intermittent{
		"TSB": {name: "TSB", alpha: alpha, beta: beta, fading: true},
		"SBA": {name: "SBA", alpha: alpha, beta: beta, unbiased: true},
	} {
		fit, err := m.Fit(capcli.Series{Values: y})
		if err != nil {
			t.Fatal(err)
		}
		f, err := fit.Forecast(1)
		if err != nil {
			t.Fatal(err)
		}
		golden.CheckWithin(t, name, f.Mean, []float64{want[name]}, 1e-12)
	}
}

// TestPiecewiseIsAtThePosteriorsMaximum writes the posterior of Taylor and
// Letham (2018) out, term by term, and looks for a higher one around the fit.
func TestPiecewiseIsAtThePosteriorsMaximum(t *testing.T) {
	_, facts := golden.ReadFacts(t)
	for _, name := range []string{"co2", "UKDriverDeaths", "austres"} {
		s := facts.Series[name]
		f := newPieces(Piecewise{Seasons: []int{s.M}}, s.Y)
		if err := f.climb(); err != nil {
			t.Fatal(err)
		}
		row := make([]float64, f.width)
		minus := func(coef []float64, variance float64) float64 {
			sum := 0.0
			for i, y := range s.Y {
				f.row(i, row)
				e := y/f.unit - model.Dot(row, coef)
				sum += e*e/(2*variance) + math.Log(variance)/2
			}
			for j, c := range coef {
				switch {
				case j < 2:
					sum += c * c / (2 * 5 * 5)
				case j < 2+len(f.places):
					sum += math.Abs(c) / 0.05
				default:
					sum += c * c / (2 * 10 * 10)
				}
			}
			return sum
		}
		best := minus(f.coef, f.variance)
		rng := rand.New(rand.NewPCG(8, 8))
		for range 3000 {
			coef := append([]float64(nil), f.coef...)
			size := math.Pow(10, -1-4*rng.Float64())
			if rng.IntN(2) == 0 {
				coef[rng.IntN(len(coef))] += size * rng.NormFloat64()
			} else {
				for j := range coef {
					coef[j] += size * rng.NormFloat64()
				}
			}
			if v := minus(coef, f.variance*(1+0.1*size*rng.NormFloat64())); v < best-0.01 {
				t.Errorf("%s: minus the log posterior is %.4f, and %.4f nearby", name, best, v)
				break
			}
		}
	}
}
