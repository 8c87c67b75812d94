package forecast

import (
	"math"
	"slices"
	"testing"

	"capcli"
	"capcli/forecast/hierarchy"
	"capcli/forecast/model"
)

// TestThiefIsBetweenItsLevels: with weights by structure the sum over a cycle lies
// between what the steps and what the blocks say.
func TestThiefIsBetweenItsLevels(t *testing.T) {
	rng := capcli.Seed(3).Stream("thief")
	y := capcli.Series{Values: make([]float64, 24*30)}
	for i := range y.Values {
		y.Values[i] = 60 + 0.03*float64(i) + 15*math.Sin(float64(i)*math.Pi/12) + 4*rng.NormFloat64()
	}
	fit, err := thief{Options{Seasons: []int{24, 168}}}.Fit(y)
	if err != nil {
		t.Fatal(err)
	}
	f := fit.(*thiefFitted)
	if f.cycle != 168 || len(f.blocks) != 2 {
		t.Fatalf("cycle of %d in blocks %v", f.cycle, f.blocks)
	}
	fc, err := f.Forecast(168, 80)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := f.Fitted.Forecast(168, 80)
	if err != nil {
		t.Fatal(err)
	}
	sum := func(v []float64) float64 { return model.Mean(v) * float64(len(v)) }
	lo, hi := sum(steps.Mean), sum(steps.Mean)
	for k, level := range f.levels {
		one, err := level.Forecast(168 / f.blocks[k])
		if err != nil {
			t.Fatal(err)
		}
		lo, hi = math.Min(lo, sum(one.Mean)), math.Max(hi, sum(one.Mean))
	}
	if got := sum(fc.Mean); got < lo-1e-6 || got > hi+1e-6 || got == sum(steps.Mean) {
		t.Errorf("the week is %v, its levels say %v to %v", got, lo, hi)
	}
	for i := range fc.Mean {
		was, now := steps.Intervals[0].Hi[i]-steps.Mean[i], fc.Intervals[0].Hi[i]-fc.Mean[i]
		if math.Abs(was-now) > 1e-9 {
			t.Fatalf("step %d: the range's upper half is %v wide, was %v", i+1, now, was)
		}
	}
}

// TestReconcileOverTime: with weights by structure a gap at the top is shared, a third
// each, by the week, its days and its hours. A Reconciler of the same sums agrees.
func TestReconcileOverTime(t *testing.T) {
	var sums [][]int
	steps := make([]int, 168)
	for i := range steps {
		steps[i] = i
	}
	for _, length := range []int{168, 24} {
		sums = slices.AppendSeq(sums, slices.Chunk(steps, length))
	}
	hours := make([]float64, 168)
	for i := range hours {
		hours[i] = float64(i % 24)
	}
	week, days := blockSums(hours, 168), blockSums(hours, 24)
	r, err := hierarchy.NewReconciler(168, sums, hierarchy.WLSStructural, nil)
	if err != nil {
		t.Fatal(err)
	}
	project, err := blockProjection(168, []int{168, 24, 1})
	if err != nil {
		t.Fatal(err)
	}
	y, base := slices.Concat([]float64{1.1 * week[0]}, days, hours), slices.Concat([]float64{1.1 * week[0]}, days, hours)
	if err := r.Reconcile(y, hierarchy.Bounds{}); err != nil {
		t.Fatal(err)
	}
	if want := week[0] * (1 + 0.1/3); math.Abs(y[0]-want) > 1e-6 {
		t.Errorf("week = %v, want %v", y[0], want)
	}
	for i := range hours {
		if got := model.Dot(project.RawRowView(i), base); math.Abs(got-y[8+i]) > 1e-9 {
			t.Fatalf("hour %d = %v, want %v", i+1, got, y[8+i])
		}
	}
}
