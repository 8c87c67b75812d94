package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// promField is what the made-up server keeps of one field.
type promField struct {
	until, from int64 // when it had this name, Unix
	value       func(host, gpu int, at int64) string
}

// fakeDCGM answers query_range as a Prometheus that looks at two dcgm-exporters
// with two GPUs each. At the time changed they are brought from DCGM 3 to 4.6,
// which renames fields and the label Hostname.
func fakeDCGM(t *testing.T, token string, changed int64, asked map[string]int) *httptest.Server {
	t.Helper()
	const end = 1 << 40
	busy := func(host, gpu int, at int64) string { return strconv.Itoa(10*host + gpu + int(at/60%2)*50) }
	fields := map[string]promField{
		"DCGM_FI_DEV_GPU_UTIL":            {changed, 0, busy},
		"DCGM_FI_DEV_GPU_UTIL_RATIO":      {end, changed, busy},
		"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": {end, 0, func(int, int, int64) string { return "0.25" }},
		"DCGM_FI_DEV_FB_USED":             {end, 0, func(int, int, int64) string { return "1024.5" }},
		"DCGM_FI_DEV_FB_FREE":             {end, 0, func(int, int, int64) string { return "7168" }},
		"DCGM_FI_DEV_GPU_TEMP":            {end, 0, func(int, int, int64) string { return "9223372036854775794" }},
		"DCGM_FI_DEV_POWER_USAGE":         {end, 0, func(int, int, int64) string { return "1.7e9" }}, // the mean over a blank
		"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": {end, 0, func(_, _ int, at int64) string {
			return strconv.FormatInt(at%100_000_000*100_000, 10)
		}},
	}
	question := regexp.MustCompile(`^(?:(avg|last)_over_time\()?(\w+)(?:\{(\w+)="([^"]*)"\})?(?:\[60s\]\))?`)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		from, _ := strconv.ParseInt(r.FormValue("start"), 10, 64)
		to, _ := strconv.ParseInt(r.FormValue("end"), 10, 64)
		step, _ := strconv.ParseInt(r.FormValue("step"), 10, 64)
		q := question.FindStringSubmatch(r.FormValue("query"))
		if (to-from)/step+1 > 11_000 || q == nil {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprint(w, `{"status":"error","errorType":"bad_data","error":"bad"}`)
			return
		}
		asked[q[1]+" "+q[2]]++
		var result []string
		f, known := fields[q[2]]
		for host := 1; known && host <= 2; host++ {
			name := fmt.Sprintf("node-%d", host)
			if q[4] != "" && q[4] != name {
				continue
			}
			for gpu := range 2 {
				for _, l := range []struct {
					label    string
					from, to int64
				}{{"Hostname", 0, changed - 1}, {"hostname", changed, end}} {
					var values []string
					for at := from; at <= to; at += step {
						if at >= l.from && at <= l.to && at >= f.from && at < f.until {
							values = append(values, fmt.Sprintf("[%d,%q]", at, f.value(host, gpu, at)))
						}
					}
					if len(values) > 0 {
						result = append(result, fmt.Sprintf(`{"metric":{%q:%q,"UUID":"GPU-%d%d","gpu":"%d","modelName":"H100"},"values":[%s]}`,
							l.label, name, host, gpu, gpu, strings.Join(values, ",")))
					}
				}
			}
		}
		_, _ = fmt.Fprintf(w, `{"status":"success","data":{"resultType":"matrix","result":[%s]}}`, strings.Join(result, ","))
	}))
	t.Cleanup(s.Close)
	return s
}

// The past of two boxes comes as two partitions, over a change of names.
func TestProfileFromPrometheus(t *testing.T) {
	const secret = "s3cr3t-t0ken"
	asked := map[string]int{}
	changed := int64(1_793_534_400) // 2026-11-01T12:00:00Z
	s := fakeDCGM(t, secret, changed, asked)
	dir := t.TempDir()
	token, out := filepath.Join(dir, "token"), filepath.Join(dir, "fleet")
	if err := os.WriteFile(token, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	address := strings.Replace(s.URL, "http://", "http://user:"+secret+"@", 1)
	ask := []string{"profile", "--source", "prometheus", "--where", address, "--prom-token-file", token, "--speed", "0", "-o", "json"}
	day := append(slices.Clone(ask), "--from", "2026-11-01T09:00:00Z", "--to", "2026-11-01T15:00:00Z")
	text, errs := capcliRun(t, 0, append(day, "--out", out)...)
	if !strings.Contains(errs, "720 ticks, 4 GPUs") {
		t.Errorf("got %s, want a tick each minute of each box", errs)
	}
	if strings.Contains(text+errs, secret) {
		t.Error("the token is in the output")
	}
	var got struct {
		GPUs []struct {
			Host   string
			Util   *float64 `json:"util_gpu_pct_mean"`
			Tensor *float64 `json:"tensor_active_pct_mean"`
			Power  *float64 `json:"power_w_mean"`
		}
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.GPUs) != 4 {
		t.Fatalf("got %d GPUs, want 4", len(got.GPUs))
	}
	for i, want := range []float64{10, 11, 20, 21} {
		g := got.GPUs[i]
		if g.Util == nil || *g.Util != want+25 || g.Tensor == nil || *g.Tensor != 25 || g.Power != nil {
			t.Errorf("%s %d: busy %v, tensor %v, power %v; want %v, 25 and none", g.Host, i, g.Util, g.Tensor, g.Power, want+25)
		}
	}
	if asked["avg DCGM_FI_DEV_GPU_UTIL"] < 2 || asked["last DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"] < 2 || asked["avg DCGM_FI_DEV_GPU_UTIL_RATIO"] > 0 {
		t.Errorf("asked %v, want means, but of counters and of the ambiguous ratio the last", asked)
	}
	sound, _ := capcliRun(t, 0, "verify", out)
	if !strings.Contains(sound, "1,440 samples") {
		t.Errorf("got %s, want 1,440 samples", sound)
	}
	one, errs := capcliRun(t, 0, append(day, "--host", "node-2", "--out", filepath.Join(dir, "one"))...)
	if strings.Contains(one, "node-1") || !strings.Contains(errs, "360 ticks, 2 GPUs") {
		t.Errorf("one box: got %s", errs)
	}
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no past", []string{"--from", "2001-01-01", "--to", "2001-01-02", "--host", "x"}, 3, "expected metrics of a dcgm-exporter"},
		{"no beginning", nil, 2, "wants --from"},
		{"turned round", []string{"--from", "2026-11-02", "--to", "2026-11-01"}, 2, "is not after"},
		{"parts of a second", []string{"--from", "2026-11-02", "--to", "2026-11-03", "--every", "1500ms"}, 2, "whole seconds"},
	} {
		if _, errs := capcliRun(t, c.code, append(append(slices.Clone(ask), "--out", filepath.Join(dir, "none")), c.args...)...); !strings.Contains(errs, c.want) || strings.Contains(errs, secret) {
			t.Errorf("%s: got %s, want %q", c.name, errs, c.want)
		}
	}
}
