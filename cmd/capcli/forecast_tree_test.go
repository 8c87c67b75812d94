package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"capcli/testdata/golden"
)

// teamsCSV writes hourly series of teams and models whose shocks go together by
// r within a team.
func teamsCSV(t *testing.T, hours int, r float64, sep string) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(4, 2))
	var b strings.Builder
	b.WriteString("unique_id,ds,y\n")
	at := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	for _, team := range []string{"ml", "web"} {
		level := []float64{0, 0}
		for i := range hours {
			all := rng.NormFloat64()
			for k, model := range []string{"h100", "a100"} {
				shock := math.Sqrt(r)*all + math.Sqrt(1-r)*rng.NormFloat64()
				level[k] = 0.9*level[k] + shock
				y := 30 + 10*float64(k) + 6*math.Sin(2*math.Pi*float64(i)/24) + level[k]
				fmt.Fprintf(&b, "%s%s%s,%s,%.2f\n", team, sep, model, at.Add(time.Duration(i)*time.Hour).Format(time.RFC3339), y)
			}
		}
	}
	name := filepath.Join(t.TempDir(), "teams.csv")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// addsUp checks that at each ds (and path) the printed figures of the parts add
// up to that of the sum, to the last digit.
func addsUp(t *testing.T, rows []map[string]string, column, sum string, parts ...string) {
	t.Helper()
	got := map[string]*big.Rat{}
	want := map[string]*big.Rat{}
	for _, row := range rows {
		v, ok := new(big.Rat).SetString(row[column])
		if !ok {
			t.Fatalf("%q is no number", row[column])
		}
		key := row["path"] + " " + row["ds"]
		switch {
		case row["unique_id"] == sum:
			got[key] = v
		case slices.Contains(parts, row["unique_id"]):
			if want[key] == nil {
				want[key] = new(big.Rat)
			}
			want[key].Add(want[key], v)
		}
	}
	if len(got) == 0 || len(got) != len(want) {
		t.Fatalf("%s: %d steps of the sum, %d of its parts", sum, len(got), len(want))
	}
	for key, v := range got {
		if v.Cmp(want[key]) != 0 {
			t.Fatalf("%s at %s: %s, its parts add up to %s", sum, key, v.FloatString(12), want[key].FloatString(12))
		}
	}
}

// TestForecastAddsUp: in means and in every future, by every way, teams, models
// and the whole agree to the printed digit.
func TestForecastAddsUp(t *testing.T) {
	file := teamsCSV(t, 24*9, 0.5, "/")
	sums := map[string][]string{
		"total": {"ml/h100", "ml/a100", "web/h100", "web/a100"},
		"ml":    {"ml/h100", "ml/a100"}, "web": {"web/h100", "web/a100"},
		"h100": {"ml/h100", "web/h100"}, "a100": {"ml/a100", "web/a100"},
	}
	for _, way := range []string{"", "mint", "wls", "ols", "bottom-up"} {
		t.Run("way "+way, func(t *testing.T) {
			futures := filepath.Join(t.TempDir(), "futures.csv")
			args := []string{"forecast", file, "--id-sep", "/", "--model", "theta", "--horizon", "5", "--paths", "7", "--out", futures, "-o", "csv", "-q"}
			if way != "" {
				args = append(args, "--reconcile", way)
			}
			text, _ := capcliRun(t, 0, args...)
			rows := forecastRows(t, text)
			drawn, err := os.ReadFile(futures)
			if err != nil {
				t.Fatal(err)
			}
			paths := forecastRows(t, string(drawn))
			for sum, parts := range sums {
				addsUp(t, rows, "mean", sum, parts...)
				addsUp(t, paths, "y", sum, parts...)
			}
			for _, row := range rows {
				lo, mid, hi := number(t, row["lo-95"]), number(t, row["mean"]), number(t, row["hi-95"])
				if lo > mid || mid > hi || lo < 0 {
					t.Fatalf("%s at %s: %v %v %v", row["unique_id"], row["ds"], lo, mid, hi)
				}
			}
		})
	}
}

func TestForecastReconcileNone(t *testing.T) {
	file := teamsCSV(t, 24*9, 0.5, "/")
	args := []string{"forecast", file, "--id-sep", "/", "--model", "theta", "--horizon", "5", "-o", "json", "-q"}
	var got struct {
		Reconciled *struct {
			Method    string
			Parts     int
			Hierarchy []struct {
				ID    string `json:"unique_id"`
				Parts []string
			}
		}
		Series []struct {
			ID string `json:"unique_id"`
		}
	}
	text, _ := capcliRun(t, 0, append(args, "--reconcile", "none")...)
	if err := json.Unmarshal([]byte(text), &got); err != nil || got.Reconciled != nil || len(got.Series) != 9 {
		t.Fatalf("%v: %d series, reconciled %v", err, len(got.Series), got.Reconciled)
	}
	text, _ = capcliRun(t, 0, args...)
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if r := got.Reconciled; r == nil || r.Method != "MinT by shrinkage" || r.Parts != 4 || len(r.Hierarchy) != 5 || r.Hierarchy[0].ID != "total" || len(r.Hierarchy[0].Parts) != 4 {
		t.Errorf("reconciled %+v", got.Reconciled)
	}
}

// TestForecastTotalOfATable: the sum's history is the sum, a sum that the table
// has is held against its parts, and what cannot be added is refused.
func TestForecastTotalOfATable(t *testing.T) {
	write := func(text string) string {
		name := filepath.Join(t.TempDir(), "t.csv")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	table := func(total bool, late, early int) string {
		var b strings.Builder
		b.WriteString("unique_id,ds,y\n")
		for i := range 30 {
			a, c := 10+i%3, 5+i%2
			if i < 30-early {
				fmt.Fprintf(&b, "a,%d,%d\n", i, a)
			}
			if i >= late {
				fmt.Fprintf(&b, "b,%d,%d\n", i, c)
			} else {
				c = 0
			}
			if total {
				fmt.Fprintf(&b, "total,%d,%d\n", i, a+c)
			}
		}
		return write(b.String())
	}
	args := []string{"--total", "--model", "naive", "--horizon", "2", "-o", "csv", "-q"}
	for name, file := range map[string]string{"made": table(false, 12, 0), "given": table(true, 12, 0)} {
		text, _ := capcliRun(t, 0, append([]string{"forecast", file}, args...)...)
		rows := forecastRows(t, text)
		if len(rows) != 6 {
			t.Fatalf("%s: %d rows", name, len(rows))
		}
		addsUp(t, rows, "mean", "total", "a", "b")
	}
	ends := table(false, 0, 4)
	if _, errs := capcliRun(t, 3, append([]string{"forecast", ends}, args...)...); !strings.Contains(errs, "--read gaps=zero") {
		t.Errorf("a part that ends early: %s", errs)
	}
	text, _ := capcliRun(t, 0, append([]string{"forecast", ends, "--gaps", "zero"}, args...)...)
	addsUp(t, forecastRows(t, text), "mean", "total", "a", "b")
	bad := write("unique_id,ds,y\na,1,1\na,2,2\na,3,1\nb,1,1\nb,2,2\nb,3,4\ntotal,1,2\ntotal,2,4\ntotal,3,9\n")
	if _, errs := capcliRun(t, 3, append([]string{"forecast", bad}, args...)...); !strings.Contains(errs, "expected 5 at 3") {
		t.Errorf("a sum that is none: %s", errs)
	}
	if _, errs := capcliRun(t, 2, "forecast", ends, "--reconcile", "ols"); !strings.Contains(errs, "no sums") {
		t.Errorf("nothing to reconcile: %s", errs)
	}
	if _, errs := capcliRun(t, 2, "forecast", ends, "--total", "--agg", "max"); !strings.Contains(errs, "do not sum") {
		t.Errorf("sums of peaks: %s", errs)
	}
	short := write("unique_id,ds,y\na,1,1\na,2,2\na,3,1\na,4,3\na,5,1\na,6,2\nb,6,4\n")
	text, _ = capcliRun(t, 0, append([]string{"forecast", short}, args...)...)
	addsUp(t, forecastRows(t, text), "mean", "total", "a", "b")
}

// TestTotalOfCensoredParts: the demand behind the whole's usage is that of its
// parts, where nothing but a capacity of each is known.
func TestTotalOfCensoredParts(t *testing.T) {
	golden.SkipLong(t)
	rng := rand.New(rand.NewPCG(8, 3))
	var b strings.Builder
	b.WriteString("unique_id,ds,y\n")
	want := 0.0
	const hours = 24 * 21
	for _, id := range []string{"a", "b"} {
		for i := range hours {
			v := 40 + 12*math.Sin(2*math.Pi*float64(i)/24) + 3*rng.NormFloat64()
			want += v / hours
			fmt.Fprintf(&b, "%s,%s,%.2f\n", id, time.Date(2026, 1, 5, i, 0, 0, 0, time.UTC).Format(time.RFC3339), min(v, 46))
		}
	}
	file := filepath.Join(t.TempDir(), "usage.csv")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	text, _ := capcliRun(t, 0, "forecast", file, "--total", "--past-capacity", "46", "--model", "theta", "--horizon", "24", "-o", "json", "-q")
	var got struct {
		Series []struct {
			ID        string `json:"unique_id"`
			Mean      []float64
			Backtest  *struct{ Origins int }
			Censoring *struct {
				Flag   string
				Demand float64 `json:"demand_mean"`
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, s := range got.Series {
		if s.Censoring == nil || s.Backtest == nil {
			t.Fatalf("%s: %+v", s.ID, s)
		}
		if s.ID == "total" {
			sum += s.Censoring.Demand
			if math.Abs(s.Censoring.Demand-want) > 1.5 || s.Censoring.Flag != "parts" {
				t.Errorf("demand of the whole %.2f told from %s, want %.2f", s.Censoring.Demand, s.Censoring.Flag, want)
			}
			continue
		}
		sum -= s.Censoring.Demand
	}
	if math.Abs(sum) > 1e-6 {
		t.Errorf("the whole's demand is %v more than that of its parts", sum)
	}
}

// jobsCSV writes a log of three pools and two models over days.
func jobsCSV(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("job_id,tenant,partition,gpu_model,gpus,submit,start,end,run_s\n")
	rng := rand.New(rand.NewPCG(9, 9))
	at := 1_767_225_600
	for i := range 2500 {
		at += rng.IntN(500)
		run := 600 + rng.IntN(20000)
		fmt.Fprintf(&b, "%d,t%d,p%d,%s,%d,%d,%d,%d,%d\n", i, rng.IntN(3), rng.IntN(3), []string{"h100", "a100"}[rng.IntN(2)], 1+rng.IntN(8), at, at+60, at+60+run, run)
	}
	name := filepath.Join(t.TempDir(), "jobs.csv")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestForecastOfAJobLogBySeveralKeys(t *testing.T) {
	file := jobsCSV(t)
	text, _ := capcliRun(t, 0, "forecast", file, "--by", "pool,gpu_model", "--model", "ses", "--horizon", "3", "-o", "csv", "-q")
	rows := forecastRows(t, text)
	var ids []string
	for _, row := range rows {
		if !slices.Contains(ids, row["unique_id"]) {
			ids = append(ids, row["unique_id"])
		}
	}
	if want := "a100 h100 p0 p0/a100 p0/h100 p1 p1/a100 p1/h100 p2 p2/a100 p2/h100 total"; strings.Join(ids, " ") != want {
		t.Fatalf("series %v, want %s", ids, want)
	}
	addsUp(t, rows, "mean", "total", "p0", "p1", "p2")
	addsUp(t, rows, "mean", "total", "h100", "a100")
	addsUp(t, rows, "mean", "p1", "p1/h100", "p1/a100")
	_, errs := capcliRun(t, 0, "forecast", file, "--by", "tenant,total", "--peak", "--model", "ses", "--horizon", "3", "-o", "csv")
	if !strings.Contains(errs, "peaks of parts do not sum") || strings.Contains(errs, "reconciled") {
		t.Errorf("peaks: %s", errs)
	}
	_, errs = capcliRun(t, 0, "forecast", file, "--by", "tenant,total", "--model", "ses", "--horizon", "3", "-o", "csv")
	if !strings.Contains(errs, "reconciled by MinT by shrinkage: in each step 3 parts add up to 1 sum") {
		t.Errorf("teams and the total: %s", errs)
	}
}

// TestBacktestReconciles: the measures are of forecasts that agree. Bottom up, the
// whole's are those of the sums of the parts.
func TestBacktestReconciles(t *testing.T) {
	file := teamsCSV(t, 24*10, 0.5, "/")
	mae := func(way string) map[string]float64 {
		text, _ := capcliRun(t, 0, "forecast", "backtest", file, "--total", "--reconcile", way, "--model", "naive", "--horizon", "12", "--origins", "3", "-o", "json", "-q")
		var got struct {
			Series []struct {
				ID     string `json:"unique_id"`
				Trials []struct {
					MAE     float64
					Origins int
				}
			}
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		out := map[string]float64{}
		for _, s := range got.Series {
			if len(s.Trials) != 1 || s.Trials[0].Origins != 3 {
				t.Fatalf("%s %s: %+v", way, s.ID, s.Trials)
			}
			out[s.ID] = s.Trials[0].MAE
		}
		return out
	}
	// A naive forecast of the whole is the sum of the naive forecasts of its parts:
	// all ways leave it as it is.
	none := mae("none")
	for _, way := range []string{"bottom-up", "mint", "ols", "wls"} {
		for id, v := range mae(way) {
			if math.Abs(v-none[id]) > 1e-6 {
				t.Errorf("%s: MAE of %s is %v, want %v", way, id, v, none[id])
			}
		}
	}
}

// TestFuturesGoTogether: shocks of a pair that go together by 0.9 do so in the
// futures, at each step and in their means, and the bytes do not depend on the
// number of cores.
func TestFuturesGoTogether(t *testing.T) {
	for _, r := range []float64{0.9, 0} {
		file := teamsCSV(t, 24*12, r, "/")
		futures := filepath.Join(t.TempDir(), "futures.csv")
		args := []string{"forecast", file, "--model", "seasonal-ar", "--horizon", "6", "--paths", "400", "--out", futures, "-o", "csv", "-q"}
		capcliRun(t, 0, args...)
		drawn, err := os.ReadFile(futures)
		if err != nil {
			t.Fatal(err)
		}
		means, steps := map[string][]float64{}, map[string][]float64{}
		for _, row := range forecastRows(t, string(drawn)) {
			k, err := strconv.Atoi(row["path"])
			if err != nil {
				t.Fatal(err)
			}
			id := row["unique_id"]
			if means[id] == nil {
				means[id] = make([]float64, 400)
			}
			means[id][k] += number(t, row["y"]) / 6
			steps[id+row["ds"]] = append(steps[id+row["ds"]], number(t, row["y"]))
		}
		for id, one := range steps {
			if at, ok := strings.CutPrefix(id, "ml/h100"); ok {
				if got := correlated(one, steps["ml/a100"+at]); math.Abs(got-r) > 0.15 {
					t.Errorf("at %s futures of a pair go together by %.2f, want %.1f", at, got, r)
				}
			}
		}
		if got := correlated(means["ml/h100"], means["ml/a100"]); math.Abs(got-r) > 0.2 {
			t.Errorf("futures of a pair go together by %.2f, want %.1f", got, r)
		}
		if got := correlated(means["ml/h100"], means["web/h100"]); math.Abs(got) > 0.2 {
			t.Errorf("futures of strangers go together by %.2f", got)
		}
		for _, n := range []int{1, 5} {
			was := runtime.GOMAXPROCS(n)
			capcliRun(t, 0, args...)
			runtime.GOMAXPROCS(was)
			if again, err := os.ReadFile(futures); err != nil || string(again) != string(drawn) {
				t.Errorf("with %d cores the futures differ (%v)", n, err)
			}
		}
	}
}

func correlated(a, b []float64) float64 {
	n := float64(len(a))
	var sa, sb, saa, sbb, sab float64
	for i := range a {
		sa, sb, saa, sbb, sab = sa+a[i], sb+b[i], saa+a[i]*a[i], sbb+b[i]*b[i], sab+a[i]*b[i]
	}
	return (sab - sa*sb/n) / math.Sqrt((saa-sa*sa/n)*(sbb-sb*sb/n))
}
