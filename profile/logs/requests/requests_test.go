package requests

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"capcli"
	"capcli/profile/logs/trace"
)

// sample is a small trace of a format, made by us in its published shape, and the rows that it reads as.
type sample struct {
	data string
	want []Row
	note string // part of a remark that must be made
}

// samples are those of each format, which its test file adds.
var samples = map[string][]sample{}

func readText(t testing.TB, text string, o Options) (*Trace, error) {
	t.Helper()
	return Read(context.Background(), trace.Input{Name: "f", R: strings.NewReader(text)}, o)
}

// TestFormats holds every format to the same promises.
func TestFormats(t *testing.T) {
	all, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var tests []byte
	for _, name := range all {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		tests = append(tests, b...)
	}
	for _, f := range Formats.All() {
		if f.Value.Binary {
			continue // tested where it is registered
		}
		if len(samples[f.Name]) == 0 {
			t.Errorf("format %s has no sample", f.Name)
		}
		if !bytes.Contains(tests, []byte(`fuzz(f, "`+f.Name+`")`)) {
			t.Errorf("format %s is not fuzzed: write func Fuzz…(f *testing.F) { fuzz(f, %q) }", f.Name, f.Name)
		}
		for _, s := range samples[f.Name] {
			t.Run(f.Name, func(t *testing.T) { conform(t, f.Name, s) })
		}
	}
}

func conform(t *testing.T, format string, s sample) {
	got, err := readText(t, s.data, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Report.Format != format || !slices.Equal(got.Rows, s.want) {
		t.Errorf("read as %s:\n%+v\nwant %+v", got.Report.Format, got.Rows, s.want)
	}
	if !strings.Contains(strings.Join(got.Report.Remarks(), "\n"), s.note) {
		t.Errorf("remarks %q, want one with %q", got.Report.Remarks(), s.note)
	}
	rep := got.Report
	if rep.Rows != rep.Kept+rep.Failed+rep.Empty+rep.Bad || rep.Kept != int64(len(got.Rows)) {
		t.Errorf("rows do not add up: %+v", rep)
	}
	var z, zs bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = w.Write([]byte(s.data))
	_ = w.Close()
	zw, err := zstd.NewWriter(&zs)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = zw.Write([]byte(s.data))
	_ = zw.Close()
	for _, packed := range []string{z.String(), zs.String(), "\ufeff" + strings.ReplaceAll(s.data, "\n", "\r\n")} {
		again, err := readText(t, packed, Options{})
		if err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("packed or with other line ends: %+v, %v", again, err)
		}
	}
	if _, err := readText(t, z.String()[:z.Len()-9], Options{}); err == nil {
		t.Error("a gzip file that is cut short was read as whole")
	}
	wide, err := readText(t, s.data, Options{NoCache: true})
	if err != nil || slices.ContainsFunc(wide.Rows, func(r Row) bool { return r.Cached > 0 }) {
		t.Errorf("without a cache: %+v, %v", wide, err)
	}
}

// fuzz feeds any bytes to a format: it must not panic, what it keeps is within bounds, every row is
// counted once, and it ends with an error that says where.
func fuzz(f *testing.F, format string) {
	for _, s := range samples[format] {
		f.Add([]byte(s.data), true)
	}
	f.Add([]byte("a,b\n\"x\ny\",\"\"\n"), false)
	f.Add([]byte("\ufeff;;\r\n|||"), true)
	f.Fuzz(func(t *testing.T, data []byte, skip bool) {
		got, err := Read(context.Background(), trace.Input{Name: "fuzz", R: bytes.NewReader(data)}, Options{Format: format, SkipBad: skip})
		if err != nil {
			var in *capcli.InputError
			if !errors.As(err, &in) || in.File == "" || in.Text == "" {
				t.Errorf("not an input error: %v", err)
			}
			return
		}
		if rep := got.Report; rep.Rows != rep.Kept+rep.Failed+rep.Empty+rep.Bad || rep.Kept != int64(len(got.Rows)) {
			t.Errorf("rows do not add up: %+v", rep)
		}
		last := int64(0)
		for _, r := range got.Rows {
			if r.Arrival < last || r.In < 1 || r.Out < 1 || r.Cached < 0 || r.Cached > r.In || int(r.User) >= len(got.Users) || int(r.Model) >= len(got.Models) {
				t.Fatalf("row %+v after %d", r, last)
			}
			last = r.Arrival
		}
	})
}

func TestRefusals(t *testing.T) {
	head := "arrival_us,tokens_in,tokens_out\n"
	for _, c := range []struct {
		name, text string
		o          Options
		want, hint string
	}{
		{"empty", " \n", Options{}, "f: the file is empty", "exported"},
		{"no tokens", "arrival_us,latency\n1,2\n", Options{}, "line 1: tokens_in, tokens_out: a trace of requests needs", "requests: {rate"},
		{"no times", "tokens_in,tokens_out\n1,2\n", Options{}, "arrival_us", "tokens_in: {from"},
		{"letters", head + "0,1,2\n5,x,2\n", Options{}, `f: line 3: tokens_in: wants a number of tokens, found "x"`, "--skip-bad"},
		{"negative", head + "0,-1,2\n", Options{}, "tokens_in: wants a number of tokens", ""},
		{"a fraction", head + "0,1.5,2\n", Options{}, "want a whole number", ""},
		{"too many", head + "0,1,9999999999\n", Options{}, "tokens_out: wants a number", ""},
		{"no time", head + "yesterday,1,2\n", Options{}, `line 2: arrival_us: wants a time, found "yesterday"`, ""},
		{"before 0", head + "-5,1,2\n", Options{}, "outside 0 to", "unit"},
		{"a column short", head + "0,1,2\n7,1\n", Options{}, "line 3: expected 3 columns as in the header, found 2", "cut short"},
		{"all failed", head + "0,1,0\n7,1,\n", Options{}, "none of 2 rows has tokens out", "rates and lengths"},
		{"no unit", "arrival,tokens_in,tokens_out\n17,1,2\n", Options{}, "unit is not known", "--times"},
		{"not in order", head + "9,1,2\n7,1,3\n", Options{InOrder: true}, "line 3: arrival_us: the request came before", "sort"},
		{"two kinds of times", "time,tokens_in,tokens_out\n2024-01-01T00:00:00Z,1,2\n0.5,1,2\n", Options{}, "some times are dates", ""},
		{"unknown", "hello\n", Options{}, "the format is not recognised", "csv"},
		{"binary", "PAR\x00\x01\x02", Options{}, "binary", ""},
		{"a wrong map", head + "0,1,2\n", Options{Map: map[string]string{"cached": "hits"}}, `the header has no column "hits"`, ""},
		{"too many rows", head + "0,1,2\n1,1,2\n2,1,2\n", Options{MaxRows: 2}, "over 2 requests", ""},
		{"a list without an end", `[{"arrival_us":1,"tokens_in":2,"tokens_out":3}`, Options{}, "does not end", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := readText(t, c.text, c.o)
			var in *capcli.InputError
			if !errors.As(err, &in) || !strings.Contains(err.Error(), c.want) || !strings.Contains(in.Hint, c.hint) {
				t.Errorf("got %v, hint %+v; want %q, hint %q", err, in, c.want, c.hint)
			}
		})
	}
	if _, err := readText(t, head, Options{Format: "azur"}); err == nil || !strings.Contains(err.Error(), `did you mean "azure"`) {
		t.Errorf("an unknown format: %v", err)
	}
}

func TestWhatIsLeftOutIsCounted(t *testing.T) {
	got, err := readText(t, "arrival_us,tokens_in,tokens_out,cached\n9,5,1,7\n7,1,3,\nx,1,1,0\n8,4,0,0\n8,0,4,0\n", Options{SkipBad: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := []Row{{Arrival: 7, In: 1, Out: 3}, {Arrival: 9, In: 5, Out: 1, Cached: 5}}; !slices.Equal(got.Rows, want) {
		t.Errorf("rows %+v, want %+v", got.Rows, want)
	}
	rep := got.Report
	if rep.Rows != 5 || rep.Bad != 1 || rep.Failed != 1 || rep.Empty != 1 || rep.Unordered != 1 || rep.Clipped != 1 || !strings.Contains(rep.FirstBad, "line 4") {
		t.Errorf("report %+v", rep)
	}
}

func TestTimes(t *testing.T) {
	for _, c := range []struct {
		text  string
		unit  int64
		want  int64
		dated bool
		wrong bool
	}{
		{"2023-11-16 18:17:03.9799600", 0, 1700158623_979960, true, false},
		{"2023-11-16 18:17:03.9799605", 0, 1700158623_979961, true, false},
		{"2024-05-10 00:00:00.009930+00:00", 0, 1715299200_009930, true, false},
		{"2024-05-10T02:00:00.5+02:00", 0, 1715299200_500000, true, false},
		{"2024-05-10T00:00Z", 0, 1715299200_000000, true, false},
		{"2024-02-30 00:00:00", 0, 0, true, true},
		{"1715299200", 0, 1715299200_000000, true, false},
		{"1715299200.25", 0, 1715299200_250000, true, false},
		{"1715299200250", 0, 1715299200_250000, true, false},
		{"1715299200250001", 0, 1715299200_250001, true, false},
		{"1715299200250001600", 0, 1715299200_250002, true, false},
		{"17.000001", 0, 17_000001, false, false},
		{"17", 0, 0, false, true},
		{"17", 1e3, 17_000, false, false},
		{"17.5", 1e6, 18, false, false},
		{"1.7e1", 1, 17_000_000, false, false},
		{"nan", 1, 0, false, true},
		{"1_0", 1, 0, false, true},
		{"", 1, 0, false, true},
	} {
		cl := clock{unit: c.unit}
		got, dated, wrong := cl.read([]byte(c.text))
		if (wrong != "") != c.wrong || wrong == "" && (got != c.want || dated != c.dated) {
			t.Errorf("%q in %d: %d, %t, %q; want %d, %t", c.text, c.unit, got, dated, wrong, c.want, c.dated)
		}
	}
}
