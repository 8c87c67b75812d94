package theta

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"capcli/forecast/model"
	"capcli/testdata/golden"
)

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
		y, fit := []float64(s.Y), s.FitModel(t, name, Dynamic{})
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
			l := y[0] + (rng.Float64()-0.5)*(model.Largest(y)-slices.Min(y))
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
