package trace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"capcli"
)

func init() {
	Formats.Add("argo", "Argo Workflows with their status, as JSON: argo list -o json, kubectl get workflows -o json",
		Format{Sniff: sniffArgo, Read: readArgo})
}

func sniffArgo(head []byte) bool {
	head = beginsJSON(head)
	return len(head) > 0 && (head[0] == '{' || head[0] == '[') && bytes.Contains(head, []byte(`argoproj.io/`))
}

// argoWorkflow is what is read of an Argo workflow (argoproj.io/v1alpha1).
type argoWorkflow struct {
	Items    []json.RawMessage `json:"items"`
	Metadata struct {
		Name, Namespace, GenerateName string
		CreationTimestamp             string
		Labels                        map[string]string
	} `json:"metadata"`
	Spec struct {
		Templates           []argoTemplate `json:"templates"`
		WorkflowTemplateRef struct{ Name string }
	} `json:"spec"`
	Status struct {
		StartedAt          string                              `json:"startedAt"`
		Nodes              map[string]argoNode                 `json:"nodes"`
		StoredWorkflowSpec *struct{ Templates []argoTemplate } `json:"storedWorkflowTemplateSpec"`
	} `json:"status"`
}

type argoTemplate struct {
	Name      string `json:"name"`
	Container *argoContainer
	Script    *argoContainer
}

type argoContainer struct {
	Resources struct {
		Limits, Requests map[string]any
	} `json:"resources"`
}

// argoNode is a step, a task, or a group of them.
type argoNode struct {
	ID           string           `json:"id"`
	Name         string           `json:"displayName"`
	Type         string           `json:"type"`
	Phase        string           `json:"phase"`
	Template     string           `json:"templateName"`
	StartedAt    string           `json:"startedAt"`
	FinishedAt   string           `json:"finishedAt"`
	Children     []string         `json:"children"`
	ResourceTime map[string]int64 `json:"resourcesDuration"`
}

func readArgo(r *Reader) error {
	return r.eachObject("", "kubectl get workflows -o json", func(raw []byte, line int) (bool, error) {
		return readArgoObject(r, line, raw), nil
	}, nil)
}

// readArgoObject reads a workflow, or a list of them. It reports whether reading goes on.
func readArgoObject(r *Reader, line int, raw []byte) bool {
	if !utf8.Valid(raw) {
		return r.Reject(line, raw, "text that is not valid UTF-8")
	}
	var w argoWorkflow
	if err := json.Unmarshal(raw, &w); err != nil {
		return r.Reject(line, raw, "no workflow: "+jsonFlaw(err))
	}
	for _, item := range w.Items {
		if !readArgoObject(r, line, item) {
			return false
		}
	}
	if len(w.Items) > 0 {
		return true
	}
	if len(w.Status.Nodes) == 0 {
		return r.Reject(line, raw, "a workflow without status.nodes: it has not run")
	}
	return w.jobs(r, line, raw)
}

// instantOf reads a time of RFC 3339; NoTime if there is none.
func instantOf(text string) capcli.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.Year() < 1970 || t.Year() > 9999 {
		return capcli.NoTime
	}
	return capcli.TimeOf(t)
}

// jobs yields the pods of the workflow, and a node of retries as one job.
func (w *argoWorkflow) jobs(r *Reader, line int, raw []byte) bool {
	nodes := w.Status.Nodes
	ids := slices.Sorted(maps.Keys(nodes))
	parents := map[string][]string{}
	for _, id := range ids {
		for _, child := range nodes[id].Children {
			parents[child] = append(parents[child], id)
		}
	}
	slices.SortStableFunc(ids, func(a, b string) int {
		return cmp.Compare(instantOf(nodes[a].StartedAt), instantOf(nodes[b].StartedAt))
	})
	name := cmp.Or(w.Metadata.Name, "workflow")
	if w.Metadata.Namespace != "" {
		name = w.Metadata.Namespace + "/" + name
	}
	submit := instantOf(cmp.Or(w.Status.StartedAt, w.Metadata.CreationTimestamp))
	for _, id := range ids {
		n := nodes[id]
		if !w.isJob(id, parents) {
			continue
		}
		job, why := w.job(n, name, submit)
		if why != "" {
			if !r.Reject(line, raw, n.Name+": "+why) {
				return false
			}
			continue
		}
		for _, before := range w.predecessors(id, parents) {
			job.Stage.After = append(job.Stage.After, capcli.After{ID: name + "/" + before})
		}
		if !r.Keep(line, raw, &job) {
			return false
		}
	}
	return true
}

// isJob reports whether a node is a job: a pod that is no try of a node of retries, or such a node of pods.
func (w *argoWorkflow) isJob(id string, parents map[string][]string) bool {
	n := w.Status.Nodes[id]
	switch n.Type {
	case "Pod":
		return !slices.ContainsFunc(parents[id], func(p string) bool { return w.Status.Nodes[p].Type == "Retry" })
	case "Retry":
		return len(w.tries(n)) > 0
	}
	return false
}

// tries returns the pods of a node of retries, first to last.
func (w *argoWorkflow) tries(n argoNode) (pods []argoNode) {
	for _, c := range n.Children {
		if p := w.Status.Nodes[c]; p.Type == "Pod" && strings.HasPrefix(p.Name, n.Name) {
			pods = append(pods, p)
		}
	}
	slices.SortStableFunc(pods, func(a, b argoNode) int {
		return cmp.Compare(instantOf(a.StartedAt), instantOf(b.StartedAt))
	})
	return pods
}

// job returns the job of a node, or why it is none.
func (w *argoWorkflow) job(n argoNode, name string, submit capcli.Time) (job capcli.Job, why string) {
	last, tries := n, 1
	if n.Type == "Retry" {
		pods := w.tries(n)
		last, tries = pods[len(pods)-1], len(pods)
	}
	start, end := instantOf(last.StartedAt), instantOf(last.FinishedAt)
	switch {
	case !start.IsKnown() || !end.IsKnown():
		return job, "it has not ended"
	case end < start:
		return job, "it ends before it starts"
	}
	gpus, why := w.gpus(last)
	if why != "" {
		return job, why
	}
	if !submit.IsKnown() || submit > start {
		submit = start
	}
	job = capcli.Job{
		ID: name + "/" + n.Name, Tenant: w.Metadata.Namespace, Class: last.Template, GPUs: gpus,
		Submit: submit, Eligible: capcli.NoTime, Deadline: capcli.NoTime, Start: start, End: end, Run: capcli.Seconds(end - start),
		State: "COMPLETED", Stage: &capcli.Stage{Workflow: name, Of: w.kind(), Name: n.Name, Retries: tries - 1, FailTries: tries - 1},
	}
	if n.Phase == "Failed" || n.Phase == "Error" {
		job.State, job.Stage.Fails = "FAILED", true
	}
	return job, ""
}

// kind returns what the workflow is one run of: its template, its cron workflow or the stem of its name.
func (w *argoWorkflow) kind() string {
	m := &w.Metadata
	return cmp.Or(m.Labels["workflows.argoproj.io/cron-workflow"], m.Labels["workflows.argoproj.io/workflow-template"],
		w.Spec.WorkflowTemplateRef.Name, strings.TrimSuffix(m.GenerateName, "-"))
}

// gpus returns the GPUs of a pod: by its template, or by the GPU time that Argo counted over its run time.
func (w *argoWorkflow) gpus(n argoNode) (gpus int, why string) {
	templates := w.Spec.Templates
	if s := w.Status.StoredWorkflowSpec; s != nil {
		templates = append(slices.Clip(templates), s.Templates...)
	}
	for _, t := range templates {
		if t.Name != n.Template {
			continue
		}
		for _, c := range []*argoContainer{t.Container, t.Script} {
			if c == nil {
				continue
			}
			for _, list := range []map[string]any{c.Resources.Limits, c.Resources.Requests} {
				if v, has := list["nvidia.com/gpu"]; has {
					return wholeGPUs(v)
				}
			}
		}
	}
	if s := n.ResourceTime["nvidia.com/gpu"]; s > 0 {
		length := int64(instantOf(n.FinishedAt) - instantOf(n.StartedAt))
		if g := (s + length/2) / max(1, length); g > 0 && g <= maxGPUs {
			return int(g), ""
		}
	}
	return 0, ""
}

// wholeGPUs reads a number of GPUs, as a number or as text.
func wholeGPUs(v any) (int, string) {
	text, isText := v.(string)
	if f, is := v.(float64); is {
		text = strconv.FormatFloat(f, 'f', -1, 64)
	} else if !isText {
		return 0, "nvidia.com/gpu is no number"
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxGPUs {
		return 0, "nvidia.com/gpu is no number of GPUs: " + shorten([]byte(text))
	}
	return n, ""
}

// predecessors returns the names of the jobs that node id waits for: those from which a path of groups leads to
// it.
func (w *argoWorkflow) predecessors(id string, parents map[string][]string) (names []string) {
	seen := map[string]bool{id: true}
	line := slices.Clone(parents[id])
	for len(line) > 0 {
		p := line[0]
		line = line[1:]
		if seen[p] {
			continue
		}
		seen[p] = true
		n := w.Status.Nodes[p]
		switch {
		case w.isJob(p, parents):
			names = append(names, n.Name)
		case n.Type == "Pod": // a try of a node of retries, which is the job
			for _, q := range parents[p] {
				if w.Status.Nodes[q].Type == "Retry" && !seen[q] && q != id {
					seen[q] = true
					names = append(names, w.Status.Nodes[q].Name)
				}
			}
		default:
			line = append(line, parents[p]...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
