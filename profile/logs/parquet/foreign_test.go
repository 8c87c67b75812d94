package parquet

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/format"

	"capcli"
	"capcli/profile/logs/trace"
)

func packedBy(t testing.TB, b []byte) map[format.CompressionCodec][]byte {
	t.Helper()
	out := map[format.CompressionCodec][]byte{}
	for _, c := range []compress.Codec{&pq.Snappy, &pq.Gzip, &pq.Zstd, &pq.Lz4Raw} {
		packed, err := c.Encode(nil, b)
		if err != nil {
			t.Fatal(err)
		}
		out[c.CompressionCodec()] = bytes.Clone(packed)
	}
	return out
}

// foreignRow is how others write jobs: pandas' doubles where a value can be
// missing, a dictionary for categories, nanoseconds without a zone.
type foreignRow struct {
	ID     int64      `parquet:"job_id,delta"`
	Tenant *string    `parquet:"tenant,optional,dict"`
	Model  string     `parquet:"gpu_model,delta"`
	Class  string     `parquet:"class"`
	GPUs   float64    `parquet:"gpus,split"`
	CPUs   int32      `parquet:"cpus,delta"`
	Submit time.Time  `parquet:"submit,timestamp(nanosecond)"`
	Start  *time.Time `parquet:"start,optional,timestamp(millisecond)"`
	End    int64      `parquet:"end"`
	Run    *float64   `parquet:"run_s,optional"`
	Prio   int32      `parquet:"priority,dict"`
	Extra  []string   `parquet:"tags"`
}

func foreignRows(n int) ([]foreignRow, []capcli.Job) {
	rows, jobs := make([]foreignRow, n), make([]capcli.Job, n)
	for i := range rows {
		at := int64(1_600_000_000 + 10*i)
		r := foreignRow{
			ID: int64(i * 7), Model: fmt.Sprintf("GPU %d", i%5), Class: strings.Repeat("k", i%3),
			GPUs: float64(i % 9), CPUs: int32(i % 64), Submit: time.Unix(at, 0).UTC(),
			End: at + 100, Prio: int32(i%7 - 3), Extra: []string{"a", "b"}[:i%3%2],
		}
		j := capcli.Job{
			ID: fmt.Sprint(i * 7), GPUModel: r.Model, Class: r.Class, GPUs: i % 9, CPUMilli: int64(i%64) * 1000,
			Submit: capcli.Time(at), Start: capcli.NoTime, End: capcli.Time(at + 100), Eligible: capcli.NoTime, Deadline: capcli.NoTime, Priority: i%7 - 3,
		}
		if i%4 != 0 {
			name, start := fmt.Sprintf("team%d", i%11), time.Unix(at+5, 0).UTC()
			r.Tenant, r.Start = &name, &start
			j.Tenant, j.Start, j.Run = name, capcli.Time(at+5), 95
		}
		if i%2 == 0 {
			run := float64(i)
			r.Run, j.Run = &run, capcli.Seconds(i)
		}
		if r.Run == nil && r.Start == nil {
			panic("a job without a run time")
		}
		rows[i], jobs[i] = r, j
	}
	return rows, jobs
}

func writeForeign[T any](t testing.TB, rows []T, options ...pq.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := pq.NewGenericWriter[T](&b, options...)
	for part := range slices.Chunk(rows, 700) {
		if _, err := w.Write(part); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func foreignFiles(t testing.TB) map[string][]byte {
	rows, _ := foreignRows(60)
	out := map[string][]byte{}
	for name, c := range map[string]compress.Codec{
		"none": &pq.Uncompressed, "snappy": &pq.Snappy, "gzip": &pq.Gzip, "zstd": &pq.Zstd, "lz4": &pq.Lz4Raw,
	} {
		out[name+" v1"] = writeForeign(t, rows, pq.Compression(c), pq.DataPageVersion(1))
		out[name+" v2"] = writeForeign(t, rows, pq.Compression(c), pq.DataPageVersion(2))
	}
	return out
}

func TestForeign(t *testing.T) {
	rows, want := foreignRows(3000)
	for name, options := range map[string][]pq.WriterOption{
		"v1 plain pages":      {pq.DataPageVersion(1)},
		"v2":                  {pq.DataPageVersion(2)},
		"v1 snappy":           {pq.DataPageVersion(1), pq.Compression(&pq.Snappy)},
		"v2 gzip":             {pq.Compression(&pq.Gzip)},
		"v2 lz4, tiny":        {pq.Compression(&pq.Lz4Raw), pq.PageBufferSize(300)},
		"v1 zstd, tiny":       {pq.Compression(&pq.Zstd), pq.PageBufferSize(64), pq.DataPageVersion(1)},
		"dictionary given up": {pq.DictionaryMaxBytes(40), pq.PageBufferSize(100)},
	} {
		t.Run(name, func(t *testing.T) {
			got, rep, err := decode(writeForeign(t, rows, options...), trace.Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkSameJobs(t, got, want)
			if rep.Kept != int64(len(want)) {
				t.Errorf("report %+v", rep)
			}
		})
	}
}

// instants in each unit, and what becomes of parts of a second.
func TestForeignTimes(t *testing.T) {
	type row struct {
		S  int64   `parquet:"sec"`
		MS int64   `parquet:"ms,timestamp(millisecond)"`
		US int64   `parquet:"us,timestamp(microsecond)"`
		NS int64   `parquet:"ns,timestamp(nanosecond)"`
		LO int64   `parquet:"local,timestamp(microsecond:local)"`
		D  int32   `parquet:"day,date"`
		F  float64 `parquet:"float"`
		T  string  `parquet:"text"`
		PM int64   `parquet:"plainms"`
		FM float64 `parquet:"floatms"`
		G  int32   `parquet:"gpus"`
		R  int64   `parquet:"run_s"`
	}
	const at = 1_735_689_600 // 2025-01-01
	b := writeForeign(t, []row{{
		S: at, MS: at*1e3 + 499, US: at*1e6 + 1, NS: at*1e9 - 1, LO: at * 1e6, D: at / 86400, F: at + 0.25,
		T: "2025-01-01T01:00:00+01:00", G: 1, R: 1,
		PM: at*1e3 + 2, FM: at * 1e3,
	}})
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zones on this machine")
	}
	cases := []struct {
		column  string
		tz      *time.Location
		want    capcli.Time
		assumed bool
		note    string
	}{
		{"sec", nil, at, false, ""},
		{"ms", nil, at, true, ""},
		{"us", nil, at, true, ""},
		{"ns", nil, at, true, ""},
		{"us", berlin, at, true, ""},
		{"local", nil, at, false, "UTC"},
		{"local", time.UTC, at, false, ""},
		{"local", berlin, at - 3600, false, ""},
		{"day", nil, at, false, ""},
		{"float", nil, at, true, ""},
		{"text", nil, at, false, ""},
		{"plainms", nil, at, true, "milliseconds"},
		{"floatms", nil, at, false, "milliseconds"},
	}
	for _, c := range cases {
		t.Run(fmt.Sprint(c.column, c.tz), func(t *testing.T) {
			jobs, rep, err := decode(b, trace.Options{Map: map[string]string{"submit": c.column}, TZ: c.tz})
			if err != nil {
				t.Fatal(err)
			}
			if got := jobs[0].Submit; got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
			if got := len(rep.Assumed) > 0; got != c.assumed {
				t.Errorf("assumed %v", rep.Assumed)
			}
			if notes := strings.Join(rep.Notes, "; "); c.note != "" && !strings.Contains(notes, c.note) {
				t.Errorf("notes %q lack %q", notes, c.note)
			}
		})
	}
}

// A file whose rows cannot all be jobs: the same reasons as in a CSV file.
func TestRejects(t *testing.T) {
	type row struct {
		ID     *string  `parquet:"job_id,optional"`
		GPUs   *float64 `parquet:"gpus,optional"`
		Submit *int64   `parquet:"submit,optional,timestamp(microsecond)"`
		Start  *int64   `parquet:"start,optional,timestamp(microsecond)"`
		End    *int64   `parquet:"end,optional,timestamp(microsecond)"`
		Run    *float64 `parquet:"run_s,optional"`
	}
	const us = int64(1_000_000)
	p := func(v float64) *float64 { return &v }
	at := func(v int64) *int64 { v *= us; return &v }
	id := func(s string) *string { return &s }
	inf := 1.0
	for range 2000 {
		inf *= 2
	}
	rows := []row{
		{id("a"), p(1), at(100), nil, nil, p(5)},
		{id("a"), p(1), at(100), nil, nil, p(5)},
		{nil, p(0.25), at(100), nil, nil, p(5)},
		{id("c"), nil, at(100), nil, nil, p(5)},
		{id("d"), p(-1), at(100), nil, nil, p(5)},
		{id("e"), p(1.5), at(100), nil, nil, p(5)},
		{id("f"), p(1), nil, nil, nil, p(5)},
		{id("g"), p(1), at(100), at(110), at(105), nil},
		{id("h"), p(1), at(100), nil, nil, nil},
		{id("i"), p(1), at(100), nil, nil, p(-3)},
		{id("j"), p(inf), at(100), nil, nil, p(3)},
		{id("k"), p(inf - inf), at(100), nil, nil, p(3)}, // NaN is a missing value
		{id("l"), p(1e17), at(100), nil, nil, p(3)},
		{id("m"), p(1), at(-100), nil, nil, p(3)},
		{id("n"), p(2), at(100), at(110), at(120), nil},
	}
	want := map[string]int64{
		"duplicate job_id": 1, "gpus: missing": 2, "gpus: negative": 1, "gpus: a fraction above one GPU": 1,
		"submit: missing": 1, "end before start": 1, "run_s: missing, and start and end do not give it": 1,
		"run time: negative": 1, "gpus: not a finite number": 1, "gpus: too large": 1, "submit: outside 1970 to 2200": 1,
	}
	var lines []int
	var first string
	jobs, rep, err := decode(writeForeign(t, rows), trace.Options{Rejects: func(r trace.Reject) {
		if lines = append(lines, r.Line); first == "" {
			first = r.Text
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for _, c := range rep.Reasons {
		got[c.Reason] = c.N
	}
	for reason, n := range want {
		if got[reason] != n {
			t.Errorf("%q: got %d, want %d", reason, got[reason], n)
		}
	}
	if len(got) != len(want) {
		t.Errorf("reasons %v", got)
	}
	if !slices.Equal(lines, []int{2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}) {
		t.Errorf("rejected lines %v", lines)
	}
	if !strings.HasPrefix(first, "a,") || !strings.Contains(first, ",100,") {
		t.Errorf("rejected row %q", first)
	}
	if len(jobs) != 3 || jobs[1].ID != "3" || jobs[1].GPUMilli != 250 || jobs[1].GPUs != 1 || jobs[2].Run != 10 {
		t.Errorf("jobs %+v", jobs)
	}
}

// The columns as text, as some exports have them: read as a CSV file is.
func TestAllText(t *testing.T) {
	type row struct {
		ID     string `parquet:"job_id"`
		GPUs   string `parquet:"gpus"`
		Submit string `parquet:"submit"`
		Run    int64  `parquet:"run_s"`
		Tenant string `parquet:"tenant"`
	}
	rows := []row{
		{"1", "8", "2025-01-01T00:00:00Z", 60, "a, \"b\""},
		{"2", "eight", "2025-01-01T00:00:00Z", 60, "c"},
		{"3", "0.5", "1735689700", 60, "c"},
	}
	jobs, rep, err := decode(writeForeign(t, rows), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(jobs) != 2 || jobs[0].GPUs != 8 || jobs[0].Tenant != "a, \"b\"" || jobs[1].GPUMilli != 500 || jobs[0].Submit != 1735689600 {
		t.Errorf("jobs %+v", jobs)
	}
	if rep.Rows != 3 || rep.Rejected != 1 || rep.Reasons[0].Reason != "gpus: not a number" {
		t.Errorf("report %+v", rep)
	}
	if _, _, err = decode(writeForeign(t, []row{{"1", "8", "2025-01-01 00:00:00", 60, ""}}), trace.Options{}); err == nil || !strings.Contains(err.Error(), "zone") {
		t.Errorf("a text without a zone: %v", err)
	}
	_, rep, err = decode(writeForeign(t, rows[1:2]), trace.Options{})
	if err == nil || rep.Rejected != 1 {
		t.Errorf("no job at all: %v, %+v", err, rep)
	}
}

func TestNames(t *testing.T) {
	type row struct {
		A int64 `parquet:"created_at"`
		B int64 `parquet:"num_gpus"`
		C int64 `parquet:"duration"`
	}
	b := writeForeign(t, []row{{100, 4, 60}})
	names := map[string]string{"submit": "created_at", "gpus": "num_gpus", "run_s": "duration"}
	jobs, _, err := decode(b, trace.Options{Map: names})
	if err != nil || len(jobs) != 1 || jobs[0].GPUs != 4 || jobs[0].Run != 60 || jobs[0].ID != "1" {
		t.Fatalf("%v, %+v", err, jobs)
	}
	for name, c := range map[string]struct {
		names map[string]string
		text  string
	}{
		"none":      {nil, "lacks submit, gpus, run_s"},
		"not there": {map[string]string{"submit": "created"}, "no column \"created\""},
		"not ours":  {map[string]string{"submit": "created_at", "gpus": "num_gpus", "run_s": "duration", "colour": "num_gpus"}, "colour"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := decode(b, trace.Options{Map: c.names}); err == nil || !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %v, want %q", err, c.text)
			}
		})
	}
}

// A pipe or a packed file has no places to jump to.
func TestPiped(t *testing.T) {
	want := someJobs(500)
	b := encode(t, want, nil)
	packed := packedBy(t, b)
	for name, body := range map[string][]byte{"plain": b, "gzip": packed[format.Gzip], "zstd": packed[format.Zstd]} {
		t.Run(name, func(t *testing.T) {
			r, err := trace.Open(trace.Input{Name: "-", R: bytes.NewReader(body)}, trace.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []capcli.Job
			for job, err := range r.Jobs() {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, job)
			}
			checkSameJobs(t, got, want)
		})
	}
}
