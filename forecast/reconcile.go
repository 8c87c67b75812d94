package forecast

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"capcli/forecast/model"
)

// Reconciliation is a way to make forecasts of parts and sums agree.
type Reconciliation uint8

// The ways, by what they take for the covariance W of the base forecasts'
// errors (Wickramasuriya, Athanasopoulos & Hyndman 2019, "Optimal forecast
// reconciliation for hierarchical and grouped time series through trace
// minimization"). With S the sums, reconciled forecasts are
//
//	y~ = S (S'W^-1 S)^-1 S'W^-1 y^
//
// BottomUp leaves the bottom as it is. OLS takes W for the identity,
// WLSStructural for the number of parts in each sum, WLSVariance for the
// variance of each one's residuals, MinTSample for the residuals' covariance and
// MinTShrink for that shrunk to its diagonal (Schaefer & Strimmer 2005, "A
// shrinkage approach to large-scale covariance matrix estimation").
const (
	BottomUp Reconciliation = iota
	OLS
	WLSStructural
	WLSVariance
	MinTSample
	MinTShrink
)

// Residual says whether the way needs residuals.
func (r Reconciliation) Residual() bool { return r >= WLSVariance }

func (r Reconciliation) String() string {
	names := [...]string{"bottom up", "OLS", "WLS by structure", "WLS by variance", "MinT by sample", "MinT by shrinkage"}
	if int(r) < len(names) {
		return names[r]
	}
	return fmt.Sprintf("reconciliation %d", uint8(r))
}

// Reconciler makes base forecasts of one hierarchy agree. It is not changed by
// its use.
type Reconciler struct {
	h       *Hierarchy
	project *mat.Dense    // bottom by all: (S'W^-1 S)^-1 S'W^-1
	weigh   *mat.Dense    // S'W^-1
	normal  *mat.SymDense // S'W^-1 S
	Shrink  float64       // share by which covariances were shrunk; NaN where they were not
}

// NewReconciler prepares a way for a hierarchy. residuals[i] are the one-step
// errors of series i in training, all series at the same times; steps in which
// any is NaN are passed over. It may be nil where Residual is false. A
// covariance that cannot be inverted is an error that names MinTShrink.
func NewReconciler(h *Hierarchy, way Reconciliation, residuals [][]float64) (*Reconciler, error) {
	n, m := h.sum.Dims()
	r := &Reconciler{h: h, Shrink: math.NaN()}
	if way == BottomUp {
		r.project = mat.NewDense(m, n, nil)
		for j := range m {
			r.project.Set(j, n-m+j, 1)
		}
		eye := mat.NewSymDense(n, nil)
		for i := n - m; i < n; i++ {
			eye.SetSym(i, i, 1)
		}
		r.prepare(eye)
		return r, nil
	}
	w, err := r.covariance(way, residuals)
	if err != nil {
		return nil, err
	}
	var chol mat.Cholesky
	if !chol.Factorize(w) || chol.Cond() > 1e12 {
		return nil, fmt.Errorf("reconcile: %s: the residuals' covariance has no inverse, use %s: %w", way, MinTShrink, model.ErrUnfit)
	}
	inverse := mat.NewSymDense(n, nil)
	if err := chol.InverseTo(inverse); err != nil && !isCondition(err) {
		return nil, fmt.Errorf("reconcile: %s: %w: %w", way, err, model.ErrUnfit)
	}
	r.prepare(inverse)
	var fit mat.Cholesky
	if !fit.Factorize(r.normal) {
		return nil, fmt.Errorf("reconcile: %s: the sums do not tell the parts: %w", way, model.ErrUnfit)
	}
	r.project = mat.NewDense(m, n, nil)
	if err := fit.SolveTo(r.project, r.weigh); err != nil && !isCondition(err) {
		return nil, fmt.Errorf("reconcile: %s: %w: %w", way, err, model.ErrUnfit)
	}
	return r, nil
}

// prepare keeps what the non-negative form needs.
func (r *Reconciler) prepare(inverse *mat.SymDense) {
	n, m := r.h.sum.Dims()
	r.weigh = mat.NewDense(m, n, nil)
	r.weigh.Mul(r.h.sum.T(), inverse)
	var full mat.Dense
	full.Mul(r.weigh, r.h.sum)
	r.normal = mat.NewSymDense(m, nil)
	for i := range m {
		for j := i; j < m; j++ {
			r.normal.SetSym(i, j, (full.At(i, j)+full.At(j, i))/2)
		}
	}
}

// covariance is W.
func (r *Reconciler) covariance(way Reconciliation, residuals [][]float64) (*mat.SymDense, error) {
	n, m := r.h.sum.Dims()
	w := mat.NewSymDense(n, nil)
	if !way.Residual() {
		for i := range n {
			parts := 1.0
			if way == WLSStructural {
				parts = 0
				for j := range m {
					parts += math.Abs(r.h.sum.At(i, j))
				}
			}
			w.SetSym(i, i, parts)
		}
		return w, nil
	}
	if len(residuals) != n {
		return nil, fmt.Errorf("reconcile: %s: residuals of %d series, want %d: %w", way, len(residuals), n, model.ErrUnfit)
	}
	e, err := wholeColumns(residuals)
	if err != nil {
		return nil, fmt.Errorf("reconcile: %s: %w", way, err)
	}
	shrink := 1.0
	switch way {
	case MinTSample:
		shrink = 0
	case MinTShrink:
		shrink = shrinkage(e)
		r.Shrink = shrink
	case BottomUp, OLS, WLSStructural, WLSVariance:
	}
	length := float64(len(e[0]))
	floor := 0.0
	for i := range n {
		floor = math.Max(floor, model.Dot(e[i], e[i])/length)
	}
	floor = math.Max(floor*1e-10, 1e-300)
	for i := range n {
		w.SetSym(i, i, math.Max(floor, model.Dot(e[i], e[i])/length))
		for j := i + 1; j < n && shrink < 1; j++ {
			w.SetSym(i, j, (1-shrink)*model.Dot(e[i], e[j])/length)
		}
	}
	return w, nil
}

// wholeColumns keeps the steps in which all residuals are known.
func wholeColumns(residuals [][]float64) ([][]float64, error) {
	length := len(residuals[0])
	out := make([][]float64, len(residuals))
	for i, e := range residuals {
		if len(e) != length {
			return nil, fmt.Errorf("series %d has %d residuals, want %d as the first: %w", i+1, len(e), length, model.ErrUnfit)
		}
	}
	for t := range length {
		whole := true
		for _, e := range residuals {
			whole = whole && model.IsFinite(e[t])
		}
		for i, e := range residuals {
			if whole {
				out[i] = append(out[i], e[t])
			}
		}
	}
	if len(out[0]) < 2 {
		return nil, fmt.Errorf("%d steps with all residuals, want 2 or more: %w", len(out[0]), model.ErrTooShort)
	}
	return out, nil
}

// shrinkage is the share of each covariance to take off: the summed variance of
// the correlations over their summed squares, from 0 to 1.
func shrinkage(e [][]float64) float64 {
	if len(e) > len(e[0]) {
		return wideShrinkage(e)
	}
	n := float64(len(e[0]))
	scale := make([]float64, len(e))
	for i := range e {
		scale[i] = math.Sqrt(model.Dot(e[i], e[i]) / n)
	}
	noise, signal := 0.0, 0.0
	for i := range e {
		for j := range i {
			if scale[i] == 0 || scale[j] == 0 {
				continue
			}
			cross, square := 0.0, 0.0
			for t := range e[i] {
				p := e[i][t] / scale[i] * (e[j][t] / scale[j])
				cross += p
				square += p * p
			}
			noise += (square - cross*cross/n) / (n * (n - 1))
			signal += cross / n * (cross / n)
		}
	}
	if !(signal > 0) {
		return 1
	}
	return math.Max(0, math.Min(1, noise/signal))
}

// Reconcile makes base forecasts agree: base[i] is of series i of the hierarchy,
// all over the same steps. With floor, no part is under nought, and so no sum
// is: the parts solve the same least squares with that bound (Wickramasuriya,
// Turlach & Hyndman 2020, "Optimal non-negative forecast reconciliation").
func (r *Reconciler) Reconcile(base [][]float64, floor bool) ([][]float64, error) {
	n, m := r.h.sum.Dims()
	if len(base) != n {
		return nil, fmt.Errorf("reconcile: forecasts of %d series, want %d: %w", len(base), n, model.ErrUnfit)
	}
	steps := len(base[0])
	out := make([][]float64, n)
	for i, b := range base {
		if len(b) != steps {
			return nil, fmt.Errorf("reconcile: series %d has %d steps, want %d as the first: %w", i+1, len(b), steps, model.ErrUnfit)
		}
		for t, v := range b {
			if !model.IsFinite(v) {
				return nil, fmt.Errorf("reconcile: series %d, step %d: %w", i+1, t+1, model.ErrMissing)
			}
		}
		out[i] = make([]float64, steps)
	}
	y, parts := make([]float64, n), make([]float64, m)
	for t := range steps {
		for i := range base {
			y[i] = base[i][t]
		}
		r.parts(parts, y, floor)
		for i := range out {
			out[i][t] = model.Dot(r.h.sum.RawRowView(i), parts)
		}
	}
	return out, nil
}

// parts puts the reconciled bottom of one step.
func (r *Reconciler) parts(out, y []float64, floor bool) {
	least := math.Inf(1)
	for j := range out {
		out[j] = model.Dot(r.project.RawRowView(j), y)
		least = math.Min(least, out[j])
	}
	if !floor || least >= 0 {
		return
	}
	right := make([]float64, len(out))
	for j := range right {
		right[j] = model.Dot(r.weigh.RawRowView(j), y)
	}
	nonNegative(out, r.normal, right)
}
