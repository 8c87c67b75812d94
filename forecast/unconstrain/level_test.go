package unconstrain

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"capcli"
	"capcli/forecast/model"
	"capcli/testdata/golden"
)

// demandOf draws four weeks of hours with a day and a week, of one of three shapes.
func demandOf(shape string, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 77))
	out, e := make([]float64, 28*24), 0.0
	for t := range out {
		w := rng.NormFloat64()
		if shape == "heavy-tailed" { // Student's t of three degrees, of variance one
			chi := 0.0
			for range 3 {
				z := rng.NormFloat64()
				chi += z * z
			}
			w /= math.Sqrt(chi)
		}
		e = 0.7*e + math.Sqrt(1-0.49)*w
		season := math.Sin(2*math.Pi*float64(t)/24) + 0.4*math.Sin(2*math.Pi*float64(t)/168)
		if shape == "log-normal" {
			out[t] = 200 * math.Exp(0.2*season+0.2*e)
		} else {
			out[t] = math.Max(0, 200+40*season+30*e)
		}
	}
	return out
}

// capped is demand under a limit that it is over in a share of the steps.
func capped(demand []float64, share float64) (usage []float64, limit float64) {
	sorted := slices.Clone(demand)
	slices.Sort(sorted)
	limit = sorted[int(float64(len(sorted))*(1-share))]
	for _, v := range demand {
		usage = append(usage, math.Min(v, limit))
	}
	return usage, limit
}

// TestDemandCutMostOfTheTime: the mean of demand that is cut in up to nine of ten
// steps is told without the bias that a discount of what the regression adds had (9 %
// at 70 % cut, 26 % at 90 %), whatever its shape; and what stays unknown of its level
// is of the size of the errors made.
func TestDemandCutMostOfTheTime(t *testing.T) {
	golden.SkipLong(t)
	const curves = 4
	for _, shape := range []string{"Gaussian", "log-normal", "heavy-tailed"} {
		for _, row := range []struct{ share, bias float64 }{{0.3, 0.015}, {0.5, 0.025}, {0.7, 0.045}, {0.9, 0.09}} {
			bias, unknown := 0.0, 0.0
			for k := range curves {
				demand := demandOf(shape, uint64(k+1))
				usage, limit := capped(demand, row.share)
				got, info, err := Demand(capcli.Series{Values: usage}, Censoring{Limit: []float64{limit}, Seasons: []int{24, 168}, Seed: 1})
				if err != nil {
					t.Fatal(err)
				}
				off := model.Mean(got.Values) - model.Mean(demand)
				bias += off / model.Mean(demand) / curves
				side := info.Uncertainty.Below
				if off < 0 {
					side = info.Uncertainty.Above
				}
				unknown += model.Mean(side) / model.Mean(demand) / curves
			}
			t.Logf("%s cut at %.0f %%: bias %+.1f %%, unknown %.1f %%", shape, 100*row.share, 100*bias, 100*unknown)
			if math.Abs(bias) > row.bias {
				t.Errorf("%s cut at %.0f %%: mean demand is %+.1f %% off, want %.1f or less", shape, 100*row.share, 100*bias, 100*row.bias)
			}
			if math.Abs(bias) > 2*unknown+0.005 {
				t.Errorf("%s cut at %.0f %%: mean demand is %+.1f %% off, and %.1f %% is said to be unknown", shape, 100*row.share, 100*bias, 100*unknown)
			}
		}
	}
}

// TestAlwaysFullPhases: where hours of every day or whole days of every week are full
// all the time, what is told there stays near what was seen (a regression on Fourier
// terms told a mean of 409 for 196), the range holds the truth, and it is said.
func TestAlwaysFullPhases(t *testing.T) {
	golden.SkipLong(t)
	type row struct {
		name        string
		full        func(i int) bool
		high, noise float64
	}
	var rows []row
	for _, noise := range []float64{2, 8, 20} {
		for _, hours := range []int{2, 6, 10} {
			rows = append(rows, row{fmt.Sprintf("%d hours a day, noise %g", hours, noise), func(i int) bool { return i%24 >= 8 && i%24 < 8+hours }, 260, noise})
		}
		for _, days := range []int{3, 5} {
			rows = append(rows, row{fmt.Sprintf("%d days a week, noise %g", days, noise), func(i int) bool { return i/24%7 < days }, 260, noise})
		}
	}
	rows = append(rows, row{"10 hours of 320", func(i int) bool { return i%24 < 10 }, 320, 8})
	for _, r := range rows {
		rng := rand.New(rand.NewPCG(5, 77))
		const n, limit = 28 * 24, 220.0
		demand, usage := make([]float64, n), make([]float64, n)
		for i := range demand {
			demand[i] = 150 + r.noise*rng.NormFloat64()
			if r.full(i) {
				demand[i] += r.high - 150
			}
			usage[i] = math.Min(limit, demand[i])
		}
		got, info, err := Demand(capcli.Series{Values: usage}, Censoring{Limit: []float64{limit}, Seasons: []int{24, 168}, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		told, came, steps := 0.0, 0.0, 0.0
		below, above := math.Inf(1), math.Inf(1)
		for i := range demand {
			if !r.full(i) {
				continue
			}
			steps++
			told += (got.Values[i] - told) / steps
			came += (demand[i] - came) / steps
			ahead := i % info.Uncertainty.Steps()
			below, above = math.Min(below, info.Uncertainty.Below[ahead]), math.Min(above, info.Uncertainty.Above[ahead])
		}
		t.Logf("%s: mean %.1f of %.1f; in full phases %.1f from %.1f to %.1f", r.name, model.Mean(got.Values), model.Mean(demand), told, told-2*below, told+2*above)
		if r.high == 260 && math.Abs(model.Mean(got.Values)/model.Mean(demand)-1) > 0.05 {
			t.Errorf("%s: mean demand told is %.1f, want %.1f within 5 %%", r.name, model.Mean(got.Values), model.Mean(demand))
		}
		if came < told-2*below || came > told+2*above {
			t.Errorf("%s: told %.1f in full phases, from %.1f to %.1f, which does not hold %.1f", r.name, told, told-2*below, told+2*above, came)
		}
		if top := slices.Max(got.Values); top > 2*r.high {
			t.Errorf("%s: up to %.0f is told for demand of %g", r.name, top, r.high)
		}
		if !strings.Contains(strings.Join(info.Notes, "\n"), "phases of the season") {
			t.Errorf("%s: notes %q, want one on full phases", r.name, info.Notes)
		}
	}
}

func TestUnknown(t *testing.T) {
	u := Uncertainty{Below: []float64{3, 0, 1, 1}, Above: []float64{4, 0, 2, 2}}
	fc := model.Forecast{Mean: []float64{10, 10, 10, 10, 10}, Intervals: []model.Interval{{Level: 68.26894921370859, Lo: []float64{6, 6, 6, 6, 6}, Hi: []float64{13, 13, 13, 13, 13}}}}
	u.Widen(fc)
	golden.CheckNear(t, "low ends", fc.Intervals[0].Lo, []float64{5, 6, 10 - math.Sqrt(17), 10 - math.Sqrt(17), 5}, 1e-9)
	golden.CheckNear(t, "high ends", fc.Intervals[0].Hi, []float64{15, 13, 10 + math.Sqrt(13), 10 + math.Sqrt(13), 15}, 1e-9)
	golden.CheckNear(t, "mean of two steps", u.Coarse(2, false).Above, []float64{2, 2}, 1e-12)
	golden.CheckNear(t, "sum of six steps", u.Coarse(6, true).Below, []float64{8}, 1e-12)
	golden.CheckNear(t, "of a sum", u.Plus(Uncertainty{Below: []float64{4}, Above: []float64{3}}).Below, []float64{5, 4, math.Sqrt(17), math.Sqrt(17)}, 1e-12)
	golden.CheckNear(t, "of a sum with nothing", u.Plus(Uncertainty{}).Above, u.Above, 1e-12)
	rng := capcli.Seed(1).Stream("move")
	high := 0
	for range 1000 {
		path := make([]float64, 5)
		u.Move(path, rng)
		if math.Abs(path[0]-path[4]) > 1e-12 || path[1] != 0 || path[0]*path[2] < 0 {
			t.Fatalf("moved by %v, want all of it to one side, by the step of the season", path)
		}
		if path[0] > 4 {
			high++
		}
	}
	if high < 120 || high > 200 {
		t.Errorf("%d of 1000 futures are over one deviation above, want 159", high)
	}
}
