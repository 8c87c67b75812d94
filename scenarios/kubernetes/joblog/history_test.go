package joblog

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/profile/logs/trace"
)

// A cluster made by hand, as YAML: two Workloads of other owners than Jobs, a pod group, a Job of its own and
// one that belongs to a JobSet.
const cluster = `apiVersion: v1
kind: List
items:
- apiVersion: kueue.x-k8s.io/v1beta1
  kind: Workload
  metadata:
    {name: jobset-llm-1, namespace: lab, uid: w1, resourceVersion: "20", creationTimestamp: "2026-05-01T10:00:05Z",
     ownerReferences: [{kind: JobSet, name: llm, uid: o1, controller: true}]}
  spec:
    queueName: gold
    priority: 7
    priorityClassName: urgent
    maximumExecutionTimeSeconds: 7200
    podSets:
    - {name: leader, count: 1, template: {metadata: {labels: {team: blue}}, spec: {containers: [{resources: {requests: {cpu: 500m}}}]}}}
    - {name: worker, count: 2, template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 4}}}]}}}
  status:
    accumulatedPastExexcutionTimeSeconds: 30
    admission:
      clusterQueue: gold-cq
      podSetAssignments:
      - {name: leader, count: 1, flavors: {cpu: cpus}, resourceUsage: {cpu: "1.5", memory: 1Gi}}
      - {name: worker, count: 1, flavors: {cpu: cpus, nvidia.com/gpu: pool-a100-80gb}, resourceUsage: {cpu: 1k, nvidia.com/gpu: "4"}}
    conditions:
    - {type: QuotaReserved, status: "True", reason: QuotaReserved, lastTransitionTime: "2026-05-01T10:10:00Z"}
    - {type: Admitted, status: "True", reason: Admitted, lastTransitionTime: "2026-05-01T10:10:10Z"}
    - {type: Finished, status: "True", reason: JobFinished, message: Job finished successfully, lastTransitionTime: "2026-05-01T11:10:10Z"}
    schedulingStats: {evictions: [{reason: PodsReadyTimeout, count: 1}, {reason: Preempted, count: 2}]}
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: Workload
  metadata: {name: group-a, namespace: lab, uid: w2, creationTimestamp: "2026-05-01T10:00:00Z",
    ownerReferences: [{kind: Pod, name: p1, uid: p1}, {kind: Pod, name: p2, uid: p2}]}
  spec:
    queueName: gold
    podSets: [{name: a, count: 2, template: {spec: {nodeSelector: {nvidia.com/gpu.product: NVIDIA-L40S},
      initContainers: [{resources: {requests: {nvidia.com/gpu: "3"}}}, {restartPolicy: Always, resources: {requests: {nvidia.com/gpu: "1"}}}],
      containers: [{resources: {requests: {nvidia.com/gpu: "1"}}}]}}}]
  status:
    conditions:
    - {type: QuotaReserved, status: "True", reason: QuotaReserved, lastTransitionTime: "2026-05-01T10:20:00Z"}
    - {type: Admitted, status: "True", reason: Admitted, lastTransitionTime: "2026-05-01T10:21:00Z"}
- apiVersion: batch/v1
  kind: Job
  metadata: {name: llm-worker-0, namespace: lab, uid: j1, creationTimestamp: "2026-05-01T10:00:10Z",
    ownerReferences: [{kind: JobSet, name: llm, uid: o1, controller: true}]}
  spec: {parallelism: 2, backoffLimit: 0}
- apiVersion: batch/v1
  kind: Job
  metadata: {name: waves, namespace: lab, uid: j2, creationTimestamp: "2026-05-01T12:00:00Z",
    ownerReferences: [{kind: CronJob, name: nightly, uid: c1, controller: true}]}
  spec: {parallelism: 3, completions: 9, backoffLimit: 0, activeDeadlineSeconds: 600,
    template: {spec: {containers: [{resources: {limits: {nvidia.com/mig-1g.10gb: 2}}}, {resources: {requests: {nvidia.com/mig-2g.20gb: 1e0}}}]}}}
  status:
    startTime: "2026-05-01T12:00:01Z"
    conditions: [{type: Failed, status: "True", reason: DeadlineExceeded, lastTransitionTime: "2026-05-01T12:10:01Z"}]
- {apiVersion: v1, kind: Pod, metadata: {name: llm-worker-0-x, namespace: lab, uid: q1, ownerReferences: [{kind: Job, name: llm-worker-0, uid: j1, controller: true}]},
   spec: {containers: []}, status: {containerStatuses: [{state: {terminated: {startedAt: "2026-05-01T10:10:40Z"}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: p1, namespace: lab, uid: p1, labels: {kueue.x-k8s.io/pod-group-name: group-a}},
   spec: {containers: []}, status: {containerStatuses: [{state: {running: {startedAt: "2026-05-01T10:21:30Z"}}}, {state: {running: {startedAt: "2026-05-01T10:19:00Z"}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: notebook, namespace: lab, uid: q3}, spec: {containers: [{resources: {limits: {nvidia.com/gpu: 2}}}]}}
- {apiVersion: v1, kind: Node, metadata: {name: n1, uid: n1, labels: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}}, status: {allocatable: {cpu: 63500m, memory: 1Ti, nvidia.com/gpu: "8"}}}
- {apiVersion: v1, kind: Node, metadata: {name: n2, uid: n2}, spec: {unschedulable: true}, status: {allocatable: {nvidia.com/gpu: "8"}}}
- {apiVersion: v1, kind: Service, metadata: {name: s1, uid: s1}}
`

// What happened to them, as an exporter of events writes it, one object a line.
const events = `{"metadata":{"namespace":"lab"},"reason":"Admitted","involvedObject":{"kind":"Workload","namespace":"lab","name":"jobset-llm-1"},"firstTimestamp":"2026-05-01T10:05:00Z","lastTimestamp":"2026-05-01T10:05:00Z","type":"Normal"}
{"metadata":{"namespace":"lab"},"reason":"EvictedDueToPodsReadyTimeout","regarding":{"kind":"Workload","namespace":"lab","name":"jobset-llm-1"},"eventTime":"2026-05-01T10:05:30.25Z"}
{"metadata":{"namespace":"lab"},"reason":"Admitted","involvedObject":{"kind":"Workload","namespace":"lab","name":"jobset-llm-1"},"eventTime":"2026-05-01T10:10:11.9Z"}
{"metadata":{"namespace":"lab"},"reason":"CreatedWorkload","message":"Created Workload: lab/job-old","involvedObject":{"kind":"Job","namespace":"lab","name":"old"},"eventTime":"2026-05-01T09:00:00Z"}
{"metadata":{"namespace":"lab"},"reason":"Admitted","involvedObject":{"kind":"Workload","namespace":"lab","name":"job-old"},"eventTime":"2026-05-01T09:01:00Z"}
{"metadata":{"namespace":"lab"},"reason":"FinishedWorkload","message":"Workload 'lab/job-old' is declared finished","involvedObject":{"kind":"Job","namespace":"lab","name":"old"},"eventTime":"2026-05-01T09:02:00Z"}
`

const wantHistory = `lab/group-a,lab,,gold,,,0,,2,6,,2026-05-01T10:00:00Z,2026-05-01T10:20:00Z,2026-05-01T10:21:00Z,2026-05-01T10:21:30Z,,running,0,0,0,
lab/llm,lab,blue,gold,gold-cq,urgent,7,pool-a100-80gb,2,4,,2026-05-01T10:00:05Z,2026-05-01T10:10:00Z,2026-05-01T10:10:10Z,2026-05-01T10:10:40Z,2026-05-01T11:10:10Z,succeeded,2,3,30,14520
lab/waves,lab,,,,,0,,3,0,1g.10gb:6;2g.20gb:3,2026-05-01T12:00:00Z,,2026-05-01T12:00:01Z,,2026-05-01T12:10:01Z,failed,0,0,0,0`

const wantRuns = `lab/group-a,2026-05-01T10:21:00Z,,
lab/llm,2026-05-01T10:05:00Z,2026-05-01T10:05:30Z,PodsReadyTimeout
lab/llm,2026-05-01T10:10:11Z,2026-05-01T11:10:10Z,Succeeded
lab/old,2026-05-01T09:01:00Z,2026-05-01T09:02:00Z,Finished`

// asJSON returns a YAML text as JSON.
func asJSON(t *testing.T, text string) []byte {
	t.Helper()
	var doc any
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	b, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// items returns the objects of the cluster.
func items(t *testing.T) []json.RawMessage {
	t.Helper()
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(asJSON(t, cluster), &list); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func texts(rows [][]string) string {
	var out []string
	for _, row := range rows[1:] {
		out = append(out, strings.Join(row, ","))
	}
	return strings.Join(out, "\n")
}

// The same cluster reads the same as YAML, as a List, as an array, as a watch stream with older versions among
// it, and as lists whose items have no kind.
func TestEveryShape(t *testing.T) {
	var array, watch, typed bytes.Buffer
	list := items(t)
	b, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	array.Write(b)
	for _, o := range list {
		old := strings.Replace(string(o), `"Finished"`, `"Other"`, 1)
		old = strings.Replace(old, `"resourceVersion": "20"`, `"resourceVersion": "9"`, 1)
		watch.WriteString(`{"type":"ADDED","object":` + string(o) + "}\n" + `{"type":"MODIFIED","object":` + old + `}`)
	}
	watch.WriteString(`{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"99"}}}`)
	typed.WriteString(`{"kind":"WorkloadList","items":[`)
	for i, o := range list {
		if i > 0 {
			typed.WriteByte(',')
		}
		var m map[string]any
		if err := json.Unmarshal(o, &m); err != nil {
			t.Fatal(err)
		}
		if m["kind"] != "Node" && m["kind"] != "Service" {
			delete(m, "kind")
		}
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		typed.Write(b)
	}
	typed.WriteString(`],"metadata":{}}`)
	for name, text := range map[string][]byte{
		"yaml": []byte(cluster), "list": asJSON(t, cluster), "array": array.Bytes(), "watch": watch.Bytes(), "typed": typed.Bytes(),
		"documents": []byte(strings.ReplaceAll(cluster, "\n- apiVersion: batch", "\n---\n- apiVersion: batch")),
	} {
		t.Run(name, func(t *testing.T) {
			r := NewReader()
			for _, in := range [][]byte{text, []byte(events)} {
				if cut, err := r.Read(name, bytes.NewReader(in)); err != nil || cut != "" {
					t.Fatal(cut, err)
				}
			}
			h := r.History()
			if got := texts(h.Rows()); got != wantHistory {
				t.Errorf("jobs\n%s\nwant\n%s", got, wantHistory)
			}
			if got := texts(h.RunRows()); got != wantRuns {
				t.Errorf("runs\n%s\nwant\n%s", got, wantRuns)
			}
			if len(r.Faults) > 0 || len(h.Notes) != 4 || texts(h.NodeRows()) != "n1,63500,1048576,8,H100" {
				t.Errorf("faults %+v, notes %q", r.Faults, h.Notes)
			}
		})
	}
}

// As a log: shares of GPUs, models told by flavors and products, and what is left out.
func TestTrace(t *testing.T) {
	var tables []string
	r, err := trace.Open(trace.Input{Name: "cluster.yaml", R: strings.NewReader(cluster)}, trace.Options{
		More:   []trace.Input{{Name: "events.json", R: strings.NewReader(events)}},
		Tables: func(t trace.Table) { tables = append(tables, t.Name) },
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []capcli.Job
	for j, err := range r.Jobs() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, j)
	}
	at := func(clock string) capcli.Time {
		v, err := parseTime("2026-05-01T" + clock + "Z")
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	none := capcli.NoTime
	want := []capcli.Job{
		{ID: "lab/group-a", Tenant: "lab", Partition: "gold", GPUModel: "L40S", State: "RUNNING", GPUs: 6, Submit: at("10:00:00"), Start: at("10:21:00"), End: none, Run: capcli.Seconds(at("12:10:01") - at("10:21:00")), Eligible: none, Deadline: none},
		{ID: "lab/llm", Tenant: "lab", Partition: "gold", GPUModel: "A100", State: "COMPLETED", GPUs: 4, CPUMilli: 1_001_500, MemMiB: 1024, Submit: at("10:00:05"), Start: at("10:10:10"), End: at("11:10:10"), Run: 3600, Limit: 7200, Priority: 7, Eligible: none, Deadline: none},
		{ID: "lab/waves", Tenant: "lab", State: "FAILED", GPUs: 2, Submit: at("12:00:00"), Start: at("12:00:01"), End: at("12:10:01"), Run: 600, Limit: 600, Eligible: none, Deadline: none},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	rep := r.Report()
	if rep.Format != "kubernetes" || rep.Rows != rep.Kept+rep.Folded+rep.Rejected || rep.Kept != 3 || !slices.Equal(tables, []string{HistoryTable, RunsTable, trace.NodesTable}) {
		t.Errorf("%+v, tables %q", rep, tables)
	}
}

func TestFaults(t *testing.T) {
	good := `{"kind":"Job","metadata":{"name":"j","namespace":"n"}}`
	for _, tt := range []struct{ text, object, want string }{
		{`{"kind":"Workload","metadata":{"name":"w","namespace":"n"},"spec":{"podSets":[{"template":{"spec":{"containers":[{"resources":{"requests":{"nvidia.com/gpu":"4 GPUs"}}}]}}}]}}`, "Workload n/w", "spec.podSets[0].template.spec.containers[0].resources.requests.nvidia.com/gpu: want a quantity"},
		{`{"kind":"Workload","metadata":{"name":"w"},"status":{"conditions":[{"type":"Admitted","status":"True","lastTransitionTime":"noon"}]}}`, "Workload /w", "status.conditions[0].lastTransitionTime: want a time"},
		{`{"kind":"Workload","metadata":{"name":"w"},"spec":{"podSets":[{"count":-1}]}}`, "Workload /w", "spec.podSets[0].count: want 0 to"},
		{`{"kind":"Workload","metadata":{"name":"w"},"spec":{"podSets":[{"count":"two"}]}}`, "Workload /w", "cannot unmarshal"},
		{`{"kind":"Job","metadata":{"name":"w","creationTimestamp":"1823-01-01T00:00:00Z"}}`, "Job /w", "metadata.creationTimestamp: want a time"},
		{`{"metadata":{"name":"w"}}`, "/w", "kind: want a kind of Kubernetes"},
	} {
		r := NewReader()
		if _, err := r.Read("f.json", strings.NewReader(tt.text+"\n"+good)); err != nil {
			t.Fatal(err)
		}
		if len(r.Faults) != 1 || r.Faults[0].Object != tt.object || !strings.Contains(r.Faults[0].Text, tt.want) || r.Objects != 2 {
			t.Errorf("%s: got %+v of %d objects, want %q", tt.text, r.Faults, r.Objects, tt.want)
		}
	}
	for text, want := range map[string]string{
		good + "\n" + `{"kind": oops}`: "f.json: line 2: not valid JSON",
		good + " nonsense":             "want a JSON object",
		"kind: [":                      "neither JSON nor YAML",
		"just words":                   "want an object of Kubernetes",
		`{"kind":"` + strings.Repeat("x", capcli.MaxObject) + `"}`: "longer than 16 MiB",
	} {
		_, err := NewReader().Read("f.json", strings.NewReader(text))
		var bad *capcli.InputError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: got %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{`{"kind":"List","items":[` + good, `{"kind":"Job"`} {
		if cut, err := NewReader().Read("f.json", strings.NewReader(text)); err != nil || !strings.Contains(cut, "is cut short") {
			t.Errorf("%s: got %q, %v", text, cut, err)
		}
	}
}

// Whatever the bytes are, reading ends, every row is counted, and the tables are whole.
func FuzzKubernetes(f *testing.F) {
	f.Add([]byte(cluster))
	f.Add([]byte(events))
	f.Add([]byte(`[{"type":"ADDED","object":{"kind":"Workload","metadata":{"name":"w","uid":"1"}}},{"kind":"List","items":[]}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := trace.Open(trace.Input{Name: "fuzz", R: bytes.NewReader(data)}, trace.Options{
			Format: "kubernetes",
			Tables: func(table trace.Table) {
				for _, row := range table.Rows {
					if len(row) != len(table.Rows[0]) {
						t.Fatalf("a row of %d cells under a header of %d", len(row), len(table.Rows[0]))
					}
				}
			},
		})
		if err != nil {
			return
		}
		n := int64(0)
		for j, err := range r.Jobs() {
			if err != nil {
				return
			}
			if n++; j.GPUs < 0 || j.Run < 0 || j.ID == "" {
				t.Fatalf("job %+v", j)
			}
		}
		if rep := r.Report(); rep.Kept != n || rep.Rows != rep.Kept+rep.Folded+rep.Rejected {
			t.Fatalf("%d jobs, %+v", n, rep)
		}
	})
}
