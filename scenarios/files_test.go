package scenarios

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios/strict"
	"capcli/simulate"
)

const withFiles = `capcli: scenario/v1
capacity:
  - {name: fleet, kind: owned, nodes_file: nodes.csv, price: 1.10}
  - {name: od, kind: on_demand, gpu_model: T4, price: 0.35}
  - {name: sp, kind: spot, nodes: 3, gpus_per_node: 8, price: 1.60, availability: {file: trace.json, polarity: preempted, notice: 0s, offset: 10m, scale: true}}
policy: {name: qssf, predictions: predicted.csv}
placement: first
`

var someFiles = map[string]string{
	"nodes.csv":     "sn,cpu_milli,memory_mib,gpu,model\nn1,64000,262144,2,P100\nn2,96000,786432,8,V100M32\nn3,64000,262144,2,P100\nn4,32000,65536,0,\nn5,128000,786432,8,V100M32\n",
	"trace.json":    `{"metadata": {"gap_seconds": 600}, "data": [0, 0, 2, 0]}`,
	"predicted.csv": "predicted_s,job_id\n12.6,6214e9\n90,b\n",
}

func opener(files map[string]string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, os.ErrNotExist
	}
}

func TestFilesOfAScenario(t *testing.T) {
	s, err := Parse("s.yaml", []byte(withFiles))
	if err != nil {
		t.Fatal(err)
	}
	opened := 0
	o := Options{Open: func(name string) ([]byte, error) {
		opened++
		return opener(someFiles)(name)
	}}
	c, err := s.Config(nil, o)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range c.Pools {
		got = append(got, p.Name)
	}
	if want := "fleet/P100-2gpu fleet/V100M32-8gpu fleet/cpu fleet/V100M32-8gpu-2 od sp"; strings.Join(got, " ") != want {
		t.Errorf("got pools %s, want %s", strings.Join(got, " "), want)
	}
	if p := c.Pools[0]; p.Nodes != 2 || p.GPUsPerNode != 2 || p.CPUMilli != 64000 || p.MemMiB != 262144 || p.GPUModel != "P100" {
		t.Errorf("got %+v, want 2 nodes of 2 P100", p)
	}
	// The trace has two instances, both gone from 20 to 30 min; the run begins at
	// 10 min and takes the two for its three nodes.
	lose, _ := c.Pools[5].Supply.Next()
	if lose != (simulate.Change{At: 600, Kind: simulate.Lose, Node: 2}) {
		t.Errorf("got %+v, want node 2 lost after 10 min", lose)
	}
	if c.Settings.Predicted["6214e9"] != 13 || c.Settings.Predicted["b"] != 90 {
		t.Errorf("got predictions %v", c.Settings.Predicted)
	}
	rates, err := s.Rates(o)
	if err != nil || len(rates) != len(c.Pools) {
		t.Fatalf("got %d rates for %d pools, %v", len(rates), len(c.Pools), err)
	}
	if rates[0].OnDemand != 0 || rates[4].Price.Decimal() != "0.35" {
		t.Errorf("got %+v: no on-demand price of a P100 is known, a T4 costs 0.35", rates)
	}
	if opened != 3 {
		t.Errorf("files were opened %d times, want each once", opened)
	}
}

func TestFilesThatAreNoGood(t *testing.T) {
	for _, x := range []struct{ file, text, want string }{
		{"nodes.csv", "", "the file is empty"},
		{"nodes.csv", "sn,gpu\n", "nodes.csv: line 1: cpu_milli: no such column"},
		{"nodes.csv", "sn,cpu_milli,memory_mib,gpu,model\n", "has no nodes"},
		{"nodes.csv", "sn,cpu_milli,memory_mib,gpu,model\na,1,2,-3,T4\n", "nodes.csv: line 2: gpu: want a whole number"},
		{"nodes.csv", "sn,cpu_milli,memory_mib,gpu,model\na,1,2\n", "nodes.csv: line 2: not valid CSV"},
		{"predicted.csv", "job_id,predicted_s\na,NaN\n", "line 2: predicted_s: want seconds"},
		{"predicted.csv", "job_id,predicted_s\na,1\na,2\n", "line 3: job_id: job \"a\" is there twice"},
		{"trace.json", "{", "trace.json"},
		{"trace.json", `{"metadata": {"gap_seconds": 600}, "data": [-1]}`, "trace.json"},
	} {
		files := map[string]string{}
		for k, v := range someFiles {
			files[k] = v
		}
		files[x.file] = x.text
		s, err := Parse("s.yaml", []byte(withFiles))
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Config(nil, Options{Open: opener(files)})
		var in *capcli.InputError
		if !errors.As(err, &in) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s %q: got %v, want an input error …%s…", x.file, x.text, err, x.want)
		}
		if _, err := s.Config(nil, Options{Open: opener(someFiles)}); err != nil {
			t.Errorf("after a bad %s, with good files: %v", x.file, err)
		}
	}
	s, _ := Parse("s.yaml", []byte(withFiles))
	if _, err := s.Config(nil, Options{Open: opener(nil)}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want that the file does not exist", err)
	}
	if _, err := s.Config(nil, Options{}); err == nil {
		t.Error("got no error without a way to open files")
	}
}

// Alibaba's list of 2023 has 1,213 nodes with 6,212 GPUs.
func TestAlibabasNodes(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "..", "shared", "data", "openb", "openb_node_list_gpu_node.csv.gz"))
	if err != nil {
		t.Skipf("no list of nodes: %v", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := readNodes(&Capacity{NodesFile: "nodes.csv", Name: "openb"}, b)
	if err != nil {
		t.Fatal(err)
	}
	nodes, gpus := 0, 0
	for _, g := range groups {
		nodes += g.nodes
		gpus += g.nodes * g.gpus
	}
	if nodes != 1213 || gpus != 6212 {
		t.Errorf("got %d nodes with %d GPUs in %d groups, want 1213 with 6212", nodes, gpus, len(groups))
	}
}

// One pool's failures must not depend on another's, and each replication has
// its own.
func TestSuppliesHaveChanceOfTheirOwn(t *testing.T) {
	const src = `capcli: scenario/v1
capacity:
  - {name: a, kind: owned, nodes: 4, gpus_per_node: 8, free: true, failures: {mtbf: 30d, repair: 4h}}
  - {name: b, kind: owned, nodes: 4, gpus_per_node: 8, free: true, failures: {mtbf: 30d, repair: 4h}}
placement: first
`
	first := func(run int, overrides ...string) map[string]simulate.Change {
		s, err := Parse("s.yaml", []byte(src), overrides...)
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.Config(nil, Options{Seed: 1, Run: run})
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]simulate.Change{}
		for _, p := range c.Pools {
			out[p.Name], _ = p.Supply.Next()
		}
		return out
	}
	base := first(0)
	if base["a"] == base["b"] {
		t.Error("two pools fail together")
	}
	if other := first(0, "capacity.a=null"); other["b"] != base["b"] {
		t.Errorf("without pool a, b first fails at %+v, with it at %+v", other["b"], base["b"])
	}
	if again := first(0); again["a"] != base["a"] {
		t.Error("the same run gave other failures")
	}
	if next := first(1); next["a"] == base["a"] {
		t.Error("two replications have the same failures")
	}
}

// FuzzScenarioTables: a list of nodes and a list of predictions are read as groups
// and run times within their limits, or refused with the file and what is wrong.
func FuzzScenarioTables(f *testing.F) {
	f.Add([]byte(someFiles["nodes.csv"]))
	f.Add([]byte(someFiles["predicted.csv"]))
	f.Add([]byte("\ufeffmodel,gpu,memory_mib,cpu_milli\n\"a\nb\",4096,,\n,0,1e3,\xff\n"))
	f.Add([]byte("job_id,predicted_s\na,NaN\nb,1e300\nc,-0\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		refused := func(err error) {
			var in *capcli.InputError
			if !errors.As(err, &in) || in.File != "table.csv" || in.Text == "" {
				t.Errorf("not an input error: %v", err)
			}
		}
		groups, err := readNodes(&Capacity{NodesFile: "table.csv", Name: "pool"}, b)
		if err != nil {
			refused(err)
		}
		names, total := map[string]bool{}, 0
		for _, g := range groups {
			if names[g.name] || g.nodes < 1 || g.gpus < 0 || g.gpus > maxPerNode || g.cpu < 0 || g.mem < 0 {
				t.Errorf("group %+v", g)
			}
			names[g.name] = true
			total += g.nodes * g.gpus
		}
		if err == nil && (total > maxGPUs || len(groups) == 0 || len(groups) > maxCapacity) {
			t.Errorf("%d GPUs in %d groups", total, len(groups))
		}
		predicted, err := readPredictions("table.csv", b)
		if err != nil {
			refused(err)
		}
		for job, v := range predicted {
			if v < 0 || v > strict.Longest {
				t.Errorf("job %q: %d s", job, v)
			}
		}
	})
}
