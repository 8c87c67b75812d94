package trace

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"capcli"
	"capcli/testdata/golden"
)

// TestBadInput: an input that is broken as a whole is refused with its file,
// what was found and what to do.
func TestBadInput(t *testing.T) {
	const head = "job_id,submit,gpus,run_s\n"
	long := head + "1,0,1,5\n" + strings.Repeat("x", 2<<20) + "\n2,1,1,5\n"
	rows := head + strings.Repeat("1,0,1,5\n", 20000)
	for _, c := range []struct {
		name string
		data []byte
		o    Options
		want string // in the message
		line int
	}{
		{"empty", nil, Options{}, "the file is empty", 0},
		{"empty gzip", gzipped(t, nil), Options{}, "the file is empty", 0},
		{"blank lines", []byte("\n\n  \n"), Options{Format: "csv"}, "expected a header line", 3},
		{"binary", []byte("\x7fELF\x02\x01\x01\x00\x00\x00"), Options{}, "binary data", 0},
		{"binary, format named", []byte("\x7fELF\x02\x01\x01\x00\x00\x00"), Options{Format: "swf"}, "binary data", 0},
		{"zip", []byte("PK\x03\x04rest"), Options{}, "a zip archive", 0},
		{"UTF-16 without a mark", []byte("j\x00o\x00b\x00"), Options{}, "UTF-16 text without", 0},
		{"parquet given as csv", []byte("PAR1\x15\x00"), Options{Format: "csv"}, "parquet", 0},
		{"no format", []byte("hello,world\n1,2\n"), Options{}, "not recognised", 1},
		{"sacct without a header", []byte("1|1|x|COMPLETED|1|2\n"), Options{}, "not recognised", 1},
		{"header only", []byte(head), Options{}, "there is no job in it", 0},
		{"swf comments only", []byte("; Version: 2.2\n; MaxProcs: 4\n"), Options{}, "there is no job in it", 0},
		{"all rejected", []byte(head + "1,0,-1,5\n2,0,-1,5\n3,0,1,NaN\n"), Options{}, "all 3 rows were rejected, 2 of them because: gpus: negative", 0},
		{"header lacks columns", []byte("job_id,gpus\n1,2\n"), Options{Format: "csv"}, "the header lacks submit, run_s (or start and end)", 1},
		{"map to nowhere", []byte(head + "1,0,1,5\n"), Options{Map: map[string]string{"tenant": "team"}}, `no column "team", to which tenant is mapped`, 1},
		{"map of a strange name", []byte(head + "1,0,1,5\n"), Options{Map: map[string]string{"tennant": "job_id"}}, "no column of ours: tennant", 0},
		{"line too long", []byte(long), Options{}, "longer than 1 MiB", 3},
		{"quote over a mebibyte", []byte(head + "1,0,1,5\n\"" + strings.Repeat("x\n", 1<<20)), Options{}, "longer than 1 MiB", 3},
		{"columns without end", []byte(strings.Repeat("a,", 5000) + "submit\n"), Options{Format: "csv"}, "the limit is 4096", 1},
		{"gzip cut short", gzipped(t, []byte(rows))[:60], Options{}, "is cut short: the gzip data ends in the middle of line", 0},
		{"gzip damaged", flipped(gzipped(t, []byte(rows)), -6), Options{}, "the gzip data is damaged", 0},
		{"gzip header only", []byte{0x1f, 0x8b, 8}, Options{}, "is cut short", 0},
		{"zstd damaged", flipped(zstded(t, []byte(rows)), 12), Options{}, "the zstd data is damaged", 0},
		{"no zone", []byte(head + "1,2024-01-01T00:00:00,1,5\n"), Options{}, "no zone (found 2024-01-01T00:00:00)", 2},
		{"philly cut", []byte(`[{"status":"Pass","vc":"a","jobid":"1","attempts":[`), Options{}, "does not end", 0},
		{"philly list without end", []byte(`[{"status":"Pass","vc":"a","jobid":"1","attempts":[]},`), Options{}, "is cut short: the list that begins at line 1 does not end", 0},
		{"philly garbage", []byte(`[{"vc":"a","attempts":[]} nonsense]`), Options{}, `want a JSON object, found 'n'`, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := drain(c.data, c.o)
			var fault *capcli.InputError
			if !errors.As(err, &fault) {
				t.Fatalf("got %v, want an input error", err)
			}
			if !strings.Contains(err.Error(), c.want) || fault.File != "test" || fault.Hint == "" {
				t.Errorf("got %q with hint %q, want %q", err, fault.Hint, c.want)
			}
			if c.line != 0 && fault.Line != c.line {
				t.Errorf("got line %d, want %d", fault.Line, c.line)
			}
		})
	}
}

// flipped changes one byte, counted from the end when at is negative.
func flipped(b []byte, at int) []byte {
	if at < 0 {
		at += len(b)
	}
	b = bytes.Clone(b)
	b[at] ^= 0x55
	return b
}

func TestUnknownFormat(t *testing.T) {
	_, err := drain([]byte("x"), Options{Format: "sact"})
	var unknown *capcli.UnknownError
	if !errors.As(err, &unknown) || !strings.Contains(err.Error(), `did you mean "sacct"?`) {
		t.Errorf("got %v", err)
	}
}

func TestReadErrorIsNotInputError(t *testing.T) {
	broken := errors.New("disk on fire")
	r, err := Open(Input{Name: "f", R: io.MultiReader(strings.NewReader("job_id,submit,gpus,run_s\n1,0,1,5\n"), failing{broken})}, Options{})
	if err == nil {
		for _, e := range r.Jobs() {
			err = e
		}
	}
	var fault *capcli.InputError
	if !errors.Is(err, broken) || errors.As(err, &fault) {
		t.Errorf("got %v, want the error of the disk", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestCut: with AllowCut what is there is read; without, the last whole job is
// named.
func TestCut(t *testing.T) {
	var text strings.Builder
	text.WriteString("job_id,submit,gpus,run_s\n")
	for i := range 20000 {
		fmt.Fprintf(&text, "j%d,%d,1,%d\n", i, 1704067200+i, (i*7919)%1000)
	}
	packed := gzipped(t, []byte(text.String()))
	packed = packed[:len(packed)/2]
	rep, err := drain(packed, Options{})
	var fault *capcli.InputError
	if !errors.As(err, &fault) || !strings.Contains(fault.Hint, fmt.Sprintf("last whole job: j%d, submitted", rep.Kept-1)) || !strings.Contains(fault.Hint, "--allow-cut") {
		t.Fatalf("got %v", err)
	}
	if want := fmt.Sprintf("in the middle of line %d", rep.Kept+2); !strings.Contains(fault.Text, want) {
		t.Errorf("got %q, want %q", fault.Text, want)
	}
	again, err := drain(packed, Options{AllowCut: true})
	if err != nil || !again.Cut || again.Kept != rep.Kept || again.Kept == 0 {
		t.Errorf("with AllowCut: %v, %+v, want %d kept", err, again, rep.Kept)
	}
}

// TestDamagedIsNotCut: of gzip data that is damaged anywhere, its tail included,
// nothing is taken for data and it is not said to be cut short, AllowCut or not.
func TestDamagedIsNotCut(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("job_id,submit,gpus,run_s\n")
	for i := range 300 {
		fmt.Fprintf(&rows, "j%d,%d,%d,%d\n", i, 1704067200+i*61, 1<<(i%4), (i*7919)%1000)
	}
	whole := gzipped(t, []byte(rows.String()))
	two := append(bytes.Clone(whole), gzipped(t, []byte("z,1704167200,1,5\n"))...)
	if rep, err := drain(two, Options{}); err != nil || rep.Kept != 301 {
		t.Fatalf("two members: %d kept, %v", rep.Kept, err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 2000 {
		b := bytes.Clone(whole)
		at := rng.IntN(len(b))
		to := min(len(b), at+1+rng.IntN(200))
		if i%4 == 0 {
			to = len(b) // a write that was not finished
		}
		switch i % 3 {
		case 0:
			clear(b[at:to])
		case 1:
			for k := at; k < min(to, len(b)-8); k++ { // a trailer of chance is that of a cut file
				b[k] = byte(rng.Uint32())
			}
		case 2:
			b[at] ^= 1 << rng.IntN(8)
		}
		rep, err := drain(b, Options{AllowCut: true, Format: "csv"})
		if err == nil && (rep.Cut || rep.Kept != 300) && b[0] == whole[0] && b[1] == whole[1] {
			t.Fatalf("bytes %d to %d of %d damaged, kind %d: %d kept, cut %v", at, to, len(b), i%3, rep.Kept, rep.Cut)
		}
		if err != nil && strings.Contains(err.Error(), "cut short") {
			t.Fatalf("bytes %d to %d of %d damaged, kind %d: %v", at, to, len(b), i%3, err)
		}
	}
	// What was cut short is still said to be that.
	for n := 30; n < len(whole)-8; n += 7 {
		if rep, err := drain(whole[:n], Options{AllowCut: true}); err == nil && !rep.Cut {
			t.Errorf("cut after %d of %d bytes: not noticed", n, len(whole))
		}
	}
}

// TestBomb: text that decompresses to far more than it was is refused.
func TestBomb(t *testing.T) {
	if golden.Short() {
		t.Skip("makes 70 MB")
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	line := bytes.Repeat([]byte("\n"), 1<<20)
	for range 70 {
		if _, err := w.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = drain(b.Bytes(), Options{Format: "swf"})
	if err == nil || !strings.Contains(err.Error(), "times its size") {
		t.Errorf("got %v", err)
	}
}

// TestAbsurdRows: each kind of nonsense has a reason of its own.
func TestAbsurdRows(t *testing.T) {
	for _, c := range []struct{ row, want string }{
		{"1,-5,1,5,,", "submit: outside 1970 to 2200"},
		{"1,9704067200000,1,5,,", "submit: outside 1970 to 2200"},
		{"1,8000000000,1,5,,", "submit: " + string(eitherUnit)},
		{"1,31/02/2026 10:00,1,5,,", "submit: not a time"},
		{"1,,1,5,,", "submit: missing"},
		{"1,Inf,1,5,,", "submit: not a finite number"},
		{"1,soon,1,5,,", "submit: not a time"},
		{"1,0,,5,,", "gpus: missing"},
		{"1,0,-1,5,,", "gpus: negative"},
		{"1,0,1e8,5,,", "gpus: over 10 million"},
		{"1,0,NaN,5,,", "gpus: not a finite number"},
		{"1,0,1,-5,,", "run time: negative"},
		{"1,0,1,1e10,,", "run time: over 50 years"},
		{"1,0,1,1e30,,", "run_s: too large"},
		{"1,0,1,,,", "run_s: missing, and start and end do not give it"},
		{"1,0,1,,9,3", "end before start"},
		{"1,0,1,5,9,3", "end before start"},
		{"1,0,10000000,1500000000,,", "work: one job over 28 billion GPU-hours"},
	} {
		_, err := drain([]byte("job_id,submit,gpus,run_s,start,end\n"+c.row+"\n"), Options{})
		if err == nil || !strings.HasSuffix(err.Error(), "because: "+c.want) {
			t.Errorf("%s: got %v, want %q", c.row, err, c.want)
		}
	}
}

func TestMapAndTabs(t *testing.T) {
	jobs, rep := readAll(t, []byte("id\tcreated_at\tn\tsecs\tteam\n x \t2024-01-01 00:00:00\t2\t5\tred\n"), Options{
		TZ:  time.UTC,
		Map: map[string]string{"job_id": "id", "submit": "created_at", "gpus": "n", "run_s": "secs", "tenant": "team"},
	})
	if len(jobs) != 1 || jobs[0].ID != "x" || jobs[0].Submit != 1704067200 || jobs[0].GPUs != 2 || jobs[0].Run != 5 || jobs[0].Tenant != "red" {
		t.Errorf("got %+v, %+v", jobs, rep)
	}
}

func TestSortedIsStable(t *testing.T) {
	at := []capcli.Time{5, 3, 5, 1, 3, 5}
	var in []capcli.Job
	for i, s := range at {
		in = append(in, capcli.Job{ID: fmt.Sprint(i), Submit: s})
	}
	got := ""
	for j, err := range Sorted(jobsOneByOne(in)) {
		if err != nil {
			t.Fatal(err)
		}
		got += j.ID
	}
	if got != "314025" {
		t.Errorf("got %s, want 314025", got)
	}
}

// TestUTF16Samples: every sample of a text format reads the same as UTF-16.
func TestUTF16Samples(t *testing.T) {
	for _, f := range Formats.All() {
		if f.Value.Binary {
			continue
		}
		for name, data := range samples(t, f.Name) {
			if !utf8.Valid(data) {
				continue
			}
			wide := []byte{0xff, 0xfe}
			for _, unit := range utf16.Encode([]rune(string(data))) {
				wide = append(wide, byte(unit), byte(unit>>8))
			}
			jobs, rep := readAll(t, data, Options{})
			got, gotRep := readAll(t, wide, Options{})
			if !reflect.DeepEqual(got, jobs) || !reflect.DeepEqual(gotRep, rep) {
				t.Errorf("%s: got other jobs or another report than from UTF-8", name)
			}
		}
	}
}
