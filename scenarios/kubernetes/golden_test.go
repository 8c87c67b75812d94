package kubernetes

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/kubernetes/kueue"
	"capcli/simulate"
)

// goldenQuota, goldenGroup and goldenCase are a world as the golden files write it.
type goldenQuota struct {
	Nominal   int64  `json:"nominal"`
	Borrowing *int64 `json:"borrowing_limit"`
	Lending   *int64 `json:"lending_limit"`
}

type goldenGroup struct {
	Resources []string `json:"resources"`
	Flavors   []struct {
		Flavor string                 `json:"flavor"`
		Quota  map[string]goldenQuota `json:"quota"`
	} `json:"flavors"`
}

type goldenCase struct {
	ID     string `json:"id"`
	Config struct {
		Fair       bool     `json:"fair_sharing"`
		Strategies []string `json:"preemption_strategies"`
		Evict      int64    `json:"evict_seconds"`
	} `json:"config"`
	Flavors []struct {
		Name     string            `json:"name"`
		Labels   map[string]string `json:"node_labels"`
		Taint    string            `json:"taint"`
		Topology bool              `json:"topology"`
	} `json:"flavors"`
	Topology *struct {
		Levels []string `json:"levels"`
		Nodes  []struct {
			Labels   map[string]string `json:"labels"`
			Capacity map[string]int64  `json:"capacity"`
		} `json:"nodes"`
	} `json:"topology"`
	Cohorts []struct {
		Name   string        `json:"name"`
		Parent string        `json:"parent"`
		Weight string        `json:"weight"`
		Groups []goldenGroup `json:"resource_groups"`
	} `json:"cohorts"`
	Queues []struct {
		Name       string        `json:"name"`
		Cohort     string        `json:"cohort"`
		Strategy   string        `json:"queueing_strategy"`
		Weight     string        `json:"weight"`
		Borrow     string        `json:"when_can_borrow"`
		Preempt    string        `json:"when_can_preempt"`
		Preference string        `json:"preference"`
		Groups     []goldenGroup `json:"resource_groups"`
		Preemption struct {
			Within  string `json:"within_cluster_queue"`
			Reclaim string `json:"reclaim_within_cohort"`
			Borrow  string `json:"borrow_within_cohort"`
			Most    *int64 `json:"max_priority_threshold"`
		} `json:"preemption"`
	} `json:"cluster_queues"`
	Workloads []struct {
		ID       string `json:"id"`
		Queue    string `json:"queue"`
		Arrival  int64  `json:"arrival"`
		Duration int64  `json:"duration"`
		Priority int64  `json:"priority"`
		PodSets  []struct {
			Name      string            `json:"name"`
			Count     int64             `json:"count"`
			Min       int64             `json:"min_count"`
			Requests  map[string]int64  `json:"requests"`
			Selector  map[string]string `json:"node_selector"`
			Tolerates string            `json:"tolerates"`
			Topology  map[string]string `json:"topology"`
		} `json:"pod_sets"`
	} `json:"workloads"`
	Expected struct {
		Decisions []kueue.Decision  `json:"decisions"`
		Jobs      []kueue.JobResult `json:"jobs"`
	} `json:"expected"`
}

type m = map[string]any

var begin = time.Date(2026, 3, 3, 8, 0, 0, 0, time.UTC)

// groups writes resource groups as the API does.
func groups(list []goldenGroup) (out []any) {
	for _, g := range list {
		var flavors []any
		for _, f := range g.Flavors {
			var resources []any
			for _, r := range g.Resources {
				q := f.Quota[r]
				x := m{"name": r, "nominalQuota": fmt.Sprint(q.Nominal)}
				if q.Borrowing != nil {
					x["borrowingLimit"] = fmt.Sprintf("%d", *q.Borrowing)
				}
				if q.Lending != nil {
					x["lendingLimit"] = fmt.Sprintf("%d000m", *q.Lending)
				}
				resources = append(resources, x)
			}
			flavors = append(flavors, m{"name": f.Flavor, "resources": resources})
		}
		out = append(out, m{"coveredResources": g.Resources, "flavors": flavors})
	}
	return out
}

func manifest(version, kind, name string, spec m) m {
	out := m{"apiVersion": version, "kind": kind, "metadata": m{"name": name, "uid": name}}
	if spec != nil {
		out["spec"] = spec
	}
	return out
}

// manifests writes a world as objects. With old they are those of v1beta1.
func (c *goldenCase) manifests(old bool) (out []m) {
	api, cohortKey := "kueue.x-k8s.io/v1beta2", "cohortName"
	if old {
		api, cohortKey = "kueue.x-k8s.io/v1beta1", "cohort"
	}
	config := m{"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}
	if c.Config.Fair {
		fair := m{"preemptionStrategies": []string{"LessThanOrEqualToFinalShare", "LessThanInitialShare"}}
		if c.Config.Strategies != nil {
			fair["preemptionStrategies"] = c.Config.Strategies
		}
		if old {
			config["apiVersion"], fair["enable"] = "config.kueue.x-k8s.io/v1beta1", true
		}
		config["fairSharing"] = fair
	}
	out = append(out, config)
	for _, f := range c.Flavors {
		spec := m{"nodeLabels": f.Labels}
		if f.Taint != "" {
			spec["nodeTaints"] = []any{m{"key": f.Taint, "value": "true", "effect": "NoSchedule"}}
		}
		if f.Topology {
			spec["topologyName"] = "default"
		}
		out = append(out, manifest(api, "ResourceFlavor", f.Name, spec))
	}
	if t := c.Topology; t != nil {
		var levels []any
		for _, l := range t.Levels {
			levels = append(levels, m{"nodeLabel": l})
		}
		out = append(out, manifest(api, "Topology", "default", m{"levels": levels}))
		for i, n := range t.Nodes {
			node := manifest("v1", "Node", fmt.Sprintf("node-%d", i), nil)
			node["metadata"].(m)["labels"] = n.Labels
			node["status"] = m{"allocatable": n.Capacity, "conditions": []any{m{"type": "Ready", "status": "True"}}}
			out = append(out, node)
		}
	}
	for _, x := range c.Cohorts {
		spec := m{"parentName": x.Parent, "resourceGroups": groups(x.Groups)}
		if x.Weight != "" {
			spec["fairSharing"] = m{"weight": x.Weight}
		}
		out = append(out, manifest(api, "Cohort", x.Name, spec))
	}
	for _, q := range c.Queues {
		borrow := m{}
		if q.Preemption.Borrow != "" {
			borrow["policy"] = q.Preemption.Borrow
			borrow["maxPriorityThreshold"] = q.Preemption.Most
		}
		if old {
			q.Borrow = strings.ReplaceAll(q.Borrow, "MayStopSearch", "Borrow")
			q.Preempt = strings.ReplaceAll(q.Preempt, "MayStopSearch", "Preempt")
		}
		fungible := m{"whenCanBorrow": q.Borrow, "whenCanPreempt": q.Preempt}
		if q.Preference != "" {
			fungible["preference"] = q.Preference
		}
		spec := m{
			"queueingStrategy": q.Strategy, "namespaceSelector": m{}, "resourceGroups": groups(q.Groups), "flavorFungibility": fungible,
			"preemption": m{"withinClusterQueue": q.Preemption.Within, "reclaimWithinCohort": q.Preemption.Reclaim, "borrowWithinCohort": borrow},
		}
		if q.Cohort != "" {
			spec[cohortKey] = q.Cohort
		}
		if q.Weight != "" {
			spec["fairSharing"] = m{"weight": q.Weight}
		}
		out = append(out, manifest(api, "ClusterQueue", q.Name, spec), manifest(api, "LocalQueue", "to-"+q.Name, m{"clusterQueue": q.Name}))
	}
	return append(out, c.workloads(api)...)
}

func (c *goldenCase) workloads(api string) (out []m) {
	for _, w := range c.Workloads {
		var sets []any
		for _, p := range w.PodSets {
			spec := m{"containers": []any{m{"name": "main", "image": "x", "resources": m{"requests": p.Requests}}}, "restartPolicy": "Never"}
			if p.Selector != nil {
				spec["nodeSelector"] = p.Selector
			}
			if p.Tolerates != "" {
				spec["tolerations"] = []any{m{"key": p.Tolerates, "operator": "Exists", "effect": "NoSchedule"}}
			}
			set := m{"name": p.Name, "count": p.Count, "template": m{"metadata": m{"creationTimestamp": nil}, "spec": spec}}
			if p.Min > 0 {
				set["minCount"] = p.Min
			}
			if p.Topology != nil {
				t := m{}
				for k, v := range p.Topology {
					if t[k] = v; k == "unconstrained" {
						t[k] = true
					}
				}
				set["topologyRequest"] = t
			}
			sets = append(sets, set)
		}
		x := manifest(api, "Workload", w.ID, m{"queueName": "to-" + w.Queue, "priority": w.Priority, "podSets": sets})
		meta := x["metadata"].(m)
		meta["creationTimestamp"] = begin.Add(time.Duration(w.Arrival) * time.Second).Format(time.RFC3339)
		meta["annotations"] = m{"capcli/duration": fmt.Sprintf("%ds", w.Duration)}
		out = append(out, x)
	}
	return out
}

// file writes objects as YAML documents, or as a JSON list.
func file(t *testing.T, objects []m, asJSON bool) []byte {
	t.Helper()
	if asJSON {
		b, err := json.MarshalIndent(m{"apiVersion": "v1", "kind": "List", "metadata": m{"resourceVersion": ""}, "items": objects}, "", "    ")
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	for _, x := range objects {
		if err := e.Encode(x); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func goldenCases(t *testing.T, name string) (cases []goldenCase) {
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

// TestGoldenWorldsAsObjects writes each golden world as objects, in turn of v1beta2 and v1beta1, as
// YAML and as JSON, reads them, and holds that the decisions are those of Kueue.
func TestGoldenWorldsAsObjects(t *testing.T) {
	for _, name := range []string{"cases.jsonl.gz", "topology.jsonl.gz"} {
		for i, c := range goldenCases(t, name) {
			t.Run(c.ID, func(t *testing.T) {
				o := NewObjects()
				if err := o.Read("objects", file(t, c.manifests(i%2 == 1), i%4 >= 2)); err != nil {
					t.Fatal(err)
				}
				cluster, err := o.Build(&Options{EvictTime: capcli.Seconds(c.Config.Evict)})
				if err != nil {
					t.Fatal(err)
				}
				got, err := kueue.Run(t.Context(), &cluster.World, kueue.Options{})
				if err != nil {
					t.Fatal(err)
				}
				checkAccounts(t, &Study{cluster, got, got.Stays(&cluster.World)})
				first := capcli.Seconds(cluster.Start - capcli.TimeOf(begin))
				bare := func(id string) string { return strings.TrimPrefix(id, "default/") }
				for k := range got.Decisions {
					d := &got.Decisions[k]
					d.At += first
					d.Workload, d.By = bare(d.Workload), bare(d.By)
				}
				if len(got.Decisions)+len(c.Expected.Decisions) > 0 && !reflect.DeepEqual(got.Decisions, c.Expected.Decisions) {
					t.Errorf("got %+v\nwant %+v", got.Decisions, c.Expected.Decisions)
				}
				ends := map[string]capcli.Seconds{}
				for _, j := range got.Jobs {
					ends[bare(j.ID)] = j.End
				}
				for _, j := range c.Expected.Jobs {
					if end, ok := ends[j.ID]; !ok || end >= 0 && end+first != j.End || end < 0 && j.End >= 0 {
						t.Errorf("%s ends at %d, want %d", j.ID, end, j.End)
					}
				}
				if len(cluster.Notes)+len(cluster.Unqueued) > 0 {
					t.Errorf("notes %q, in no queue %v", cluster.Notes, cluster.Unqueued)
				}
			})
		}
	}
}

// checkAccounts holds that the accounts of a study balance: those of quotas, and those of GPUs.
func checkAccounts(t *testing.T, s *Study) {
	t.Helper()
	r := s.Result()
	c := r.Workloads
	if c.Read != c.Finished+c.Running+c.Pending+c.Unqueued || c.Pending != len(r.Pending) {
		t.Errorf("workloads do not add up: %+v", c)
	}
	for _, f := range r.Flavors {
		if f.Most > f.Nominal || f.Mean > f.Most*(1+1e-9) {
			t.Errorf("more is used than there is: %+v", f)
		}
	}
	preemptions := 0
	for _, p := range r.Preemptions {
		preemptions += p.Count
	}
	if preemptions != c.Preemptions {
		t.Errorf("%d preemptions by queue, want %d", preemptions, c.Preemptions)
	}
	var pools []simulate.Pool
	for _, f := range s.flavorGPUs() {
		pools = append(pools, simulate.Pool{Name: f.name, Terms: simulate.Reserved, Nodes: 1, GPUsPerNode: int(f.gpus)})
	}
	h, err := s.History(pools)
	if err != nil {
		t.Fatal(err)
	}
	h.CPUJobs = true
	got, err := h.Result()
	if err != nil {
		t.Fatal(err)
	}
	if got.Jobs.Finished != int64(c.Finished) || got.Jobs.Preemptions != int64(c.Preemptions) || got.Jobs.Waiting+got.Jobs.Unplaceable != int64(c.Pending) || got.Redone != r.Lost {
		t.Errorf("jobs are %+v and %d lost, want %+v and %d", got.Jobs, got.Redone, c, r.Lost)
	}
}

// TestWorldsThatNeverSettle holds that a result says so, with the workloads in the loop, and that its
// accounts balance.
func TestWorldsThatNeverSettle(t *testing.T) {
	for _, c := range goldenCases(t, "livelocks.jsonl.gz") {
		o := NewObjects()
		if err := o.Read("objects", file(t, c.manifests(false), false)); err != nil {
			t.Fatal(err)
		}
		cluster, err := o.Build(&Options{EvictTime: capcli.Seconds(c.Config.Evict)})
		if err != nil {
			t.Fatal(err)
		}
		s, err := cluster.Decide(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		checkAccounts(t, s)
		r := s.Result()
		if r.Livelock == nil || len(r.Livelock.Workloads) < 2 || !strings.Contains(r.Answer(), "does not settle") || !strings.Contains(r.Answer(), r.Livelock.Workloads[0]) {
			t.Errorf("%s: %+v: %s", c.ID, r.Livelock, r.Answer())
		}
		for _, p := range r.Pending {
			if p.Why != "the cluster does not settle" {
				t.Errorf("%s: %s waits since %s", c.ID, p.ID, p.Why)
			}
		}
	}
}
