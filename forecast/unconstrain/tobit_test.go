package unconstrain

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"capcli/testdata/golden"
)

type tobitGold struct {
	Simple struct {
		Y          []float64 `json:"y"`
		Uncensored []float64 `json:"uncensored"`
		Survreg    struct{ Mu, Sigma, Loglik float64 }
		EM         struct {
			Mu, Sigma float64
			Imputed   []float64
		} `json:"em"`
		Projection struct{ Mu, SD float64 } `json:"projection_detruncation_tau0.5"`
	}
	Harmonic struct {
		Hour, Y, Uncensored []float64
		Survreg             struct {
			Coef          []float64
			Sigma, Loglik float64
		}
	}
}

func flags(uncensored []float64) []bool {
	cut := make([]bool, len(uncensored))
	for i, u := range uncensored {
		cut[i] = u == 0
	}
	return cut
}

func ones(n int) *mat.Dense {
	x := mat.NewDense(n, 1, nil)
	for i := range n {
		x.Set(i, 0, 1)
	}
	return x
}

func TestTobitAsR(t *testing.T) {
	var g tobitGold
	golden.Read(t, "censored-tobit", &g)
	s, cut := g.Simple, flags(g.Simple.Uncensored)
	x := ones(len(s.Y))
	ml, err := FitTobit(s.Y, x, cut)
	if err != nil {
		t.Fatal(err)
	}
	golden.CheckNear(t, "mu, sigma, log-likelihood", []float64{ml.Coef[0], ml.Sigma, ml.LogLik}, []float64{s.Survreg.Mu, s.Survreg.Sigma, s.Survreg.Loglik}, 1e-6)
	em, err := FitTobitEM(s.Y, x, cut)
	if err != nil {
		t.Fatal(err)
	}
	golden.CheckNear(t, "EM mu and sigma", []float64{em.Coef[0], em.Sigma, em.LogLik}, []float64{s.Survreg.Mu, s.Survreg.Sigma, s.Survreg.Loglik}, 1e-6)
	golden.CheckNear(t, "imputed", em.impute(s.Y, x, cut), s.EM.Imputed, 1e-6)
	mu, sigma, _ := Detruncate(s.Y, cut, 0.5)
	golden.CheckNear(t, "projection detruncation", []float64{mu, sigma}, []float64{s.Projection.Mu, s.Projection.SD}, 1e-4)

	h := g.Harmonic
	x = mat.NewDense(len(h.Y), 3, nil)
	for i, hour := range h.Hour {
		a := 2 * math.Pi * hour / 24
		x.SetRow(i, []float64{1, math.Sin(a), math.Cos(a)})
	}
	ml, err = FitTobit(h.Y, x, flags(h.Uncensored))
	if err != nil {
		t.Fatal(err)
	}
	golden.CheckNear(t, "harmonic", append(ml.Coef, ml.Sigma, ml.LogLik), append(h.Survreg.Coef, h.Survreg.Sigma, h.Survreg.Loglik), 1e-6)
}

func TestMillsFarOut(t *testing.T) {
	// Abramowitz & Stegun 26.2.12: the share above z is phi(z)/z (1 - 1/z^2 + 3/z^4 - 15/z^6 + 105/z^8 - ...).
	for _, z := range []float64{12, 30, 200, 1e6} {
		series := 1 - 1/(z*z) + 3/math.Pow(z, 4) - 15/math.Pow(z, 6) + 105/math.Pow(z, 8) - 945/math.Pow(z, 10)
		if got, want := mills(z), z/series; math.Abs(got/want-1) > 1e-7 {
			t.Errorf("mills(%g) = %v, want %v", z, got, want)
		}
	}
	for _, z := range []float64{7.999999, 8.000001} {
		if got, want := logUpper(z), math.Log(math.Erfc(z/math.Sqrt2)/2); math.Abs(got-want) > 1e-12*math.Abs(want) {
			t.Errorf("logUpper(%g) = %v, want %v", z, got, want)
		}
	}
	if m, v := truncatedMoments(0, 1, 50); math.IsNaN(m) || m < 50 || m > 50.03 || v < 0 {
		t.Errorf("above(0, 1, 50) = %v, %v", m, v)
	}
}
