package history_test

import (
	"os"
	"path/filepath"
	"testing"

	"capcli"
	"capcli/forecast/history"
	"capcli/profile/logs/trace"
)

// Real logs that are in use to their end are counted whole; Philly's, which was taken down, is not.
func TestRealLogs(t *testing.T) {
	for _, l := range []struct {
		file string
		days int
		gone bool
	}{
		{"helios/helios_venus_2vc_sept.csv", 0, false},
		{"swf/KTH-SP2-1996-2.1-cln.swf.gz", 0, false},
		{"gaia/pai_1k.csv", 0, false},
		{"philly/philly_sia.csv.gz", 0, true},
	} {
		f, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", l.file))
		if err != nil {
			t.Logf("%s is not here", l.file)
			continue
		}
		defer f.Close()
		r, err := trace.Open(trace.Input{Name: f.Name(), R: f}, trace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var jobs []capcli.Job
		for j, err := range trace.Sorted(r.Jobs()) {
			if err != nil {
				t.Fatal(err)
			}
			if j.GPUs == 0 {
				j.GPUs = int((j.CPUMilli + 999) / 1000)
			}
			jobs = append(jobs, j)
		}
		got, err := history.Inspect(jobs)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %q", l.file, got.Sentences())
		if l.gone != (got.End != nil) || !l.gone && got.Shift != nil {
			t.Errorf("%s: found %q", l.file, got.Sentences())
		}
	}
}
