package topology_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"capcli"
	"capcli/simulate/topology"
)

// goldenCase is a case of the answers of Kueue 0.18.2 and of the slowdowns.
type goldenCase struct {
	ID     string
	Levels []string
	Nodes  []struct {
		Path []string
		Free int `json:"free_pods"`
	}
	Pods       int
	Mode       string
	Level      string
	Slice      int
	SliceLevel string         `json:"slice_level"`
	Run        capcli.Seconds `json:"run_s"`
	Slowdown   map[string]string
	Expect     struct {
		MinDomains map[string]*int `json:"min_domains"`
		Placement  []struct {
			Path []string
			Pods int
		}
		Spread  string
		Domains map[string]int
		Slowed  capcli.Seconds `json:"run_with_slowdown_s"`
	}
}

var modes = map[string]capcli.NearMode{"required": capcli.Required, "preferred": capcli.Preferred, "unconstrained": capcli.Unconstrained}

// TestGolden: placements, fewest domains, spread and slowed run times are those of Kueue 0.18.2 and of
// exact arithmetic.
func TestGolden(t *testing.T) {
	b, err := os.ReadFile(filepath.FromSlash("../../../shared/golden/elastic/topology/cases.json"))
	if err != nil {
		t.Skip("the golden answers are not here")
	}
	var cases []goldenCase
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	for i := range cases {
		t.Run(cases[i].ID, func(t *testing.T) { cases[i].play(t) })
	}
}

func (c *goldenCase) play(t *testing.T) {
	paths := make([][]string, len(c.Nodes))
	for i := range c.Nodes {
		paths[i] = c.Nodes[i].Path
	}
	tree, order, err := topology.NewTree(c.Levels, paths)
	if err != nil {
		t.Fatal(err)
	}
	room := topology.NewRoom(tree)
	for n, i := range order {
		room.Set(n, c.Nodes[i].Free)
	}
	for l, name := range c.Levels {
		want := -1
		if p := c.Expect.MinDomains[name]; p != nil {
			want = *p
		}
		if got := room.MinDomains(c.Pods, l); got != want {
			t.Errorf("fewest domains of %s: %d, want %d", name, got, want)
		}
	}
	q := topology.Request{Pods: c.Pods, Mode: modes[c.Mode], Level: tree.Level(c.Level), Slice: c.Slice, SliceLevel: tree.Level(c.SliceLevel)}
	if err := q.Check(tree); err != nil {
		t.Fatal(err)
	}
	parts := room.Place(&q)
	var got, want []string
	for _, p := range parts {
		got = append(got, fmt.Sprint(paths[order[p.Node]], p.Pods))
	}
	for _, p := range c.Expect.Placement {
		want = append(want, fmt.Sprint(p.Path, p.Pods))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("placed %v, want %v", got, want)
	}
	if len(parts) == 0 {
		return
	}
	for l, name := range c.Levels {
		if got := tree.Touched(parts, l); got != c.Expect.Domains[name] {
			t.Errorf("%d domains of %s, want %d", got, name, c.Expect.Domains[name])
		}
	}
	spread := "cluster"
	if l := tree.Spread(parts); l != topology.Cluster {
		spread = c.Levels[l]
	}
	if spread != c.Expect.Spread {
		t.Errorf("spread over %s, want %s", spread, c.Expect.Spread)
	}
	by, _ := new(big.Rat).SetString(c.Slowdown[spread])
	way := capcli.Way{Num: by.Num().Int64(), Den: by.Denom().Int64()}
	if got := way.RunTime(c.Run); got != c.Expect.Slowed {
		t.Errorf("slowed to %d s, want %d s", got, c.Expect.Slowed)
	}
}
