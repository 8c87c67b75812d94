package forecast

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"capcli"
	"capcli/forecast/model"
)

// contest is a set of series with the part that is to be forecast.
type contest struct {
	name        string
	train, test string // files below shared/data/series
	seasons     []int
	period      int     // of the measures
	smape, mase float64 // of naive 2, as the organisers have them; 0 where not known
}

var contests = []contest{
	{"hourly", "m4/Hourly-train", "m4/Hourly-test", []int{24, 168}, 24, 18.383, 2.395},
	{"daily69", "m4/Daily-train-69", "m4/Daily-test-69", nil, 1, 2.319, 3.058},
	{"m3yearly", "m3/yearly-train", "m3/yearly-test", nil, 1, 17.880, 3.172},
	{"m3quarterly", "m3/quarterly-train", "m3/quarterly-test", []int{4}, 4, 10.029, 1.252},
	{"m3monthly", "m3/monthly-train", "m3/monthly-test", []int{12}, 12, 16.764, 1.038},
	{"m3other", "m3/other-train", "m3/other-test", nil, 1, 6.302, 3.089},
	{"gpu-demand", "gpu-demand/bench-train", "gpu-demand/bench-test", []int{24, 168}, 24, 0, 0},
}

// table reads a file of one series a row, named in the first column.
func table(t *testing.T, name string) [][]float64 {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "shared", "data", "series", filepath.FromSlash(name)+".csv.gz"))
	if err != nil {
		t.Skip("no series here: ", err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	r := csv.NewReader(z)
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out [][]float64
	for _, row := range rows[1:] {
		var y []float64
		for _, cell := range row[1:] {
			v, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				continue
			}
			y = append(y, v)
		}
		out = append(out, y)
	}
	return out
}

// tally is what one model made of one series.
type tally struct {
	smape, mase, msis  float64
	inside80, inside95 float64 // shares of the test part within the ranges
	failed             bool
}

// entry runs one model, as it is shipped, on one series; a model that cannot be fitted is replaced by naive 2.
func entry(c contest, name string, train, test []float64) tally {
	scale := scale(train, c.period)
	o := Options{Seasons: c.seasons, Seed: 1}
	var out tally
	run := func(name string) error {
		y := capcli.Series{Name: "y", Step: 3600, Values: train}
		model, err := Shipped(name, y, len(test), o)
		if err != nil {
			return err
		}
		fit, err := model.Fit(y)
		if err != nil {
			return err
		}
		f, err := fit.Forecast(len(test), 80, 95)
		if err != nil {
			return err
		}
		out.smape, out.mase = smape(test, f.Mean), mase(test, f.Mean, scale)
		out.inside80, out.inside95 = coverage(test, f.Intervals[0]), coverage(test, f.Intervals[1])
		out.msis = msis(test, f.Intervals[1], scale)
		return nil
	}
	if err := run(name); err != nil {
		out.failed = true
		if err := run("naive2"); err != nil {
			panic(err)
		}
	}
	return out
}

// field runs a model on every series of a contest, on all cores. It gives the
// processor seconds a series too.
func field(c contest, name string, train, test [][]float64) ([]tally, float64) {
	out := make([]tally, len(train))
	from := cpuSeconds()
	var wg sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				out[i] = entry(c, name, train[i], test[i])
			}
		})
	}
	for i := range train {
		next <- i
	}
	close(next)
	wg.Wait()
	return out, (cpuSeconds() - from) / float64(max(1, len(train)))
}

// summary is the mean of each figure over the series that have it.
func summary(all []tally) (m tally, failed int) {
	var smape, mase, msis, inside80, inside95 []float64
	add := func(to *[]float64, v float64) {
		if model.IsFinite(v) {
			*to = append(*to, v)
		}
	}
	for _, a := range all {
		add(&smape, a.smape)
		add(&mase, a.mase)
		add(&msis, a.msis)
		add(&inside80, a.inside80)
		add(&inside95, a.inside95)
		if a.failed {
			failed++
		}
	}
	return tally{smape: model.Mean(smape), mase: model.Mean(mase), msis: model.Mean(msis), inside80: model.Mean(inside80), inside95: model.Mean(inside95)}, failed
}

// The organisers' own figures of naive 2: the measures and the benchmark are theirs.
func TestNaive2AsPublished(t *testing.T) {
	for _, c := range contests {
		if c.smape == 0 {
			continue
		}
		all, _ := field(c, "naive2", table(t, c.train), table(t, c.test))
		got, failed := summary(all)
		if failed > 0 || math.Abs(got.smape-c.smape) > 0.0006 || math.Abs(got.mase-c.mase) > 0.0006 {
			t.Errorf("%s: naive 2 sMAPE %.3f MASE %.3f (%d failed), want %.3f %.3f", c.name, got.smape, got.mase, failed, c.smape, c.mase)
		}
	}
}

// slow are the models that are tried on only so many series of a set, spread
// evenly, for they would take hours on all: over long seasons, and elsewhere.
var slow = map[string]struct{ long, short int }{
	"arima": {30, 300}, "ces": {60, 300}, "ets": {30, 300}, "ets-damped": {30, 300}, "dhr": {20, 60},
	"mstl-arima": {40, 300}, "prophet": {20, 60}, "stlf": {100, 2000}, "tbats": {6, 30},
}

// thinned are the series of a contest that a model is tried on.
func thinned(c contest, name string, all [][]float64) [][]float64 {
	n := len(all)
	if s, ok := slow[name]; ok && os.Getenv("CAPCLI_ACCURACY") != "all" {
		n = min(n, s.short)
		if c.period >= day {
			n = min(n, s.long)
		}
	}
	return evenly(all, n)
}

// evenly are n series of all, evenly spread, or all where there are no more.
func evenly(all [][]float64, n int) [][]float64 {
	out := make([][]float64, min(n, len(all)))
	for i := range out {
		out[i] = all[i*len(all)/len(out)]
	}
	return out
}

// endsOf are the training parts without their ends, and these ends, as long as the test parts: what may be tuned on.
func endsOf(train, test [][]float64) (before, ends [][]float64) {
	for i, y := range train {
		if at := len(y) - len(test[i]); at >= 2*len(test[i]) {
			before, ends = append(before, y[:at:at]), append(ends, y[at:])
		}
	}
	return before, ends
}

// TestAccuracy prints the table of every model on every set. CAPCLI_ACCURACY=1
// runs it in some minutes; CAPCLI_SETS and CAPCLI_MODELS choose by name, and
// CAPCLI_ACCURACY=all gives slow models every series, which takes hours.
// CAPCLI_EARLY=1 takes the ends of the training parts for test parts.
func TestAccuracy(t *testing.T) {
	if os.Getenv("CAPCLI_ACCURACY") == "" {
		t.Skip("CAPCLI_ACCURACY is not set")
	}
	chosen := func(variable, name string) bool {
		list := os.Getenv(variable)
		return list == "" || strings.Contains(","+list+",", ","+name+",")
	}
	fmt.Println("| set | model | series | failed | sMAPE | MASE | OWA | MSIS | in 80 % | in 95 % | CPU s a series |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|")
	for _, c := range contests {
		if !chosen("CAPCLI_SETS", c.name) {
			continue
		}
		train, test := table(t, c.train), table(t, c.test)
		if os.Getenv("CAPCLI_EARLY") != "" {
			train, test = endsOf(train, test)
		}
		for _, name := range Models.Names() {
			if !chosen("CAPCLI_MODELS", name) {
				continue
			}
			some, parts := thinned(c, name, train), thinned(c, name, test)
			base, _ := field(c, "naive2", some, parts)
			b, _ := summary(base)
			all, cpu := field(c, name, some, parts)
			m, failed := summary(all)
			fmt.Printf("| %s | %s | %d | %d | %.3f | %.3f | %.3f | %.2f | %.3f | %.3f | %.4f |\n", c.name, name, len(all), failed,
				m.smape, m.mase, OWA(m.smape, m.mase, b.smape, b.mase), m.msis, m.inside80, m.inside95, cpu)
		}
	}
}
