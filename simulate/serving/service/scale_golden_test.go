package service_test

import (
	"compress/gzip"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"capcli/simulate/serving/scale"
	"capcli/simulate/serving/service"
)

const scaleGolden = "../../../../shared/golden/inference/scale"

// stepTable is a published step table: see the README beside them. hpa and kpa equal the code of Kubernetes
// 1.31 and Knative Serving 0.43.
type stepTable struct {
	Case    json.RawMessage
	Rows    [][7]int64
	Summary json.RawMessage
	KPA     [][5]float64
}

// Each published case, read as the file of a service, gives the published rows and summary.
func TestScaleEqualsPublishedStepTables(t *testing.T) {
	names, err := filepath.Glob(scaleGolden + "/*.json.gz")
	if err != nil || len(names) == 0 {
		t.Skip("no published step tables: ../shared/golden/inference/scale is absent")
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			want := readStepTable(t, name)
			run := playSpec(t, want.Case)
			for i, r := range run.Rows {
				got := [7]int64{int64(r.Step), r.Load, int64(r.Ready), int64(r.Loading), r.Served, r.Backlog, int64(r.Desired)}
				if i >= len(want.Rows) || got != want.Rows[i] {
					t.Fatalf("row %d: %v, want %v", i, got, want.Rows[min(i, len(want.Rows)-1)])
				}
			}
			if len(run.Rows) != len(want.Rows) || len(run.Sights) != len(want.KPA) {
				t.Fatalf("%d rows and %d of kpa, want %d and %d", len(run.Rows), len(run.Sights), len(want.Rows), len(want.KPA))
			}
			for i, s := range run.Sights {
				got := [5]float64{float64(s.Now), float64(s.Ready), s.Stable, s.Panic, float64(s.Desired)}
				for j := range got {
					if math.Abs(got[j]-want.KPA[i][j]) > 1e-9 {
						t.Fatalf("kpa %d: %v, want %v", i, got, want.KPA[i])
					}
				}
			}
			checkSummary(t, run.Summary, want.Summary)
		})
	}
}

func readStepTable(t *testing.T, name string) stepTable {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var out stepTable
	if err := json.NewDecoder(text).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// playSpec plays a case as the file of a service.
func playSpec(t *testing.T, text []byte) *scale.Run {
	t.Helper()
	spec, err := service.Parse("case.json", text)
	if err != nil {
		t.Fatal(err)
	}
	c, err := spec.ScaleCase(nil)
	if err != nil {
		t.Fatal(err)
	}
	run, err := scale.Play(c)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// checkSummary compares every published figure with ours.
func checkSummary(t *testing.T, summary scale.Summary, published json.RawMessage) {
	t.Helper()
	text, err := json.Marshal(summary)
	if err != nil {
		t.Fatal(err)
	}
	var got, want map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(published, &want); err != nil {
		t.Fatal(err)
	}
	flatten(got)
	flatten(want)
	for name, w := range want {
		g, ok := got[name]
		x, isNumber := g.(float64)
		y, wantNumber := w.(float64)
		if !ok || isNumber != wantNumber || math.Abs(x-y) > 1e-9*math.Max(1, math.Abs(y)) {
			t.Errorf("%s: %v, want %v", name, g, w)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is not published", name)
		}
	}
}

// flatten gives the fields of the part perfect names of their own.
func flatten(summary map[string]any) {
	perfect, _ := summary["perfect"].(map[string]any)
	for name, x := range perfect {
		summary["perfect."+name] = x
	}
	delete(summary, "perfect")
}
