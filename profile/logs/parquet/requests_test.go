package parquet

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"capcli"
	"capcli/profile/logs/requests"
	"capcli/profile/logs/trace"
)

// requestRow is a request as others write it.
type requestRow struct {
	At   int64    `parquet:"timestamp,timestamp(nanosecond)"`
	In   int32    `parquet:"prompt_tokens"`
	Out  *float64 `parquet:"completion_tokens,optional"`
	User string   `parquet:"user,dict"`
}

func requestFileOf(t testing.TB, rows any) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch list := rows.(type) {
	case []requestRow:
		err = pq.Write(&b, list)
	case []jobLike:
		err = pq.Write(&b, list)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// jobLike is a row that is no request.
type jobLike struct {
	Submit int64 `parquet:"submit"`
	GPUs   int64 `parquet:"gpus"`
}

func someRequests() []requestRow {
	ten, two := 10.0, 2.0
	const second = 1_000_000_000
	return []requestRow{{1_800_000_000*second + 250_000, 100, &ten, "ann"}, {1_800_000_001 * second, 7, nil, "bob"}, {1_800_000_001*second + 1999, 50, &two, "ann"}}
}

func TestRequestsAreRead(t *testing.T) {
	b := requestFileOf(t, someRequests())
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = w.Write(b)
	_ = w.Close()
	for name, in := range map[string]trace.Input{
		"a file": {Name: "f", R: bytes.NewReader(b), At: bytes.NewReader(b), Size: int64(len(b))},
		"a pipe": {Name: "f", R: bytes.NewReader(b)},
		"packed": {Name: "f", R: &z},
	} {
		got, err := requests.Read(context.Background(), in, requests.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := []requests.Row{{Arrival: 0, In: 100, Out: 10, User: 1}, {Arrival: 999_751, In: 50, Out: 2, User: 1}}
		if !slices.Equal(got.Rows, want) || got.Report.Failed != 1 || got.Start != 1_800_000_000_000_250 {
			t.Errorf("%s: %+v from %d, %+v", name, got.Rows, got.Start, got.Report)
		}
	}
	jobs := requestFileOf(t, []jobLike{{1, 2}})
	var in *capcli.InputError
	if _, err := requests.Read(context.Background(), trace.Input{Name: "f", R: bytes.NewReader(jobs)}, requests.Options{}); !errors.As(err, &in) || !strings.Contains(err.Error(), "tokens_in, tokens_out") {
		t.Errorf("a job log: %v", err)
	}
}

func FuzzRequests(f *testing.F) {
	f.Add(requestFileOf(f, someRequests()))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := requests.Read(context.Background(), trace.Input{Name: "fuzz", R: bytes.NewReader(b)}, requests.Options{Format: "parquet", SkipBad: true})
		var in *capcli.InputError
		if err != nil && !errors.As(err, &in) {
			t.Errorf("not an input error: %v", err)
		}
		for _, r := range rowsOf(got) {
			if r.In < 1 || r.Out < 1 || r.Arrival < 0 {
				t.Fatalf("%+v", r)
			}
		}
	})
}

func rowsOf(t *requests.Trace) []requests.Row {
	if t == nil {
		return nil
	}
	return t.Rows
}
