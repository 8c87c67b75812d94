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

// goldenForm is how the file writes what World writes otherwise.
type goldenForm struct {
	Topology *struct {
		Levels []string `json:"levels"`
		Nodes  []Node   `json:"nodes"`
	} `json:"topology"`
	Flavors []struct {
		Flavor
		Taint    string `json:"taint"`
		Topology bool   `json:"topology"`
	} `json:"flavors"`
	Workloads []struct {
		PodSets []struct {
			Tolerates string `json:"tolerates"`
		} `json:"pod_sets"`
	} `json:"workloads"`
}

// UnmarshalJSON reads a case in the form of the file.
func (c *goldenCase) UnmarshalJSON(b []byte) error {
	var form goldenForm
	if err := json.Unmarshal(b, &form); err != nil {
		return err
	}
	type plain goldenCase
	shadow := struct {
		*plain
		Flavors  any `json:"flavors"`
		Topology any `json:"topology"`
	}{plain: (*plain)(c)}
	if err := json.Unmarshal(b, &shadow); err != nil {
		return err
	}
	for _, f := range form.Flavors {
		flavor := f.Flavor
		if f.Taint != "" {
			flavor.Taints = []Taint{{Key: f.Taint, Value: "true", Effect: "NoSchedule"}}
		}
		if f.Topology {
			flavor.Topology = "default"
		}
		c.Flavors = append(c.Flavors, flavor)
	}
	if t := form.Topology; t != nil {
		c.Topologies, c.Nodes = []Topology{{Name: "default", Levels: t.Levels}}, t.Nodes
	}
	for i, w := range form.Workloads {
		for k, p := range w.PodSets {
			if p.Tolerates != "" {
				c.Workloads[i].PodSets[k].Tolerations = []Toleration{{Key: p.Tolerates, Exists: true, Effect: "NoSchedule"}}
			}
		}
	}
	return nil
}

// Expected is the answer of a case.
type Expected struct {
	Decisions []Decision  `json:"decisions"`
	Steps     []Step      `json:"steps"`
	Jobs      []JobResult `json:"jobs"`
}

func readCases(t *testing.T, name string) []goldenCase {
	t.Helper()
	f, err := os.Open(filepath.Join("../../../../shared/golden/kueue", name))
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
				got, err := Run(t.Context(), &c.World, Options{Steps: true})
				if err != nil {
					t.Fatal(err)
				}
				checkDecisions(t, got.Decisions, c.Expected.Decisions)
				for i := range got.Jobs {
					got.Jobs[i].Why, got.Jobs[i].Impossible = "", false
				}
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
			got, err := Run(t.Context(), &c.World, Options{Steps: true})
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
