package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"capcli/cmd/shell"
	"capcli/testdata/golden"
	"capcli/testdata/shelltest"
)

// shardInputs are the files of a small sweep, each of which its shards depend on.
var shardInputs = map[string]string{
	"plan.yaml": `capcli: scenario/v1
name: small
period: 2027-03-01 to 2027-03-15
jobs: {from: own.csv}
policy: {name: qssf, predictions: predicted.csv}
capacity:
  - {name: base, kind: reserved, nodes_file: nodes.csv, price: 2.20 USD/gpu-h}
  - {name: spot, kind: spot, nodes: 2, gpus_per_node: 4, price: 1, availability: {file: spot.json, polarity: available}}
  - {name: burst, kind: on_demand, price: acme/dc1/box/on_demand}
`,
	"own.csv": "job_id,submit,gpus,run_s\na,2027-03-01T00:00:00Z,1,60\n",
	"log.csv": "job_id,submit,gpus,run_s\na,2027-03-01T00:00:00Z,1,3600\nb,2027-03-02T01:00:00Z,4,7200\nc,2027-03-03T02:00:00Z,2,7200\n" +
		"d,2027-03-04T02:00:00Z,2,7200\ne,2027-03-05T02:00:00Z,2,7200\nf,2027-03-06T02:00:00Z,2,7200\ng,2027-03-07T02:00:00Z,2,7200\nh,2027-03-08T02:00:00Z,2,7200\n",
	"nodes.csv":     "cpu_milli,memory_mib,gpu,model\n64000,262144,4,H100\n",
	"predicted.csv": "job_id,predicted_s\na,3600\n",
	"spot.json":     `{"metadata": {"gap_seconds": 3600}, "data": [2, 2, 1, 2]}` + "\n",
	"own_prices.csv": "provider,region,machine,gpu,gpus,term,usd_per_gpu_hour,date,source\n" +
		"acme,dc1,box,H100,8,on_demand,4,2026-10-01,offer 3\n",
	"weeks.csv": "unique_id,path,ds,y\na,0,2027-03-15,2\na,0,2027-03-22,2\na,1,2027-03-15,3\na,1,2027-03-22,3\n",
}

// TestEachInputOfAShardIsInItsDigest changes one file after another that a sweep
// reads. The shard that is there is no longer taken for whole, and a merge with it
// is refused.
func TestEachInputOfAShardIsInItsDigest(t *testing.T) {
	golden.SkipLong(t)
	for _, c := range []struct {
		name, add string
		flags     []string
		unread    bool // by this call, so that its change is none
	}{
		{"log.csv", "z,2027-03-09T03:00:00Z,8,7200\n", []string{"--trace", "log.csv"}, false},
		{"own.csv", "z,2027-03-09T03:00:00Z,8,7200\n", nil, false},
		{"own.csv", "z,2027-03-09T03:00:00Z,8,7200\n", []string{"--trace", "log.csv"}, true},
		{"plan.yaml", "# changed\n", nil, false},
		{"nodes.csv", "64000,262144,4,H100\n", nil, false},
		{"predicted.csv", "b,7200\n", nil, false},
		{"spot.json", "\n", nil, false},
		{"own_prices.csv", "acme,dc1,box,H100,8,1y,2,2026-10-01,offer 3\n", nil, false},
		{"weeks.csv", "a,2,2027-03-15,4\na,2,2027-03-22,4\n", []string{"--trace", "log.csv", "--futures", "weeks.csv", "--runs", "2"}, false},
		{"log.csv", "z,2027-03-09T03:00:00Z,8,7200\n", []string{"--trace", "log.csv", "--futures", "weeks.csv", "--runs", "2"}, false},
	} {
		t.Run(strings.Join(append([]string{c.name}, c.flags...), " "), func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range shardInputs {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			t.Chdir(dir)
			call := func(args ...string) (int, string) {
				e, _, stderr := shelltest.NewEnv()
				return run(context.Background(), e, args), stderr.String()
			}
			shard := func(k string) (int, string) {
				return call(append([]string{
					"plan", "plan.yaml", "--prices", "own_prices.csv", "--vary", "overflow.patience=0,30m", "--policy", "qssf,fifo",
					"--shards", "2", "--shard", k, "--out", "sweep",
				}, c.flags...)...)
			}
			for _, k := range []string{"0", "1"} {
				if code, said := shard(k); code != shell.ExitDone {
					t.Fatalf("shard %s: exit %d, %s", k, code, said)
				}
			}
			if code, said := call("plan", "merge", "sweep", "-o", "csv"); code != shell.ExitDone {
				t.Fatalf("merge: exit %d, %s", code, said)
			}
			text := shardInputs[c.name] + c.add
			if err := os.WriteFile(c.name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			again, said := shard("0")
			merge, told := call("plan", "merge", "sweep", "-o", "csv")
			if c.unread {
				if again != shell.ExitDone || merge != shell.ExitDone {
					t.Errorf("a file that is not read changed: exit %d %s, merge exit %d %s", again, said, merge, told)
				}
				return
			}
			if want := "content of " + c.name; again != shell.ExitInput || !strings.Contains(said, want) {
				t.Errorf("the shard again: exit %d, %q, want %d and %q", again, said, shell.ExitInput, want)
			}
			if want := "content of " + c.name; merge != shell.ExitInput || !strings.Contains(told, want) {
				t.Errorf("merge: exit %d, %q, want %d and %q", merge, told, shell.ExitInput, want)
			}
		})
	}
}
