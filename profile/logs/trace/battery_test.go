package trace

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"capcli"
)

var update = flag.Bool("update", false, "rewrite expected outputs")

// extraOf returns the columns that jobs need.
func extraOf(jobs []capcli.Job) Extra {
	var x Extra
	var sets []*capcli.Tags
	for i := range jobs {
		x.Eligible = x.Eligible || jobs[i].Eligible > jobs[i].Submit
		x.Stages = x.Stages || jobs[i].Stage != nil
		sets = append(sets, jobs[i].Tags)
	}
	x.Tags = capcli.TagNames(sets)
	return x
}

// sample is a file of a format, and the jobs and the report that it reads as.
type sample struct{ data, want string }

// ownSamples are those of formats whose test file holds the sample, by format; those of
// the others stand in testdata/traces.
var ownSamples = map[string]sample{}

// samples gives the hand-made files of a format.
func samples(t testing.TB, format string) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "..", "..", "testdata", "traces", format+".*"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(p)] = b
	}
	if own, ok := ownSamples[format]; ok {
		out[format] = []byte(own.data)
	}
	return out
}

// TestFormats holds every format in the catalogue to the same promises.
func TestFormats(t *testing.T) {
	for _, f := range Formats.All() {
		if f.Value.Binary {
			continue // tested where it is registered
		}
		files := samples(t, f.Name)
		if len(files) == 0 {
			t.Errorf("format %s has no sample testdata/traces/%s.*", f.Name, f.Name)
		}
		if !bytes.Contains(tests(t), []byte(`fuzz(f, "`+f.Name+`")`)) {
			t.Errorf("format %s is not fuzzed: write func Fuzz…(f *testing.F) { fuzz(f, %q) } in a test file of this folder", f.Name, f.Name)
		}
		for name, data := range files {
			t.Run(name, func(t *testing.T) { conform(t, f.Name, name, data) })
		}
	}
}

// tests are the test files of the folder, one after another.
func tests(t *testing.T) []byte {
	t.Helper()
	paths, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	return all
}

func conform(t *testing.T, format, name string, data []byte) {
	var rejects []Reject
	jobs, rep := readAll(t, data, Options{Rejects: func(r Reject) { rejects = append(rejects, r) }})
	if rep.Format != format {
		t.Fatalf("sniffed as %s, want %s", rep.Format, format)
	}
	if rep.Kept == 0 || rep.Rejected == 0 {
		t.Errorf("kept %d, rejected %d: a sample has both", rep.Kept, rep.Rejected)
	}
	if int64(len(rejects)) != rep.Rejected {
		t.Errorf("%d rejects were shown, %d counted", len(rejects), rep.Rejected)
	}
	for _, j := range jobs {
		sound(t, &j)
	}
	for packing, packed := range map[string][]byte{"gzip": gzipped(t, data), "zstd": zstded(t, data)} {
		again, rep2 := readAll(t, packed, Options{})
		if !reflect.DeepEqual(again, jobs) || !reflect.DeepEqual(rep2, rep) {
			t.Errorf("%s: got other jobs or another report than plain", packing)
		}
		if _, err := drain(packed[:len(packed)-5], Options{}); err == nil {
			t.Errorf("%s cut short: no error", packing)
		}
	}
	stopEarly(t, data)
	var out bytes.Buffer
	if err := WriteCSV(&out, jobsOneByOne(jobs), extraOf(jobs)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&out, "# rows %d, kept %d, folded %d, rejected %d, machine %d, unsorted %t\n", rep.Rows, rep.Kept, rep.Folded, rep.Rejected, machine(&rep), rep.Unsorted)
	for _, r := range rejects {
		fmt.Fprintf(&out, "# line %d: %s\n", r.Line, r.Reason)
	}
	for _, c := range rep.Assumed {
		fmt.Fprintf(&out, "# assumed %d: %s\n", c.N, c.Reason)
	}
	for _, n := range rep.Notes {
		fmt.Fprintf(&out, "# note: %s\n", n)
	}
	if own, ok := ownSamples[name]; ok {
		if out.String() != own.want {
			t.Errorf("%s\n got:\n%s\nwant:\n%s", name, out.String(), own.want)
		}
		return
	}
	compareGolden(t, filepath.Join("..", "..", "..", "testdata", "traces", "want", name+".txt"), out.Bytes())
}

// machine is the size of the machine that a log names, 0 where it names none.
func machine(rep *Report) int64 {
	if rep.MachineGPUs == nil {
		return 0
	}
	return *rep.MachineGPUs
}

func compareGolden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s\n got:\n%s\nwant:\n%s", path, got, want)
	}
}

// sound checks what every job that is given out promises.
func sound(t testing.TB, j *capcli.Job) {
	t.Helper()
	switch {
	case !j.Submit.IsKnown(), j.Submit < 0, j.GPUs < 0, j.GPUs > maxGPUs, j.Run < 0, j.Run > maxRun, j.Limit < 0, j.CPUMilli < 0, j.MemMiB < 0, j.ID == "":
		t.Errorf("job out of bounds: %+v", *j)
	case j.Start.IsKnown() && j.End.IsKnown() && j.End < j.Start:
		t.Errorf("job ends before it starts: %+v", *j)
	case j.GPUMilli < 0 || j.GPUMilli > 0 && (j.GPUs != 1 || j.GPUMilli >= 1000):
		t.Errorf("job shares more than one GPU: %+v", *j)
	case j.Work() < 0:
		t.Errorf("work overflows: %+v", *j)
	}
	for _, name := range []string{j.ID, j.Tenant, j.Partition, j.GPUModel, j.Class, j.State} {
		if !utf8.ValidString(name) {
			t.Errorf("job has a name that is no UTF-8: %q", name)
		}
	}
}

// TestNamesAreUTF8: a byte that is no UTF-8 anywhere in a file comes into no name,
// as it stands or replaced by a character that other bytes would become as well.
func TestNamesAreUTF8(t *testing.T) {
	for _, f := range Formats.All() {
		for name, data := range samples(t, f.Name) {
			if bytes.ContainsRune(data, utf8.RuneError) {
				t.Fatalf("%s has the character that stands for what is no UTF-8", name)
			}
			for i := range data {
				bad := bytes.Clone(data)
				bad[i] = 0xff
				r, err := Open(Input{Name: "test", R: bytes.NewReader(bad)}, Options{Format: f.Name, TZ: time.UTC})
				if err != nil {
					continue
				}
				for j, err := range r.Jobs() {
					if err != nil {
						break
					}
					sound(t, &j)
					if strings.ContainsRune(j.ID+j.Tenant+j.Partition+j.GPUModel+j.Class+j.State, utf8.RuneError) {
						t.Fatalf("%s, byte %d: a name was changed: %+v", name, i, j)
					}
				}
			}
		}
	}
}

func TestNotUTF8IsARejectedRow(t *testing.T) {
	for _, tt := range []struct{ name, data, want string }{
		{"csv", "job_id,tenant,submit,gpus,run_s\n1,a\xff,0,1,5\n2,b,0,1,5\n", "tenant: not valid UTF-8"},
		{"an id", "job_id,tenant,submit,gpus,run_s\n1\xc3(,a,0,1,5\n2,b,0,1,5\n", "job_id: not valid UTF-8"},
		{"jsonl", `{"job_id":"1","tenant":"a` + "\xff" + `","submit":0,"gpus":1,"run_s":5}` + "\n" + `{"job_id":"2","submit":0,"gpus":1,"run_s":5}`, "tenant: not valid UTF-8"},
		{"half a pair", `{"job_id":"1","tenant":"a\ud800","submit":0,"gpus":1,"run_s":5}` + "\n" + `{"job_id":"2","tenant":"\ud83d\ude00","submit":0,"gpus":1,"run_s":5}`, "not a JSON object"},
	} {
		rep, err := drain([]byte(tt.data), Options{})
		if err != nil || rep.Kept != 1 || len(rep.Reasons) != 1 || rep.Reasons[0].Reason != tt.want {
			t.Errorf("%s: %+v, %v; want one row kept and one rejected: %s", tt.name, rep, err, tt.want)
		}
	}
}

func stopEarly(t *testing.T, data []byte) {
	t.Helper()
	r, err := Open(Input{Name: "test", R: bytes.NewReader(data)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for range r.Jobs() {
		n++
		break
	}
	if n != 1 {
		t.Errorf("stopped after %d jobs, want 1", n)
	}
	for _, err := range r.Jobs() {
		if err == nil {
			t.Error("a second pass gave a job")
		}
	}
}

// drain reads all of data and gives the error it ends with.
func drain(data []byte, o Options) (Report, error) {
	r, err := Open(Input{Name: "test", R: bytes.NewReader(data)}, o)
	if err != nil {
		return Report{}, err
	}
	for _, err := range r.Jobs() {
		if err != nil {
			return r.Report(), err
		}
	}
	return r.Report(), nil
}

func jobsOneByOne(jobs []capcli.Job) capcli.Jobs {
	return func(yield func(capcli.Job, error) bool) {
		for _, j := range jobs {
			if !yield(j, nil) {
				return
			}
		}
	}
}

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(data)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstded(t testing.TB, data []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(data, nil)
}
