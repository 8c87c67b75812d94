package eta

import (
	"math"
	"runtime"
	"testing"

	"capcli"
)

// TestForestFindsTheDistribution grows a forest on values whose spread depends on a feature, beside
// two that say nothing, and reads the quantiles of both kinds of rows off it.
func TestForestFindsTheDistribution(t *testing.T) {
	rng := capcli.Seed(5).Stream("test")
	var x [][]float32
	var y []float32
	for range 6000 {
		wide := float32(rng.IntN(2))
		x = append(x, []float32{rng.Float32(), wide, rng.Float32()})
		y = append(y, 10*wide+(1+4*wide)*rng.Float32())
	}
	f, err := train(t.Context(), x, y, 1)
	if err != nil {
		t.Fatal(err)
	}
	for wide, want := range [][2]float64{{0.1, 0.9}, {10.5, 14.5}} {
		d := distributionOf(f.values([]float32{0.5, float32(wide), 0.5}, nil))
		for k, p := range []float64{0.1, 0.9} {
			if got := d.quantile(p); math.Abs(got-want[k]) > 0.15*float64(1+4*wide) {
				t.Errorf("rows of kind %d: the %.0f %% quantile is %.2f, want %.2f", wide, 100*p, got, want[k])
			}
		}
	}
}

// TestRangesCorrectThemselves gives distributions that are too short by a factor of two, to jobs
// that all wait. In the long run the ranges hold 80 % all the same.
func TestRangesCorrectThemselves(t *testing.T) {
	rng := capcli.Seed(6).Stream("test")
	var said []float32
	for k := range 101 {
		said = append(said, float32(3+float64(k)/100))
	}
	d := distributionOf(said)
	r := newRanges()
	held, n := 0, 0
	for k := range 6000 {
		r.begin()
		c := r.propose(d)
		wait := waitOf(3 + rng.Float64() + math.Log10(2))
		r.settle(&c, wait)
		if k >= 2000 {
			n++
			if c.lo <= wait && wait <= c.hi {
				held++
			}
		}
	}
	if share := float64(held) / float64(n); share < 0.77 || share > 0.85 {
		t.Errorf("the ranges hold %.3f, want 0.80", share)
	}
}

// TestSureStartsHaveNoRange: a job that is believed to start at once is told so.
func TestSureStartsHaveNoRange(t *testing.T) {
	said := make([]float32, 101)
	for k := range said {
		said[k] = noWait
	}
	said[100] = 4
	c := newRanges().propose(distributionOf(said))
	if c.lo != 0 || c.hi != 0 || c.class != -1 {
		t.Errorf("range %g to %g s, class %d: want 0 to 0, class -1", c.lo, c.hi, c.class)
	}
}

// TestSameOnAnyCores expects the same estimates on one core and on several.
func TestSameOnAnyCores(t *testing.T) {
	run := func(cores int) *Forecasts {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		f, err := Predict(t.Context(), NewLog(queueLog(700), 0), 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	one, four := run(1), run(4)
	for i := range one.Estimates {
		if one.Estimates[i] != four.Estimates[i] {
			t.Fatalf("job %d: %+v on one core, %+v on four", i, one.Estimates[i], four.Estimates[i])
		}
	}
}

// TestRidge fits a plane.
func TestRidge(t *testing.T) {
	rng := capcli.Seed(8).Stream("test")
	var x [][]float32
	var y []float32
	for range 2000 {
		a, b := rng.Float32(), rng.Float32()
		x = append(x, []float32{a, b, 7})
		y = append(y, 3+2*a-b)
	}
	r := fitRidge(x, y)
	if got := r.predict([]float32{0.25, 0.5, 7}); math.Abs(float64(got)-3) > 0.01 {
		t.Errorf("predicts %.3f, want 3", got)
	}
}
