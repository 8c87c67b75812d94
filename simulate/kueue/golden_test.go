package kueue

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// goldenCase is a world with what Kueue itself decided in it.
type goldenCase struct {
	World
	ID       string    `json:"id"`
	Class    string    `json:"class"`
	Note     string    `json:"note"`
	Expected *Expected `json:"expected"`
	Livelock any       `json:"livelock"`
}

// Expected is the answer of a case.
type Expected struct {
	Decisions []Decision  `json:"decisions"`
	Steps     []Step      `json:"steps"`
	Jobs      []JobResult `json:"jobs"`
}

func readCases(t *testing.T, name string) []goldenCase {
	t.Helper()
	f, err := os.Open(filepath.Join("../../../shared/golden/kueue", name))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("../shared is absent: what Kueue itself decided is not here")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var cases []goldenCase
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var c goldenCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	return cases
}

func TestDecisionsEqualKueues(t *testing.T) {
	for _, file := range []string{"cases.jsonl.gz", "topology.jsonl.gz"} {
		for _, c := range readCases(t, file) {
			t.Run(c.ID, func(t *testing.T) {
				got, err := Run(t.Context(), &c.World)
				if err != nil {
					t.Fatal(err)
				}
				checkDecisions(t, got.Decisions, c.Expected.Decisions)
				for i := range min(len(got.Steps), len(c.Expected.Steps)) {
					checkStep(t, got.Steps[i], c.Expected.Steps[i])
				}
				if len(got.Steps) != len(c.Expected.Steps) || !reflect.DeepEqual(got.Jobs, c.Expected.Jobs) {
					t.Errorf("%d steps and jobs\n%v, want %d and\n%v", len(got.Steps), got.Jobs, len(c.Expected.Steps), c.Expected.Jobs)
				}
			})
		}
	}
}

func TestWorldsThatNeverSettle(t *testing.T) {
	for _, c := range readCases(t, "livelocks.jsonl.gz") {
		t.Run(c.ID, func(t *testing.T) {
			got, err := Run(t.Context(), &c.World)
			if err != nil {
				t.Fatal(err)
			}
			if got.Livelock == nil {
				t.Fatal("the world settled")
			}
			checkDecisions(t, got.Decisions[:min(len(got.Decisions), len(c.Expected.Decisions))], c.Expected.Decisions)
		})
	}
}

func checkDecisions(t *testing.T, got, want []Decision) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("decision %d:\n got %+v\nwant %+v", i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%d decisions, want %d", len(got), len(want))
	}
}

func checkStep(t *testing.T, got, want Step) {
	t.Helper()
	for _, shares := range []struct{ got, want map[string]float64 }{{got.Shares, want.Shares}, {got.CohortShares, want.CohortShares}} {
		for name, w := range shares.want {
			if g := shares.got[name]; math.Abs(g-w) > 1e-6*math.Abs(w) {
				t.Errorf("t %d: share of %s = %v, want %v", want.At, name, g, w)
			}
		}
	}
	got.Shares, got.CohortShares, want.Shares, want.CohortShares = nil, nil, nil, nil
	if len(want.Pending) == 0 {
		want.Pending = map[string][]string{}
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("step:\n got %+v\nwant %+v", got, want)
	}
}
