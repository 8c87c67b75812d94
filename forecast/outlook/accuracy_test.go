package outlook_test

import (
	"compress/gzip"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"capcli"
	"capcli/forecast/model"
	"capcli/forecast/outlook"
)

// seriesTable reads a file of one series a row, named in the first column.
func seriesTable(t *testing.T, name string) [][]float64 {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", "series", filepath.FromSlash(name)+".csv.gz"))
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
			if v, err := strconv.ParseFloat(cell, 64); err == nil {
				y = append(y, v)
			}
		}
		out = append(out, y)
	}
	return out
}

// TestAccuracyOfSuffices prints for which share of series the highest step lay within what suffices
// with 50, 80 and 95 %: of sets, each forecast in one call, and of drawn pools, each forecast alone
// and continued many times. CAPCLI_ACCURACY=1 runs it.
func TestAccuracyOfSuffices(t *testing.T) {
	if os.Getenv("CAPCLI_ACCURACY") == "" {
		t.Skip("CAPCLI_ACCURACY is not set")
	}
	for _, c := range []struct {
		name, train, test string
		seasons           []int
		every             int // one series in so many
	}{
		{"GPU demand", "gpu-demand/bench-train", "gpu-demand/bench-test", []int{24, 168}, 1},
		{"M3 monthly", "m3/monthly-train", "m3/monthly-test", []int{12}, 4},
		{"M3 quarterly", "m3/quarterly-train", "m3/quarterly-test", []int{4}, 2},
		{"M4 hourly", "m4/Hourly-train", "m4/Hourly-test", []int{24, 168}, 6},
	} {
		var train [][]float64
		var came [][][]float64
		all := seriesTable(t, c.test)
		for i, y := range seriesTable(t, c.train) {
			if i%c.every == 0 {
				train, came = append(train, y), append(came, [][]float64{all[i]})
			}
		}
		held := sufficed(t, train, came, c.seasons)
		t.Logf("%s: %d series, %.3f %.3f %.3f", c.name, len(train), held[0], held[1], held[2])
	}
	var all [3]float64
	for _, name := range poolKinds {
		var sum [3]float64
		for k := range 10 {
			past, came := drawPool(name, k, 24*28, 48, 50)
			for l, held := range sufficed(t, [][]float64{past}, [][][]float64{came}, []int{24, 168}) {
				sum[l], all[l] = sum[l]+held/10, all[l]+held/float64(10*len(poolKinds))
			}
		}
		t.Logf("drawn %s: 10 pools, %.3f %.3f %.3f", name, sum[0], sum[1], sum[2])
	}
	t.Logf("drawn, all: %d pools, %.3f %.3f %.3f", 10*len(poolKinds), all[0], all[1], all[2])
}

// sufficed returns the share of what came, of which each series may have several, whose highest step
// lay within what suffices with 50, 80 and 95 %.
func sufficed(t *testing.T, train [][]float64, came [][][]float64, seasons []int) (held [3]float64) {
	t.Helper()
	r := outlook.Request{Model: outlook.DefaultModel, Horizon: strconv.Itoa(len(came[0][0])), Seasons: seasons, Seed: 1, Changes: outlook.NoChanges}
	got, err := outlook.Forecast(t.Context(), historiesOf(train...), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := 0.0
	for _, s := range got.Series {
		i, err := strconv.Atoi(s.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range came[i] {
			n++
			for l, v := range []capcli.Figure{s.Suffices.Median, s.Suffices.P80, s.Suffices.P95} {
				if slices.Max(path) <= float64(v) {
					held[l]++
				}
			}
		}
	}
	for l := range held {
		held[l] /= n
	}
	return held
}

// poolKinds are the laws of drawPool.
var poolKinds = []string{"white", "AR 0.9", "walk", "day", "AR 0.8 and day", "jobs"}

// drawPool returns n hours of a pool's demand and several continuations of h hours each, drawn from
// the law. Jobs come at random, 2 an hour, take 1 to 8 GPUs each and stay for 12 hours on average.
func drawPool(kind string, k, n, h, many int) (past []float64, came [][]float64) {
	for c := range many {
		var y []float64
		var jobs [][2]float64 // GPUs and end of each job that runs
		off, rng := 0.0, model.Noise(capcli.Seed(31).Child(k).Stream("pool/"+kind))
		for i := range n + h {
			if i == n {
				rng = capcli.Seed(32).Child(k).Child(c).Stream("pool/" + kind)
			}
			phi := map[string]float64{"AR 0.9": 0.9, "walk": 1, "AR 0.8 and day": 0.8}[kind]
			off = phi*off + rng.NormFloat64()
			v := 100 + off
			if kind == "day" || kind == "AR 0.8 and day" {
				v += 3 * math.Sin(2*math.Pi*float64(i)/24)
			}
			if kind == "jobs" {
				jobs = slices.DeleteFunc(jobs, func(j [2]float64) bool { return j[1] < float64(i) })
				for at := rng.ExpFloat64() / 2; at < 1; at += rng.ExpFloat64() / 2 {
					jobs = append(jobs, [2]float64{math.Floor(1 + 8*rng.Float64()), float64(i) + at + 12*rng.ExpFloat64()})
				}
				v = 0
				for _, j := range jobs {
					v += j[0]
				}
			}
			y = append(y, v)
		}
		past, came = y[:n:n], append(came, y[n:])
	}
	return past, came
}
