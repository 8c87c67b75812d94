package joblog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"capcli"
)

// Fault is an object that could not be read.
type Fault struct {
	Line   int // from 1, in the decompressed text
	Object string
	Text   string
}

// maxYAML is the most bytes of a YAML file, which is held in memory.
const maxYAML = 64 << 20

// errNotUTF8 is the fault of an object that is not text. JSON would make one name of several.
var errNotUTF8 = errors.New("not valid UTF-8")

// mostKinds is the most kinds that a note names.
const mostKinds = 10

// Reader collects the objects of a cluster, of one or several inputs. Of an object that comes several times it
// keeps the version that is newest by resourceVersion, else the last.
type Reader struct {
	workloads map[string]*workload
	jobs      map[string]*batchJob // Jobs and other objects that may own Workloads
	pods      map[string]*pod
	nodes     map[string]*node
	marks     map[mark]struct{}
	created   map[string]string // job_id by the namespace/name of its Workload, from events

	Objects int64   // objects read that tell of jobs
	Faults  []Fault // objects that could not be read, which are counted in Objects
	others  map[string]int64
	latest  capcli.Time
}

// NewReader returns an empty Reader.
func NewReader() *Reader {
	return &Reader{
		workloads: map[string]*workload{}, jobs: map[string]*batchJob{}, pods: map[string]*pod{}, nodes: map[string]*node{},
		marks: map[mark]struct{}{}, created: map[string]string{}, others: map[string]int64{}, latest: capcli.NoTime,
	}
}

// Read adds the objects of an input, which is JSON or YAML. It returns how the input ends, if it is cut
// short, and fails where it is neither JSON nor YAML and where src fails.
func (r *Reader) Read(name string, src io.Reader) (cut string, err error) {
	in := bufio.NewReaderSize(src, 64<<10)
	if !beginsJSON(in) {
		return "", r.readYAML(name, in)
	}
	return r.readJSON(name, capcli.NewObjectReader(in, "items", 1))
}

// beginsJSON reports whether the input begins as JSON does, without consuming it.
func beginsJSON(in *bufio.Reader) bool {
	for n := 64; ; n *= 2 {
		head, err := in.Peek(n)
		text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
		if len(text) > 0 {
			return text[0] == '{' || text[0] == '['
		}
		if err != nil {
			return true // empty: the scanner finds no object
		}
	}
}

func (r *Reader) readJSON(name string, s *capcli.ObjectReader) (cut string, err error) {
	const hint = "export it with: kubectl get workloads.kueue.x-k8s.io,jobs,pods -A -o json"
	for {
		more, err := s.Next()
		var bad *capcli.InputError
		if errors.As(err, &bad) {
			bad.File, bad.Hint = name, hint
		}
		if err != nil || !more {
			return s.Ended, err
		}
		err = errNotUTF8
		if utf8.Valid(s.Raw) {
			err = r.add(s.Raw, s.Line)
		}
		if err != nil {
			var own *json.SyntaxError
			if errors.As(err, &own) {
				return "", &capcli.InputError{File: name, Line: s.Line, Text: "not valid JSON: " + err.Error(), Hint: hint}
			}
			var kind envelope
			_ = json.Unmarshal(s.Raw, &kind) // what could be read of it names it
			r.Faults = append(r.Faults, Fault{s.Line, strings.TrimSpace(kind.Kind + " " + kind.Metadata.id()), err.Error()})
			r.Objects++
		}
	}
}

// readYAML converts each document to JSON. The decoder refuses documents that are mostly aliases.
func (r *Reader) readYAML(name string, in io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(in, maxYAML+1))
	if err != nil {
		return err
	}
	fault := func(line int, what string) error {
		return &capcli.InputError{File: name, Line: line, Text: what, Hint: "export JSON instead: kubectl get … -o json"}
	}
	if len(text) > maxYAML {
		return fault(0, "want at most 64 MiB of YAML")
	}
	docs := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var node yaml.Node
		err := docs.Decode(&node)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fault(0, "neither JSON nor YAML: "+err.Error())
		}
		var doc any
		if err := node.Decode(&doc); err != nil {
			return fault(node.Line, "not valid YAML: "+err.Error())
		}
		if doc == nil {
			continue
		}
		b, err := json.Marshal(doc)
		if err != nil || len(b) == 0 || b[0] != '{' && b[0] != '[' {
			return fault(node.Line, "want an object of Kubernetes, found something else")
		}
		if _, err := r.readJSON(name, capcli.NewObjectReader(bytes.NewReader(b), "items", node.Line)); err != nil {
			return err
		}
	}
}

// add adds the object in raw, which begins at a line.
func (r *Reader) add(raw []byte, line int) error {
	var e envelope
	if err := json.Unmarshal(raw, &e); err != nil {
		return err
	}
	if e.Object != nil {
		if e.Type == "BOOKMARK" || e.Type == "ERROR" {
			return nil
		}
		return r.add(e.Object, line)
	}
	kind := kindOf(&e, raw)
	switch {
	case kind == "Workload":
		return r.addWorkload(raw, line)
	case kind == "Pod":
		return r.addPod(raw)
	case kind == "Node":
		return r.addNode(raw)
	case kind == "Event":
		return r.addEvent(raw)
	case kind == "Job", isOwner(kind):
		return r.addJob(raw, kind, line)
	case kind == "":
		return errors.New("kind: want a kind of Kubernetes, found none")
	}
	if len(r.others) < 1000 || r.others[kind] > 0 {
		r.others[kind]++
	}
	return nil
}

// isOwner reports whether objects of a kind may own Workloads. Only their metadata is read.
func isOwner(kind string) bool {
	for _, ending := range []string{"Job", "JobSet", "RayCluster", "AppWrapper", "LeaderWorkerSet", "StatefulSet", "Deployment"} {
		if strings.HasSuffix(kind, ending) && kind != "CronJob" {
			return true
		}
	}
	return false
}

func (r *Reader) see(at capcli.Time) { r.latest = max(r.latest, at) }

func (r *Reader) addWorkload(raw []byte, line int) error {
	w := &workload{line: line}
	if err := json.Unmarshal(raw, w); err != nil {
		return err
	}
	if err := w.check(r); err != nil {
		return err
	}
	r.Objects++
	key := w.Metadata.key("Workload")
	r.markConditions(w)
	if old := r.workloads[key]; old == nil || w.Metadata.version() >= old.Metadata.version() {
		r.workloads[key] = w
	}
	return nil
}

// check returns an error for the first faulty value of w, and passes its times to r.
func (w *workload) check(r *Reader) error {
	at, err := parseTime(w.Metadata.Created)
	if err != nil {
		return fmt.Errorf("metadata.creationTimestamp: %w", err)
	}
	r.see(at)
	if err := w.Status.Conditions.check(r); err != nil {
		return err
	}
	for i := range w.Spec.PodSets {
		p := &w.Spec.PodSets[i]
		if p.Count != nil && (*p.Count < 0 || *p.Count > mostPods) {
			return fmt.Errorf("spec.podSets[%d].count: want 0 to %d, found %d", i, mostPods, *p.Count)
		}
		if err := p.Template.Spec.check(); err != nil {
			return fmt.Errorf("spec.podSets[%d].template.%w", i, err)
		}
	}
	if w.Status.Admission != nil {
		for i, a := range w.Status.Admission.Assignments {
			if err := a.Usage.check(); err != nil {
				return fmt.Errorf("status.admission.podSetAssignments[%d].resourceUsage.%w", i, err)
			}
		}
	}
	if past := w.earlierSeconds(); past < 0 || past > mostSeconds {
		return fmt.Errorf("status.accumulatedPastExecutionTimeSeconds: want 0 to %d, found %d", mostSeconds, past)
	}
	return nil
}

func (w *workload) earlierSeconds() int64 {
	for _, p := range []*int64{w.Status.Past, w.Status.PastBeta1} {
		if p != nil {
			return *p
		}
	}
	return 0
}

func (c conditions) check(r *Reader) error {
	for i := range c {
		at, err := parseTime(c[i].Changed)
		if err != nil {
			return fmt.Errorf("status.conditions[%d].lastTransitionTime: %w", i, err)
		}
		r.see(at)
	}
	return nil
}

func (r *Reader) addJob(raw []byte, kind string, line int) error {
	j := &batchJob{kind: kind, line: line}
	var err error
	if kind == "Job" {
		err = json.Unmarshal(raw, j)
	} else {
		err = json.Unmarshal(raw, &struct {
			Metadata *meta `json:"metadata"`
		}{&j.Metadata})
	}
	if err != nil {
		return err
	}
	for _, t := range []struct{ field, text string }{
		{"metadata.creationTimestamp", j.Metadata.Created}, {"status.startTime", j.Status.Start}, {"status.completionTime", j.Status.Completion},
	} {
		at, err := parseTime(t.text)
		if err != nil {
			return fmt.Errorf("%s: %w", t.field, err)
		}
		r.see(at)
	}
	if err := j.Status.Conditions.check(r); err != nil {
		return err
	}
	if err := j.Spec.Template.Spec.check(); err != nil {
		return fmt.Errorf("spec.template.%w", err)
	}
	for _, n := range []*int64{j.Spec.Parallelism, j.Spec.Completions} {
		if n != nil && (*n < 0 || *n > mostPods) {
			return fmt.Errorf("spec.parallelism and spec.completions: want 0 to %d, found %d", mostPods, *n)
		}
	}
	r.Objects++
	key := j.Metadata.key(kind)
	if old := r.jobs[key]; old == nil || j.Metadata.version() >= old.Metadata.version() {
		r.jobs[key] = j
	}
	return nil
}

func (r *Reader) addPod(raw []byte) error {
	p := &pod{}
	if err := json.Unmarshal(raw, p); err != nil {
		return err
	}
	if err := p.Spec.check(); err != nil {
		return err
	}
	for i, c := range p.Status.Containers {
		for _, s := range []*started{c.State.Running, c.State.Terminated} {
			if s == nil {
				continue
			}
			for _, text := range []string{s.At, s.Ended} {
				at, err := parseTime(text)
				if err != nil {
					return fmt.Errorf("status.containerStatuses[%d].state: %w", i, err)
				}
				r.see(at)
			}
		}
	}
	r.Objects++
	key := p.Metadata.key("Pod")
	if old := r.pods[key]; old == nil || p.Metadata.version() >= old.Metadata.version() {
		r.pods[key] = p
	}
	return nil
}

// notes returns remarks on what was read and is in no table.
func (r *Reader) notes() []string {
	if len(r.others) == 0 {
		return nil
	}
	var kinds []string
	for kind := range r.others {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%s %s", capcli.Grouped(r.others[kind]), kind)
	}
	return []string{"objects of other kinds, not read: " + strings.Join(capcli.Abridge(kinds, mostKinds), ", ")}
}
