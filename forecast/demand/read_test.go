package demand

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"capcli"
	"capcli/forecast/unconstrain"
	"capcli/profile/logs/series"
	"capcli/profile/logs/trace"
)

// files are inputs by name.
type files map[string]string

func (f files) sources() Sources {
	return Sources{Open: func(name string) (trace.Input, io.Closer, error) {
		text, ok := f[name]
		if !ok {
			return trace.Input{}, nil, fs.ErrNotExist
		}
		return trace.Input{Name: name, R: strings.NewReader(text)}, io.NopCloser(nil), nil
	}}
}

// hours writes hourly rows of series, a value for each hour.
func hours(rows map[string][]float64, order ...string) string {
	var b strings.Builder
	b.WriteString("unique_id,ds,y\n")
	for _, id := range order {
		for i, v := range rows[id] {
			fmt.Fprintf(&b, "%s,2026-01-%02dT%02d:00:00Z,%g\n", id, 5+i/24, i%24, v)
		}
	}
	return b.String()
}

const jobLog = `job_id,submit,start,end,gpus,tenant,gpu_model
a,2026-01-05T00:00:00Z,2026-01-05T00:00:00Z,2026-01-05T02:00:00Z,6,ml,h100
b,2026-01-05T00:00:00Z,2026-01-05T02:00:00Z,2026-01-05T05:00:00Z,4,web,h100
c,2026-01-05T03:00:00Z,2026-01-05T05:00:00Z,2026-01-05T06:00:00Z,8,ml,a100
d,2026-01-05T05:00:00Z,2026-01-05T06:00:00Z,2026-01-05T07:00:00Z,1,ml,a100
`

// TestWrongRequestsAreNamed: what is wrong is said with its field, or with the input
// that it does not fit.
func TestWrongRequestsAreNamed(t *testing.T) {
	in := files{
		"t.csv": hours(map[string][]float64{"a": {1, 2, 3}}, "a"), "jobs.csv": jobLog,
		"late.csv": "ds,y\n2026-01-05,1\n2026-01-06,2\n",
	}
	for _, tt := range []struct {
		name string
		req  Request
		want string
	}{
		{"nothing", Request{}, "no history is named"},
		{"a measure", Request{Inputs: []string{"t.csv"}, Measure: "sales"}, `unknown --measure "sales"`},
		{"a gap rule", Request{Inputs: []string{"t.csv"}, Gaps: "guess"}, `unknown --gaps "guess"`},
		{"a key of a table", Request{Inputs: []string{"t.csv"}, By: []string{"tenant"}}, "t.csv is a table of series, which --by cannot divide"},
		{"gaps of jobs", Request{Inputs: []string{"jobs.csv"}, Gaps: series.Zero}, "jobs.csv is a job log, which has no gaps"},
		{"a separator of jobs", Request{Inputs: []string{"jobs.csv"}, Separator: "/"}, "--id-sep divides the ids of a table"},
		{"the power of jobs", Request{Inputs: []string{"jobs.csv"}, Measure: "power"}, "does not know --measure power"},
		{"a capacity nobody measured", Request{Inputs: []string{"t.csv"}, Past: Level{Measured: true}}, "--past-capacity measured is for a folder"},
		{"a query without a server", Request{Inputs: []string{"t.csv"}, Query: "up"}, "query goes with --prom"},
		{"a server and a file", Request{Inputs: []string{"t.csv"}, Prometheus: "http://p"}, "--prom takes the history from Prometheus"},
		{"no address", Request{Prometheus: "p:9090", Query: "up", From: "2026-01-01"}, "prom wants the address of a server"},
		{"a time that is none", Request{Prometheus: "http://p", Query: "up", From: "soon"}, "from wants a date or a time"},
		{"two capacities", Request{Inputs: []string{"t.csv"}, Past: Level{GPUs: 4}, CapacityQuery: "x"}, "a query and a file say the same thing"},
	} {
		_, err := Read(context.Background(), tt.req, in.sources())
		var request *capcli.RequestError
		var unknown *capcli.UnknownError
		if err == nil || !errors.As(err, &request) && !errors.As(err, &unknown) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
	_, err := Read(context.Background(), Request{Inputs: []string{"t.csv", "late.csv"}}, in.sources())
	var input *capcli.InputError
	if !errors.As(err, &input) || input.File != "late.csv" || input.Hint != "give both the same --step" {
		t.Errorf("two steps: %v", err)
	}
	if _, err := Read(context.Background(), Request{Inputs: []string{"no.csv"}}, in.sources()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestLevels(t *testing.T) {
	for text, want := range map[string]string{"64": "64", "0.5": "0.5", "capacity.csv": `"capacity.csv"`} {
		l, err := parseLevel("cap", text)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := json.Marshal(l); err != nil || string(b) != want {
			t.Errorf("%s is %s, %v", text, b, err)
		}
	}
	for l, want := range map[Level]string{{}: "null", {Measured: true}: `"measured"`} {
		if b, err := json.Marshal(l); err != nil || string(b) != want {
			t.Errorf("%v is %s, %v", l, b, err)
		}
	}
	for _, text := range []string{"0", "-3", "nan", "inf"} {
		var request *capcli.RequestError
		if _, err := parseLevel("cap", text); !errors.As(err, &request) || request.Field != "cap" {
			t.Errorf("%s: %v", text, err)
		}
	}
	if nearLimit != unconstrain.NearLimit {
		t.Errorf("all GPUs are held from %g of the capacity on, in a forecast from %g", nearLimit, unconstrain.NearLimit)
	}
}

// TestIDsMakeAHierarchy: the sums of ids with levels, the whole first, and a part
// that begins late counts as nought before.
func TestIDsMakeAHierarchy(t *testing.T) {
	rows := map[string][]float64{"ml/h100": {1, 2, 3}, "ml/a100": {10, 20, 30}, "web/h100": {100, 200, 300}}
	hs, err := Read(context.Background(), Request{Inputs: []string{"t.csv"}, Separator: "/"}, files{"t.csv": hours(rows, "ml/h100", "ml/a100", "web/h100")}.sources())
	if err != nil {
		t.Fatal(err)
	}
	want := "total [111 222 333], ml [11 22 33], web [100 200 300], h100 [101 202 303], a100 [10 20 30], ml/h100 [1 2 3], ml/a100 [10 20 30], web/h100 [100 200 300]"
	var got []string
	for _, h := range hs.List {
		got = append(got, fmt.Sprint(h.Name, " ", h.Values))
	}
	if strings.Join(got, ", ") != want || len(hs.Tree.Sums) != 5 {
		t.Errorf("got %s\nwant %s", strings.Join(got, ", "), want)
	}
	wrong := hours(map[string][]float64{"a": {1, 2}, "b": {3, 4}, "total": {4, 7}}, "a", "b", "total")
	var input *capcli.InputError
	if _, err := Read(context.Background(), Request{Inputs: []string{"t.csv"}, Total: true}, files{"t.csv": wrong}.sources()); !errors.As(err, &input) || !strings.Contains(input.Text, "expected 6 at 2026-01-05T01:00:00Z, the sum of its 2 parts, found 7") {
		t.Errorf("a sum that is none: %v", err)
	}
}

// TestJobsBySeveralKeys: each key has its sums, and all the total.
func TestJobsBySeveralKeys(t *testing.T) {
	hs, err := Read(context.Background(), Request{Inputs: []string{"jobs.csv"}, By: []string{"tenant", "gpu_model"}}, files{"jobs.csv": jobLog}.sources())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, h := range hs.List {
		names = append(names, h.Name)
	}
	if got := strings.Join(names, " "); got != "total ml web a100 h100 ml/a100 ml/h100 web/h100" || !hs.ByName {
		t.Errorf("got %s", got)
	}
	for i := range hs.Tree.Sums[0].Values {
		sum := 0.0
		for _, p := range hs.Tree.Parts {
			sum += p.Values[i]
		}
		if sum != hs.Tree.Sums[0].Values[i] {
			t.Errorf("step %d: %g, the parts %g", i, hs.Tree.Sums[0].Values[i], sum)
		}
	}
}

// TestWhatHeldUsageDownIsOnTheFinestSteps: a capacity and a queue of hours stay hours
// where the history is asked for by days, and a cap reaches beyond its end.
func TestWhatHeldUsageDownIsOnTheFinestSteps(t *testing.T) {
	values := make([]float64, 72)
	for i := range values {
		values[i] = float64(i % 24)
	}
	in := files{
		"t.csv":     hours(map[string][]float64{"a": values}, "a"),
		"there.csv": "unique_id,ds,capacity\na,2026-01-05,20\na,2026-01-07,30\n",
		"queue.csv": "unique_id,ds,pending\na,2026-01-05T22:00:00Z,0\na,2026-01-05T23:00:00Z,5\n",
		"cap.csv":   "unique_id,ds,capacity\na,2026-01-05,25\na,2026-01-09,26\n",
	}
	hs, err := Read(context.Background(), Request{
		Inputs: []string{"t.csv"}, Step: capcli.Step{Days: 1}, Combine: series.Mean,
		Past: Level{File: "there.csv"}, Pending: "queue.csv", Cap: Level{File: "cap.csv"},
	}, in.sources())
	if err != nil {
		t.Fatal(err)
	}
	h := hs.List[0]
	c := h.Censoring
	if len(h.Values) != 3 || len(c.Fine.Values) != 72 || c.FineSteps(2) != 48 || c.Into[30] != 1 || c.FineStep != (capcli.Step{Seconds: capcli.Hour}) {
		t.Fatalf("%d days, %d hours, %+v", len(h.Values), len(c.Fine.Values), c.FineStep)
	}
	if c.Limit[0] != 20 || c.Limit[71] != 30 || c.Pending[23] != 5 || c.QueueKnown(24) || !c.LimitKnown(24) {
		t.Errorf("limits %v, pending %v", c.Limit, c.Pending)
	}
	if got := fmt.Sprint(hs.CapOver(h, 5)); got != "[25 25 25 25 26]" {
		t.Errorf("the cap is %s", got)
	}
	demand := append([]float64(nil), c.Fine.Values...)
	demand[23] += 24
	if got := c.Fold(h.Values, demand); got[0] != h.Values[0]+1 || got[1] != h.Values[1] {
		t.Errorf("24 more in one hour are %v a day, of %v", got, h.Values)
	}
	h.Forget(1)
	if h.StampText(0) != "2026-01-06" || len(c.Fine.Values) != 48 || c.Into[0] != 0 {
		t.Errorf("from %s on, %d hours, the first in day %d", h.StampText(0), len(c.Fine.Values), c.Into[0])
	}
}

// roundTrip answers a request of the web.
type roundTrip func(r *http.Request) string

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(f(r))), Request: r}, nil
}

// TestPrometheusTellsHistoryAndCapacity asks for both, with a token from a file.
func TestPrometheusTellsHistoryAndCapacity(t *testing.T) {
	s := files{"token": "secret\n"}.sources()
	s.Now = 4 * 3600
	s.Web = roundTrip(func(r *http.Request) string {
		body, _ := io.ReadAll(r.Body)
		value := "3"
		if strings.Contains(string(body), "capacity") {
			value = "4"
		}
		if r.Header.Get("Authorization") != "Bearer secret" || !strings.Contains(string(body), "end=14400") {
			t.Errorf("asked %s", body)
		}
		return `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"pool":"a"},"values":[[0,"` + value + `"],[3600,"` + value + `"]]}]}}`
	})
	hs, err := Read(context.Background(), Request{Prometheus: "http://p:9090", Query: "gpus", CapacityQuery: "capacity", From: "1970-01-01", TokenFile: "token"}, s)
	if err != nil {
		t.Fatal(err)
	}
	h := hs.List[0]
	if len(hs.List) != 1 || h.Values[1] != 3 || h.Censoring.Limit[1] != 4 || hs.Past.File != "http://p:9090" || hs.Inputs[0] != "http://p:9090" {
		t.Errorf("%v of %v, past %v", h.Values, h.Censoring.Limit, hs.Past)
	}
}

// TestReadingEndsWithItsContext: a long job log is given up when the call ends.
func TestReadingEndsWithItsContext(t *testing.T) {
	var b strings.Builder
	b.WriteString("job_id,submit,start,end,gpus\n")
	for i := range 5000 {
		fmt.Fprintf(&b, "%d,%d,%d,%d,1\n", i, 10*i, 10*i, 10*i+10)
	}
	why := errors.New("enough")
	ctx, stop := context.WithCancelCause(context.Background())
	stop(why)
	if _, err := Read(ctx, Request{Inputs: []string{"jobs.csv"}}, files{"jobs.csv": b.String()}.sources()); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	told := int64(0)
	s := files{"jobs.csv": b.String()}.sources()
	s.Progress = func(unit string) (at, end func(n int64)) {
		if unit != "jobs" {
			t.Errorf("counts %s", unit)
		}
		return func(int64) {}, func(n int64) { told = n }
	}
	if _, err := Read(context.Background(), Request{Inputs: []string{"jobs.csv"}}, s); err != nil || told != 5000 {
		t.Errorf("%d jobs, %v", told, err)
	}
}

// FuzzRead: whatever the bytes are, the error has a place or names the request, and
// what was read is regular and adds up.
func FuzzRead(f *testing.F) {
	rows := map[string][]float64{"a/x": {1, 2, 3}, "b/x": {4, 5, 6}}
	for _, text := range []string{
		hours(rows, "a/x", "b/x"), jobLog, "1\n2\n3\n", "ds,y\n2026-01-05,1\n2026-01-06,\n2026-01-08,2\n", "unique_id,ds,y,capacity,pending\na,1,2,3,\na,2,3,3,1\n",
		`{"unique_id":"a","ds":"2026-01-05","y":1}` + "\n" + `{"unique_id":"a","ds":"2026-01-06","y":2}` + "\n", "",
	} {
		for k := range uint8(8) {
			f.Add([]byte(text), k)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, flags uint8) {
		req := Request{Inputs: []string{"in"}, Total: flags&1 != 0, Curve: flags&2 != 0}
		if flags&4 != 0 {
			req.Separator, req.Gaps = "/", series.Previous
		}
		if flags&8 != 0 {
			req.Past = Level{GPUs: 5}
		}
		s := Sources{Open: func(name string) (trace.Input, io.Closer, error) {
			return trace.Input{Name: name, R: iotest.HalfReader(strings.NewReader(string(text)))}, io.NopCloser(nil), nil
		}}
		hs, err := Read(context.Background(), req, s)
		if err != nil {
			var input *capcli.InputError
			var request *capcli.RequestError
			if !errors.As(err, &request) && (!errors.As(err, &input) || input.File != "in") {
				t.Fatalf("an error without a place: %v", err)
			}
			return
		}
		checkHistories(t, hs)
	})
}

// checkHistories checks the laws of what was read.
func checkHistories(t *testing.T, hs *Histories) {
	t.Helper()
	for _, h := range hs.List {
		for i := 1; i < min(len(h.Values), 1000); i++ {
			if h.Stamp(i) <= h.Stamp(i-1) {
				t.Fatalf("%s: step %d is at %d, after %d", h.Name, i, h.Stamp(i), h.Stamp(i-1))
			}
		}
		if c := h.Censoring; c != nil && (c.Limit != nil && len(c.Limit) != len(c.Fine.Values) || c.Pending != nil && len(c.Pending) != len(c.Fine.Values)) {
			t.Fatalf("%s: %d steps, %d limits, %d queues", h.Name, len(c.Fine.Values), len(c.Limit), len(c.Pending))
		}
	}
	if hs.Tree == nil {
		return
	}
	for s, sum := range hs.Tree.Sums {
		for i, v := range sum.Values {
			total, size := 0.0, 0.0
			for _, j := range hs.Tree.PartsOf[s] {
				p := hs.Tree.Parts[j]
				if at, ok := p.IndexOf(sum.Stamp(i)); ok && at >= 0 && at < len(p.Values) {
					total, size = total+p.Values[at], size+math.Abs(p.Values[at])
				}
			}
			if math.Abs(v-total) > 1e-9*size || math.IsNaN(v) != math.IsNaN(total) {
				t.Fatalf("%s, step %d: %g, the parts %g", sum.Name, i, v, total)
			}
		}
	}
}
