package trace

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"capcli"
)

// roundTripTags are the tags of anyJob.
var roundTripTags = []string{"cost center", "project", "a/b.c-d"}

// anyJob draws a job that our columns can say.
func anyJob(t *rapid.T, id string) capcli.Job {
	word := rapid.OneOf(rapid.Just(""), rapid.StringMatching(`[a-zA-Zé"|,;#=][a-z0-9 "',|;\n]{0,8}[a-z"]`))
	at := rapid.Int64Range(0, int64(lastTime))
	maybe := func(label string) capcli.Time {
		if rapid.Bool().Draw(t, "no "+label) {
			return capcli.NoTime
		}
		return capcli.Time(at.Draw(t, label))
	}
	j := capcli.Job{
		ID: id, Tenant: word.Draw(t, "tenant"), Partition: word.Draw(t, "partition"), GPUModel: word.Draw(t, "model"),
		Class: word.Draw(t, "class"), State: word.Draw(t, "state"),
		GPUs:     rapid.IntRange(0, 100_000).Draw(t, "gpus"),
		CPUMilli: rapid.Int64Range(0, 1e12).Draw(t, "cpu"), MemMiB: rapid.Int64Range(0, 1e12).Draw(t, "mem"),
		Submit: capcli.Time(at.Draw(t, "submit")), Start: maybe("start"), End: maybe("end"), Deadline: maybe("deadline"),
		Run:      capcli.Seconds(rapid.Int64Range(0, 1e8).Draw(t, "run")),
		Limit:    capcli.Seconds(rapid.Int64Range(0, 1e8).Draw(t, "limit")),
		Priority: rapid.IntRange(-1e6, 1e9).Draw(t, "priority"),
	}
	if rapid.Bool().Draw(t, "shares") {
		j.GPUs, j.GPUMilli = 1, rapid.IntRange(1, 999).Draw(t, "milli")
	}
	if j.Start.IsKnown() && j.End.IsKnown() && j.End < j.Start {
		j.Start, j.End = j.End, j.Start
	}
	if rapid.Bool().Draw(t, "staged") {
		j.Stage = &capcli.Stage{Workflow: word.Draw(t, "workflow"), Name: rapid.StringMatching(`[a-z]{1,5}`).Draw(t, "stage")}
		for range rapid.IntRange(0, 3).Draw(t, "dependencies") {
			j.Stage.After = append(j.Stage.After, capcli.After{
				ID: rapid.StringMatching(`[a-z0-9#"+:,?%()*][a-z0-9, "+:?%()*]{0,6}[a-z0-9]`).Draw(t, "after"), When: capcli.AfterWhen(rapid.IntRange(0, 4).Draw(t, "when")),
				Delay: capcli.Seconds(rapid.Int64Range(0, 1e6).Draw(t, "delay")),
			})
		}
		j.Stage.One = len(j.Stage.After) > 1 && rapid.Bool().Draw(t, "one")
	}
	j.Eligible = capcli.NoTime
	for _, name := range roundTripTags {
		if rapid.Bool().Draw(t, "tag "+name) {
			j.Tags = capcli.NewTags(capcli.Tag{Name: name, Value: rapid.StringMatching(`[a-zA-Zé"|,;#=][a-z0-9 "',|;]{0,8}[a-z"]`).Draw(t, "value")}).Merge(j.Tags)
		}
	}
	if last := min(lastTime, max(j.Start, j.Submit)); last > j.Submit && rapid.Bool().Draw(t, "eligible") {
		j.Eligible = capcli.Time(rapid.Int64Range(int64(j.Submit)+1, int64(last)).Draw(t, "eligible at"))
	}
	return j
}

// TestRoundTrip: what WriteCSV and WriteJSONL write reads back the same.
func TestRoundTrip(t *testing.T) {
	for name, write := range map[string]func(io.Writer, capcli.Jobs) error{
		"csv": func(w io.Writer, jobs capcli.Jobs) error {
			return WriteCSV(w, jobs, Extra{Eligible: true, Stages: true, Tags: roundTripTags})
		},
		"jsonl": WriteJSONL,
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z0-9#"][a-z0-9, "]{0,6}[a-z0-9]`), 1, 20, rapid.ID).Draw(t, "ids")
				var want []capcli.Job
				for _, id := range ids {
					want = append(want, anyJob(t, id))
				}
				var b bytes.Buffer
				if err := write(&b, jobsOneByOne(want)); err != nil {
					t.Fatal(err)
				}
				r, err := Open(Input{Name: "test", R: &b}, Options{Format: name})
				if err != nil {
					t.Fatal(err)
				}
				var got []capcli.Job
				for j, err := range r.Jobs() {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, j)
				}
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("got %+v\nwant %+v\n%+v", got, want, r.Report())
				}
			})
		})
	}
}

func TestWriteRefuses(t *testing.T) {
	err := WriteCSV(io.Discard, jobsOneByOne([]capcli.Job{{ID: "a", GPUs: 3, GPUMilli: 500}}), Extra{})
	if err == nil {
		t.Error("shares of three GPUs were written as something else")
	}
	bad := func(yield func(capcli.Job, error) bool) { yield(capcli.Job{}, io.ErrClosedPipe) }
	if err := WriteJSONL(io.Discard, bad); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v, want the error of the stream", err)
	}
	if err := WriteCSV(brokenWriter{}, jobsOneByOne([]capcli.Job{{ID: "a"}}), Extra{}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("got %v, want the error of the writer", err)
	}
}

// A file has the column eligible only where it is asked for, and no eligible time is lost.
func TestEligibleColumn(t *testing.T) {
	late := capcli.Job{ID: "a", Submit: 10, Eligible: 20, Start: 30, End: 40, Run: 10, Deadline: capcli.NoTime}
	now := late
	now.Eligible = now.Submit
	for _, tt := range []struct {
		job  capcli.Job
		col  bool
		want string
		err  error
	}{
		{late, true, "eligible\na,,,,0,,,,10,30,40,10,,0,,,20\n", nil},
		{now, true, "eligible\na,,,,0,,,,10,30,40,10,,0,,,\n", nil},
		{now, false, "state\na,,,,0,,,,10,30,40,10,,0,,\n", nil},
		{late, false, "state\n", ErrEligible},
	} {
		var out bytes.Buffer
		err := WriteCSV(&out, jobsOneByOne([]capcli.Job{tt.job}), Extra{Eligible: tt.col})
		if got := out.String(); !errors.Is(err, tt.err) || !strings.HasSuffix(got, ","+tt.want) {
			t.Errorf("eligible at %d, column %t: got %q and %v, want …%q and %v", tt.job.Eligible, tt.col, got, err, tt.want, tt.err)
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
