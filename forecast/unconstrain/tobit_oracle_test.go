package unconstrain

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"capcli/forecast/model"
)

const tobitEMSteps = 5000

// truncatedMoments returns the mean and variance of a normal, given that it lies above
// bound.
func truncatedMoments(mean, sd, bound float64) (expected, variance float64) {
	z := (bound - mean) / sd
	m := mills(z)
	return truncatedMean(mean, sd, bound), sd * sd * math.Max(0, 1-m*(m-z))
}

// FitTobit fits by maximum likelihood. The rows of x are the observations;
// cut[t] says that y[t] is a lower bound only. Newton's steps are taken in
// Olsen's form (1978, "Note on the uniqueness of the maximum likelihood
// estimator for the Tobit model"), d = b/sigma and h = 1/sigma, in which the
// likelihood is concave, so the one maximum is found from anywhere. It fails
// with ErrTooShort where fewer rows are whole than there are columns, and with
// ErrUnfit where the rows that are whole leave no spread.
func FitTobit(y []float64, x *mat.Dense, cut []bool) (tobit, error) {
	_, p := x.Dims()
	return fitTobit(y, x, cut, nil, p+1)
}

// FitTobitEM fits the same by expectation and maximisation (Dempster, Laird &
// Rubin 1977): the rows that were cut take the value expected of them, the
// regression is fitted by least squares, and so on until it settles. It needs
// more steps than FitTobit and comes to the same end; it is here to check it.
func FitTobitEM(y []float64, x *mat.Dense, cut []bool) (tobit, error) {
	_, p := x.Dims()
	t, err := fitAllRows(y, x, cut, p+1)
	if err != nil {
		return tobit{}, err
	}
	var qr mat.QR
	qr.Factorize(x)
	full, coef := make([]float64, len(y)), mat.NewVecDense(len(t.Coef), nil)
	for range tobitEMSteps {
		left := 0.0 // variance still unknown in the rows that were cut
		for i, v := range y {
			full[i] = v
			if cut[i] {
				m := model.Dot(x.RawRowView(i), t.Coef)
				mean, variance := truncatedMoments(m, t.Sigma, v)
				full[i], left = mean, left+variance
			}
		}
		if err := qr.SolveVecTo(coef, false, mat.NewVecDense(len(full), full)); err != nil && !model.IsCondition(err) {
			return t, fmt.Errorf("tobit: %w: %w", err, model.ErrUnfit)
		}
		sum, moved := left, 0.0
		for j := range t.Coef {
			moved = math.Max(moved, math.Abs(coef.AtVec(j)-t.Coef[j]))
			t.Coef[j] = coef.AtVec(j)
		}
		for i, v := range full {
			r := v - model.Dot(x.RawRowView(i), t.Coef)
			sum += r * r
		}
		sigma := math.Sqrt(sum / float64(len(y)))
		moved = math.Max(moved, math.Abs(sigma-t.Sigma))
		t.Sigma = sigma
		if moved < 1e-9*sigma {
			break
		}
	}
	o := newOlsen(y, x, cut)
	theta := make([]float64, o.p+1)
	for j, b := range t.Coef {
		theta[j] = b / t.Sigma
	}
	theta[o.p] = 1 / t.Sigma
	t.LogLik = o.logLik(theta)
	return t, nil
}

// Detruncate is projection detruncation of a mean (Hopperstad; Guo, Xiao & Li
// 2012, "Unconstraining methods in revenue management systems", section 3): a
// value that was cut becomes the point above it that leaves the share tau of the
// normal tail to its right; tau 0.5 is the median of the tail.
func Detruncate(y []float64, cut []bool, tau float64) (mu, sigma float64, iter int) {
	full := append([]float64(nil), y...)
	mu, sigma = moments(full)
	for iter = 1; iter <= tobitEMSteps && sigma > 0; iter++ {
		for i, v := range y {
			if cut[i] {
				full[i] = math.Max(v, mu+sigma*upperQuantile((v-mu)/sigma, tau))
			}
		}
		m, s := moments(full)
		moved := math.Max(math.Abs(m-mu), math.Abs(s-sigma))
		mu, sigma = m, s
		if moved < 1e-6 {
			break
		}
	}
	return mu, sigma, iter
}

// upperQuantile is the point that leaves the share tail of the part of a
// standard normal above z to its right.
func upperQuantile(z, tail float64) float64 {
	if z > 8 {
		return z - math.Log(tail)/mills(z) // there the tail is an exponential
	}
	return -distuv.UnitNormal.Quantile(tail * upper(z))
}
