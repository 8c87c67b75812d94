package forecast

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"capcli"
	"capcli/forecast/arima"
	"capcli/forecast/model"
	"capcli/forecast/simple"
)

// pairOf draws two series whose shocks correlate by r and follow the law of kind.
func pairOf(kind string, n int, r float64) [][]float64 {
	rng := capcli.Seed(11).Stream("pair/" + kind)
	out, level := make([][]float64, 2), []float64{0, 0}
	for range n {
		common := rng.NormFloat64()
		for i := range out {
			e := 5 * (math.Sqrt(r)*common + math.Sqrt(1-r)*rng.NormFloat64())
			switch kind {
			case "white":
				level[i] = e
			case "ar":
				level[i] = 0.8*level[i] + e
			default:
				level[i] += e
			}
			out[i] = append(out[i], 500+level[i])
		}
	}
	return out
}

// jointPaths fits a model to each series and draws futures of all together, and of
// each alone.
func jointPaths(t *testing.T, model model.Model, series [][]float64, begin []int, draws, h int) (fits []model.Fitted, joint, alone [][][]float64) {
	t.Helper()
	errs := make([][]float64, len(series))
	for i, y := range series {
		fit, err := model.Fit(capcli.Series{Values: y})
		if err != nil {
			t.Fatal(err)
		}
		fits = append(fits, fit)
		errs[i] = lastErrors(y, fit.Info().Fitted, len(y))
	}
	in, err := NewInnovations(errs, begin)
	if err != nil {
		t.Fatal(err)
	}
	joint, alone = make([][][]float64, len(series)), make([][][]float64, len(series))
	for i, fit := range fits {
		for k := range draws {
			seed, own := capcli.Seed(3).Child(k), fmt.Sprint("own/", i)
			joint[i] = append(joint[i], fit.Path(h, in.Noise(i, seed.Stream("together"), seed.Stream(own))))
			alone[i] = append(alone[i], fit.Path(h, seed.Stream("alone/"+own)))
		}
	}
	return fits, joint, alone
}

// figures takes one figure of each future of the series given, added up step by step.
func figures(paths [][][]float64, of func(sum []float64) float64) []float64 {
	out := make([]float64, len(paths[0]))
	for k := range out {
		sum := slices.Clone(paths[0][k])
		for _, own := range paths[1:] {
			for i, v := range own[k] {
				sum[i] += v
			}
		}
		out[k] = of(sum)
	}
	slices.Sort(out)
	return out
}

func widthOf(sorted []float64) float64 {
	return sorted[len(sorted)*9/10] - sorted[len(sorted)/10]
}

// TestJointFutures: futures of two series correlate at every step as their shocks
// do, and what is read off the total (the width of a step, of a weekly mean and of
// a peak) is what one long draw from the true law has; each series' own futures
// keep their law. Before, only the sums over the whole path went together.
func TestJointFutures(t *testing.T) {
	const draws, h, r = 3000, 14, 0.78
	for _, row := range []struct {
		kind  string
		model model.Model
		psi   func(j int) float64 // response of a step to the shock j steps before
	}{
		{"white", arima.AutoARIMA{}, func(j int) float64 { return max(0, 1-float64(j)) }},
		{"ar", arima.AutoARIMA{}, func(j int) float64 { return math.Pow(0.8, float64(j)) }},
		{"walk", simple.Walk{Name: "naive", Lag: 1}, func(int) float64 { return 1 }},
	} {
		fits, joint, alone := jointPaths(t, row.model, pairOf(row.kind, 1500, r), nil, draws, h)
		truth := make([][][]float64, 2) // futures by the true law, around the fits' means
		rng := capcli.Seed(5).Stream("truth")
		for range draws {
			shocks := [2][]float64{}
			for range h {
				common := rng.NormFloat64()
				for i := range shocks {
					shocks[i] = append(shocks[i], 5*(math.Sqrt(r)*common+math.Sqrt(1-r)*rng.NormFloat64()))
				}
			}
			for i := range truth {
				fc, err := fits[i].Forecast(h)
				if err != nil {
					t.Fatal(err)
				}
				for at := range h {
					for s := range at + 1 {
						fc.Mean[at] += row.psi(at-s) * shocks[i][s]
					}
				}
				truth[i] = append(truth[i], fc.Mean)
			}
		}
		for _, at := range []int{0, 6, h - 1} {
			step := func(p []float64) float64 { return p[at] }
			a, b := deviations(joint[0], at), deviations(joint[1], at)
			if got := correlation(a, b); math.Abs(got-r) > 0.05 {
				t.Errorf("%s: step %d of the futures correlates by %.3f, want %.2f", row.kind, at+1, got, r)
			}
			for i := range joint {
				got, want := figures(joint[i:i+1], step), figures(alone[i:i+1], step)
				for _, q := range []int{5, 25, 50, 75, 95} {
					if g, w := got[draws*q/100], want[draws*q/100]; math.Abs(g-w) > 0.1*widthOf(want) {
						t.Errorf("%s: series %d, step %d: quantile %d is %.2f together and %.2f alone", row.kind, i+1, at+1, q, g, w)
					}
				}
			}
		}
		for name, of := range map[string]func([]float64) float64{
			"first step":  func(p []float64) float64 { return p[0] },
			"last step":   func(p []float64) float64 { return p[h-1] },
			"weekly mean": func(p []float64) float64 { return model.Mean(p[:7]) },
			"peak":        slices.Max[[]float64],
		} {
			got, want := figures(joint, of), figures(truth, of)
			if ratio := widthOf(got) / widthOf(want); math.Abs(ratio-1) > 0.1 {
				t.Errorf("%s: the 80%% width of the total's %s is %.2f of that of the true law", row.kind, name, ratio)
			}
			if d := got[draws/2] - want[draws/2]; math.Abs(d) > 0.1*widthOf(want) {
				t.Errorf("%s: the median of the total's %s is %.2f beside that of the true law", row.kind, name, d)
			}
		}
	}
}

func deviations(paths [][]float64, at int) []float64 {
	out := make([]float64, len(paths))
	for k, p := range paths {
		out[k] = p[at]
	}
	mean := model.Mean(out)
	for k := range out {
		out[k] -= mean
	}
	return out
}

// TestJointFuturesOfCombinations: members are drawn alike, so that a mixture of a
// walk and a mean does not take the series apart.
func TestJointFuturesOfCombinations(t *testing.T) {
	series := pairOf("ar", 300, 0.9)
	model := combination{Members: []model.Model{simple.Walk{Name: "naive", Lag: 1}, arima.AutoARIMA{}, simple.Mean{}}, Mean: true}
	_, joint, _ := jointPaths(t, model, series, nil, 1500, 10)
	for _, at := range []int{0, 9} {
		if got := correlation(deviations(joint[0], at), deviations(joint[1], at)); math.Abs(got-0.9) > 0.08 {
			t.Errorf("step %d of the futures correlates by %.3f, want 0.9", at+1, got)
		}
	}
}

// TestInnovationsAtTheirTimes: where one history ends three steps before another,
// its fourth step goes with the other's first.
func TestInnovationsAtTheirTimes(t *testing.T) {
	errs := pairOf("white", 400, 0.99)
	for i := range errs {
		for k := range errs[i] {
			errs[i][k] -= 500
		}
	}
	in, err := NewInnovations(errs, []int{403, 400})
	if err != nil {
		t.Fatal(err)
	}
	var late, early, before []float64
	for k := range 500 {
		seed := capcli.Seed(1).Child(k)
		a, b := in.Noise(0, seed.Stream("together"), seed.Stream("a")), in.Noise(1, seed.Stream("together"), seed.Stream("b"))
		late, early, before = append(late, model.Innovation(a, 0)), append(early, model.Innovation(b, 3)), append(before, model.Innovation(b, 0))
	}
	if r := correlation(late, early); r < 0.95 {
		t.Errorf("the same time correlates by %.2f, want 0.99", r)
	}
	if r := correlation(late, before); math.Abs(r) > 0.2 {
		t.Errorf("different times correlate by %.2f, want 0", r)
	}
}

// TestInnovationsOfGapsAndMany: a pair's correlation comes from the steps that both
// have, and that of very many series from the steps' products.
func TestInnovationsOfGapsAndMany(t *testing.T) {
	for _, n := range []int{3, mostPairs + 40} {
		rng := capcli.Seed(9).Stream("many")
		errs := make([][]float64, n)
		for range 400 {
			common := rng.NormFloat64()
			for i := range errs {
				errs[i] = append(errs[i], 0.8*common+0.6*rng.NormFloat64())
			}
		}
		if n == 3 { // the second began late, the third has no errors at all
			for k := range 300 {
				errs[1][k] = math.NaN()
			}
			errs[2] = make([]float64, 400)
		}
		in, err := NewInnovations(errs, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := make([][]float64, 3)
		for k := range 2000 {
			seed := capcli.Seed(2).Child(k)
			for i := range got {
				got[i] = append(got[i], model.Innovation(in.Noise(i, seed.Stream("together"), seed.Stream(fmt.Sprint(i))), 0))
			}
		}
		for i := range got {
			if s := model.RMS(got[i]); math.Abs(s-1) > 0.06 {
				t.Errorf("%d series: innovations of series %d have standard deviation %.2f, want 1", n, i+1, s)
			}
		}
		if r := correlation(got[0], got[1]); math.Abs(r-0.64) > 0.1 {
			t.Errorf("%d series: innovations correlate by %.2f, want 0.64", n, r)
		}
		if r := correlation(got[0], got[2]); n == 3 && math.Abs(r) > 0.1 {
			t.Errorf("a series without errors correlates by %.2f, want 0", r)
		}
	}
}

func TestInnovationsRefuse(t *testing.T) {
	for name, c := range map[string]struct {
		errs  [][]float64
		begin []int
		want  error
	}{
		"no series":       {nil, nil, model.ErrUnfit},
		"times of others": {[][]float64{{1, 2}}, []int{1, 2}, model.ErrUnfit},
		"one residual":    {[][]float64{{1}}, nil, model.ErrTooShort},
		"unequal lengths": {[][]float64{{1, 2}, {1, 2, 3}}, nil, model.ErrTooShort},
	} {
		if _, err := NewInnovations(c.errs, c.begin); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
