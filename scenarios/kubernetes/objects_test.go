package kubernetes

import (
	"errors"
	"os"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios/kubernetes/kueue"
)

func readFile(t *testing.T, name string) *Objects {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	o := NewObjects()
	if err := o.Read(name, b); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestReadObjects(t *testing.T) {
	c, err := readFile(t, "cluster.yaml").Build(&Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Notes)+len(c.Unqueued) > 0 {
		t.Errorf("notes %q, in no queue %v", c.Notes, c.Unqueued)
	}
	w := &c.World
	production, research := w.ClusterQueues[0], w.ClusterQueues[1]
	if production.WhenCanBorrow != "MayStopSearch" || production.WhenCanPreempt != "MayStopSearch" || production.Cohort != "all" || production.Strategy != "StrictFIFO" {
		t.Errorf("production is %+v", production)
	}
	if research.WhenCanBorrow != "MayStopSearch" || research.WhenCanPreempt != "TryNextFlavor" || research.Strategy != "BestEffortFIFO" ||
		research.Preemption.Reclaim != "Never" || research.Preemption.WithinQueue != "Never" || research.Preemption.Borrow != "" {
		t.Errorf("defaults of research are %+v", research)
	}
	h100, a100 := research.ResourceGroups[0].Flavors[0].Quota, research.ResourceGroups[0].Flavors[1].Quota
	if h100["cpu"].Nominal != 1_000_000 || a100["cpu"].Nominal != 500 || *h100["nvidia.com/gpu"].Borrowing != 8 {
		t.Errorf("quotas of research are %+v and %+v", h100, a100)
	}
	train, serve := w.Workloads[0], w.Workloads[1]
	if train.ID != "lab/train" || train.UID != "u-1" || train.Duration != 7200 || train.PodSets[0].Requests["cpu"] != 1500 || train.Priority != 10 {
		t.Errorf("train is %+v", train)
	}
	if serve.Queue != "production" || serve.Arrival != 600 || serve.Duration != 1800 || serve.Priority != 1000 || serve.PodSets[0].Count != 1 || serve.PodSets[0].Requests["cpu"] != 13000 || c.Infos[1].Tenant != "web" {
		t.Errorf("serve is %+v", serve)
	}
	if c.Prices["h100"] != 2_500_000 || c.Quotas[0].Hard["nvidia.com/gpu"] != 16 {
		t.Errorf("prices %v, quotas %v", c.Prices, c.Quotas)
	}
	r, err := kueue.Run(t.Context(), w, kueue.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := r.Decisions[1]; d.Event != kueue.Preempt || d.Workload != "lab/train" || d.By != "shop/serve" || d.Reason != kueue.InCohortReclamation {
		t.Errorf("second is %+v", d)
	}
}

func TestReadRefuses(t *testing.T) {
	const queue = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: a}\n"
	tests := []struct{ text, want string }{
		{"", "the file is empty"},
		{"# nothing\n", "nothing but comments"},
		{"{\"kind\": \"List\",\n\"items\": [", "line 2: not valid JSON"},
		{"a: b", "this has no kind"},
		{queue + "spec: {cohrot: x}\n", `unknown field "cohrot"`},
		{queue + "spec: {queueingStrategy: Fifo}\n", "StrictFIFO, BestEffortFIFO"},
		{queue + "---\n" + queue, "given twice"},
		{strings.Replace(queue, "v1beta2", "v1", 1), `version "v1" is not known`},
		{strings.Replace(queue, "{name: a}", "{}", 1), "no metadata.name"},
		{queue + "spec:\n  resourceGroups:\n  - coveredResources: [cpu]\n    flavors:\n    - {name: f, resources: [{name: cpu, nominalQuota: lots}]}\n", "want a quantity such as"},
		{queue + "spec:\n  resourceGroups:\n  - coveredResources: [cpu]\n    flavors:\n    - {name: f, resources: []}\n", "no quota of cpu"},
		{`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue",` + "\n" + `"metadata":{"name":"a"},` + "\n" + `"spec":{"cohrot":"x"}}`, "line 3"},
	}
	for _, tt := range tests {
		err := NewObjects().Read("x.yaml", []byte(tt.text))
		var in *capcli.InputError
		if !errors.As(err, &in) || in.File != "x.yaml" || !strings.Contains(err.Error(), tt.want) && !strings.Contains(in.Error(), tt.want) {
			t.Errorf("%q: %v, want %s", tt.text, err, tt.want)
		}
	}
}

func TestFaultsNameTheField(t *testing.T) {
	err := NewObjects().Read("x.yaml", []byte("apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: a}\nspec:\n  preemption:\n    reclaimWithinCohor: Any\n"))
	var in *capcli.InputError
	if !errors.As(err, &in) || in.Line != 6 || in.Field != "ClusterQueue a.spec.preemption" {
		t.Errorf("line %d, field %q of %v", in.Line, in.Field, err)
	}
	if !strings.Contains(err.Error(), `did you mean "reclaimWithinCohort"`) {
		t.Errorf("no hint in %v", err)
	}
}

// edited is the cluster of testdata with something replaced.
func edited(t *testing.T, replace ...string) (*Cluster, error) {
	t.Helper()
	b, err := os.ReadFile("testdata/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(replace...).Replace(string(b))
	if text == string(b) {
		t.Fatalf("nothing is replaced by %q", replace)
	}
	o := NewObjects()
	if err := o.Read("cluster.yaml", []byte(text)); err != nil {
		t.Fatal(err)
	}
	return o.Build(&Options{})
}

func TestWorkloadsThatNoQueueConsiders(t *testing.T) {
	tests := []struct{ old, now, want string }{
		{"tier: gold}}\n---", "tier: silver}}\n---", "namespaceSelector of ClusterQueue production"},
		{"  namespaceSelector: {matchLabels: {tier: gold}}\n", "", "namespaceSelector of ClusterQueue production"},
		{"queueingStrategy: StrictFIFO", "stopPolicy: Hold", "stopPolicy Hold"},
		{"spec: {clusterQueue: production}", "spec: {clusterQueue: production, stopPolicy: HoldAndDrain}", "LocalQueue has the stopPolicy HoldAndDrain"},
		{"queue-name: main", "queue-name: other", "LocalQueue is not given"},
	}
	for _, tt := range tests {
		c, err := edited(t, tt.old, tt.now)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Unqueued) != 1 || c.Unqueued[0].ID != "shop/serve" || !strings.Contains(c.Unqueued[0].Reason, tt.want) || len(c.World.Workloads) != 1 {
			t.Errorf("%s: %+v", tt.now, c.Unqueued)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	tests := []struct{ old, now, want string }{
		{`annotations: {capcli/duration: "1800"}`, "annotations: {}", "nothing says how long shop/serve lasts"},
		{`capcli/duration: "1800"`, "capcli/duration: long", "is not a length of time"},
		{"    - name: a100", "    - name: b200", `names the ResourceFlavor "b200", which is not given`},
		{`  creationTimestamp: "2026-03-03T08:10:00Z"` + "\n", "", "when it was created"},
	}
	for _, tt := range tests {
		_, err := edited(t, tt.old, tt.now)
		var in *capcli.InputError
		if !errors.As(err, &in) || in.Line == 0 || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.now, err, tt.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	b, err := os.ReadFile("testdata/cluster.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	if b, err = os.ReadFile("testdata/plain.yaml"); err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"w"},"spec":{"podSets":[{"count":2,"template":{"spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}]}}}]},"status":{"admission":{"clusterQueue":"q","podSetAssignments":[{"name":"main","topologyAssignment":{"slices":[{"domainCount":2,"valuesPerLevel":[{"individual":{"prefix":"n","roots":["1","2"]}}],"podCounts":{"universal":1}}]}}]}}}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		o := NewObjects()
		if o.Read("x", b) != nil {
			return
		}
		for _, current := range []bool{false, true} {
			c, err := o.Build(&Options{Default: 60, Current: current})
			if err == nil && len(c.World.Workloads) != len(c.Infos) {
				t.Errorf("%d workloads and %d names", len(c.World.Workloads), len(c.Infos))
			}
		}
	})
}
