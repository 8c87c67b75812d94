package trace

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"io"
	"math"
	"strconv"
	"testing"

	"capcli"
	"capcli/testdata/golden"
)

// TestRealLogs reads the public logs whole and compares counts and sums with
// what their columns say when added up by other means (awk, and the published
// tables).
func TestRealLogs(t *testing.T) {
	golden.SkipLong(t)
	for _, c := range []struct {
		dir, file, format    string
		rows, kept, rejected int64
		machine              int
	}{
		{"swf", "KTH-SP2-1996-2.1-cln.swf.gz", "swf", 27992, 27992, 0, 100},
		{"swf", "CEA-Curie-2011-2.1-cln.swf.gz", "swf", 312826, 295540, 17286, 93312},
		{"swf", "RICC-2010-2.swf.gz", "swf", 447794, 447784, 10, 0},
		{"swf", "LCG.swf.gz", "swf", 188041, 187520, 521, 24515},
		{"swf", "METACENTRUM-2009-2.swf.gz", "swf", 103656, 99944, 3712, 0},
		{"philly", "philly_sia.csv.gz", "philly", 82247, 82247, 0, 0},
		{"helios", "cluster_log_helios_schema.csv", "helios", 1867, 1867, 0, 0},
		{"helios", "helios_venus_2vc_sept.csv", "fleetsim", 1867, 1867, 0, 0},
		{"openb", "openb_pod_list_default.csv.gz", "openb", 8152, 7255, 897, 0},
		{"alibaba", "philly5d_alibaba_schema.csv.gz", "pai2020", 9856, 9856, 0, 0},
		{"gaia", "pai_1k.csv", "gaia", 1000, 1000, 0, 0},
		{"gaia", "pai-100k.csv.gz", "gaia", 99998, 99998, 0, 0},
	} {
		t.Run(c.file, func(t *testing.T) {
			data := shared(t, "data", c.dir, c.file)
			jobs, rep := readAll(t, data, Options{})
			if rep.Format != c.format || rep.Rows != c.rows || rep.Kept != c.kept || rep.Rejected != c.rejected || machine(&rep) != int64(c.machine) {
				t.Errorf("got %+v", rep)
			}
			if c.file == "philly_sia.csv.gz" {
				philSums(t, data, jobs)
			}
		})
	}
}

// philSums holds the jobs to the table's own column of GPU time.
func philSums(t *testing.T, data []byte, jobs []capcli.Job) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(plain)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows[1:] {
		want, err := strconv.ParseFloat(row[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		j := jobs[i]
		if j.ID != "j"+strconv.Itoa(i) || j.Partition != row[4] || math.Abs(j.Work().Hours()*3600-want) > float64(j.GPUs) {
			t.Fatalf("row %d: got %+v, want %v", i, j, row)
		}
	}
}

// TestHeliosSchemas: one log in two schemas gives the same jobs.
func TestHeliosSchemas(t *testing.T) {
	a, _ := readAll(t, shared(t, "data", "helios", "cluster_log_helios_schema.csv"), Options{})
	b, _ := readAll(t, shared(t, "data", "helios", "helios_venus_2vc_sept.csv"), Options{})
	if len(a) != len(b) {
		t.Fatalf("%d jobs and %d jobs", len(a), len(b))
	}
	shift := a[0].Submit - b[0].Submit
	for i := range a {
		x, y := a[i], b[i]
		if x.ID != y.ID || x.Tenant != y.Tenant || x.Partition != y.Partition || x.GPUs != y.GPUs || x.Run != y.Run || x.State != y.State || x.Submit-y.Submit != shift {
			t.Fatalf("job %d: %+v and %+v", i, x, y)
		}
	}
}

// TestGoldenInputs: what public simulators were fed from the same logs (their
// output names job, GPUs and run time) is what we read.
func TestGoldenInputs(t *testing.T) {
	for _, c := range []struct{ log, folder, golden, partition string }{
		{"philly_sia.csv.gz", "philly", "helios-fifo-philly11cb48-8n.csv.gz", "11cb48"},
		{"cluster_log_helios_schema.csv", "helios", "helios-fifo-venus-vcvGl.csv.gz", "vcvGl"},
	} {
		t.Run(c.golden, func(t *testing.T) {
			jobs, _ := readAll(t, shared(t, "data", c.folder, c.log), Options{})
			byID := map[string]capcli.Job{}
			for _, j := range jobs {
				byID[j.ID] = j
			}
			fed, rep := readAll(t, shared(t, "golden", "dl", c.golden), Options{})
			if rep.Format != "helios" || len(fed) < 1000 {
				t.Fatalf("got %+v", rep)
			}
			var shift capcli.Time
			for i, want := range fed {
				got := byID[want.ID]
				if i == 0 {
					shift = got.Submit - want.Submit
				}
				if got.GPUs != want.GPUs || got.Run != want.Run || got.Partition != c.partition || got.Submit-want.Submit != shift {
					t.Fatalf("got %+v, want %+v", got, want)
				}
			}
		})
	}
}
