package supply_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
)

type closedForm struct {
	Kind, ID string
	Input    struct {
		Checkpoint float64  `json:"checkpoint_s"`
		MTBF       float64  `json:"mtbf_s"`
		Work       float64  `json:"work_s"`
		Every      *float64 `json:"every_s"`
		Restart    float64  `json:"restart_s"`
		Down       float64  `json:"down_s"`
		Nodes      int
		Spares     int
		Needed     int
		MeanUp     float64 `json:"mean_up_s"`
		MeanDown   float64 `json:"mean_down_s"`
		Crews      *int    `json:"repair_crews"`
		Racks      int
		PerRack    int     `json:"nodes_per_rack"`
		NodeUp     float64 `json:"node_mean_up_s"`
		NodeDown   float64 `json:"node_mean_down_s"`
		RackUp     float64 `json:"rack_mean_up_s"`
		RackDown   float64 `json:"rack_mean_down_s"`
		GangNodes  int     `json:"gang_nodes"`
		GangRacks  int     `json:"gang_racks"`
	}
	Expect map[string]any
}

// answer computes a case; nil for a kind that is none of this package.
func (g *closedForm) answer() any {
	in := &g.Input
	switch g.Kind {
	case "interval":
		return intervals(in.Checkpoint, in.MTBF)
	case "completion":
		every := 0.0
		if in.Every != nil {
			every = *in.Every
		}
		return Task{Work: in.Work, Every: every, Checkpoint: in.Checkpoint, Restart: in.Restart, Down: in.Down, MTBF: in.MTBF}.Complete()
	case "gang":
		return Gang{Nodes: in.Nodes, Spares: in.Spares, MeanUp: in.MeanUp, MeanDown: in.MeanDown}.Availability()
	case "repair":
		crews := 0
		if in.Crews != nil {
			crews = *in.Crews
		}
		return Repair{Nodes: in.Nodes, Needed: in.Needed, MeanUp: in.MeanUp, MeanDown: in.MeanDown, Crews: crews}.Availability()
	case "racks":
		return Racks{
			Racks: in.Racks, NodesPerRack: in.PerRack, NodeMeanUp: in.NodeUp, NodeMeanDown: in.NodeDown, RackMeanUp: in.RackUp, RackMeanDown: in.RackDown,
			Needed: in.Needed, GangNodes: in.GangNodes, GangRacks: in.GangRacks,
		}.Availability()
	}
	return nil
}

// TestGolden compares with an independent program, within 1e-9 relative.
func TestClosedForms(t *testing.T) {
	b, err := os.ReadFile(filepath.FromSlash("../../../shared/golden/elastic/checkpoint/cases.json"))
	if err != nil {
		t.Skip("the golden answers are not here")
	}
	var cases []closedForm
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	done := 0
	for _, c := range cases {
		a := c.answer()
		if a == nil {
			continue
		}
		b, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]float64
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		for name, v := range c.Expect {
			want, ok := v.(float64)
			if have, known := got[name]; !ok || !known || math.Abs(have-want) > 1e-9*math.Abs(want)+1e-300 {
				t.Errorf("%s %s: got %.12g, want %v", c.ID, name, got[name], v)
			}
			done++
		}
	}
	if done < 200 {
		t.Errorf("only %d figures were compared", done)
	}
}
