package inference

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/profile/logs/series"
	"capcli/profile/logs/trace"
)

// fake is a Prometheus server with counters that rise evenly and gauges that stay, by name and value of le.
type fake struct {
	rates  map[string]map[string]float64 // increase a second, by metric and le
	gauges map[string]float64
	asked  []string
	gap    capcli.Time // no data for a step that ends here
}

var shape = regexp.MustCompile(`^(sum|avg)( by \(le\))? ?\((increase|avg_over_time)\(([\w:]+)(\{[^}]*\})?\[(\d+)s\]\)\)$`)

func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	answer := func(code int, text string) (*http.Response, error) {
		return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
	}
	query := form.Get("query")
	f.asked = append(f.asked, query)
	m := shape.FindStringSubmatch(query)
	if m == nil {
		return answer(400, `{"status":"error","errorType":"bad_data","error":"parse error"}`)
	}
	window, _ := strconv.ParseFloat(m[6], 64)
	from, _ := strconv.ParseInt(form.Get("start"), 10, 64)
	to, _ := strconv.ParseInt(form.Get("end"), 10, 64)
	step, _ := strconv.ParseInt(form.Get("step"), 10, 64)
	values := map[string]float64{}
	if g, ok := f.gauges[m[4]]; ok {
		values[""] = g
	}
	for le, rate := range f.rates[m[4]] {
		if m[2] == "" {
			values[""] += rate * window
		} else {
			values[`"le":"`+le+`"`] = rate * window
		}
	}
	var all []string
	for labels, v := range values {
		var points []string
		for at := from; at <= to; at += step {
			if capcli.Time(at) != f.gap {
				points = append(points, fmt.Sprintf(`[%d,"%g"]`, at, v))
			}
		}
		all = append(all, fmt.Sprintf(`{"metric":{%s},"values":[%s]}`, labels, strings.Join(points, ",")))
	}
	return answer(200, `{"status":"success","data":{"resultType":"matrix","result":[`+strings.Join(all, ",")+`]}}`)
}

// vllmFake tells 2 requests a second of 500 tokens in, half of them cached, and 100 out.
func vllmFake() *fake {
	one := func(v float64) map[string]float64 { return map[string]float64{"": v} }
	return &fake{
		rates: map[string]map[string]float64{
			"vllm:request_success_total": one(2), "vllm:prompt_tokens_total": one(1000), "vllm:generation_tokens_total": one(200),
			"vllm:prefix_cache_hits_total": one(500), "vllm:prefix_cache_queries_total": one(1000),
			"vllm:time_to_first_token_seconds_bucket": {"0.1": 1, "0.25": 1.6, "0.5": 2, "+Inf": 2}, "vllm:time_to_first_token_seconds_sum": one(0.3),
			"vllm:inter_token_latency_seconds_bucket": {"0.01": 0, "0.025": 198, "0.05": 198, "+Inf": 200},
			"vllm:request_prompt_tokens_bucket":       {"200": 0.2, "500": 1.4, "1000": 1.9, "2000": 2, "+Inf": 2},
		},
		gauges: map[string]float64{"vllm:num_requests_running": 12, "vllm:num_requests_waiting": 1.5, "vllm:gpu_cache_usage_perc": 0.4},
	}
}

func TestTrafficOfAServer(t *testing.T) {
	f := vllmFake()
	f.gap = 1800000000 + 900
	u, err := Read(context.Background(), Request{Server: "vllm", Address: "http://user:secret@prom:9090", Match: `model_name="m"`, From: capcli.Time(1800000000).String(), To: capcli.Time(1800003600).String()}, Sources{Web: f})
	if err != nil {
		t.Fatal(err)
	}
	if u.Source != "http://prom:9090" || len(u.Steps) != 12 || u.StepS != 300 || f.asked[0] != `sum (increase(vllm:request_success_total{model_name="m"}[300s]))` {
		t.Errorf("%s, %d steps of %s, asked %s", u.Source, len(u.Steps), u.StepS, f.asked[0])
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"requests", float64(u.Requests), 11 * 600},
		{"a second", float64(u.PerS), 2},
		{"in", float64(u.MeanIn), 500},
		{"out", float64(u.MeanOut), 100},
		{"cached", float64(u.CachedShare), 0.5},
		{"ttft mean", float64(u.TTFT.Mean), 0.15},
		{"ttft p50", float64(u.TTFT.P50), 0.1},
		{"ttft p90", float64(u.TTFT.P90), 0.25 + 0.25*0.2/0.4},
		{"tpot p50", float64(u.TPOT.P50), 0.01 + 0.015*100.0/198},
		{"tpot p99", float64(u.TPOT.P99), 0.025},
		{"in p95", float64(u.In.P95), 1000},
		{"in p50", float64(u.In.P50), 400},
		{"running", float64(u.Running.Mean), 12},
		{"cache use", float64(u.CacheUse.Most), 0.4},
		{"a step", float64(u.Steps[5].TTFTP99), 0.4875},
		{"tokens in a second", float64(u.Steps[5].InPerS), 1000},
	} {
		if math.Abs(c.got-c.want) > 1e-9*math.Abs(c.want) {
			t.Errorf("%s is %v, want %v", c.name, c.got, c.want)
		}
	}
	if u.Steps[2].PerS.IsKnown() || !strings.Contains(strings.Join(u.Notes, "\n"), "1 of 12 steps have no data") {
		t.Errorf("the step without data: %+v, %q", u.Steps[2], u.Notes)
	}
	if got := strings.Join(u.Missing, " "); got != "failed e2e queue out_length" {
		t.Errorf("missing: %s", got)
	}
	if want := "requests: {curve: curve.csv, repeat: true, tokens_in: {median: 400, p95: 1000}, tokens_out: {mean: 100}, cached: 50%}"; u.Service != want {
		t.Errorf("%s, want %s", u.Service, want)
	}
	var b bytes.Buffer
	if err := u.WriteCurve(&b); err != nil || strings.Count(b.String(), ",2\n") != 12 || !strings.HasPrefix(b.String(), "time,requests_per_second\n2027-01-15T08:00:00Z,2\n") {
		t.Errorf("curve %s, %v", b.String(), err)
	}
}

func TestWrongTraffic(t *testing.T) {
	ask := Request{Server: "vllm", Address: "http://prom", From: "2027-01-01", To: "2027-01-02"}
	for _, c := range []struct {
		change func(q *Request)
		want   string
	}{
		{func(q *Request) { q.Server = "vlm" }, `did you mean "vllm"`},
		{func(q *Request) { q.Address = "prom" }, "wants the address of a server"},
		{func(q *Request) { q.From = "" }, "from is missing"},
		{func(q *Request) { q.To = "2026-01-01" }, "not one whole step"},
		{func(q *Request) { q.Step = 1; q.To = "2028-01-01" }, "over 200,000"},
		{func(q *Request) { q.Server = "triton" }, "there is no series of nv_inference_request_success"},
		{func(q *Request) { q.Address = "" }, "no traffic is named"},
	} {
		q := ask
		c.change(&q)
		_, err := Read(context.Background(), q, Sources{Web: vllmFake()})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	f := vllmFake()
	f.rates["vllm:request_success_total"][""] = 0
	if _, err := Read(context.Background(), ask, Sources{Web: f}); err == nil || !strings.Contains(err.Error(), "there was no request") {
		t.Errorf("no request: %v", err)
	}
	if _, err := Read(context.Background(), Request{Server: "triton", Address: "http://prom", From: "2027-01-01"}, Sources{Web: f, Now: 1800000000}); !errors.Is(err, series.ErrNoSeries) {
		t.Errorf("a metric that is not there: %v", err)
	}
}

// savedAnswer has the counters of two pods, one of which starts anew, in the shape of query_range.
const savedAnswer = `{"status":"success","data":{"resultType":"matrix","result":[
{"metric":{"__name__":"nv_inference_request_success","pod":"a"},"values":[[1800000000,"100"],[1800000060,"160"],[1800000120,"20"],[1800000240,"80"]]},
{"metric":{"__name__":"nv_inference_request_success","pod":"b"},"values":[[1800000060,"5"],[1800000120,"11"]]},
{"metric":{"__name__":"nv_inference_request_duration_us","pod":"a"},"values":[[1800000000,"0"],[1800000240,"14600000"]]},
{"metric":{"__name__":"nv_inference_pending_request_count","pod":"a"},"values":[[1800000060,"4"],[1800000120,"2"]]},
{"metric":{"__name__":"nv_inference_pending_request_count","pod":"b"},"values":[[1800000060,"1"]]}]}}`

func readFiles(t *testing.T, q Request, files map[string]string) (*Usage, error) {
	t.Helper()
	return Read(context.Background(), q, Sources{Open: func(name string) (trace.Input, io.Closer, error) {
		text, ok := files[name]
		if !ok {
			return trace.Input{}, nil, os.ErrNotExist
		}
		return trace.Input{Name: name, R: strings.NewReader(text)}, io.NopCloser(nil), nil
	}})
}

func TestSavedAnswers(t *testing.T) {
	u, err := readFiles(t, Request{Server: "triton", Files: []string{"a.json"}}, map[string]string{"a.json": savedAnswer})
	if err != nil {
		t.Fatal(err)
	}
	var got []float64
	for _, s := range u.Steps {
		got = append(got, float64(s.PerS)*60)
	}
	// 60 of a; 20 of a, which began anew, and 6 of b; 60 of a over two minutes.
	if want := []float64{60, 26, 30, 30}; fmt.Sprint(got) != fmt.Sprint(want) || u.StepS != 60 {
		t.Errorf("requests by minute %v, want %v", got, want)
	}
	if !strings.Contains(strings.Join(u.Notes, "\n"), "1 counter began anew") {
		t.Errorf("notes %q", u.Notes)
	}
	if math.Abs(float64(u.E2E.Mean)-0.1) > 1e-12 || float64(u.Waiting.Most) != 5 || u.E2E.P99.IsKnown() || u.Service != "" {
		t.Errorf("%+v", u)
	}
	for name, c := range map[string]struct{ text, want string }{
		"no names": {strings.ReplaceAll(savedAnswer, `"__name__":"nv_inference_request_success",`, ""), "a series has no name"},
		"no json":  {"{", "expected an answer of Prometheus"},
		"refused":  {`{"status":"error","errorType":"bad_data","error":"no"}`, "refused the query"},
		"one":      {`{"status":"success","data":{"resultType":"matrix","result":[]}}`, "at least two values"},
	} {
		if _, err := readFiles(t, Request{Server: "triton", Files: []string{"a"}}, map[string]string{"a": c.text}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A quantile of buckets lies in the bucket where the value does, and rises with the share.
func TestQuantilesOfBuckets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0, 120), 1, 60).Draw(t, "values")
		counts := map[string]float64{"+Inf": float64(len(values))}
		bounds := []float64{1, 5, 10, 25, 50, 100}
		for _, le := range bounds {
			n := 0.0
			for _, v := range values {
				if v <= le {
					n++
				}
			}
			counts[strconv.FormatFloat(le, 'g', -1, 64)] = n
		}
		b := bucketsOf(counts, 1)
		last := 0.0
		for _, q := range []float64{0.01, 0.5, 0.9, 0.99, 1} {
			got := b.Quantile(q)
			if got < last || math.IsNaN(got) && counts["100"] > 0 {
				t.Fatalf("quantile %v is %v after %v", q, got, last)
			}
			below := 0.0
			for _, v := range values {
				if v <= got+1e-9 {
					below++
				}
			}
			upper := 100.0
			for _, le := range bounds {
				if le >= got-1e-9 {
					upper = le
					break
				}
			}
			under := 0.0
			for _, v := range values {
				if v <= upper {
					under++
				}
			}
			if !b.isBeyond(q) && under < q*float64(len(values))-1e-9 {
				t.Fatalf("quantile %v is %v, and only %v of %d values are in its bucket or below", q, got, under, len(values))
			}
			last = got
		}
	})
}

func TestPromQL(t *testing.T) {
	for _, c := range []struct{ server, measure, match, want string }{
		{"vllm", "requests", "", "sum(rate(vllm:request_success_total[3600s]))"},
		{"kserve", "requests", `model="a"`, `sum(rate(request_predict_seconds_count{model="a"}[3600s]))`},
		{"knative-revision", "e2e-p99", "", "histogram_quantile(0.99, sum by (le) (rate(revision_app_request_latencies_bucket[3600s]))) * 0.001 or histogram_quantile(0.99, sum by (le) (rate(revision_request_latencies_bucket[3600s]))) * 0.001"},
		{"sglang", "waiting", "", "sum(avg_over_time(sglang:num_queue_reqs[3600s]))"},
	} {
		if got, err := PromQL(c.server, c.measure, c.match, 3600); err != nil || got != c.want {
			t.Errorf("%s %s: %s, %v", c.server, c.measure, got, err)
		}
	}
	for _, c := range [][3]string{{"triton", "tokens-in", "it tells requests, waiting, ttft-p99"}, {"triton", "e2e-p99", "it tells"}} {
		_, err := PromQL(c[0], c[1], "", 60)
		var request *capcli.RequestError
		if !errors.As(err, &request) || !strings.Contains(request.Hint, c[2]) {
			t.Errorf("%v: %v", c, err)
		}
	}
	for _, s := range Servers.All() {
		if _, err := PromQL(s.Name, "requests", "", 60); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
}

func FuzzSavedAnswers(f *testing.F) {
	f.Add([]byte(savedAnswer))
	f.Add([]byte(`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"x_bucket","le":"+Inf"},"values":[[1,"NaN"],[1e300,"2"]]}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := Read(context.Background(), Request{Server: "triton", Files: []string{"fuzz"}}, Sources{Open: func(name string) (trace.Input, io.Closer, error) {
			return trace.Input{Name: name, R: bytes.NewReader(data)}, io.NopCloser(nil), nil
		}})
		var in *capcli.InputError
		var request *capcli.RequestError
		if err != nil && !errors.As(err, &in) && !errors.As(err, &request) {
			t.Errorf("not an error of input: %v", err)
		}
	})
}
