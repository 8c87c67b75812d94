package forecast

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"capcli/forecast/model"
)

// Tobit is a linear regression whose response was cut off from above for some
// rows: there only "at least y" is known.
//
//	y*_t = x_t'b + e_t,  e_t ~ N(0, sigma^2);  y_t = y*_t, or a bound under y*_t
//
// (Tobin 1958, "Estimation of relationships for limited dependent variables").
type Tobit struct {
	Coef   []float64 // b, one for each column
	Sigma  float64   // standard deviation of e
	LogLik float64
	Iter   int // steps until it settled
}

const (
	tobitSteps   = 200
	tobitEMSteps = 5000
	tobitRest    = 1e-11 // relative change that counts as none
)

// fitTobit is FitTobit where column j has a normal prior about zero of standard
// deviation prior[j], zero for none: the fit is then the one of the highest
// posterior density, with the sigma of the prior's scale taken from a regression
// that ignores the cut. least is the number of whole rows that it needs. LogLik is
// of the data alone.
func fitTobit(y []float64, x *mat.Dense, cut []bool, prior []float64, least int) (Tobit, error) {
	start, err := wholeRows(y, x, cut, least)
	if err != nil {
		return Tobit{}, err
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
	iter, err := o.climb(theta)
	if err != nil {
		return Tobit{}, err
	}
	clear(o.ridge)
	t := Tobit{Coef: make([]float64, o.p), Sigma: 1 / theta[o.p], LogLik: o.logLik(theta), Iter: iter}
	for j := range t.Coef {
		t.Coef[j] = theta[j] * t.Sigma
	}
	return t, nil
}

// olsen is the likelihood of a Tobit in d = b/sigma and h = 1/sigma.
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

// slopes puts the gradient and minus the second derivatives at theta.
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

// climb takes Newton's steps from theta, halved until the likelihood grows.
func (o *olsen) climb(theta []float64) (int, error) {
	at := o.logLik(theta)
	try, step := make([]float64, len(theta)), mat.NewVecDense(len(theta), nil)
	var chol mat.Cholesky
	for iter := 1; iter <= tobitSteps; iter++ {
		o.slopes(theta)
		if !chol.Factorize(o.hess) {
			return iter, fmt.Errorf("tobit: the columns depend on each other in the rows that tell: %w", model.ErrUnfit)
		}
		if err := chol.SolveVecTo(step, mat.NewVecDense(len(theta), o.grad)); err != nil && !model.IsCondition(err) {
			return iter, fmt.Errorf("tobit: %w: %w", err, model.ErrUnfit)
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
			return iter, nil // rounding is all that is left
		}
		copy(theta, try)
		at += gain
		if gain <= tobitRest*(1+math.Abs(at)) {
			return iter, nil
		}
	}
	return tobitSteps, nil
}

// Impute gives y with each value that was cut replaced by the one expected of
// it: E[y* | y* > y].
func (t *Tobit) Impute(y []float64, x *mat.Dense, cut []bool) []float64 {
	out := make([]float64, len(y))
	for i, v := range y {
		out[i] = v
		if cut[i] {
			out[i], _ = truncatedMoments(model.Dot(x.RawRowView(i), t.Coef), t.Sigma, v)
		}
	}
	return out
}

// wholeRows is the least-squares fit to all rows, cut or not, which Tobit starts
// from, once it is known that there is something to fit: at least so many rows that
// are not cut.
func wholeRows(y []float64, x *mat.Dense, cut []bool, least int) (Tobit, error) {
	n, p := x.Dims()
	if n != len(y) || n != len(cut) {
		return Tobit{}, fmt.Errorf("tobit: %d values, %d rows, %d flags, want as many of each: %w", len(y), n, len(cut), model.ErrUnfit)
	}
	whole, low, high := 0, math.Inf(1), math.Inf(-1)
	for i, v := range y {
		if !model.IsFinite(v) {
			return Tobit{}, fmt.Errorf("tobit: value %d: %w", i+1, model.ErrMissing)
		}
		if !cut[i] {
			whole++
			low, high = math.Min(low, v), math.Max(high, v)
		}
	}
	if whole < least {
		return Tobit{}, fmt.Errorf("tobit: %d of %d values are not cut, want %d or more: %w", whole, n, least, model.ErrTooShort)
	}
	var qr mat.QR
	qr.Factorize(x)
	coef := mat.NewVecDense(p, nil)
	if err := qr.SolveVecTo(coef, false, mat.NewVecDense(n, append([]float64(nil), y...))); err != nil {
		return Tobit{}, fmt.Errorf("tobit: the columns depend on each other: %w", model.ErrUnfit)
	}
	t := Tobit{Coef: append([]float64(nil), coef.RawVector().Data...)}
	sum := 0.0
	for i, v := range y {
		r := v - model.Dot(x.RawRowView(i), t.Coef)
		sum += r * r
	}
	t.Sigma = math.Sqrt(sum / float64(n))
	if !(t.Sigma > 1e-9*math.Max(math.Abs(low), math.Abs(high))) {
		return Tobit{}, fmt.Errorf("tobit: the values have no spread about the regression: %w", model.ErrUnfit)
	}
	return t, nil
}

// moments are the mean and the standard deviation with n-1.
func moments(v []float64) (mean, sd float64) {
	mean = model.Mean(v)
	sum := 0.0
	for _, x := range v {
		sum += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(sum / math.Max(1, float64(len(v)-1)))
}
