package series

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"

	"capcli/testdata/golden"
)

// plainAnswer is an answer of query_range as encoding/json reads it, all at once.
type plainAnswer struct {
	Status string
	Data   struct {
		ResultType string
		Result     []struct {
			Metric map[string]string
			Values [][2]any
		}
	}
}

const oddAnswer = `{"data":{"result":[
	{"values":[[1700000000,"1"],[1700000060.5,"NaN"],[1700000120,"-Inf"]],"histogram":{"a":[[1],{"b":null}]},"metric":{"b":"2","a":"\"1\""}},
	{"metric":{},"values":[]},{"metric":null,"values":null},
	{"metric":{"c":"3"},"histograms":[[1,{"count":"1"}]]}],"stats":{"x":[{}]},"resultType":"matrix"},
	"infos":["i"],"warnings":["slow",{"odd":1}],"status":"success","isPartial":false}`

// An answer reads the same token by token as it does at once, whatever the order of
// its members and whatever else is in it.
func TestAnswerIsReadAsAStream(t *testing.T) {
	got, err := ReadLabelled(strings.NewReader(oddAnswer), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := labelledAtOnce(t, []byte(oddAnswer))
	if fmt.Sprint(got) != fmt.Sprint(want) || len(got) != 4 || len(got[0].Points) != 3 {
		t.Errorf("got %v, want %v", got, want)
	}
	table, err := ReadPrometheus(strings.NewReader(oddAnswer), Options{})
	if err != nil || len(table.Series) != 1 || table.Series[0].Name != `a="1",b=2` || len(table.Series[0].Rows) != 3 {
		t.Errorf("got %+v, %v", table, err)
	}
	if notes := fmt.Sprint(table.Notes); notes != "[1 infinite value: taken as missing Prometheus says: slow]" {
		t.Errorf("notes %s", notes)
	}
}

func labelledAtOnce(t testing.TB, b []byte) (out []Labelled) {
	t.Helper()
	var a plainAnswer
	if err := json.Unmarshal(b, &a); err != nil {
		t.Fatal(err)
	}
	for _, s := range a.Data.Result {
		one := Labelled{Labels: map[string]string{}, Points: []Point{}}
		for k, v := range s.Metric {
			one.Labels[k] = v
		}
		for _, v := range s.Values {
			f, _ := parseFloat(v[1].(string))
			one.Points = append(one.Points, Point{v[0].(float64), f})
		}
		out = append(out, one)
	}
	return out
}

func TestAnswerLimits(t *testing.T) {
	const head = `{"status":"success","data":{"resultType":"matrix","result":[`
	for _, tt := range []struct{ name, text, want string }{
		{"a long label", head + `{"metric":{"a":"` + strings.Repeat("x", 2<<20) + `"}}`, "longer than 1 MiB"},
		{"a long unknown text", `{"status":"success","more":"` + strings.Repeat("x", 2<<20), "longer than 1 MiB"},
		{"deep", `{"status":"success","more":` + strings.Repeat("[", 200_000), "expected an answer of Prometheus"},
		{"many values", head + `{"metric":{"a":"1"},"values":[` + strings.Repeat(`[1,"1"],`, 2000) + `[1,"1"]]}]}}`, "more values than the limit of 1,000"},
		{"many series", head + strings.Repeat(`{"metric":{"a":"1"},"values":[]},`, 2000) + `{}]}}`, "more values than the limit of 1,000"},
		{"much in labels", head + `{"metric":{` + strings.Repeat(`"a":"`+strings.Repeat("x", 1000)+`",`, 2000) + `"a":"1"}}]}}`, "more values than the limit of 1,000"},
		{"a scalar", `{"status":"success","data":{"resultType":"scalar","result":[1,"1"]}}`, "expected a matrix, found \"scalar\""},
		{"a scalar unsaid", `{"status":"success","data":{"result":[1,"1"]}}`, "expected a matrix, found 1"},
		{"a value that is a number", head + `{"metric":{},"values":[[1,1]]}]}}`, "a time and a value as text, found 1 and 1"},
		{"three in a pair", head + `{"metric":{},"values":[[1,"1",2]]}]}}`, "a time and a value as text"},
		{"a far time", head + `{"metric":{},"values":[[1e13,"1"]]}]}}`, "a sample's time is out of range"},
		{"no number", head + `{"metric":{"job":"x"},"values":[[1,"one"]]}]}}`, "job=x: expected a number as text, found \"one\""},
		{"no end", head, "unexpected EOF"},
		{"a list", `[]`, "expected an object"},
		{"a page", `<html>`, "invalid character '<'"},
	} {
		_, err := ReadLabelled(strings.NewReader(tt.text), Options{Name: "in", MaxRows: 1000})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %.300v, want %q in it", tt.name, err, tt.want)
		}
		if errors.Is(err, ErrTooMuch) != strings.Contains(tt.want, "more values") {
			t.Errorf("%s: too much is %v", tt.name, errors.Is(err, ErrTooMuch))
		}
	}
}

// endless is an answer of series of a thousand points each, without end, which looks
// at the heap as it is read.
type endless struct {
	values, piece string
	n             int64
	peak          uint64
}

func newEndless() *endless {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, `[%d,"12.5"],`, 1_700_000_000+60*i)
	}
	return &endless{values: b.String(), piece: `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[]}`}
}

func (e *endless) Read(p []byte) (int, error) {
	if e.piece == "" {
		if e.n++; e.n%64 == 0 {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			e.peak = max(e.peak, m.HeapInuse)
		}
		e.piece = fmt.Sprintf(`,{"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL","Hostname":"node-%d","gpu":"0"},"values":[%s[1700060000,"1"]]}`, e.n, e.values)
	}
	n := copy(p, e.piece)
	e.piece = e.piece[n:]
	return n, nil
}

// However long the answer is, what is held of it stays within bounds: three million
// values in less than 256 MiB.
func TestAnswerNeedsBoundedMemory(t *testing.T) {
	if golden.Short() {
		t.Skip("reads 20 MB twice")
	}
	for name, readAll := range map[string]func(io.Reader) error{
		"a table": func(r io.Reader) error { _, err := ReadPrometheus(r, Options{MaxRows: 1_000_000}); return err },
		"as it is": func(r io.Reader) error {
			_, err := ReadLabelled(r, Options{MaxRows: 1_000_000})
			return err
		},
	} {
		runtime.GC()
		e := newEndless()
		if err := readAll(e); !errors.Is(err, ErrTooMuch) {
			t.Fatalf("%s: %v", name, err)
		}
		t.Logf("%s: %d MiB in use at most, %d series", name, e.peak>>20, e.n)
		if e.peak > 96<<20 {
			t.Errorf("%s: %d MiB in use", name, e.peak>>20)
		}
	}
}

// FuzzAnswer: what reads as an answer reads as encoding/json would read it.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(oddAnswer))
	f.Add([]byte(`{"status":"error","errorType":"bad_data","error":"no"}`))
	f.Add([]byte(`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"a":"b"},"values":[[1,"2"],[3,"4"]]}]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := ReadLabelled(strings.NewReader(string(b)), Options{Name: "in", MaxRows: 10_000})
		if _, other := ReadPrometheus(strings.NewReader(string(b)), Options{Name: "in", MaxRows: 10_000}); other == nil && err != nil {
			t.Fatalf("a table was read of what is no answer: %v", err)
		}
		if err != nil || strings.Count(string(b), `"data"`) != 1 || strings.Count(string(b), `"result"`) != 1 || !json.Valid(b) {
			return
		}
		var a plainAnswer
		if json.Unmarshal(b, &a) != nil || len(a.Data.Result) != len(got) {
			return // a member in other letters, or twice
		}
		for i, s := range got {
			for _, p := range s.Points {
				if math.Abs(p.At) > 1e12 {
					t.Fatalf("a time out of range: %v", p.At)
				}
			}
			if strings.Count(string(b), `"metric"`) == len(got) && len(s.Labels) != len(a.Data.Result[i].Metric) {
				t.Fatalf("labels %v, want %v", s.Labels, a.Data.Result[i].Metric)
			}
		}
	})
}
