package requests

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"capcli"
	"capcli/profile/logs/trace"
)

func openText(t *testing.T, text string) *Reader {
	t.Helper()
	r, err := Open(trace.Input{Name: "f", R: strings.NewReader(text)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestDescribe(t *testing.T) {
	text := "time,tokens_in,tokens_out,cached,user,model\n" +
		"2027-01-01T22:59:00Z,100,10,50,u,a\n2027-01-01T22:59:20Z,200,20,0,u,a\n2027-01-01T23:00:00Z,300,30,0,v,b\n" +
		"2027-01-01T23:30:00Z,400,40,50,w,a\n2027-01-02T01:00:00Z,1000,0,0,w,a\n2027-01-02T01:59:00Z,1000,100,0,w,a\n"
	d, err := Describe(context.Background(), openText(t, text), time.FixedZone("east", 3600))
	if err != nil {
		t.Fatal(err)
	}
	s := d.Summary
	if s.Requests != 5 || d.Read.Failed != 1 || s.SpanS != 3*3600 || s.PerS != 5.0/10800 || s.First.String() != "2027-01-01T22:59:00Z" {
		t.Errorf("%+v", s)
	}
	if want := (Quantiles{400, 300, 1000, 1000, 1000, 1000}); s.In != want {
		t.Errorf("tokens in %+v, want %+v", s.In, want)
	}
	if s.TotalIn != 2000 || s.TotalOut != 200 || s.CachedShare != 0.05 || s.Users != 3 || s.TopUsers != 0.4 {
		t.Errorf("%+v", s)
	}
	if want := []Busiest{{"hour", 2.0 / 3600, 1.2, 1798844400 - 3600}, {"minute", 2.0 / 60, 72, 1798844340}, {"second", 1, 2160, 1798844340}}; len(s.Busiest) != 3 || s.Busiest[1].At != want[1].At || math.Abs(s.Busiest[0].OverMean-1.2) > 1e-9 || math.Abs(s.Busiest[1].OverMean-72) > 1e-9 {
		t.Errorf("busiest %+v, want %+v", s.Busiest, want)
	}
	if len(s.Models) != 2 || s.Models[0] != (ModelShare{"a", 4, 0.8, 1700, 170}) || len(s.Hours) != 24 || s.Hours[23].Requests != 2 || s.Hours[0].Requests != 2 || s.Hours[2].Requests != 1 {
		t.Errorf("models %+v, hours %+v", s.Models, s.Hours)
	}
	gaps := []float64{20, 40, 1800, 8940}
	mean, squares := 0.0, 0.0
	for _, g := range gaps {
		mean += g / 4
	}
	for _, g := range gaps {
		squares += (g - mean) * (g - mean) / 4
	}
	if cv := math.Sqrt(squares) / mean; math.Abs(float64(s.GapCV)-cv) > 1e-9 || s.GapCVMinute.IsKnown() {
		t.Errorf("gaps vary by %v and %v, want %v", s.GapCV, s.GapCVMinute, cv)
	}
}

func TestGapsOfAPoissonProcess(t *testing.T) {
	rng := capcli.Seed(1).Stream("gaps")
	var b strings.Builder
	b.WriteString("arrival_us,tokens_in,tokens_out\n")
	at := 0.0
	for i := range 30_000 {
		rate := 10.0
		if i >= 15_000 {
			rate = 1000 // the rate changes; within minutes the process is Poisson
		}
		if i == 15_000 {
			at = 1800 // the start of a minute
		}
		at += rng.ExpFloat64() / rate
		b.WriteString(strings.Join([]string{strconv.FormatInt(int64(at*1e6), 10), "1", "1\n"}, ","))
	}
	d, err := Describe(context.Background(), openText(t, b.String()), nil)
	if err != nil {
		t.Fatal(err)
	}
	if cv := float64(d.GapCVMinute); math.Abs(cv-1) > 0.08 || float64(d.GapCV) < 1.3 {
		t.Errorf("gaps vary by %v, within minutes by %v; want over 1.3 and 1", d.GapCV, cv)
	}
}

func TestRates(t *testing.T) {
	text := "time,tokens_in,tokens_out\n2027-01-01T10:00:30Z,1,2\n2027-01-01T10:03:00Z,3,4\n2027-01-01T09:58:10Z,5,6\n2027-01-01T10:03:59.9Z,7,8\n"
	s, err := ReadRates(context.Background(), openText(t, text), 60)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Requests, []float64{1, 0, 1, 0, 0, 2}) || !slices.Equal(s.In, []float64{5, 0, 1, 0, 0, 10}) || s.Start.String() != "2027-01-01T09:58:00Z" {
		t.Errorf("%+v", s)
	}
	var b bytes.Buffer
	if err := s.WriteCSV(&b); err != nil || !strings.HasPrefix(b.String(), "time,requests_per_second,tokens_in_per_second,tokens_out_per_second\n2027-01-01T09:58:00Z,0.016666666666666666,0.08333333333333333,0.1\n") {
		t.Errorf("%s, %v", b.String(), err)
	}
	if _, err := ReadRates(context.Background(), openText(t, "time,tokens_in,tokens_out\n1970-01-01T10:00:30Z,1,2\n2027-01-01T10:03:00Z,3,4\n"), 1); err == nil {
		t.Error("57 years of seconds were taken")
	}
}
