package demand

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"capcli"
	"capcli/profile/logs/trace"
)

func readTraffic(t *testing.T, q Request, text string) (*Histories, error) {
	t.Helper()
	q.Inputs = []string{"f"}
	return Read(context.Background(), q, Sources{Open: func(string) (trace.Input, io.Closer, error) {
		return trace.Input{Name: "f", R: strings.NewReader(text)}, io.NopCloser(nil), nil
	}})
}

func TestTracesOfRequestsAreHistories(t *testing.T) {
	text := "TIMESTAMP,ContextTokens,GeneratedTokens\n"
	for m := range 10 {
		for k := range m + 1 {
			text += fmt.Sprintf("2023-11-16 18:%02d:%02d.5000000,100,%d\n", 10+m, k, 10*(m+1))
		}
	}
	hs, err := readTraffic(t, Request{Step: capcli.Step{Seconds: 60}}, text)
	if err != nil {
		t.Fatal(err)
	}
	h := hs.List[0]
	if hs.Measure != "requests" || hs.Unit != "requests/s" || h.Name != "requests" || len(h.Values) != 8 || h.Values[0] != 2.0/60 || h.StampText(0) != "2023-11-16T18:11:00Z" {
		t.Errorf("%s %s %s %v from %s", hs.Measure, hs.Unit, h.Name, h.Values, h.StampText(0))
	}
	hs, err = readTraffic(t, Request{Step: capcli.Step{Seconds: 120}, Measure: "tokens-out"}, text)
	if err != nil || len(hs.List[0].Values) != 3 || hs.List[0].Values[0] != (3*30+4*40)/120.0 {
		t.Errorf("%+v, %v", hs, err)
	}
	for _, c := range []struct {
		q    Request
		want string
	}{
		{Request{}, "at least two whole steps of 1h00m"},
		{Request{Step: capcli.Step{Seconds: 60}, Measure: "usage"}, "usage is not told by a trace of requests"},
		{Request{Step: capcli.Step{Seconds: 60}, By: []string{"tenant"}}, "--by cannot divide"},
		{Request{Step: capcli.Step{Seconds: 60}, Curve: true}, "says nothing of GPUs"},
		{Request{Step: capcli.Step{Seconds: 60}, Metrics: "vllm"}, "goes with --prom"},
	} {
		if _, err := readTraffic(t, c.q, text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.q, err, c.want)
		}
	}
	if _, err := readTraffic(t, Request{Measure: "requests"}, "submit,gpus,run_s\n0,1,60\n"); err == nil || !strings.Contains(err.Error(), "does not know --measure requests") {
		t.Errorf("a job log: %v", err)
	}
}

// oneSeries answers any query with a series of ones.
type oneSeries struct{ asked string }

func (o *oneSeries) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	o.asked = string(body)
	text := `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[1798761600,"1"],[1798765200,"2"],[1798768800,"3"]]}]}}`
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
}

func TestMetricsOfServersAreHistories(t *testing.T) {
	web := &oneSeries{}
	q := Request{Prometheus: "http://prom", Metrics: "vllm", Match: `model_name="m"`, From: "2027-01-01", To: "2027-01-02"}
	hs, err := Read(context.Background(), q, Sources{Web: web})
	if err != nil {
		t.Fatal(err)
	}
	if hs.Measure != "requests" || hs.List[0].Name != "requests" || len(hs.List[0].Values) != 3 || !strings.Contains(web.asked, "sum%28rate%28vllm%3Arequest_success_total%7Bmodel_name%3D%22m%22%7D%5B3600s%5D%29%29") {
		t.Errorf("%s of %s, asked %s", hs.List[0].Name, hs.Measure, web.asked)
	}
	q.Measure = "ttft-p99"
	if hs, err = Read(context.Background(), q, Sources{Web: web}); err != nil || hs.Unit != "s" {
		t.Errorf("%+v, %v", hs, err)
	}
	q.Metrics = "triton"
	q.Measure = "tokens-in"
	if _, err = Read(context.Background(), q, Sources{Web: web}); err == nil || !strings.Contains(err.Error(), "tokens-in is not told by triton") {
		t.Errorf("%v", err)
	}
	q.Query = "up"
	if _, err = Read(context.Background(), q, Sources{Web: web}); err == nil || !strings.Contains(err.Error(), "metrics and query") {
		t.Errorf("%v", err)
	}
}

func TestPublishedTraceIsAHistory(t *testing.T) {
	const name = "../../../shared/data/series/llm-requests/azure_llm_conv.csv.gz"
	if _, err := os.Stat(name); err != nil {
		t.Skip("the shared data is not here")
	}
	hs, err := Read(context.Background(), Request{Inputs: []string{name}, Step: capcli.Step{Seconds: 60}}, Sources{Open: func(name string) (trace.Input, io.Closer, error) {
		f, err := os.Open(name)
		return trace.Input{Name: name, R: f}, f, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, v := range hs.List[0].Values {
		sum += v * 60
	}
	if sum < 18_000 || sum > 19_366 {
		t.Errorf("%.0f requests in %d whole minutes", sum, len(hs.List[0].Values))
	}
}
