package smoothing

import (
	"math"
	"testing"

	"capcli"
	"capcli/forecast/model"
	"capcli/testdata/golden"
)

// TestCESIsComplexSmoothing runs the recursion of the paper in complex numbers:
// f' + i g' = (a0 + i a1)(y + i e) + (1 - a0 + i - i a1)(f + i g), e = y - f.
func TestCESIsComplexSmoothing(t *testing.T) {
	y, _ := etsClassic(t, "LakeHuron")
	fit, err := CES{Period: 1}.Fit(y)
	if err != nil {
		t.Fatal(err)
	}
	c := fit.(*cesFit)
	a := complex(c.w.a0, c.w.a1)
	in := c.Info()
	// The first states are not in Info: two fitted values give them.
	level := in.Fitted[0]
	e := y.Values[0] - level
	second := (level + (c.w.a0-c.w.a1)*e - in.Fitted[1]) / (1 - c.w.a1)
	state, sse := complex(level, second), 0.0
	want := make([]float64, len(y.Values))
	for i, v := range y.Values {
		want[i] = real(state)
		e := v - want[i]
		sse += e * e
		state = a*complex(v, e) + (complex(1, 1)-a)*state
	}
	golden.CheckWithin(t, "fitted", in.Fitted, want, 1e-6)
	n := float64(len(y.Values))
	if got, want := in.LogLik, -n/2*(math.Log(2*math.Pi*sse/n)+1); math.Abs(got-want) > 1e-3 {
		t.Errorf("log-likelihood %.6f, want %.6f", got, want)
	}
	f, err := fit.Forecast(5)
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range f.Mean { // beyond the end the errors are zero, the second component is not
		if math.Abs(got-real(state)) > 1e-6*math.Abs(got) {
			t.Errorf("%d ahead: %.8f, want %.8f", i+1, got, real(state))
		}
		state = complex(real(state)-(1-c.w.a1)*imag(state), real(state)+(1-c.w.a0)*imag(state))
	}
}

// TestCESDeviations compares the standard deviations of the forecasts with
// those of simulated futures.
func TestCESDeviations(t *testing.T) {
	y, m := etsClassic(t, "nottem")
	for _, kind := range cesKinds {
		fit, err := CES{Period: m, Season: kind}.Fit(y)
		if err != nil {
			t.Fatal(err)
		}
		const h, paths = 15, 20000
		f, err := fit.Forecast(h, 95)
		if err != nil {
			t.Fatal(err)
		}
		c := fit.(*cesFit)
		c.guard = etsGuard{low: -1e6, high: 1e6}
		rng := capcli.Seed(1).Stream("test")
		var squares [h]float64
		for range paths {
			for i, v := range c.Path(h, rng) {
				squares[i] += (v - f.Mean[i]) * (v - f.Mean[i]) / paths
			}
		}
		for i, s := range squares {
			want := (f.Intervals[0].Hi[i] - f.Mean[i]) / model.ZScore(95)
			if got := math.Sqrt(s); math.Abs(got/want-1) > 0.03 {
				t.Errorf("%s, %d ahead: deviation %.4f in %d paths, %.4f by formula", kind, i+1, got, paths, want)
			}
		}
	}
}

// TestCESFindsTheSeason: on strongly seasonal series a seasonal kind is chosen,
// and its forecast of the last year from those before is better by a fifth, on
// average, than that year's predecessor, and nowhere much worse.
func TestCESFindsTheSeason(t *testing.T) {
	names, ratios := []string{"AirPassengers", "nottem", "ldeaths", "UKgas", "wineind", "JohnsonJohnson"}, 0.0
	for _, name := range names {
		y, m := etsClassic(t, name)
		past, future := y, y.Values[len(y.Values)-m:]
		past.Values = y.Values[:len(y.Values)-m]
		fit, err := CES{Period: m}.Fit(past)
		if err != nil {
			t.Fatal(err)
		}
		f, err := fit.Forecast(m)
		if err != nil {
			t.Fatal(err)
		}
		var off, naive float64
		for i, v := range future {
			off += math.Abs(v - f.Mean[i])
			naive += math.Abs(v - past.Values[len(past.Values)-m+i])
		}
		if fit.(*cesFit).kind == cesNone || off > 1.3*naive {
			t.Errorf("%s: %s is off by %.4g, seasonal naive by %.4g", name, fit.Info().Method, off, naive)
		}
		ratios += off / naive / float64(len(names))
	}
	if ratios > 0.8 {
		t.Errorf("off by %.3f of seasonal naive on average, want at most 0.8", ratios)
	}
}

// TestCESEdges: an unknown season is refused, a constant series stays.
func TestCESEdges(t *testing.T) {
	if _, err := (CES{Period: 12, Season: "weekly"}).Fit(capcli.Series{Values: etsOdd()["noise"]}); err == nil {
		t.Error("season \"weekly\" was accepted")
	}
	fit, err := CES{}.Fit(capcli.Series{Values: etsOdd()["constant"]})
	if err != nil {
		t.Fatal(err)
	}
	f, err := fit.Forecast(3, 95)
	if err != nil {
		t.Fatal(err)
	}
	if f.Mean[2] != 7 || f.Intervals[0].Hi[2] != 7 {
		t.Errorf("constant 7: forecast %g up to %g", f.Mean[2], f.Intervals[0].Hi[2])
	}
}

// TestCESGradient holds the adjoint of the recursion against differences, for each
// kind of season and with a value missing.
func TestCESGradient(t *testing.T) {
	y, m := etsClassic(t, "nottem")
	y.Values[17] = math.NaN()
	for kind := cesNone; kind <= cesFull; kind++ {
		task := newCESTask(newETSSearch(y.Values, m), kind)
		k := kind.weights() + kind.levels()
		x, got := make([]float64, k), make([]float64, k)
		task.encode(cesWeights{1.2, 0.98, 0.4, 0.97}, x)
		task.Value(x)
		task.Gradient(x, got)
		for i, keep := range x {
			const h = 1e-5
			x[i] = keep + h
			up := task.Value(x)
			x[i] = keep - h
			want := (up - task.Value(x)) / (2 * h)
			x[i] = keep
			if math.Abs(got[i]-want) > 1e-4*(1+math.Abs(want)) {
				t.Errorf("%s: derivative %d is %.8g, by differences %.8g", kind, i, got[i], want)
			}
		}
	}
}

// cesSlow is complex exponential smoothing in complex numbers (Svetunkov et al.
// 2022): f' + i g' = a (y + i e) + (1 + i - a) (f + i g) with y = f + e.
func cesSlow(z, a complex128, e float64) complex128 {
	f := real(z)
	return a*complex(f+e, e) + (complex(1, 1)-a)*z
}

func TestCESOfEachSeasonAsItsPaper(t *testing.T) {
	_, facts := golden.ReadFacts(t)
	s := facts.Series["USAccDeaths"]
	w := cesWeights{a0: 1.2, a1: 0.98, b0: 0.9, b1: 1.01}
	for kind := cesNone; kind <= cesFull; kind++ {
		task := newCESTask(newETSSearch(s.Y, s.M), kind)
		task.w, task.state = w, task.start.clone()
		task.state.c = task.state.l / 2
		z := complex(task.state.l, task.state.c)
		seasons := make([]complex128, task.m)
		for i := range task.state.d0 {
			seasons[i] = complex(task.state.d0[i], task.state.d1[i])
		}
		want := make([]float64, len(task.y))
		for i, y := range task.y {
			season := &seasons[i%task.m]
			if kind != cesSimple {
				want[i] = real(z)
			}
			if kind != cesNone {
				want[i] += real(*season)
			}
			e := y - want[i]
			switch kind {
			case cesNone:
			case cesSimple:
				*season = cesSlow(*season, complex(w.a0, w.a1), e)
			case cesPartial:
				*season += complex(w.b0*e, 0)
			case cesFull:
				*season = cesSlow(*season, complex(w.b0, w.b1), e)
			}
			z = cesSlow(z, complex(w.a0, w.a1), e)
		}
		task.pass()
		golden.CheckWithin(t, kind.String(), task.forecasts(), want, 1e-9)
	}
}
