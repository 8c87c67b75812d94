// Package hierarchy reconciles forecasts of parts and of their sums, so that they agree: optimal
// reconciliation for any number of parts, within bounds, exact to the printed digit.
package hierarchy

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"capcli/forecast/model"
)

// Method is a way to reconcile forecasts of parts and sums.
type Method uint8

// The methods differ in the covariance W that they assume of the base forecasts' errors
// (Wickramasuriya, Athanasopoulos & Hyndman 2019, "Optimal forecast reconciliation for
// hierarchical and grouped time series through trace minimization"). With S the summing matrix,
// reconciled forecasts are
//
//	y~ = S (S'W^-1 S)^-1 S'W^-1 y^
//
// BottomUp leaves the parts unchanged. OLS takes the identity for W, WLSStructural the diagonal
// of the number of parts in each sum, WLSVariance the diagonal of the residuals' variances,
// MinTSample the residuals' covariance, and MinTShrink that covariance shrunk to its diagonal
// (Schaefer & Strimmer 2005, "A shrinkage approach to large-scale covariance matrix
// estimation").
const (
	BottomUp Method = iota
	OLS
	WLSStructural
	WLSVariance
	MinTSample
	MinTShrink
)

// Residual reports whether the method needs residuals.
func (m Method) Residual() bool { return m >= WLSVariance }

func (m Method) String() string {
	names := [...]string{"bottom up", "OLS", "WLS by structure", "WLS by variance", "MinT by sample", "MinT by shrinkage"}
	if int(m) < len(names) {
		return names[m]
	}
	return fmt.Sprintf("reconciliation %d", uint8(m))
}

// MaxSums is the largest number of sums that a Reconciler accepts, except bottom up: it solves a
// square system of that size.
const MaxSums = 4000

// Reconciler reconciles base forecasts of parts and their sums, for any number of parts: it
// never holds a matrix of all series by all series.
//
// With C the constraints, one row for each sum, which subtracts its parts from it, the
// reconciled forecasts are
//
//	y~ = y^ - W C' (C W C')^-1 C y^
//
// which equals S (S'W^-1 S)^-1 S'W^-1 y^ (Wickramasuriya, Athanasopoulos & Hyndman 2019, theorem
// 1 and its proof; Di Fonzo & Girolimetto 2021) and inverts a matrix of the sums alone. The
// shrunk covariance is a diagonal plus a product of the residuals, W = sD + (1-s)E'E/T; it is
// used in this form and never multiplied out.
//
// A Reconciler is immutable.
type Reconciler struct {
	Way    Method
	Shrink float64 // share by which covariances were shrunk; NaN for methods without covariances

	sums   [][]int       // indices of the parts of each sum
	parts  int           // number of parts
	whole  bool          // the first sum contains all parts
	share  [][]int       // indices of the sums that contain each part
	weight []float64     // diagonal of W for the parts, shrunk
	inner  *mat.Cholesky // of C W C'; nil for bottom up
	errs   *mat.Dense    // residuals, parts by steps, times the root of (1-s)/T; nil where W is diagonal
	gaps   *mat.Dense    // residuals of the constraints, sums by steps, times the same root
	gain   *mat.Dense    // parts by sums: errs gaps' (C W C')^-1, which replaces errs and gaps where it is smaller
}

// NewReconciler prepares a method for sums of a number of parts. sums[a] are the indices of the
// parts of sum a, each once. residuals are those of the sums and then of the parts, all of one
// length and at the same times; a missing one counts as zero. They may be nil where the method
// needs none. It fails where an argument is invalid or a covariance has no inverse.
func NewReconciler(parts int, sums [][]int, way Method, residuals [][]float64) (*Reconciler, error) {
	c := &Reconciler{Way: way, Shrink: math.NaN(), sums: sums, parts: parts, share: make([][]int, parts)}
	if parts < 1 || len(sums) > MaxSums && way != BottomUp {
		return nil, fmt.Errorf("reconcile: %d parts and %d sums, want at least one and at most %d: %w", parts, len(sums), MaxSums, model.ErrUnfit)
	}
	for a, of := range sums {
		for _, j := range of {
			if j < 0 || j >= parts {
				return nil, fmt.Errorf("reconcile: sum %d has part %d of %d: %w", a+1, j+1, parts, model.ErrUnfit)
			}
			if k := len(c.share[j]); k > 0 && c.share[j][k-1] == a {
				return nil, fmt.Errorf("reconcile: sum %d has part %d twice: %w", a+1, j+1, model.ErrUnfit)
			}
			c.share[j] = append(c.share[j], a)
		}
	}
	c.whole = len(sums) > 0 && len(sums[0]) == parts
	if way == BottomUp || len(sums) == 0 {
		return c, nil
	}
	diagonal, e, err := c.errors(way, residuals)
	if err != nil {
		return nil, err
	}
	return c, c.prepare(diagonal, e)
}

// errors returns the diagonal of W for the sums and then the parts. Where W is more
// than a diagonal it also returns the residuals and sets Shrink.
func (c *Reconciler) errors(way Method, residuals [][]float64) (diagonal []float64, e [][]float64, err error) {
	n := len(c.sums) + c.parts
	diagonal = make([]float64, n)
	for i := range diagonal {
		diagonal[i] = 1
		if way == WLSStructural && i < len(c.sums) {
			diagonal[i] = math.Max(1, float64(len(c.sums[i])))
		}
	}
	if !way.Residual() {
		return diagonal, nil, nil
	}
	if len(residuals) != n {
		return nil, nil, fmt.Errorf("reconcile: %s: residuals of %d series, want %d: %w", way, len(residuals), n, model.ErrUnfit)
	}
	e, known, err := zeroForMissing(residuals)
	if err != nil {
		return nil, nil, fmt.Errorf("reconcile: %s: %w", way, err)
	}
	most := 0.0
	for i := range e {
		// The covariance of a series that began late comes from its known steps, scaled as if
		// all steps were like them.
		by := math.Sqrt(float64(len(e[i])) / float64(max(1, known[i])))
		for t := range e[i] {
			e[i][t] *= by
		}
		diagonal[i] = model.Dot(e[i], e[i]) / float64(len(e[i]))
		most = math.Max(most, diagonal[i])
	}
	for i := range diagonal {
		diagonal[i] = math.Max(diagonal[i], math.Max(most*1e-10, 1e-300))
	}
	switch way {
	case MinTSample:
		c.Shrink = 0
	case MinTShrink:
		c.Shrink = shrinkage(e)
	case BottomUp, OLS, WLSStructural, WLSVariance:
		return diagonal, nil, nil
	}
	return diagonal, e, nil
}

// zeroForMissing returns the residuals with zero for each missing one, and the number of known
// ones of each series. It fails where lengths differ or are below 2.
func zeroForMissing(residuals [][]float64) (out [][]float64, known []int, err error) {
	out, known = make([][]float64, len(residuals)), make([]int, len(residuals))
	for i, own := range residuals {
		if len(own) != len(residuals[0]) || len(own) < 2 {
			return nil, nil, fmt.Errorf("series %d has %d residuals, want 2 or more and %d as the first: %w", i+1, len(own), len(residuals[0]), model.ErrTooShort)
		}
		out[i] = make([]float64, len(own))
		for t, v := range own {
			if model.IsFinite(v) {
				out[i][t] = v
				known[i]++
			}
		}
	}
	return out, known, nil
}

// prepare factorises C W C'.
func (c *Reconciler) prepare(diagonal []float64, e [][]float64) error {
	k := len(c.sums)
	keep := 1.0
	if e != nil {
		keep = c.Shrink
		c.product(e)
	}
	m := mat.NewSymDense(k, nil)
	for a := range k {
		m.SetSym(a, a, keep*diagonal[a])
	}
	c.weight = make([]float64, c.parts)
	for j, in := range c.share {
		c.weight[j] = keep * diagonal[k+j]
		for x, a := range in {
			for _, b := range in[x:] {
				m.SetSym(a, b, m.At(a, b)+c.weight[j])
			}
		}
	}
	if c.gaps != nil {
		var more mat.SymDense
		more.SymOuterK(1, c.gaps)
		m.AddSym(m, &more)
	}
	c.inner = new(mat.Cholesky)
	if !c.inner.Factorize(m) || c.inner.Cond() > 1e14 {
		return fmt.Errorf("reconcile: %s: the residuals' covariance has no inverse, use %s: %w", c.Way, WLSVariance, model.ErrUnfit)
	}
	if c.gaps == nil || k > len(e[0]) {
		return nil
	}
	var cross, solved mat.Dense
	cross.Mul(c.gaps, c.errs.T())
	if err := c.inner.SolveTo(&solved, &cross); err != nil && !model.IsCondition(err) {
		return fmt.Errorf("reconcile: %s: %w", c.Way, errors.Join(err, model.ErrUnfit))
	}
	c.gain = mat.DenseCopyOf(solved.T())
	c.errs, c.gaps = nil, nil
	return nil
}

// product sets errs, the residuals of the parts, and gaps, those of the constraints.
func (c *Reconciler) product(e [][]float64) {
	k, length := len(c.sums), len(e[0])
	by := math.Sqrt((1 - c.Shrink) / float64(length))
	c.errs, c.gaps = mat.NewDense(c.parts, length, nil), mat.NewDense(k, length, nil)
	for j := range c.parts {
		row := c.errs.RawRowView(j)
		for t, v := range e[k+j] {
			row[t] = by * v
		}
	}
	for a, of := range c.sums {
		row := c.gaps.RawRowView(a)
		for t, v := range e[a] {
			row[t] = by * v
		}
		for _, j := range of {
			for t, v := range c.errs.RawRowView(j) {
				row[t] -= v
			}
		}
	}
}

// Bounds are limits on reconciled values.
type Bounds struct {
	Floor  bool      // no part is below zero
	Caps   []float64 // upper bound of each series, the sums first; nil is none
	Round  bool      // round the parts: see Places
	Places int       // with Round, parts are whole multiples of 10^-Places
}

// Reconcile reconciles the figures of one step in place: y has the sums first, then the parts.
// Afterwards each sum equals the sum of its parts.
//
// A part below the floor becomes zero. Where the first sum contains all parts, the others shrink
// in proportion, so that the total does not change (set-negative-to-zero: Di Fonzo & Girolimetto
// 2023, "Spatio-temporal reconciliation of solar forecasts"). The parts of a sum above its cap
// shrink in proportion.
func (c *Reconciler) Reconcile(y []float64, b Bounds) error {
	k := len(c.sums)
	if len(y) != k+c.parts {
		return fmt.Errorf("reconcile: forecasts of %d series, want %d: %w", len(y), k+c.parts, model.ErrUnfit)
	}
	for i, v := range y {
		if !model.IsFinite(v) {
			return fmt.Errorf("reconcile: series %d: %w", i+1, model.ErrMissing)
		}
	}
	parts := y[k:]
	if c.inner != nil {
		if err := c.adjust(y); err != nil {
			return err
		}
	}
	if b.Floor {
		c.floor(parts)
	}
	if b.Caps != nil {
		c.cap(parts, b.Caps)
	}
	c.sum(y, b)
	return nil
}

// adjust subtracts from each part its share of the discrepancy between sums and parts.
func (c *Reconciler) adjust(y []float64) error {
	k := len(c.sums)
	parts := y[k:]
	broken := make([]float64, k)
	for a, of := range c.sums {
		broken[a] = y[a]
		for _, j := range of {
			broken[a] -= parts[j]
		}
	}
	u := mat.NewVecDense(k, nil)
	if err := c.inner.SolveVecTo(u, mat.NewVecDense(k, broken)); err != nil && !model.IsCondition(err) {
		return fmt.Errorf("reconcile: %s: %w", c.Way, errors.Join(err, model.ErrUnfit))
	}
	var along []float64
	if c.gaps != nil {
		var v mat.VecDense
		v.MulVec(c.gaps.T(), u)
		along = v.RawVector().Data
	}
	for j, in := range c.share {
		by := 0.0
		for _, a := range in {
			by += u.AtVec(a)
		}
		parts[j] += c.weight[j] * by
		switch {
		case c.gain != nil:
			parts[j] -= model.Dot(c.gain.RawRowView(j), broken)
		case along != nil:
			parts[j] -= model.Dot(c.errs.RawRowView(j), along)
		}
	}
	return nil
}

func (c *Reconciler) floor(parts []float64) {
	all, above := 0.0, 0.0
	for j, v := range parts {
		all += v
		parts[j] = math.Max(0, v)
		above += parts[j]
	}
	if c.whole && above > all && above > 0 {
		by := math.Max(0, all) / above
		for j := range parts {
			parts[j] *= by
		}
	}
}

func (c *Reconciler) cap(parts, caps []float64) {
	for j, v := range parts {
		parts[j] = math.Min(v, caps[len(c.sums)+j])
	}
	for a, of := range c.sums {
		sum, above := 0.0, 0.0
		for _, j := range of {
			sum += parts[j]
			above += math.Max(0, parts[j])
		}
		if sum <= caps[a] || above == 0 {
			continue
		}
		by := math.Max(0, 1-(sum-caps[a])/above)
		for _, j := range of {
			if parts[j] > 0 {
				parts[j] *= by
			}
		}
	}
}

// sum rounds the parts and adds them up in multiples of the last place, which makes the sums
// exact.
func (c *Reconciler) sum(y []float64, b Bounds) {
	k := len(c.sums)
	parts := y[k:]
	up, down := 1.0, 1.0
	if b.Round {
		up, down = math.Pow(10, float64(max(0, b.Places))), math.Pow(10, float64(max(0, -b.Places)))
		for j, v := range parts {
			parts[j] = math.Round(v * up / down)
			if b.Caps != nil {
				parts[j] = math.Floor(v * up / down)
			}
		}
	}
	for a, of := range c.sums {
		y[a] = 0
		for _, j := range of {
			y[a] += parts[j]
		}
	}
	if b.Round {
		for i, v := range y {
			y[i] = v / up * down
			if y[i] == 0 {
				y[i] = 0 // 0 instead of minus zero
			}
		}
	}
}

// PlacesFor returns the number of decimal places that keeps twelve digits of figures up to most.
// Multiples of the last place then add up without error.
func PlacesFor(most float64) int {
	if !(most > 0) || math.IsInf(most, 0) {
		return 12
	}
	return max(-280, min(280, 12-int(math.Ceil(math.Log10(most)))))
}

// shrinkage returns the share, from 0 to 1, by which to shrink each covariance: the summed
// variance of the correlations over the sum of their squares.
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

// wideShrinkage is shrinkage for more series than steps. It computes the sums over all pairs of
// series from the products of the steps,
//
//	sum_ij (x_i'x_j)^2 = sum_st (sum_i x_is x_it)^2
//
// and so does not iterate over pairs of series.
func wideShrinkage(e [][]float64) float64 {
	length := len(e[0])
	n := float64(length)
	steps := mat.NewDense(length, len(e), nil)
	squares, own := make([]float64, length), 0.0 // own: the sum over pairs of a series with itself
	fourth := 0.0
	for i := range e {
		scale := math.Sqrt(model.Dot(e[i], e[i]) / n)
		if scale == 0 {
			continue
		}
		for t, v := range e[i] {
			x := v / scale
			steps.Set(t, i, x)
			squares[t] += x * x
			fourth += x * x * x * x
		}
		own += n * n
	}
	var gram mat.SymDense
	gram.SymOuterK(1, steps)
	pairs := 0.0
	for s := range length {
		for t := range length {
			pairs += gram.At(s, t) * gram.At(s, t)
		}
	}
	pairs -= own // sum over i != j of (x_i'x_j)^2
	noise := (model.Dot(squares, squares) - fourth - pairs/n) / (n * (n - 1))
	signal := pairs / (n * n)
	if !(signal > 0) {
		return 1
	}
	return math.Max(0, math.Min(1, noise/signal))
}
