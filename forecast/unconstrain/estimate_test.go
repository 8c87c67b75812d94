package unconstrain

import (
	"archive/tar"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"capcli"
	"capcli/forecast/model"
	"capcli/testdata/golden"
)

type synthetic struct {
	Cap    float64
	Train  []float64 `json:"y_train"`
	Test   []float64 `json:"latent_test"`
	Tobit  struct{ Coef, Sigma any }
	Latent struct{ Bias, MAE float64 } `json:"ols_on_latent"`
}

// TestCutDemandIsForecastWithoutBias fits the regression to a known demand cut
// at a cap and forecasts a week that it has not seen.
func TestCutDemandIsForecastWithoutBias(t *testing.T) {
	var g map[string]synthetic
	golden.Read(t, "censored-synthetic", &g)
	for _, name := range []string{"q0.99", "q0.9", "q0.75", "q0.5"} {
		s := g[name]
		u, info, err := Demand(capcli.Series{Values: s.Train}, Censoring{Limit: []float64{s.Cap}, Seasons: []int{24, 168}})
		if err != nil {
			t.Fatal(err)
		}
		// the forecast: least squares on the unconstrained series, as with full data
		at := make([]int, len(s.Train)+len(s.Test))
		for i := range at {
			at[i] = i
		}
		x := waves(at, 6, true, []int{24, 168}, []int{1, 1})
		_, p := x.Dims()
		var qr mat.QR
		qr.Factorize(x.Slice(0, len(s.Train), 0, p))
		coef := mat.NewVecDense(p, nil)
		if err := qr.SolveVecTo(coef, false, mat.NewVecDense(len(u.Values), u.Values)); err != nil {
			t.Fatal(err)
		}
		bias, mae := 0.0, 0.0
		for i, want := range s.Test {
			d := model.Dot(x.RawRowView(len(s.Train)+i), coef.RawVector().Data) - want
			bias += d / float64(len(s.Test))
			mae += math.Abs(d) / float64(len(s.Test))
		}
		t.Logf("%s: share cut %.2f, bias %.2f, MAE %.2f (all of demand known: %.2f, %.2f), AR %.2f, sigma %.2f", name, info.Share, bias, mae, s.Latent.Bias, s.Latent.MAE, info.AR, info.Sigma)
		if math.Abs(bias-s.Latent.Bias) > 2 {
			t.Errorf("%s: bias %.2f GPUs, want within 2 of %.2f, that of the full demand", name, bias, s.Latent.Bias)
		}
		if mae > 1.03*s.Latent.MAE {
			t.Errorf("%s: MAE %.2f, want near %.2f, that of the full demand", name, mae, s.Latent.MAE)
		}
	}
}

// earth reads the hourly means of a cluster's virtual clusters, after day one.
func earth(t *testing.T) (names []string, used, queued, room map[string][]float64) {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "shared", "data", "helios", "Earth_vcs.tar.gz"))
	if err != nil {
		t.Skip("no queue data here: ", err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	used, queued, room = map[string][]float64{}, map[string][]float64{}, map[string][]float64{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return names, used, queued, room
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg || !strings.HasSuffix(h.Name, "/cluster_sequence_vc.csv") {
			continue
		}
		rows, err := csv.NewReader(r).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		column := map[string]int{}
		for i, name := range rows[0] {
			column[name] = i
		}
		hourly := func(name string) []float64 {
			out := make([]float64, 0, 720)
			for i := 1 + 1440; i+60 <= len(rows); i += 60 {
				sum := 0.0
				for _, row := range rows[i : i+60] {
					v, err := strconv.ParseFloat(row[column[name]], 64)
					if err != nil {
						t.Fatal(err)
					}
					sum += v
				}
				out = append(out, sum/60)
			}
			return out
		}
		name := filepath.Base(filepath.Dir(h.Name))
		names = append(names, name)
		used[name], queued[name] = hourly("running_gpu_num"), hourly("pending_gpu_num")
		room[name] = hourly("idle_gpu_num")
	}
}

// TestEarth takes the demand of 16 real virtual clusters as usage and queue, and
// asks for its total of less and less.
func TestEarth(t *testing.T) {
	if golden.Short() {
		t.Skip("reads 700,000 rows")
	}
	names, used, queued, room := earth(t)
	var truth, usage, queue, limit float64
	for _, name := range names {
		y := capcli.Series{Values: used[name]}
		cap := used[name][0] + room[name][0]
		of := func(c Censoring) float64 {
			c.Seasons = []int{24}
			latent, _, err := Demand(y, c)
			if err != nil {
				t.Fatal(name, err)
			}
			return model.Mean(model.Observed(latent.Values))
		}
		a, c := of(Censoring{Pending: queued[name]}), of(Censoring{Limit: []float64{cap}})
		d := model.Mean(used[name]) + model.Mean(queued[name])
		t.Logf("%s: cap %.0f, used %.2f, demand %.2f; by queue %.2f, by limit %.2f", name, cap, model.Mean(used[name]), d, a, c)
		truth += d
		usage += model.Mean(used[name])
		queue, limit = queue+a, limit+c
	}
	t.Logf("total: used %+.1f %%, by queue %+.1f %%, by limit %+.1f %%", 100*(usage/truth-1), 100*(queue/truth-1), 100*(limit/truth-1))
	for _, row := range []struct {
		what string
		got  float64
	}{{"queue", queue}, {"limit", limit}} {
		if math.Abs(row.got/truth-1) > 0.05 {
			t.Errorf("by %s: demand %.1f GPUs, want %.1f within 5 %%", row.what, row.got, truth)
		}
	}
}
