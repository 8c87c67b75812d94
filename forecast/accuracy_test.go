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
	"time"

	"capcli"
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
	smape, mase, msis, coverage float64
	failed                      bool
	note                        string
	mean                        []float64
}

// entry runs one model on one series; a model that cannot be fitted is replaced by naive 2.
func entry(c contest, name string, train, test []float64) tally {
	scale := Scale(train, c.period)
	o := Options{Seasons: c.seasons, Seed: 1}
	var out tally
	run := func(name string) error {
		made, err := Models.Get(name)
		if err != nil {
			return err
		}
		fit, err := made(o).Fit(capcli.Series{Name: "y", Step: 3600, Values: train})
		if err != nil {
			return err
		}
		f, err := fit.Forecast(len(test), 95)
		if err != nil {
			return err
		}
		out.note, out.mean = fit.Info().Method, f.Mean
		out.smape, out.mase = SMAPE(test, f.Mean), MASE(test, f.Mean, scale)
		out.msis, out.coverage = MSIS(test, f.Intervals[0], scale), Coverage(test, f.Intervals[0])
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

// field runs a model on every series of a contest, on all cores.
func field(c contest, name string, train, test [][]float64) ([]tally, float64) {
	out, cpu := make([]tally, len(train)), make([]float64, len(train))
	var wg sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				from := time.Now()
				out[i] = entry(c, name, train[i], test[i])
				cpu[i] = time.Since(from).Seconds()
			}
		})
	}
	for i := range train {
		next <- i
	}
	close(next)
	wg.Wait()
	return out, meanOf(cpu)
}

// summary is the mean of each figure over the series that have it.
func summary(all []tally) (m tally, failed int) {
	var smape, mase, msis, coverage []float64
	add := func(to *[]float64, v float64) {
		if known(v) {
			*to = append(*to, v)
		}
	}
	for _, a := range all {
		add(&smape, a.smape)
		add(&mase, a.mase)
		add(&msis, a.msis)
		add(&coverage, a.coverage)
		if a.failed {
			failed++
		}
	}
	return tally{smape: meanOf(smape), mase: meanOf(mase), msis: meanOf(msis), coverage: meanOf(coverage)}, failed
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

// TestAccuracy prints the table of every model on every set. CAPCLI_ACCURACY=1
// runs it all, which takes long; CAPCLI_SETS and CAPCLI_MODELS choose by name.
func TestAccuracy(t *testing.T) {
	if os.Getenv("CAPCLI_ACCURACY") == "" {
		t.Skip("CAPCLI_ACCURACY is not set")
	}
	chosen := func(variable, name string) bool {
		list := os.Getenv(variable)
		return list == "" || strings.Contains(","+list+",", ","+name+",")
	}
	fmt.Println("| set | model | series | failed | sMAPE | MASE | OWA | MSIS | 95 % coverage | s a series |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|")
	for _, c := range contests {
		if !chosen("CAPCLI_SETS", c.name) {
			continue
		}
		train, test := table(t, c.train), table(t, c.test)
		base, _ := field(c, "naive2", train, test)
		b, _ := summary(base)
		for _, name := range Models.Names() {
			if !chosen("CAPCLI_MODELS", name) {
				continue
			}
			all, cpu := field(c, name, train, test)
			m, failed := summary(all)
			fmt.Printf("| %s | %s | %d | %d | %.3f | %.3f | %.3f | %.2f | %.3f | %.4f |\n", c.name, name, len(all), failed,
				m.smape, m.mase, OWA(m.smape, m.mase, b.smape, b.mase), m.msis, m.coverage, cpu)
		}
	}
}
