package forecast

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"capcli"
	"capcli/forecast/model"
)

type reconciliationGold struct {
	S         [][]float64
	Base      []float64
	Residuals [][]float64
	WSample   [][]float64 `json:"W_sample"`
	Lambda    float64     `json:"lambda_shrink"`
	BottomUp  []float64   `json:"bottom_up"`
	OLS       []float64   `json:"ols"`
	Struct    []float64   `json:"wls_struct"`
	Var       []float64   `json:"wls_var"`
	Shrink    []float64   `json:"mint_shrink"`
	Sample    []float64   `json:"mint_sample"`
}

// columns turns rows into columns.
func columns(rows [][]float64) [][]float64 {
	out := make([][]float64, len(rows[0]))
	for _, row := range rows {
		for j, v := range row {
			out[j] = append(out[j], v)
		}
	}
	return out
}

func TestReconcileAsR(t *testing.T) {
	var g reconciliationGold
	golden(t, "reconciliation", &g)
	h, err := NewHierarchy(nil, g.S)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		way  Reconciliation
		want []float64
	}{{BottomUp, g.BottomUp}, {OLS, g.OLS}, {WLSStructural, g.Struct}, {WLSVariance, g.Var}, {MinTShrink, g.Shrink}, {MinTSample, g.Sample}} {
		r, err := NewReconciler(h, row.way, columns(g.Residuals))
		if err != nil {
			t.Fatal(row.way, err)
		}
		got, err := r.Reconcile(columns([][]float64{g.Base}), false)
		if err != nil {
			t.Fatal(row.way, err)
		}
		checkNear(t, row.way.String(), columns(got)[0], row.want, 1e-9)
		if row.way == MinTShrink && r.Shrink != g.Lambda {
			t.Errorf("shrinkage %v, want %v", r.Shrink, g.Lambda)
		}
	}
	w, err := (&Reconciler{h: h}).covariance(MinTSample, columns(g.Residuals))
	if err != nil {
		t.Fatal(err)
	}
	for i := range g.WSample {
		checkNear(t, "covariance", w.RawSymmetric().Data[i*8+i:i*8+8], g.WSample[i][i:], 1e-9)
	}
}

// TestShrinkageFindsTheTruth draws correlated errors: with few the estimate is
// shrunk, with many it is not.
func TestShrinkageFindsTheTruth(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func(n int) [][]float64 {
		e := make([][]float64, 5)
		for range n {
			all := rng.NormFloat64()
			for i := range e {
				e[i] = append(e[i], all+rng.NormFloat64())
			}
		}
		return e
	}
	few, many := shrinkage(draw(10)), shrinkage(draw(10000))
	if !(few > 0.05 && few < 1) || !(many < 0.002) {
		t.Errorf("shrinkage of 10 and of 10,000 draws: %.3f, %.5f", few, many)
	}
}

func TestReconcileNeverUnderNought(t *testing.T) {
	h, err := grouped([][]string{{"a", "x"}, {"a", "y"}, {"b", "x"}, {"b", "y"}})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"total", "a", "b", "x", "y", "a/x", "a/y", "b/x", "b/y"}; !slices.Equal(h.Names, want) {
		t.Fatalf("names %v, want %v", h.Names, want)
	}
	r, err := NewReconciler(h, WLSStructural, nil)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		base := make([][]float64, 9)
		for i := range base {
			base[i] = []float64{rng.NormFloat64() * 10, rng.Float64()}
		}
		got, err := r.Reconcile(base, true)
		if err != nil {
			t.Fatal(err)
		}
		free, err := r.Reconcile(base, false)
		if err != nil {
			t.Fatal(err)
		}
		for step := range 2 {
			b := []float64{got[5][step], got[6][step], got[7][step], got[8][step]}
			if least := slices.Min(b); least < 0 {
				t.Fatalf("part %v is under nought", least)
			}
			if d := b[0] + b[1] + b[2] + b[3] - got[0][step]; math.Abs(d) > 1e-9 {
				t.Fatalf("parts are %v more than the total", d)
			}
			if min(free[5][step], free[6][step], free[7][step], free[8][step]) >= 0 && math.Abs(free[0][step]-got[0][step]) > 1e-9 {
				t.Fatal("the floor moved parts that were above it")
			}
			// Karush, Kuhn and Tucker: no slope at a part that is free, none upward at one that is not
			for j, x := range b {
				slope := 0.0
				for i := range base {
					slope += r.weigh.At(j, i) * base[i][step]
				}
				for k, y := range b {
					slope -= r.normal.At(j, k) * y
				}
				if slope > 1e-8 || x > 0 && slope < -1e-8 {
					t.Fatalf("part %d = %v has slope %v", j, x, slope)
				}
			}
		}
	}
}

func TestTemporalHierarchy(t *testing.T) {
	h, err := Temporal(168, 168, 24)
	if err != nil {
		t.Fatal(err)
	}
	if n, m := h.sum.Dims(); n != 1+7+168 || m != 168 {
		t.Fatalf("%d by %d, want 176 by 168", n, m)
	}
	hours := make([]float64, 336)
	for i := range hours {
		hours[i] = float64(i % 24)
	}
	weeks, days := Blocks(hours, 168), Blocks(hours, 24)
	for i := range weeks {
		weeks[i] *= 1.1
	}
	base, err := Cycles([][]float64{weeks, days, hours}, 2)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReconciler(h, WLSStructural, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Reconcile(base, false)
	if err != nil {
		t.Fatal(err)
	}
	// With weights by structure a gap of d at the top is shared: a third each of week, days and hours.
	if want := weeks[0] / 1.1 * (1 + 0.1/3); math.Abs(got[0][1]-want) > 1e-6 {
		t.Errorf("week = %v, want %v", got[0][1], want)
	}
	if _, err := Temporal(168, 100); !errors.Is(err, model.ErrUnfit) {
		t.Errorf("blocks that do not divide: %v, want ErrUnfit", err)
	}
}

func TestPathsAgreeAndGoTogether(t *testing.T) {
	h, err := grouped([][]string{{"a"}, {"b"}})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	residuals, paths := make([][]float64, 3), make([][][]float64, 3)
	for range 500 {
		a := rng.NormFloat64()
		b := 0.8*a + 0.6*rng.NormFloat64()
		for i, v := range []float64{a + b, a, b} {
			residuals[i] = append(residuals[i], v)
		}
	}
	joint, err := NewInnovations(residuals, nil)
	if err != nil {
		t.Fatal(err)
	}
	for k := range 2000 {
		seed := capcli.Seed(7).Child(k)
		for i := range paths {
			noise := joint.Noise(i, seed.Stream("together"), seed.Stream(strconv.Itoa(i)))
			paths[i] = append(paths[i], []float64{model.Innovation(noise, 0), model.Innovation(noise, 1)})
		}
	}
	for i, scale := range []float64{model.RMS(residuals[0]), model.RMS(residuals[1]), model.RMS(residuals[2])} {
		for _, p := range paths[i] {
			p[0], p[1] = scale*p[0], scale*p[1]
		}
	}
	for k := range paths[0] { // a sum of its parts' residuals needs no change
		if d := paths[1][k][0] + paths[2][k][0] - paths[0][k][0]; math.Abs(d) > 1e-4 {
			t.Fatalf("future %d: parts are %v more than the total before reconciliation", k, d)
		}
	}
	w, err := NewReconciler(h, MinTShrink, residuals)
	if err != nil {
		t.Fatal(err)
	}
	agreed, err := w.Paths(paths, false)
	if err != nil {
		t.Fatal(err)
	}
	for k := range agreed[0] {
		if d := agreed[1][k][0] + agreed[2][k][0] - agreed[0][k][0]; math.Abs(d) > 1e-9 {
			t.Fatalf("future %d: parts are %v more than the total", k, d)
		}
	}
}

func TestReconcileRefuses(t *testing.T) {
	h, err := NewHierarchy(nil, [][]float64{{1, 1}, {1, 0}, {0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	same := []float64{1, 2, 3, -1}
	if _, err := NewReconciler(h, MinTSample, [][]float64{same, same, same}); !errors.Is(err, model.ErrUnfit) {
		t.Errorf("covariance without inverse: %v, want ErrUnfit", err)
	}
	if _, err := NewReconciler(h, MinTShrink, [][]float64{same, same}); !errors.Is(err, model.ErrUnfit) {
		t.Errorf("residuals of two series of three: %v, want ErrUnfit", err)
	}
	zero := make([]float64, 4)
	r, err := NewReconciler(h, MinTShrink, [][]float64{zero, zero, zero})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile([][]float64{{1}, {math.NaN()}, {2}}, true); !errors.Is(err, model.ErrMissing) {
		t.Errorf("a missing forecast: %v, want ErrMissing", err)
	}
	if _, err := NewHierarchy(nil, [][]float64{{1, 0}, {1, 1}, {0, 1}}); !errors.Is(err, model.ErrUnfit) {
		t.Errorf("parts that do not come last: %v, want ErrUnfit", err)
	}
}

// grouped is the hierarchy of parts with labels: labels[j][k] is the k-th label
// of part j, such as its pool, GPU model and tenant. There is a sum for all, one
// for each value of each label, in the order in which values first come, and
// the parts, named by all their labels. A label with one value, or with one
// for each part, gives no sum of its own.
func grouped(labels [][]string) (*Hierarchy, error) {
	if len(labels) == 0 {
		return nil, fmt.Errorf("hierarchy: no parts: %w", model.ErrUnfit)
	}
	m := len(labels)
	all := make([]float64, m)
	for j := range all {
		all[j] = 1
	}
	names, sum := []string{"total"}, [][]float64{all}
	for k := range labels[0] {
		place := map[string]int{}
		var values []string
		var rows [][]float64
		for j, l := range labels {
			if len(l) != len(labels[0]) {
				return nil, fmt.Errorf("hierarchy: part %d has %d labels, want %d as the first: %w", j+1, len(l), len(labels[0]), model.ErrUnfit)
			}
			at, seen := place[l[k]]
			if !seen {
				at = len(rows)
				place[l[k]] = at
				values, rows = append(values, l[k]), append(rows, make([]float64, m))
			}
			rows[at][j] = 1
		}
		if len(rows) > 1 && len(rows) < m {
			names, sum = append(names, values...), append(sum, rows...)
		}
	}
	for j, l := range labels {
		row := make([]float64, m)
		row[j] = 1
		name := ""
		for k, v := range l {
			if k > 0 {
				name += "/"
			}
			name += v
		}
		names, sum = append(names, name), append(sum, row)
	}
	return NewHierarchy(names, sum)
}
