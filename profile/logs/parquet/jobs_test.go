package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"capcli"
	"capcli/profile/logs/trace"
)

// someJobs are n jobs that use every column, with unknowns among them.
func someJobs(n int) []capcli.Job {
	rng := capcli.Seed(7).Stream("parquet")
	jobs := make([]capcli.Job, n)
	at := capcli.Time(1_700_000_000)
	for i := range jobs {
		at += capcli.Time(rng.IntN(30))
		j := &jobs[i]
		*j = capcli.Job{
			ID: fmt.Sprintf("job-%07d", i), Tenant: pick(rng, "research", "product", "infra", ""),
			Partition: pick(rng, "6214e9", "11cb48", ""), GPUModel: pick(rng, "A100", "V100|T4", ""),
			Class: pick(rng, "training", "", "Ärger, \"zwei\""), State: pick(rng, "COMPLETED", "FAILED", "CANCELLED", ""),
			GPUs: rng.IntN(17), Submit: at, Eligible: capcli.NoTime, Start: capcli.NoTime, End: capcli.NoTime, Deadline: capcli.NoTime,
			Run: capcli.Seconds(rng.IntN(200_000)), Priority: rng.IntN(9) - 4,
		}
		if rng.IntN(3) > 0 {
			j.Start = at + capcli.Time(rng.IntN(4000))
			j.End = j.Start + capcli.Time(j.Run)
			if j.Start-at > 2000 {
				j.Eligible = j.Start - 1500
			}
		}
		if rng.IntN(4) == 0 {
			j.GPUs, j.GPUMilli = 1, 1+rng.IntN(999)
		}
		if rng.IntN(3) > 0 {
			j.CPUMilli, j.MemMiB = rng.Int64N(1_000_000), rng.Int64N(1<<24)
		}
		if rng.IntN(3) == 0 {
			j.Limit, j.Deadline = capcli.Seconds(1+rng.IntN(90_000)), at+90_000
		}
		if rng.IntN(3) == 0 {
			j.Tags = someTags[rng.IntN(len(someTags))]
		}
	}
	return jobs
}

// someTags are the tags of some jobs of someJobs.
var someTags = []*capcli.Tags{
	capcli.NewTags(capcli.Tag{Name: "project", Value: "search"}),
	capcli.NewTags(capcli.Tag{Name: "project", Value: "ads, all"}, capcli.Tag{Name: "cost center", Value: `R"42`}),
}

func pick(rng *rand.Rand, of ...string) string { return of[rng.IntN(len(of))] }

func encode(t testing.TB, jobs []capcli.Job, meta map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewJobWriter(&b, meta, trace.Extra{Eligible: true, Tags: tagsOf(jobs)})
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		if err := w.Write(j); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// tagsOf returns the names of the tags of jobs.
func tagsOf(jobs []capcli.Job) []string {
	var sets []*capcli.Tags
	for i := range jobs {
		sets = append(sets, jobs[i].Tags)
	}
	return capcli.TagNames(sets)
}

// decode reads b as trace reads a file.
func decode(b []byte, o trace.Options) ([]capcli.Job, trace.Report, error) {
	r, err := trace.Open(trace.Input{Name: "jobs.parquet", At: bytes.NewReader(b), Size: int64(len(b))}, o)
	if err != nil {
		return nil, trace.Report{}, err
	}
	var jobs []capcli.Job
	for job, err := range r.Jobs() {
		if err != nil {
			return jobs, r.Report(), err
		}
		jobs = append(jobs, job)
	}
	return jobs, r.Report(), nil
}

func checkSameJobs(t *testing.T, got, want []capcli.Job) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d jobs, want %d", len(got), len(want))
	}
	for i := range got {
		g, w := got[i], want[i]
		g.Tags, w.Tags = nil, nil
		if g != w || got[i].Tags.Key() != want[i].Tags.Key() {
			t.Fatalf("job %d:\n got %+v\nwant %+v", i, got[i], want[i])
		}
		if i > 0 && got[i].Tags.Key() == got[i-1].Tags.Key() && got[i].Tags != got[i-1].Tags {
			t.Fatalf("job %d does not share its tags", i)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	for _, n := range []int{1, 2, batch, batch + 1, 5000, rowGroupRows + 700} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			want := someJobs(n)
			b := encode(t, want, map[string]string{"origin": "test"})
			got, rep, err := decode(b, trace.Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkSameJobs(t, got, want)
			if rep.Format != "parquet" || rep.Rows != int64(n) || rep.Kept != int64(n) || len(rep.Notes) > 0 {
				t.Errorf("report %+v", rep)
			}
			if err := Verify(bytes.NewReader(b), int64(len(b))); err != nil {
				t.Error(err)
			}
		})
	}
}

// A file without a job is sound; that there is none is for trace to say.
func TestNoJobs(t *testing.T) {
	b := encode(t, nil, nil)
	if err := Verify(bytes.NewReader(b), int64(len(b))); err != nil {
		t.Error(err)
	}
	if _, _, err := decode(b, trace.Options{}); err == nil || !strings.Contains(err.Error(), "no job") {
		t.Errorf("got %v", err)
	}
}

func TestRoundTripOfEdges(t *testing.T) {
	base := capcli.Job{ID: "a", GPUs: 1, Submit: 0, Start: capcli.NoTime, End: capcli.NoTime, Eligible: capcli.NoTime, Deadline: capcli.NoTime}
	cases := map[string]func(*capcli.Job){
		"relative times":        func(j *capcli.Job) { j.Submit, j.Start, j.End = 0, 0, 1 },
		"last instant":          func(j *capcli.Job) { j.Submit = 7258118400 },
		"one thousandth of CPU": func(j *capcli.Job) { j.CPUMilli = 1 },
		"third of a CPU":        func(j *capcli.Job) { j.CPUMilli = 333 },
		"one MiB":               func(j *capcli.Job) { j.MemMiB = 1 },
		"odd MiB":               func(j *capcli.Job) { j.MemMiB = 1<<40 + 1 },
		"odd CPUs":              func(j *capcli.Job) { j.CPUMilli = 1<<40 + 1 },
		"quarter GPU":           func(j *capcli.Job) { j.GPUMilli = 250 },
		"shares of two":         func(j *capcli.Job) { j.GPUs, j.GPUMilli = 2, 500 },
		"CPU job":               func(j *capcli.Job) { j.GPUs = 0 },
		"priority":              func(j *capcli.Job) { j.Priority = math.MinInt32 },
		"long id":               func(j *capcli.Job) { j.ID = strings.Repeat("x", 100_000) },
		"zero bytes":            func(j *capcli.Job) { j.ID, j.Tenant = "\x00b", "\x00" },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			want := base
			change(&want)
			got, _, err := decode(encode(t, []capcli.Job{want}, nil), trace.Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkSameJobs(t, got, []capcli.Job{want})
		})
	}
}

// A file of another writer may have names that are not UTF-8: their rows are
// rejected, as of any log.
func TestNamesAreUTF8(t *testing.T) {
	good := capcli.Job{ID: "a", GPUs: 1, Start: capcli.NoTime, End: capcli.NoTime, Eligible: capcli.NoTime, Deadline: capcli.NoTime}
	bad := good
	bad.ID, bad.Tenant = "b", "\xfe"
	got, rep, err := decode(encode(t, []capcli.Job{good, bad}, nil), trace.Options{})
	if err != nil || rep.Rejected != 1 || rep.Reasons[0].Reason != "tenant: not valid UTF-8" {
		t.Fatalf("%+v, %v", rep, err)
	}
	checkSameJobs(t, got, []capcli.Job{good})
}

func TestWriterRefuses(t *testing.T) {
	cases := map[string]func(*capcli.Job){
		"no submit":     func(j *capcli.Job) { j.Submit = capcli.NoTime },
		"instant":       func(j *capcli.Job) { j.End = math.MaxInt64 },
		"gpus":          func(j *capcli.Job) { j.GPUs = 1 << 40 },
		"priority":      func(j *capcli.Job) { j.Priority = 1 << 31 },
		"memory":        func(j *capcli.Job) { j.MemMiB = 1 << 60 },
		"text too long": func(j *capcli.Job) { j.ID = strings.Repeat("x", maxText+1) },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			w, err := NewJobWriter(&bytes.Buffer{}, nil, trace.Extra{Eligible: true})
			if err != nil {
				t.Fatal(err)
			}
			j := capcli.Job{Start: capcli.NoTime, End: capcli.NoTime, Eligible: capcli.NoTime, Deadline: capcli.NoTime}
			change(&j)
			if w.Write(j) == nil {
				t.Error("Write took it")
			}
		})
	}
	if _, err := NewJobWriter(&bytes.Buffer{}, map[string]string{sealKey: "x"}, trace.Extra{Eligible: true}); err == nil {
		t.Error("metadata under our own key was taken")
	}
}

// failing fails from the n-th byte on.
type failing struct{ left int }

var errFull = errors.New("disk full")

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestWriterTellsOfFailedWrites(t *testing.T) {
	jobs := someJobs(3000)
	size := len(encode(t, jobs, nil))
	for left := 0; left < size; left += size/20 + 1 {
		w, err := NewJobWriter(&failing{left}, nil, trace.Extra{Eligible: true, Tags: tagsOf(jobs)})
		for i := 0; err == nil && i < len(jobs); i++ {
			err = w.Write(jobs[i])
		}
		if err == nil {
			err = w.Close()
		}
		if !errors.Is(err, errFull) {
			t.Errorf("with room for %d of %d bytes: got %v", left, size, err)
		}
	}
}

func TestSameBytes(t *testing.T) {
	jobs := someJobs(20_000)
	meta := map[string]string{"a": "1", "b": "2", "c": "3", "d": "4"}
	want := encode(t, jobs, meta)
	for _, procs := range []int{1, 2, 4} {
		old := runtime.GOMAXPROCS(procs)
		got := encode(t, jobs, meta)
		runtime.GOMAXPROCS(old)
		if !bytes.Equal(got, want) {
			t.Fatalf("other bytes with GOMAXPROCS %d", procs)
		}
	}
}

func TestColumnNamesAreTraces(t *testing.T) {
	ours := map[string]bool{"gpu_milli": true}
	for _, name := range trace.Columns {
		ours[name] = true
	}
	got := map[string]bool{}
	for _, w := range wants {
		got[w.name] = true
	}
	if !reflect.DeepEqual(got, ours) {
		t.Errorf("got %v, want %v", got, ours)
	}
}
