package mig_test

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"testing"

	"capcli/simulate/mig"
)

// goldenFolder has cases with answers of an independent program.
const goldenFolder = "../../../shared/golden/elastic/mig/"

// readGolden reads a file of reference answers, and skips the test where it is not.
func readGolden(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(goldenFolder + name)
	if os.IsNotExist(err) {
		t.Skipf("no reference answers at %s", goldenFolder+name)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

type goldenCase struct {
	Kind, ID, GPU string
	Profiles      []string
	Running       []struct {
		Profile string
		Start   int
	}
	Expect json.RawMessage
}

type mixAnswer struct {
	Placeable     bool   `json:"placeable"`
	Reason        string `json:"reason"`
	MemorySlices  int    `json:"memory_slices"`
	ComputeSlices int    `json:"compute_slices"`
	FailsAt       *int   `json:"in_order_fails_at"`
	Starts        []int  `json:"in_order_starts"`
	OrdersOK      int64  `json:"orders_ok"`
	OrdersFail    int64  `json:"orders_fail"`
	GuideFailsAt  *int   `json:"guide_order_fails_at"`
	GuideStarts   []int  `json:"guide_order_starts"`
}

type stateAnswer struct {
	Starts  []int `json:"starts"`
	IfMoved bool  `json:"if_moved"`
}

type fleetAnswer struct {
	Min          int `json:"min_gpus"`
	InOrder      int `json:"in_order"`
	LargestFirst int `json:"largest_first"`
}

func TestGolden(t *testing.T) {
	var cases []goldenCase
	readGolden(t, "cases.json", &cases)
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			var got, want any
			switch c.Kind {
			case "mix":
				got, want = answerMix(t, &c), readAnswer[mixAnswer](t, &c)
			case "state":
				got, want = answerState(t, &c), readAnswer[map[string]stateAnswer](t, &c)
			case "fleet":
				got, want = answerFleet(t, &c), readAnswer[fleetAnswer](t, &c)
			default:
				t.Fatalf("unknown kind %s", c.Kind)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s %v: got %+v, want %+v", c.GPU, c.Profiles, got, want)
			}
		})
	}
}

func readAnswer[T any](t *testing.T, c *goldenCase) (v T) {
	t.Helper()
	if err := json.Unmarshal(c.Expect, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func answerMix(t *testing.T, c *goldenCase) mixAnswer {
	t.Helper()
	r, err := mig.RunFit(&mig.FitRequest{GPU: c.GPU, Profiles: c.Profiles})
	if err != nil {
		t.Fatal(err)
	}
	a := mixAnswer{
		r.Placeable, string(r.Reason), r.MemorySlices, r.ComputeSlices, r.Lowest.FailsAt, r.Lowest.Starts,
		r.OrdersOK, r.OrdersFail, nil, nil,
	}
	if r.Driver != nil {
		a.GuideFailsAt, a.GuideStarts = r.Driver.FailsAt, r.Driver.Starts
	}
	return a
}

func answerState(t *testing.T, c *goldenCase) map[string]stateAnswer {
	t.Helper()
	g := findGPU(t, c.GPU)
	var layout mig.Layout
	var mix []int
	for _, r := range c.Running {
		p := g.Index(r.Profile)
		if !g.IsFree(&layout, p, r.Start) {
			t.Fatalf("%s@%d is not free", r.Profile, r.Start)
		}
		g.Make(&layout, p, r.Start)
		mix = append(mix, p)
	}
	all := map[string]stateAnswer{}
	for p := range g.Profiles {
		starts := []int{}
		for _, at := range g.Profiles[p].Starts {
			if g.IsFree(&layout, p, at) {
				starts = append(starts, at)
			}
		}
		all[g.Profiles[p].Name] = stateAnswer{starts, g.Check(append(slices.Clip(mix), p)) == mig.Fits}
	}
	return all
}

func answerFleet(t *testing.T, c *goldenCase) fleetAnswer {
	t.Helper()
	r, err := mig.RunFleet(&mig.FleetRequest{GPU: c.GPU, Profiles: c.Profiles})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Proved {
		t.Error("the fewest GPUs are not proved")
	}
	return fleetAnswer{r.FewestGPUs, r.InOrderGPUs, r.LargestFirstGPUs}
}

type configurations struct {
	Legal     int              `json:"legal_mixes"`
	Maximal   []map[string]int `json:"maximal_mixes"`
	Positions int              `json:"maximal_with_positions"`
	Without   struct {
		Legal     int `json:"legal_mixes"`
		Maximal   int `json:"maximal_mixes"`
		Positions int `json:"maximal_with_positions"`
	} `json:"without_double_memory_1g"`
}

func TestGoldenConfigurations(t *testing.T) {
	var want map[string]configurations
	readGolden(t, "configurations.json", &want)
	for gpu, w := range want {
		r, err := mig.RunList(&mig.ListRequest{GPU: gpu})
		if err != nil {
			t.Fatal(err)
		}
		plain := r.WithoutDoubleMemory
		if r.LegalMixes != w.Legal || r.MaximalPlacements != w.Positions ||
			plain.LegalMixes != w.Without.Legal || plain.MaximalMixes != w.Without.Maximal || plain.MaximalPlacements != w.Without.Positions {
			t.Errorf("%s: got %d mixes, %d placements, without double memory %+v, want %+v", gpu, r.LegalMixes, r.MaximalPlacements, plain, w)
		}
		var got []map[string]int
		for _, m := range r.MaximalMixes {
			mix := map[string]int{}
			for _, part := range m {
				mix[part.Profile] = part.Count
			}
			got = append(got, mix)
		}
		for _, m := range w.Maximal {
			found := false
			for _, o := range got {
				found = found || reflect.DeepEqual(m, o)
			}
			if !found {
				t.Errorf("%s: no maximal mix %v", gpu, m)
			}
		}
		if len(got) != len(w.Maximal) {
			t.Errorf("%s: %d maximal mixes, want %d", gpu, len(got), len(w.Maximal))
		}
	}
}
