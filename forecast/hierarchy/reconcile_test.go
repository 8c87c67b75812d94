package hierarchy

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/forecast"
	"capcli/forecast/model"
	"capcli/testdata/golden"
)

type reconciliationGold struct {
	S         [][]float64
	Base      []float64
	Residuals [][]float64
	Lambda    float64   `json:"lambda_shrink"`
	BottomUp  []float64 `json:"bottom_up"`
	OLS       []float64 `json:"ols"`
	Struct    []float64 `json:"wls_struct"`
	Var       []float64 `json:"wls_var"`
	Shrink    []float64 `json:"mint_shrink"`
	Sample    []float64 `json:"mint_sample"`
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

func TestPathsAgreeAndGoTogether(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	residuals, paths := make([][]float64, 3), make([][][]float64, 3)
	for range 500 {
		a := rng.NormFloat64()
		b := 0.8*a + 0.6*rng.NormFloat64()
		for i, v := range []float64{a + b, a, b} {
			residuals[i] = append(residuals[i], v)
		}
	}
	joint, err := forecast.NewInnovations(residuals, nil)
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
	r, err := NewReconciler(2, [][]int{{0, 1}}, MinTShrink, residuals)
	if err != nil {
		t.Fatal(err)
	}
	for k := range paths[0] {
		y := []float64{paths[0][k][0], paths[1][k][0], paths[2][k][0]}
		if err := r.Reconcile(y, Bounds{}); err != nil {
			t.Fatal(err)
		}
		if d := y[1] + y[2] - y[0]; math.Abs(d) > 1e-9 {
			t.Fatalf("future %d: parts are %v more than the total", k, d)
		}
	}
}

// sumsOf reads the sums off a summing matrix.
func sumsOf(s [][]float64) [][]int {
	parts := len(s[0])
	var out [][]int
	for _, row := range s[:len(s)-parts] {
		var of []int
		for j, v := range row {
			if v == 1 {
				of = append(of, j)
			}
		}
		out = append(out, of)
	}
	return out
}

func TestReconcileAsR(t *testing.T) {
	var g reconciliationGold
	golden.Read(t, "reconciliation", &g)
	for _, row := range []struct {
		way  Method
		want []float64
	}{{BottomUp, g.BottomUp}, {OLS, g.OLS}, {WLSStructural, g.Struct}, {WLSVariance, g.Var}, {MinTShrink, g.Shrink}, {MinTSample, g.Sample}} {
		c, err := NewReconciler(len(g.S[0]), sumsOf(g.S), row.way, columns(g.Residuals))
		if err != nil {
			t.Fatal(row.way, err)
		}
		got := append([]float64(nil), g.Base...)
		if err := c.Reconcile(got, Bounds{}); err != nil {
			t.Fatal(row.way, err)
		}
		golden.CheckNear(t, row.way.String(), got, row.want, 1e-9)
		if row.way == MinTShrink && math.Abs(c.Shrink-g.Lambda) > 1e-12 {
			t.Errorf("shrinkage %v, want %v", c.Shrink, g.Lambda)
		}
	}
}

// TestWideShrinkage holds the way that never goes through pairs of series
// against the one that does.
func TestWideShrinkage(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	e := make([][]float64, 40)
	for range 25 {
		all := rng.NormFloat64()
		for i := range e {
			e[i] = append(e[i], all*float64(i%3)+rng.NormFloat64())
		}
	}
	e[4] = make([]float64, 25)
	noise, signal := 0.0, 0.0
	for i := range e {
		for j := range i {
			if i == 4 || j == 4 {
				continue
			}
			x, y := math.Sqrt(model.Dot(e[i], e[i])/25), math.Sqrt(model.Dot(e[j], e[j])/25)
			cross, square := 0.0, 0.0
			for t := range e[i] {
				p := e[i][t] / x * e[j][t] / y
				cross, square = cross+p, square+p*p
			}
			noise += (square - cross*cross/25) / (25 * 24)
			signal += cross / 25 * cross / 25
		}
	}
	if got, want := wideShrinkage(e), noise/signal; math.Abs(got-want) > 1e-12 {
		t.Errorf("shrinkage %v, want %v", got, want)
	}
}

// TestReconcileAddsUpToThePrintedDigit: whatever the base forecasts, the residuals
// and the bounds, the decimals that are printed add up exactly.
func TestReconcileAddsUpToThePrintedDigit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.IntRange(1, 12).Draw(t, "parts")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		sums := [][]int{nil}
		for j := range parts {
			sums[0] = append(sums[0], j)
		}
		for range rapid.IntRange(0, 4).Draw(t, "sums") {
			var of []int
			for j := range parts {
				if rng.IntN(2) == 0 {
					of = append(of, j)
				}
			}
			sums = append(sums, of)
		}
		n := parts + len(sums)
		residuals := make([][]float64, n)
		for i := range residuals {
			for range 15 {
				residuals[i] = append(residuals[i], rng.NormFloat64()*math.Exp(4*rng.NormFloat64()))
			}
		}
		way := []Method{BottomUp, OLS, WLSStructural, WLSVariance, MinTShrink}[rng.IntN(5)]
		c, err := NewReconciler(parts, sums, way, residuals)
		if err != nil {
			t.Skip(err)
		}
		size := math.Pow(10, float64(rapid.IntRange(-6, 9).Draw(t, "size")))
		y := make([]float64, n)
		most := 0.0
		for i := range y {
			y[i] = rng.NormFloat64() * size
			most = math.Max(most, math.Abs(y[i]))
		}
		b := Bounds{Floor: rng.IntN(2) == 0, Round: true, Places: PlacesFor(float64(parts) * most)}
		if rng.IntN(2) == 0 {
			for range n {
				b.Caps = append(b.Caps, size/3)
			}
		}
		if err := c.Reconcile(y, b); err != nil {
			t.Fatal(err)
		}
		for i, v := range y {
			if b.Floor && v < 0 || b.Floor && b.Caps != nil && v > b.Caps[i] {
				t.Fatalf("series %d is %v, outside its bounds %+v", i, v, b)
			}
		}
		for a, of := range sums {
			want := new(big.Rat)
			for _, j := range of {
				want.Add(want, decimal(t, y[len(sums)+j]))
			}
			if got := decimal(t, y[a]); got.Cmp(want) != 0 {
				t.Fatalf("%s: sum %d is %s, its parts add up to %s", way, a, got.FloatString(20), want.FloatString(20))
			}
		}
	})
}

// decimal is v as it is printed.
func decimal(t *rapid.T, v float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(v, 'f', -1, 64))
	if !ok {
		t.Fatalf("%v is no number", v)
	}
	return r
}

func TestReconcileKeepsTheWholeOverTheFloor(t *testing.T) {
	c, err := NewReconciler(3, [][]int{{0, 1, 2}}, BottomUp, nil)
	if err != nil {
		t.Fatal(err)
	}
	y := []float64{0, 6, 3, -3}
	if err := c.Reconcile(y, Bounds{Floor: true}); err != nil {
		t.Fatal(err)
	}
	golden.CheckNear(t, "floored", y, []float64{6, 4, 2, 0}, 1e-12)
	if err := c.Reconcile(y, Bounds{Caps: []float64{3, 9, 9, 9}}); err != nil {
		t.Fatal(err)
	}
	golden.CheckNear(t, "capped", y, []float64{3, 2, 1, 0}, 1e-12)
}

// TestReconcileOfManyParts: a system of ten thousand parts costs what its sums cost.
func TestReconcileOfManyParts(t *testing.T) {
	const parts, groups, length = 10_000, 40, 60
	rng := rand.New(rand.NewPCG(3, 5))
	sums := make([][]int, 1+groups)
	for j := range parts {
		sums[0] = append(sums[0], j)
		sums[1+j%groups] = append(sums[1+j%groups], j)
	}
	residuals := make([][]float64, parts+len(sums))
	for i := range residuals {
		for range length {
			residuals[i] = append(residuals[i], rng.NormFloat64())
		}
	}
	c, err := NewReconciler(parts, sums, MinTShrink, residuals)
	if err != nil {
		t.Fatal(err)
	}
	y := make([]float64, len(residuals))
	for i := range y {
		y[i] = rng.Float64()
	}
	y[0] = 9000
	if err := c.Reconcile(y, Bounds{}); err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, v := range y[len(sums):] {
		sum += v
	}
	if math.Abs(sum-y[0]) > 1e-6 || !(sum > 5000) {
		t.Errorf("the whole is %v, the parts add up to %v", y[0], sum)
	}
}

func TestReconcileRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		parts int
		sums  [][]int
		way   Method
		e     [][]float64
	}{
		"no parts":     {0, nil, OLS, nil},
		"a part twice": {2, [][]int{{0, 0}}, OLS, nil},
		"not a part":   {2, [][]int{{0, 2}}, OLS, nil},
		"no residuals": {2, [][]int{{0, 1}}, MinTShrink, nil},
	} {
		if _, err := NewReconciler(c.parts, c.sums, c.way, c.e); !errors.Is(err, model.ErrUnfit) {
			t.Errorf("%s: %v, want model.ErrUnfit", name, err)
		}
	}
	zero := make([]float64, 4)
	c, err := NewReconciler(2, [][]int{{0, 1}}, MinTShrink, [][]float64{zero, zero, zero})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Reconcile([]float64{1, math.NaN(), 2}, Bounds{}); !errors.Is(err, model.ErrMissing) {
		t.Errorf("a missing forecast: %v", err)
	}
	if err := c.Reconcile([]float64{1, 2}, Bounds{}); !errors.Is(err, model.ErrUnfit) {
		t.Errorf("two of three: %v", err)
	}
	for _, v := range []float64{1e-300, 1e300, 0, math.Inf(1)} {
		if p := PlacesFor(v); p < -300 || p > 300 {
			t.Error(fmt.Sprint("places for ", v, ": ", p))
		}
	}
}

// TestReconcileOfUnequalLengths: a part whose history covers a few of the steps has
// the variance of those, and takes its share of a gap by it.
func TestReconcileOfUnequalLengths(t *testing.T) {
	const length, own = 400, 150
	residuals := make([][]float64, 2) // of the sum, then of its one part, unrelated
	for i := range length {
		residuals[0] = append(residuals[0], 5*math.Sqrt2*math.Cos(math.Pi*float64(i)/2))
		v := math.NaN()
		if i >= length-own {
			v = 7 * math.Sqrt2 * math.Sin(math.Pi*float64(i)/2)
		}
		residuals[1] = append(residuals[1], v)
	}
	c, err := NewReconciler(1, [][]int{{0}}, MinTSample, residuals)
	if err != nil {
		t.Fatal(err)
	}
	y := []float64{10, 0}
	if err := c.Reconcile(y, Bounds{}); err != nil {
		t.Fatal(err)
	}
	want := 10.0 * 49 / (49 + 25)
	golden.CheckNear(t, "reconciled", y, []float64{want, want}, 1e-9)
}
