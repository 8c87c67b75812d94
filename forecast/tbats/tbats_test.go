package tbats

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"capcli"
	"capcli/forecast/model"
	"capcli/testdata/golden"
)

func TestTBATSNoWorseThanR(t *testing.T) {
	for _, name := range []string{"ldeaths", "nottem", "wineind"} {
		t.Run(name, func(t *testing.T) {
			var g struct {
				Method          string
				AIC, Likelihood float64
			}
			golden.Read(t, name+"-tbats", &g)
			began := time.Now()
			f, err := TBATS{Seasons: []int{12}}.Fit(capcli.Series{Values: golden.Series(t, name)})
			if err != nil {
				t.Fatal(err)
			}
			got := f.Info()
			t.Logf("%s: AIC %.3f in %v; R: %s %.3f", got.Method, got.AIC, time.Since(began), g.Method, g.AIC)
			if got.AIC > g.AIC+1e-2 {
				t.Errorf("AIC %.3f, want %.3f or less", got.AIC, g.AIC)
			}
		})
	}
}

func TestTBATSForecasts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	y := make([]float64, 24*20+48)
	for i := range y {
		y[i] = 100 + 30*math.Sin(2*math.Pi*float64(i)/24) + 10*math.Cos(4*math.Pi*float64(i)/24) + 2*rng.NormFloat64()
	}
	f, err := TBATS{Seasons: []int{24}}.Fit(capcli.Series{Values: y[:480]})
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Forecast(48, 95)
	if err != nil {
		t.Fatal(err)
	}
	miss, in := 0.0, 0
	for i, v := range got.Mean {
		miss += math.Abs(v-y[480+i]) / 48
		if y[480+i] >= got.Intervals[0].Lo[i] && y[480+i] <= got.Intervals[0].Hi[i] {
			in++
		}
	}
	if miss > 2.2 || in < 42 {
		t.Errorf("mean miss %.2f, want near 1.6; %d of 48 within 95 %%", miss, in)
	}
	sum := 0.0
	for range 500 {
		sum += f.Path(48, rng)[47] / 500
	}
	if math.Abs(sum-got.Mean[47]) > 1 {
		t.Errorf("paths end at %v, want %v", sum, got.Mean[47])
	}
}

func TestTBATSTakesAnything(t *testing.T) {
	for name, y := range map[string][]float64{
		"short":    {1, 5, 2, 4, 3, 3, 2, 6},
		"spike":    append(make([]float64, 30), 1e9, 0, 0, 0, 0, 0),
		"huge":     {1e300, 2e300, 1e300, 3e300, 2e300, 1e300, 2e300, 1e300, 3e300, 2e300},
		"tiny":     {1e-300, 2e-300, 1e-300, 3e-300, 2e-300, 1e-300, 2e-300, 1e-300, 3e-300},
		"straight": {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
		"repeats":  slices.Repeat([]float64{1, 5, 2}, 10),
		"count":    {0, 0, 1, 0, 0, 3, 0, 0, 0, 1, 0, 2, 0, 0, 0},
	} {
		f, err := TBATS{Seasons: []int{3, 7}}.Fit(capcli.Series{Values: y})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := f.Forecast(60, 80, 95)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, v := range got.Mean {
			if lo, hi := got.Intervals[1].Lo[i], got.Intervals[1].Hi[i]; !model.IsFinite(v) || !model.IsFinite(lo) || !model.IsFinite(hi) || lo > hi {
				t.Errorf("%s: step %d is %v (%v to %v)", name, i, v, lo, hi)
				break
			}
		}
	}
	for name, row := range map[string]struct {
		y    []float64
		want error
	}{"few": {[]float64{1, 2, 3}, model.ErrTooShort}, "gap": {[]float64{1, 2, math.NaN(), 1, 3, 2, 1, 2, 3}, model.ErrMissing}, "constant": {slices.Repeat([]float64{4}, 20), model.ErrUnfit}} {
		if _, err := (TBATS{}).Fit(capcli.Series{Values: row.y}); !errors.Is(err, row.want) {
			t.Errorf("%s: %v, want %v", name, err, row.want)
		}
	}
}

// TestTBATSGradient compares the adjoint with differences.
func TestTBATSGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 5))
	y := make([]float64, 80)
	for i := range y {
		y[i] = (2 + math.Sin(2*math.Pi*float64(i)/12) + 0.01*float64(i) + 0.3*rng.NormFloat64()) / 5
	}
	for _, form := range []tbatsForm{
		{},
		{trend: true, ar: 1},
		{trend: true, damp: true, boxCox: true, ma: 2},
		{seasons: []int{12}, harmonics: []int{2}, boxCox: true, ar: 2, ma: 1},
		{seasons: []int{5, 12}, harmonics: []int{1, 3}, trend: true, damp: true, boxCox: true, ar: 1, ma: 1},
	} {
		f := newTBATS(form, y)
		x, got := make([]float64, form.parameterCount()), make([]float64, form.parameterCount())
		p := tbatsFirst(0.2)
		p.ar, p.ma = []float64{0.3, 0.1}, []float64{0.2, -0.1}
		form.encode(p, x)
		f.Value(x)
		f.Gradient(x, got)
		for i, keep := range x {
			const h = 1e-5
			x[i] = keep + h
			up := f.Value(x)
			x[i] = keep - h
			want := (up - f.Value(x)) / (2 * h)
			x[i] = keep
			if math.Abs(got[i]-want) > 1e-4*(1+math.Abs(want)) {
				t.Errorf("%v coordinate %d: gradient %.8g, want %.8g by differences", form, i, got[i], want)
			}
		}
	}
}

// Of a long series the last values alone are used, and that is said.
func TestTBATSOfALongSeries(t *testing.T) {
	golden.SkipLong(t)
	y := make([]float64, tbatsLong+500)
	for i := range y {
		y[i] = 50 + 10*math.Sin(float64(i)*math.Pi/6) + float64(i*7919%13)/13
		if i < 500 {
			y[i] += 1000
		}
	}
	last, err := TBATS{}.Fit(capcli.Series{Values: y[500:]})
	if err != nil {
		t.Fatal(err)
	}
	all, err := TBATS{}.Fit(capcli.Series{Values: y})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := all.Forecast(12, 80)
	b, _ := last.Forecast(12, 80)
	if !slices.Equal(a.Mean, b.Mean) || !slices.Equal(a.Intervals[0].Hi, b.Intervals[0].Hi) {
		t.Errorf("got %v, want %v", a.Mean, b.Mean)
	}
	info := all.Info()
	if len(info.Fitted) != len(y) || !math.IsNaN(info.Fitted[499]) || !model.IsFinite(info.Fitted[600]) {
		t.Errorf("%d fitted values, want %d, the first 500 missing", len(info.Fitted), len(y))
	}
	if note := info.Notes[len(info.Notes)-1]; note != "TBATS: the last 4000 of 4500 values are used" {
		t.Errorf("note %q", note)
	}
}

func TestTBATSOfTextbookSeriesNoWorseThanR(t *testing.T) {
	if golden.Short() {
		t.Skip("takes seconds")
	}
	names, facts := golden.ReadFacts(t)
	for _, name := range names {
		s := facts.Series[name]
		if s.TBATS == nil {
			continue
		}
		if len(s.Seasons) > 1 {
			if os.Getenv("CAPCLI_ACCURACY") == "" {
				continue // takes long
			}
			s.Y = s.Y[:1008] // three weeks of half-hours, as R had them
		}
		in := s.FitModel(t, name, TBATS{Seasons: s.Periods()}).Info()
		t.Logf("%s: %s AIC %.3f, R's %s %.3f", name, in.Method, in.AIC, s.TBATS.Method, s.TBATS.AIC)
		if in.AIC > s.TBATS.AIC+1e-2 {
			t.Errorf("%s: %s has AIC %.3f, R's %s %.3f", name, in.Method, in.AIC, s.TBATS.Method, s.TBATS.AIC)
		}
	}
}
