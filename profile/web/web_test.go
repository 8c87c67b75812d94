package web

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"capcli"
)

// answer is a server that knows the value 1 of one series at each step it is asked for.
type answer struct {
	asked []string // "from to" of each question
	token string
}

func (a *answer) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	res := func(code int, text string) (*http.Response, error) {
		return &http.Response{StatusCode: code, Status: strconv.Itoa(code), Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
	}
	if r.Header.Get("Authorization") != "Bearer "+a.token {
		return res(http.StatusUnauthorized, "{}")
	}
	from, _ := strconv.Atoi(form.Get("start"))
	to, _ := strconv.Atoi(form.Get("end"))
	step, _ := strconv.Atoi(form.Get("step"))
	a.asked = append(a.asked, form.Get("start")+" "+form.Get("end"))
	var points []string
	for at := from; at <= to; at += step {
		points = append(points, fmt.Sprintf(`[%d,"1"]`, at))
	}
	return res(http.StatusOK, `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"gpus"},"values":[`+strings.Join(points, ",")+`]}]}}`)
}

func TestALongTimeIsAskedInParts(t *testing.T) {
	web := &answer{token: "t"}
	u, shown := ParseAddress("http://someone:secret@prom:9090/?x=secret")
	p := &Prometheus{Address: u, Shown: shown, Token: "t", Transport: web}
	if shown != "http://prom:9090/" {
		t.Errorf("shown as %s", shown)
	}
	q := Query{PromQL: "gpus", From: 0, To: 60 * 25_000, Step: 60}
	table, err := p.Table(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(table.Series[0].Rows); n != 25_001 || len(web.asked) != 3 || web.asked[1] != "660000 1319940" {
		t.Errorf("%d rows in parts %q", n, web.asked)
	}
	ranges, err := p.Ranges(context.Background(), Query{PromQL: "gpus", From: 0, To: 120, Step: 60})
	if err != nil || len(ranges) != 1 || len(ranges[0].Values) != 3 || ranges[0].At[2] != capcli.Time(120) {
		t.Errorf("ranges %v, %v", ranges, err)
	}
	p.Token = "another"
	if _, err := p.Table(context.Background(), q); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a wrong token: %v", err)
	}
}

func TestTokens(t *testing.T) {
	if got, err := ReadToken("token", strings.NewReader(" abc\n")); got != "abc" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for _, text := range []string{"", "\n", "two\nlines", strings.Repeat("x", maxToken+1)} {
		if got, err := ReadToken("token", strings.NewReader(text)); err == nil || strings.Contains(err.Error(), "xx") {
			t.Errorf("%.10q gave %q, %v", text, got, err)
		}
	}
}
