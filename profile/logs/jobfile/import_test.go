package jobfile

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"capcli/profile/logs/trace"
)

// A log that is not in order is read twice where that is possible, else held; either
// way its jobs are written in order, and every row is accounted for.
func TestImportPutsJobsInOrder(t *testing.T) {
	const log = "job_id,submit,gpus,run_s,tenant\nb,20,1,60,x\na,10,2,60,y\nc,x,1,60,y\n"
	for _, tt := range []struct {
		name   string
		seeks  bool
		passes int
	}{{"file", true, 2}, {"stream", false, 1}} {
		t.Run(tt.name, func(t *testing.T) {
			file, err := FileOf("jobs.csv")
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			var refused []string
			passes := 0
			got, err := Import(t.Context(), &Request{
				Input: "log.csv", File: file,
				Open: func(name string) (trace.Input, io.Closer, error) {
					r := strings.NewReader(log)
					in := trace.Input{Name: name, R: r}
					if tt.seeks {
						in.At, in.Size = r, r.Size()
					}
					return in, io.NopCloser(nil), nil
				},
				Begin: func() (*Pass, error) {
					passes++
					out.Reset()
					refused = nil
					return &Pass{
						Jobs: &out, Done: func(int64) {}, End: func(int64) {},
						Reject: func(r trace.Reject) error { refused = append(refused, r.Reason); return nil },
					}, nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if passes != tt.passes || len(lines) != 3 || !strings.HasPrefix(lines[1], "a,") || !strings.HasPrefix(lines[2], "b,") {
				t.Errorf("%d passes wrote\n%s", passes, &out)
			}
			if got.Rows != 3 || got.Kept != 2 || got.Rejected != 1 || got.Tenants != 2 || !got.Resorted || len(refused) != 1 {
				t.Errorf("got %+v, refused %q", got, refused)
			}
		})
	}
}

func TestFileOf(t *testing.T) {
	for name, want := range map[string]string{
		"-": "", "a.csv": "a", "b.JSONL.gz": "b", "d/c.csv.zst": "d/c", "e.parquet": "e",
		"f.parquet.gz": "no", "g.txt": "no", "h": "no",
	} {
		got, err := FileOf(name)
		if (err != nil) != (want == "no") || err == nil && got.Stem != want {
			t.Errorf("%s: got %q, %v", name, got.Stem, err)
		}
	}
}
