package unconstrain

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"capcli/forecast/model"
)

// tobit is a linear regression whose response is cut in some rows: there y is only a lower
// bound.
//
//	y*_t = x_t'b + e_t,  e_t ~ N(0, sigma^2);  y_t = y*_t, or a bound under y*_t
//
// (Tobin 1958, "Estimation of relationships for limited dependent variables").
type tobit struct {
	Coef   []float64 // b, one for each column
	Sigma  float64   // standard deviation of e
	LogLik float64   // of the data, without the prior
}

const (
	tobitSteps = 200   // largest number of Newton's steps
	tobitRest  = 1e-11 // relative gain at which the search ends
)

// fitTobit fits by maximum likelihood. The rows of x are the observations; cut[t] says that y[t]
// is only a lower bound. Column j has a normal prior about zero with the standard deviation
// prior[j], zero for no prior: the fit then has the highest posterior density. The prior is
// scaled by the sigma of a regression that ignores the cut. It fails with ErrTooShort where
// fewer than least rows are not cut, and with ErrUnfit where the values have no spread or do not
// determine the columns.
func fitTobit(y []float64, x *mat.Dense, cut []bool, prior []float64, least int) (tobit, error) {
	start, err := fitAllRows(y, x, cut, least)
	if err != nil {
		return tobit{}, err
	}
	o := newOlsen(y, x, cut)
	for j, sd := range prior {
		if sd > 0 {
			o.ridge[j] = start.Sigma / sd * (start.Sigma / sd)
		}
	}
	theta := make([]float64, o.p+1)
	for j, b := range start.Coef {
		theta[j] = b / start.Sigma
	}
	theta[o.p] = 1 / start.Sigma
	if err := o.climb(theta); err != nil {
		return tobit{}, err
	}
	clear(o.ridge)
	t := tobit{Coef: make([]float64, o.p), Sigma: 1 / theta[o.p], LogLik: o.logLik(theta)}
	for j := range t.Coef {
		t.Coef[j] = theta[j] * t.Sigma
	}
	return t, nil
}

// olsen is the likelihood of a tobit in d = b/sigma and h = 1/sigma. It is concave in these, so
// there is one maximum (Olsen 1978, "Note on the uniqueness of the maximum likelihood estimator
// for the Tobit model").
type olsen struct {
	y     []float64
	x     *mat.Dense
	cut   []bool
	p     int
	ridge []float64 // precision of each d about zero
	grad  []float64
	hess  *mat.SymDense
	row   []float64
}

func newOlsen(y []float64, x *mat.Dense, cut []bool) *olsen {
	_, p := x.Dims()
	return &olsen{y: y, x: x, cut: cut, p: p, ridge: make([]float64, p), grad: make([]float64, p+1), hess: mat.NewSymDense(p+1, nil), row: make([]float64, p+1)}
}

func (o *olsen) logLik(theta []float64) float64 {
	h := theta[o.p]
	if !(h > 0) {
		return math.Inf(-1)
	}
	sum := 0.0
	for t, y := range o.y {
		z := h*y - model.Dot(o.x.RawRowView(t), theta)
		if o.cut[t] {
			sum += logUpper(z)
		} else {
			sum += math.Log(h) - halfLog2Pi - z*z/2
		}
	}
	for j, r := range o.ridge {
		sum -= r * theta[j] * theta[j] / 2
	}
	return sum
}

// slopes sets grad to the gradient at theta, and hess to minus the second derivatives.
func (o *olsen) slopes(theta []float64) {
	h := theta[o.p]
	clear(o.grad)
	o.hess.Zero()
	for j, r := range o.ridge {
		o.grad[j] = -r * theta[j]
		o.hess.SetSym(j, j, r)
	}
	for t, y := range o.y {
		x := o.x.RawRowView(t)
		z := h*y - model.Dot(x, theta)
		// u is (-x, y), the slope of z
		for j, v := range x {
			o.row[j] = -v
		}
		o.row[o.p] = y
		first, second := -z, 1.0
		if o.cut[t] {
			m := mills(z)
			first, second = -m, m*(m-z)
		} else {
			o.grad[o.p] += 1 / h
			o.hess.SetSym(o.p, o.p, o.hess.At(o.p, o.p)+1/(h*h))
		}
		for i, u := range o.row {
			o.grad[i] += first * u
			for j := i; j <= o.p; j++ {
				o.hess.SetSym(i, j, o.hess.At(i, j)+second*u*o.row[j])
			}
		}
	}
}

// climb takes Newton's steps from theta, each halved until the likelihood does not fall, and
// leaves theta where it stops: at the maximum, or after tobitSteps steps. It fails where the
// second derivatives are singular.
func (o *olsen) climb(theta []float64) error {
	at := o.logLik(theta)
	try, step := make([]float64, len(theta)), mat.NewVecDense(len(theta), nil)
	var chol mat.Cholesky
	for range tobitSteps {
		o.slopes(theta)
		if !chol.Factorize(o.hess) {
			return fmt.Errorf("tobit: the columns depend on each other in the rows that are not cut: %w", model.ErrUnfit)
		}
		if err := chol.SolveVecTo(step, mat.NewVecDense(len(theta), o.grad)); err != nil && !model.IsCondition(err) {
			return fmt.Errorf("tobit: %w: %w", err, model.ErrUnfit)
		}
		gain, size := 0.0, 1.0
		for {
			for i := range try {
				try[i] = theta[i] + size*step.AtVec(i)
			}
			if gain = o.logLik(try) - at; gain >= 0 || size < 1e-10 {
				break
			}
			size /= 2
		}
		if !(gain >= 0) {
			return nil // only rounding is left
		}
		copy(theta, try)
		at += gain
		if gain <= tobitRest*(1+math.Abs(at)) {
			return nil
		}
	}
	return nil
}

// impute returns y with each value that was cut replaced by its expected value,
// E[y* | y* > y].
func (t *tobit) impute(y []float64, x *mat.Dense, cut []bool) []float64 {
	out := slices.Clone(y)
	for i, v := range y {
		if cut[i] {
			out[i] = truncatedMean(model.Dot(x.RawRowView(i), t.Coef), t.Sigma, v)
		}
	}
	return out
}

// fitAllRows returns the least-squares fit to all rows, cut or not, from which the search
// begins. It fails as fitTobit does.
func fitAllRows(y []float64, x *mat.Dense, cut []bool, least int) (tobit, error) {
	n, p := x.Dims()
	known, low, high := 0, math.Inf(1), math.Inf(-1)
	for i, v := range y {
		if !cut[i] {
			known++
			low, high = math.Min(low, v), math.Max(high, v)
		}
	}
	if known < least {
		return tobit{}, fmt.Errorf("tobit: %d of %d values are not cut, want %d or more: %w", known, n, least, model.ErrTooShort)
	}
	var qr mat.QR
	qr.Factorize(x)
	coef := mat.NewVecDense(p, nil)
	if err := qr.SolveVecTo(coef, false, mat.NewVecDense(n, slices.Clone(y))); err != nil {
		return tobit{}, fmt.Errorf("tobit: the columns depend on each other: %w", model.ErrUnfit)
	}
	t := tobit{Coef: coef.RawVector().Data}
	sum := 0.0
	for i, v := range y {
		r := v - model.Dot(x.RawRowView(i), t.Coef)
		sum += r * r
	}
	t.Sigma = math.Sqrt(sum / float64(n))
	if !(t.Sigma > 1e-9*math.Max(math.Abs(low), math.Abs(high))) {
		return tobit{}, fmt.Errorf("tobit: the values have no spread about the regression: %w", model.ErrUnfit)
	}
	return t, nil
}

const halfLog2Pi = 0.918938533204672741780329736405617639861397473637783412817

// upper returns the share of a standard normal above z.
func upper(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

// logUpper returns the logarithm of upper, to full precision in both tails.
func logUpper(z float64) float64 {
	if z < 8 {
		return math.Log(upper(z))
	}
	return -z*z/2 - halfLog2Pi - math.Log(mills(z))
}

// mills returns the density of a standard normal at z over its share above z. For large z, where
// the share has too few digits, it uses Laplace's continued fraction.
func mills(z float64) float64 {
	if z < 8 {
		return math.Exp(-z*z/2-halfLog2Pi) / upper(z)
	}
	f := z
	for k := 30; k >= 1; k-- {
		f = z + float64(k)/f
	}
	return f
}

// truncatedMean returns the mean of a normal variable with the given mean and standard
// deviation, given that it is above bound.
func truncatedMean(mean, sd, bound float64) float64 {
	if !(sd > 0) {
		return math.Max(mean, bound)
	}
	return math.Max(bound, mean+sd*mills((bound-mean)/sd))
}

// moments returns the mean and the standard deviation of v, with divisor n-1.
func moments(v []float64) (mean, sd float64) {
	mean = model.Mean(v)
	sum := 0.0
	for _, x := range v {
		sum += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(sum / math.Max(1, float64(len(v)-1)))
}
