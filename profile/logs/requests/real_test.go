package requests

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"capcli/profile/logs/trace"
)

// shared returns a file of the shared data, and skips the test where it is not there.
func shared(t *testing.T, parts ...string) string {
	t.Helper()
	name := filepath.Join(append([]string{"..", "..", "..", "..", "shared"}, parts...)...)
	if _, err := os.Stat(name); err != nil {
		t.Skip("the shared data is not here: ", name)
	}
	return name
}

func readShared(t *testing.T, o Options, parts ...string) *Trace {
	t.Helper()
	f, err := os.Open(shared(t, parts...))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := Read(context.Background(), trace.Input{Name: f.Name(), R: f}, o)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// The published traces read as the reference has them: every arrival to the microsecond, in order.
func TestPublishedTracesEqualTheReference(t *testing.T) {
	for _, c := range []struct {
		file, golden, format string
		rows                 int
	}{
		{"azure_llm_code.csv.gz", "azure-code-h100-8b.csv.gz", "azure", 8819},
		{"azure_llm_conv.csv.gz", "azure-conv-a100-8b.csv.gz", "azure", 19366},
	} {
		got := readShared(t, Options{}, "data", "series", "llm-requests", c.file)
		if got.Report.Format != c.format || len(got.Rows) != c.rows || got.Start == NoStart {
			t.Errorf("%s: %+v", c.file, got.Report)
		}
		f, err := os.Open(shared(t, "golden", "inference", "serve", c.golden))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(z).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range rows[1:] {
			want := [3]int64{}
			for k := range want {
				if want[k], err = strconv.ParseInt(row[k+1], 10, 64); err != nil {
					t.Fatal(err)
				}
			}
			if r := got.Rows[i]; [3]int64{r.Arrival, r.In, r.Out} != want {
				t.Fatalf("%s row %d: %+v, want %v", c.golden, i, r, want)
			}
		}
	}
}

func TestMooncakeOfTheSharedData(t *testing.T) {
	got := readShared(t, Options{}, "data", "llm-serving", "mooncake_conversation.csv.gz")
	if got.Report.Format != "mooncake-csv" || len(got.Rows) != 12_031 || got.Start != NoStart {
		t.Errorf("%+v", got.Report)
	}
	var in, cached int64
	for _, r := range got.Rows {
		in, cached = in+r.In, cached+r.Cached
	}
	if share := float64(cached) / float64(in); share < 0.3 || share > 0.6 {
		t.Errorf("%.3f of the tokens in are cached", share)
	}
}
