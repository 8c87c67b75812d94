package main

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"capcli/testdata/golden"
)

// censoredDoc is what a reader outside takes from the JSON.
type censoredDoc struct {
	Series []struct {
		ID        string `json:"unique_id"`
		Mean      []float64
		Intervals []struct {
			Level  float64
			Lo, Hi []float64
		}
		Censoring struct {
			Flag    string
			Step    string
			Share   float64
			Usage   float64 `json:"usage_mean"`
			Demand  float64 `json:"demand_mean"`
			Guessed int     `json:"told_by_regression"`
		}
		Backtest *struct {
			Bias    float64
			Scored  int `json:"scored_steps"`
			Hidden  int `json:"steps_not_known"`
			Origins int
		}
		Warnings []string
	}
}

func censoredRun(t *testing.T, args ...string) censoredDoc {
	t.Helper()
	out, _ := capcliRun(t, 0, append([]string{"forecast", "-o", "json", "-q"}, args...)...)
	var doc censoredDoc
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func hourAt(i int) string {
	return time.Unix(1_767_571_200+int64(i)*3600, 0).UTC().Format(time.RFC3339) // from Monday, 2026-01-05
}

// earthTable writes the hourly usage, queue and capacity of a real cluster's
// virtual clusters, after the first day, as one table, and gives the sum of the
// means of usage and queue.
func earthTable(t *testing.T) (file string, used, latent float64) {
	t.Helper()
	names, _ := filepath.Glob(filepath.Join("..", "..", "..", "shared", "data", "series", "gpu-demand", "helios_earth_vc*.csv.gz"))
	if len(names) == 0 {
		t.Skip("no queue data here")
	}
	var b strings.Builder
	b.WriteString("unique_id,timestamp,used,pending,capacity\n")
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(z).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
		id := strings.TrimSuffix(filepath.Base(name), ".csv.gz")
		n := float64(len(rows) - 25)
		for _, row := range rows[25:] { // the head, and the day in which the log begins
			fmt.Fprintf(&b, "%s,%s,%s,%s,%s\n", id, row[0], row[1], row[2], row[3])
			u, err := strconv.ParseFloat(row[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			w, err := strconv.ParseFloat(row[2], 64)
			if err != nil {
				t.Fatal(err)
			}
			used, latent = used+u/n, latent+(u+w)/n
		}
	}
	return writeFile(t, "earth.csv", b.String()), used, latent
}

// TestEarthFromTheCommandLine tells the demand of 16 real virtual clusters from
// their usage: with the queue all of it, with the capacity alone within 5 %.
func TestEarthFromTheCommandLine(t *testing.T) {
	if golden.Short() {
		t.Skip("tells the demand of 16 clusters")
	}
	file, used, latent := earthTable(t)
	columns := []string{file, "--time-col", "timestamp", "--value-col", "used", "--model", "naive", "--origins", "1", "--horizon", "24", "--season", "24"}
	tests := []struct {
		name   string
		args   []string
		flag   string
		within float64
	}{
		{"queue", []string{"--pending-col", "pending", "--capacity-col", "capacity"}, "queue", 0.0001},
		{"capacity", []string{"--capacity-col", "capacity"}, "capacity", 0.05},
	}
	for _, tt := range tests {
		doc := censoredRun(t, append(columns, tt.args...)...)
		demand, usage := 0.0, 0.0
		for _, s := range doc.Series {
			if s.Censoring.Flag != tt.flag {
				t.Errorf("%s, %s: told by %s, want %s", tt.name, s.ID, s.Censoring.Flag, tt.flag)
			}
			demand, usage = demand+s.Censoring.Demand, usage+s.Censoring.Usage
		}
		t.Logf("%s: %d series, usage %.1f GPUs (%+.1f %%), demand %.1f (%+.1f %%) of %.1f", tt.name, len(doc.Series), usage, 100*(usage/latent-1), demand, 100*(demand/latent-1), latent)
		if math.Abs(usage/used-1) > 0.0001 || math.Abs(demand/latent-1) > tt.within {
			t.Errorf("%s: usage %.2f, demand %.2f; want %.2f, and %.2f within %g %%", tt.name, usage, demand, used, latent, 100*tt.within)
		}
	}
}

// cutCurve is a demand with a trend, a day and a week and errors that hang
// together, and what of it was seen under a capacity that it is over in the share cut.
func cutCurve(seed uint64, n int, share float64) (demand, usage []float64, capacity float64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	e := 0.0
	for i := range n {
		e = 0.7*e + 10*rng.NormFloat64()
		h := 2 * math.Pi * float64(i)
		demand = append(demand, 280+0.03*float64(i)+60*math.Sin(h/24)+25*math.Cos(h/168)+e)
	}
	lo, hi := 0.0, 1000.0
	for range 60 {
		capacity = (lo + hi) / 2
		over := 0
		for _, v := range demand {
			if v > capacity {
				over++
			}
		}
		if float64(over) > share*float64(n) {
			lo = capacity
		} else {
			hi = capacity
		}
	}
	for _, v := range demand {
		usage = append(usage, math.Min(v, capacity))
	}
	return demand, usage, capacity
}

func average(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// TestCutCurvesFromTheCommandLine cuts curves whose demand is known, and asks
// for the demand of their past and for a week of their future.
func TestCutCurvesFromTheCommandLine(t *testing.T) {
	if golden.Short() {
		t.Skip("tells the demand of many curves")
	}
	const weeks, curves = 7, 4
	shared := []string{"--model", "prophet", "--horizon", "168", "--origins", "1"}
	var full strings.Builder
	full.WriteString("unique_id,ds,y\n")
	var demand [curves][]float64
	for k := range curves {
		demand[k], _, _ = cutCurve(uint64(k+1), weeks*168, 0)
		for i, v := range demand[k][:(weeks-1)*168] {
			fmt.Fprintf(&full, "c%d,%s,%v\n", k, hourAt(i), v)
		}
	}
	best := censoredRun(t, append(shared, writeFile(t, "full.csv", full.String()))...)
	for _, share := range []float64{0.10, 0.25, 0.50} {
		var usage, caps strings.Builder
		usage.WriteString("unique_id,ds,y\n")
		caps.WriteString("unique_id,capacity\n")
		for k := range curves {
			_, u, c := cutCurve(uint64(k+1), weeks*168, share)
			fmt.Fprintf(&caps, "c%d,%v\n", k, c)
			for i, v := range u[:(weeks-1)*168] {
				fmt.Fprintf(&usage, "c%d,%s,%v\n", k, hourAt(i), v)
			}
		}
		got := censoredRun(t, append(shared, writeFile(t, "usage.csv", usage.String()), "--capacity", writeFile(t, "capacity.csv", caps.String()))...)
		past, future, bare := 0.0, 0.0, 0.0
		for k, s := range got.Series {
			n := len(demand[k]) - 168
			p := s.Censoring.Demand - average(demand[k][:n])
			past += p / curves
			future += (average(s.Mean) - average(best.Series[k].Mean)) / curves
			bare += (s.Censoring.Usage - average(demand[k][:n])) / curves
			if s.Censoring.Flag != "capacity" || s.Backtest == nil || s.Backtest.Hidden == 0 {
				t.Errorf("%s: flag %s, backtest %+v", s.ID, s.Censoring.Flag, s.Backtest)
			}
			if math.Abs(p) > 3 {
				t.Errorf("%s cut at %.0f %%: the demand of its past is %.2f GPUs off, want 3 or less of each one", s.ID, 100*share, p)
			}
		}
		t.Logf("cut at %.0f %%: bias of the past %.2f GPUs (of usage %.2f), of the forecast against that of the full demand %.2f", 100*share, past, bare, future)
		if math.Abs(past) > 2 || math.Abs(future) > 2 {
			t.Errorf("cut at %.0f %%: bias %.2f of the past and %.2f of the forecast, want under 2 GPUs", 100*share, past, future)
		}
	}
}

// TestDemandOfADayIsToldFromItsHours cuts single hours: the mean of a day hides
// them, its hours show them.
func TestDemandOfADayIsToldFromItsHours(t *testing.T) {
	if golden.Short() {
		t.Skip("tells the demand of many hours")
	}
	demand, usage, capacity := cutCurve(3, 60*24, 0.25)
	var b strings.Builder
	b.WriteString("ds,y\n")
	for i, v := range usage {
		fmt.Fprintf(&b, "%s,%v\n", hourAt(i), v)
	}
	file := writeFile(t, "usage.csv", b.String())
	for _, tt := range []struct {
		agg  string
		want float64
	}{{"mean", average(demand)}, {"sum", 24 * average(demand)}} {
		doc := censoredRun(t, file, "--past-capacity", fmt.Sprint(capacity), "--step", "1d", "--agg", tt.agg, "--model", "naive", "--horizon", "7", "--origins", "1")
		c := doc.Series[0].Censoring
		if c.Step != "1h" || c.Guessed < 300 || math.Abs(c.Demand/tt.want-1) > 0.005 {
			t.Errorf("%s: told on steps of %s, %d of them cut, demand %.2f; want 1h, 360 and %.2f", tt.agg, c.Step, c.Guessed, c.Demand, tt.want)
		}
	}
}

// TestRangesOfToldDemandHold forecasts the week after curves that were cut: the
// ranges hold what came about as often as those made from the full demand.
func TestRangesOfToldDemandHold(t *testing.T) {
	if golden.Short() {
		t.Skip("tells the demand of many curves")
	}
	const curves = 4
	held := func(full bool) float64 {
		var b, caps strings.Builder
		b.WriteString("unique_id,ds,y\n")
		caps.WriteString("unique_id,capacity\n")
		var demand [curves][]float64
		for k := range curves {
			d, u, c := cutCurve(uint64(k+1), 7*168, 0.5)
			demand[k] = d
			fmt.Fprintf(&caps, "c%d,%v\n", k, c)
			if full {
				u = d
			}
			for i := range u[:6*168] {
				fmt.Fprintf(&b, "c%d,%s,%v\n", k, hourAt(i), u[i])
			}
		}
		args := []string{writeFile(t, "y.csv", b.String()), "--model", "seasonal-ar", "--horizon", "168", "--origins", "1"}
		if !full {
			args = append(args, "--capacity", writeFile(t, "capacity.csv", caps.String()))
		}
		in := 0
		for k, s := range censoredRun(t, args...).Series {
			for i, v := range demand[k][6*168:] {
				if iv := s.Intervals[1]; iv.Lo[i] <= v && v <= iv.Hi[i] {
					in++
				}
			}
		}
		return float64(in) / (curves * 168)
	}
	full, cut := held(true), held(false)
	t.Logf("95 %% ranges held %.1f %% with all of demand known, %.1f %% with half of it cut", 100*full, 100*cut)
	if cut < full-0.05 {
		t.Errorf("95 %% ranges held %.1f %%, want %.1f %% less 5 or more", 100*cut, 100*full)
	}
}

// TestHoursThatAreAlwaysFull: ten hours of every day stand at the capacity, and how
// much more is wanted there is not in the data. The forecast stays near what was
// seen, its ranges and its futures carry what is not known, and it says so.
func TestHoursThatAreAlwaysFull(t *testing.T) {
	if golden.Short() {
		t.Skip("tells the demand of many hours")
	}
	rng := rand.New(rand.NewPCG(3, 9))
	var b strings.Builder
	b.WriteString("ds,y\n")
	full := func(i int) bool { return i%24 >= 8 && i%24 < 18 }
	for i := range 28 * 24 {
		v := 150 + 8*rng.NormFloat64()
		if full(i) {
			v += 110
		}
		fmt.Fprintf(&b, "%s,%.3f\n", hourAt(i), math.Min(220, v))
	}
	futures := filepath.Join(t.TempDir(), "futures.csv")
	s := censoredRun(t, writeFile(t, "usage.csv", b.String()), "--past-capacity", "220", "--model", "seasonal-ar", "--horizon", "24", "--paths", "200", "--origins", "1", "--out", futures).Series[0]
	for i, mean := range s.Mean {
		want := 150.0
		if full(i) {
			want = 260
		}
		if iv := s.Intervals[1]; want < iv.Lo[i] || want > iv.Hi[i] || iv.Hi[i] > 450 || math.Abs(mean-want) > 30 {
			t.Errorf("hour %d: %.1f, 95 %% from %.1f to %.1f, want %g", i, mean, iv.Lo[i], iv.Hi[i], want)
		}
	}
	if !strings.Contains(strings.Join(s.Warnings, "\n"), "phases of the season") {
		t.Errorf("warnings %q, want one on full phases", s.Warnings)
	}
	text, err := os.ReadFile(futures)
	if err != nil {
		t.Fatal(err)
	}
	over := 0
	for _, row := range forecastRows(t, string(text)) {
		if row["ds"] == hourAt(28*24+12) && number(t, row["y"]) > 300 {
			over++
		}
	}
	if over < 10 || over > 80 {
		t.Errorf("%d of 200 futures want over 300 at noon, want 5 to 40 %%", over)
	}
}

// TestQueueAndCapacityFromPrometheus asks for three things of one server.
func TestQueueAndCapacityFromPrometheus(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		from, _ := strconv.ParseInt(r.FormValue("start"), 10, 64)
		to, _ := strconv.ParseInt(r.FormValue("end"), 10, 64)
		_, _ = fmt.Fprintf(w, `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":%q,"pool":"a"},"values":[`, r.FormValue("query"))
		for i := range (to-from)/3600 + 1 {
			v := map[string]int64{"used": min(8, 4+i%7), "waiting": max(0, i%7-4), "room": 8}[r.FormValue("query")]
			comma := ","
			if i == 0 {
				comma = ""
			}
			_, _ = fmt.Fprintf(w, `%s[%d,"%d"]`, comma, from+i*3600, v)
		}
		_, _ = fmt.Fprint(w, `]}]}}`)
	}))
	t.Cleanup(s.Close)
	ask := []string{"--prom", s.URL, "--query", "used", "--from", "2026-01-01", "--to", "2026-01-11", "--model", "mean", "--horizon", "3"}
	for _, tt := range []struct {
		args   []string
		flag   string
		demand float64
	}{
		{[]string{"--pending-query", "waiting"}, "queue", 7},
		{[]string{"--pending-query", "waiting", "--capacity-query", "room"}, "queue", 7},
		{[]string{"--capacity-query", "room"}, "capacity", 0},
		{[]string{"--past-capacity", "8"}, "capacity", 0},
	} {
		doc := censoredRun(t, append(ask, tt.args...)...)
		c := doc.Series[0].Censoring
		if c.Flag != tt.flag || tt.demand > 0 && math.Abs(c.Demand-tt.demand) > 0.05 || c.Demand <= c.Usage {
			t.Errorf("%v: told by %s, usage %.2f, demand %.2f", tt.args, c.Flag, c.Usage, c.Demand)
		}
	}
}

// TestACapHoldsForecastsRangesAndFutures gives each series a bound of its own,
// which rises within the horizon.
func TestACapHoldsForecastsRangesAndFutures(t *testing.T) {
	dir := t.TempDir()
	caps := writeFile(t, "caps.csv", "unique_id,ds,capacity\na100,2026-01-01,40\na100,2026-09-23,55\n")
	out, _ := capcliRun(t, 0, "forecast", pools, "--horizon", "30", "--model", "theta", "--paths", "20", "--out", filepath.Join(dir, "futures.csv"), "--cap", caps, "-o", "csv", "-q")
	names := map[string]bool{}
	for _, r := range forecastRows(t, out) {
		names[r["unique_id"]] = true
		bound := math.Inf(1)
		if r["unique_id"] == "a100" {
			bound = 40
			if r["ds"] >= "2026-09-23" {
				bound = 55
			}
		}
		if number(t, r["hi-95"]) > bound {
			t.Fatalf("%v is over %v", r, bound)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "futures.csv"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range forecastRows(t, string(text)) {
		if r["unique_id"] == "a100" && number(t, r["y"]) > 55 {
			t.Fatalf("a future goes over its cap: %v", r)
		}
	}
	if len(names) != 2 || !names["a100"] {
		t.Fatalf("series %v: nothing was tested", names)
	}
}

// TestDemandOfASumIsThatOfItsParts has a capacity for each part and none for the
// sum.
func TestDemandOfASumIsThatOfItsParts(t *testing.T) {
	var b, caps strings.Builder
	b.WriteString("unique_id,ds,y\n")
	caps.WriteString("unique_id,capacity\n")
	for k := range 2 {
		_, u, c := cutCurve(uint64(k+1), 10*24, 0.3)
		fmt.Fprintf(&caps, "c%d,%v\n", k, c)
		for i, v := range u[60*k:] { // one begins later
			fmt.Fprintf(&b, "c%d,%s,%v\n", k, hourAt(i+60*k), v)
		}
	}
	doc := censoredRun(t, writeFile(t, "y.csv", b.String()), "--capacity", writeFile(t, "capacity.csv", caps.String()), "--total", "--model", "naive", "--horizon", "6")
	if len(doc.Series) != 3 {
		t.Fatalf("%d series, want 3", len(doc.Series))
	}
	steps := map[string]float64{"total": 240, "c0": 240, "c1": 180}
	sum := map[string]float64{}
	for _, s := range doc.Series {
		if flag := s.Censoring.Flag; flag != map[bool]string{true: "parts", false: "capacity"}[s.ID == "total"] || s.Censoring.Guessed == 0 || s.Backtest == nil || s.Backtest.Hidden == 0 {
			t.Errorf("%s: %+v, %+v", s.ID, s.Censoring, s.Backtest)
		}
		sum[s.ID] = s.Censoring.Demand * steps[s.ID]
	}
	if math.Abs(sum["c0"]+sum["c1"]-sum["total"]) > 1e-6*sum["total"] {
		t.Errorf("demand in all of the parts %v, of the sum %v", sum["c0"]+sum["c1"], sum["total"])
	}
	last := map[string]float64{}
	for _, s := range doc.Series {
		last[s.ID] = s.Mean[0]
	}
	if math.Abs(last["c0"]+last["c1"]-last["total"]) > 1e-6*last["total"] {
		t.Errorf("forecasts %v do not add up", last)
	}
}
