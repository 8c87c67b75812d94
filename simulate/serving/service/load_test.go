package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/scenarios/strict"
	"capcli/simulate/serving/traffic"
)

// files opens texts by their names.
type files map[string]string

func (f files) open(name string) (trace.Input, io.Closer, error) {
	text, ok := f[name]
	if !ok {
		return trace.Input{}, nil, os.ErrNotExist
	}
	return trace.Input{Name: name, R: strings.NewReader(text)}, io.NopCloser(nil), nil
}

// parseRequests reads the requests: of a service.
func parseRequests(t *testing.T, text string) (*Spec, error) {
	t.Helper()
	d := &strict.Decoder{Form: &form}
	s := &Spec{Name: "chat"}
	section := strict.Section[Spec]{Name: "service", Fields: func(s *Spec) []strict.Field { return s.loadFields() }, Check: func(o *strict.Object, s *Spec) { s.checkLoad(o) }}
	if root := d.ReadTree([]byte("requests: " + text + "\n")); root != nil {
		section.Read(d, root, s)
	}
	if d.FaultCount() > 0 {
		return nil, d.Refusal("f", "")
	}
	return s, nil
}

// openRequests returns the requests of a service and what was said of them.
func openRequests(t *testing.T, text string, f files, start capcli.Time) (traffic.Source, []string, error) {
	t.Helper()
	s, err := parseRequests(t, text)
	if err != nil {
		t.Fatal(err)
	}
	var notes []string
	src, err := s.Traffic(context.Background(), Opening{Open: f.open, Start: start, Seed: 1, Note: func(n string) { notes = append(notes, n) }})
	return src, notes, err
}

var someFiles = files{
	"t.csv":     "time,tokens_in,tokens_out,model\n2027-01-04T10:00:00Z,100,10,a\n2027-01-04T10:00:30Z,300,30,b\n2027-01-04T10:01:30Z,200,0,a\n2027-01-04T10:02:00Z,200,20,a\n",
	"c.csv":     "ds,requests\n2027-01-04T00:00:00Z,3600\n2027-01-04T01:00:00Z,7200\n",
	"rate.csv":  "time;rps\n2027-01-04T00:00;2\n2027-01-04T00:10;4\n",
	"len.csv":   "tokens_in,tokens_out\n5,1\n7,2\n",
	"both.csv":  "unique_id,ds,model,rate,requests\nr,2027-01-04T00:00:00Z,auto,2,120\nr,2027-01-04T00:01:00Z,auto,4,240\n",
	"ahead.csv": "unique_id,ds,model,mean,lo-80,hi-80\nrequests,2027-01-04T00:00:00Z,auto,2,1,3\nrequests,2027-01-04T00:01:00Z,auto,4,1,5\n",
	"two.csv":   "unique_id,ds,y\na,2027-01-04,1\nb,2027-01-04,1\n",
	"notok.csv": "time,latency\n1,2\n",
}

func TestRequestsOfFiles(t *testing.T) {
	monday := capcli.Time(1798970400) // 2027-01-03T10:00:00Z
	for _, c := range []struct {
		text   string
		start  capcli.Time
		length capcli.Seconds
		want   []int64
		note   string
	}{
		{"t.csv", capcli.NoTime, 60, []int64{2, 0, 1, 0}, "1 of 4 rows have no tokens out"},
		{"{from: t.csv, repeat: 5m}", capcli.NoTime, 60, []int64{2, 0, 1, 0, 0, 2, 0, 1}, ""},
		{"{from: t.csv, only_model: a, start: 1m}", capcli.NoTime, 60, []int64{0, 1, 0, 1}, "repeat: true"},
		{"{from: t.csv, scale: 3, speed: 60}", capcli.NoTime, 60, []int64{9, 0}, ""},
		{"{from: t.csv, start: own}", monday, 12 * 3600, []int64{0, 0, 3}, ""},
		{"{from: t.csv, start: 2027-01-03T10:01}", monday, 60, []int64{0, 2, 0, 1}, ""},
		{"{curve: c.csv, tokens_in: 5, tokens_out: 6, arrivals: even}", capcli.NoTime, 1800, []int64{1800, 1800, 3600, 3600, 0}, "end after 2h00m"},
		{"{curve: c.csv, curve_values: per_second, scale: 0.5, repeat: true, tokens_in: 5, tokens_out: 6, arrivals: even}", capcli.NoTime, 3600, []int64{6480000, 12960000, 6480000}, ""},
		{"{curve: both.csv, tokens_in: 5, tokens_out: 6, arrivals: even}", capcli.NoTime, 60, []int64{120, 240, 0}, ""},
		{"{curve: ahead.csv, start: own, tokens_in: 5, tokens_out: 6, arrivals: even}", 1799020740, 60, []int64{0, 120, 240, 0}, ""},
		{"{curve: rate.csv, start: 5m, tokens_in: {from: len.csv}, tokens_out: {from: len.csv}, arrivals: even}", capcli.NoTime, 300, []int64{0, 600, 600, 1200, 1200, 0}, ""},
	} {
		src, notes, err := openRequests(t, c.text, someFiles, c.start)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		got, err := src.Counts(c.length, len(c.want))
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v (%v)", c.text, got, c.want, err)
		}
		if !strings.Contains(strings.Join(notes, "\n"), c.note) {
			t.Errorf("%s says %q, want %q", c.text, notes, c.note)
		}
	}
}

func TestLengthsOfFilesAreDrawnTogether(t *testing.T) {
	for _, c := range []struct {
		text string
		want string
	}{
		{"{rate: 10/s, tokens_in: {from: len.csv}, tokens_out: {from: len.csv}}", "[5/1 7/2]"},
		{"{rate: 10/s, tokens_in: {from: len.csv}, tokens_out: {from: t.csv}}", "[5/10 5/20 5/30 7/10 7/20 7/30]"},
		{"{rate: 10/s, tokens_in: {from: len.csv}, tokens_out: 9, cached: 40%}", "[5/9 7/9]"},
	} {
		src, _, err := openRequests(t, c.text, someFiles, capcli.NoTime)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		var pairs []string
		for r := range src.Requests(60) {
			pairs = append(pairs, fmt.Sprintf("%d/%d", r.In, r.Out))
		}
		slices.Sort(pairs)
		if got := fmt.Sprint(slices.Compact(pairs)); got != c.want {
			t.Errorf("%s draws %s, want %s", c.text, got, c.want)
		}
	}
}

func TestRhythmOfTheFile(t *testing.T) {
	s, err := parseRequests(t, "{peak_rate: 1000/s, day_swing: 4, peak: 16:00-18:00, weekend: 0.5, growth: 30%/year, tz: Europe/Berlin, tokens_in: {median: 512, p95: 2048}, tokens_out: {mean: 200, max: 900}, arrivals: gamma, cv: 2, users: 5000, cached: 30%}")
	if err != nil {
		t.Fatal(err)
	}
	c := s.Requests.Demand.Curve
	if c.Rate != 1000 || !c.AtPeak || c.DaySwing != 4 || c.PeakFrom != 16 || c.PeakTo != 18 || c.Weekend != 0.5 || c.Growth < 0.0221 || c.Growth > 0.0222 || c.Zone.String() != "Europe/Berlin" {
		t.Errorf("%+v", c)
	}
	if d := s.Requests.Demand; d.CV != 2 || d.Users != 5000 || s.Requests.Cached != 0.3 || d.Tokens.Out.Max != 900 {
		t.Errorf("%+v", d)
	}
}

func TestWrongRequests(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"{scale: 2}", "give from, a trace of requests, or a curve"},
		{"{from: a, rate: 2/s}", "from and rate both say how many requests come"},
		{"{rate: 2/s, tokens_in: 5}", "tokens_out is missing"},
		{"{rate: fast, tokens_in: 5, tokens_out: 5}", `want a rate such as 1000/s, 60/min, 2M/h or 5M/day, found "fast"`},
		{"{rate: 2/week, tokens_in: 5, tokens_out: 5}", "want a rate such as"},
		{"{rate: 2/s, speed: 2, tokens_in: 5, tokens_out: 5}", "speed is of a trace; these requests have a rate"},
		{"{rate: 2/s, repeat: true, tokens_in: 5, tokens_out: 5}", "repeat is of a file"},
		{"{from: a, day_swing: 2}", "day_swing is of requests with a rate"},
		{"{from: a, tokens_in: 2}", "tokens_in is of requests with a rate or a curve"},
		{"{rate: 2/s, peak: 16:00-18:00, tokens_in: 5, tokens_out: 5}", "a peak needs day_swing"},
		{"{rate: 2/s, day_swing: 2, peak: 16, tokens_in: 5, tokens_out: 5}", "want hours of the day such as 16:00-18:00"},
		{"{rate: 2/s, arrivals: gamma, tokens_in: 5, tokens_out: 5}", "gamma arrivals need cv"},
		{"{rate: 2/s, cv: 2, tokens_in: 5, tokens_out: 5}", "cv goes with arrivals: gamma"},
		{"{rate: 2/s, growth: 2, tokens_in: 5, tokens_out: 5}", "want a growth such as 2%/month"},
		{"{rate: 2/s, cached: 130%, tokens_in: 5, tokens_out: 5}", "want a share of each prompt"},
		{"{rate: 2/s, tokens_in: {median: 9}, tokens_out: 5}", "how long the long ones are"},
		{"{rate: 2/s, tokens_in: {median: 9, p95: 3}, tokens_out: 5}", "at least the median"},
		{"{rate: 2/s, tokens_in: {fixed: 9, mean: 3}, tokens_out: 5}", "give one law"},
		{"{rate: 2/s, tokens_in: {p95: 3}, tokens_out: 5}", "give fixed, median with p95"},
		{"{from: a, format: azur}", `did you mean "azure"`},
		{"{from: a, start: later}", "want own, a date"},
		{"{from: a, repeats: true}", `did you mean "repeat"`},
		{"[a]", "want fields such as from"},
	} {
		_, err := parseRequests(t, c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.text, err, c.want)
		}
	}
	for _, c := range []struct {
		text, want string
		start      capcli.Time
	}{
		{"{from: t.csv, only_model: c}", `has no requests to "c"`, capcli.NoTime},
		{"{from: notok.csv}", "tokens_in, tokens_out", capcli.NoTime},
		{"{from: t.csv, start: own}", "the run has none", capcli.NoTime},
		{"{from: t.csv, start: own}", "come before the run", 1900000000},
		{"{from: t.csv, repeat: 1m}", "wants at least the length of the trace", capcli.NoTime},
		{"{curve: two.csv, tokens_in: 5, tokens_out: 5}", "expected one series of rates, found 2", capcli.NoTime},
		{"{curve: len.csv, tokens_in: 5, tokens_out: 5}", "len.csv", capcli.NoTime},
		{"{curve: gone.csv, tokens_in: 5, tokens_out: 5}", "not exist", capcli.NoTime},
	} {
		_, _, err := openRequests(t, c.text, someFiles, c.start)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.text, err, c.want)
		}
	}
	var request *capcli.RequestError
	if _, err := (&Spec{}).Traffic(context.Background(), Opening{}); !errors.As(err, &request) || request.Field != "requests" {
		t.Errorf("a service without requests: %v", err)
	}
}

// A trace of the shared data is played as the reference has it: one request for each of its rows.
func TestSharedTraceIsPlayed(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "..", "shared", "data", "series", "llm-requests")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the shared data is not here")
	}
	s, err := parseRequests(t, filepath.Join(dir, "azure_llm_conv.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	src, err := s.Traffic(context.Background(), Opening{Start: capcli.NoTime, Open: func(name string) (trace.Input, io.Closer, error) {
		f, err := os.Open(name)
		return trace.Input{Name: name, R: f}, f, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	counts, err := src.Counts(10, 360)
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, n := range counts {
		sum += n
	}
	if list, err := traffic.Collect(src, src.Length(), 1e6); sum != 19_366 || err != nil || len(list) != 19_366 || list[1].Arrival != 4_314_579 {
		t.Errorf("%d requests in steps, %d one by one, %v", sum, len(list), err)
	}
}

// The template shows every field of requests:, and each of its lines can be read.
func TestTemplateHasEveryFieldOfRequests(t *testing.T) {
	shown := ""
	for line := range strings.Lines(Template()) {
		text, ok := strings.CutPrefix(strings.TrimPrefix(line, "#"), "requests: ")
		if !ok {
			continue
		}
		shown += text
		if _, err := parseRequests(t, strings.TrimSpace(text)); err != nil {
			t.Error(err)
		}
	}
	for _, f := range requestsFields(newRequests()) {
		if !strings.Contains(shown, f.Name+": ") {
			t.Errorf("the template does not show %s", f.Name)
		}
	}
}
