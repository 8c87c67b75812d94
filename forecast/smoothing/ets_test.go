package smoothing

import (
	"compress/gzip"
	"encoding/csv"
	"errors"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"capcli"
	"capcli/forecast/model"
	"capcli/testdata/golden"
)

// etsGold is one fit by R's forecast package, full precision.
type etsGold struct {
	Method                              string
	CPU                                 float64 `json:"cpu_s"`
	Par                                 map[string]float64
	Init                                map[string]float64 `json:"initstate"`
	LogLik, AIC, AICc, BIC, MSE, Sigma2 float64
	Fitted                              []float64
	Forecast                            etsGoldAhead
}

type etsGoldAhead struct {
	Mean, Lower80, Upper80, Lower95, Upper95 []float64
}

var etsClassics = []string{"AirPassengers", "JohnsonJohnson", "LakeHuron", "UKgas", "WWWusage", "ldeaths", "nottem", "wineind"}

// etsClassic is a classic series and its season.
func etsClassic(t testing.TB, name string) (capcli.Series, int) {
	t.Helper()
	return capcli.Series{Name: name, Start: capcli.NoTime, Step: 1, Values: golden.Series(t, name)}, golden.Frequency[name]
}

// etsGoldForm reads "ETS(M,Ad,M)".
func etsGoldForm(t testing.TB, method string) etsForm {
	t.Helper()
	f, err := parseETSForm(strings.TrimSuffix(strings.TrimPrefix(method, "ETS("), ")"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestETSLikelihoodVsR fits every form of every golden file: no likelihood may
// be below R's by more than 0.01, and the automatic choice must have at least
// as good an AICc.
func TestETSLikelihoodVsR(t *testing.T) {
	better, all := 0, 0
	for _, name := range etsClassics {
		var gold map[string]etsGold
		golden.Read(t, name+"-ets", &gold)
		y, m := etsClassic(t, name)
		for key, g := range gold {
			model := ETS{Form: strings.NewReplacer("ETS(", "", ")", "").Replace(g.Method), Period: m}
			if key == "auto" {
				model.Form = ""
			}
			fit, err := model.Fit(y)
			if err != nil {
				t.Errorf("%s %s: %v", name, key, err)
				continue
			}
			in := fit.Info()
			all++
			if key == "auto" {
				if in.AICc > g.AICc+0.01 {
					t.Errorf("%s: chose %s with AICc %.4f, want at most %.4f as %s has", name, in.Method, in.AICc, g.AICc, g.Method)
				}
				t.Logf("%s: %s AICc %.3f, R %s %.3f", name, in.Method, in.AICc, g.Method, g.AICc)
				continue
			}
			if in.LogLik > g.LogLik+0.01 {
				better++
			}
			if in.LogLik < g.LogLik-0.01 {
				t.Errorf("%s %s: log-likelihood %.4f, want at least %.4f", name, in.Method, in.LogLik, g.LogLik)
			}
			t.Logf("%s %s: %.4f R %.4f  %+.4f", name, in.Method, in.LogLik, g.LogLik, in.LogLik-g.LogLik)
		}
	}
	t.Logf("%d of %d fits have a log-likelihood above R's by more than 0.01", better, all)
}

// etsHourly are the hourly series of the M4 competition, for measurements.
func etsHourly(tb testing.TB) [][]float64 {
	tb.Helper()
	file, err := os.Open(filepath.Join("..", "..", "shared", "data", "series", "m4", "Hourly-train.csv.gz"))
	if errors.Is(err, fs.ErrNotExist) {
		tb.Skipf("the M4 series are not here: %v", err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		tb.Fatal(err)
	}
	rows, err := csv.NewReader(z).ReadAll()
	if err != nil {
		tb.Fatal(err)
	}
	var all [][]float64
	for _, row := range rows[1:] {
		var y []float64
		for _, cell := range row[1:] {
			v, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				break
			}
			y = append(y, v)
		}
		all = append(all, y)
	}
	return all
}

// BenchmarkHourly fits each model to every tenth hourly series of M4, season
// 24; the time is that of one series. R's ets took 3.2 s a series.
func BenchmarkHourly(b *testing.B) {
	all := etsHourly(b)
	for name, model := range map[string]model.Model{
		"ets": ETS{Period: 24}, "ets-damped": ETS{Period: 24, DampedOnly: true}, "ces": CES{Period: 24}, "hw": HoltWinters{Period: 24},
		"ses": ETS{Form: "ANN"}, "holt": ETS{Form: "AAN"}, "damped": ETS{Form: "AAdN"},
	} {
		b.Run(name, func(b *testing.B) {
			i := 0
			for b.Loop() {
				if _, err := model.Fit(capcli.Series{Values: all[i*10%len(all)]}); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

// Likelihoods must be no worse than R's by 0.01, and where they are the same,
// so must be the forecasts. Damped trends with additive season and errors, and
// additive errors with multiplicative season, are simulated by R.
func TestSmoothingOfTextbookSeriesNoWorseThanR(t *testing.T) {
	names, facts := golden.ReadFacts(t)
	better, same, all := 0, 0, 0
	for _, name := range names {
		s := facts.Series[name]
		fits := map[string]golden.RSmooth{}
		maps.Copy(fits, s.Forms)
		for what, r := range map[string]*golden.RSmooth{"ets": s.ETS, "ses": s.SES, "holt": s.Holt, "damped": s.Damped} {
			if r != nil {
				fits[what] = *r
			}
		}
		models := map[string]model.Model{"ets": ETS{Period: s.M}, "ses": ETS{Form: "ANN"}, "holt": ETS{Form: "AAN"}, "damped": ETS{Form: "AAdN"}}
		for _, what := range slices.Sorted(maps.Keys(fits)) {
			r, model := fits[what], models[what]
			if r.Method == "" {
				continue
			}
			if model == nil {
				model = ETS{Form: what, Period: s.M}
			}
			fit := s.FitModel(t, name+" "+what, model)
			in := fit.Info()
			all++
			if in.AICc > r.AICc+1e-2 || what != "ets" && in.LogLik < r.LogLik-1e-2 {
				t.Errorf("%s %s: %s has log-likelihood %.4f and AICc %.4f, R's %s %.4f and %.4f", name, what, in.Method, in.LogLik, in.AICc, r.Method, r.LogLik, r.AICc)
			}
			switch {
			case in.AICc < r.AICc-1e-2:
				better++
			case math.Abs(in.LogLik-r.LogLik) < 1e-3 && r.H > 0:
				same++
				share, ends := 1e-3, 5e-3
				if strings.HasPrefix(in.Method, "ETS(A") && strings.HasSuffix(in.Method, "M)") {
					ends = 0.06 // of both simulations, by chance
				}
				s.CheckForecast(t, name+" "+what, fit, r.RAhead, share, ends)
			}
		}
	}
	t.Logf("%d fits: %d better than R's, %d others with their forecasts compared", all, better, same)
}
