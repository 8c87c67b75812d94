package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"capcli"
)

// nearPlan returns a scenario with a pool and shapes.
func nearPlan(pool, near string) string {
	return "capcli: scenario/v1\ncapacity:\n  - {name: h, kind: owned, price: 3, " + pool + "}\nshapes:\n  - {name: llm, near: " + near + "}\n"
}

const racks = "nodes: 16, gpus_per_node: 8, domains: [{level: block, nodes: 8}, {level: rack, nodes: 4}]"

// TestNear reads near and domains into what the engine takes.
func TestNear(t *testing.T) {
	s, err := Parse("plan.yaml", []byte(nearPlan(racks+", store_gib_per_s: 2.5, failures: {mtbf: 30d, repair: 1h, rack: {mtbf: 365d, repair: 8h}}",
		"{mode: required, level: rack, segment: 16, segment_level: rack, worker: 8, slowdown: {node: 1, rack: 1.05, cluster: 1.6}, apart: block}")))
	if err != nil {
		t.Fatal(err)
	}
	want := capcli.Near{
		Mode: capcli.Required, Level: "rack", SliceGPUs: 16, SliceLevel: "rack", WorkerGPUs: 8, Apart: "block",
		Slowdown: []capcli.Slowdown{{Level: "node", Num: 1, Den: 1}, {Level: "rack", Num: 21, Den: 20}, {Level: "cluster", Num: 8, Den: 5}},
	}
	if got := s.Shapes[0].Near; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("near is %+v, want %+v", got, want)
	}
	if r := s.Capacity[0].Failures.Rack; r.Nodes != 4 {
		t.Errorf("a rack that fails has %d nodes, its domain 4", r.Nodes)
	}
	files, err := s.load(nil)
	if err != nil {
		t.Fatal(err)
	}
	pools, err := s.pools(files, 1)
	if err != nil {
		t.Fatal(err)
	}
	if p := pools[0]; len(p.Domains) != 2 || p.Domains[1].Level != "rack" || p.Domains[1].Nodes != 4 || len(p.Shared) != 1 || p.Shared[0].Micro != 2_500_000 {
		t.Errorf("the pool has domains %+v and shares %+v", p.Domains, p.Shared)
	}
	// A fifth of the time is communication at 900; at 400 that part takes 2.25 times as long, at 50 18 times.
	s, err = Parse("plan.yaml", []byte(nearPlan(racks, "{comm_share: 0.2, bandwidth: {node: 900, rack: 400, cluster: 50}}")))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(s.Shapes[0].Near.Slowdown); got != "[{node 1 1} {rack 5 4} {cluster 22 5}]" {
		t.Errorf("slowdowns of a share of communication are %s", got)
	}
}

// TestNearFaults: what cannot be is told with its line.
func TestNearFaults(t *testing.T) {
	for _, c := range []struct{ pool, near, want string }{
		{racks, "{mode: required, level: row}", "no pool has domains of level \"row\""},
		{racks, "{mode: required}", "needs a level"},
		{racks, "{level: rack}", "level is of mode required and preferred"},
		{racks, "{mode: unconstrained, segment: 16}", "go together"},
		{racks, "{segment: 16, segment_level: rack}", "segments need a mode"},
		{racks, "{mode: unconstrained, segment: 12, segment_level: node, worker: 8}", "no whole number of workers"},
		{racks, "{slowdown: {node: 1, rowe: 2}}", "no pool has domains of level \"rowe\""},
		{racks, "{slowdown: {node: 0}}", "a speed over 0"},
		{racks, "{comm_share: 0.2}", "go together"},
		{racks, "{comm_share: 0.2, bandwidth: {rack: 5}}", "within a node is missing"},
		{racks, "{beside: web, level: rack}", "unknown shape \"web\""},
		{racks, "{apart: shelf}", "no pool has domains of level \"shelf\""},
		{"gpus: 64", "{mode: required, level: node}", "are numbers of GPUs without nodes"},
		{"gpus: 64, domains: [{level: rack, nodes: 4}]", "{mode: preferred, level: node}", "domains are of nodes"},
		{"nodes: 16, gpus_per_node: 8, domains: [{level: block, nodes: 6}, {level: rack, nodes: 4}]", "{mode: preferred, level: node}", "no whole number of racks of 4"},
		{"nodes: 16, gpus_per_node: 8, domains: [{level: rack}]", "{mode: preferred, level: node}", "needs nodes"},
		{"nodes: 16, gpus_per_node: 8, domains: [{level: node, nodes: 1}]", "{mode: preferred, level: node}", "is always the last level"},
		{"nodes: 16, gpus_per_node: 8, domains: [{level: rack, nodes: 4}], failures: {mtbf: 1d, repair: 1h, rack: {nodes: 8, mtbf: 365d, repair: 1h}}", "{mode: preferred, level: node}", "rack has 8 nodes here and 4 in domains"},
		{"nodes: 16, gpus_per_node: 8, failures: {mtbf: 1d, repair: 1h, rack: {mtbf: 365d, repair: 1h}}", "{mode: preferred, level: node}", "rack needs nodes, or domains"},
		{"nodes: 16, gpus_per_node: 8, topology: t.conf", "{mode: preferred, level: node}", "needs a name for each level"},
	} {
		_, err := Parse("plan.yaml", []byte(nearPlan(c.pool, c.near)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %s: got %v, want %q", c.near, c.pool, err, c.want)
			continue
		}
		if !strings.Contains(err.Error(), "line ") && !strings.Contains(err.Error(), "plan.yaml:") {
			t.Errorf("%s: no line in %v", c.near, err)
		}
	}
}

// TestDomainsOfFiles: the domains of a pool from a file of nodes and from Slurm's topology.
func TestDomainsOfFiles(t *testing.T) {
	nodes := "sn,cpu_milli,memory_mib,gpu,model,rack\nn1,96000,786432,8,H100,r2\nn2,96000,786432,8,H100,r1\nn3,96000,786432,8,H100,r2\nn4,96000,786432,8,H100,r2\n"
	conf := "SwitchName=s0 Nodes=n[1-3]\nSwitchName=s1 Nodes=n4\nSwitchName=top Switches=s[0-1]\n"
	for _, c := range []struct{ pool, file, want, fault string }{
		{"nodes_file: f, domains: [{level: rack}]", nodes, "[{rack 0 [0 1]}]", ""},
		{"nodes: 4, gpus_per_node: 8, topology: f, domains: [{level: spine}, {level: rack}]", conf, "[{spine 0 [0]} {rack 0 [0 3]}]", ""},
		{"nodes: 5, gpus_per_node: 8, topology: f, domains: [{level: spine}, {level: rack}]", conf, "", "has 4 nodes, and pool \"h\" has 5"},
		{"nodes: 4, gpus_per_node: 8, topology: f, domains: [{level: rack}]", conf, "", "has 2 levels above the node"},
		{"nodes_file: f, domains: [{level: row}]", nodes, "", "no such column"},
	} {
		s, err := Parse("plan.yaml", []byte("capcli: scenario/v1\ncapacity:\n  - {name: h, kind: owned, price: 3, "+c.pool+"}\n"))
		if err != nil {
			t.Fatal(err)
		}
		files, err := s.load(func(string) ([]byte, error) { return []byte(c.file), nil })
		if err != nil {
			if c.fault == "" || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s: %v, want %q", c.pool, err, c.fault)
			}
			continue
		}
		pools, err := s.pools(files, 1)
		if err != nil || fmt.Sprint(pools[0].Domains) != c.want || c.fault != "" {
			t.Errorf("%s: domains %v and %v, want %s", c.pool, pools[0].Domains, err, c.want)
		}
	}
}
