package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"capcli/cmd/files"
	"capcli/testdata/shelltest"
)

var pools = filepath.Join("..", "..", "testdata", "series", "pools.csv")

// capcliRun runs the program and gives what it said.
func capcliRun(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	e, out, errs := shelltest.NewEnv()
	e.Disk = files.OS()
	if got := run(context.Background(), e, args); got != want {
		t.Fatalf("capcli %s: exit %d, want %d\n%s", strings.Join(args, " "), got, want, errs)
	}
	return out.String(), errs.String()
}

func TestForecastIsTheSameOnAnyNumberOfCores(t *testing.T) {
	args := []string{"forecast", pools, "--model", "theta", "-o", "json"}
	first, _ := capcliRun(t, 0, args...)
	for _, n := range []int{1, 2, 7} {
		was := runtime.GOMAXPROCS(n)
		got, _ := capcliRun(t, 0, args...)
		runtime.GOMAXPROCS(was)
		if got != first {
			t.Errorf("the JSON with %d cores differs", n)
		}
	}
}

// forecastRows reads the long table by column.
func forecastRows(t *testing.T, text string) []map[string]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, row := range rows[1:] {
		m := map[string]string{}
		for i, name := range rows[0] {
			m[name] = row[i]
		}
		out = append(out, m)
	}
	return out
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		t.Fatalf("%q is no finite number", text)
	}
	return v
}

func TestForecastLongForm(t *testing.T) {
	out, _ := capcliRun(t, 0, "forecast", pools, "--horizon", "30", "--level", "80,95", "--cap", "70", "-o", "csv", "-q")
	if head, _, _ := strings.Cut(out, "\n"); head != "unique_id,ds,model,mean,lo-80,hi-80,lo-95,hi-95" {
		t.Errorf("head %q", head)
	}
	rows := forecastRows(t, out)
	if len(rows) != 60 {
		t.Fatalf("%d rows, want 60", len(rows))
	}
	at := time.Date(2026, 9, 22, 0, 0, 0, 0, time.UTC) // the hour after the last of the file
	touched := false
	for i, r := range rows {
		if want := at.Add(time.Duration(i%30) * time.Hour).Format(time.RFC3339); r["ds"] != want {
			t.Fatalf("row %d: ds %s, want %s", i, r["ds"], want)
		}
		lo95, lo80, mid, hi80, hi95 := number(t, r["lo-95"]), number(t, r["lo-80"]), number(t, r["mean"]), number(t, r["hi-80"]), number(t, r["hi-95"])
		if lo95 > lo80 || lo80 > mid || mid > hi80 || hi80 > hi95 || lo95 < 0 || hi95 > 70 {
			t.Fatalf("row %d: %v %v %v %v %v are not in order within 0 and 70", i, lo95, lo80, mid, hi80, hi95)
		}
		touched = touched || hi95 == 70
	}
	if !touched {
		t.Error("the cap was never reached, so nothing was tested")
	}
}

func TestForecastJSONHasNoNaNAndItsParts(t *testing.T) {
	out, _ := capcliRun(t, 0, "forecast", pools, "--model", "ets", "-o", "json")
	var got forecastJSON2
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if got.Schema != "capcli/forecast/v1" || len(got.Series) != 2 || got.Step != "1h" {
		t.Fatalf("schema %s, %d series, step %s", got.Schema, len(got.Series), got.Step)
	}
	for _, s := range got.Series {
		if s.AICc == nil || s.Sigma2 == nil || len(s.Parameters) == 0 || s.Backtest == nil || s.Backtest.Origins < 1 {
			t.Errorf("%s: AICc %v, sigma2 %v, %d parameters, backtest %v", s.ID, s.AICc, s.Sigma2, len(s.Parameters), s.Backtest)
		}
		for i := range s.Mean {
			if c, x, a := s.Lines["median"][i], s.Lines["p80"][i], s.Lines["p95"][i]; c > x || x > a {
				t.Fatalf("%s: lines %v %v %v are not in order", s.ID, c, x, a)
			}
		}
	}
}

// forecastJSON2 is the document as a reader outside knows it.
type forecastJSON2 struct {
	Schema, Step string
	Series       []struct {
		ID           string `json:"unique_id"`
		AICc, Sigma2 *float64
		Parameters   []any
		Mean         []float64
		Lines        map[string][]float64
		Backtest     *struct{ Origins int }
	}
}

func TestForecastOfAJobLog(t *testing.T) {
	var b strings.Builder
	b.WriteString("job_id,tenant,partition,gpus,submit,start,end,run_s\n")
	start := int64(1_767_225_600) // 2026-01-01
	for i := range int64(24 * 20) {
		at := start + i*3600
		fmt.Fprintf(&b, "%d,t%d,p%d,4,%d,%d,%d,7200\n", i, i%3, i%2, at, at+1800, at+1800+7200)
	}
	log := filepath.Join(t.TempDir(), "jobs.csv")
	if err := os.WriteFile(log, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		args  []string
		want  string // last value of each series
		first string
	}{
		{"demand", nil, "total=8", "2026-01-20T23:00:00Z"},
		{"peak", []string{"--peak"}, "total=8", ""},
		{"by pool", []string{"--by", "pool"}, "p0=4 p1=4", ""},
		{"by pool and total", []string{"--by", "pool,total"}, "p0=4 p1=4 total=8", ""},
		{"queue", []string{"--measure", "queue"}, "total=2", ""},
		{"arrivals", []string{"--measure", "arrivals"}, "total=1", ""},
		{"GPU-hours", []string{"--measure", "arrival-hours"}, "total=8", ""},
	}
	for _, tt := range tests {
		out, _ := capcliRun(t, 0, append([]string{"forecast", log, "--model", "naive", "--horizon", "3", "-o", "csv", "-q"}, tt.args...)...)
		var got []string
		for i, r := range forecastRows(t, out) {
			if i%3 == 0 {
				got = append(got, r["unique_id"]+"="+r["mean"])
			}
			if i == 0 && tt.first != "" && r["ds"] != tt.first {
				t.Errorf("%s: first step %s, want %s", tt.name, r["ds"], tt.first)
			}
		}
		if g := strings.Join(got, " "); g != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, g, tt.want)
		}
	}
}

func TestForecastPaths(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "futures.csv")
	args := []string{"forecast", pools, "--model", "theta", "--horizon", "5", "--paths", "7", "--out", file, "-o", "csv", "-q"}
	capcliRun(t, 0, args...)
	first, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rows := forecastRows(t, string(first))
	if len(rows) != 2*7*5 {
		t.Fatalf("%d rows, want 70", len(rows))
	}
	if rows[0]["y"] == rows[5]["y"] {
		t.Error("two futures are the same")
	}
	for _, r := range rows {
		if number(t, r["y"]) < 0 {
			t.Errorf("a future goes below zero: %v", r)
		}
	}
	capcliRun(t, 0, args...)
	if again, _ := os.ReadFile(file); !bytes.Equal(first, again) {
		t.Error("the same seed gives other futures")
	}
	capcliRun(t, 0, append(args, "--seed", "2")...)
	if other, _ := os.ReadFile(file); bytes.Equal(first, other) {
		t.Error("another seed gives the same futures")
	}
	for _, out := range []string{"futures.parquet", "demand.parquet"} {
		args := []string{"forecast", pools, "--model", "theta", "--out", filepath.Join(dir, out), "-q"}
		if out == "futures.parquet" {
			args = append(args, "--paths", "2", "-o", "csv")
		}
		capcliRun(t, 0, args...)
		if b, err := os.ReadFile(filepath.Join(dir, out)); err != nil || !bytes.HasPrefix(b, []byte("PAR1")) {
			t.Errorf("%s: %v, begins with %q", out, err, b[:min(4, len(b))])
		}
	}
}

// fakeProm answers query_range as Prometheus does, with one series of hours.
func fakeProm(t *testing.T, token string, asked *[]int64) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if token != "" && r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		from, _ := strconv.ParseInt(r.FormValue("start"), 10, 64)
		to, _ := strconv.ParseInt(r.FormValue("end"), 10, 64)
		step, _ := strconv.ParseInt(r.FormValue("step"), 10, 64)
		n := (to-from)/step + 1
		*asked = append(*asked, n)
		switch {
		case r.URL.Path != "/api/v1/query_range":
			w.WriteHeader(http.StatusNotFound)
			return
		case n > 11000:
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprint(w, `{"status":"error","errorType":"bad_data","error":"exceeded maximum resolution of 11,000 points per timeseries"}`)
			return
		case r.FormValue("query") == "nosuch":
			_, _ = fmt.Fprint(w, `{"status":"success","data":{"resultType":"matrix","result":[]}}`)
			return
		}
		label := "Hostname"
		if from > 1_767_225_600 {
			label = "hostname"
		}
		_, _ = fmt.Fprintf(w, `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"%s":"n1"},"values":[`, label)
		for i := range n {
			if i > 0 {
				_, _ = fmt.Fprint(w, ",")
			}
			_, _ = fmt.Fprintf(w, `[%d,"%d"]`, from+i*step, 10+i%5)
		}
		_, _ = fmt.Fprint(w, `]}]}}`)
	}))
	t.Cleanup(s.Close)
	return s
}

func TestForecastFromPrometheus(t *testing.T) {
	const secret = "s3cr3t-t0ken"
	var asked []int64
	s := fakeProm(t, secret, &asked)
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ask := []string{"forecast", "--prom", s.URL, "--query", "gpus", "--from", "2026-01-01", "--to", "2026-01-11", "--step", "1m", "--model", "naive", "--horizon", "3", "--season", "0", "-o", "csv"}
	out, errs := capcliRun(t, 0, append(ask, "--prom-token-file", token)...)
	if fmt.Sprint(asked) != "[11000 3401]" {
		t.Errorf("asked for %v points, want 11,000 and 3,401", asked)
	}
	rows := forecastRows(t, out)
	if len(rows) != 3 || rows[0]["unique_id"] != "hostname=n1" || rows[0]["ds"] != "2026-01-11T00:01:00Z" {
		t.Errorf("got %v", rows)
	}
	refused, refusal := capcliRun(t, 1, ask...)
	unknown, unknownErr := capcliRun(t, 3, "forecast", "--prom", s.URL, "--query", "nosuch", "--from", "2026-01-01", "--to", "2026-01-02", "--prom-token-file", token)
	if !strings.Contains(unknownErr, "nosuch gave no series") {
		t.Errorf("an unknown metric: %s", unknownErr)
	}
	for _, text := range []string{out, errs, refused, refusal, unknown, unknownErr} {
		if strings.Contains(text, secret) {
			t.Errorf("the token is in the output: %s", text)
		}
	}
	u := strings.Replace(s.URL, "http://", "http://user:hunter2@", 1)
	_, errs = capcliRun(t, 1, "forecast", "--prom", u, "--query", "gpus", "--from", "2026-01-01", "--to", "2026-01-02")
	if strings.Contains(errs, "hunter2") {
		t.Errorf("the password is in the output: %s", errs)
	}
	s.Close()
	_, errs = capcliRun(t, 1, "forecast", "--prom", u, "--query", "gpus", "--from", "2026-01-01", "--to", "2026-01-02")
	if strings.Contains(errs, "hunter2") || !strings.Contains(errs, "connection refused") {
		t.Errorf("a server that is not there: %s", errs)
	}
}

// A proxy that lets only GET through answers a POST with 405 or 501.
func TestForecastFromPrometheusByGet(t *testing.T) {
	for _, refusal := range []int{http.StatusMethodNotAllowed, http.StatusNotImplemented} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet {
				w.WriteHeader(refusal)
				return
			}
			if got := r.URL.Query().Get("query") + r.Header.Get("Authorization"); got != "a+b" {
				t.Errorf("asked for %q, want a+b", got)
			}
			_, _ = fmt.Fprint(w, `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[1767225600,"1"],[1767229200,"2"],[1767232800,"3"]]}]}}`)
		}))
		out, _ := capcliRun(t, 0, "forecast", "--prom", s.URL, "--query", "a+b", "--from", "2026-01-01", "--to", "2026-01-02", "--model", "naive", "--horizon", "1", "-o", "csv")
		if rows := forecastRows(t, out); len(rows) != 1 || rows[0]["mean"] != "3" {
			t.Errorf("after %d: got %v", refusal, rows)
		}
		s.Close()
	}
}
