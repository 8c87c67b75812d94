package joblog

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// goldenDir holds a cluster's history that is not part of the repository, with the tables to be derived.
const goldenDir = "../../../../shared/golden/kueue/history"

// readGolden returns a file of goldenDir, unpacked.
func readGolden(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join(goldenDir, name))
	if err != nil {
		t.Skipf("no recorded history of a cluster here: %v", err)
	}
	defer f.Close()
	var in io.Reader = f
	if filepath.Ext(name) == ".gz" {
		if in, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	b, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Every cell of both tables of a recorded cluster is derived, in any order of the files.
func TestGoldenHistory(t *testing.T) {
	files := []string{"cluster.json.gz", "events.json.gz"}
	for range 2 {
		r := NewReader()
		for _, name := range files {
			if cut, err := r.Read(name, bytes.NewReader(readGolden(t, name))); err != nil || cut != "" {
				t.Fatal(cut, err)
			}
		}
		h := r.History()
		if len(r.Faults) > 0 || len(h.Notes) > 0 {
			t.Errorf("faults %+v, notes %q", r.Faults, h.Notes)
		}
		for name, got := range map[string][][]string{"jobs.csv": h.Rows(), "runs.csv": h.RunRows()} {
			want, err := csv.NewReader(bytes.NewReader(readGolden(t, name))).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(want) {
				t.Errorf("%s: %d rows, want %d", name, len(got), len(want))
			}
			for i := range min(len(got), len(want)) {
				if !reflect.DeepEqual(got[i], want[i]) {
					t.Errorf("%s, row %d\n got %q\nwant %q", name, i, got[i], want[i])
				}
			}
		}
		files[0], files[1] = files[1], files[0]
	}
}
