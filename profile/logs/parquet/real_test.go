package parquet

import (
	"os"
	"path/filepath"
	"testing"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/testdata/golden"
)

// Real logs, written and read back, are the same jobs.
func TestRealLogs(t *testing.T) {
	golden.SkipLong(t)
	for _, name := range []string{"philly/philly_sia.csv.gz", "swf/*.gz"} {
		files, _ := filepath.Glob(filepath.Join("..", "..", "..", "..", "shared", "data", name))
		if len(files) == 0 {
			t.Skipf("no %s under ../shared/data", name)
		}
		t.Run(filepath.Base(files[0]), func(t *testing.T) {
			f, err := os.Open(files[0])
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = f.Close() }()
			r, err := trace.Open(trace.Input{Name: files[0], R: f}, trace.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var want []capcli.Job
			for job, err := range r.Jobs() {
				if err != nil {
					t.Fatal(err)
				}
				if want = append(want, job); len(want) == 200_000 {
					break
				}
			}
			b := encode(t, want, nil)
			got, rep, err := decode(b, trace.Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkSameJobs(t, got, want)
			t.Logf("%d jobs in %d bytes, %d rejected", len(want), len(b), rep.Rejected)
		})
	}
}
